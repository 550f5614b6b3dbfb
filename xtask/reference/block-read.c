// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `block-read`: pread of 8 KiB, one after another, of a file in the page cache.

#define _GNU_SOURCE
#include "bench.h"
#include "file.h"

static char block[8192];
static long blocks, at;
static int file;

static long work(long units) {
    for (; units--; at = (at + 1) % blocks)
        must(pread(file, block, sizeof block, at * sizeof block) == sizeof block, "pread");
    return 0;
}

int main(int argc, char **argv) {
    long size;
    double aim;
    arguments(argc, argv, &size, &aim);
    blocks = size / sizeof block;
    file = laid_out(size);
    tell("rate", sizeof block / seconds_per_unit(work, aim));
    return 0;
}
