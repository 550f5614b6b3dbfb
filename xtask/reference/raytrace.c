// SPDX-License-Identifier: MIT OR Apache-2.0
//
// The reference of `raytrace`: the same five spheres, rays, shadows and mirrors.

#include "bench.h"
#include <math.h>

typedef struct {
    double x, y, z;
} vector;

typedef struct {
    vector centre;
    double radius, matt, mirror;
} sphere;

static const sphere scene[5] = {
    {{0.0, -1000.5, 3.0}, 1000.0, 0.55, 0.10},
    {{0.07, 0.31, 3.1}, 0.83, 0.60, 0.35},
    {{-1.21, 0.02, 2.7}, 0.47, 0.75, 0.20},
    {{1.13, -0.11, 2.3}, 0.39, 0.40, 0.55},
    {{0.41, -0.29, 1.7}, 0.21, 0.80, 0.15},
};
static const vector lamp = {-0.48, 0.8, -0.36};

static double dot(vector a, vector b) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static vector minus(vector a, vector b) {
    return (vector){a.x - b.x, a.y - b.y, a.z - b.z};
}

static vector along(vector start, double length, vector direction) {
    return (vector){start.x + length * direction.x, start.y + length * direction.y, start.z + length * direction.z};
}

static const sphere *nearest(vector origin, vector direction, double *distance) {
    const sphere *found = NULL;
    *distance = INFINITY;
    for (int i = 0; i < 5; i++) {
        vector to_centre = minus(scene[i].centre, origin);
        double middle = dot(to_centre, direction);
        double square = middle * middle + (scene[i].radius * scene[i].radius - dot(to_centre, to_centre));
        if (square < 0)
            continue;
        double root = sqrt(square);
        double hit = middle - root > 1e-6 ? middle - root : middle + root;
        if (hit > 1e-6 && hit < *distance) {
            found = &scene[i];
            *distance = hit;
        }
    }
    return found;
}

static double pixel(vector direction) {
    vector origin = {0, 0, 0}, zero = {0, 0, 0};
    double light = 0, share = 1;
    for (int bounce = 0; bounce <= 3; bounce++) {
        double distance, shadow;
        const sphere *hit = nearest(origin, direction, &distance);
        if (!hit)
            return light + share * (0.5 + 0.5 * direction.y);
        origin = along(origin, distance, direction);
        vector normal = along(zero, 1 / hit->radius, minus(origin, hit->centre));
        double towards = dot(normal, lamp);
        if (towards > 0 && !nearest(origin, lamp, &shadow))
            light += share * hit->matt * towards;
        direction = along(direction, -2 * dot(direction, normal), normal);
        share *= hit->mirror;
    }
    return light;
}

__attribute__((noinline)) static double picture(long side) {
    vector zero = {0, 0, 0};
    double light = 0;
    for (long row = 0; row < side; row++)
        for (long column = 0; column < side; column++) {
            vector to = {(column + 0.5) * 2 / side - 1, -((row + 0.5) * 2 / side - 1), 1.5};
            light += pixel(along(zero, 1 / sqrt(dot(to, to)), to));
        }
    return light;
}

static long side;
static double right;

static long work(long units) {
    long wrong = 0;
    while (units--) {
        __asm__ volatile("" : "+m"(side));
        wrong += fabs(picture(side) / right - 1) > 1e-12;
    }
    return wrong;
}

int main(int argc, char **argv) {
    double aim;
    arguments(argc, argv, &side, &aim);
    right = picture(side);
    if (aim == 0) {
        printf("%.17g\n", right);
        return 0;
    }
    tell("time", seconds_per_unit(work, aim));
    return 0;
}
