//! The test bed: scripted costs, failures and hangs, without privileges and
//! without taking time.
//!
//! `fake?cost=1.1&sd=0.02&fail=kernel&every=3`: see [`Fake`] for the options.

mod gate;

use super::contract::{
    Absent, BoxError, BoxSpec, Capabilities, Platform, RunningBox, Seccomp, Security, Support,
};
use super::options::Options;
use super::security::Offer;
use crate::link::{Link, LinkError, Stream};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tare_host::cgroup::Meter;
use tare_host::net::Network;
use tare_model::frame::{Decoder, Head, Kind, encode};
use tare_model::host::BoxFacts;
use tare_model::kernel::{BurnReport, Check, Kernel, KernelReport, KernelSpec, ProofSpec, TouchReport};
use tare_model::metric::Direction;
use tare_model::protocol::{Counters, ErrorCode, ExitStatus, Exited, Reply, Request, VERSION};
use tare_model::results::{PlatformVersion, ProcessUsage};
use tare_model::time::nanoseconds;

/// Stretches that a kernel times.
const STRETCHES: usize = 20;

/// Its filter of system calls, if one is scripted.
const SECURITY: Offer = Offer {
    seccomp: &[Seccomp::Default, Seccomp::Off],
    capabilities: &[],
    userns: false,
    pidns: false,
};

/// Options of the platform.
#[derive(Debug, Clone)]
pub(super) struct Fake {
    /// Cost against a `fake` without options: 1.1 is a tenth slower (`cost`).
    cost: f64,
    /// What a filter of system calls adds to that (`filter`), unless it is off (`seccomp=off`), and a network of its own
    /// (`link`), unless it has the host's (`network=host`).
    filter: Option<f64>,
    link: f64,
    seccomp: Seccomp,
    network: Network,
    /// Standard deviation of the log of every figure (`sd`).
    sd: f64,
    /// Standard deviation of the log of what each box costs (`box`), and of each stretch
    /// that a kernel times (`stretch`).
    box_sd: f64,
    stretch_sd: f64,
    /// What fails (`fail`), each time or every so many times (`every`), and of what
    /// runs in slices, in which phase (`at`).
    fail: Option<Fail>,
    every: u32,
    at: Phase,
    /// The first slice and every so many-th after it take five times as long (`stall`); 0: none.
    stall: u64,
    /// CPU used over the CPU granted (`overrun`): above 1.02 the limits are not proven.
    overrun: f64,
    /// Seconds that the box's clock counts per second (`clock`).
    clock: f64,
    /// Real milliseconds that a trial takes (`ms`).
    ms: u64,
    /// What a command tells of its time over what it really takes (`lie`); where nothing is
    /// said its time is made up and nobody holds it against a clock.
    lie: Option<f64>,
    /// Seed of the noise (`seed`).
    seed: u64,
    boxes: u64,
    uses: u32,
}

/// What can be scripted to fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fail {
    /// No engine.
    Probe,
    /// The box is not made.
    Launch,
    /// The agent never answers its greeting.
    Hello,
    /// The agent never answers a kernel or command.
    Hang,
    /// The agent answers a kernel or command only when it is asked for something else.
    Late,
    /// The link ends in the middle of a kernel or command.
    Link,
    /// The workload is killed by a signal.
    Kill,
    /// The workload ends with status 1.
    Exit,
    /// The known answer is wrong.
    Answer,
    /// The report is no JSON.
    Report,
    /// A slice tells of no work.
    Number,
    /// The agent refuses with a text of a megabyte.
    Flood,
}

/// A phase of what runs in slices.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Being set up.
    Start,
    /// The first slices, by which the amount of work is found.
    First,
    /// Later slices.
    Slice,
    /// Being ended.
    Stop,
}

impl Phase {
    const ALL: [Self; 4] = [Self::Start, Self::First, Self::Slice, Self::Stop];

    const fn name(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::First => "first",
            Self::Slice => "slice",
            Self::Stop => "stop",
        }
    }
}

impl Fail {
    const ALL: [Self; 12] = [
        Self::Probe,
        Self::Launch,
        Self::Hello,
        Self::Hang,
        Self::Late,
        Self::Link,
        Self::Kill,
        Self::Exit,
        Self::Answer,
        Self::Report,
        Self::Number,
        Self::Flood,
    ];

