//! A request that is refused.

use tare_wire::protocol::ErrorCode;

/// Why a request is refused, as the controller is told.
pub struct Refusal {
    pub code: ErrorCode,
    pub message: String,
}

impl Refusal {
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
        }
    }
}
