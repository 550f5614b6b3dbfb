//! Before the first trial: platforms opened and probed, output made.

mod foresight;

pub use foresight::{Barred, CANNOT_RUN, Foresight, Futile, LeftBehind, NOT_PINNED, NamedFile, Unpinned};

use crate::identity;
use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use tare_host::cgroup::{self, InForce, Layout, Weight};
use tare_host::host::Mount;
use tare_host::net::Network;
use tare_host::{build_id, host};
use tare_image::Image;
use tare_model::kernel::{Isa, Kernel};
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::results::{Header, PlatformVersion, SCHEMA, UNTESTED_DRIVER};
use tare_model::size::{Cpus, InstanceType, show_cpus, show_memory};
use tare_model::study::{BoxKind, Study};
use tare_model::workload::{self, Place, Role, Workload};
use tare_platforms::agent_file;
use tare_platforms::state::Run;
use tare_platforms::{Absent, Architecture, BoxImage, BoxSpec, OpenError, Platform};
use tare_probes::ProbeError;
use tare_study::addresses;
use tare_study::placement::Placement;
use tare_study::plan::{BoxCost, Room};

/// Why nothing can be run.
#[derive(Debug, thiserror::Error)]
pub enum PreflightError {
    /// A platform's path.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A platform that was asked for is not there.
    #[error("platform '{path}' cannot run here: {absent}")]
    Absent {
        path: PlatformPath,
        /// Why, and what to do.
        absent: Absent,
    },
    /// A platform whose boxes cannot be made of an image.
    #[error("platform '{path}' cannot use an image as the root of its boxes: {why}")]
    NoImage {
        path: PlatformPath,
        /// Why, and what to do.
        why: &'static str,
    },
    /// A study that would end without what it is for.
    #[error(transparent)]
    Futile(#[from] Futile),
    /// Evidence was asked for, and the kernel cannot be looked into.
    #[error("no evidence of causes can be had here: {0}; run without --evidence")]
    NoEvidence(#[from] ProbeError),
    /// Evidence was asked for of work that is never cut into pieces.
    #[error("evidence of causes is looked for slice by slice: run without --evidence, or with slices")]
    EvidenceInOnePiece,
    /// A workload with an end outside, and boxes that cannot talk to it.
    #[error("platform '{path}' cannot run {workload}: {why}")]
    Apart {
        path: PlatformPath,
        workload: String,
        /// Why, and what to do.
        why: &'static str,
    },
    /// A size of boxes beyond the limits on tare itself.
    #[error(
        "a box of {} and {} does not fit: tare itself is limited to {limits}; use smaller boxes (--cpus, --memory), or start tare outside that limit",
        show_cpus(size.cpus), show_memory(size.memory_bytes)
    )]
    Limited {
        size: InstanceType,
        /// The limits on all boxes together.
        limits: String,
    },
}

/// The first of these platforms whose boxes can have no image as their root, and why; nothing is
/// probed. What is no platform is told elsewhere.
pub fn without_image(names: &[String], state: &Path) -> Option<PreflightError> {
    names.iter().find_map(|name| {
        let path: PlatformPath = name.parse().ok()?;
        let why = tare_platforms::open(&path, state).ok()?.supports_image().err()?;
        Some(PreflightError::NoImage { path, why })
    })
}

/// The platforms of a study, opened and probed.
pub struct Platforms {
    open: BTreeMap<PlatformPath, (Box<dyn Platform>, PlatformVersion)>,
    weight: Weight,
    image: Option<Arc<Image>>,
    /// The CPUs for boxes, in their order, as they were before the controller bound itself to one.
    cpus: Vec<u32>,
    /// The limits that all boxes in cgroups of this process share.
    limits: Option<InForce>,
    /// Memory of the host, in bytes.
    memory_bytes: u64,
    /// Whether cgroups of this process can have sets of CPUs.
    has_cpu_sets: bool,
}

/// The detail of platforms that tells what weight boxes have on the CPU.
const WEIGHT: &str = "cpu-weight";
/// The detail of platforms for the limits that all their boxes share.
const LIMITS: &str = "shared-limits";

