//! The servers that the processes of an arm talk to: each is started before its client, told
//! where to listen, and ended after it.

use super::Stop;
use super::arm::{Arm, Lost, Serving, Words};
use super::live::CellBoxes;
use crate::failures::{self, TIME_OVER};
use crate::trial;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener};
use std::time::{Duration, Instant};
use tare_host::net::{HostReach, PORT};
use tare_model::finding::{Finding, Reason};
use tare_model::protocol::{Bounds, Exited, Reply, Request, Task};
use tare_model::results::{Failure, Printed};
use tare_model::workload::{Place, Ready, Role, Run};
use tare_platforms::link::{Answer, LinkError};
use tare_study::addresses::{self, Book, Entry};
use tare_study::extract::{self, Output};
use tare_study::placement::Placement;

/// What is added to the number of a process for that of its first server, which may be in the
/// same box; for the next one as much again.
const SERVERS: u16 = 1000;
/// The number in place of that of the process, of a server that stays: that of none.
const STANDING: u16 = SERVERS - 1;

/// Said of a server that ended by itself and was connected to before its client was.
const ONE_CONNECTION: &str = " (if it serves one connection alone, the ready check used that: \
                              use ready = { line = '...' })";

/// Lines of what a server printed that are told of its end.
const LAST_WORDS: usize = 3;

/// The way between the two ends of a workload.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// Where the server listens; at port 0, at one that nobody else has.
    listens: SocketAddr,
    /// Where its client finds it, if that is elsewhere.
    found: Option<SocketAddr>,
}

impl Way {
    /// To a server, from wherever it is talked to.
    fn to(arm: &Arm, server: &Role, held: &CellBoxes) -> Result<Self, Failure> {
        let from = addresses::talked_to_from(&arm.workload, server);
        // Of one in a box of its own, others may hear from a third.
        let is_private = from.is_empty() && server.place != Place::Apart;
        let way = match is_private {
            true => Self::direct((Ipv4Addr::LOCALHOST, 0).into()),
            false => Self::across(&Placement::of(server), &from, held)?,
        };
        Ok(match server.run {
            // It tells at which port it listens.
            Run::Kernel(_) => way,
            Run::Command(_) | Run::Load(_) | Run::Later(_) => way.with_port(),
        })
    }

    /// To a server that is placed here, from these other ones.
    fn across(server: &Placement, from: &BTreeSet<Placement>, held: &CellBoxes) -> Result<Self, Failure> {
        let failed = |why: &str| Failure::new(Reason::CannotRun, why);
        let apart = || failed("the host and the box share no network");
        if *server == Placement::Host {
            // All boxes of a kind see the host at the same address.
            let host = held.own.running.host_address().ok_or_else(apart)?;
            return Ok(Self::direct((host, 0).into()));
        }
        let running = &held.at(server).running;
        let own = running.address();
        if !from.contains(&Placement::Host) {
            let own = own.ok_or_else(|| failed("its boxes share no network"))?;
            return Ok(Self::direct((own, 0).into()));
        }
        let own = own.ok_or_else(apart)?;
        match running.host_reach() {
            HostReach::Direct => Ok(Self::direct((own, 0).into())),
            HostReach::Published(at) => Ok(Self {
                listens: (own, PORT).into(),
                found: Some(at),
            }),
            HostReach::Never => Err(apart()),
        }
    }

    /// The same with a port that is free: on this host, whose network a box may share.
    fn with_port(mut self) -> Self {
        if self.listens.port() == 0 {
            // An address of a network that is not the host's has every port free.
            let asked = [self.listens.ip(), IpAddr::from(Ipv4Addr::UNSPECIFIED)];
            let listener = asked.iter().find_map(|ip| TcpListener::bind((*ip, 0)).ok());
            let free = listener.and_then(|listener| listener.local_addr().ok());
            self.listens.set_port(free.map_or(PORT, |free| free.port()));
        }
        self
    }

