//! What Rust's test harness prints, read line by line.

/// How a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    Passed,
    Failed,
    Ignored,
}

/// What a line says.
#[derive(Debug, PartialEq)]
pub enum Line {
    /// Tests follow.
    Begun,
    Test(Test),
    /// A test is skipped on this host, by its own words.
    Skipped {
        test: String,
        why: String,
    },
    /// All tests of a harness ended: so many passed and failed.
    Ended(Counts),
    /// The name of a test that passed, repeated at the end.
    Repeated,
    /// What a failed test printed.
    Said(String),
    Other,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counts {
    pub passed: usize,
    pub failed: usize,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    pub name: String,
    pub end: End,
    /// Unknown without `--report-time`.
    pub seconds: Option<f64>,
}

/// Which part of its output a harness prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Section {
    Tests,
    /// What passed tests printed, and then their names (`--show-output`).
    Successes,
    Failures,
}

/// Reads the output of one harness after another.
pub struct Reader {
    section: Section,
    /// The test whose output follows.
    shown: String,
}

impl Reader {
    pub const fn new() -> Self {
        Self {
            section: Section::Tests,
            shown: String::new(),
        }
    }

    pub fn read(&mut self, line: &str) -> Line {
        if is_beginning(line) {
            self.section = Section::Tests;
            return Line::Begun;
        }
        if let Some(result) = line.strip_prefix("test result: ") {
            return Line::Ended(counts(result));
        }
        match line {
            "successes:" => self.section = Section::Successes,
            "failures:" => self.section = Section::Failures,
            _ => return self.within(line),
        }
        self.shown.clear();
        Line::Other
    }

    fn within(&mut self, line: &str) -> Line {
        if self.section == Section::Tests {
            return test(line).map_or(Line::Other, Line::Test);
        }
        let header = line.strip_prefix("---- ");
        if let Some(name) = header.and_then(|rest| rest.strip_suffix(" stdout ----")) {
            name.clone_into(&mut self.shown);
            return Line::Other;
        }
        if let Some(why) = line.strip_prefix("skipped: ") {
            let test = self.shown.clone();
            let why = why.to_owned();
            return Line::Skipped { test, why };
        }
        match (self.section, self.shown.is_empty()) {
            (Section::Successes, true) if line.starts_with("    ") => Line::Repeated,
            (Section::Failures, false) => Line::Said(line.to_owned()),
            _ => Line::Other,
        }
    }
}

/// `running 12 tests`
fn is_beginning(line: &str) -> bool {
    let rest = line.strip_prefix("running ");
    let number = rest.and_then(|rest| rest.strip_suffix(" tests").or_else(|| rest.strip_suffix(" test")));
    number.is_some_and(|number| number.parse::<u32>().is_ok())
}

/// `FAILED. 2 passed; 1 failed; 0 ignored; ...`
fn counts(result: &str) -> Counts {
    let words: Vec<&str> = result.split([' ', ';']).collect();
    let before = |name: &str| {
        let at = words.iter().position(|word| *word == name)?;
        words.get(at.checked_sub(1)?)?.parse().ok()
    };
    Counts {
        passed: before("passed").unwrap_or(0),
        failed: before("failed").unwrap_or(0),
    }
}

/// `test NAME ... ok <1.234s>`
fn test(line: &str) -> Option<Test> {
    let (name, outcome) = line.strip_prefix("test ")?.split_once(" ... ")?;
    let end = match outcome.split([' ', ',']).next()? {
        "ok" => End::Passed,
        "FAILED" => End::Failed,
        "ignored" => End::Ignored,
        _ => return None,
    };
    let time = outcome.rsplit_once('<').map(|(_, time)| time);
    let seconds = time.and_then(|time| time.strip_suffix("s>")?.parse().ok());
    Some(Test {
        name: name.to_owned(),
        end,
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
running 4 tests
test a::b ... ok <0.250s>
test c ... ignored, slow: make test-all
test d - should panic ... FAILED <12.000s>
test e ... ok

successes:

---- a::b stdout ----
skipped: lxc: not installed
    indented
test f ... ok

successes:
    a::b
    e

failures:

---- d stdout ----
panicked

failures:
    d

test result: FAILED. 2 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 12.00s
";

    #[test]
    fn tests_are_told_from_what_they_print() {
        let mut reader = Reader::new();
        let lines: Vec<Line> = OUTPUT.lines().map(|line| reader.read(line)).collect();
        let test = |name: &str, end, seconds| {
            let name = name.to_owned();
            Line::Test(Test { name, end, seconds })
        };
        let expected = [
            Line::Begun,
            test("a::b", End::Passed, Some(0.25)),
            test("c", End::Ignored, None),
            test("d - should panic", End::Failed, Some(12.0)),
            test("e", End::Passed, None),
            Line::Skipped {
                test: "a::b".to_owned(),
                why: "lxc: not installed".to_owned(),
            },
            Line::Repeated,
            Line::Repeated,
            Line::Said("panicked".to_owned()),
            Line::Said(String::new()),
            Line::Ended(Counts { passed: 2, failed: 1 }),
        ];
        let said: Vec<&Line> = lines.iter().filter(|line| **line != Line::Other).collect();
        assert_eq!(said, expected.iter().collect::<Vec<_>>());
    }
}
