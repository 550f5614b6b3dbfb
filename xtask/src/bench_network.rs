//! `bench-network`: the network kernels against netperf and iperf3, over the loopback.
//!
//! All run on one CPU, client and server, in turns; the ratio of neighbours cancels what
//! the machine does meanwhile. A rival that is not installed is left out. netperf stands in
//! Debian's section non-free; PATH may name the folder that its package was unpacked to.

use super::{Served, bound, in_turn, is_installed, median, own_report, stdout_of};
use anyhow::{Context, Result};
use serde_json::Value;
use std::io::{self, Write};
use std::time::Duration;
use tare_model::kernel::{Isa, Kernel, KernelSpec};

/// How much to run.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds: each runs ours and the rival once, in turns first
    #[arg(long, default_value_t = 9)]
    rounds: u32,
    /// Seconds of each run
    #[arg(long, default_value_t = 1)]
    seconds: u32,
    /// CPU to run on
    #[arg(long, default_value_t = 0)]
    cpu: u32,
}

/// Ports of the loopback on which the rivals' servers listen.
const NETPERF_PORT: &str = "27865";
const IPERF_PORT: &str = "27866";

/// One comparison: a kernel with its size, and the rival's question.
struct Duel {
    kernel: Kernel,
    size: u64,
    rival: Rival,
}

#[derive(Clone, Copy)]
enum Rival {
    /// Of the netperf suite, this test.
    Netperf(&'static str),
    Iperf,
}

impl Rival {
    const fn program(self) -> &'static str {
        match self {
            Self::Netperf(_) => "netperf",
            Self::Iperf => "iperf3",
        }
    }
}

fn duels() -> Vec<Duel> {
    let one = |kernel, size, rival| Duel { kernel, size, rival };
    let mut all = vec![
        one(Kernel::TcpRr, 100, Rival::Netperf("TCP_RR")),
        one(Kernel::UdpRr, 100, Rival::Netperf("UDP_RR")),
        one(Kernel::TcpConnect, 0, Rival::Netperf("TCP_CRR")),
    ];
    for size in [64, 1024, 32 << 10] {
        all.push(one(Kernel::TcpStream, size, Rival::Netperf("TCP_STREAM")));
        all.push(one(Kernel::TcpStream, size, Rival::Iperf));
    }
    all
}

/// Compares and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let cpu = options.cpu.to_string();
    let _netserver = Served::start(
        &cpu,
        &["netserver", "-D", "-4", "-L", "127.0.0.1", "-p", NETPERF_PORT],
    );
    let _iperf = Served::start(&cpu, &["iperf3", "-s", "-B", "127.0.0.1", "-p", IPERF_PORT]);
    // Both listen after some milliseconds.
    std::thread::sleep(Duration::from_secs(1));
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<12} {:>6} {:<18} {:>16} {:>16} {:>6}",
        "kernel", "size", "rival", "ours", "rival's", "speed"
    )?;
    for duel in duels() {
        if !is_installed(duel.rival.program()) {
            writeln!(
                out,
                "{:<12} {:>6} {} is not installed",
                duel.kernel,
                duel.size,
                duel.rival.program()
            )?;
            continue;
        }
        writeln!(out, "{}", duel.fought(options, &cpu)?)?;
    }
    writeln!(
        out,
        "{} rounds of {} s; speed: median over rounds of ours / the rival's",
        options.rounds, options.seconds
    )?;
    Ok(())
}

impl Duel {
    /// The row of its table.
    fn fought(&self, options: &Options, cpu: &str) -> Result<String> {
        let (mut ours, mut theirs) = (Vec::new(), Vec::new());
        for round in 0..options.rounds {
            let (own, other) = in_turn(round, || self.ours(options, cpu), || self.theirs(options, cpu))?;
            ours.push(own);
            theirs.push(other);
        }
        let ratios = ours.iter().zip(&theirs).map(|(ours, theirs)| ours / theirs);
        let ratio = median(ratios.collect());
        let rival = match self.rival {
            Rival::Netperf(test) => format!("netperf {test}"),
            Rival::Iperf => "iperf3".to_owned(),
        };
        let unit = if self.kernel == Kernel::TcpStream {
            "MB"
        } else {
            "k"
        };
        let show = |speeds: Vec<f64>| {
            let scale = if unit == "MB" { 1e6 } else { 1e3 };
            format!("{:.2} {unit}/s", median(speeds) / scale)
        };
        let (kernel, size) = (self.kernel.name(), self.size);
        let (ours, theirs) = (show(ours), show(theirs));
        Ok(format!(
            "{kernel:<12} {size:>6} {rival:<18} {ours:>16} {theirs:>16} {ratio:>6.3}"
        ))
    }

    /// Our speed: round trips, connections or bytes per second.
    fn ours(&self, options: &Options, cpu: &str) -> Result<f64> {
        let spec = KernelSpec {
            kernel: self.kernel,
            isa: Isa::Baseline,
            threads: 1,
            size: self.size,
            seconds: options.seconds.into(),
        };
        let report = own_report(cpu, &spec)?;
        let latency = report.metrics.get("latency").map(|seconds| seconds.recip());
        latency
            .or_else(|| report.metrics.get("rate").copied())
            .context("no figure")
    }

    /// The rival's.
    fn theirs(&self, options: &Options, cpu: &str) -> Result<f64> {
        let (seconds, size) = (options.seconds.to_string(), self.size.to_string());
        match self.rival {
            Rival::Netperf(test) => {
                let pair = format!("{size},{size}");
                let question: &[&str] = match self.kernel {
                    Kernel::TcpStream => &["-m", &size],
                    Kernel::TcpConnect => &["-r", "1,8"],
                    _ => &["-r", &pair],
                };
                let mut words = vec!["netperf", "-H", "127.0.0.1", "-p", NETPERF_PORT, "-t", test];
                words.extend(["-l", &seconds, "-P", "0", "--", "-k", "THROUGHPUT"]);
                words.extend(question);
                let text = stdout_of(&mut bound(cpu, &words))?;
                let figure = text.trim().strip_prefix("THROUGHPUT=").context("no THROUGHPUT")?;
                // A stream is told in millions of bits.
                let is_stream = self.kernel == Kernel::TcpStream;
                Ok(figure.parse::<f64>()? * if is_stream { 1e6 / 8.0 } else { 1.0 })
            }
            Rival::Iperf => {
                let to = ["iperf3", "-c", "127.0.0.1", "-p", IPERF_PORT, "-J"];
                let words = [&to[..], &["-t", &seconds, "-l", &size]].concat();
                let text = stdout_of(&mut bound(cpu, &words))?;
                let told: Value = serde_json::from_str(&text)?;
                let bits = told["end"]["sum_received"]["bits_per_second"].as_f64();
                Ok(bits.context("no bits_per_second")? / 8.0)
            }
        }
    }
}
