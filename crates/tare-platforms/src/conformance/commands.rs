//! Commands and what is told of them.

use super::context::CheckContext;
use super::talk::{self, Ended, act, acting, greet};
use super::{Broken, Kept, expect};
use crate::contract::security::{ObservedSecurity, broken, host_capabilities};
use crate::contract::storage::misplaced;
use crate::contract::{ANSWER_DEADLINE, MemoryView, RunningBox};
use crate::link::LinkError;
use std::collections::BTreeSet;
use std::time::Duration;
use tare_agent::act::pattern;
use tare_host::host;
use tare_host::places::WORK_FOLDER;
use tare_model::protocol::{CommandRequest, CommandTask, ErrorCode, ExitStatus, Request};
use tare_model::time::nanoseconds;

/// A large output, in bytes.
const LARGE: u64 = 32 << 20;
/// What is kept of the other stream meanwhile: no multiple of anything.
const KEPT: u64 = (1 << 20) + 7;
/// How long a command may take that is to be ended: first, and where it did not
/// even come to start its family.
const SHORT: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(15)];
/// The largest resident set of an agent that can be believed.
const AGENT_BYTES: u64 = 64 << 20;
/// Variables that engines set by themselves, perhaps to what the host's are.
const OF_ENGINES: [&str; 8] = [
    "PATH", "HOME", "TERM", "USER", "LOGNAME", "SHELL", "LANG", "HOSTNAME",
];

pub(super) fn hello(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let made = site.shared()?;
    let pids = [greet(made)?, greet(made)?];
    expect(pids[0] > 0 && pids[0] == pids[1], || {
        format!("the agent's process id is {} and then {}", pids[0], pids[1])
    })?;
    Ok(Kept::YES)
}

pub(super) fn facts(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let view = site.platform()?.memory_view();
    let facts = site.shared()?.link().facts(ANSWER_DEADLINE)?;
    let host = host::facts();
    let most = match view {
        MemoryView::Ram => {
            site.spec(tare_model::platform::Provisioning::Vanilla)
                .instance
                .memory_bytes
        }
        MemoryView::Touch | MemoryView::HostLimit => host.memory_bytes,
    };
    let plausible = !facts.kernel.is_empty()
        && !facts.allowed_cpus.is_empty()
        && (1..=host.cpus).contains(&facts.online_cpus)
        && (1..=most).contains(&facts.memory_bytes)
        && (1..=AGENT_BYTES).contains(&facts.agent_rss_bytes);
    expect(plausible, || {
        format!("of a box with at most {most} B of memory: {facts:?}")
    })?;
    Ok(Kept::YES)
}

/// The name of the first process of a PID namespace.
const FIRST_PROCESS: &str = "/proc/1/comm";

pub(super) fn security(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let asked = site.platform()?.security();
    let made = site.shared()?;
    let facts = made.link().facts(ANSWER_DEADLINE)?;
    let first = made.link().read_file(FIRST_PROCESS, 64, ANSWER_DEADLINE)?;
    let seen = ObservedSecurity {
        filtered: facts.seccomp,
        capabilities: facts.capabilities,
        uid_map: facts.uid_map.as_deref(),
        own_processes: std::fs::read(FIRST_PROCESS).ok().map(|of_host| of_host != first),
    };
    let map = tare_box::kernel::uid_map();
    let host = ObservedSecurity {
        filtered: None,
        capabilities: Some(host_capabilities()),
        uid_map: map.as_deref(),
        own_processes: None,
    };
    match asked.and_then(|asked| broken(asked, &seen, &host)) {
        Some(why) => Err(Broken::Seen(why)),
        None => Ok(Kept::Yes(Some(seen.to_string()))),
    }
}

