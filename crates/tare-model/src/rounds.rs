//! The slices of two cells of a group, paired round by round: what every cost of
//! slices is worked out from.

use crate::group::{GroupRecord, Series};
use crate::metric::Unit;
use crate::study::Cell;

/// The slices of a cell and of its baseline in the rounds in which both took part;
/// slice `i` of the one and slice `i` of the other are of the same round.
#[derive(Debug, Clone, PartialEq)]
pub struct Rounds {
    /// Number of each round within the group, from 0.
    pub numbers: Vec<u64>,
    /// Which process of the cell did each round, and which of its baseline, from 0.
    pub processes: Vec<[u64; 2]>,
    /// The cell's.
    pub cell: Slices,
    /// Its baseline's.
    pub baseline: Slices,
}

/// Slices of one cell, in the order of the rounds; never empty.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Slices {
    /// Wall time per unit of work of each, in nanoseconds; positive and finite.
    pub costs: Vec<f64>,
    /// Wall time of each in nanoseconds.
    pub times: Vec<f64>,
    pub work: f64,
    /// CPU time of each in nanoseconds; no number where it is not known.
    pub cpu_times: Vec<f64>,
}

/// One slice.
#[derive(Clone, Copy)]
struct Timed {
    round: u64,
    work: f64,
    wall_ns: f64,
    cpu_ns: f64,
}

impl Slices {
    /// Wall time of all in nanoseconds.
    pub fn wall_ns(&self) -> f64 {
        self.times.iter().sum()
    }

    /// CPU time of all in nanoseconds; no number where that of one is not known.
    pub fn cpu_ns(&self) -> f64 {
        self.cpu_times.iter().sum()
    }

    fn add(&mut self, slice: Timed) {
        self.costs.push(slice.wall_ns / slice.work);
        self.times.push(slice.wall_ns);
        self.work += slice.work;
        self.cpu_times.push(slice.cpu_ns);
    }
}

impl Rounds {
    /// Rounds in which both took part.
    pub fn len(&self) -> usize {
        self.cell.costs.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.cell.costs.is_empty()
    }

    /// Loss in logs of the mean cost: all time over all work of the cell, over the
    /// same of the baseline.
    pub fn mean_loss(&self) -> Option<f64> {
        let cost = |slices: &Slices| log(slices.wall_ns(), slices.work);
        Some(cost(&self.cell)? - cost(&self.baseline)?)
    }

    /// The same of CPU time; none where one of the two used none, or it is not known.
    pub fn cpu_loss(&self) -> Option<f64> {
        let cost = |slices: &Slices| log(slices.cpu_ns(), slices.work);
        Some(cost(&self.cell)? - cost(&self.baseline)?)
    }
}

/// ln(time / work) of positive finite numbers.
fn log(time: f64, work: f64) -> Option<f64> {
    let log = |x: f64| (x > 0.0 && x.is_finite()).then(|| x.ln());
    Some(log(time)? - log(work)?)
}

impl GroupRecord {
    /// The slices of the part `metric` of two members, paired by the number of their
    /// round. A round in which one of them has no cost is left out; `None` where none
    /// is left, or one of the cells is no member.
    pub fn rounds(&self, cell: &Cell, baseline: &Cell, metric: &str) -> Option<Rounds> {
        let of_each = [self.member(cell)?, self.member(baseline)?].map(|member| u64::from(member.processes));
        let mut rounds = Rounds {
            numbers: Vec::new(),
            processes: Vec::new(),
            cell: Slices::default(),
            baseline: Slices::default(),
        };
        let mut others = self.timed(baseline, metric)?.peekable();
        for slice in self.timed(cell, metric)? {
            while others.next_if(|other| other.round < slice.round).is_some() {}
            if let Some(other) = others.next_if(|other| other.round == slice.round) {
                rounds.numbers.push(slice.round);
                rounds.processes.push(of_each.map(|of| slice.round % of.max(1)));
                rounds.cell.add(slice);
                rounds.baseline.add(other);
            }
        }
        (!rounds.is_empty()).then_some(rounds)
    }

