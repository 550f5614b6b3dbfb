//! `raytrace`: a picture of five spheres, with shadows and mirrors.
//!
//! Roots, quotients and products of doubles behind branches that hang on them. Every
//! ray is followed on its own, so that nothing is gained by vectors.

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::isa::{self, Granted, mul_add, per_isa};
use crate::report::{self, worse};
use crate::size;
use std::hint::black_box;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, Isa, KernelSpec};

/// Largest relative difference from the sum of the baseline's picture: from v3 on
/// products and sums are rounded once.
const ERROR_BOUND: f64 = 1e-9;

/// Mirrors that a ray is followed to.
const BOUNCES: usize = 3;

/// Nearer hits are of the surface that the ray starts from.
const NEAREST: f64 = 1e-6;

type Vector = [f64; 3];

struct Sphere {
    centre: Vector,
    radius: f64,
    /// Share of the light that it throws back everywhere, and as a mirror.
    matt: f64,
    mirror: f64,
}

/// No two are alike and no ray meets one at its very edge, where a rounding would
/// decide. The first is the ground.
const SCENE: [Sphere; 5] = [
    sphere([0.0, -1000.5, 3.0], 1000.0, 0.55, 0.10),
    sphere([0.07, 0.31, 3.1], 0.83, 0.60, 0.35),
    sphere([-1.21, 0.02, 2.7], 0.47, 0.75, 0.20),
    sphere([1.13, -0.11, 2.3], 0.39, 0.40, 0.55),
    sphere([0.41, -0.29, 1.7], 0.21, 0.80, 0.15),
];

const fn sphere(centre: Vector, radius: f64, matt: f64, mirror: f64) -> Sphere {
    Sphere {
        centre,
        radius,
        matt,
        mirror,
    }
}

/// Towards the lamp, which is far away; of length 1.
const LAMP: Vector = [-0.48, 0.8, -0.36];

/// The kernel, of which a unit is the picture.
pub struct Slices {
    isa: Granted,
    side: u32,
    right: f64,
    worst_error: f64,
}

impl Slices {
    /// # Errors
    /// [`KernelError::Size`] for a picture too small or too large.
    pub fn new(spec: &KernelSpec, isa: Granted) -> Result<Self, KernelError> {
        let side = u32::try_from(size::check(spec)?).map_err(|_| size::refused(spec))?;
        Ok(Self {
            isa,
            side,
            right: picture(isa::require(Isa::Baseline)?, side),
            worst_error: 0.0,
        })
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let error = timed_alone(parts, units as f64, || {
            let mut worst: f64 = 0.0;
            for _ in 0..units {
                let sum = picture(self.isa, black_box(self.side));
                worst = worse(worst, (sum / self.right - 1.0).abs());
            }
            worst
        });
        self.worst_error = worse(self.worst_error, error);
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check(
            "relative difference of the picture's light",
            self.worst_error,
            ERROR_BOUND,
        )
    }
}

per_isa!(fn picture(side: u32) -> f64 = picture_body);

/// The light of all pixels together.
#[inline(always)]
fn picture_body<const LANES: usize>(side: u32) -> f64 {
    let mut light = 0.0;
    let at = |i: u32| (f64::from(i) + 0.5) * 2.0 / f64::from(side) - 1.0;
    for row in 0..side {
        for column in 0..side {
            light += pixel::<LANES>(unit::<LANES>([at(column), -at(row), 1.5]));
        }
    }
    light
}

/// The light that comes along a ray from the origin.
#[inline(always)]
fn pixel<const LANES: usize>(mut direction: Vector) -> f64 {
    let mut origin = [0.0; 3];
    let (mut light, mut share) = (0.0, 1.0);
    for _ in 0..=BOUNCES {
        let Some((sphere, distance)) = nearest::<LANES>(origin, direction) else {
            // The sky, brighter above.
            return mul_add::<LANES>(share, mul_add::<LANES>(0.5, direction[1], 0.5), light);
        };
        origin = along::<LANES>(origin, distance, direction);
        let normal = along::<LANES>([0.0; 3], 1.0 / sphere.radius, minus(origin, sphere.centre));
        let towards = dot::<LANES>(normal, LAMP);
        if towards > 0.0 && nearest::<LANES>(origin, LAMP).is_none() {
            light = mul_add::<LANES>(share * sphere.matt, towards, light);
        }
        direction = along::<LANES>(direction, -2.0 * dot::<LANES>(direction, normal), normal);
        share *= sphere.mirror;
    }
    light
}