    const fn direct(listens: SocketAddr) -> Self {
        Self { listens, found: None }
    }

    /// Where the server that told this port is.
    fn entry(self, role: &Role, port: Option<u16>) -> Entry {
        let mut listens = self.listens;
        listens.set_port(port.unwrap_or_else(|| listens.port()));
        Entry {
            name: role.name.clone(),
            one_of: role.one_of.clone(),
            placement: Placement::of(role),
            listens,
            found: self.found.unwrap_or(listens),
        }
    }
}

impl Arm {
    /// What one of its processes is to do, once the servers that it talks to serve; `None` if
    /// the arm is lost by that.
    pub(super) fn task(
        &mut self,
        held: &mut CellBoxes,
        process: u16,
        bounds: Bounds,
    ) -> Result<Option<Task>, Stop> {
        match self.open(held, process, bounds)? {
            Some(book) => Ok(Some(trial::task(&self.workload, &book)?)),
            None => Ok(None),
        }
    }

    /// Starts the servers that one of its processes talks to, one after another, and those that are several of one
    /// role together: where they are, or `None` if the arm is lost by one.
    pub(super) fn open(
        &mut self,
        held: &mut CellBoxes,
        process: u16,
        bounds: Bounds,
    ) -> Result<Option<Book>, Stop> {
        self.servers.serving.append(&mut held.standing);
        let mut book = Book::default();
        let standing = self.servers.serving.iter().filter(|serving| serving.role.stands);
        standing.for_each(|serving| book.add(serving.entry.clone()));
        let servers = self.not_started(process);
        for alike in servers.chunk_by(|(a, _), (b, _)| a.one_of.is_some() && a.one_of == b.one_of) {
            let begun = Instant::now();
            self.start_servers(held, alike, bounds, &mut book)?;
            self.servers.ready_seconds += begun.elapsed().as_secs_f64();
            if !self.lives() {
                return Ok(None);
            }
        }
        Ok(Some(book))
    }

    /// The servers that are to be started for one of its processes, with the number of each in its box.
    fn not_started(&self, process: u16) -> Vec<(Role, u16)> {
        let stands = |role: &Role| self.servers.serving.iter().any(|serving| serving.role == *role);
        let numbered = self.workload.servers().zip(1..);
        let due = numbered.filter(|(role, _)| !(role.stands && stands(role)));
        due.map(|(role, i)| {
            let within = if role.stands { STANDING } else { process };
            (role.clone(), SERVERS * i + within)
        })
        .collect()
    }

    /// Starts servers together, each in its box, and adds those that serve to the book.
    fn start_servers(
        &mut self,
        held: &mut CellBoxes,
        servers: &[(Role, u16)],
        bounds: Bounds,
        book: &mut Book,
    ) -> Result<(), Stop> {
        let mut asked = Vec::new();
        for (role, number) in servers {
            let way = match Way::to(self, role, held) {
                Ok(way) => way,
                Err(failure) => {
                    self.lose(failure);
                    break;
                }
            };
            let request = Request::Start {
                process: *number,
                task: trial::server(&self.workload, role, way.listens, book)?,
                bounds,
            };
            let sent = held.link(&Placement::of(role)).ask(&request, self.patience);
            asked.push((role, *number, way, request, sent));
        }
        for (role, process, way, request, sent) in asked {
            let link = held.link(&Placement::of(role));
            let answer = sent.and_then(|()| link.reply(&request, self.patience));
            if let Some(port) = self.serves(role, &request, answer)? {
                let entry = way.entry(role, port.or_else(|| fixed_port(role)));
                book.add(entry.clone());
                self.servers.serving.push(Serving {
                    role: role.clone(),
                    process,
                    entry,
                });
            }
        }
        Ok(())
    }

