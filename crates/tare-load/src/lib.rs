//! The client that loads servers: one thread that keeps connections to a server and asks over
//! them what it is told, in slices.
//!
//! - In a **closed loop** each answer makes room for the next request: what is measured is how
//!   many a server answers, and a slow answer delays the requests behind it.
//! - In an **open loop** requests come at times that were drawn before, as from users who know
//!   nothing of one another. The latency of each counts from the time at which it was to be sent,
//!   whether or not the client or the server was ready for it: a server that stands still for a
//!   second is charged for all requests of that second (no coordinated omission).
//!
//! Every answer is looked at: one that is an error, or of another kind than due, fails the trial.

#![forbid(unsafe_code)]

mod answers;
mod arrivals;
mod client;
mod connection;
mod http;
mod mysql;
mod postgresql;
mod protocol;
mod request;
mod resp;
mod sql;

pub use answers::{Answer, Answers};
pub use protocol::answers_to;

use client::Client;
use std::io::{BufRead, Write};
use std::net::SocketAddr;
use tare_kernels::KernelError;
use tare_kernels::gate::{Gate, Sliced};
use tare_wire::load::{LoadReport, LoadSpec};

/// Asks of this server what is ordered: says `ready` once all connections are made, then answers
/// each line of `orders` (JSON of [`Order`](tare_wire::gate::Order), of which a unit is a
/// request) by a line (JSON of [`Slice`](tare_wire::gate::Slice), with the latency of each
/// timed request).
///
/// # Errors
/// [`KernelError`] if there is no way to the server, if it closes a connection in the middle of an
/// answer, and of a line that is no order.
pub fn serve(
    spec: &LoadSpec,
    server: SocketAddr,
    orders: &mut dyn BufRead,
    answers: &mut dyn Write,
) -> Result<LoadReport, KernelError> {
    let mut client = Client::to(spec, server)?;
    Gate::new(orders, answers).serve(1, &mut client)?;
    let check = client.check();
    Ok(LoadReport {
        spec: spec.clone(),
        requests: client.requests(),
        reconnected: client.reconnected(),
        check,
        first_wrong: client.first_wrong(),
    })
}

#[cfg(test)]
mod tests;
