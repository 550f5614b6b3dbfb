//! The rounds of one block, and who ran right before whom in them.

use std::collections::{BTreeMap, BTreeSet};
use tare_model::group::{GroupRecord, Member, Series};
use tare_model::study::{BoxKind, Cell};
use tare_stats::{median, medians, round_losses, told_apart};

/// Rounds that must remain for their typical cost to say something.
const FEWEST_ROUNDS: usize = 10;
/// The same of one sequence of two cells, of which there are three.
const FEWEST_OF_A_SEQUENCE: usize = 5;

/// A block of a comparison.
pub(super) struct Block<'a> {
    /// Cell and baseline.
    sides: [&'a Member; 2],
    thirds: Vec<&'a BoxKind>,
    rounds: Vec<Round<'a>>,
    metric: &'a str,
    order: Order<'a>,
}

/// Cell and baseline in one round.
struct Round<'a> {
    /// Its loss in logs, beyond the median of its process over all rounds: some of the rounds
    /// are to differ by who ran before them, and not by the luck of a process.
    loss: f64,
    after: [Option<&'a BoxKind>; 2],
}

/// Whose slice it was, by round and place: rounds follow one another without a pause.
struct Order<'a> {
    kinds: BTreeMap<(u64, u32), &'a BoxKind>,
    /// Rounds, from the first on, of which some may hold slices of a cell that was lost
    /// later on and has none in the file: places are empty in them.
    incomplete: u64,
}

/// A slice of one of the two.
pub(super) struct Slice<'a> {
    /// Cost per unit of work.
    pub cost: f64,
    /// Who ran right before it, itself too; `None` where that is not known, as of the first
    /// of all.
    pub after: Option<&'a BoxKind>,
}

impl<'a> Block<'a> {
    /// `None` where the two have no round in common.
    pub(super) fn new(group: &'a GroupRecord, sides: [&Cell; 2], metric: &'a str) -> Option<Self> {
        let paired = group.rounds(sides[0], sides[1], metric)?;
        let members = [group.member(sides[0])?, group.member(sides[1])?];
        let order = Order::of(group);
        let losses = round_losses(&paired.cell.costs, &paired.baseline.costs)?;
        let losses = beyond_medians(&losses, &told_apart(&paired.processes))?;
        let round = |(number, loss): (&u64, f64)| Round {
            loss,
            after: members.map(|member| order.before(*number, place(member, *number)?)),
        };
        let kinds = group.members.iter().map(|member| &member.cell.kind);
        Some(Self {
            sides: members,
            thirds: kinds
                .filter(|kind| sides.iter().all(|s| s.kind != **kind))
                .collect(),
            rounds: paired.numbers.iter().zip(losses).map(round).collect(),
            metric,
            order,
        })
    }

    /// The cells of its group that are neither of the two.
    pub(super) fn thirds(&self) -> impl Iterator<Item = &'a BoxKind> {
        self.thirds.iter().copied()
    }

    /// By how much the typical loss is over that of the rounds in which the slice of
    /// `third` came right before neither of the two.
    ///
    /// In a group of three the two follow one another in all of these rounds, and what
    /// they leave behind for each other would pass for the third cell's doing. So they
    /// are held against such rounds only as come with it and without it.
    pub(super) fn moved_by(&self, third: &BoxKind) -> Option<f64> {
        let without = |round: &&Round| !round.after.contains(&Some(third));
        let left: Vec<&Round> = self.known().filter(without).collect();
        let sequences: BTreeSet<_> = left.iter().map(|round| self.sequence(round)).collect();
        let like = |round: &&Round| sequences.contains(&self.sequence(round));
        moved(&self.known().filter(like).collect::<Vec<_>>(), &left)
    }

    /// The same of the rounds in which neither of the two came right before the other.
    pub(super) fn moved_by_pair(&self) -> Option<f64> {
        if self.thirds.is_empty() {
            return self.moved_by_the_only_two();
        }
        let apart = |round: &&Round| self.sequence(round) == [false, false];
        let left: Vec<&Round> = self.known().filter(apart).collect();
        moved(&self.known().collect::<Vec<_>>(), &left)
    }

    /// Of a group of two, by how much the typical loss is over that of cells which each come
    /// right after themselves. No round has both: one of the two always follows the other.
    /// What either leaves behind is told from the rounds in which the other came after itself.
    fn moved_by_the_only_two(&self) -> Option<f64> {
        let of = |sequence: [bool; 2]| {
            let is_of = |round: &&Round| self.sequence(round) == sequence;
            let rounds: Vec<&Round> = self.known().filter(is_of).collect();
            (rounds.len() >= FEWEST_OF_A_SEQUENCE).then(|| typical_loss(&rounds))?
        };
        let (both, cell, baseline) = (of([true, true])?, of([true, false])?, of([false, true])?);
        let all = typical_loss(&self.known().collect::<Vec<_>>())?;
        Some(all + both - cell - baseline)
    }

    /// The rounds of which it is known who ran right before each of the two: others can be
    /// counted neither with a predecessor nor without it.
    fn known(&self) -> impl Iterator<Item = &Round<'a>> {
        self.rounds.iter().filter(|round| !round.after.contains(&None))
    }

    /// Whether the cell came right after its baseline, and the baseline after the cell.
    fn sequence(&self, round: &Round) -> [bool; 2] {
        let kinds = self.sides.map(|member| &member.cell.kind);
        [round.after[0] == Some(kinds[1]), round.after[1] == Some(kinds[0])]
    }

    /// Cell (0) or baseline (1).
    pub(super) fn kind(&self, side: usize) -> &'a BoxKind {
        &self.sides[side].cell.kind
    }

    /// All slices of the cell (0) or of the baseline (1).
    pub(super) fn slices(&self, side: usize) -> impl Iterator<Item = Slice<'a>> {
        let member = self.sides[side];
        let costs = member
            .parts
            .get(self.metric)
            .map(Series::costs)
            .unwrap_or_default();
        let places = numbers(member).zip(member.places.iter().copied());
        places.zip(costs).map(|((round, place), cost)| Slice {
            cost,
            after: self.order.before(round, place),
        })
    }
}

