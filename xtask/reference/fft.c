// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `fft`: the same transform by halves, in place, parts apart, and its
// inverse by changing the parts' places.

#include "bench.h"
#include <math.h>

static long points;
static double *re, *im, *first_re, *first_im, *root_re, *root_im;
static uint32_t *swaps;
static long swap_count;

static double *array(long count) {
    double *made = malloc(count * sizeof *made);
    if (!made)
        exit(1);
    return made;
}

static void plan(void) {
    const double pi = acos(-1);
    int bits = 0;
    while (1L << bits < points)
        bits++;
    swaps = malloc(2 * points * sizeof *swaps);
    for (long i = 0; i < points; i++) {
        long j = 0;
        for (int bit = 0; bit < bits; bit++)
            j |= (i >> bit & 1) << (bits - 1 - bit);
        if (i < j) {
            swaps[2 * swap_count] = i;
            swaps[2 * swap_count++ + 1] = j;
        }
    }
    root_re = array(points);
    root_im = array(points);
    for (long half = 1; half < points; half *= 2)
        for (long k = 0; k < half; k++) {
            root_re[half - 1 + k] = cos(-pi * k / half);
            root_im[half - 1 + k] = sin(-pi * k / half);
        }
}

static void swap(double *x, double *y) {
    double t = *x;
    *x = *y;
    *y = t;
}

__attribute__((noinline)) static void transform(double *restrict re, double *restrict im) {
    for (long i = 0; i < swap_count; i++) {
        swap(&re[swaps[2 * i]], &re[swaps[2 * i + 1]]);
        swap(&im[swaps[2 * i]], &im[swaps[2 * i + 1]]);
    }
    for (long half = 1; half < points; half *= 2) {
        const double *restrict wr = root_re + half - 1, *restrict wi = root_im + half - 1;
        for (long block = 0; block < points; block += 2 * half) {
            double *restrict ar = re + block, *restrict ai = im + block;
            double *restrict br = ar + half, *restrict bi = ai + half;
            for (long k = 0; k < half; k++) {
                double tr = wr[k] * br[k] - wi[k] * bi[k];
                double ti = wr[k] * bi[k] + wi[k] * br[k];
                br[k] = ar[k] - tr;
                bi[k] = ai[k] - ti;
                ar[k] += tr;
                ai[k] += ti;
            }
        }
    }
}

static long work(long units) {
    memcpy(re, first_re, points * sizeof *re);
    memcpy(im, first_im, points * sizeof *im);
    double factor = 1.0 / points;
    while (units--) {
        transform(re, im);
        transform(im, re);
        for (long i = 0; i < points; i++) {
            re[i] *= factor;
            im[i] *= factor;
        }
    }
    long wrong = 0;
    for (long i = 0; i < points; i++)
        wrong += fabs(re[i] - first_re[i]) + fabs(im[i] - first_im[i]) > 1e-9;
    return wrong;
}

int main(int argc, char **argv) {
    double aim;
    arguments(argc, argv, &points, &aim);
    plan();
    re = array(points), im = array(points), first_re = array(points), first_im = array(points);
    for (long i = 0; i < points; i++)
        first_re[i] = next() / 2147483648.0 - 1;
    for (long i = 0; i < points; i++)
        first_im[i] = next() / 2147483648.0 - 1;
    tell("rate", 10.0 * points * log2(points) / seconds_per_unit(work, aim));
    return 0;
}
