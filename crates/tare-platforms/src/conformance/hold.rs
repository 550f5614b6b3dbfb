//! A run that dies with a frozen box: made by a process of its own, which is
//! killed.

use super::context::{self, CheckContext};
use super::talk::greet;
use super::traces::Traces;
use super::{Broken, Kept, Order, expect, ready};
use crate::contract::{BoxSpec, HELLO_DEADLINE};
use crate::state;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::time::Instant;
use tare_host::{interrupt, net};
use tare_model::platform::Provisioning;

/// Makes a box in a run of its own, freezes it, prints the run's name and the
/// box's marks, one a line with an empty one at the end, and waits for the end
/// of standard input.
///
/// # Errors
/// What kept it from doing so, in words.
pub fn hold(order: &Order<'_>) -> Result<(), String> {
    holding(order).map_err(|broken| broken.to_string())
}

fn holding(order: &Order<'_>) -> Result<(), Broken> {
    let mut platform = ready(order.path, order.state).map_err(|e| Broken::Seen(e.to_string()))?;
    let spec = BoxSpec {
        name: format!("{}-1", order.run.name()),
        run: order.run.name().to_owned(),
        weight: context::weight(&*platform),
        ..context::spec(order, Provisioning::Vanilla).on(platform.architecture())
    };
    let mut made = platform.launch(&spec)?;
    greet(&mut *made)?;
    made.freeze()?;
    let mut said = format!("{}\n{}\n", order.run.name(), spec.name);
    made.marks()
        .iter()
        .for_each(|mark| said.push_str(&format!("{mark}\n")));
    said.push('\n');
    let mut out = io::stdout();
    let told = out.write_all(said.as_bytes()).and_then(|()| out.flush());
    told.map_err(Broken::host("report the box"))?;
    // The controller ends us, or ends itself.
    io::stdin()
        .read_to_end(&mut Vec::new())
        .map(drop)
        .map_err(Broken::host("wait"))
}

/// The process that holds a box, killed when it is dropped.
struct Holder(Child);

impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Holder {
    fn start(order: &Order<'_>) -> Result<Self, Broken> {
        let mut command = Command::new("/proc/self/exe");
        command
            .arg("run-hold")
            .arg(order.path.to_string())
            .arg("--state-dir")
            .arg(order.state)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        tare_sys::die_with_parent(&mut command);
        command
            .spawn()
            .map(Self)
            .map_err(Broken::host("start a run to be killed"))
    }

    /// The run's name, and the marks of its frozen box.
    fn told(&mut self) -> Result<Vec<String>, Broken> {
        let Some(stdout) = self.0.stdout.take() else {
            return Err(Broken::Seen("the run to be killed has no output".to_owned()));
        };
        let lines = std::thread::spawn(move || {
            let lines = BufReader::new(stdout).lines().map_while(Result::ok);
            lines.take_while(|line| !line.is_empty()).collect::<Vec<String>>()
        });
        let deadline = Instant::now() + 2 * HELLO_DEADLINE;
        while !lines.is_finished() {
            // The end of its process ends the thread.
            if let Err(e) = interrupt::next_slice(deadline) {
                let _ = self.0.kill();
                return Err(Broken::host("wait for a run to be killed")(e));
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let told = lines.join().unwrap_or_default();
        expect(told.len() > 2, || {
            let mut words = String::new();
            let _ = self
                .0
                .stderr
                .take()
                .map(|mut stderr| stderr.read_to_string(&mut words));
            format!("the run to be killed created no box: {}", words.trim())
        })?;
        Ok(told)
    }
}

pub(super) fn dead_run(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let order = site.order();
    // Two runs cannot share what an open platform may have started.
    site.close()?;
    let mut holder = Holder::start(order)?;
    let held = holder
        .told()
        .map(|marks| (marks[0].clone(), Traces::by_marks(marks, order.state)));
    let seen = held.as_ref().map(|(_, traces)| traces.left());
    drop(holder);
    // Also where it failed or was stopped on the way.
    let swept = state::sweep(order.state)?;
    expect(!seen.is_ok_and(|left| left.is_empty()), || {
        "the box of the run to be killed is not to be seen".to_owned()
    })?;
    let (run, traces) = held?;
    expect(!swept.alive.contains(&run), || {
        format!("the run {run} counts as alive after its death")
    })?;
    traces.expect_gone()?;
    expect(!tare_box::interface::interfaces().contains(&run), || {
        format!("the bridge {run} is left")
    })?;
    let rules = net::closed_links(&run).map_err(|e| Broken::Seen(e.to_string()))?;
    expect(rules.is_empty(), || {
        format!("routing rules are left for {}", rules.join(", "))
    })?;
    expect(swept.left.is_empty(), || {
        let left: Vec<String> = swept.left.iter().map(ToString::to_string).collect();
        left.join("; ")
    })?;
    let removed = &swept.removed;
    expect(removed.iter().any(|what| what.starts_with(&run)), || {
        format!("the sweep does not mention the run {run}: {}", removed.join("; "))
    })?;
    Ok(Kept::Yes(Some(format!("swept {}", removed.len()))))
}
