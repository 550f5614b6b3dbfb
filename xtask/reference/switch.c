// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `switch`: two processes on one CPU pass a byte through pipes.

#define _GNU_SOURCE
#include "bench.h"
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

static int to, from;

static long work(long units) {
    long wrong = 0;
    for (long i = 0; i < units; i++) {
        unsigned char there = i & 0x7f, back = 0;
        if (write(to, &there, 1) != 1 || read(from, &back, 1) != 1)
            exit(1);
        wrong += back != there;
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
    int there[2], back[2];
    if (sched_setaffinity(0, sizeof one, &one) || pipe(there) || pipe(back)) {
        perror("set-up");
        return 1;
    }
    pid_t child = fork();
    if (child == 0) {
        close(there[1]);
        close(back[0]);
        unsigned char byte;
        while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
            ;
        _exit(0);
    }
    to = there[1];
    from = back[0];
    double seconds = seconds_per_unit(work, aim);
    close(to);
    waitpid(child, NULL, 0);
    tell("latency", seconds);
    return 0;
}
