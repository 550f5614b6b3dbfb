// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `blowfish`: the same rounds over a buffer, block by block. Its first
// tables, the digits of pi, it works out itself.

#include "bench.h"

#define WORDS (1 + 18 + 4 * 256 + 3)

static uint32_t rounds[18], boxes[4][256];

static uint32_t divide(uint64_t *number, uint64_t by) {
    uint64_t rest = 0, any = 0;
    for (int i = 0; i < WORDS; i++) {
        uint64_t all = rest << 32 | number[i];
        number[i] = all / by;
        rest = all % by;
        any |= number[i];
    }
    return any != 0;
}

static void add(uint64_t *sum, const uint64_t *number, int64_t factor) {
    int64_t carry = 0;
    for (int i = WORDS; i--;) {
        int64_t all = (int64_t)sum[i] + factor * (int64_t)number[i] + carry;
        sum[i] = all & 0xffffffff;
        carry = all >> 32;
    }
}

static void add_arctan(uint64_t *sum, uint64_t x, int factor) {
    uint64_t power[WORDS] = {1}, term[WORDS];
    divide(power, x);
    add(sum, power, factor);
    for (int n = 1; divide(power, x * x); n++) {
        memcpy(term, power, sizeof term);
        divide(term, 2 * n + 1);
        add(sum, term, n % 2 ? -factor : factor);
    }
}

static inline uint32_t mix(uint32_t x) {
    return ((boxes[0][x >> 24] + boxes[1][x >> 16 & 255]) ^ boxes[2][x >> 8 & 255]) + boxes[3][x & 255];
}

static inline void encrypt(const uint32_t *from, uint32_t *to) {
    uint32_t left = from[0], right = from[1];
    for (int i = 0; i < 16; i += 2) {
        left ^= rounds[i];
        right ^= mix(left) ^ rounds[i + 1];
        left ^= mix(right);
    }
    to[0] = right ^ rounds[17];
    to[1] = left ^ rounds[16];
}

static void spread(const unsigned char *key, int length) {
    uint64_t digits[WORDS] = {0};
    add_arctan(digits, 5, 16);
    add_arctan(digits, 239, -4);
    for (int i = 0, at = 0; i < 18; i++) {
        uint32_t word = 0;
        for (int byte = 0; byte < 4; byte++, at++)
            word = word << 8 | key[at % length];
        rounds[i] = digits[1 + i] ^ word;
    }
    for (int i = 0; i < 1024; i++)
        boxes[i / 256][i % 256] = digits[19 + i];
    uint32_t block[2] = {0, 0};
    for (int i = 0; i < 18; i += 2) {
        encrypt(block, block);
        memcpy(&rounds[i], block, 8);
    }
    for (int i = 0; i < 1024; i += 2) {
        encrypt(block, block);
        memcpy(&boxes[i / 256][i % 256], block, 8);
    }
}

static long size;
static uint32_t *plain, *encrypted;

__attribute__((noinline)) static void encrypt_all(void) {
    for (long i = 0; i < size / 8; i++)
        encrypt(plain + 2 * i, encrypted + 2 * i);
}

static long work(long units) {
    while (units--) {
        encrypt_all();
        __asm__ volatile("" ::: "memory");
    }
    return 0;
}

int main(int argc, char **argv) {
    double aim;
    arguments(argc, argv, &size, &aim);
    plain = malloc(size);
    encrypted = malloc(size);
    for (long i = 0; i < size / 4; i++)
        plain[i] = next();
    const uint32_t nothing[2] = {0, 0};
    uint32_t found[2];
    spread((const unsigned char *)"\0\0\0\0\0\0\0", 8);
    encrypt(nothing, found);
    wrong_answers += found[0] != 0x4EF99745 || found[1] != 0x6198DD78;
    spread((const unsigned char *)"what does the box cost?", 23);
    tell("rate", size / 8 * 8 / seconds_per_unit(work, aim));
    return 0;
}
