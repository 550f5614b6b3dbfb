// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference that the kernel `stream` is held against: the same arrays, the
// same four loops, the same timing rule, on one thread.
//
//     stream BYTES SECONDS
//
// prints the rates in B/s, total bytes over total time, as one JSON object.

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

enum { COPY, SCALE, ADD, TRIAD, LOOPS };

// Solves s + s (1 + s) = 1, so that the values neither grow nor vanish.
static const double SCALAR = 0.41421356237309503;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double *array(size_t bytes) {
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return p;
}

// Functions of their own, so that the compiler can neither merge nor drop passes.
#define LOOP __attribute__((noinline)) static void

LOOP copy(double *restrict c, const double *restrict a, size_t n) {
    for (size_t i = 0; i < n; i++)
        c[i] = a[i];
}

LOOP scale(double *restrict b, const double *restrict c, size_t n) {
    for (size_t i = 0; i < n; i++)
        b[i] = SCALAR * c[i];
}

LOOP add(double *restrict c, const double *restrict a, const double *restrict b, size_t n) {
    for (size_t i = 0; i < n; i++)
        c[i] = a[i] + b[i];
}

LOOP triad(double *restrict a, const double *restrict b, const double *restrict c, size_t n) {
    for (size_t i = 0; i < n; i++)
        a[i] = b[i] + SCALAR * c[i];
}

static void pass(double *a, double *b, double *c, size_t n, double spent[LOOPS]) {
    double t[LOOPS + 1];
    t[COPY] = now();
    copy(c, a, n);
    t[SCALE] = now();
    scale(b, c, n);
    t[ADD] = now();
    add(c, a, b, n);
    t[TRIAD] = now();
    triad(a, b, c, n);
    t[LOOPS] = now();
    for (int i = 0; i < LOOPS; i++)
        spent[i] += t[i + 1] - t[i];
}

static double worst_error(const double *x, size_t n, double expected) {
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        worst = fmax(worst, fabs(x[i] - expected) / expected);
    return worst;
}

// The largest relative error of any element, against the same recurrence on
// three numbers.
static double check(const double *a, const double *b, const double *c, size_t n, long passes) {
    double x = 1, y = 2, z = 0;
    for (long i = 0; i < passes; i++) {
        z = x;
        y = SCALAR * z;
        z = x + y;
        x = y + SCALAR * z;
    }
    return fmax(worst_error(a, n, x), fmax(worst_error(b, n, y), worst_error(c, n, z)));
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: stream BYTES SECONDS\n");
        return 2;
    }
    size_t n = strtoull(argv[1], NULL, 10) / sizeof(double);
    double aim = atof(argv[2]);
    double *a = array(n * sizeof *a), *b = array(n * sizeof *b), *c = array(n * sizeof *c);
    for (size_t i = 0; i < n; i++) {
        a[i] = 1;
        b[i] = 2;
        c[i] = 0;
    }

    double untimed[LOOPS] = {0}, spent[LOOPS] = {0};
    pass(a, b, c, n, untimed);
    long passes = 0;
    double start = now();
    do {
        pass(a, b, c, n, spent);
        passes++;
    } while (now() - start < aim);

    const double bytes[LOOPS] = {16, 16, 24, 24};
    const char *name[LOOPS] = {"copy", "scale", "add", "triad"};
    printf("{");
    for (int i = 0; i < LOOPS; i++)
        printf("\"%s\": %.6e, ", name[i], bytes[i] * n * passes / spent[i]);
    printf("\"error\": %.3e}\n", check(a, b, c, n, passes + 1));
    return 0;
}
