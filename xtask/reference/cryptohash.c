// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `cryptohash`: MD5 (RFC 1321) and SHA-1 (FIPS 180-4) of a buffer.

#include "bench.h"
#include <math.h>

static uint32_t sines[64];

static uint32_t turn(uint32_t x, int by) {
    return x << by | x >> (32 - by);
}

#define STEP(a, b, mixed, word, sine, by) a = turn(a + (mixed) + (word) + (sine), by) + b
#define FOUR(F, w0, w1, w2, w3, sine, t0, t1, t2, t3)                                                                  \
    do {                                                                                                               \
        STEP(a, b, F(b, c, d), w[(w0) % 16], sines[sine], t0);                                                         \
        STEP(d, a, F(a, b, c), w[(w1) % 16], sines[(sine) + 1], t1);                                                   \
        STEP(c, d, F(d, a, b), w[(w2) % 16], sines[(sine) + 2], t2);                                                   \
        STEP(b, c, F(c, d, a), w[(w3) % 16], sines[(sine) + 3], t3);                                                   \
    } while (0)
#define MD1(x, y, z) (z ^ (x & (y ^ z)))
#define MD2(x, y, z) (y ^ (z & (x ^ y)))
#define MD3(x, y, z) (x ^ y ^ z)
#define MD4(x, y, z) (y ^ (x | ~z))

static void md5(uint32_t *state, const unsigned char *block) {
    uint32_t w[16];
    memcpy(w, block, 64);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    for (int i = 0; i < 16; i += 4)
        FOUR(MD1, i, i + 1, i + 2, i + 3, i, 7, 12, 17, 22);
    for (int i = 0; i < 16; i += 4)
        FOUR(MD2, 5 * i + 1, 5 * i + 6, 5 * i + 11, 5 * i + 16, 16 + i, 5, 9, 14, 20);
    for (int i = 0; i < 16; i += 4)
        FOUR(MD3, 3 * i + 5, 3 * i + 8, 3 * i + 11, 3 * i + 14, 32 + i, 4, 11, 16, 23);
    for (int i = 0; i < 16; i += 4)
        FOUR(MD4, 7 * i, 7 * i + 7, 7 * i + 14, 7 * i + 21, 48 + i, 6, 10, 15, 21);
    state[0] += a, state[1] += b, state[2] += c, state[3] += d;
}

#define CHOOSE(x, y, z) (z ^ (x & (y ^ z)))
#define PARITY(x, y, z) (x ^ y ^ z)
#define MAJORITY(x, y, z) ((x & y) | (z & (x | y)))
#define ROUND(F, a, b, c, d, e, word, constant)                                                                        \
    e = turn(a, 5) + F(b, c, d) + (e + (word) + (constant)), b = turn(b, 30)
#define TWENTY(F, from, constant)                                                                                      \
    for (int i = from; i < from + 20; i += 5) {                                                                        \
        ROUND(F, a, b, c, d, e, w[i], constant);                                                                       \
        ROUND(F, e, a, b, c, d, w[i + 1], constant);                                                                   \
        ROUND(F, d, e, a, b, c, w[i + 2], constant);                                                                   \
        ROUND(F, c, d, e, a, b, w[i + 3], constant);                                                                   \
        ROUND(F, b, c, d, e, a, w[i + 4], constant);                                                                   \
    }

static void sha1(uint32_t *state, const unsigned char *block) {
    uint32_t w[80];
    memcpy(w, block, 64);
    for (int i = 0; i < 16; i++)
        w[i] = __builtin_bswap32(w[i]);
    for (int i = 16; i < 80; i++)
        w[i] = turn(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3], e = state[4];
    TWENTY(CHOOSE, 0, 0x5a827999)
    TWENTY(PARITY, 20, 0x6ed9eba1)
    TWENTY(MAJORITY, 40, 0x8f1bbcdc)
    TWENTY(PARITY, 60, 0xca62c1d6)
    state[0] += a, state[1] += b, state[2] += c, state[3] += d, state[4] += e;
}

static long size;
static unsigned char *buffer;

__attribute__((noinline)) static void hashes(const unsigned char *text, long blocks, uint32_t *found) {
    static const uint32_t start[9] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0x67452301,
                                      0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    memcpy(found, start, sizeof start);
    for (long i = 0; i < blocks; i++)
        md5(found, text + 64 * i);
    for (long i = 0; i < blocks; i++)
        sha1(found + 4, text + 64 * i);
}

static uint32_t right[9];

static long work(long units) {
    long wrong = 0;
    while (units--) {
        uint32_t found[9];
        __asm__ volatile("" ::: "memory");
        hashes(buffer, size / 64, found);
        wrong += memcmp(found, right, sizeof right) != 0;
    }
    return wrong;
}

// "abc", padded as each standard has it.
static void known_answer(void) {
    static const uint32_t md5_abc[4] = {0x98500190, 0xb04fd23c, 0x7d3f96d6, 0x727fe128};
    static const uint32_t sha1_abc[5] = {0xa9993e36, 0x4706816a, 0xba3e2571, 0x7850c26c, 0x9cd0d89d};
    unsigned char block[64] = "abc\x80";
    uint32_t found[9];
    block[56] = 24;
    hashes(block, 1, found);
    wrong_answers += memcmp(found, md5_abc, sizeof md5_abc) != 0;
    block[56] = 0, block[63] = 24;
    hashes(block, 1, found);
    wrong_answers += memcmp(found + 4, sha1_abc, sizeof sha1_abc) != 0;
}

int main(int argc, char **argv) {
    double aim;
    arguments(argc, argv, &size, &aim);
    for (int i = 0; i < 64; i++)
        sines[i] = floor(fabs(sin(i + 1)) * 4294967296.0);
    buffer = malloc(size);
    for (long i = 0; i < size; i++)
        buffer[i] = next() >> 24;
    known_answer();
    hashes(buffer, size / 64, right);
    tell("rate", size / 64 * 64 / seconds_per_unit(work, aim));
    return 0;
}
