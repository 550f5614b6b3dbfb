//! Many draws of many experiments, on every CPU, the same whatever their number.

use crate::sums::Total;
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
