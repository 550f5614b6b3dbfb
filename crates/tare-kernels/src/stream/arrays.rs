//! The three arrays, their division among threads, and what they must hold.

use super::loops::{Loop, SCALAR};
use crate::clock;
use crate::error::KernelError;
use crate::isa::Granted;
use crate::memory::{Mapping, Pages};
use crate::report::worse;
use std::ops::Range;

/// Threads share no page, or it would belong to whoever touched it first.
pub const PAGE_BYTES: u64 = 4096;
/// Elements of a page.
pub const PAGE: usize = 512;

/// Elements set up between two looks at the clock: fits the caches.
const SLICE: usize = 16 * PAGE;

/// The arrays, untouched until a worker does.
pub struct Arrays {
    a: Mapping,
    b: Mapping,
    c: Mapping,
}

impl Arrays {
    /// Of huge pages: with small ones the bandwidth of a process is a matter of luck, of how many of its pages happen to
    /// lie side by side. Six sets of arrays in one process differed by 17 % (standard deviation), of huge pages by 0.7 %
    /// (AMD EPYC, Linux 6.18).
    pub fn new(pages: usize) -> Result<Self, KernelError> {
        let map = || Mapping::of_huge_pages(pages * PAGE);
        Ok(Self {
            a: map()?,
            b: map()?,
            c: map()?,
        })
    }

    /// The pages of each, one array after another.
    pub fn pages(&self) -> [Pages; 3] {
        [&self.a, &self.b, &self.c].map(Mapping::pages)
    }

    /// One part for each thread, as even as whole pages allow.
    pub fn parts(&mut self, threads: u32) -> Vec<ThreadShare<'_>> {
        let mut rest = ThreadShare {
            a: self.a.as_mut_slice(),
            b: self.b.as_mut_slice(),
            c: self.c.as_mut_slice(),
        };
        let parts = (1..=threads as usize).rev().map(|left| {
            let pages = rest.len() / PAGE;
            rest.take_front(pages / left * PAGE)
        });
        parts.collect()
    }
}

/// What one thread works on: the same elements of each array.
pub struct ThreadShare<'a> {
    a: &'a mut [f64],
    b: &'a mut [f64],
    c: &'a mut [f64],
}

impl<'a> ThreadShare<'a> {
    /// Elements of each array.
    pub fn len(&self) -> usize {
        self.a.len()
    }

    fn take_front(&mut self, len: usize) -> Self {
        fn front<'a>(rest: &mut &'a mut [f64], len: usize) -> &'a mut [f64] {
            let (front, back) = std::mem::take(rest).split_at_mut(len);
            *rest = back;
            front
        }
        Self {
            a: front(&mut self.a, len),
            b: front(&mut self.b, len),
            c: front(&mut self.c, len),
        }
    }

    /// The elements of some pages.
    pub fn pages(&mut self, pages: Range<usize>) -> ThreadShare<'_> {
        let elements = pages.start * PAGE..pages.end * PAGE;
        ThreadShare {
            a: &mut self.a[elements.clone()],
            b: &mut self.b[elements.clone()],
            c: &mut self.c[elements],
        }
    }

    #[cfg(test)]
    pub fn arrays_mut(&mut self) -> [&mut [f64]; 3] {
        [self.a, self.b, self.c]
    }

    /// Leaves out the elements beyond the first `len`.
    pub fn truncate(&mut self, len: usize) {
        *self = self.take_front(len.min(self.len()));
    }

    /// Goes once over one loop.
    pub fn run(&mut self, which: Loop, isa: Granted) {
        which.run(isa, self.a, self.b, self.c);
    }

    /// Touches and fills the arrays and takes them through their first pass,
    /// slice by slice, until done or until the deadline has passed; the
    /// elements that were set up.
    pub fn set_up(&mut self, isa: Granted, deadline_ns: u64) -> usize {
        let slices = self.a.chunks_mut(SLICE);
        let slices = slices.zip(self.b.chunks_mut(SLICE)).zip(self.c.chunks_mut(SLICE));
        let mut done = 0;
        for ((a, b), c) in slices {
            let start = Values::START;
            a.fill(start.a);
            b.fill(start.b);
            c.fill(start.c);
            Loop::ALL.into_iter().for_each(|l| l.run(isa, a, b, c));
            done += a.len();
            if clock::now_ns() >= deadline_ns {
                break;
            }
        }
        done
    }

    /// Gives every element of each array its value.
    pub fn fill(&mut self, values: &Values) {
        self.a.fill(values.a);
        self.b.fill(values.b);
        self.c.fill(values.c);
    }

    /// The largest relative error of any element.
    pub fn error(&self, expected: &Values) -> f64 {
        let of = |array: &[f64], right: f64| {
            // Nearly always every bit is right. To see that takes no floating point, of
            // which an emulated CPU does some twenty times as little in the same time.
            let wrong_bits = |bits, x: &f64| bits | (x.to_bits() ^ right.to_bits());
            if array.iter().fold(0, wrong_bits) == 0 {
                return 0.0;
            }
            let worst = array.iter().map(|x| (x - right).abs()).fold(0.0, worse);
            worst / right
        };
        let [a, b, c] = [
            (&*self.a, expected.a),
            (&*self.b, expected.b),
            (&*self.c, expected.c),
        ]
        .map(|(array, right)| of(array, right));
        worse(worse(a, b), c)
    }
}

