//! The servers that the processes of an arm talk to: each is started before its client, told
//! where to listen, and ended after it.

use super::Stop;
use super::arm::{Arm, Lost};
use super::boxes::Held;
use crate::faults;
use crate::trial;
use std::net::SocketAddr;
use tare_box::net::{HostReach, PORT};
use tare_model::finding::Reason;
use tare_model::protocol::{Bounds, Reply, Request, Task};
use tare_model::results::Failure;
use tare_model::workload::{Place, Role};

/// What is added to the number of a process for that of its server, which may be in the same box.
const SERVERS: u16 = 1000;

/// A server that serves.
pub(super) struct Serving {
    /// Its number in its box.
    process: u16,
    /// Which box that is.
    place: Place,
}

/// The way between the two ends of a workload.
#[derive(Debug, Clone, Copy)]
struct Way {
    /// Where the server listens; at port 0, at one that nobody else has.
    listens: SocketAddr,
    /// Where its client finds it, if that is elsewhere.
    found: Option<SocketAddr>,
}

impl Way {
    /// To a server that is in this place, from the other one.
    fn to(server: &Place, held: &Held) -> Result<Self, Failure> {
        let apart = || Failure::new(Reason::CannotRun, "the host and the box share no network");
        let running = &held.running;
        if *server == Place::Outside {
            let host = running.host_address().ok_or_else(apart)?;
            return Ok(Self::direct((host, 0).into()));
        }
        let own = running.address().ok_or_else(apart)?;
        match running.host_reach() {
            HostReach::Direct => Ok(Self::direct((own, 0).into())),
            HostReach::Published(at) => Ok(Self {
                listens: (own, PORT).into(),
                found: Some(at),
            }),
            HostReach::Never => Err(apart()),
        }
    }

    const fn direct(listens: SocketAddr) -> Self {
        Self { listens, found: None }
    }

    /// Where a client finds the server that told this port.
    fn found(self, port: Option<u16>) -> SocketAddr {
        let mut listens = self.listens;
        listens.set_port(port.unwrap_or_else(|| listens.port()));
        self.found.unwrap_or(listens)
    }
}

impl Arm {
    /// What one of its processes is to do, once the server that it talks to serves; `None` if
    /// the arm is lost by that.
    pub(super) fn task(
        &mut self,
        held: &mut Held,
        process: u16,
        bounds: Bounds,
    ) -> Result<Option<Task>, Stop> {
        let Some(role) = self.workload.servers().next().cloned() else {
            return Ok(Some(trial::task(&self.workload, None)?));
        };
        let way = match Way::to(&role.place, held) {
            Ok(way) => way,
            Err(failure) => {
                self.lose(failure);
                return Ok(None);
            }
        };
        let request = Request::Start {
            process: SERVERS + process,
            task: trial::server(&self.workload, &role, way.listens)?,
            bounds,
        };
        let Some(port) = self.serve(held, &role, &request)? else {
            return Ok(None);
        };
        self.serving.push(Serving {
            process: SERVERS + process,
            place: role.place,
        });
        Ok(Some(trial::task(&self.workload, Some(way.found(port)))?))
    }

    /// Starts a server; the port that it told, or `None` if the arm is lost by it.
    fn serve(
        &mut self,
        held: &mut Held,
        role: &Role,
        request: &Request,
    ) -> Result<Option<Option<u16>>, Stop> {
        let answer = held.link(&role.place).request(request, self.patience);
        match self.judge(answer)? {
            Some(Reply::Serves { port }) => return Ok(Some(port)),
            Some(other) => self.lose_box(faults::bad_report(format!("{other:?}"))),
            None => {}
        }
        if let Some(lost) = &mut self.lost {
            lost.failure.detail = format!("the server did not come to serve: {}", lost.failure.detail);
        }
        Ok(None)
    }

    /// Ends its servers. One that had ended by itself is why the arm is lost, whatever its
    /// client told of that.
    pub(super) fn stop_servers(&mut self, held: &mut Held) -> Result<(), Stop> {
        for Serving { process, place } in std::mem::take(&mut self.serving) {
            if self.lost.as_ref().is_some_and(|lost| !lost.box_lives) {
                break;
            }
            let answer = held
                .link(&place)
                .request(&Request::Stop { process }, self.patience);
            let said = answer.as_ref().map(|a| a.stderr.clone()).unwrap_or_default();
            match self.reply(answer)? {
                Some(Reply::Exited(exited)) => {
                    let failed = faults::ended_well(&exited, &said).err();
                    failed.into_iter().for_each(|failure| self.blame_server(failure));
                }
                Some(other) => self.lose_box(faults::bad_report(format!("{other:?}"))),
                None => {}
            }
        }
        Ok(())
    }

    fn blame_server(&mut self, failure: Failure) {
        let told = self.lost.take();
        let then = told
            .as_ref()
            .map(|lost| format!("; then its client: {}", lost.failure.detail));
        self.lost = Some(Lost {
            failure: Failure {
                detail: format!("the server ended: {}{}", failure.detail, then.unwrap_or_default()),
                ..failure
            },
            box_lives: told.is_none_or(|lost| lost.box_lives),
        });
    }
}
