//! Idle boxes: how they start cold and warm, and what memory each further one takes.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use tare_host::cgroup::Weight;
use tare_host::{footprint, host, interrupt};
use tare_model::density::{IdleBox, PlatformDensity, Start};
use tare_model::platform::{PlatformPath, Provisioning};
use tare_model::results::PlatformVersion;
use tare_model::size::InstanceType;
use tare_platforms::state::Run;
use tare_platforms::{Architecture, BoxError, BoxSpec, OpenError, Platform, RunningBox};

/// Time between a hello and the reading of memory: engines tidy up after a start,
/// and the kernel's counters of each CPU are gathered once a second.
const REST: Duration = Duration::from_millis(1100);

/// No further box is made when less of the host's memory than this is left: what
/// is beyond is extrapolated, not tried.
const KEPT_FREE: f64 = 0.1;

/// A line with an interval needs as many boxes.
const ENOUGH: usize = 3;

/// What is to be measured.
pub struct Order<'a> {
    /// The run that all boxes belong to.
    pub run: &'a Run,
    /// The state folder.
    pub state: PathBuf,
    /// The agent's file, of which each box has a copy of its own.
    pub agent: PathBuf,
    /// Limits of every box.
    pub limits: InstanceType,
    /// Cold starts, and as many warm ones.
    pub starts: u32,
    /// Idle boxes that live at once.
    pub boxes: u32,
}

/// Why a platform was not measured.
#[derive(Debug, thiserror::Error)]
pub enum DensityError {
    /// Its path.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// A box could not be made.
    #[error("platform '{platform}': cannot create a box: {source}; 'tare doctor' shows what is missing")]
    Launch {
        platform: PlatformPath,
        source: BoxError,
    },
    /// A box could not be removed.
    #[error("box {name} could not be removed: {source}; retry with 'tare clean'")]
    Left {
        /// The box.
        name: String,
        source: BoxError,
    },
    /// Boxes whose processes are on another host.
    #[error("platform '{0}': the memory of its boxes cannot be read from here: run tare on their host")]
    Elsewhere(PlatformPath),
    /// Too few boxes for a line.
    #[error(
        "platform '{platform}': only {made} of at least 3 boxes could be created, {why}: free memory, or reduce --memory"
    )]
    TooFew {
        platform: PlatformPath,
        /// Boxes made.
        made: usize,
        /// Why no more.
        why: String,
    },
    /// The host's counters.
    #[error("cannot read the available memory: {0}")]
    Host(io::Error),
    /// The user asked to stop.
    #[error("stopped by the user")]
    Interrupted,
}

/// Boxes of one platform, of which none outlives this.
struct IdleBoxes<'a> {
    order: &'a Order<'a>,
    path: &'a PlatformPath,
    platform: Box<dyn Platform>,
    named: u32,
}

/// A box with its name.
struct Named {
    name: String,
    running: Box<dyn RunningBox>,
}

/// Measures a platform, whose version was found before; tells what it does.
///
/// # Errors
/// [`DensityError`]; no box is left.
pub fn measure(
    order: &Order<'_>,
    path: &PlatformPath,
    version: PlatformVersion,
    say: &mut dyn FnMut(&str),
) -> Result<PlatformDensity, DensityError> {
    let mut site = IdleBoxes {
        order,
        path,
        platform: tare_platforms::open(path, &order.state)?,
        named: 0,
    };
    // The first box makes what an engine keeps, an image for example: it is neither cold nor warm.
    say("the first box");
    let first = site.launch()?;
    let is_elsewhere = first.running.marks().is_empty();
    remove(order.run, first)?;
    if is_elsewhere {
        return Err(DensityError::Elsewhere(path.clone()));
    }
    let (starts, no_cold) = site.starts(say)?;
    let available_bytes = host::available_bytes().map_err(DensityError::Host)?;
    let mut held = Vec::new();
    let measured = site.crowd(&mut held, say);
    say("removing the boxes");
    // Also after an error: those that can be removed are, and the first that cannot is told.
    let removed: Vec<_> = held.into_iter().map(|made| remove(order.run, made)).collect();
    removed.into_iter().collect::<Result<Vec<f64>, _>>()?;
    let crowd = measured?;
    Ok(PlatformDensity {
        platform: path.clone(),
        version,
        starts,
        no_cold,
        available_bytes,
        boxes: crowd.boxes,
        disk_bytes: crowd.disk_bytes,
        stopped: crowd.stopped,
    })
}

/// What was seen of idle boxes.
struct Crowd {
    boxes: Vec<IdleBox>,
    disk_bytes: u64,
    stopped: Option<String>,
}

