//! What a bootstrap draws: indices from a recorded seed.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::cell::RefCell;
use std::rc::Rc;

/// Resamples of a bootstrap.
pub(crate) const RESAMPLES: usize = 2000;

/// The draws of series of so many values at most are kept: 2 MB.
const SHORT: usize = 256;

/// Draws of so many lengths of series are kept. Those of one study differ little in length.
const KEPT: usize = 4;

thread_local! {
    /// The draws of the last few lengths. The same seed and length draw the same, and to draw takes
    /// more than half of a bootstrap.
    static LAST: RefCell<Vec<Drawn>> = const { RefCell::new(Vec::new()) };
}

/// All resamples of a series of some length, one after another.
struct Drawn {
    seed: u64,
    n: usize,
    indices: Rc<[u32]>,
}

/// Draws resamples of a series.
pub(crate) enum Draws {
    /// As they were drawn before.
    Kept { indices: Rc<[u32]>, n: usize, at: usize },
    /// One by one.
    New {
        random: Box<ChaCha8Rng>,
        buffer: Vec<u32>,
    },
}

impl Draws {
    /// [`RESAMPLES`] resamples of a series of `n` values.
    pub fn new(seed: u64, n: usize) -> Self {
        if n <= SHORT {
            return Self::Kept {
                indices: kept(seed, n),
                n,
                at: 0,
            };
        }
        Self::New {
            random: Box::new(ChaCha8Rng::seed_from_u64(seed)),
            buffer: vec![0; n],
        }
    }

    /// Indices of the values of the next resample.
    pub fn resample(&mut self) -> &[u32] {
        match self {
            Self::Kept { indices, n, at } => {
                let from = *at;
                *at += *n;
                &indices[from..*at]
            }
            Self::New { random, buffer } => {
                let n = buffer.len();
                buffer.fill_with(|| index(random, n));
                buffer
            }
        }
    }
}

/// An index below `n`. A 32-bit number times the bound, its upper half: uneven by n / 2^32 at most,
/// and without a division.
fn index(random: &mut ChaCha8Rng, n: usize) -> u32 {
    ((u64::from(random.next_u32()) * n as u64) >> 32) as u32
}

fn kept(seed: u64, n: usize) -> Rc<[u32]> {
    LAST.with_borrow_mut(|last| {
        if let Some(known) = last.iter().find(|drawn| (drawn.seed, drawn.n) == (seed, n)) {
            return Rc::clone(&known.indices);
        }
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let indices: Rc<[u32]> = (0..RESAMPLES * n).map(|_| index(&mut random, n)).collect();
        if last.len() == KEPT {
            last.remove(0);
        }
        let drawn = Drawn {
            seed,
            n,
            indices: Rc::clone(&indices),
        };
        last.push(drawn);
        indices
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(seed: u64, n: usize) -> Vec<u32> {
        let mut draws = Draws::new(seed, n);
        (0..RESAMPLES).flat_map(|_| draws.resample().to_vec()).collect()
    }

    #[test]
    fn what_is_kept_is_what_would_be_drawn_anew() {
        for n in [2, 10, SHORT] {
            let mut random = ChaCha8Rng::seed_from_u64(7);
            let anew: Vec<u32> = (0..RESAMPLES * n).map(|_| index(&mut random, n)).collect();
            assert_eq!(all(7, n), anew);
            // Others between, so that it is drawn again and then found.
            for other in 3..9 {
                assert_eq!(all(8, other).len(), RESAMPLES * other);
            }
            assert_eq!((all(7, n), all(7, n)), (anew.clone(), anew));
        }
    }

    #[test]
    fn every_index_is_drawn_and_none_beyond() {
        for n in [10, SHORT + 1] {
            let drawn = all(1, n);
            assert_eq!(drawn.len(), RESAMPLES * n);
            let mut times = vec![0_u32; n];
            drawn.iter().for_each(|index| times[*index as usize] += 1);
            // 2,000 are expected of each, with a standard deviation of 45.
            assert!(
                times.iter().all(|times| (1750..2250).contains(times)),
                "{times:?}"
            );
        }
    }
}
