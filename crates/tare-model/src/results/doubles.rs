//! Records that a file holds more than once. No run writes a trial twice: either the file was
//! joined of two, or somebody added to it.

use super::{Outcome, Record, Results, TrialRecord};
use crate::group::GroupRecord;
use crate::study::Cell;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What a file holds more than once.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Doubles {
    /// Places among the records of exact copies of earlier ones: they say nothing more.
    pub copies: BTreeSet<usize>,
    /// Cells of which two records of one block say unlike things, with that block. Which of
    /// them is the true one nobody can tell, so that none counts: whatever was taken, the
    /// last one or the first, would be the choice of whoever put the other one there.
    pub conflicts: BTreeSet<(u32, Cell)>,
}

impl Doubles {
    /// The results with each copied record told once.
    pub fn told_once<'a>(&self, results: &'a Results) -> Cow<'a, Results> {
        if self.copies.is_empty() {
            return Cow::Borrowed(results);
        }
        let mut once = results.clone();
        let mut place = 0..;
        once.records
            .retain(|_| place.next().is_none_or(|place| !self.copies.contains(&place)));
        Cow::Owned(once)
    }
}

impl Results {
    /// The trials and groups that are in the file more than once.
    pub fn doubles(&self) -> Doubles {
        let mut search = Search::default();
        for (place, record) in self.records.iter().enumerate() {
            match record {
                Record::Group(group) => search.group(place, group),
                Record::Trial(trial) => search.trial(place, trial),
                _ => {}
            }
        }
        search.ended(self)
    }
}

/// What was seen so far.
#[derive(Default)]
struct Search<'a> {
    found: Doubles,
    /// By number and block: a number alone names a group only in its block.
    groups: HashMap<(u32, u32), &'a GroupRecord>,
    /// Groups of which there are two.
    unlike: HashSet<(u32, u32)>,
    /// By number and attempt.
    trials: HashMap<(u32, u32), &'a TrialRecord>,
    /// Cells that have a result, with the block.
    results: HashSet<(u32, &'a Cell)>,
}

impl<'a> Search<'a> {
    fn group(&mut self, place: usize, group: &'a GroupRecord) {
        let key = (group.group, group.block);
        match self.groups.get(&key) {
            None => {
                self.groups.insert(key, group);
            }
            Some(first) if *first == group => {
                self.found.copies.insert(place);
            }
            Some(_) => {
                self.unlike.insert(key);
            }
        }
    }

    fn trial(&mut self, place: usize, trial: &'a TrialRecord) {
        let key = (trial.trial, trial.attempt);
        match self.trials.get(&key) {
            Some(first) if *first == trial => {
                self.found.copies.insert(place);
                return;
            }
            Some(first) => {
                let first = *first;
                self.conflict(first);
                self.conflict(trial);
            }
            None => {
                self.trials.insert(key, trial);
            }
        }
        // A trial is repeated only where it has no result.
        let is_result = matches!(trial.outcome, Outcome::Ok(_));
        if is_result && !self.results.insert((trial.block, &trial.cell)) {
            self.conflict(trial);
        }
    }

    fn conflict(&mut self, trial: &TrialRecord) {
        self.found.conflicts.insert((trial.block, trial.cell.clone()));
    }

    /// A trial whose slices are told twice has no figure either.
    fn ended(mut self, results: &'a Results) -> Doubles {
        for trial in results.trials() {
            let names = trial.group.map(|group| (group, trial.block));
            if names.is_some_and(|key| self.unlike.contains(&key)) {
                self.conflict(trial);
            }
        }
        self.found
    }
}
