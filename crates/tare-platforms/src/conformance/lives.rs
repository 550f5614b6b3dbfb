//! Boxes that live: alone, side by side, frozen, one after another.

use super::context::CheckContext;
use super::ends::expect_engine_forgot;
use super::talk::greet;
use super::traces::Traces;
use super::{Broken, Kept, expect};
use crate::contract::{ANSWER_DEADLINE, BoxSpec, RunningBox};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, Instant};
use tare_host::cgroup::Meter;
use tare_model::kernel::ProofSpec;
use tare_model::platform::Provisioning;
use tare_model::protocol::{Reply, Request};

/// Time for a burning box to be seen to burn.
const BURN_DEADLINE: Duration = Duration::from_secs(30);
/// How long a frozen box is watched.
const WATCH: Duration = Duration::from_millis(300);
/// CPU time that the engine around a frozen machine may use meanwhile.
const IDLE: Duration = Duration::from_millis(30);
/// Growth of this process's memory that boxes made in a row may cause: the
/// allocator and the buffers of the link, once.
const SLACK_BYTES: u64 = 4 << 20;
/// How often as many boxes are made again where memory grew by more: what is lost with each
/// box grows again, and what files on their way into boxes once took (48 MiB with Docker's
/// engine around runc) does not.
const MORE_ROUNDS: u32 = 2;
/// Boxes made before the first look: what is made once is then there.
const WARM_UP: u32 = 2;
/// Boxes at each end of a row whose times are told.
const TOLD: usize = 10;

pub(super) fn freeze(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let made = site.shared()?;
    let burn = burning(made)?;
    let Some(meter) = made.meter() else {
        return Err(Broken::Seen("the host has no counters of the box".to_owned()));
    };
    await_burning(&meter)?;
    made.freeze()?;
    let before = used(&meter)?;
    std::thread::sleep(WATCH);
    let idle = used(&meter)?.saturating_sub(before);
    made.thaw()?;
    expect(idle < IDLE, || {
        format!("a frozen box used {idle:?} of CPU time in {WATCH:?}")
    })?;
    match made.link().reply(&burn, ANSWER_DEADLINE * 3)?.reply {
        Reply::Exited(_) => {}
        other => return Err(Broken::Seen(format!("after the thaw the agent said {other:?}"))),
    }
    greet(made)?;
    made.freeze()?;
    site.put_away()?;
    Ok(Kept::Yes(Some(format!("{idle:.1?} of CPU time in {WATCH:?}"))))
}

/// Lets a box burn CPU for a while; the reply is to be waited for.
fn burning(made: &mut dyn RunningBox) -> Result<Request, Broken> {
    let bounds = super::talk::acting(&[]).bounds;
    let spec = ProofSpec::Burn {
        threads: 1,
        seconds: 3.0,
    };
    let request = Request::Proof { spec, bounds };
    made.link().ask(&request, ANSWER_DEADLINE)?;
    Ok(request)
}

fn used(meter: &Meter) -> Result<Duration, Broken> {
    let usage = meter.read().map_err(Broken::host("read the box's counters"))?;
    Ok(Duration::from_nanos(usage.cpu_ns))
}

