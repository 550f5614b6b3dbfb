// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `nqueens`: row by row, going back where there is no place.

#include "bench.h"

static const uint64_t known[15] = {1, 1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596};

static int is_safe(const int *columns, int row, int column) {
    int left = column, right = column;
    for (int earlier = row - 1; earlier >= 0; earlier--) {
        left--;
        right++;
        if (columns[earlier] == column || columns[earlier] == left || columns[earlier] == right)
            return 0;
    }
    return 1;
}

__attribute__((noinline)) static uint64_t ways(int queens) {
    int columns[16] = {0}, row = 0, column = 0;
    uint64_t found = 0;
    for (;;) {
        while (column < queens && !is_safe(columns, row, column))
            column++;
        if (column == queens) {
            if (row == 0)
                return found;
            column = columns[--row] + 1;
        } else if (row + 1 < queens) {
            columns[row++] = column;
            column = 0;
        } else {
            found++;
            column++;
        }
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