impl IdleBoxes<'_> {
    fn launch(&mut self) -> Result<Named, DensityError> {
        if interrupt::requested() {
            return Err(DensityError::Interrupted);
        }
        self.named += 1;
        let run = self.order.run;
        let spec = BoxSpec {
            name: format!("{}-{}", run.name(), self.named),
            run: run.name().to_owned(),
            hostname: BoxSpec::HOSTNAME.to_owned(),
            instance: self.order.limits,
            provisioning: Provisioning::Vanilla,
            pinned_set: Vec::new(),
            host_set: Vec::new(),
            weight: Weight::Usual,
            scratch: self.folder(),
            binary: self.order.agent.clone(),
            architecture: Architecture::HERE,
            holds_boxes: false,
            image: None,
        };
        let spec = spec.on(self.platform.architecture());
        let made = self.platform.launch(&spec).map_err(|source| {
            if source.is_interruption() {
                return DensityError::Interrupted;
            }
            let platform = self.path.clone();
            DensityError::Launch { platform, source }
        });
        Ok(Named {
            name: spec.name,
            running: made?,
        })
    }

    /// Where the boxes' files are.
    fn folder(&self) -> PathBuf {
        self.order.run.folder().to_owned()
    }

    /// Boxes one after another, cold and warm in turns; why there are no cold ones.
    fn starts(&mut self, say: &mut dyn FnMut(&str)) -> Result<(Vec<Start>, Option<String>), DensityError> {
        let mut starts = Vec::new();
        let mut no_cold = None;
        for round in 1..=self.order.starts {
            for cold in [true, false] {
                if cold && no_cold.is_some() {
                    continue;
                }
                let kind = if cold { "cold" } else { "warm" };
                say(&format!("{kind} start {round} of {}", self.order.starts));
                if cold && let Err(error) = tare_host::kernel::drop_caches() {
                    no_cold = Some(error.to_string());
                    continue;
                }
                let made = self.launch()?;
                let hello_seconds = made.running.hello_after().as_secs_f64();
                starts.push(Start {
                    cold,
                    hello_seconds,
                    removed_seconds: remove(self.order.run, made)?,
                });
            }
        }
        Ok((starts, no_cold))
    }

    /// Idle boxes beside one another, put into `held`.
    fn crowd(&mut self, held: &mut Vec<Named>, say: &mut dyn FnMut(&str)) -> Result<Crowd, DensityError> {
        let mut crowd = Crowd {
            boxes: Vec::new(),
            disk_bytes: 0,
            stopped: None,
        };
        let mut marks = Vec::new();
        while held.len() < self.order.boxes as usize {
            if let Some(why) = scarce()? {
                crowd.stopped = Some(why);
                break;
            }
            say(&format!("idle box {} of {}", held.len() + 1, self.order.boxes));
            let made = match self.launch() {
                Err(DensityError::Launch { source, .. }) if held.len() >= ENOUGH => {
                    crowd.stopped = Some(format!("another box could not be created: {source}"));
                    break;
                }
                made => made?,
            };
            marks.extend(made.running.marks());
            let hello_seconds = made.running.hello_after().as_secs_f64();
            held.push(made);
            rest()?;
            let seen = footprint::footprint(&marks, &self.folder());
            crowd.disk_bytes = seen.disk_bytes;
            crowd.boxes.push(IdleBox {
                hello_seconds,
                processes: seen.processes,
                pss_bytes: seen.memory_bytes,
                available_bytes: host::available_bytes().map_err(DensityError::Host)?,
            });
        }
        match &crowd.stopped {
            Some(why) if held.len() < ENOUGH => Err(DensityError::TooFew {
                platform: self.path.clone(),
                made: held.len(),
                why: why.clone(),
            }),
            _ => Ok(crowd),
        }
    }
}

/// Removes a box; the seconds that it took.
fn remove(run: &Run, mut made: Named) -> Result<f64, DensityError> {
    let begun = Instant::now();
    let name = made.name;
    made.running.destroy().map_err(|source| {
        run.leave_for_sweep();
        DensityError::Left { name, source }
    })?;
    Ok(begun.elapsed().as_secs_f64())
}

/// Why no further box is to be made.
#[expect(clippy::cast_precision_loss, reason = "a share of the memory")]
fn scarce() -> Result<Option<String>, DensityError> {
    let available = host::available_bytes().map_err(DensityError::Host)?;
    let total = host::facts().memory_bytes;
    let scarce = (available as f64) < KEPT_FREE * total as f64;
    Ok(scarce.then(|| "less than a tenth of the host's memory was left".to_owned()))
}

fn rest() -> Result<(), DensityError> {
    let deadline = Instant::now() + REST;
    while let Some(left) = deadline.checked_duration_since(Instant::now()) {
        let slice = interrupt::next_slice(deadline);
        if slice
            .as_ref()
            .is_err_and(|e| e.kind() == io::ErrorKind::Interrupted)
        {
            return Err(DensityError::Interrupted);
        }
        std::thread::sleep(slice.unwrap_or(left));
    }
    Ok(())
}
