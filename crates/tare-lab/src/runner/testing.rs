//! A runner on the platform `fake`, for tests of its parts.

use super::Runner;
use super::arm::Arm;
use super::bench::Bench;
use crate::session::Session;
use tare_model::host::HostFacts;
use tare_model::platform::Provisioning;
use tare_model::results::Results;
use tare_model::study::Study;
use tare_platforms::state::Run;
use tare_study::design::{self, ProtocolOptions, StudyRequest};
use tare_study::plan::{self, Room};

/// A study of two blocks on these platforms.
pub(crate) fn study(platforms: &[&str], workloads: &[&str], protocol: ProtocolOptions) -> Study {
    let wishes = StudyRequest {
        platforms: platforms.iter().map(|name| (*name).to_owned()).collect(),
        provisioning: vec![Provisioning::Vanilla],
        workloads: workloads.iter().map(|name| (*name).into()).collect(),
        cpus: "1".parse().ok(),
        protocol: ProtocolOptions {
            blocks: Some(2),
            settle: Some(false),
            ..protocol
        },
        ..StudyRequest::default()
    };
    let facts = HostFacts {
        memory_bytes: 16 << 30,
        ..tare_host::host::facts()
    };
    design::study(&wishes, &facts).unwrap()
}

/// What is in the results file after this was done with a runner.
pub(super) fn with_runner(study: &Study, act: impl FnOnce(Runner<'_>)) -> Results {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("r.jsonl");
    let (run, _) = Run::begin(folder.path()).unwrap();
    let mut session = Session::open(study.clone(), run, None).unwrap();
    let file = session.results_file(&path).unwrap();
    act(Runner::new(&mut session, file, &mut |_| {}).unwrap());
    Results::read(&path).unwrap()
}

/// An arm for each trial of the first group, without a box.
pub(super) fn arms_of(bench: &Bench<'_>) -> Vec<Arm> {
    let cohorts = plan::block(bench.study, Room::UNBOUNDED, 0);
    let trials = cohorts[0].groups[0].trials.iter().cloned();
    trials.filter_map(|planned| bench.arm(planned, false)).collect()
}
