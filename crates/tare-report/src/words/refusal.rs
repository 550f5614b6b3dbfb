//! Reasons to give no verdict.

use super::proofs;
use tare_analysis::Refusal;
use tare_model::size::counted;

/// The reason with its figures.
pub fn words(refusal: &Refusal) -> String {
    match refusal {
        Refusal::RunStopped { kinds } => format!(
            "the run stopped before the limits of {} were proven",
            kinds.join(" and ")
        ),
        Refusal::LimitsNotProven { kind, readings } => {
            format!(
                "limits not proven for {kind}: {}",
                proofs::readings(readings.as_ref())
            )
        }
        Refusal::CannotRun {
            cell,
            is_baseline: false,
            detail,
        } => format!("{cell} cannot run here: {detail}"),
        Refusal::CannotRun { cell, detail, .. } => {
            format!("its baseline, {cell}, cannot run here, so there is nothing to compare it with: {detail}")
        }
        Refusal::WrongAnswer { cell, trials } => {
            format!("wrong answer in {} of {cell}", counted(*trials, "trial"))
        }
        Refusal::PairsLost { lost, of } => format!(
            "{lost} of {} lost, as trials failed or have no figure: over 1 in 10, that is rarely by chance",
            counted(*of, "pair")
        ),
        Refusal::FewPairs { pairs: 0, needed } => format!("no pair; {needed} are needed"),
        Refusal::FewPairs { pairs, needed } => {
            format!("only {}; {needed} are needed", counted(*pairs, "pair"))
        }
        Refusal::FewHosts { hosts, needed } => {
            format!(
                "{}; conclusions about other hosts need at least {needed}",
                counted(*hosts, "host")
            )
        }
        Refusal::Disqualified { finding, trials } => format!(
            "{finding} in {}: unfit for this comparison",
            counted(*trials, "trial")
        ),
        Refusal::CarryOver { after } => format!(
            "carry-over from {} biases it by over a quarter of the margin: use longer slices (--slices 50ms) or, in one piece, a longer pause between trials (--pause)",
            after.join(" and ")
        ),
        Refusal::IdenticalFigures { cell, trials } => format!(
            "identical figures in all {} of {cell}: made up, or from a clock with too low a resolution",
            counted(*trials, "trial")
        ),
        Refusal::UnsoundStudy { what } => {
            format!("the header has {}, which no study has", what.join(" and "))
        }
        Refusal::NoLogarithm { pairs } => format!(
            "{} with a value of 0 or less, which has no log ratio",
            counted(*pairs, "pair")
        ),
        Refusal::KeptBoxes
        | Refusal::NoMargin
        | Refusal::NoEstimate
        | Refusal::Contended
        | Refusal::OtherSize
        | Refusal::OtherWork
        | Refusal::OtherBaseline => plain(refusal).to_owned(),
    }
}

/// Those without figures.
const fn plain(refusal: &Refusal) -> &'static str {
    match refusal {
        Refusal::KeptBoxes => {
            "boxes were kept for the whole study: the figures apply to these boxes, not to the platform"
        }
        Refusal::NoMargin => "the study's margin is not one of 0.01 to 100 %",
        Refusal::NoEstimate => {
            "too disturbed for an interval: it would contain 1, with ends over a factor of 10 apart"
        }
        Refusal::Contended => {
            "something else used the CPU ('contended'), which distorts each cost by an unknown amount"
        }
        Refusal::OtherSize => "the box has another size than before",
        Refusal::OtherWork => "the workload does different work than before",
        Refusal::OtherBaseline => "the cell is compared with a different baseline than before",
        _ => "",
    }
}

/// Several, one after the other.
pub(crate) fn all(refusals: &[Refusal]) -> Vec<String> {
    refusals.iter().map(words).collect()
}
