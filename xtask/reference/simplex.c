// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `simplex`: the same programs, and the same method on a dense tableau.

#include "bench.h"
#include <math.h>

static long order, width;
static double *program, *tableau, optimum;

static double draw(void) {
    return 1 + below(9);
}

static void make(void) {
    double *unknowns = malloc(order * sizeof *unknowns), *prices = malloc(order * sizeof *prices);
    double *gains = program + order * width;
    for (long i = 0; i < order; i++)
        for (long j = 0; j < order; j++)
            program[i * width + j] = draw();
    for (long i = 0; i < order; i++)
        unknowns[i] = i % 2 == 0 ? draw() : 0;
    for (long i = 0; i < order; i++)
        prices[i] = i % 2 == 0 ? draw() : 0;
    memset(gains, 0, width * sizeof *gains);
    for (long i = 0; i < order; i++) {
        double used = 0, slack = draw();
        for (long j = 0; j < order; j++) {
            used += program[i * width + j] * unknowns[j];
            gains[j] += prices[i] * program[i * width + j];
        }
        program[i * width + order] = used + (prices[i] == 0 ? slack : 0);
    }
    for (long j = 0; j < order; j++) {
        double slack = draw();
        gains[j] -= unknowns[j] == 0 ? slack : 0;
        optimum += gains[j] * unknowns[j];
    }
    free(unknowns);
    free(prices);
}

static long entering(const double *gains) {
    long found = -1;
    double most = 1e-9;
    for (long j = 0; j < order; j++)
        if (gains[j] > most) {
            found = j;
            most = gains[j];
        }
    return found;
}

static long leaving(long column) {
    long found = -1;
    double least = INFINITY;
    for (long i = 0; i < order; i++) {
        double entry = tableau[i * width + column], left = tableau[i * width + order];
        if (entry > 1e-9 && left < least * entry) {
            found = i;
            least = left / entry;
        }
    }
    return found;
}

static void exchange(long row, long column) {
    double *restrict pivot = tableau + row * width;
    double inverse = 1 / pivot[column];
    for (long j = 0; j < width; j++)
        pivot[j] *= inverse;
    pivot[column] = inverse;
    for (long i = 0; i <= order; i++) {
        if (i == row)
            continue;
        double *restrict other = tableau + i * width;
        double factor = -other[column];
        other[column] = 0;
        for (long j = 0; j < width; j++)
            other[j] += factor * pivot[j];
    }
}

__attribute__((noinline)) static double solve(void) {
    const double *gains = tableau + order * width;
    for (long steps = 0; steps < 100 * width; steps++) {
        long column = entering(gains);
        if (column < 0)
            return -gains[order];
        long row = leaving(column);
        if (row < 0)
            return NAN;
        exchange(row, column);
    }
    return NAN;
}

static long work(long units) {
    long wrong = 0;
    while (units--) {
        memcpy(tableau, program, width * width * sizeof *tableau);
        wrong += !(fabs(solve() / optimum - 1) < 1e-9);
    }
    return wrong;
}

int main(int argc, char **argv) {
    double aim;
    arguments(argc, argv, &order, &aim);
    width = order + 1;
    program = malloc(width * width * sizeof *program);
    tableau = malloc(width * width * sizeof *tableau);
    make();
    tell("time", seconds_per_unit(work, aim));
    return 0;
}