/// The first sphere that a ray meets, and how far away.
#[inline(always)]
fn nearest<const LANES: usize>(origin: Vector, direction: Vector) -> Option<(&'static Sphere, f64)> {
    let (mut found, mut distance) = (None, f64::INFINITY);
    for sphere in &SCENE {
        let to_centre = minus(sphere.centre, origin);
        let middle = dot::<LANES>(to_centre, direction);
        let radius = sphere.radius;
        let beside = mul_add::<LANES>(radius, radius, -dot::<LANES>(to_centre, to_centre));
        let square = mul_add::<LANES>(middle, middle, beside);
        if square < 0.0 {
            continue;
        }
        let root = square.sqrt();
        let near = middle - root;
        let hit = if near > NEAREST { near } else { middle + root };
        if hit > NEAREST && hit < distance {
            (found, distance) = (Some(sphere), hit);
        }
    }
    found.map(|sphere| (sphere, distance))
}

#[inline(always)]
fn dot<const LANES: usize>(a: Vector, b: Vector) -> f64 {
    mul_add::<LANES>(a[2], b[2], mul_add::<LANES>(a[1], b[1], a[0] * b[0]))
}

#[inline(always)]
fn minus(a: Vector, b: Vector) -> Vector {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

/// `start` and so much of `direction`.
#[inline(always)]
fn along<const LANES: usize>(start: Vector, length: f64, direction: Vector) -> Vector {
    std::array::from_fn(|i| mul_add::<LANES>(length, direction[i], start[i]))
}

#[inline(always)]
fn unit<const LANES: usize>(vector: Vector) -> Vector {
    along::<LANES>([0.0; 3], 1.0 / dot::<LANES>(vector, vector).sqrt(), vector)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_wire::kernel::Kernel;

    #[test]
    fn a_ray_meets_a_sphere_where_geometry_has_it() {
        // From the centre of the ground down.
        let (_, distance) = nearest::<2>([0.0, -1000.5, 3.0], [0.0, -1.0, 0.0]).unwrap();
        assert!((distance - 1000.0).abs() < 1e-9, "{distance}");
        // Straight ahead at the centre of the second sphere.
        let ahead = unit::<2>(SCENE[1].centre);
        let far = dot::<2>(SCENE[1].centre, SCENE[1].centre).sqrt();
        let (_, distance) = nearest::<2>([0.0; 3], ahead).unwrap();
        assert!((distance - (far - 0.83)).abs() < 1e-12, "{distance}");
        assert!(nearest::<2>([0.0; 3], [0.0, 0.0, -1.0]).is_none());
        assert!((dot::<2>(LAMP, LAMP) - 1.0).abs() < 1e-15);
    }

    #[test]
    fn every_level_paints_the_picture_of_the_c_program() {
        // What xtask/reference/raytrace.c prints of a picture of 32 by 32.
        let right = 528.800_607_934_266_2;
        for isa in isa::granted() {
            let found = picture(isa, 32);
            assert!((found / right - 1.0).abs() < 1e-12, "{found}");
        }
    }

    #[test]
    fn levels_agree_in_pictures_of_any_size() {
        for side in [8, 33, 64, 200] {
            let right = picture(isa::granted()[0], side);
            for isa in isa::granted() {
                let error = (picture(isa, side) / right - 1.0).abs();
                assert!(error < ERROR_BOUND, "{side}: {error}");
            }
        }
    }

    #[test]
    fn another_picture_is_noticed() {
        let spec = KernelSpec {
            kernel: Kernel::Raytrace,
            isa: Isa::Baseline,
            threads: 1,
            size: 16,
            seconds: 0.05,
        };
        let mut slices = Slices::new(&spec, isa::granted()[0]).unwrap();
        let mut parts = [Part::from((0.0, 0, 0))];
        slices.work(2, &mut parts).unwrap();
        assert!(slices.check().passed());
        slices.side = 17;
        slices.work(1, &mut parts).unwrap();
        assert_eq!(parts[0].work, 3.0);
        assert!(!slices.check().passed());
    }
}