fn await_burning(meter: &Meter) -> Result<(), Broken> {
    let (begun, before) = (Instant::now(), used(meter)?);
    while used(meter)? < before + 5 * IDLE {
        expect(begun.elapsed() < BURN_DEADLINE, || {
            "the host's counters do not show that the box burns CPU".to_owned()
        })?;
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(())
}

pub(super) fn same_name(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    site.put_away()?;
    let spec = site.spec(Provisioning::Vanilla);
    let mut first = site.launch(&spec)?;
    let pid = greet(&mut *first)?;
    let second = site.platform()?.launch(&spec);
    let told = second
        .as_ref()
        .map_or_else(ToString::to_string, |_| "it was made".to_owned());
    if let Ok(mut second) = second {
        second.destroy()?;
    }
    let alive =
        greet(&mut *first).map_err(|e| Broken::Seen(format!("the first box: {e}; the second: {told}")))?;
    expect(alive == pid, || {
        format!("the first box's agent was {pid} and is {alive}")
    })?;
    let traces = Traces::of(&*first, &spec.name, &spec.scratch);
    first.destroy()?;
    drop(first);
    traces.expect_gone()?;
    expect_engine_forgot(site)?;
    Ok(Kept::Yes(Some(told)))
}

pub(super) fn two_boxes(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let ((mut first, _), (mut second, name)) = (site.own()?, site.own()?);
    greet(&mut *first)?;
    greet(&mut *second)?;
    let traces = Traces::of(&*second, &name, site.order().run.folder());
    second.destroy()?;
    drop(second);
    greet(&mut *first)?;
    traces.expect_gone()?;
    first.destroy()?;
    Ok(Kept::YES)
}

pub(super) fn dropped(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    site.put_away()?;
    let (made, name) = site.own()?;
    let traces = Traces::of(&*made, &name, site.order().run.folder());
    drop(made);
    traces.expect_gone()?;
    expect_engine_forgot(site)?;
    Ok(Kept::YES)
}

pub(super) fn no_agent(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let spec = site.spec(Provisioning::Vanilla);
    // Apart: what is made of the binary once per run shall not be made of this one.
    let scratch = spec.scratch.join("no-agent");
    let binary = scratch.join("tare");
    fs::create_dir_all(&scratch).map_err(Broken::host("make a folder"))?;
    fs::write(&binary, "no program\n")
        .and_then(|()| fs::set_permissions(&binary, fs::Permissions::from_mode(0o755)))
        .map_err(Broken::host("write a file"))?;
    expect_failure(
        site,
        &BoxSpec {
            scratch,
            binary,
            ..spec
        },
    )
}

pub(super) fn no_such_cpu(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    if let Err(why) = site.platform()?.supports_pinning() {
        return Ok(Kept::NotHere(why.to_owned()));
    }
    let spec = site.spec(Provisioning::Pinned);
    // No kernel has been built for so many.
    let pinned_set = vec![65_535];
    expect_failure(site, &BoxSpec { pinned_set, ..spec })
}

fn expect_failure(site: &mut CheckContext<'_>, spec: &BoxSpec) -> Result<Kept, Broken> {
    site.put_away()?;
    let failed = site.platform()?.launch(spec).err();
    let Some(failed) = failed else {
        return Err(Broken::Seen("the box was created anyway".to_owned()));
    };
    Traces::named(&spec.name, &spec.scratch).expect_gone()?;
    expect_engine_forgot(site)?;
    Ok(Kept::Yes(Some(failed.to_string())))
}

pub(super) fn many_boxes(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    site.put_away()?;
    let many = site.many()?;
    for _ in 0..WARM_UP {
        one_box(site)?;
    }
    let mut before = Ourselves::now();
    let (mut times, mut after) = some_boxes(site, many)?;
    for _ in 0..MORE_ROUNDS {
        if after.resident_bytes <= before.resident_bytes + SLACK_BYTES {
            break;
        }
        before.resident_bytes = after.resident_bytes;
        (times, after) = some_boxes(site, many)?;
    }
    expect(
        after.descriptors == before.descriptors && after.threads == before.threads,
        || format!("{many} boxes took us from {before:?} to {after:?}"),
    )?;
    expect(
        after.resident_bytes <= before.resident_bytes + SLACK_BYTES,
        || format!("{many} boxes took us from {before:?} to {after:?}"),
    )?;
    let run = site.order().run;
    Traces::named(run.name(), run.folder()).expect_gone()?;
    expect_engine_forgot(site)?;
    Ok(Kept::Yes(Some(told(&times))))
}

/// Makes so many boxes and removes each; how long they took, and what it took of us.
fn some_boxes(site: &mut CheckContext<'_>, many: u32) -> Result<(Vec<Duration>, Ourselves), Broken> {
    let times: Result<_, Broken> = (0..many).map(|_| one_box(site)).collect();
    Ok((times?, Ourselves::now()))
}

/// Makes a box and removes it; how long that took.
fn one_box(site: &mut CheckContext<'_>) -> Result<Duration, Broken> {
    let begun = Instant::now();
    let (mut made, name) = site.own()?;
    let traces = Traces::of(&*made, &name, site.order().run.folder());
    greet(&mut *made)?;
    made.destroy()?;
    drop(made);
    let took = begun.elapsed();
    traces.expect_gone()?;
    Ok(took)
}

fn told(times: &[Duration]) -> String {
    let mean = |times: &[Duration]| {
        let number = u32::try_from(times.len()).unwrap_or(u32::MAX).max(1);
        times.iter().sum::<Duration>() / number
    };
    let few = TOLD.min(times.len());
    format!(
        "{} boxes; each of the first {few} took {:.1?}, of the last {few} {:.1?}",
        times.len(),
        mean(&times[..few]),
        mean(&times[times.len() - few..])
    )
}

/// What boxes could cost this process.
#[derive(Debug, PartialEq, Eq)]
struct Ourselves {
    descriptors: usize,
    threads: usize,
    resident_bytes: u64,
}

impl Ourselves {
    fn now() -> Self {
        let count = |folder: &str| fs::read_dir(folder).into_iter().flatten().count();
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let resident = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
        let kilobytes = resident.and_then(|text| text.trim().trim_end_matches(" kB").parse::<u64>().ok());
        Self {
            descriptors: count("/proc/self/fd"),
            threads: count("/proc/self/task"),
            resident_bytes: kilobytes.unwrap_or(0) * 1024,
        }
    }
}
