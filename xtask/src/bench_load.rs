//! `bench-load`: tare's own client against wrk and redis-benchmark, over the loopback.
//!
//! Servers are on one CPU and clients on another, in turns; the ratio of neighbours cancels what
//! the machine does meanwhile. What is not installed is left out.

use super::{Served, agent_bin, bound, in_turn, is_installed, median, stdout_of};
use anyhow::{Context, Result};
use std::io::{self, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;
use tare_model::gate::Slice;
use tare_model::load::{Asked, LoadSpec};

/// How much to run.
#[derive(clap::Args)]
pub struct Options {
    /// Rounds: each runs ours and the rival once, in turns first
    #[arg(long, default_value_t = 7)]
    rounds: u32,
    /// The CPU of the servers
    #[arg(long, default_value_t = 1)]
    servers: u32,
    /// The CPU of the clients
    #[arg(long, default_value_t = 0)]
    clients: u32,
}

const NGINX_PORT: u16 = 27867;
const REDIS_PORT: u16 = 27868;
/// Length of a rival's run, and of ours as far as is known before.
const SECONDS: f64 = 2.0;
/// The share of wrk's rate at which the open loop asks.
const OPEN: f64 = 0.9;

/// What a client did: requests per second, and the share of its CPU that it used.
struct Done {
    rate: f64,
    cpu: f64,
}

/// Compares and prints a table.
pub fn run(options: &Options) -> Result<()> {
    let folder = tempfile::tempdir()?;
    let _nginx = nginx(options, folder.path())?;
    let port = REDIS_PORT.to_string();
    let redis = [
        "redis-server",
        "--bind",
        "127.0.0.1",
        "--port",
        &port,
        "--save",
        "",
        "--appendonly",
        "no",
    ];
    let _redis = Served::start(&options.servers.to_string(), &redis);
    // Both listen after some milliseconds.
    std::thread::sleep(Duration::from_secs(1));
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{:<34} {:>12} {:>12} {:>6} {:>8}",
        "load", "ours", "rival's", "speed", "our CPU"
    )?;
    if is_installed("wrk") && is_installed("nginx") {
        for connections in [8, 64] {
            writeln!(out, "{}", web(options, connections)?)?;
            writeln!(out, "{}", open(options, connections)?)?;
        }
    } else {
        writeln!(out, "wrk or nginx is not installed")?;
    }
    if is_installed("redis-benchmark") && is_installed("redis-server") {
        for (connections, pipeline) in [(16, 1), (16, 16)] {
            writeln!(out, "{}", cache(options, connections, pipeline)?)?;
        }
    } else {
        writeln!(out, "redis-benchmark or redis-server is not installed")?;
    }
    writeln!(
        out,
        "{} rounds; speed: median over rounds of ours / the rival's, in an open loop of what was answered / {OPEN} of the rival's",
        options.rounds
    )?;
    Ok(())
}

/// A closed loop of a small file, against wrk.
fn web(options: &Options, connections: u32) -> Result<String> {
    let spec = spec(Asked::Http("/small".to_owned()), connections, 1, None);
    fought(
        options,
        &format!("closed, nginx, {connections} connections, wrk"),
        || ours(options, &spec, NGINX_PORT, 80_000),
        || wrk(options, connections),
    )
}

/// An open loop at a part of wrk's rate.
fn open(options: &Options, connections: u32) -> Result<String> {
    let rate = OPEN * median((0..3).map(|_| wrk(options, connections)).collect::<Result<_>>()?);
    let spec = spec(Asked::Http("/small".to_owned()), connections, 1, Some(rate));
    fought(
        options,
        &format!("open, nginx, {connections} connections"),
        || ours(options, &spec, NGINX_PORT, 80_000),
        || Ok(rate),
    )
}

