// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `astar`: the same maps, and the same search with the same heap.

#include "bench.h"

#define UNREACHED UINT32_MAX

static long side;
static size_t width, fields, length;
static uint32_t *map, *costs;
static uint64_t *heap;

static void draw_map(void) {
    memset(map, 0, fields * sizeof *map);
    for (long row = 1; row <= side; row++)
        for (long column = 1; column <= side; column++) {
            uint32_t draw = below(16);
            map[row * width + column] = draw < 4 ? 0 : 1 + draw % 4;
        }
    map[width + 1] = map[fields - width - 2] = 1;
}

static inline uint32_t at_least(size_t field) {
    size_t goal = width - 2;
    return (goal - field % width) + (goal - field / width);
}

static inline void push(uint64_t entry) {
    size_t at = length++;
    while (at > 0) {
        size_t above = (at - 1) / 2;
        if (heap[above] <= entry)
            break;
        heap[at] = heap[above];
        at = above;
    }
    heap[at] = entry;
}

static inline uint64_t pop(void) {
    uint64_t least = heap[0], last = heap[--length];
    size_t at = 0;
    for (;;) {
        size_t below = 2 * at + 1;
        if (below >= length)
            break;
        if (below + 1 < length && heap[below + 1] < heap[below])
            below++;
        if (last <= heap[below])
            break;
        heap[at] = heap[below];
        at = below;
    }
    heap[at] = last;
    return least;
}

__attribute__((noinline)) static uint32_t search(void) {
    size_t first = width + 1, last = fields - width - 2;
    memset(costs, 255, fields * sizeof *costs);
    length = 0;
    costs[first] = 0;
    push((uint64_t)at_least(first) << 32 | first);
    while (length > 0) {
        uint64_t next = pop();
        size_t field = (uint32_t)next;
        uint32_t cost = costs[field];
        if (field == last)
            return cost;
        if (next >> 32 > cost + at_least(field))
            continue;
        const size_t around[4] = {field - 1, field + 1, field - width, field + width};
        for (int i = 0; i < 4; i++) {
            uint32_t step = map[around[i]], through = cost + step;
            if (step != 0 && through < costs[around[i]]) {
                costs[around[i]] = through;
                push((uint64_t)(through + at_least(around[i])) << 32 | around[i]);
            }
        }
    }
    return UNREACHED;
}

// The cheapest way by rounds over all fields; UNREACHED if there is none.
static uint32_t by_rounds(void) {
    memset(costs, 255, fields * sizeof *costs);
    costs[width + 1] = 0;
    for (int changed = 1; changed;) {
        changed = 0;
        for (size_t field = width + 1; field <= fields - width - 2; field++) {
            const size_t around[4] = {field - 1, field + 1, field - width, field + width};
            for (int i = 0; map[field] && i < 4; i++)
                if (costs[around[i]] != UNREACHED && costs[around[i]] + map[field] < costs[field]) {
                    costs[field] = costs[around[i]] + map[field];
                    changed = 1;
                }
        }
    }
    return costs[fields - width - 2];
}

static uint32_t right;

static long work(long units) {
    long wrong = 0;
    while (units--) {
        __asm__ volatile("" ::: "memory");
        wrong += search() != right;
    }
    return wrong;
}

int main(int argc, char **argv) {
    double aim;
    arguments(argc, argv, &side, &aim);
    width = side + 2;
    fields = width * width;
    map = malloc(fields * sizeof *map);
    costs = malloc(fields * sizeof *costs);
    // A field is pushed once for each neighbour that makes it cheaper.
    heap = malloc(4 * fields * sizeof *heap);
    do
        draw_map();
    while ((right = by_rounds()) == UNREACHED);
    tell("time", seconds_per_unit(work, aim));
    return 0;
}