    /// What a server that was started answered: the port that it told, or `None` if the arm is lost by it.
    fn serves(
        &mut self,
        role: &Role,
        request: &Request,
        answer: Result<Answer, LinkError>,
    ) -> Result<Option<Option<u16>>, Stop> {
        let answer = answer.map(|answer| Answer {
            stderr: self.hear(&called(role), answer.stderr),
            ..answer
        });
        let is_first = self.lives();
        match self.judge(answer)? {
            Some(Reply::Serves { port }) => return Ok(Some(port)),
            Some(other) => self.lose_box(failures::bad_report(format!("{other:?}"))),
            None => {}
        }
        if let Some(lost) = self.lost.as_mut().filter(|_| is_first) {
            let name = called(role);
            let words = self.servers.words.iter().rfind(|words| words.name == name);
            let said = words.map_or(&[][..], |words| &words.said);
            let why = match lost.failure.reason {
                Reason::Timeout => lost
                    .failure
                    .detail
                    .replacen(TIME_OVER, &waited_for(request, said), 1),
                _ => lost.failure.detail.clone(),
            };
            lost.failure.detail = format!("{name} did not become ready: {why}");
        }
        Ok(None)
    }

    /// Asks the agent about a server: its reply, and the last words of the server.
    fn ask_about(
        &mut self,
        held: &mut CellBoxes,
        serving: &Serving,
        request: &Request,
    ) -> Result<(Option<Reply>, Vec<u8>), Stop> {
        let link = held.link(&serving.entry.placement);
        let answer = link.request(request, self.patience);
        let said = answer.as_ref().map(|a| a.stderr.clone()).unwrap_or_default();
        let said = self.hear(&called(&serving.role), said);
        Ok((self.reply(answer)?, said))
    }

    /// Looks after its servers at the end of a trial that went well. One that ended is why the arm is lost, whatever its client told of
    /// that; where it is one of several, those that are left may have done the work: that is found.
    pub(super) fn look_after(&mut self, held: &mut CellBoxes) -> Result<Vec<Finding>, Stop> {
        let mut ended: BTreeMap<String, u32> = BTreeMap::new();
        for serving in std::mem::take(&mut self.servers.serving) {
            let request = Request::Look {
                process: serving.process,
            };
            let (reply, said) = self.ask_about(held, &serving, &request)?;
            match (reply, &serving.role.one_of) {
                (Some(Reply::Exited(_)), Some(role)) => *ended.entry(role.clone()).or_default() += 1,
                (Some(Reply::Exited(exited)), None) => self.blame_for(&serving, &exited, &said),
                _ => self.servers.serving.push(serving),
            }
        }
        let all = |role: &String| {
            let alike = self
                .workload
                .servers()
                .filter(|server| server.one_of.as_ref() == Some(role));
            u32::try_from(alike.count()).unwrap_or(u32::MAX)
        };
        let found = ended.into_iter().map(|(role, ended)| Finding::LostServers {
            all: all(&role),
            role,
            ended,
        });
        Ok(found.collect())
    }

    /// Ends its servers, the last one first. One that had ended by itself is why the arm is
    /// lost, whatever its client told of that. Those that stay from trial to trial end with an arm that is lost.
    pub(super) fn stop_servers(&mut self, held: &mut CellBoxes) -> Result<(), Stop> {
        let all = std::mem::take(&mut self.servers.serving).into_iter();
        let (standing, others): (Vec<_>, Vec<_>) = all.partition(|serving| serving.role.stands);
        self.stop_all(held, others)?;
        // What is left of a cluster is no cluster for the next trial.
        let is_whole = standing.len() == self.workload.standing().count();
        if self.lives() && is_whole {
            held.standing = standing;
            return Ok(());
        }
        self.stop_all(held, standing)
    }

    fn stop_all(&mut self, held: &mut CellBoxes, servers: Vec<Serving>) -> Result<(), Stop> {
        for serving in servers.into_iter().rev() {
            if self.lost.as_ref().is_some_and(|lost| !lost.box_lives) {
                break;
            }
            let request = Request::Stop {
                process: serving.process,
            };
            let (reply, said) = self.ask_about(held, &serving, &request)?;
            match reply {
                Some(Reply::Stopped) | None => {}
                Some(Reply::Exited(exited)) => self.blame_for(&serving, &exited, &said),
                Some(other) => self.lose_box(failures::bad_report(format!("{other:?}"))),
            }
        }
        Ok(())
    }

