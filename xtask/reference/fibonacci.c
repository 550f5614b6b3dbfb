// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `fibonacci`: two calls for each number, neither made a loop.

#include "bench.h"

#define OPAQUE(x) __asm__ volatile("" : "+r"(x))

__attribute__((noinline)) static uint64_t fibonacci(uint64_t n) {
    if (n < 2)
        return n;
    uint64_t one = fibonacci(n - 1);
    OPAQUE(one);
    uint64_t other = fibonacci(n - 2);
    OPAQUE(other);
    return one + other;
}

static long n;
static uint64_t right = 0;

static long work(long units) {
    long wrong = 0;
    while (units--) {
        uint64_t given = n;
        OPAQUE(given);
        wrong += fibonacci(given) != right;
    }
    return wrong;
}

int main(int argc, char **argv) {
    double aim;
    arguments(argc, argv, &n, &aim);
    uint64_t after = 1;
    for (long i = 0; i < n; i++) {
        uint64_t sum = right + after;
        right = after;
        after = sum;
    }
    tell("time", seconds_per_unit(work, aim));
    return 0;
}
