// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `thread`: pthread_create and pthread_join, of the C library that
// gcc links. It is another one than that of our static binary, and so is its figure.

#include "bench.h"
#include <pthread.h>

static pthread_attr_t attributes;

static void *pass_back(void *given) {
    return given;
}

static long work(long units) {
    long wrong = 0;
    for (long i = 1; i <= units; i++) {
        pthread_t thread;
        void *back = NULL;
        if (pthread_create(&thread, &attributes, pass_back, (void *)i) || pthread_join(thread, &back))
            exit(1);
        wrong += back != (void *)i;
    }
    return wrong;
}

int main(int argc, char **argv) {
    double aim;
    long size;
    arguments(argc, argv, &size, &aim);
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    tell("latency", seconds_per_unit(work, aim));
    return 0;
}
