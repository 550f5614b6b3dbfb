// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `fault`: pieces of 256 pages, each page touched once.

#include "bench.h"
#include <sys/mman.h>

static long work(long units) {
    long wrong = 0;
    while (units > 0) {
        long pages = units < 256 ? units : 256;
        char *piece = mmap(NULL, pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (piece == MAP_FAILED) {
            perror("mmap");
            exit(1);
        }
        madvise(piece, pages * 4096, MADV_NOHUGEPAGE);
        for (long page = 0; page < pages; page++)
            wrong += __atomic_exchange_n(piece + page * 4096, 1, __ATOMIC_RELAXED) != 0;
        munmap(piece, pages * 4096);
        units -= pages;
    }
    return wrong;
}

int main(int argc, char **argv) {
    double aim;
    long size;
    arguments(argc, argv, &size, &aim);
    tell("latency", seconds_per_unit(work, aim));
    return 0;
}