    const fn name(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Launch => "launch",
            Self::Hello => "hello",
            Self::Hang => "hang",
            Self::Late => "late",
            Self::Link => "link",
            Self::Kill => "kill",
            Self::Exit => "exit",
            Self::Answer => "answer",
            Self::Report => "report",
            Self::Number => "number",
            Self::Flood => "flood",
        }
    }
}

impl Fake {
    pub(super) fn open(mut options: Options) -> Result<Self, String> {
        let link: Option<f64> = options.take("link")?;
        let networks: &[Network] = if link.is_some() {
            &[Network::None, Network::Host]
        } else {
            &[Network::None]
        };
        let fake = Self {
            cost: options.take("cost")?.unwrap_or(1.0),
            filter: options.take("filter")?,
            link: link.unwrap_or(0.0),
            seccomp: Security::take(&mut options, &SECURITY)?.seccomp,
            network: options.take_network(networks)?,
            sd: options.take("sd")?.unwrap_or(0.01),
            box_sd: options.take("box")?.unwrap_or(0.0),
            stretch_sd: options.take("stretch")?.unwrap_or(0.0),
            fail: options.choose("fail", &Fail::ALL, Fail::name)?,
            every: options.take("every")?.unwrap_or(1),
            at: options
                .choose("at", &Phase::ALL, Phase::name)?
                .unwrap_or(Phase::Slice),
            stall: options.take("stall")?.unwrap_or(0),
            overrun: options.take("overrun")?.unwrap_or(1.0),
            clock: options.take("clock")?.unwrap_or(1.0),
            ms: options.take("ms")?.unwrap_or(0),
            lie: options.take("lie")?,
            seed: options.take("seed")?.unwrap_or(0),
            boxes: 0,
            uses: 0,
        };
        options.none()?;
        let sound = |x: f64| x.is_finite() && x >= 0.0;
        if !(fake.filter.is_none_or(sound) && sound(fake.link)) {
            return Err("filter and link must not be negative".to_owned());
        }
        let spreads = [fake.sd, fake.box_sd, fake.stretch_sd, fake.overrun];
        if !(sound(fake.cost) && fake.cost > 0.0 && spreads.into_iter().all(sound) && fake.every > 0) {
            return Err(
                "cost and every must be positive, sd, box, stretch and overrun not negative".to_owned(),
            );
        }
        if !(sound(fake.clock) && fake.clock > 0.0) {
            return Err("clock must be positive".to_owned());
        }
        if !fake.lie.is_none_or(|lie| (1e-4..=1.0).contains(&lie)) {
            return Err("lie must be from 0.0001 to 1".to_owned());
        }
        Ok(fake)
    }

    /// With what its mechanisms add.
    fn cost_of_box(&self) -> f64 {
        let filter = self
            .filter
            .filter(|_| self.seccomp != Seccomp::Off)
            .unwrap_or(0.0);
        let link = if self.network == Network::Host {
            0.0
        } else {
            self.link
        };
        self.cost + filter + link
    }

    /// `None` if this is a time at which no answer comes.
    fn breaks(&mut self) -> Option<()> {
        (!self.fails(Fail::Hang) && !self.fails(Fail::Link)).then_some(())
    }

    /// How a workload ends if this is a time at which one does not end well.
    fn ends(&mut self) -> Option<ExitStatus> {
        let killed = self.fails(Fail::Kill).then_some(ExitStatus::Signal(9));
        killed.or_else(|| self.fails(Fail::Exit).then_some(ExitStatus::Code(1)))
    }

    /// Takes the real time of work that is told to have taken so long.
    fn really_take(&self, told_ns: u64) {
        if let Some(lie) = self.lie {
            std::thread::sleep(Duration::from_nanos(told_ns).div_f64(lie));
        }
    }

    /// Whether this is a time at which `what` fails.
    fn fails(&mut self, what: Fail) -> bool {
        if self.fail != Some(what) {
            return false;
        }
        self.uses += 1;
        self.uses.is_multiple_of(self.every)
    }
}

