//! What a run would do and take, in words.

use crate::out;
use tare_host::host::allowed_cpus;
use tare_lab::preflight::{Barred, CANNOT_RUN, Foresight, LeftBehind, NOT_PINNED};
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::size::{counted, show_memory, show_seconds};
use tare_model::study::{Fresh, Instance, Protocol, Stopping, Study};
use tare_model::tuning::{Tuning, TuningFactor};
use tare_model::workload::{Ready, Run, Workload};
use tare_platforms::isolates_nothing;
use tare_study::looks;
use tare_study::plan::{self, Cost, Room};

/// Fewer blocks bring no verdict.
const VERDICT_BLOCKS: u32 = 10;
/// What a cell works under probes, with the start of its box.
const EVIDENCE_SECONDS: f64 = 2.5;
/// What is stored of it, most of it stacks.
const EVIDENCE_BYTES: u64 = 200 << 10;

/// `10 blocks`, `10 to 60 blocks`, `about 30 blocks (limited by the budget)`.
fn blocks(study: &Study, cost: &Cost) -> String {
    if cost.blocks < study.protocol.blocks && study.protocol.stopping.is_fixed() {
        return format!("about {} (limited by the budget)", counted(cost.blocks, "block"));
    }
    let most = counted(study.protocol.blocks, "block");
    if study.protocol.stopping.is_fixed() || study.protocol.blocks <= looks::FEWEST {
        most
    } else {
        format!("{} to {most}", looks::FEWEST)
    }
}

/// When a cell has enough blocks.
fn stopping(study: &Study) -> String {
    let Stopping::Adaptive { half_width, precise } = study.protocol.stopping else {
        return "every cell runs in every block".to_owned();
    };
    let times = looks::schedule(study).map(|blocks| blocks.to_string());
    let or_clear = if precise {
        ""
    } else {
        ", or is clearly inside or outside the margin"
    };
    format!(
        "looks after {} blocks; a cell stops when its interval is within {:.2} % on either side{or_clear}{}",
        times.collect::<Vec<_>>().join(", "),
        100.0 * half_width.exp_m1(),
        budget(study)
    )
}

/// `; all end after 5 min, but not before block 10`.
fn budget(study: &Study) -> String {
    let Some(seconds) = study.protocol.budget_seconds else {
        return String::new();
    };
    let least = match study.protocol.blocks_before_budget {
        0 => String::new(),
        blocks => format!(", but not before block {blocks}"),
    };
    format!("; all end after {}{least}", show_seconds(seconds))
}

/// Why the comparisons of this study will have figures and intervals, but no verdict.
fn no_verdict(study: &Study, cost: &Cost) -> Option<String> {
    if study.protocol.fresh == Fresh::Study {
        return Some("one box per platform serves the whole study".to_owned());
    }
    let too_few = cost.blocks.min(study.protocol.blocks) < VERDICT_BLOCKS;
    let time = (cost.blocks < study.protocol.blocks).then(|| {
        format!(
            ", which take at least about {}",
            show_seconds(cost.least_of(VERDICT_BLOCKS))
        )
    });
    let time = time.unwrap_or_default();
    too_few.then(|| format!("verdicts need at least {VERDICT_BLOCKS} blocks{time}"))
}

/// `of 10 ms; up to 4 boxes side by side, with 4G of memory together`; which workloads are not
/// sliced, as far as is known beforehand.
fn slices(study: &Study, room: Room) -> Option<String> {
    let most = plan::side_by_side(study, room)?;
    let whole: Vec<&Workload> = study.workloads.iter().filter(|w| w.is_whole()).collect();
    let how = if whole.len() < study.workloads.len() {
        let names = study.together(whole.iter().map(|workload| workload.name()));
        let but = if names.is_empty() {
            ""
        } else {
            ", but in one piece: "
        };
        format!("{}{but}{}", study.protocol.slicing, names.join(", "))
    } else if whole.iter().all(|workload| workload.is_open_loop()) {
        "none: an open loop sends requests on its own schedule, so each trial runs in one piece".to_owned()
    } else {
        "none: each trial is one whole run of the command".to_owned()
    };
    let boxes = match most.boxes {
        1 => "one box at a time".to_owned(),
        boxes => format!(
            "up to {boxes} boxes side by side, with {} of memory together",
            show_memory(most.memory_bytes)
        ),
    };
    Some(format!("{how}; {boxes}{}", lengths(study)))
}