impl Platforms {
    /// Opens the platforms and checks that each can make boxes here.
    ///
    /// # Errors
    /// [`PreflightError`] for the first that cannot.
    pub fn open(paths: &[PlatformPath], state: &Path) -> Result<Self, PreflightError> {
        let mut open = BTreeMap::new();
        for path in paths {
            let mut platform = tare_platforms::open(path, state)?;
            let mut version = platform.probe().map_err(|absent| PreflightError::Absent {
                path: path.clone(),
                absent,
            })?;
            if tare_platforms::untested(path) {
                let (key, value) = UNTESTED_DRIVER;
                version.details.insert(key.to_owned(), value.to_owned());
            }
            open.insert(path.clone(), (platform, version));
        }
        Ok(Self::weighed(open))
    }

    /// Tells of each what its boxes get of the CPU. It is the same for all, or what is
    /// compared would be the weights: the most, if every platform can give it.
    fn weighed(mut open: BTreeMap<PlatformPath, (Box<dyn Platform>, PlatformVersion)>) -> Self {
        let without = |(path, (platform, _)): (&PlatformPath, &(Box<dyn Platform>, _))| {
            Some(format!("usual ({path}: {})", platform.supports_weight().err()?))
        };
        let (weight, told) = match open.iter().find_map(without) {
            Some(told) => (Weight::Usual, told),
            None => (Weight::Most, "most".to_owned()),
        };
        for (_, version) in open.values_mut() {
            version.details.insert(WEIGHT.to_owned(), told.clone());
        }
        let limits = Layout::detect().ok().map(|layout| InForce::on_boxes(&layout));
        let memory_bytes = host::facts().memory_bytes;
        let shown = limits.as_ref().and_then(|limits| limits.show(memory_bytes));
        for (platform, version) in open.values_mut() {
            let shown = shown.clone().filter(|_| platform.is_in_own_cgroup());
            version
                .details
                .extend(shown.map(|limits| (LIMITS.to_owned(), limits)));
        }
        Self {
            open,
            weight,
            image: None,
            cpus: host::cpus_for_boxes(),
            limits,
            memory_bytes,
            has_cpu_sets: cgroup::has_cpu_sets(),
        }
    }

    /// Gives all boxes this image as their root.
    ///
    /// # Errors
    /// [`PreflightError::NoImage`] for the first platform whose boxes can have none.
    pub fn with_image(mut self, image: Option<Arc<Image>>) -> Result<Self, PreflightError> {
        let without = self
            .open
            .iter()
            .find_map(|(path, (platform, _))| Some((path.clone(), platform.supports_image().err()?)));
        match without.filter(|_| image.is_some()) {
            Some((path, why)) => Err(PreflightError::NoImage { path, why }),
            None => {
                self.image = image;
                Ok(self)
            }
        }
    }

    /// What a box of this kind is to be, in the folder of a run and with this behind the run's name
    /// in its own; `None` if the study has no such size.
    pub(crate) fn spec(
        &self,
        study: &Study,
        kind: &BoxKind,
        (run, binary): (&Run, &Path),
        label: &dyn Display,
    ) -> Option<BoxSpec> {
        let instance = study.instance_of(kind)?;
        let spec = BoxSpec {
            name: format!("{}-{label}", run.name()),
            run: run.name().to_owned(),
            hostname: BoxSpec::HOSTNAME.to_owned(),
            instance: instance.size,
            provisioning: kind.provisioning,
            pinned_set: instance.pinned_set.clone(),
            host_set: instance.host_set.clone(),
            weight: self.weight,
            scratch: run.folder().to_owned(),
            binary: binary.to_owned(),
            architecture: Architecture::HERE,
            holds_boxes: false,
            image: self.image.clone().map(BoxImage::stored),
        };
        Some(spec.on(self.open.get(&kind.platform)?.0.architecture()))
    }

