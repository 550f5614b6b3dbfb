//! Where campaigns run, one after another.

use super::arms::{self, Comparison};
use super::pairs::Measured;
use anyhow::Context;
use std::collections::BTreeSet;
use std::time::Instant;
use tare_host::host;
use tare_lab::runner::{Event, Runner};
use tare_lab::session::Session;
use tare_model::results::{EndReason, Record, Results};
use tare_model::study::Study;
use tare_selftest::campaign::{Campaign, seed};
use tare_selftest::log::Header;
use tare_study::plan;

/// Where campaigns run, and what they leave to the next.
pub struct CampaignSite {
    pub session: Session,
}

impl CampaignSite {
    /// Runs a campaign; `None` if the user asked to stop.
    pub fn campaign(&mut self, header: &Header, number: u32) -> anyhow::Result<Option<Campaign>> {
        let begun = Instant::now();
        let started_unix_ns = host::unix_ns();
        let seed = seed(header.options.seed, number);
        let comparison = arms::comparison(&header.options, header.iterations, seed)?;
        let Some(measured) = self.measure(&comparison.study)? else {
            return Ok(None);
        };
        let (pairs, lost) = measured.pairs(&comparison);
        anyhow::ensure!(
            !pairs.is_empty(),
            "no pair was measured: {}",
            measured.first_failure()
        );
        let batches = if header.options.batches {
            let Some(batches) = self.batches(&comparison)? else {
                return Ok(None);
            };
            Some(batches)
        } else {
            None
        };
        Ok(Some(Campaign {
            campaign: number,
            seed,
            started_unix_ns,
            seconds: begun.elapsed().as_secs_f64(),
            pairs,
            lost,
            batches,
        }))
    }

    /// Runs a study with the runner of every measurement; `None` if interrupted.
    fn measure(&mut self, study: &Study) -> anyhow::Result<Option<Measured>> {
        let path = self.session.run.folder().join("campaign.jsonl");
        self.session.study = study.clone();
        let file = self.session.results_file(&path)?;
        let mut silent = |_: Event<'_>| {};
        let mut runner = Runner::new(&mut self.session, file, &mut silent)?;
        if !study.protocol.slicing.is_off() {
            // The arms of an injection are two workloads, which a study would not put into
            // one group.
            runner = runner.with_cohorts(|block| plan::together(study, block));
        }
        let ended = runner.run()?;
        let results = Results::read(&path)?;
        std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        let measured = measured(results)?;
        Ok((ended.reason != EndReason::Interrupted).then_some(measured))
    }

    /// All trials of the first arm, then all of the second, as one does without
    /// blocks: their times.
    fn batches(&mut self, of: &Comparison) -> anyhow::Result<Option<[Vec<f64>; 2]>> {
        let mut times = [Vec::new(), Vec::new()];
        for (arm, times) in of.arms.iter().zip(&mut times) {
            let alone = Study {
                listed: BTreeSet::from([arm.clone()]),
                ..of.study.clone()
            };
            let Some(measured) = self.measure(&alone)? else {
                return Ok(None);
            };
            *times = measured.times(arm);
        }
        Ok(Some(times))
    }
}

/// What was measured, where all limits were proven.
fn measured(results: Results) -> anyhow::Result<Measured> {
    let mut measured = Measured::default();
    for record in results.records {
        match record {
            Record::Proof(proof) => anyhow::ensure!(
                proof.proven,
                "the limits of {} are not proven: {}",
                proof.kind,
                proof.remarks.join("; ")
            ),
            other => measured.note(other),
        }
    }
    Ok(measured)
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::group::GroupRecord;
    use tare_model::study::{Fresh, Slicing};
    use tare_platforms::state::Run;
    use tare_selftest::log::Options;

    fn options() -> Options {
        Options {
            platform: "fake".to_owned(),
            tenths: 20,
            blocks: 10,
            fresh: Fresh::Block,
            slicing: Slicing::AUTO,
            trial_seconds: 0.2,
            polluter: true,
            margin_percent: 1.0,
            batches: false,
            settle: false,
            seed: 1,
        }
    }

    #[test]
    fn arms_do_as_many_units_in_one_group_and_the_polluter_fills_its_slices() {
        let state = tempfile::tempdir().expect("a folder");
        let (run, _) = Run::begin(state.path()).expect("a run");
        // Units of 0.1 ms: as many of the polluter's would be over in no time.
        let comparison = arms::comparison(&options(), [100_000, 102_000], 7).expect("a study");
        let session = Session::open(comparison.study.clone(), run, None).expect("fake");
        let mut site = CampaignSite { session };
        let measured = site
            .measure(&comparison.study)
            .expect("a campaign")
            .expect("its end");
        assert_eq!(measured.groups.len(), 10);
        for group in &measured.groups {
            let [first, second] = comparison.arms.each_ref().map(|arm| units(group, arm));
            assert_eq!(first, second);
            assert_eq!(group.members.len(), 3);
            let polluter = group.members.iter().find(|m| !comparison.arms.contains(&m.cell));
            assert!(polluter.expect("the third").units > 10 * first, "{group:?}");
        }
        let (pairs, lost) = measured.pairs(&comparison);
        assert!(pairs.len() == 10 && lost == 0 && pairs.iter().all(|pair| pair.typical.is_some()));
    }

    fn units(group: &GroupRecord, arm: &tare_model::study::Cell) -> u64 {
        group.member(arm).expect("a member").units
    }
}