/// How long trials last that follow from the noise of those before.
fn lengths(study: &Study) -> String {
    let Protocol {
        slicing,
        trial_seconds,
        ..
    } = study.protocol;
    if !slicing.are_found() || trial_seconds <= 0.0 {
        return String::new();
    }
    let [least, most] = Protocol::SHARES.map(|share| show_seconds(share * trial_seconds));
    format!(
        "; trials of {}, after the first block of {least} to {most} by their noise",
        show_seconds(trial_seconds)
    )
}

/// Column at which the plan's words begin.
const INDENT: usize = 14;

/// The plan in a few lines.
pub fn text(study: &Study, cost: &Cost, room: Room, foreseen: &Foresight, unmade: Option<&str>) -> String {
    let list = |items: Vec<String>| items.join(", ");
    let mut text = String::new();
    let mut row = |name: &str, words: &str| text += &out::wrapped(name, INDENT, words);
    let platforms = list(study.platforms.iter().map(ToString::to_string).collect());
    let against = match study.platforms.len() {
        1 => "no baseline: nothing to compare with".to_owned(),
        _ => format!("baseline {}", study.baseline),
    };
    row("platforms", &format!("{platforms} ({against})"));
    row(
        "provisioning",
        &list(study.provisioning.iter().map(ToString::to_string).collect()),
    );
    for (i, instance) in study.instances.iter().enumerate() {
        let name = if i == 0 { "each box" } else { "" };
        let pinned = match pinned_to(&instance.pinned_set, &study.provisioning) {
            Some(cpus) => format!("; pinned boxes have CPU {cpus}"),
            None => String::new(),
        };
        let on = on_cpus(&instance.host_set);
        let shared = shared(instance, allowed_cpus().len());
        row(name, &format!("{}{on}{pinned}{shared}", instance.show()));
    }
    if let Some(image) = &study.image {
        row("image", &image.to_string());
    }
    if let Some(name) = unmade {
        row(
            "image",
            &format!("{name}, not built yet: 'tare run' builds it first, which takes minutes"),
        );
    }
    if study.image.is_some() || unmade.is_some() {
        for words in image_on_host(study) {
            row("", words);
        }
    }
    row(
        "workloads",
        &list(study.together(study.workloads.iter().map(Workload::name))),
    );
    if let Some(tuning) = &study.tuning {
        row("tuning", &tuned(tuning, cost.blocks));
    }
    let is_again = |workload: &&Workload| study.setting(workload.name()).is_some_and(|place| place > 0);
    let told = study.workloads.iter().filter(|workload| !is_again(workload));
    let read = told.flat_map(|workload| read_figures(study, workload));
    for (i, figure) in read.enumerate() {
        row(if i == 0 { "figures" } else { "" }, &figure);
    }
    for (placed, workloads) in study.placed() {
        let names = list(study.together(workloads.iter().map(|w| w.name())));
        row("ends", &format!("{names}: {placed}"));
    }
    let host_cpus = u32::try_from(allowed_cpus().len()).unwrap_or(u32::MAX);
    let boxes = |workload: &&Workload| 1 + workload.apart().count();
    let mut crowded = study.oversubscribed(host_cpus);
    crowded.sort_by_key(boxes);
    for alike in crowded.chunk_by(|one, next| boxes(one) == boxes(next)) {
        let names = list(study.together(alike.iter().map(|w| w.name())));
        let boxes = boxes(&alike[0]);
        row(
            "",
            &format!(
                "{names}: {boxes} boxes have more CPUs together than this host's {host_cpus}, and wait for one another"
            ),
        );
    }
    for (i, effect) in study.effects.iter().enumerate() {
        row(if i == 0 { "effects" } else { "" }, &effect.to_string());
    }
    row(
        "design",
        &format!(
            "{} x {}, a new box per {}, seed {}",
            counted(study.cells().len(), "cell"),
            blocks(study, cost),
            study.protocol.fresh,
            study.protocol.seed
        ),
    );
    row("stopping", &stopping(study));
    let compares = study.tuning.is_none() || looks::compares(study);
    if let Some(why) = no_verdict(study, cost).filter(|_| compares) {
        row("verdicts", &format!("none: {why}"));
    }
    for (name, seconds, what) in [
        ("warm-up", study.protocol.warm_up_seconds, "of unrecorded blocks"),
        ("pause", study.protocol.pause_seconds, "before each trial"),
    ] {
        if seconds > 0.0 {
            row(name, &format!("{} {what}", show_seconds(seconds)));
        }
    }
    if let Some(slices) = slices(study, room) {
        row("slices", &slices);
    }
    if study.protocol.evidence {
        let seconds = EVIDENCE_SECONDS * f64::from(u32::try_from(study.cells().len()).unwrap_or(u32::MAX));
        let (more, bytes) = (
            show_seconds(seconds),
            show_memory(EVIDENCE_BYTES * study.cells().len() as u64),
        );
        row(
            "evidence",
            &format!("of causes, in new boxes behind the blocks: about {more} and {bytes} more"),
        );
    }
    row("cost", &costs(study, cost));
    text + &self::foreseen(foreseen)
}

