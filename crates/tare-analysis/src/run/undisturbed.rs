//! Whether verdicts stay without the trials that the host disturbed.
//!
//! The trials are chosen by what the host did, never by their figures. What is left decides less, as
//! fewer blocks do: so these verdicts stand beside those of all trials and replace none.

use super::comparison::Comparison;
use super::trials::Trials;
use super::verdict::Word;
use schemars::JsonSchema;
use serde::Serialize;
use tare_model::study::Cell;

/// The decided costs of platforms, held against what the other trials alone decide.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct Undisturbed {
    /// Trials that the host disturbed.
    pub disturbed: usize,
    /// Of how many.
    pub of: usize,
    /// Costs that have the same verdict without them.
    pub unchanged: usize,
    /// Those that are not decided without them.
    pub opened: Vec<Cell>,
    /// Those that are decided otherwise without them.
    pub changed: Vec<ChangedVerdict>,
}

/// A verdict that rests on disturbed trials.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct ChangedVerdict {
    #[serde(flatten)]
    pub cell: Cell,
    /// The verdict of all trials.
    pub of_all: Word,
    /// That of the undisturbed ones.
    pub of_undisturbed: Word,
}

/// Of `decided` comparisons; `judged` compares and judges the trials that are left. `None` if no trial
/// was disturbed, or nothing is decided.
pub(super) fn find<'a>(
    comparisons: impl Iterator<Item = &'a Comparison>,
    trials: &Trials,
    judged: impl FnOnce(&Trials) -> Vec<Comparison>,
) -> Option<Undisturbed> {
    let decided: Vec<&Comparison> = comparisons.filter(|c| c.word().decides()).collect();
    let left = trials.undisturbed();
    let [of, rest] = [trials, &left].map(Trials::with_figures);
    if decided.is_empty() || rest == of {
        return None;
    }
    let mut found = Undisturbed {
        disturbed: of - rest,
        of,
        unchanged: 0,
        opened: Vec::new(),
        changed: Vec::new(),
    };
    let judged = judged(&left);
    for comparison in decided {
        let same = |c: &&Comparison| c.cell == comparison.cell && c.against == comparison.against;
        let [of_all, of_undisturbed] =
            [Some(comparison), judged.iter().find(same)].map(|c| c.map_or(Word::None, Comparison::word));
        let cell = comparison.cell.clone();
        if of_all == of_undisturbed {
            found.unchanged += 1;
        } else if of_undisturbed.decides() {
            found.changed.push(ChangedVerdict {
                cell,
                of_all,
                of_undisturbed,
            });
        } else {
            found.opened.push(cell);
        }
    }
    Some(found)
}
