//! `fft`: the Fourier transform of complex numbers and its inverse, in place, by halves
//! (Cooley and Tukey 1965).
//!
//! Sums and products of doubles, over strides that grow from neighbours to half the
//! array. Work is counted as is the custom, 5 n log2 n flops for each transform.

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::isa::{Granted, mul_add, per_isa};
use crate::random::Random;
use crate::report::{self, worse};
use crate::size;
use std::f64::consts::PI;
use tare_wire::gate::Part;
use tare_wire::kernel::{Check, KernelSpec};

/// Largest error after the inverse transform, of numbers within 1. Errors add up at random, to
/// some 1e-12 after a million transforms.
const ERROR_BOUND: f64 = 1e-9;

/// The kernel, of which a unit is a transform and its inverse.
pub struct Slices {
    isa: Granted,
    plan: Plan,
    input: Complex,
    now: Complex,
    worst_error: f64,
}

/// Complex numbers, their parts apart so that vectors hold many of one kind.
#[derive(Clone)]
struct Complex {
    re: Vec<f64>,
    im: Vec<f64>,
}

impl Slices {
    /// # Errors
    /// [`KernelError::Size`] for a number of points that is no power of two, or out of bounds.
    pub fn new(spec: &KernelSpec, isa: Granted) -> Result<Self, KernelError> {
        let points = size::count(spec)?;
        if !points.is_power_of_two() {
            return Err(size::refused(spec));
        }
        let mut random = Random::new(1);
        let mut numbers = || {
            (0..points)
                .map(|_| f64::from(random.next()) / 2_f64.powi(31) - 1.0)
                .collect()
        };
        let input = Complex {
            re: numbers(),
            im: numbers(),
        };
        Ok(Self {
            isa,
            plan: Plan::new(points),
            now: input.clone(),
            input,
            worst_error: 0.0,
        })
    }

    /// Flops of a unit: two transforms.
    fn flops(&self) -> f64 {
        let points = self.input.re.len();
        10.0 * points as f64 * f64::from(points.ilog2())
    }

    fn error(&self) -> f64 {
        let apart = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, worse);
        worse(
            apart(&self.input.re, &self.now.re),
            apart(&self.input.im, &self.now.im),
        )
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        let flops = self.flops() * units as f64;
        timed_alone(parts, flops, || {
            for _ in 0..units {
                let Complex { re, im } = &mut self.now;
                transform(self.isa, &self.plan, re, im);
                // With its parts in each other's place the transform is the inverse, n
                // times too large.
                transform(self.isa, &self.plan, im, re);
                scale(self.isa, re, im);
            }
        });
        self.worst_error = worse(self.worst_error, self.error());
        self.now.clone_from(&self.input);
        Ok(())
    }

    fn check(&mut self) -> Check {
        report::check("error after the inverse transform", self.worst_error, ERROR_BOUND)
    }
}

/// What depends on the number of points alone.
struct Plan {
    /// Pairs that change places: each number goes where its index, read backwards, is.
    swaps: Vec<(u32, u32)>,
    /// Of the pass over blocks of 2h numbers, from h - 1 on, the h roots of unity.
    roots: Complex,
}

impl Plan {
    fn new(points: usize) -> Self {
        let bits = points.ilog2();
        let backwards = |i: u32| i.reverse_bits() >> (u32::BITS - bits);
        let swaps = (0..1_u32 << bits).map(|i| (i, backwards(i)));
        let halves = (0..bits).map(|bit| 1_u32 << bit);
        let angles = halves.flat_map(|half| (0..half).map(move |k| -PI * f64::from(k) / f64::from(half)));
        let (re, im) = angles.map(|angle| (angle.cos(), angle.sin())).unzip();
        Self {
            swaps: swaps.filter(|(i, j)| i < j).collect(),
            roots: Complex { re, im },
        }
    }
}

per_isa!(fn transform(plan: &Plan, re: &mut [f64], im: &mut [f64]) = transform_body);

