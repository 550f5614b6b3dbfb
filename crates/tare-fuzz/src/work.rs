//! The worker: input after input, each told to the supervisor before it is tried.

use crate::mutate::{Dice, mutate};
use crate::targets::Target;
use crate::{MEMORY_BYTES, corpus};
use std::collections::HashSet;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, Instant};
use tare_sys::counting;

/// Most inputs from which others are made.
const POOL: usize = 4096;
/// Most marks that are told apart, which bounds the memory for them.
const MARKS: usize = 1 << 20;

/// A fault that is put into the worker itself, by which tests see that it is caught.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Plant {
    Panic,
    /// It goes on for ever.
    Hang,
    /// It holds more memory than an input may take.
    Memory,
    /// It asks for more memory than a worker may have.
    Flood,
    /// Its stack overflows.
    Stack,
}

impl Plant {
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "panic" => Self::Panic,
            "hang" => Self::Hang,
            "memory" => Self::Memory,
            "flood" => Self::Flood,
            "stack" => Self::Stack,
            _ => return None,
        })
    }

    #[expect(clippy::panic, reason = "that is what it is for")]
    fn grow(self) {
        match self {
            Self::Panic => panic!("planted"),
            Self::Hang => loop {
                std::hint::spin_loop();
            },
            Self::Memory => drop(std::hint::black_box(vec![1_u8; MEMORY_BYTES + 1])),
            Self::Flood => drop(std::hint::black_box(vec![1_u8; crate::HARD_MEMORY_BYTES])),
            Self::Stack => {
                std::hint::black_box(deeper(1));
            }
        }
    }
}

/// Calls itself for longer than any stack is deep.
fn deeper(depth: u64) -> u64 {
    let here = std::hint::black_box([depth; 64]);
    if depth == u64::MAX {
        0
    } else {
        deeper(depth + 1) + here[0]
    }
}

/// Where a worker and its supervisor meet: what is tried now, and how much was.
#[derive(Debug)]
pub struct Note {
    file: File,
}

impl Note {
    /// A note in this file.
    pub const fn new(file: File) -> Self {
        Self { file }
    }

    /// Tells an input with its number.
    ///
    /// # Errors
    /// Those of writing.
    pub fn tell(&self, number: u64, input: &[u8]) -> io::Result<()> {
        let length = u64::try_from(input.len()).unwrap_or_default();
        let mut note = [number.to_le_bytes(), length.to_le_bytes()].concat();
        note.extend_from_slice(input);
        self.file.write_all_at(&note, 0)
    }

    /// The number of what is tried now; 0 at first.
    pub fn number(&self) -> u64 {
        self.word(0)
    }

    /// What is tried now.
    ///
    /// # Errors
    /// Those of reading.
    pub fn input(&self) -> io::Result<Vec<u8>> {
        let mut input = vec![0; usize::try_from(self.word(8)).unwrap_or_default()];
        self.file.read_exact_at(&mut input, 16)?;
        Ok(input)
    }

    fn word(&self, at: u64) -> u64 {
        let mut word = [0; 8];
        let read = self.file.read_exact_at(&mut word, at);
        read.map_or(0, |()| u64::from_le_bytes(word))
    }
}

/// Tries inputs for so long. First every example and whatever was found before.
///
/// # Errors
/// Those of the files, and an input that took too much memory; the supervisor knows which.
pub fn work(
    target: &Target,
    folder: &Path,
    note: &Note,
    (seed, time): (u64, Duration),
    plant: Option<Plant>,
) -> anyhow::Result<()> {
    let mut pool: Vec<Vec<u8>> = Vec::new();
    for kind in ["corpus", "found"] {
        let files = corpus::files(&folder.join(kind).join(target.name))?;
        pool.extend(files.into_iter().map(|(_, input)| input));
    }
    anyhow::ensure!(
        !pool.is_empty(),
        "there are no examples in {}/corpus/{}",
        folder.display(),
        target.name
    );
    let mut dice = Dice(seed);
    let mut marks = HashSet::new();
    let examples = pool.len();
    // Long inputs are tried, but what grows from them would be long and slow for ever.
    let longest = 2 * pool.iter().map(Vec::len).max().unwrap_or_default();
    let deadline = Instant::now() + time;
    let mut number = 0;
    while number < examples as u64 || Instant::now() < deadline {
        let input = match usize::try_from(number).ok().filter(|number| *number < examples) {
            Some(example) => pool[example].clone(),
            None => {
                let [parent, other] = [(); 2].map(|()| dice.below(pool.len()));
                mutate(&mut dice, &pool[parent], &pool[other], target.words)
            }
        };
        number += 1;
        note.tell(number, &input)?;
        let mark = attempt(target, &input, plant.filter(|_| dice.below(50) == 0))?;
        let is_new = marks.len() < MARKS && marks.insert(mark);
        if is_new && input.len() <= longest && number > examples as u64 {
            // The examples stay; of the others one makes place.
            match pool.len() < POOL {
                true => pool.push(input),
                false => pool[examples + dice.below(POOL - examples)] = input,
            }
        }
    }
    Ok(())
}

/// Tries one input: what the target makes of it.
fn attempt(target: &Target, input: &[u8], plant: Option<Plant>) -> anyhow::Result<u64> {
    let held = counting::held();
    counting::most_since();
    let mark = (target.run)(input);
    plant.into_iter().for_each(Plant::grow);
    let taken = counting::most_since().saturating_sub(held);
    anyhow::ensure!(
        taken <= MEMORY_BYTES,
        "an input of {} B took {} MiB, over the bound of {} MiB",
        input.len(),
        taken >> 20,
        MEMORY_BYTES >> 20
    );
    Ok(mark)
}
