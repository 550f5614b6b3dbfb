//! The probes' tables, as evidence.

use super::symbols::Symbols;
use super::{CALLS, ProbeError, SAMPLES_PER_SECOND, is_here, no_table};
use aya::Ebpf;
use aya::maps::{Map, MapError, PerCpuArray, PerCpuHashMap, StackTraceMap};
use std::collections::BTreeMap;
use syscalls::Sysno;
use tare_model::evidence::{Aside, Count, Histogram, ProbeSet, Seen, Stack, State, Timed};

/// Places of a histogram.
const SLOTS: usize = 40;
/// The words of a histogram: how many, how long, and its places.
const HISTOGRAM: usize = SLOTS + 2;
/// The words of what is seen of a box: a histogram for each state, the counts, and what was lost.
const SEEN: usize = HISTOGRAM * State::ALL.len() + Count::ALL.len() + 1;
/// Places of a box in the table of what is done beside tasks.
pub(crate) const ASIDES: u32 = 12;

/// Box, state and number of a stack; a word to fill.
type ByStack = [u32; 4];

fn map<'a>(ebpf: &'a Ebpf, name: &str) -> Result<&'a Map, MapError> {
    ebpf.map(name).ok_or_else(|| no_table(name))
}

/// What one box has in the tables, without its stacks.
pub(crate) fn of_box(ebpf: &Ebpf, set: ProbeSet, number: u32) -> Result<Seen, MapError> {
    let words = words(ebpf, number)?;
    let mut seen = Seen {
        lost: words[SEEN - 1],
        ..Seen::default()
    };
    match set {
        ProbeSet::Times => {
            seen.times = times(&words);
            seen.counts = counts(&words);
            let asides = timed(ebpf, "asides", number * ASIDES, ASIDES)?;
            let of = |(place, timed): (usize, Timed)| Some((*Aside::ALL.get(place)?, timed));
            seen.asides = asides.into_iter().filter_map(of).collect();
        }
        ProbeSet::Calls => {
            let calls = timed(ebpf, "calls", number * CALLS, CALLS)?;
            let named = calls.into_iter().map(|(call, timed)| (call_name(call), timed));
            seen.calls = named.collect();
        }
        ProbeSet::Stacks => {}
    }
    Ok(seen)
}

/// The sums over CPUs of all words of a box.
fn words(ebpf: &Ebpf, number: u32) -> Result<[u64; SEEN], MapError> {
    let table: PerCpuArray<_, [u64; SEEN]> = map(ebpf, "seen")?.try_into()?;
    let mut sums = [0; SEEN];
    for cpu in table.get(&number, 0)?.iter() {
        sums.iter_mut().zip(cpu).for_each(|(sum, word)| *sum += word);
    }
    Ok(sums)
}

fn times(words: &[u64; SEEN]) -> BTreeMap<State, Histogram> {
    let all = State::ALL.into_iter().zip(words.chunks_exact(HISTOGRAM));
    all.filter(|(_, words)| words[0] > 0)
        .map(|(state, words)| (state, histogram(words)))
        .collect()
}

fn histogram(words: &[u64]) -> Histogram {
    let slots = &words[2..];
    let end = slots.iter().rposition(|n| *n > 0).map_or(0, |last| last + 1);
    Histogram {
        n: words[0],
        ns: words[1],
        log2: slots[..end].to_vec(),
    }
}

/// Those that were looked for and did not occur are 0. Faults are those of x86 alone.
fn counts(words: &[u64; SEEN]) -> BTreeMap<Count, u64> {
    let counts = &words[HISTOGRAM * State::ALL.len()..];
    let is_looked_for = |(count, _): &(Count, u64)| match count {
        Count::Faults | Count::KernelFaults => is_here("page_fault_user"),
        _ => true,
    };
    let all = Count::ALL.into_iter().zip(counts.iter().copied());
    all.filter(is_looked_for).collect()
}

/// What is in so many places of a table from one on, where anything is.
fn timed(ebpf: &Ebpf, name: &str, from: u32, places: u32) -> Result<Vec<(usize, Timed)>, MapError> {
    let table: PerCpuArray<_, [u64; 2]> = map(ebpf, name)?.try_into()?;
    let mut all = Vec::new();
    for place in 0..places {
        let sum = sum(table.get(&(from + place), 0)?.iter());
        if sum.n > 0 {
            all.push((place as usize, sum));
        }
    }
    Ok(all)
}

fn sum<'a>(of_cpus: impl Iterator<Item = &'a [u64; 2]>) -> Timed {
    of_cpus.fold(Timed::default(), |all, [n, ns]| Timed {
        n: all.n + n,
        ns: all.ns + ns,
    })
}

fn call_name(number: usize) -> String {
    Sysno::new(number).map_or_else(|| format!("call {number}"), |call| call.name().to_owned())
}

/// Adds the stacks of every box.
pub(crate) fn add_stacks(ebpf: &Ebpf, all: &mut [Seen]) -> Result<(), ProbeError> {
    let by_stack: PerCpuHashMap<_, ByStack, [u64; 2]> = map(ebpf, "by_stack")?.try_into()?;
    let traces: StackTraceMap<_> = map(ebpf, "stacks")?.try_into()?;
    let symbols = Symbols::read().map_err(|source| ProbeError::Host {
        what: "/proc/kallsyms",
        source,
    })?;
    for entry in by_stack.iter() {
        let ([number, state, stack, _], of_cpus) = entry?;
        let frames = match stack.cast_signed() {
            ..0 => "[user]".to_owned(),
            _ => {
                let trace = traces.get(&stack, 0)?;
                symbols.folded(trace.frames().iter().map(|frame| frame.ip))
            }
        };
        let (Some(seen), Some(state)) = (
            (number as usize)
                .checked_sub(1)
                .and_then(|place| all.get_mut(place)),
            State::ALL.get(state as usize),
        ) else {
            continue;
        };
        let Timed { n, ns } = sum(of_cpus.iter());
        let ns = if *state == State::OnCpu {
            n * 1_000_000_000 / SAMPLES_PER_SECOND
        } else {
            ns
        };
        match seen
            .stacks
            .iter_mut()
            .find(|known| known.state == *state && known.frames == frames)
        {
            // Two places in a function, or a stack that was told twice.
            Some(known) => {
                known.n += n;
                known.ns += ns;
            }
            None => seen.stacks.push(Stack {
                state: *state,
                frames,
                n,
                ns,
            }),
        }
    }
    all.iter_mut().for_each(|seen| {
        seen.stacks
            .sort_by(|a, b| (a.state, &a.frames).cmp(&(b.state, &b.frames)))
    });
    Ok(())
}