pub(super) fn work_folder(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let Some(asked) = site.platform()?.storage() else {
        return Ok(Kept::Yes(Some("none was asked for".to_owned())));
    };
    let made = site.shared()?;
    let said = act(made, &["surroundings"])?.words()?;
    let folder = said.split('\0').next();
    expect(folder == Some(WORK_FOLDER), || {
        format!("commands start in {folder:?}, not in {WORK_FOLDER}")
    })?;
    let mounts = made
        .link()
        .read_file("/proc/self/mounts", 1 << 20, ANSWER_DEADLINE)?;
    let wrong = misplaced(asked, &String::from_utf8_lossy(&mounts));
    expect(wrong.is_none(), || wrong.clone().unwrap_or_default())?;
    if let Some((file, due)) = asked.told_by() {
        let told = made.link().read_file(file, 4096, ANSWER_DEADLINE)?;
        let told = String::from_utf8_lossy(&told).trim().to_owned();
        expect(told == due, || format!("{file} contains '{told}', not '{due}'"))?;
    }
    let file = format!("{WORK_FOLDER}/written");
    made.link().write_file(&file, 0o600, b"here", ANSWER_DEADLINE)?;
    Ok(Kept::YES)
}

pub(super) fn environment(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let made = site.shared()?;
    let given = [
        ("ONLY", "this"),
        ("TWO_LINES", "a\nb"),
        ("EMPTY", ""),
        ("LETTERS", "ä=ß"),
    ];
    let mut request = acting(&["surroundings"]);
    request.task.env = given
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .to_vec();
    request.task.cwd = Some("/proc".to_owned());
    let said = talk::run(made, request)?.words()?;
    let mut seen = said.split('\0');
    let folder = seen.next();
    expect(folder == Some("/proc"), || {
        format!("the command's folder is {folder:?}, not /proc")
    })?;
    let seen: BTreeSet<&str> = seen.collect();
    let due = given.map(|(name, value)| format!("{name}={value}"));
    expect(seen == due.iter().map(String::as_str).collect(), || {
        format!("the command's environment is {seen:?} instead of {due:?}")
    })?;
    expect_no_secrets(made)?;
    Ok(Kept::YES)
}

/// The agent's own environment holds no variable of this process.
fn expect_no_secrets(made: &mut dyn RunningBox) -> Result<(), Broken> {
    let pid = greet(made)?;
    let bytes = made
        .link()
        .read_file(&format!("/proc/{pid}/environ"), 1 << 20, ANSWER_DEADLINE)?;
    let theirs = String::from_utf8_lossy(&bytes).into_owned();
    let theirs: BTreeSet<&str> = theirs.split('\0').collect();
    let told: Vec<String> = std::env::vars()
        .filter(|(name, value)| theirs.contains(format!("{name}={value}").as_str()))
        .map(|(name, _)| name)
        .filter(|name| !OF_ENGINES.contains(&name.as_str()))
        .collect();
    expect(told.is_empty(), || {
        format!(
            "variables of the host are in the agent's environment: {}",
            told.join(", ")
        )
    })
}

pub(super) fn exit_codes(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    for code in [0, 1, 42, 127, 128, 255] {
        let ended = act(site.shared()?, &["exit", &code.to_string()])?;
        expect_status(&ended, ExitStatus::Code(code))?;
    }
    Ok(Kept::YES)
}

pub(super) fn signals(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    use rustix::process::Signal;
    let made = site.shared()?;
    for signal in [Signal::TERM, Signal::SEGV, Signal::ABORT, Signal::KILL] {
        let ended = act(made, &["die", &signal.as_raw().to_string()])?;
        expect_status(&ended, ExitStatus::Signal(signal.as_raw()))?;
    }
    greet(made)?;
    Ok(Kept::YES)
}

fn expect_status(ended: &Ended, due: ExitStatus) -> Result<(), Broken> {
    let seen = ended.exited.status;
    expect(seen == due, || {
        format!("a command that was to end with {due:?} ended with {seen:?}")
    })
}

pub(super) fn missing_program(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let made = site.shared()?;
    let with = |program: &str, cwd: Option<&str>| CommandRequest {
        task: CommandTask {
            argv: vec![program.to_owned()],
            env: Vec::new(),
            cwd: cwd.map(str::to_owned),
            user: None,
        },
        ..acting(&[])
    };
    for (program, cwd) in [
        ("/no/such/program", None),
        ("no-such-program", None),
        ("/proc/self/exe", Some("/no/such/folder")),
    ] {
        let request = Request::Command(with(program, cwd));
        let refusal = made.link().request(&request, Duration::from_secs(60));
        let is_refusal = matches!(&refusal, Err(LinkError::Refused { code: ErrorCode::CannotStart, message, .. })
            if message.contains(cwd.unwrap_or(program)));
        expect(is_refusal, || {
            format!("{program} in {cwd:?}, which is not there, was answered by {refusal:?}")
        })?;
    }
    greet(made)?;
    Ok(Kept::YES)
}