    /// What the box is to be of the so many-th role, from 1, that runs beside a box of this kind: such a
    /// box too, on the CPUs behind those of the boxes before it. Behind the host's last CPU comes its first one again.
    pub(crate) fn apart(
        &self,
        study: &Study,
        kind: &BoxKind,
        nth: usize,
        by: (&Run, &Path),
        label: &dyn Display,
    ) -> Option<BoxSpec> {
        let mut spec = self.spec(study, kind, by, label)?;
        let each = spec.pinned_set.len();
        let is_there = |cpu: &&u32| spec.host_set.is_empty() || spec.host_set.contains(cpu);
        let there: Vec<u32> = self.cpus.iter().filter(is_there).copied().collect();
        if there.len() >= each {
            let behind = there.iter().cycle().skip(each * nth).take(each);
            spec.pinned_set = behind.copied().collect();
            spec.pinned_set.sort_unstable();
        }
        Some(spec)
    }

    /// What the box is to be in which things run outside of all others: on the host, bound to
    /// these CPUs or, if there are none, to none. It has all the memory and is throttled by nothing.
    pub(crate) fn outside(&self, cpus: &[u32], (run, binary): (&Run, &Path), label: &dyn Display) -> BoxSpec {
        let all = u32::try_from(host::allowed_cpus().len()).unwrap_or(u32::MAX / 1000);
        BoxSpec {
            name: format!("{}-{label}", run.name()),
            run: run.name().to_owned(),
            hostname: BoxSpec::HOSTNAME.to_owned(),
            instance: InstanceType {
                cpus: Cpus::from_milli(1000 * all),
                memory_bytes: self.memory_bytes,
            },
            provisioning: if cpus.is_empty() || !self.has_cpu_sets {
                Provisioning::Vanilla
            } else {
                Provisioning::Pinned
            },
            pinned_set: cpus.to_vec(),
            host_set: Vec::new(),
            weight: self.weight,
            scratch: run.folder().to_owned(),
            binary: binary.to_owned(),
            architecture: Architecture::HERE,
            holds_boxes: false,
            image: self.image.clone().map(BoxImage::stored),
        }
    }

    /// Checks that boxes can run what they are for, and talk to what runs outside. A study file
    /// has workloads of many kinds: those trials of it in which they cannot are skipped.
    ///
    /// # Errors
    /// [`PreflightError::Apart`] for the first cell in which they cannot.
    pub fn check_barriers(&self, study: &Study) -> Result<(), PreflightError> {
        if study.template.is_some() {
            return Ok(());
        }
        for cell in study.cells() {
            let path = &cell.kind.platform;
            if let Some(workload) = study.workload(&cell)
                && let Some(why) = self.barrier(path, &workload)
            {
                return Err(PreflightError::Apart {
                    path: path.clone(),
                    workload: workload.name,
                    why,
                });
            }
        }
        Ok(())
    }

    /// Checks that boxes fit within the limits on tare itself.
    ///
    /// # Errors
    /// [`PreflightError::Limited`] for the first size that does not fit.
    pub fn check_limits(&self, study: &Study) -> Result<(), PreflightError> {
        let Some(limits) = &self.limits else {
            return Ok(());
        };
        let kinds = study.box_kinds();
        let bound = kinds.iter().filter(|kind| self.is_in_own_cgroup(&kind.platform));
        let sizes = bound.filter_map(|kind| Some(study.instance_of(kind)?.size));
        match sizes.into_iter().find(|size| !limits.fits(size)) {
            Some(size) => Err(PreflightError::Limited {
                size,
                limits: limits.show(self.memory_bytes).unwrap_or_default(),
            }),
            None => Ok(()),
        }
    }

    /// The memory available to boxes.
    pub fn room(&self) -> Room {
        let bound = self.open.keys().any(|path| self.is_in_own_cgroup(path));
        let limit = self.limits.as_ref().filter(|_| bound);
        let limit = limit.and_then(|limits| limits.memory_below(self.memory_bytes));
        Room::of_host(limit.unwrap_or(self.memory_bytes))
    }

    /// Whether boxes of this platform are in cgroups of this process.
    fn is_in_own_cgroup(&self, path: &PlatformPath) -> bool {
        let open = self.open.get(path);
        open.is_some_and(|(platform, _)| platform.is_in_own_cgroup())
    }