impl Platform for Fake {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        if self.fails(Fail::Probe) {
            return Err(Absent::new("scripted to be absent", "omit fail=probe"));
        }
        Ok(PlatformVersion {
            version: "fake 1".to_owned(),
            ..PlatformVersion::default()
        })
    }

    fn security(&self) -> Option<Security> {
        self.filter.map(|_| Security {
            seccomp: self.seccomp,
            capabilities: Capabilities::Default,
            userns: None,
            pidns: None,
        })
    }

    fn network(&self) -> Network {
        self.network
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        if self.fails(Fail::Launch) {
            return Err(BoxError::Engine {
                engine: "fake",
                message: "scripted to fail at launch".to_owned(),
            });
        }
        self.boxes += 1;
        let mut script = self.clone();
        script.uses = 0;
        // A new box has new noise, the same in every run of the same script.
        let noise = ChaCha8Rng::seed_from_u64(self.seed ^ (self.boxes << 32));
        // A stream of its own: other figures do not hang on whether boxes differ.
        let mut of_box = noise.clone();
        of_box.set_stream(1);
        script.cost = self.cost_of_box() * factor(&mut of_box, self.box_sd);
        let cpus = spec.instance.cpus.as_f64();
        let agent = FakeAgent {
            script,
            noise,
            stretches: of_box,
            cpus,
            memory: spec.instance.memory_bytes,
            decoder: Decoder::default(),
            booted: Instant::now(),
            processes: BTreeMap::new(),
            is_late: false,
            kept_back: Vec::new(),
        };
        let frozen = Arc::new(AtomicBool::new(false));
        let stream = FakeStream {
            agent,
            outgoing: Vec::new(),
            frozen: Arc::clone(&frozen),
            silent: self.fails(Fail::Hello),
            ended: false,
        };
        let mut link = Link::new(stream);
        let hello = link.hello(super::agent_file::build_id(), None, Duration::from_millis(200));
        hello.map_err(|source: LinkError| BoxError::NoHello {
            source,
            console: String::new(),
        })?;
        let keeps_time = self.lie.is_some();
        Ok(Box::new(FakeBox {
            link,
            frozen,
            keeps_time,
        }))
    }

    fn supports_weight(&self) -> Support {
        Err("it makes no cgroup")
    }

    fn is_in_own_cgroup(&self) -> bool {
        false
    }

    fn sweep(&mut self, _: &str) -> Result<Vec<String>, BoxError> {
        Ok(Vec::new())
    }
}

struct FakeBox {
    link: Link,
    frozen: Arc<AtomicBool>,
    keeps_time: bool,
}

impl RunningBox for FakeBox {
    fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    fn hello_after(&self) -> Duration {
        Duration::from_millis(1)
    }

    fn marks(&self) -> Vec<String> {
        Vec::new()
    }

    fn meter(&self) -> Option<Meter> {
        None
    }

    fn keeps_time(&self) -> bool {
        self.keeps_time
    }

    fn freeze(&mut self) -> Result<(), BoxError> {
        self.frozen.store(true, Ordering::Relaxed);
        Ok(())
    }

    fn thaw(&mut self) -> Result<(), BoxError> {
        self.frozen.store(false, Ordering::Relaxed);
        Ok(())
    }

    fn destroy(&mut self) -> Result<(), BoxError> {
        Ok(())
    }
}

/// A stream whose other end is computed on the spot.
struct FakeStream {
    agent: FakeAgent,
    outgoing: Vec<u8>,
    /// Whether the box is frozen: what is asked meanwhile has no answer.
    frozen: Arc<AtomicBool>,
    silent: bool,
    ended: bool,
}

