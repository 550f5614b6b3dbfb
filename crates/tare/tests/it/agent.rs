//! The real agent over pipes: every misbehaviour of the other side ends in an
//! answer or in the agent's end, never in a hang.

use crate::common::{self, Turn};
use std::fs::Permissions;
use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};
use tare_model::frame::{Decoder, Frame, Head, Kind, encode};
use tare_model::protocol::{
    Bounds, CommandRequest, CommandTask, ErrorCode, ExitStatus, Exited, Reply, Request, VERSION,
};

/// That of every request here.
const NUMBER: u32 = 0x0012_3456;

struct Agent {
    child: Child,
    input: Option<ChildStdin>,
    output: ChildStdout,
    decoder: Decoder,
    _turn: Turn,
}

impl Agent {
    fn start() -> Self {
        Self::start_by(Command::new(common::agent()).arg("agent"))
    }

    fn start_by(command: &mut Command) -> Self {
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let turn = Turn::take();
        let mut child = command.spawn().unwrap();
        let (input, output) = (child.stdin.take(), child.stdout.take().unwrap());
        Self {
            child,
            input,
            output,
            decoder: Decoder::default(),
            _turn: turn,
        }
    }

    fn send_bytes(&mut self, bytes: &[u8]) {
        self.input.as_mut().unwrap().write_all(bytes).unwrap();
    }

    fn send(&mut self, request: &Request) {
        let mut bytes = Vec::new();
        let json = serde_json::to_vec(request).unwrap();
        encode(Head::of(Kind::Request, NUMBER), &json, &mut bytes);
        self.send_bytes(&bytes);
    }

    fn next(&mut self) -> Option<Frame> {
        let mut buffer = [0; 65536];
        loop {
            if let Some(frame) = self.decoder.next_frame().unwrap() {
                return Some(frame);
            }
            match self.output.read(&mut buffer).unwrap() {
                0 => return None,
                n => self.decoder.feed(&buffer[..n]),
            }
        }
    }

    fn reply(&mut self) -> (Reply, Vec<Frame>) {
        let mut data = Vec::new();
        loop {
            let frame = self.next().expect("a reply");
            assert_eq!(
                frame.head.number, NUMBER,
                "all that answers bears the request's number"
            );
            if frame.head.kind == Kind::Reply {
                return (serde_json::from_slice(&frame.payload).unwrap(), data);
            }
            data.push(frame);
        }
    }

    fn ask(&mut self, request: &Request) -> (Reply, Vec<Frame>) {
        self.send(request);
        self.reply()
    }

