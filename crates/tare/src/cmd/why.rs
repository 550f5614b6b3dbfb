//! `tare why`: a platform with its mechanisms on and off -> results file -> the share of each.

use super::{Asked, forms, run};
use crate::args::{StudyArgs, WhyArgs};
use crate::out;
use anyhow::Context;
use std::path::Path;
use std::process::ExitCode;
use tare_analysis::why::why;
use tare_analysis::{Analysis, analyze};
use tare_host::interrupt;
use tare_model::mechanism::Mechanism;
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::results::Results;
use tare_model::suggest;
use tare_platforms::mechanisms_of;
use tare_report::sections;
use tare_study::mechanisms::variants;

/// Blocks unless others are asked for: shares need as many.
const BLOCKS: u32 = 10;

/// Measures, or reads what was measured, and tells.
pub fn run(args: &WhyArgs) -> anyhow::Result<ExitCode> {
    let file = Path::new(&args.what);
    if file.is_file() {
        let measures = !args.study.is_empty() || args.output.is_some() || !args.mechanisms.is_empty();
        anyhow::ensure!(
            !measures,
            "{} is read, nothing is measured: omit the options of a run",
            out::path(file)
        );
        forms::check(args.forms.html.as_deref(), &[file])?;
        return tell(args, file, &analyze(&Results::read(file)?)).map(|()| ExitCode::SUCCESS);
    }
    super::refuse_missing_command(&args.study)?;
    refuse_own_design(&args.study)?;
    interrupt::install().context("cannot handle signals")?;
    let state = args.state.folder();
    let path = platform(&args.what, &state)?;
    let has_both = args.study.provisioning.len() > 1;
    let mechanisms = chosen(&path, &args.mechanisms, has_both, &state)?;
    let mut asked = asked(&args.study, &path, &mechanisms);
    asked.wishes.protocol.evidence = Some(can_look());
    let named = args.output.as_deref();
    let check_outputs = || run::check_outputs(named, None, args.forms.html.as_deref());
    let mut session = run::open(&asked, &state, check_outputs)?;
    run::measure_and_tell(&mut session, named, args.quiet, |output, analysis| {
        tell(args, output, analysis)
    })
}

/// A word that is no file is to be a platform that there is.
fn platform(word: &str, state: &Path) -> anyhow::Result<PlatformPath> {
    let looks_like_file = word.contains(".json") || word.starts_with(['.', '/']);
    anyhow::ensure!(
        !looks_like_file,
        "there is no file {}",
        out::path(Path::new(word))
    );
    let path: PlatformPath = word.parse()?;
    tare_platforms::open(&path, state)?;
    Ok(path)
}

/// Whether the kernel can be looked into; why not is told, and the shares are measured all the same.
fn can_look() -> bool {
    let tried = tare_probes::try_out();
    if let Err(why) = &tried {
        out::say(&format!("no evidence from the kernel: {why}"));
    }
    tried.is_ok()
}

/// The mechanisms of a platform that its options are to switch. With both ways of granting CPUs its quota is another one.
fn chosen(
    path: &PlatformPath,
    wanted: &[String],
    has_quota: bool,
    state: &Path,
) -> anyhow::Result<Vec<Mechanism>> {
    let all = mechanisms_of(path, state);
    let known: Vec<&str> = all.iter().map(|mechanism| mechanism.switch.key()).collect();
    anyhow::ensure!(
        has_quota || !all.is_empty(),
        "nothing of {path} can be switched off: it has no mechanism that is on and has an option (docs/platforms.md lists options); '--provisioning vanilla,pinned' switches its quota"
    );
    for name in wanted {
        let is_known = known.contains(&name.as_str());
        anyhow::ensure!(
            is_known,
            "{path} has no mechanism '{name}': {}",
            suggest::among(name, &known, "there")
        );
    }
    let is_wanted =
        |mechanism: &Mechanism| wanted.is_empty() || wanted.iter().any(|name| name == mechanism.switch.key());
    Ok(all.into_iter().filter(is_wanted).collect())
}

/// The platform with each set of mechanisms that the design has, all on first, beside its baseline.
fn asked(study: &StudyArgs, path: &PlatformPath, mechanisms: &[Mechanism]) -> Asked {
    let mut asked = Asked::of(study);
    let wishes = &mut asked.wishes;
    let baseline = wishes
        .baseline
        .get_or_insert_with(|| baseline(path).to_string())
        .clone();
    let variants = variants(path, mechanisms)
        .into_iter()
        .map(|path| path.to_string());
    let others = variants.filter(|path| *path != baseline);
    wishes.platforms = std::iter::once(baseline.clone()).chain(others).collect();
    if wishes.provisioning.is_empty() {
        wishes.provisioning = vec![Provisioning::Pinned];
    }
    wishes.protocol.blocks.get_or_insert(BLOCKS);
    asked
}

/// The host that a platform is on, by itself.
fn baseline(path: &PlatformPath) -> PlatformPath {
    let first = path.segments().first().filter(|_| path.host().is_some());
    first.map_or_else(
        || "native".parse().expect("a name of the registry"),
        |host| host.clone().into(),
    )
}

/// What is compared is its own to say, and all cells run in all blocks.
fn refuse_own_design(study: &StudyArgs) -> anyhow::Result<()> {
    let given = [
        ("a study", study.study.is_some()),
        ("--platforms", !study.platforms.is_empty()),
        ("--networks", !study.networks.is_empty()),
        ("--storages", !study.storages.is_empty()),
        ("--caches", !study.caches.is_empty()),
        ("--adaptive", study.protocol.adaptive),
        ("--precision", study.protocol.precision.is_some()),
    ];
    if let Some((option, _)) = given.iter().find(|(_, given)| *given) {
        anyhow::bail!(
            "'tare why' compares one platform with itself without its mechanisms, in the same blocks: omit {option}"
        );
    }
    Ok(())
}

fn tell(args: &WhyArgs, file: &Path, analysis: &Analysis) -> anyhow::Result<()> {
    let found = why(analysis);
    anyhow::ensure!(
        !found.gaps.is_empty(),
        "{} has no platform both with and without its mechanisms: measure one, as in 'tare why docker -w syscall'; 'tare report {} --details' shows what probes saw",
        out::path(file),
        out::word(&file.display().to_string())
    );
    let document = sections::why(analysis, &found);
    forms::tell_briefly(&args.forms, file, document, &found, ("why", args.details))
}
