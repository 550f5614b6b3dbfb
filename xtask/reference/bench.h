// SPDX-License-Identifier: MIT OR Apache-2.0
//
// What the references of short kernels share: the timing rule of tare's batches, and
// the one line that they print.
//
//     REFERENCE SIZE SECONDS
//
// prints the figure and the number of wrong answers as one JSON object.

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

// Does so many units of work; the number of wrong answers.
typedef long work_of(long units);

static long wrong_answers;

__attribute__((unused)) static double timed(work_of *work, long units) {
    double start = now();
    long wrong = work(units);
    double end = now();
    wrong_answers += wrong;
    return end - start;
}

// Seconds of a unit: batches of at least 10 ms until the aim has passed.
__attribute__((unused)) static double seconds_per_unit(work_of *work, double aim) {
    long units = 1;
    while (timed(work, units) < 10e-3)
        units *= 2;
    double spent = 0;
    long done = 0;
    for (double begun = now(); now() - begun < aim; done += units)
        spent += timed(work, units);
    return spent / done;
}

static void tell(const char *metric, double figure) {
    printf("{\"%s\": %.6e, \"wrong\": %ld}\n", metric, figure, wrong_answers);
}

static void arguments(int argc, char **argv, long *size, double *aim) {
    if (argc != 3) {
        fprintf(stderr, "usage: %s SIZE SECONDS\n", argv[0]);
        exit(2);
    }
    *size = atol(argv[1]);
    *aim = atof(argv[2]);
}

// Knuth's generator (MMIX), as tare's made-up problems use it.
static uint64_t random_state = 1;

__attribute__((unused)) static uint32_t next(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return random_state >> 32;
}

__attribute__((unused)) static uint32_t below(uint32_t bound) {
    return (uint64_t)next() * bound >> 32;
}
