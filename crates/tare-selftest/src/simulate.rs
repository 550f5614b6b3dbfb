//! Many draws of many experiments, on every CPU, the same whatever their number.

use crate::table::Row;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Sender, channel};

/// Draws per piece of work. Sums are added up piece by piece in a fixed order,
/// so that their rounding does not depend on who was first.
const PIECE: u32 = 50;

/// Something that is drawn many times.
pub trait Experiment: Sync {
    /// Share of the draws asked for that are carried out: under 1 where a draw is
    /// expensive and its figure coarse.
    fn share(&self) -> f64 {
        1.0
    }

    /// How many sums it keeps.
    fn sums(&self) -> usize;

    /// Draws once and adds to the sums.
    fn draw(&self, rng: &mut ChaCha8Rng, sums: &mut [f64]);

    /// What follows from all draws.
    fn rows(&self, total: &Total) -> Vec<Row>;
}

/// The sums over all draws of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    /// Number of draws.
    pub draws: u32,
    /// The sums.
    pub sums: Vec<f64>,
}

/// A figure found by simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The figure.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

impl Total {
    /// The share of draws that counted 1 in this sum, the others 0.
    pub fn share(&self, sum: usize) -> Found {
        let n = f64::from(self.draws);
        // The error as if two draws more had counted and two had not (Agresti and Coull
        // 1998): what occurred always or never in few draws need not do so for ever.
        let near = (self.sums[sum] + 2.0) / (n + 4.0);
        Found {
            value: self.sums[sum] / n,
            error: (near * (1.0 - near) / (n + 4.0)).sqrt(),
        }
    }

    /// The mean of what one sum holds, the next one holding its squares.
    pub fn mean(&self, sum: usize) -> Found {
        let n = f64::from(self.draws);
        let value = self.sums[sum] / n;
        let variance = (self.sums[sum + 1] / n - value * value).max(0.0);
        Found {
            value,
            error: (variance / n).sqrt(),
        }
    }
}

/// Adds a value and its square, for [`Total::mean`].
pub(crate) fn add(sums: &mut [f64], at: usize, value: f64) {
    sums[at] += value;
    sums[at + 1] += value * value;
}

/// Adds 1 if it is so, for [`Total::share`].
pub(crate) fn count(sums: &mut [f64], at: usize, it_is: bool) {
    sums[at] += f64::from(u8::from(it_is));
}

/// A piece of an experiment.
struct Piece {
    experiment: usize,
    number: u32,
    draws: u32,
}

/// Draws every experiment `draws` times (or its share of them) and returns the
/// rows in their order; `None` if `progress`, told the share done, answered false.
pub fn simulate(
    experiments: &[Box<dyn Experiment>],
    draws: u32,
    seed: u64,
    threads: usize,
    progress: &mut dyn FnMut(f64) -> bool,
) -> Option<Vec<Row>> {
    let pieces = pieces(experiments, draws);
    let next = AtomicUsize::new(0);
    let mut sums = vec![Vec::new(); pieces.len()];
    let complete = std::thread::scope(|scope| {
        let (send, receive) = channel();
        for _ in 0..threads.max(1) {
            let send = send.clone();
            scope.spawn(|| work(experiments, &pieces, &next, seed, send));
        }
        drop(send);
        for (done, (piece, found)) in (1..).zip(receive) {
            sums[piece] = found;
            if !progress(crate::noise::as_float(done) / crate::noise::as_float(pieces.len())) {
                // Workers end after the piece they are at.
                next.store(pieces.len(), Ordering::Relaxed);
                return false;
            }
        }
        true
    });
    complete.then(|| rows(experiments, &pieces, &sums))
}

/// All pieces, the first of each experiment first: what is done of the pieces is
/// done of the time.
fn pieces(experiments: &[Box<dyn Experiment>], draws: u32) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (experiment, what) in experiments.iter().enumerate() {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of u32"
        )]
        let mut left = (f64::from(draws) * what.share()).ceil() as u32;
        let mut number = 0;
        while left > 0 {
            pieces.push(Piece {
                experiment,
                number,
                draws: left.min(PIECE),
            });
            left -= left.min(PIECE);
            number += 1;
        }
    }
    pieces.sort_by_key(|piece| piece.number);
    pieces
}

fn work(
    experiments: &[Box<dyn Experiment>],
    pieces: &[Piece],
    next: &AtomicUsize,
    seed: u64,
    send: Sender<(usize, Vec<f64>)>,
) {
    loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        let Some(piece) = pieces.get(at) else { return };
        let experiment = &experiments[piece.experiment];
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        rng.set_stream(((piece.experiment as u64) << 32) | u64::from(piece.number));
        let mut sums = vec![0.0; experiment.sums()];
        (0..piece.draws).for_each(|_| experiment.draw(&mut rng, &mut sums));
        if send.send((at, sums)).is_err() {
            return;
        }
    }
}

fn rows(experiments: &[Box<dyn Experiment>], pieces: &[Piece], sums: &[Vec<f64>]) -> Vec<Row> {
    let mut totals: Vec<Total> = experiments
        .iter()
        .map(|experiment| Total {
            draws: 0,
            sums: vec![0.0; experiment.sums()],
        })
        .collect();
    for (piece, sums) in pieces.iter().zip(sums) {
        let total = &mut totals[piece.experiment];
        total.draws += piece.draws;
        total.sums.iter_mut().zip(sums).for_each(|(all, one)| *all += one);
    }
    experiments
        .iter()
        .zip(&totals)
        .flat_map(|(experiment, total)| experiment.rows(total))
        .collect()
}
