// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `timer`: how late a sleep of 50 us ends.

#define _GNU_SOURCE
#include "bench.h"
#include <sys/prctl.h>

static uint64_t now_ns(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000ull + t.tv_nsec;
}

int main(int argc, char **argv) {
    double aim;
    long size;
    arguments(argc, argv, &size, &aim);
    prctl(PR_SET_TIMERSLACK, 1);
    uint64_t late = 0, wake_ups = 0;
    for (double begun = now(); now() - begun < aim; wake_ups++) {
        uint64_t due = now_ns() + 50000;
        struct timespec until = {due / 1000000000, due % 1000000000};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
            ;
        uint64_t awake = now_ns();
        wrong_answers += awake < due;
        late += awake - due;
    }
    tell("latency", 1e-9 * late / wake_ups);
    return 0;
}