    fn ends_within(&mut self, limit: Duration) -> bool {
        let deadline = Instant::now() + limit;
        while Instant::now() < deadline {
            if self.child.try_wait().unwrap().is_some() {
                return true;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        false
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn hello() -> Request {
    Request::Hello {
        protocol: VERSION,
        build: "any".into(),
        control_cpu: None,
    }
}

fn shell(script: &str, timeout: Duration) -> Request {
    Request::Command(CommandRequest {
        task: CommandTask {
            argv: vec!["/bin/sh".into(), "-c".into(), script.into()],
            env: vec![("PATH".into(), "/usr/bin:/bin".into())],
            cwd: None,
            user: None,
        },
        bounds: Bounds {
            timeout_ns: u64::try_from(timeout.as_nanos()).unwrap(),
            max_stdout_bytes: 1 << 20,
            max_stderr_bytes: 1 << 10,
            padding_bytes: 100,
        },
        min_wall_ns: 0,
        max_repetitions: 1,
    })
}

fn exited(reply: Reply) -> Exited {
    match reply {
        Reply::Exited(exited) => exited,
        other => panic!("{other:?}"),
    }
}

const LONG: Duration = Duration::from_secs(20);

#[test]
fn it_says_nothing_until_asked_and_ends_with_its_link() {
    let mut agent = Agent::start();
    std::thread::sleep(Duration::from_millis(100));
    agent.input = None;
    assert!(agent.ends_within(LONG));
    assert!(agent.next().is_none());
}

#[test]
fn it_names_its_build() {
    let (reply, _) = Agent::start().ask(&hello());
    assert!(matches!(reply, Reply::Hello { protocol: VERSION, build, .. } if build.len() == 16));
}

#[test]
fn unreadable_requests_are_answered_and_unframed_bytes_end_it() {
    let mut agent = Agent::start();
    let mut bytes = Vec::new();
    let head = Head::of(Kind::Request, NUMBER);
    encode(head, b"{\"request\":\"dance\"}", &mut bytes);
    encode(Head { channel: 7, ..head }, b"{}", &mut bytes);
    encode(Head::of(Kind::Stdout, NUMBER), b"", &mut bytes);
    agent.send_bytes(&bytes);
    for _ in 0..3 {
        assert!(matches!(
            agent.reply().0,
            Reply::Error {
                code: ErrorCode::BadRequest,
                ..
            }
        ));
    }
    assert!(matches!(agent.ask(&hello()).0, Reply::Hello { .. }));
    agent.send_bytes(b"GET / HTTP/1.1\r\n\r\n");
    assert!(agent.ends_within(LONG));
}

#[test]
fn a_box_that_is_not_there_is_neither_frozen_nor_thawed() {
    let mut agent = Agent::start();
    for request in [Request::Freeze { channel: 1 }, Request::Thaw { channel: 1 }] {
        let (reply, _) = agent.ask(&request);
        assert!(
            matches!(&reply, Reply::Error { code: ErrorCode::BadRequest, message } if message.contains("channel 1")),
            "{reply:?}"
        );
    }
}

#[test]
fn random_bytes_never_hang_it() {
    // One turn for all agents: between two of them the tests of another file would go first.
    let _turn = Turn::take();
    let mut seed = 0x2545_f491_4f6c_dd1d_u64;
    for round in 0..40 {
        let mut agent = Agent::start();
        let mut bytes: Vec<u8> = (0..200)
            .map(|_| {
                seed ^= seed << 13;
                seed ^= seed >> 7;
                seed ^= seed << 17;
                seed.to_le_bytes()[0]
            })
            .collect();
        if round % 2 == 0 {
            // A well-formed header with a damaged request.
            let mut framed = Vec::new();
            encode(Head::of(Kind::Request, NUMBER), &bytes, &mut framed);
            bytes = framed;
        }
        let _ = agent.input.as_mut().unwrap().write_all(&bytes);
        agent.input = None;
        assert!(agent.ends_within(LONG), "round {round}");
    }
}

#[test]
fn a_command_tells_its_status_output_and_usage() {
    let mut agent = Agent::start();
    let (reply, data) = agent.ask(&shell("echo out; echo err >&2; exit 3", LONG));
    let exited = exited(reply);
    assert_eq!(exited.status, ExitStatus::Code(3));
    assert!(exited.usage.wall_ns > 0 && exited.usage.max_rss_bytes > 0);
    let text = |kind| {
        data.iter()
            .filter(|f| f.head.kind == kind)
            .flat_map(|f| f.payload.clone())
            .collect::<Vec<u8>>()
    };
    assert_eq!(text(Kind::Stdout), b"out\n");
    assert_eq!(text(Kind::Stderr), b"err\n");
}

#[test]
fn output_beyond_its_bound_is_counted_and_does_not_block() {
    let mut agent = Agent::start();
    let (reply, data) = agent.ask(&shell("head -c 3000000 /dev/zero", LONG));
    let kept: usize = data.iter().map(|f| f.payload.len()).sum();
    assert_eq!(kept, 1 << 20);
    assert_eq!(exited(reply).stdout_lost_bytes, 3_000_000 - (1 << 20));
}

#[test]
fn a_command_over_its_time_is_killed_with_its_children() {
    let mut agent = Agent::start();
    let (reply, _) = agent.ask(&shell("sleep 999 & sleep 998", Duration::from_millis(300)));
    assert_eq!(exited(reply).status, ExitStatus::TimedOut);
    let pid = agent.child.id();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    assert_eq!(children.trim(), "");
}

#[test]
fn what_a_command_leaves_running_ends_with_it() {
    let mut agent = Agent::start();
    let (reply, _) = agent.ask(&shell("setsid sleep 997 >/dev/null 2>&1 & exit 0", LONG));
    let launcher = exited(reply);
    assert_eq!((launcher.status, launcher.left_running), (ExitStatus::Code(0), 1));
    let pid = agent.child.id();
    let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap();
    assert_eq!(children.trim(), "");
}

#[test]
fn what_ended_before_its_command_was_not_left_running() {
    let (reply, _) = Agent::start().ask(&shell("sleep 0.01 & wait; true | true", LONG));
    assert_eq!(exited(reply).left_running, 0);
}

/// Programs do less for a reader that is not there: grep stops at the first match.
#[test]
fn output_that_nobody_reads_does_not_go_to_the_null_device() {
    let Request::Command(mut command) = shell("test ! /proc/self/fd/1 -ef /dev/null && echo taken", LONG)
    else {
        unreachable!()
    };
    command.bounds.max_stdout_bytes = 0;
    let (reply, data) = Agent::start().ask(&Request::Command(command));
    let ended = exited(reply);
    assert_eq!((ended.status, ended.stdout_lost_bytes), (ExitStatus::Code(0), 0));
    assert!(data.is_empty(), "{data:?}");
}

#[test]
fn a_program_that_cannot_be_started_is_told_by_what_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let elf = std::fs::read(common::binary()).unwrap();
    let nested = format!("#!{}\n", folder.path().join("no-interpreter").display());
    let other_machine = [&elf[..18], &[8, 0], &elf[20..64]].concat();
    let mut agent = Agent::start();
    for (name, bytes, told) in [
        (
            "no-interpreter",
            &b"echo here\n"[..],
            "it is a script without '#!': run it as 'sh ",
        ),
        (
            "crlf",
            b"#!/bin/sh\r\necho here\r\n",
            "save it with line ends of Unix",
        ),
        (
            "missing",
            b"#!/no/such/interpreter -x\n",
            "its interpreter /no/such/interpreter is not",
        ),
        (
            "nested",
            nested.as_bytes(),
            "no-interpreter: it is a script without '#!': begin it",
        ),
        ("empty", b"", "the file is empty"),
        ("cut", &elf[..64], "it is damaged or cut off"),
        (
            "other",
            &other_machine,
            "it is a program for other CPUs (machine 8 of ELF)",
        ),
    ] {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
        let Request::Command(mut command) = shell("", LONG) else {
            unreachable!()
        };
        command.task.argv = vec![path.display().to_string()];
        let (reply, _) = agent.ask(&Request::Command(command));
        let refused = |code, message: &str| code == ErrorCode::CannotStart && message.contains(told);
        assert!(
            matches!(&reply, Reply::Error { code, message } if refused(*code, message)),
            "{name}: {reply:?}"
        );
    }
}

#[test]
fn a_lost_controller_ends_the_command_under_way() {
    let mut agent = Agent::start();
    agent.send(&shell("sleep 996", LONG));
    std::thread::sleep(Duration::from_millis(200));
    agent.input = None;
    assert!(agent.ends_within(Duration::from_secs(5)));
    let sleeping = Command::new("pgrep").args(["-fx", "sleep 996"]).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&sleeping.stdout), "");
}

#[test]
fn a_missing_program_is_an_answer() {
    let mut agent = Agent::start();
    let Request::Command(mut command) = shell("", LONG) else {
        unreachable!()
    };
    command.task.argv = vec!["/no/such/program".into()];
    let (reply, _) = agent.ask(&Request::Command(command));
    assert!(
        matches!(reply, Reply::Error { code: ErrorCode::CannotStart, message } if message.contains("/no/such"))
    );
}

/// What starts other programs has another binary.
#[test]
fn its_own_binary_goes_by_the_name_that_every_process_has_for_its_own() {
    let mut agent = Agent::start();
    let Request::Command(mut command) = shell("", LONG) else {
        unreachable!()
    };
    command.task.argv = vec!["/proc/self/exe".into(), "--version".into()];
    let (reply, data) = agent.ask(&Request::Command(command));
    assert_eq!(exited(reply).status, ExitStatus::Code(0));
    assert!(data.iter().any(|frame| frame.payload.starts_with(b"tare-agent ")));
}

/// A program is looked for in its own path, and told its name as it was given.
#[test]
fn a_program_without_a_folder_is_found_in_its_own_path_alone() {
    let folder = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/bin/sh", folder.path().join("a-shell")).unwrap();
    let mut agent = Agent::start();
    let mut ask = |path: &str| {
        let Request::Command(mut command) = shell("echo $0", LONG) else {
            unreachable!()
        };
        command.task.argv[0] = "a-shell".into();
        command.task.env = vec![("PATH".into(), path.into())];
        agent.ask(&Request::Command(command))
    };
    let (reply, data) = ask(&format!("/no/such:{}", folder.path().display()));
    assert_eq!(exited(reply).status, ExitStatus::Code(0));
    assert!(data.iter().any(|frame| frame.payload == b"a-shell\n"));
    let (reply, _) = ask("/no/such:/bin");
    let missing = |code, message: &str| code == ErrorCode::CannotStart && message.contains("a-shell");
    assert!(matches!(reply, Reply::Error { code, message } if missing(code, &message)));
}

#[test]
fn files_go_in_and_out_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("below/file").display().to_string();
    let content: Vec<u8> = (0..700_000_u32).map(|i| i.to_le_bytes()[0]).collect();
    let mut agent = Agent::start();
    agent.send(&Request::WriteFile {
        path: path.clone(),
        mode: 0o700,
        bytes: content.len() as u64,
    });
    let mut bytes = Vec::new();
    content
        .chunks(300_000)
        .for_each(|chunk| encode(Head::of(Kind::File, NUMBER), chunk, &mut bytes));
    agent.send_bytes(&bytes);
    assert_eq!(agent.reply().0, Reply::FileWritten);
    let (reply, data) = agent.ask(&Request::ReadFile {
        path: path.clone(),
        max_bytes: 1 << 20,
    });
    assert_eq!(
        reply,
        Reply::FileRead {
            bytes: content.len() as u64
        }
    );
    assert_eq!(
        data.iter().flat_map(|f| f.payload.clone()).collect::<Vec<u8>>(),
        content
    );
    let (reply, _) = agent.ask(&Request::ReadFile {
        path,
        max_bytes: 1000,
    });
    assert!(matches!(
        reply,
        Reply::Error {
            code: ErrorCode::File,
            ..
        }
    ));
}

