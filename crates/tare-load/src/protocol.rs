//! From what is asked to what understands the answers.

use crate::answers::Answers;
use crate::http::Http;
use crate::mysql::Mysql;
use crate::postgresql::Postgresql;
use crate::resp::Resp;
use tare_wire::load::Asked;

/// What tells the answers to such requests apart, of a connection that is fresh.
pub fn answers_to(asked: &Asked) -> Box<dyn Answers> {
    match asked {
        Asked::Http(_) => Box::new(Http::default()),
        Asked::Resp { .. } => Box::new(Resp::default()),
        Asked::Postgresql(_) => Box::new(Postgresql::default()),
        Asked::Mysql(_) => Box::new(Mysql::default()),
    }
}
