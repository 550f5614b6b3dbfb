//! Names by number, so that a row holds no text.

use std::collections::HashMap;

/// Names in the order of their first occurrence.
#[derive(Debug, Default)]
pub(super) struct Names {
    numbers: HashMap<String, u32>,
    names: Vec<String>,
    /// Rows that belong together mostly stand together.
    last: Option<u32>,
}

impl Names {
    /// The number of a name.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(last) = self.last.filter(|last| self.name(*last) == name) {
            return last;
        }
        let number = match self.numbers.get(name) {
            Some(number) => *number,
            None => self.insert(name),
        };
        self.last = Some(number);
        number
    }

    fn insert(&mut self, name: &str) -> u32 {
        // A file with 2^32 different names of 1 byte does not fit into memory.
        let number = u32::try_from(self.names.len()).unwrap_or(u32::MAX);
        self.numbers.insert(name.to_owned(), number);
        self.names.push(name.to_owned());
        number
    }

    /// The number of a name that is there already.
    pub fn find(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub fn name(&self, number: u32) -> &str {
        self.names.get(number as usize).map_or("", String::as_str)
    }

    pub fn all(&self) -> &[String] {
        &self.names
    }
}