#[test]
fn an_empty_folder_goes_in() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("below/empty");
    let mut agent = Agent::start();
    for _ in 0..2 {
        let (reply, _) = agent.ask(&Request::WriteFile {
            path: format!("{}/", folder.display()),
            mode: 0o755,
            bytes: 0,
        });
        assert_eq!(reply, Reply::FileWritten);
        assert!(folder.is_dir());
    }
}

#[test]
fn a_file_that_is_too_large_for_the_limit_of_the_system_is_an_answer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file").display().to_string();
    let mut limited = Command::new("sh");
    limited
        .args(["-c", "ulimit -f 1; exec \"$0\" agent"])
        .arg(common::agent());
    let mut agent = Agent::start_by(&mut limited);
    agent.send(&Request::WriteFile {
        path,
        mode: 0o600,
        bytes: 5000,
    });
    let mut bytes = Vec::new();
    encode(Head::of(Kind::File, NUMBER), &[7; 5000], &mut bytes);
    agent.send_bytes(&bytes);
    let (reply, _) = agent.reply();
    assert!(
        matches!(
            &reply,
            Reply::Error {
                code: ErrorCode::File,
                ..
            }
        ),
        "{reply:?}"
    );
    // What it starts is as it would be anywhere.
    let (reply, _) = agent.ask(&shell("kill -XFSZ $$", LONG));
    assert_eq!(exited(reply).status, ExitStatus::Signal(25));
}

#[test]
fn it_stays_small() {
    let mut agent = Agent::start();
    agent.ask(&hello());
    let (reply, _) = agent.ask(&Request::Facts);
    let Reply::Facts(facts) = reply else {
        panic!("{reply:?}")
    };
    assert!(facts.agent_rss_bytes <= 4 << 20, "{} B", facts.agent_rss_bytes);
}