/// `fractional: compress (none, lzo), sort (64, 128)`.
fn tuned(tuning: &Tuning, blocks: u32) -> String {
    let factor = |factor: &TuningFactor| format!("{} ({})", factor.name, factor.levels.join(", "));
    let factors: Vec<String> = tuning.factors.iter().map(factor).collect();
    let fewest = tuning.design.fewest_blocks();
    let too_few = match blocks < fewest {
        true => format!("; nothing is concluded: that needs {fewest} blocks"),
        false => String::new(),
    };
    format!("{}: {}{too_few}", tuning.design.name(), factors.join(", "))
}

/// How far programs of the image are kept from this host where they run on it.
fn image_on_host(study: &Study) -> impl Iterator<Item = &'static str> {
    let native = study
        .platforms
        .iter()
        .any(isolates_nothing)
        .then_some("native does not isolate the image: its programs run as root on this host");
    let ends = study.workloads.iter().flat_map(Workload::outside);
    let outside = ends
        .map(|role| &role.run)
        .any(|run| matches!(run, Run::Command(_)));
    let outside = outside.then_some(
        "ends outside boxes run programs of the image on this host, with its network, without capabilities and without its files",
    );
    native.into_iter().chain(outside)
}

/// The figures that are read from the output of a workload, each with the direction that is better.
fn read_figures(study: &Study, workload: &Workload) -> Vec<String> {
    let is_setting = study.setting(workload.name()).is_some();
    let metrics = workload.metrics().into_iter();
    let read = metrics.filter(|metric| metric.is_printed());
    read.map(|metric| {
        format!(
            "{} of {} in {}, {} is better",
            metric.name,
            if is_setting {
                &workload.family
            } else {
                workload.name()
            },
            metric.unit.symbol(),
            metric.direction.name()
        )
    })
    .collect()
}

/// What other programs use of the host before a run, if that is much.
pub fn busy(load: Option<f64>) -> String {
    /// Less is marked in the trials that it disturbs.
    const MUCH: f64 = 0.1;
    let told = |load: f64| {
        let percent = 100.0 * load;
        let words = format!(
            "other programs use {percent:.0} % of this host's CPUs: stop them, or expect wide intervals"
        );
        out::wrapped("busy", INDENT, &words)
    };
    load.filter(|load| *load > MUCH).map_or_else(String::new, told)
}

/// What cannot go well, a paragraph for each.
pub fn foreseen(foreseen: &Foresight) -> String {
    let barred = foreseen.barred.iter();
    let barred = barred.map(|barred| out::wrapped(CANNOT_RUN, INDENT, &cannot_run(barred)));
    let unpinned = foreseen.unpinned.as_ref().map(|unpinned| {
        let words = format!("{}: {}", listed(&unpinned.platforms), unpinned.why);
        out::wrapped(NOT_PINNED, INDENT, &words)
    });
    let left = foreseen.left_behind.iter();
    let left = left.map(|left| out::wrapped("not there", INDENT, &not_there(left)));
    barred.chain(unpinned).chain(left).collect()
}

/// `command in docker, runc: it needs the loader ...`.
fn cannot_run(barred: &Barred) -> String {
    let Barred {
        workload,
        platforms,
        why,
    } = barred;
    format!("{workload} in {}: {why}", listed(platforms))
}

/// Which files boxes will lack, and how they get them.
fn not_there(left: &LeftBehind) -> String {
    let names: Vec<&str> = left.files.iter().map(|file| file.name.as_str()).collect();
    let renamed = left.files.iter().filter(|file| file.name != file.path);
    let renamed = renamed.map(|file| {
        format!(
            "boxes have another working folder: refer to {} by its path {}",
            file.name, file.path
        )
    });
    let ways: Vec<String> = copying(left).into_iter().chain(renamed).collect();
    format!(
        "{} in {}, needed by {}: {}",
        names.join(", "),
        listed(&left.platforms),
        left.workload,
        ways.join("; ")
    )
}