#[inline(always)]
fn transform_body<const LANES: usize>(plan: &Plan, re: &mut [f64], im: &mut [f64]) {
    for (i, j) in &plan.swaps {
        re.swap(*i as usize, *j as usize);
        im.swap(*i as usize, *j as usize);
    }
    let mut half = 1;
    while half < re.len() {
        let roots = [&plan.roots.re, &plan.roots.im].map(|part| &part[half - 1..][..half]);
        for (re, im) in re.chunks_exact_mut(2 * half).zip(im.chunks_exact_mut(2 * half)) {
            butterflies::<LANES>(roots, re.split_at_mut(half), im.split_at_mut(half));
        }
        half *= 2;
    }
}

/// Replaces each pair (a, b) by (a + w b, a - w b), w the root of its place.
#[inline(always)]
fn butterflies<const LANES: usize>(
    [root_re, root_im]: [&[f64]; 2],
    (re, far_re): (&mut [f64], &mut [f64]),
    (im, far_im): (&mut [f64], &mut [f64]),
) {
    let near = re.iter_mut().zip(im);
    let far = far_re.iter_mut().zip(far_im);
    let roots = root_re.iter().zip(root_im);
    for (((re, im), (far_re, far_im)), (root_re, root_im)) in near.zip(far).zip(roots) {
        let turned_re = mul_add::<LANES>(-root_im, *far_im, root_re * *far_re);
        let turned_im = mul_add::<LANES>(*root_im, *far_re, root_re * *far_im);
        (*far_re, *far_im) = (*re - turned_re, *im - turned_im);
        (*re, *im) = (*re + turned_re, *im + turned_im);
    }
}

per_isa!(fn scale(re: &mut [f64], im: &mut [f64]) = scale_body);

#[inline(always)]
fn scale_body<const LANES: usize>(re: &mut [f64], im: &mut [f64]) {
    let factor = 1.0 / re.len() as f64;
    re.iter_mut().chain(im).for_each(|x| *x *= factor);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;
    use tare_wire::kernel::{Isa, Kernel};

    fn slices(size: u64, isa: Granted) -> Result<Slices, KernelError> {
        let spec = KernelSpec {
            kernel: Kernel::Fft,
            isa: Isa::Baseline,
            threads: 1,
            size,
            seconds: 0.05,
        };
        Slices::new(&spec, isa)
    }

    #[test]
    fn every_level_transforms_as_the_definition_does() {
        for isa in isa::granted() {
            let mut slices = slices(64, isa).unwrap();
            let input = slices.input.clone();
            transform(isa, &slices.plan, &mut slices.now.re, &mut slices.now.im);
            for k in 0..64_usize {
                let (mut re, mut im) = (0.0, 0.0);
                for j in 0..64 {
                    let (sin, cos) = (-2.0 * PI * (j * k) as f64 / 64.0).sin_cos();
                    re += input.re[j] * cos - input.im[j] * sin;
                    im += input.re[j] * sin + input.im[j] * cos;
                }
                assert!((slices.now.re[k] - re).abs() < 1e-12, "{k}");
                assert!((slices.now.im[k] - im).abs() < 1e-12, "{k}");
            }
        }
    }

    #[test]
    fn the_inverse_gives_the_input_back() {
        for isa in isa::granted() {
            for size in [8, 1024, 8192] {
                let mut slices = slices(size, isa).unwrap();
                let mut parts = [Part::from((0.0, 0, 0))];
                slices.work(100, &mut parts).unwrap();
                let check = slices.check();
                assert!(check.passed() && check.found < 1e-12, "{check:?}");
                assert!(check.found > 0.0, "nothing was done");
            }
        }
    }

    #[test]
    fn a_damaged_root_is_noticed() {
        let mut slices = slices(1024, isa::granted()[0]).unwrap();
        slices.plan.roots.re[700] += 1e-6;
        let mut parts = [Part::from((0.0, 0, 0))];
        slices.work(1, &mut parts).unwrap();
        assert_eq!(parts[0].work, 10.0 * 1024.0 * 10.0);
        assert!(!slices.check().passed());
    }

    #[test]
    fn what_is_no_power_of_two_is_refused() {
        for size in [0, 4, 1000, 1 << 21] {
            let refused = slices(size, isa::granted()[0]).err().unwrap().to_string();
            assert!(refused.contains("a power of two"), "{refused}");
        }
    }
}