/// SET of a Redis, against redis-benchmark.
fn cache(options: &Options, connections: u32, pipeline: u32) -> Result<String> {
    let words = ["SET", "key:__key__", "__value__"].map(str::to_owned).to_vec();
    let first = Vec::new();
    let spec = spec(Asked::Resp { words, first }, connections, pipeline, None);
    let requests = 200_000 * u64::from(pipeline).min(4);
    fought(
        options,
        &format!("closed, Redis, {connections} x {pipeline}, redis-benchmark"),
        || ours(options, &spec, REDIS_PORT, requests),
        || {
            let [port, c, p, n] = [
                REDIS_PORT.to_string(),
                connections.to_string(),
                pipeline.to_string(),
                requests.to_string(),
            ];
            let words = [
                "redis-benchmark",
                "-p",
                &port,
                "-t",
                "set",
                "-c",
                &c,
                "-P",
                &p,
                "-n",
                &n,
                "-d",
                "64",
            ];
            let words = [&words[..], &["-r", "10000", "--csv"]].concat();
            let told = stdout_of(&mut bound(&options.clients.to_string(), &words))?;
            let row = told.lines().find(|line| line.starts_with("\"SET\""));
            let rate = row
                .and_then(|row| row.split('"').nth(3))
                .context("no rate of SET")?;
            Ok(rate.parse()?)
        },
    )
}

/// A row of the table.
fn fought(
    options: &Options,
    name: &str,
    ours: impl Fn() -> Result<Done>,
    theirs: impl Fn() -> Result<f64>,
) -> Result<String> {
    let mut rows = Vec::new();
    for round in 0..options.rounds {
        rows.push(in_turn(round, &ours, &theirs)?);
    }
    let of = |figure: &dyn Fn(&(Done, f64)) -> f64| median(rows.iter().map(figure).collect());
    Ok(format!(
        "{name:<34} {:>10.1}/s {:>10.1}/s {:>6.3} {:>7.0}%",
        of(&|(ours, _)| ours.rate),
        of(&|(_, theirs)| *theirs),
        of(&|(ours, theirs)| ours.rate / theirs),
        of(&|(ours, _)| 100.0 * ours.cpu),
    ))
}

fn spec(asked: Asked, connections: u32, pipeline: u32, rate: Option<f64>) -> LoadSpec {
    LoadSpec {
        connections,
        pipeline,
        keys: 10_000,
        bytes: 64,
        rate,
        seed: 1,
        ..LoadSpec::one_by_one("server", asked)
    }
}

/// One slice of so many requests.
fn ours(options: &Options, spec: &LoadSpec, port: u16, requests: u64) -> Result<Done> {
    let agent = agent_bin()?;
    let agent = agent.to_str().context("the path of the agent is not text")?;
    let at = format!("127.0.0.1:{port}");
    let words = [agent, "run-load", &serde_json::to_string(spec)?, &at];
    let mut command = bound(&options.clients.to_string(), &words);
    let mut client = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let order = format!("{{\"units\":{requests},\"lead\":{}}}\n", requests / 10);
    client
        .stdin
        .take()
        .context("no input")?
        .write_all(order.as_bytes())?;
    let told = String::from_utf8(client.wait_with_output()?.stdout)?;
    let slice: Slice = serde_json::from_str(told.lines().nth(1).context("no slice")?)?;
    let part = slice.parts.first().context("no part")?;
    let seconds = part.wall_ns as f64 / 1e9;
    Ok(Done {
        rate: part.work / seconds,
        cpu: part.cpu_ns as f64 / 1e9 / seconds,
    })
}

fn wrk(options: &Options, connections: u32) -> Result<f64> {
    let (c, d) = (connections.to_string(), format!("{SECONDS}s"));
    let url = format!("http://127.0.0.1:{NGINX_PORT}/small");
    let words = ["wrk", "-t", "1", "-c", &c, "-d", &d, &url];
    let told = stdout_of(&mut bound(&options.clients.to_string(), &words))?;
    let rate = told
        .lines()
        .find_map(|line| line.trim().strip_prefix("Requests/sec:"));
    Ok(rate.context("no rate")?.trim().parse()?)
}

/// An nginx with a file of 1 KiB; `None` where it is not installed.
fn nginx(options: &Options, folder: &Path) -> Result<Option<Served>> {
    let root = folder.display();
    std::fs::write(folder.join("small"), [b'x'; 1024])?;
    let config = folder.join("nginx.conf");
    let text = format!(
        "daemon off; worker_processes 1; pid {root}/pid; error_log stderr; events {{ }} http {{ access_log off; \
         keepalive_requests 1000000000; server {{ listen 127.0.0.1:{NGINX_PORT}; root {root}; }} }}"
    );
    std::fs::write(&config, text)?;
    // The workers of root's nginx are another user.
    std::fs::set_permissions(folder, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let config = config.to_str().context("the folder is no text")?.to_owned();
    Ok(Served::start(
        &options.servers.to_string(),
        &["nginx", "-e", "stderr", "-c", &config],
    ))
}
