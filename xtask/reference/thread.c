// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `thread`: pthread_create and pthread_join on one CPU, of the C library
// that gcc links. It is another one than that of our static binary, and so is its figure.

#define _GNU_SOURCE
#include "bench.h"
#include <pthread.h>
#include <sched.h>

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
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, &one)) {
        perror("sched_setaffinity");
        return 1;
    }
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    tell("latency", seconds_per_unit(work, aim));
    return 0;
}