/// What copies files into boxes that are not copied yet.
fn copying(left: &LeftBehind) -> Option<String> {
    let paths = left
        .files
        .iter()
        .filter(|file| !file.copied)
        .map(|file| &file.path);
    let with: Vec<String> = if left.is_of_file {
        paths.map(|path| format!("{path:?}")).collect()
    } else {
        paths.map(|path| format!("--with {}", out::word(path))).collect()
    };
    if with.is_empty() {
        return None;
    }
    let add = if left.is_of_file {
        format!("with = [{}] to the role in the workload file", with.join(", "))
    } else {
        with.join(" ")
    };
    Some(format!("to copy these files into the boxes, add {add}"))
}

fn listed(platforms: &[PlatformPath]) -> String {
    let names: Vec<String> = platforms.iter().map(ToString::to_string).collect();
    names.join(", ")
}

/// `; all on CPU 0, 1`, where boxes are kept off some of the host's.
fn on_cpus(set: &[u32]) -> String {
    let cpus: Vec<String> = set.iter().map(ToString::to_string).collect();
    match &cpus[..] {
        [] => String::new(),
        some => format!("; all on CPU {}", some.join(", ")),
    }
}

/// What a box leaves to tare, on so many CPUs, if that is nothing.
fn shared(instance: &Instance, cpus: usize) -> &'static str {
    match instance.host_set.is_empty() && instance.size.cpus.whole() as usize >= cpus {
        true => "; it takes all CPUs of this host, so clients outside and tare itself share them with it",
        false => "",
    }
}

/// `1`, `0, 1`: of the boxes that are pinned, if any are.
fn pinned_to(set: &[u32], provisioning: &[Provisioning]) -> Option<String> {
    let cpus: Vec<String> = set.iter().map(ToString::to_string).collect();
    let is_used = provisioning.contains(&Provisioning::Pinned) && !cpus.is_empty();
    is_used.then(|| cpus.join(", "))
}

/// Files of a command that are listed: a folder may hold thousands.
const MOST_FILES: usize = 20;

/// The commands of a study as they will be run, word by word: whoever goes on with a file
/// may not know what stands in it.
pub fn commands(study: &Study) -> String {
    let roles = study.workloads.iter().flat_map(|workload| &workload.roles);
    let quoted = |words: &[String]| {
        let words = words.iter().map(|word| format!("{word:?}"));
        words.collect::<Vec<_>>().join(" ")
    };
    let mut text = String::new();
    for role in roles {
        let Run::Command(run) = &role.run else { continue };
        let with = match &role.files[..] {
            [] => String::new(),
            files if files.len() > MOST_FILES => {
                let more = counted(files.len() - MOST_FILES, "more file");
                format!(", with the files {} and {more}", quoted(&files[..MOST_FILES]))
            }
            files => format!(", with the files {}", quoted(files)),
        };
        let env: Vec<String> = role
            .env
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let words = format!("{} in the environment {}{with}", quoted(&run.argv), quoted(&env));
        text += &out::wrapped("runs", INDENT, &words);
        if let Some(Ready::Command(argv)) = &role.ready {
            text += &out::wrapped("runs", INDENT, &quoted(argv));
        }
    }
    text
}

fn costs(study: &Study, cost: &Cost) -> String {
    let budget = if cost.blocks < study.protocol.blocks {
        " (limited by the budget)"
    } else {
        ""
    };
    let untold = study
        .workloads
        .iter()
        .filter(|workload| is_as_long_as_it_takes(workload));
    let untold = study.together(untold.map(Workload::name));
    let provided = match &untold[..] {
        [] => String::new(),
        names => format!(
            " if a run of {} takes {}",
            names.join(", "),
            show_seconds(study.protocol.trial_seconds)
        ),
    };
    let fixed = study.protocol.stopping.is_fixed();
    let least = if fixed || cost.blocks <= looks::FEWEST {
        String::new()
    } else {
        format!("{} to ", show_seconds(cost.of(looks::FEWEST)))
    };
    format!(
        "{}{} in {}, about {least}{}{provided}{budget}, {} of results",
        if fixed { "" } else { "at most " },
        counted(cost.trials, "trial"),
        counted(cost.boxes, "box"),
        show_seconds(cost.seconds),
        show_memory(cost.bytes)
    )
}

/// Whether a trial of it is one run of a command, and nobody said how long that takes.
fn is_as_long_as_it_takes(workload: &Workload) -> bool {
    workload.is_read() && workload.seconds.is_none() && workload.load().is_none()
}
