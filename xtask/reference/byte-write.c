// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `byte-write`: putc of the C library that gcc links, over a file in the
// page cache. It looks for a lock at each byte, which ours need not.

#define _GNU_SOURCE
#include "bench.h"
#include "file.h"

static FILE *file;
static long left, size;

static long work(long units) {
    long wrong = 0;
    for (; units--; left -= 4096) {
        if (left < 4096) {
            rewind(file);
            left = size;
        }
        for (int i = 0; i < 4096; i++)
            wrong += putc(i & 127, file) == EOF;
    }
    return wrong;
}

int main(int argc, char **argv) {
    double aim;
    arguments(argc, argv, &size, &aim);
    left = size;
    file = fdopen(laid_out(size), "r+");
    rewind(file);
    tell("rate", 4096 / seconds_per_unit(work, aim));
    return 0;
}