impl Stream for FakeStream {
    fn send(&mut self, bytes: &[u8], _: Instant) -> io::Result<()> {
        if self.frozen.load(Ordering::Relaxed) {
            self.silent = true;
            return Ok(());
        }
        match self.agent.answer(bytes) {
            Some(answer) => self.outgoing.extend(answer),
            None if self.agent.script.fail == Some(Fail::Link) => self.ended = true,
            None => self.silent = true,
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut Vec<u8>, _: Instant) -> io::Result<usize> {
        if self.ended {
            return Ok(0);
        }
        // What will not come need not be waited for.
        if self.silent || self.outgoing.is_empty() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        let n = self.outgoing.len();
        buffer.append(&mut self.outgoing);
        Ok(n)
    }
}

struct FakeAgent {
    script: Fake,
    noise: ChaCha8Rng,
    stretches: ChaCha8Rng,
    cpus: f64,
    memory: u64,
    decoder: Decoder,
    booted: Instant,
    processes: BTreeMap<u16, gate::Process>,
    /// Whether the answer that is being made up comes late.
    is_late: bool,
    /// An answer that comes late.
    kept_back: Vec<u8>,
}

/// Standard output and reply.
type Answer = (Vec<u8>, Reply);

impl FakeAgent {
    /// The bytes that answer these bytes; `None` for silence.
    fn answer(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        self.decoder.feed(bytes);
        let mut out = std::mem::take(&mut self.kept_back);
        while let Ok(Some(frame)) = self.decoder.next_frame() {
            if frame.head.kind != Kind::Request {
                continue;
            }
            let (stdout, reply) = match serde_json::from_slice(&frame.payload) {
                Ok(request) => self.carry_out(&request)?,
                Err(e) => (
                    Vec::new(),
                    Reply::Error {
                        code: ErrorCode::BadRequest,
                        message: e.to_string(),
                    },
                ),
            };
            let target = match std::mem::take(&mut self.is_late) {
                true => &mut self.kept_back,
                false => &mut out,
            };
            let number = frame.head.number;
            if !stdout.is_empty() {
                encode(Head::of(Kind::Stdout, number), &stdout, target);
            }
            let reply = serde_json::to_vec(&reply).unwrap_or_default();
            encode(Head::of(Kind::Reply, number), &reply, target);
        }
        Some(out)
    }

    fn carry_out(&mut self, request: &Request) -> Option<Answer> {
        let build = super::agent_file::build_id().to_owned();
        let plain = |reply| Some((Vec::new(), reply));
        match request {
            Request::Hello { .. } => plain(Reply::Hello {
                protocol: VERSION,
                build,
                pid: 1,
            }),
            Request::Facts => plain(Reply::Facts(self.facts())),
            Request::Counters => plain(Reply::Counters(self.counters())),
            Request::Killed => plain(Reply::Killed {
                processes: Vec::new(),
            }),
            Request::Kernel { spec, .. } => self.workload(|agent| agent.kernel(spec)),
            Request::Command(_) => self.workload(Self::command),
            Request::Proof { spec, .. } => Some(self.proof(spec)),
            Request::ReadFile { .. } => plain(Reply::FileRead { bytes: 0 }),
            Request::WriteFile { .. } | Request::TakeFile { .. } => plain(Reply::FileWritten),
            Request::SetClock { .. } => plain(Reply::ClockSet),
            Request::DropCaches => plain(Reply::CachesDropped),
            Request::Start { process, task, .. } => self.start(*process, task),
            Request::Go { process, order } => self.go(*process, *order),
            Request::Stop { process } => self.stop(*process),
            Request::Look { .. } => plain(Reply::Serves { port: None }),
            Request::Launch { .. }
            | Request::Freeze { .. }
            | Request::Thaw { .. }
            | Request::OfferLine
            | Request::TakeLine { .. } => plain(Reply::Error {
                code: ErrorCode::Unsupported,
                message: "nothing real runs in a fake box".to_owned(),
            }),
            Request::Quit => plain(Reply::Bye),
        }
    }

    fn counters(&self) -> Counters {
        let seconds = self.booted.elapsed().mul_f64(self.script.clock);
        Counters {
            monotonic_ns: nanoseconds(seconds),
            ..Counters::default()
        }
    }

    fn facts(&self) -> BoxFacts {
        BoxFacts {
            kernel: "fake".to_owned(),
            memory_bytes: self.memory,
            ..BoxFacts::default()
        }
    }

    fn workload(&mut self, run: impl FnOnce(&mut Self) -> Answer) -> Option<Answer> {
        std::thread::sleep(Duration::from_millis(self.script.ms));
        self.script.breaks()?;
        self.is_late = self.script.fails(Fail::Late);
        if self.script.fails(Fail::Flood) {
            return Some(flood());
        }
        Some(match self.script.ends() {
            Some(status) => (Vec::new(), Reply::Exited(exited(status, 0, Vec::new()))),
            None => run(self),
        })
    }

    fn noise(&mut self) -> f64 {
        factor(&mut self.noise, self.script.sd)
    }