    /// Why boxes of this platform cannot be pinned.
    pub(crate) fn unpinned(&self, path: &PlatformPath) -> Option<&'static str> {
        self.open.get(path)?.0.supports_pinning().err()
    }

    /// Why boxes of this platform cannot run a workload: its programs are for other CPUs, or what runs in one box of it and
    /// what runs outside, or in another, cannot talk to one another.
    pub(crate) fn barrier(&self, path: &PlatformPath, workload: &Workload) -> Option<&'static str> {
        let (platform, _) = self.open.get(path)?;
        if platform.architecture().is_foreign() {
            let is_command = |role: &Role| matches!(role.run, workload::Run::Command(_));
            if workload.boxed().any(is_command) {
                return Some(OTHER_CPUS);
            }
            if workload.kernel().is_some_and(|spec| spec.isa != Isa::Baseline) {
                return Some(OTHER_ISA);
            }
        }
        let network = platform.network();
        let crosses = workload.outside().next().is_some();
        let outside = crosses.then(|| apart(network, workload)).flatten();
        let is_apart = workload.apart().next().is_some();
        outside.or(match network {
            Network::None if is_apart => Some(
                "its boxes share no network; add one with the option network, as in runc?network=bridge or docker?network=bridge (docs/platforms.md, Networks)",
            ),
            Network::Pasta | Network::Slirp4netns if is_apart => Some(INWARD_ONLY),
            _ => None,
        })
    }

    /// The network of a platform's boxes.
    pub(crate) fn network(&self, path: &PlatformPath) -> Network {
        let platform = self.open.get(path);
        platform.map_or(Network::None, |(platform, _)| platform.network())
    }

    /// Whether boxes of this platform have the host's own files.
    pub(crate) fn has_host_files(&self, path: &PlatformPath) -> bool {
        let has = |(platform, _): &(Box<dyn Platform>, PlatformVersion)| platform.has_host_files();
        self.image.is_none() && self.open.get(path).is_some_and(has)
    }

    /// Opens those platforms that can make boxes here, and tells of the others why not.
    ///
    /// # Errors
    /// [`PreflightError::Open`] for a path that cannot be on any host.
    pub fn open_present(
        paths: &[PlatformPath],
        state: &Path,
    ) -> Result<(Self, Vec<PreflightError>), PreflightError> {
        let mut present = BTreeMap::new();
        let mut absent = Vec::new();
        for path in paths {
            match Self::open(std::slice::from_ref(path), state) {
                Ok(one) => present.extend(one.open),
                Err(error @ PreflightError::Absent { .. }) => absent.push(error),
                Err(error) => return Err(error),
            }
        }
        Ok((Self::weighed(present), absent))
    }

    /// What was found of each.
    pub fn versions(&self) -> BTreeMap<PlatformPath, PlatformVersion> {
        self.open
            .iter()
            .map(|(path, (_, version))| (path.clone(), version.clone()))
            .collect()
    }

    /// What was found of one.
    pub(crate) fn version(&self, path: &PlatformPath) -> Option<&PlatformVersion> {
        self.open.get(path).map(|(_, version)| version)
    }

    /// What boxes of this kind cost in time, as far as is known beforehand.
    pub fn cost(&self, kind: &BoxKind) -> BoxCost {
        let default = BoxCost {
            launch_seconds: 0.1,
            stretch: 1.1,
        };
        self.open.get(&kind.platform).map_or(default, |(platform, _)| {
            let (launch, stretch) = platform.cost();
            BoxCost {
                launch_seconds: launch.as_secs_f64(),
                stretch,
            }
        })
    }

    /// What of a study cannot go well in boxes of these platforms.
    pub fn foresee(&self, study: &Study) -> Foresight {
        // What is in an image was looked for where the command was.
        let without_files = |path: &&PlatformPath| self.image.is_none() && !self.has_host_files(path);
        let bare: Vec<PlatformPath> = study.platforms.iter().filter(without_files).cloned().collect();
        let foresight = self.foreseen(study, &bare);
        match self.image {
            Some(_) => foresight.with_image(study),
            None => foresight,
        }
    }

    /// What of a study cannot go well whatever the image of its boxes holds, which is yet to be made.
    pub fn foresee_before_image(&self, study: &Study) -> Foresight {
        self.foreseen(study, &[])
    }

    /// What cannot go well where boxes of `bare` platforms have no files but those that are copied into them.
    fn foreseen(&self, study: &Study, bare: &[PlatformPath]) -> Foresight {
        let mut foresight = Foresight::of(study, bare);
        let barred = study.workloads.iter().flat_map(|w| self.barred_of(study, w));
        foresight.barred.extend(barred);
        foresight.unpinned = self.unpinned_of(study);
        foresight
    }

    /// The platforms of a study whose boxes cannot be pinned, where they are to be.
    fn unpinned_of(&self, study: &Study) -> Option<Unpinned> {
        let is_pinned = |kind: &BoxKind| kind.provisioning == Provisioning::Pinned;
        if !study.box_kinds().iter().any(is_pinned) {
            return None;
        }
        let without = |path: &PlatformPath| Some((path.clone(), self.unpinned(path)?));
        let (platforms, reasons): (Vec<PlatformPath>, Vec<&str>) =
            study.platforms.iter().filter_map(without).unzip();
        let why = (*reasons.first()?).to_owned();
        Some(Unpinned { platforms, why })
    }

    /// The platforms whose boxes cannot run a workload, by the reason.
    fn barred_of(&self, study: &Study, workload: &Workload) -> Vec<Barred> {
        let mut by_reason: BTreeMap<&str, Vec<PlatformPath>> = BTreeMap::new();
        for path in &study.platforms {
            if let Some(why) = self.barrier(path, workload) {
                by_reason.entry(why).or_default().push(path.clone());
            }
        }
        let barred = by_reason.into_iter().map(|(why, platforms)| Barred {
            workload: workload.name().to_owned(),
            platforms,
            why: why.to_owned(),
        });
        barred.collect()
    }

    pub(crate) fn get(&mut self, path: &PlatformPath) -> Option<&mut dyn Platform> {
        self.open
            .get_mut(path)
            .map(|(platform, _)| &mut **platform as &mut dyn Platform)
    }
}

