//! The time of a stretch of work that several threads share.

/// From the first start to the last end.
#[derive(Debug, Clone, Copy)]
pub struct Span {
    pub start_ns: u64,
    pub end_ns: u64,
}

impl Span {
    pub const EMPTY: Self = Self {
        start_ns: u64::MAX,
        end_ns: 0,
    };

    pub fn merge(self, other: Self) -> Self {
        Self {
            start_ns: self.start_ns.min(other.start_ns),
            end_ns: self.end_ns.max(other.end_ns),
        }
    }

    pub fn ns(self) -> u64 {
        self.end_ns.saturating_sub(self.start_ns)
    }
}