    /// The stretches of a kernel whose work took so long.
    fn stretches(&mut self, seconds: f64) -> Vec<f64> {
        let sd = self.script.stretch_sd;
        (0..STRETCHES)
            .map(|_| seconds * factor(&mut self.stretches, sd))
            .collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "no kernel has 2^52 iterations")]
    fn kernel(&mut self, spec: &KernelSpec) -> Answer {
        let mut metrics = BTreeMap::new();
        let mut slower = 1.0;
        for metric in spec.kernel.metrics() {
            slower = self.script.cost * self.noise();
            let value = match metric.direction {
                Direction::Higher => 1e9 / slower,
                // A fixed amount of work takes longer the more it is.
                Direction::Lower if spec.kernel == Kernel::Integer => 1e-9 * spec.size as f64 * slower,
                Direction::Lower => 1e-6 * slower,
            };
            metrics.insert(metric.name, value);
        }
        let stretches = self.stretches(slower);
        (
            self.report(spec, metrics, stretches),
            Reply::Exited(exited(ExitStatus::Code(0), 1_000_000, Vec::new())),
        )
    }

    /// A kernel's report as it prints it.
    fn report(&mut self, spec: &KernelSpec, metrics: BTreeMap<String, f64>, stretches: Vec<f64>) -> Vec<u8> {
        let wrong = self.script.fails(Fail::Answer);
        let report = KernelReport {
            spec: spec.clone(),
            metrics,
            raw_seconds: BTreeMap::from([("stretch".to_owned(), stretches)]),
            work_per_stretch: BTreeMap::from([("stretch".to_owned(), 1.0)]),
            wall_seconds: spec.seconds,
            units_done: 1.0,
            check: Check {
                what: "scripted".to_owned(),
                found: if wrong { 1.0 } else { 0.0 },
                bound: 0.5,
            },
            disk: None,
        };
        if self.script.fails(Fail::Report) {
            return b"no report".to_vec();
        }
        serde_json::to_vec(&report).unwrap_or_default()
    }

    fn command(&mut self) -> Answer {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "about a million"
        )]
        let wall_ns = (1e6 * self.script.cost * self.noise()) as u64;
        self.script.really_take(wall_ns);
        (
            Vec::new(),
            Reply::Exited(exited(ExitStatus::Code(0), wall_ns, vec![used(wall_ns)])),
        )
    }

    fn proof(&mut self, spec: &ProofSpec) -> Answer {
        let (status, report) = match *spec {
            ProofSpec::Burn { seconds, .. } => {
                let cores = self.cpus * self.script.overrun;
                let report = BurnReport {
                    cpu_seconds: cores * seconds,
                    wall_seconds: seconds,
                    edges: 10,
                    cores_between_edges: Some(cores),
                    allowed_cpus: Vec::new(),
                };
                (ExitStatus::Code(0), serde_json::to_vec(&report))
            }
            ProofSpec::Touch { bytes } if bytes < self.memory => (
                ExitStatus::Code(0),
                serde_json::to_vec(&TouchReport { touched_bytes: bytes }),
            ),
            ProofSpec::Touch { .. } => (ExitStatus::Signal(9), Ok(Vec::new())),
        };
        (
            report.unwrap_or_default(),
            Reply::Exited(exited(status, 1_000_000, Vec::new())),
        )
    }
}

/// A refusal as long as a frame can be.
fn flood() -> Answer {
    let reply = Reply::Error {
        code: ErrorCode::BadRequest,
        message: "x".repeat(1_000_000),
    };
    (Vec::new(), reply)
}

/// A factor whose log has mean 0 and this standard deviation.
fn factor(noise: &mut ChaCha8Rng, sd: f64) -> f64 {
    // The sum of twelve uniforms is normal enough for a test bed.
    let sum: f64 = (0..12).map(|_| noise.random::<f64>()).sum();
    (sd * (sum - 6.0)).exp()
}

fn used(wall_ns: u64) -> ProcessUsage {
    ProcessUsage {
        wall_ns,
        user_ns: wall_ns / 2,
        system_ns: wall_ns / 4,
        max_rss_bytes: 1 << 20,
        major_faults: Some(0),
        ..ProcessUsage::default()
    }
}

fn exited(status: ExitStatus, wall_ns: u64, repetitions: Vec<ProcessUsage>) -> Exited {
    Exited {
        status,
        usage: used(wall_ns),
        repetitions,
        stdout_lost_bytes: 0,
        stderr_lost_bytes: 0,
        left_running: 0,
    }
}