/// Why boxes of another architecture do not run a workload.
const OTHER_CPUS: &str = "its program is for this host's CPUs; choose a built-in kernel ('tare workloads'), or omit the option arch";
const OTHER_ISA: &str =
    "its CPUs have no such level of instructions; choose --isa baseline, or omit the option arch";
/// Why a user's boxes cannot talk to the host or to one another.
const INWARD_ONLY: &str = "an ordinary user's boxes reach neither the host nor one another by pasta or slirp4netns; choose network=host, or a workload with one server, in the box";

/// Why the two ends of a workload cannot talk to one another by this network, and what to do.
fn apart(network: Network, workload: &Workload) -> Option<&'static str> {
    let is_udp = workload.kernel().is_some_and(|spec| spec.kernel == Kernel::UdpRr);
    let serves = workload.servers().any(|role| role.place == Place::Tested);
    match network {
        Network::None => Some(
            "its boxes share no network with this host; add one with the option network, as in runc?network=bridge or docker?network=host (docs/platforms.md, Networks)",
        ),
        Network::Macvlan => {
            Some("the kernel keeps the host and a macvlan on it apart; choose network=bridge or network=host")
        }
        published_by if published_by.is_published() && is_udp && serves => {
            Some("the engine publishes TCP ports only; choose network=bridge")
        }
        published_by if published_by.is_published() && published(workload) > 1 => Some(
            "the engine publishes one port, and more than one of its servers is talked to from outside; choose network=bridge",
        ),
        Network::Pasta | Network::Slirp4netns if !serves => Some(INWARD_ONLY),
        Network::Published | Network::Pasta | Network::Slirp4netns | Network::Host | Network::Bridge => None,
    }
}

