// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `futex`: two threads on one CPU hand over to each other.

#define _GNU_SOURCE
#include "bench.h"
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static uint32_t turn;
static uint64_t taken, trips;

static void hand_over(uint32_t to) {
    __atomic_store_n(&turn, to, __ATOMIC_RELEASE);
    syscall(SYS_futex, &turn, FUTEX_WAKE_PRIVATE, 1, NULL);
}

static uint32_t wait_while(uint32_t other) {
    uint32_t now;
    while ((now = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) == other)
        syscall(SYS_futex, &turn, FUTEX_WAIT_PRIVATE, other, NULL);
    return now;
}

static void *play(void *unused) {
    (void)unused;
    while (wait_while(0) == 1) {
        __atomic_fetch_add(&taken, 1, __ATOMIC_RELEASE);
        hand_over(0);
    }
    return NULL;
}

static long work(long units) {
    trips += units;
    while (units--) {
        hand_over(1);
        wait_while(1);
    }
    return 0;
}

int main(int argc, char **argv) {
    double aim;
    long size;
    arguments(argc, argv, &size, &aim);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    pthread_t partner;
    if (sched_setaffinity(0, sizeof one, &one) || pthread_create(&partner, NULL, play, NULL)) {
        perror("set-up");
        return 1;
    }
    double seconds = seconds_per_unit(work, aim);
    hand_over(2);
    pthread_join(partner, NULL);
    wrong_answers += taken != trips;
    tell("latency", seconds);
    return 0;
}