    /// The slices of one part of a member that have a cost. A member that takes part in
    /// every 0th round has no rounds.
    fn timed(&self, cell: &Cell, metric: &str) -> Option<impl Iterator<Item = Timed>> {
        let member = self.member(cell).filter(|member| member.every > 0)?;
        let (series, every) = (member.parts.get(metric)?, u64::from(member.every));
        let rounds = (0..).step_by(usize::try_from(every).ok()?);
        Some(
            rounds
                .zip(0..series.len())
                .filter_map(|(round, i)| timed(series, round, i)),
        )
    }
}

#[expect(
    clippy::cast_precision_loss,
    reason = "nanoseconds of a slice fit into 53 bits"
)]
fn timed(series: &Series, round: u64, i: usize) -> Option<Timed> {
    let slice = Timed {
        round,
        work: series.work.of(i),
        wall_ns: *series.wall_ns.get(i)? as f64,
        cpu_ns: series.cpu_ns.get(i).map_or(f64::NAN, |ns| *ns as f64),
    };
    let cost = slice.wall_ns / slice.work;
    (cost > 0.0 && Unit::Second.is_plausible(cost / 1e9)).then_some(slice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture::{cell, group, member};
    use crate::group::{Member, WorkDone};

    fn sliced(platform: &str, every: u32, work: &[f64], wall_ns: &[u64]) -> Member {
        let series = Series {
            work: WorkDone::Each(work.to_vec()),
            wall_ns: wall_ns.to_vec(),
            cpu_ns: wall_ns.iter().map(|ns| ns / 2).collect(),
        };
        Member {
            every,
            parts: [("latency".to_owned(), series)].into(),
            ..member(platform)
        }
    }

    fn rounds(members: Vec<Member>) -> Option<Rounds> {
        group(members).rounds(&cell("docker"), &cell("native"), "latency")
    }

    #[test]
    fn slices_are_paired_by_the_number_of_their_round() {
        let native = sliced("native", 1, &[1.0; 5], &[10, 20, 30, 40, 50]);
        let docker = sliced("docker", 2, &[2.0; 3], &[20, 60, 100]);
        let found = rounds(vec![docker, native]).unwrap();
        assert_eq!(found.numbers, [0, 2, 4]);
        assert_eq!(found.processes, [[0, 0]; 3]);
        assert_eq!(found.cell.costs, [10.0, 30.0, 50.0]);
        assert_eq!(found.baseline.costs, [10.0, 30.0, 50.0]);
        assert_eq!((found.cell.work, found.cell.cpu_ns()), (6.0, 90.0));
        assert!(found.mean_loss().unwrap().abs() < 1e-12);
        assert!(found.cpu_loss().unwrap().abs() < 1e-12);
    }

    #[test]
    fn processes_take_the_rounds_in_turn_of_which_one_may_be_left_out() {
        let native = sliced("native", 1, &[1.0; 4], &[10; 4]);
        let docker = |wall_ns: &[u64]| Member {
            processes: 2,
            ..sliced("docker", 1, &[1.0; 4], wall_ns)
        };
        let found = rounds(vec![docker(&[10; 4]), native.clone()]).unwrap();
        assert_eq!(found.processes, [[0, 0], [1, 0], [0, 0], [1, 0]]);
        let found = rounds(vec![docker(&[10, 0, 10, 10]), native]).unwrap();
        assert_eq!(found.processes, [[0, 0], [0, 0], [1, 0]]);
    }

    #[test]
    fn a_round_without_a_cost_is_left_out_with_its_partner() {
        let native = sliced("native", 1, &[1.0, 0.0, 1.0, 1.0], &[10, 10, 0, 10]);
        let docker = sliced("docker", 1, &[1.0, 1.0, 1.0, f64::NAN], &[30, 40, 50, 60]);
        let found = rounds(vec![native, docker]).unwrap();
        assert_eq!(found.len(), 1);
        assert!((found.mean_loss().unwrap() - 3_f64.ln()).abs() < 1e-12);
    }

    #[test]
    fn without_rounds_in_common_there_is_none() {
        let native = || sliced("native", 1, &[1.0], &[10]);
        assert_eq!(rounds(vec![native()]), None);
        assert_eq!(rounds(vec![native(), sliced("docker", 0, &[1.0], &[10])]), None);
        assert_eq!(rounds(vec![native(), sliced("docker", 1, &[], &[])]), None);
    }
}