impl<'a> Order<'a> {
    fn of(group: &'a GroupRecord) -> Self {
        let of_member = |member: &'a Member| {
            let places = numbers(member).zip(member.places.iter().copied());
            places.map(|at| (at, &member.cell.kind))
        };
        let kinds: BTreeMap<_, _> = group.members.iter().flat_map(of_member).collect();
        let after_gap =
            |(round, place): &&(u64, u32)| *place > 0 && !kinds.contains_key(&(*round, place - 1));
        let last = kinds.keys().rev().find(after_gap);
        Self {
            incomplete: last.map_or(0, |(round, _)| round.saturating_add(1)),
            kinds,
        }
    }

    /// Who ran right before. The last of an incomplete round may have been the one that was lost.
    fn before(&self, round: u64, place: u32) -> Option<&'a BoxKind> {
        if let Some(place) = place.checked_sub(1) {
            return self.kinds.get(&(round, place)).copied();
        }
        let ((before, _), kind) = self.kinds.range(..(round, 0)).next_back()?;
        (*before >= self.incomplete).then_some(*kind)
    }
}

/// The rounds that a member took part in.
fn numbers(member: &Member) -> impl Iterator<Item = u64> + use<> {
    let every = u64::from(member.every);
    (0..).map(move |i: u64| i.saturating_mul(every))
}

/// Its place in one of them.
fn place(member: &Member, round: u64) -> Option<u32> {
    let i = round.checked_div(u64::from(member.every))?;
    member.places.get(usize::try_from(i).ok()?).copied()
}

/// Each loss less the median of those of its process.
fn beyond_medians(losses: &[f64], processes: &[usize]) -> Option<Vec<f64>> {
    let medians = medians(losses, processes)?;
    let pairs = losses.iter().zip(processes);
    Some(pairs.map(|(loss, process)| loss - medians[process]).collect())
}

/// The typical loss of `all` less that of the rounds `left` of them, in logs.
fn moved(all: &[&Round], left: &[&Round]) -> Option<f64> {
    let tell = left.len() >= FEWEST_ROUNDS && left.len() < all.len();
    tell.then(|| Some(typical_loss(all)? - typical_loss(left)?))
        .flatten()
}

/// The median over rounds, of all processes together: what parts them is off already, and
/// medians of the few rounds that each may have among these would fall apart.
fn typical_loss(rounds: &[&Round]) -> Option<f64> {
    median(&rounds.iter().map(|round| round.loss).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    const METRIC: &str = "latency";

    fn cell(platform: &str) -> Cell {
        serde_json::from_value(of_cell(platform)).unwrap()
    }

    fn of_cell(platform: &str) -> Value {
        json!({"platform": platform, "provisioning": "pinned", "workload": "syscall"})
    }

    /// Slices of 1 us per unit, at these places of their rounds.
    fn member(platform: &str, places: &[u32]) -> Member {
        let times = vec![1000; places.len()];
        let mut member = of_cell(platform);
        let rest = json!({
            "box_id": 0, "every": 1, "units": 1, "lead": 0, "places": places, "gate_ns": 0,
            "parts": {METRIC: {"work": 1.0, "wall_ns": times, "cpu_ns": times}},
        });
        let fields = member.as_object_mut().unwrap();
        fields.extend(rest.as_object().unwrap().clone());
        serde_json::from_value(member).unwrap()
    }

    fn group(members: Vec<Member>) -> GroupRecord {
        GroupRecord {
            group: 0,
            block: 0,
            slice_ns: 1000,
            rounds: 50,
            members,
        }
    }

    fn name(kind: Option<&BoxKind>) -> String {
        kind.map_or_else(|| "-".to_owned(), |kind| kind.platform.to_string())
    }

    /// Who ran before the slices of docker, the cell.
    fn before_docker(group: &GroupRecord) -> Vec<String> {
        let sides = [&cell("docker"), &cell("native")];
        let block = Block::new(group, sides, METRIC).unwrap();
        block.slices(0).map(|slice| name(slice.after)).collect()
    }

    /// The rounds are "docker native vm" and "vm docker native" by turns. Docker came after
    /// the baseline in all of those without vm, and after vm in all others: no two tell vm's
    /// doing. The first round only seems to, in which nobody ran before docker.
    #[test]
    fn a_round_without_a_known_predecessor_is_none_without_the_third_cell() {
        let by_turns = |first: u32, second: u32| [first, second].repeat(15);
        let group = group(vec![
            member("docker", &by_turns(0, 1)),
            member("native", &by_turns(1, 2)),
            member("vm", &by_turns(2, 0)),
        ]);
        let sides = [&cell("docker"), &cell("native")];
        let block = Block::new(&group, sides, METRIC).unwrap();
        assert_eq!(block.known().count(), 29);
        assert_eq!(block.moved_by(&cell("vm").kind), None);
    }

    #[test]
    fn nobody_stands_in_for_a_predecessor_that_was_lost() {
        // Another cell was in the first three rounds: in the middle, last and in the middle.
        let group = group(vec![
            member("docker", &[2, 1, 0, 0, 1]),
            member("native", &[0, 0, 2, 1, 0]),
        ]);
        assert_eq!(before_docker(&group), ["-", "native", "-", "-", "native"]);
    }
}
