//! Targets, and whether they were met.

/// A figure that shall be small.
pub struct Target {
    /// Which, for people.
    pub what: String,
    /// As measured; what is no number meets no target.
    pub found: f64,
    /// The target.
    pub at_most: f64,
}

impl Target {
    /// Whether it is as small as it shall be.
    pub fn met(&self) -> bool {
        self.found <= self.at_most
    }

    /// The line of a table.
    pub fn row(&self) -> String {
        let Self { what, found, at_most } = self;
        let digits = if *at_most < 1.0 { 3 } else { 0 };
        let word = if self.met() { "met" } else { "MISSED" };
        format!("  {what:50} {found:8.digits$}   at most {at_most:.digits$}: {word}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(found: f64) -> Target {
        Target {
            what: "x".to_owned(),
            found,
            at_most: 0.2,
        }
    }

    #[test]
    fn what_could_not_be_told_is_missed() {
        assert!(target(0.2).met());
        assert!(!target(0.21).met() && !target(f64::NAN).met());
        assert!(target(f64::NAN).row().ends_with("NaN   at most 0.200: MISSED"));
    }
}
