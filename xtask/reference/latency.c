// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `latency`: the same cycle through all lines of a buffer.

#include "bench.h"
#include <sys/mman.h>

static uint64_t *buffer, at;
static long lines;

static long work(long units) {
    while (units--)
        at = buffer[at];
    return 0;
}

int main(int argc, char **argv) {
    double aim;
    long size;
    arguments(argc, argv, &size, &aim);
    lines = size / 64;
    buffer = mmap(NULL, lines * 64, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffer == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    for (long line = 0; line < lines; line++)
        buffer[8 * line] = 8 * line;
    for (long line = lines - 1; line > 0; line--) {
        long other = below(line);
        uint64_t kept = buffer[8 * line];
        buffer[8 * line] = buffer[8 * other];
        buffer[8 * other] = kept;
    }
    double seconds = seconds_per_unit(work, aim);
    // It comes back after all lines, and not before.
    at = 0;
    for (long i = 0; i < lines; i++) {
        wrong_answers += i > 0 && at == 0;
        at = buffer[at];
    }
    wrong_answers += at != 0;
    tell("latency", seconds);
    return 0;
}