pub(super) fn timeout(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let made = site.shared()?;
    let mut pids = Vec::new();
    for time in SHORT {
        let mut request = acting(&["family", "stay"]);
        request.bounds.timeout_ns = nanoseconds(time);
        let ended = talk::run(made, request)?;
        expect_status(&ended, ExitStatus::TimedOut)?;
        pids = members(&ended);
        if pids.len() == FAMILY {
            break;
        }
    }
    expect_ended(made, &pids)?;
    Ok(Kept::YES)
}

pub(super) fn orphans(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let made = site.shared()?;
    let ended = act(made, &["family", "leave"])?;
    expect_status(&ended, ExitStatus::Code(0))?;
    expect_ended(made, &members(&ended))?;
    Ok(Kept::YES)
}

/// The head of a family, its child, its grandchild and its orphan.
const FAMILY: usize = 4;

fn members(ended: &Ended) -> Vec<String> {
    let said = String::from_utf8_lossy(&ended.stdout).into_owned();
    said.lines().map(str::to_owned).collect()
}

fn expect_ended(made: &mut dyn RunningBox, pids: &[String]) -> Result<(), Broken> {
    expect(pids.len() == FAMILY, || {
        format!("only {} of {FAMILY} processes started", pids.len())
    })?;
    let words: Vec<&str> = ["living"]
        .into_iter()
        .chain(pids.iter().map(String::as_str))
        .collect();
    let living = act(made, &words)?.words()?;
    expect(living.is_empty(), || {
        format!(
            "of the processes {} (the command, its child, its grandchild, an orphan) these live on: {}",
            pids.join(", "),
            living.trim().replace('\n', ", ")
        )
    })
}

pub(super) fn output(site: &mut CheckContext<'_>) -> Result<Kept, Broken> {
    let made = site.shared()?;
    for large_is_stdout in [true, false] {
        let [out, err] = if large_is_stdout {
            [LARGE, 2 * KEPT]
        } else {
            [2 * KEPT, LARGE]
        };
        let mut request = acting(&["print", &out.to_string(), &err.to_string()]);
        let keep = |bytes| if bytes == LARGE { LARGE } else { KEPT };
        request.bounds.max_stdout_bytes = keep(out);
        request.bounds.max_stderr_bytes = keep(err);
        let ended = talk::run(made, request)?;
        expect_status(&ended, ExitStatus::Code(0))?;
        expect_printed(
            "output",
            &ended.stdout,
            ended.exited.stdout_lost_bytes,
            [out, keep(out)],
        )?;
        expect_printed(
            "error",
            &ended.stderr,
            ended.exited.stderr_lost_bytes,
            [err, keep(err)],
        )?;
    }
    unread_output(site.shared()?)?;
    Ok(Kept::YES)
}

/// Output that nobody reads is taken, and programs do not see that nobody does.
fn unread_output(made: &mut dyn RunningBox) -> Result<(), Broken> {
    let unread = |words: &[&str]| {
        let mut request = acting(words);
        request.bounds.max_stdout_bytes = 0;
        request
    };
    expect_status(
        &talk::run(made, unread(&["print", &LARGE.to_string(), "0"]))?,
        ExitStatus::Code(0),
    )?;
    let null = talk::run(made, unread(&["prints-to-null"]))?;
    expect(null.exited.status != ExitStatus::Code(0), || {
        "output that nobody reads goes to /dev/null, for which programs do less".to_owned()
    })
}

fn expect_printed(name: &str, seen: &[u8], lost: u64, [printed, kept]: [u64; 2]) -> Result<(), Broken> {
    expect(seen.len() as u64 == kept && lost == printed - kept, || {
        format!(
            "of {printed} B of standard {name}, {kept} to be kept: {} arrived and {lost} were counted as lost",
            seen.len()
        )
    })?;
    let wrong = (0..).zip(seen).find(|(at, byte)| pattern(*at) != **byte);
    expect(wrong.is_none(), || {
        format!(
            "standard {name} is changed from byte {:?} on",
            wrong.map(|(at, _)| at)
        )
    })
}