    /// A server ended by itself, with these last words.
    fn blame_for(&mut self, serving: &Serving, exited: &Exited, said: &[u8]) {
        let by_itself = || {
            let advice = match serving.role.ready {
                Some(Ready::Tcp(_)) => ONE_CONNECTION,
                _ => "",
            };
            let detail = format!("before its client, with exit status 0{advice}");
            Failure::new(Reason::ExitStatus, detail)
        };
        let failure = failures::ended_well(exited, said).err();
        self.blame(&called(&serving.role), failure.unwrap_or_else(by_itself));
    }

    fn blame(&mut self, server: &str, failure: Failure) {
        let told = self.lost.take();
        let then = told
            .as_ref()
            .map(|lost| format!("; then its client: {}", lost.failure.detail));
        self.lost = Some(Lost {
            failure: Failure {
                detail: format!("{server} ended: {}{}", failure.detail, then.unwrap_or_default()),
                ..failure
            },
            box_lives: told.is_none_or(|lost| lost.box_lives),
        });
    }

    /// Keeps what a server printed, for a trial that fails. Its last words, in one line: the
    /// very last one may be no more than a farewell.
    fn hear(&mut self, server: &str, said: Vec<u8>) -> Vec<u8> {
        let text = String::from_utf8_lossy(&said);
        let lines: Vec<&str> = text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        let last = lines[lines.len().saturating_sub(LAST_WORDS)..].join("; ");
        if !said.is_empty() {
            self.servers.words.push(Words {
                name: server.to_owned(),
                said,
            });
        }
        last.into_bytes()
    }

    /// What all of its processes printed, beside this of its client.
    pub(super) fn all_printed(&self, client: Option<Printed>) -> Printed {
        let mut printed = client.unwrap_or_else(|| Printed {
            stdout: String::new(),
            stderr: String::new(),
        });
        for Words { name, said } in &self.servers.words {
            let said = Output {
                stdout: &[],
                stderr: said,
            };
            printed.stderr += &format!("[{name} printed]\n{}\n", said.printed().stderr);
        }
        printed
    }
}

/// The port at which a server listens whatever it is told, where its file names one.
fn fixed_port(role: &Role) -> Option<u16> {
    match &role.ready {
        Some(Ready::Tcp(port)) => port.parse().ok(),
        _ => None,
    }
}

/// A server, for people.
fn called(role: &Role) -> String {
    match role.name.as_str() {
        "server" => "the server".to_owned(),
        name => format!("the server {name}"),
    }
}

/// What a server that said this and ran to the end of its time did not do.
fn waited_for(request: &Request, said: &[u8]) -> String {
    let Request::Start { task, bounds, .. } = request else {
        return String::new();
    };
    let seconds = Duration::from_nanos(bounds.timeout_ns).as_secs();
    let what = match task {
        Task::Server { ready, .. } => match ready {
            Ready::Tcp(at) => {
                let is_loopback = at.parse().is_ok_and(|at: SocketAddr| at.ip().is_loopback());
                let question = match is_loopback {
                    true => "does it listen at that address?",
                    false => "does it listen at that address, or at 127.0.0.1 alone?",
                };
                format!("it takes no connection at {at} ({question})")
            }
            Ready::Line(pattern) => match extract::line_without_end(pattern, said) {
                Some(line) => format!("it printed no line end after '{line}'"),
                None => format!("it printed no line with '{pattern}'"),
            },
            Ready::Command(argv) => format!("'{}' did not end with status 0", argv.join(" ")),
            Ready::Later(_) => "its sign is of a later version of tare".to_owned(),
        },
        _ => String::new(),
    };
    format!("{what} within {seconds} s")
}
