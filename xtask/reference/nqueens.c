// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `nqueens`: row by row, going back where there is no place.

#include "bench.h"

static const uint64_t known[15] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};

static int is_safe(const size_t *columns, size_t row, size_t column) {
    for (size_t distance = 1; distance <= row; distance++) {
        size_t earlier = columns[row - distance];
        size_t away = column > earlier ? column - earlier : earlier - column;
        if (away == 0 || away == distance)
            return 0;
    }
    return 1;
}

__attribute__((noinline)) static uint64_t ways(size_t queens) {
    size_t columns[16] = {0}, row = 0;
    uint64_t found = 0;
    for (;;) {
        size_t column = columns[row];
        if (column == queens) {
            if (row == 0)
                return found;
            row--;
        } else if (is_safe(columns, row, column)) {
            if (row + 1 < queens) {
                columns[++row] = 0;
                continue;
            }
            found++;
        }
        columns[row]++;
    }
}

static long queens;

static long work(long units) {
    long wrong = 0;
    while (units--) {
        __asm__ volatile("" : "+m"(queens));
        wrong += ways(queens) != known[queens];
    }
    return wrong;
}

int main(int argc, char **argv) {
    double aim;
    arguments(argc, argv, &queens, &aim);
    tell("time", seconds_per_unit(work, aim));
    return 0;
}