/// The value that every element of each array has.
#[derive(Debug, Clone, Copy)]
pub struct Values {
    a: f64,
    b: f64,
    c: f64,
}

impl Values {
    /// STREAM's.
    const START: Self = Self {
        a: 1.0,
        b: 2.0,
        c: 0.0,
    };

    /// What is right after so many passes.
    pub fn after(passes: u64, isa: Granted) -> Self {
        Self::after_loops(passes * Loop::ALL.len() as u64, isa)
    }

    /// What is right after so many loops in the order of a pass: the same recurrence on
    /// three numbers, as in STREAM, with the rounding of `isa`.
    pub fn after_loops(loops: u64, isa: Granted) -> Self {
        let mut values = Self::START;
        for (_, which) in (0..loops).zip(Loop::ALL.into_iter().cycle()) {
            values.apply(which, isa);
        }
        values
    }

    fn apply(&mut self, which: Loop, isa: Granted) {
        match which {
            Loop::Copy => self.c = self.a,
            Loop::Scale => self.b = SCALAR * self.c,
            Loop::Add => self.c = self.a + self.b,
            Loop::Triad if isa.fused() => self.a = SCALAR.mul_add(self.c, self.b),
            Loop::Triad => self.a = SCALAR * self.c + self.b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa;

    #[test]
    fn parts_are_whole_pages_of_the_whole() {
        for (pages, threads) in [(1, 1), (7, 3), (64, 5), (3, 3)] {
            let mut arrays = Arrays::new(pages).unwrap();
            let lens: Vec<_> = arrays.parts(threads).iter().map(ThreadShare::len).collect();
            assert_eq!(lens.len(), threads as usize);
            assert_eq!(lens.iter().sum::<usize>(), pages * PAGE);
            assert!(lens.iter().all(|len| *len > 0 && len % PAGE == 0), "{lens:?}");
            assert!(lens.iter().max().unwrap() - lens.iter().min().unwrap() <= PAGE);
        }
    }

    #[test]
    fn one_wrong_element_is_noticed() {
        let isa = isa::granted()[0];
        let mut arrays = Arrays::new(20).unwrap();
        let mut part = arrays.parts(1).remove(0);
        assert_eq!(part.set_up(isa, u64::MAX), 20 * PAGE);
        let expected = Values::after(1, isa);
        assert_eq!(part.error(&expected), 0.0);
        for bad in [f64::NAN, f64::INFINITY, part.c[777] * (1.0 + 1e-12)] {
            let right = std::mem::replace(&mut part.c[777], bad);
            let error = part.error(&expected);
            assert!(error.is_nan() || error > 1e-13, "{bad}: {error}");
            part.c[777] = right;
        }
    }

    #[test]
    fn values_after_some_loops_are_those_of_the_loops() {
        for isa in isa::granted() {
            for loops in 0..10 {
                let mut arrays = Arrays::new(1).unwrap();
                let mut part = arrays.parts(1).remove(0);
                part.set_up(isa, u64::MAX);
                let more = Loop::ALL.into_iter().cycle().take(loops);
                more.for_each(|which| part.run(which, isa));
                assert_eq!(part.error(&Values::after_loops(4 + loops as u64, isa)), 0.0);
            }
        }
    }

    #[test]
    fn values_neither_grow_nor_vanish() {
        for isa in isa::granted() {
            let v = Values::after(1_000_000, isa);
            assert!((v.a - 1.0).abs() < 1e-6, "{v:?}");
        }
    }

    #[test]
    fn set_up_ends_with_its_deadline() {
        let mut arrays = Arrays::new(64).unwrap();
        let mut part = arrays.parts(1).remove(0);
        assert_eq!(part.set_up(isa::granted()[0], 0), SLICE);
    }
}