/// How many servers in the box are talked to from outside.
fn published(workload: &Workload) -> usize {
    let in_box = workload.servers().filter(|role| role.place == Place::Tested);
    in_box
        .filter(|server| addresses::talked_to_from(workload, server).contains(&Placement::Host))
        .count()
}

/// The header of a new results file.
pub fn header(study: &Study, platforms: &Platforms, output: &Path) -> Header {
    let mut facts = host::facts();
    let folder = std::path::absolute(output).ok();
    facts.storage = folder.and_then(|path| Mount::of(&path)).map(|mount| mount.kind);
    Header {
        schema: SCHEMA.to_owned(),
        tare: tare_model::VERSION.to_owned(),
        build: build_id::own().to_owned(),
        agent: Some(agent_file::build_id().to_owned()),
        study: study.clone(),
        host: facts,
        platforms: platforms.versions(),
        files: identity::files(study),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runner::testing;
    use tare_platforms::{BoxError, BoxSpec, RunningBox, Support};
    use tare_study::design::ProtocolOptions;

    /// A platform that makes no boxes, and why they could have no weight, or no CPUs of their own.
    #[derive(Default)]
    struct Weighing {
        weight: Option<&'static str>,
        pinning: Option<&'static str>,
    }

    impl Platform for Weighing {
        fn probe(&mut self) -> Result<PlatformVersion, Absent> {
            Ok(PlatformVersion::default())
        }

        fn launch(&mut self, _: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
            unreachable!("no box is made")
        }

        fn supports_weight(&self) -> Support {
            self.weight.map_or(Ok(()), Err)
        }

        fn supports_pinning(&self) -> Support {
            self.pinning.map_or(Ok(()), Err)
        }
    }

    fn weighed(platforms: &[(&str, Option<&'static str>)]) -> Platforms {
        let open = platforms.iter().map(|(path, why)| {
            opened(
                path,
                Weighing {
                    weight: *why,
                    ..Weighing::default()
                },
            )
        });
        Platforms::weighed(open.collect())
    }

    fn opened(path: &str, platform: Weighing) -> (PlatformPath, (Box<dyn Platform>, PlatformVersion)) {
        (
            path.parse().unwrap(),
            (Box::new(platform), PlatformVersion::default()),
        )
    }

    #[test]
    fn without_sets_of_cpus_vanilla_boxes_alone_are_made() {
        let mut study = testing::study(&["native", "podman"], &["syscall"], ProtocolOptions::default());
        let unpinned = |path| {
            opened(
                path,
                Weighing {
                    pinning: Some("no cpuset controller"),
                    ..Weighing::default()
                },
            )
        };
        let platforms = Platforms::weighed(["native", "podman"].map(unpinned).into());
        assert_eq!(platforms.foresee(&study).unpinned, None);
        study.provisioning = vec![Provisioning::Pinned, Provisioning::Vanilla];
        let foreseen = platforms.foresee(&study);
        let unpinned = foreseen.unpinned.as_ref().unwrap();
        assert_eq!(unpinned.platforms, study.platforms);
        foreseen.worth(&study).unwrap();
        study.provisioning = vec![Provisioning::Pinned];
        let refused = platforms.foresee(&study).worth(&study).unwrap_err();
        assert!(refused.to_string().contains("no cpuset controller"), "{refused}");
    }

    #[test]
    fn all_boxes_have_the_most_weight_or_none_has() {
        let told = |platforms: &Platforms| -> Vec<String> {
            let versions = platforms.versions().into_values();
            versions.map(|version| version.details[WEIGHT].clone()).collect()
        };
        let all = weighed(&[("native", None), ("docker", None)]);
        assert_eq!(
            (all.weight, told(&all)),
            (Weight::Most, vec!["most".to_owned(); 2])
        );
        let one_cannot = weighed(&[("native", None), ("libvirt", Some("one cgroup"))]);
        assert_eq!(one_cannot.weight, Weight::Usual);
        let told = told(&one_cannot);
        assert!(
            told.iter().all(|told| told == "usual (libvirt: one cgroup)"),
            "{told:?}"
        );
    }
}
