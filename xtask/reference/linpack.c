// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference that the kernel `linpack` is held against: the same matrix, the
// same column-oriented dgefa and dgesl, the same timing rule.
//
//     linpack ORDER SECONDS
//
// prints the rate in flop/s, total work over total time, as one JSON object.

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec + 1e-9 * t.tv_nsec;
}

static double *array(size_t count) {
    void *p = mmap(NULL, count * sizeof(double), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) {
        perror("mmap");
        exit(1);
    }
    return p;
}

// LINPACK's matgen by columns, b = row sums. One draw after each column is
// dropped where the order is even: the generator's period is 2^14, and columns
// would repeat.
static void matgen(double *a, double *b, int n) {
    unsigned draw = 1325;
    memset(b, 0, n * sizeof *b);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            draw = 3125 * draw % 65536;
            a[(size_t)j * n + i] = (draw - 32768.0) / 16384;
            b[i] += a[(size_t)j * n + i];
        }
        if (n % 2 == 0)
            draw = 3125 * draw % 65536;
    }
}

static void swap(double *x, double *y) {
    double t = *x;
    *x = *y;
    *y = t;
}

static void daxpy(int n, double t, const double *restrict x, double *restrict y) {
    for (int i = 0; i < n; i++)
        y[i] += t * x[i];
}

static int idamax(int n, const double *x) {
    int best = 0;
    for (int i = 1; i < n; i++)
        if (fabs(x[i]) > fabs(x[best]))
            best = i;
    return best;
}

__attribute__((noinline)) static void dgefa(double *a, int n, int *pivot) {
    for (int k = 0; k < n - 1; k++) {
        double *column = a + (size_t)k * n;
        int l = pivot[k] = k + idamax(n - k, column + k);
        swap(&column[l], &column[k]);
        double t = -1 / column[k];
        for (int i = k + 1; i < n; i++)
            column[i] *= t;
        for (int j = k + 1; j < n; j++) {
            double *other = a + (size_t)j * n;
            swap(&other[l], &other[k]);
            daxpy(n - k - 1, other[k], column + k + 1, other + k + 1);
        }
    }
}

__attribute__((noinline)) static void dgesl(const double *a, int n, const int *pivot, double *b) {
    for (int k = 0; k < n - 1; k++) {
        swap(&b[pivot[k]], &b[k]);
        daxpy(n - k - 1, b[k], a + (size_t)k * n + k + 1, b + k + 1);
    }
    for (int k = n - 1; k >= 0; k--) {
        b[k] /= a[(size_t)k * n + k];
        daxpy(k, -b[k], a + (size_t)k * n, b);
    }
}

// HPL's scaled residual of x, |A x - b| / (eps n (|A| |x| + |b|)) with the
// largest norms; uses up a.
static double residual(double *a, const double *x, int n) {
    double *rest = array(n), *magnitude = array(n), *b = array(n);
    double worst = 0, norm_a = 0, norm_b = 0, norm_x = 0;
    matgen(a, b, n);
    memcpy(rest, b, n * sizeof *b);
    for (int j = 0; j < n; j++) {
        daxpy(n, -x[j], a + (size_t)j * n, rest);
        for (int i = 0; i < n; i++)
            magnitude[i] += fabs(a[(size_t)j * n + i]);
    }
    for (int i = 0; i < n; i++) {
        worst = fmax(worst, fabs(rest[i]));
        norm_a = fmax(norm_a, magnitude[i]);
        norm_b = fmax(norm_b, fabs(b[i]));
        norm_x = fmax(norm_x, fabs(x[i]));
    }
    return worst / (DBL_EPSILON * n * (norm_a * norm_x + norm_b));
}

int main(int argc, char **argv) {
    if (argc != 3) {
        fprintf(stderr, "usage: linpack ORDER SECONDS\n");
        return 2;
    }
    int n = atoi(argv[1]);
    double aim = atof(argv[2]);
    double *a = array((size_t)n * n), *x = array(n);
    int *pivot = malloc(n * sizeof *pivot);

    double spent = 0;
    long solves = 0;
    for (int warm_up = 1; spent < aim; warm_up = 0) {
        matgen(a, x, n);
        double start = now();
        dgefa(a, n, pivot);
        dgesl(a, n, pivot, x);
        double end = now();
        if (warm_up)
            continue;
        spent += end - start;
        solves++;
    }

    double flops = 2.0 * n * n * n / 3 + 2.0 * n * n;
    printf("{\"rate\": %.6e, ", flops * solves / spent);
    printf("\"residual\": %.3e}\n", residual(a, x, n));
    return 0;
}
