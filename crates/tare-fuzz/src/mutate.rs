//! New inputs from old ones. Mutations know what text formats have in common: numbers,
//! quoted strings, brackets, lines.

use crate::INPUT_BYTES;
use std::ops::Range;

/// A source of numbers: SplitMix64, of which every start is a good one.
#[derive(Debug)]
pub struct Dice(pub u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `n`; 0 if that is 0.
    pub fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % n).unwrap_or_default()
    }

    fn of<'a, T>(&mut self, all: &'a [T]) -> Option<&'a T> {
        all.get(self.below(all.len()))
    }
}

/// Numbers at which something ends.
const EDGES: [&str; 32] = [
    "0",
    "-0",
    "1",
    "-1",
    "2",
    "0.5",
    "-0.5",
    "1e-300",
    "5e-324",
    "1e300",
    "-1e300",
    "1e308",
    "1e999",
    "1e15",
    "127",
    "128",
    "255",
    "256",
    "32768",
    "65535",
    "65536",
    "1000000",
    "2147483647",
    "2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999999",
];

/// Strings that are hard on whoever prints or compares them.
const STRINGS: [&str; 14] = [
    "",
    " ",
    "0",
    "a",
    "\u{1b}[31m",
    "\u{0}",
    "\u{202e}",
    "\u{feff}",
    "é",
    "𝒳",
    "<script>",
    "\\",
    "\\u0000",
    "../../x",
];

/// Most mutations at a time.
const MOST: usize = 6;

/// Makes a new input of `parent` and, now and then, a part of `other`. `words` are tokens of
/// the format.
pub fn mutate(dice: &mut Dice, parent: &[u8], other: &[u8], words: &[&str]) -> Vec<u8> {
    let mut input = parent.to_vec();
    for _ in 0..=dice.below(MOST) {
        once(dice, &mut input, other, words);
        input.truncate(INPUT_BYTES);
    }
    input
}

fn once(dice: &mut Dice, input: &mut Vec<u8>, other: &[u8], words: &[&str]) {
    let at = dice.below(input.len() + 1);
    match dice.below(16) {
        0 => flip(dice, input),
        1 => {
            let cut = any_range(dice, input);
            input.drain(cut);
        }
        2 => input.truncate(at),
        3 => {
            let part = any_range(dice, other);
            put(input, at..at, &other[part]);
        }
        4 => {
            let (to, from) = (any_range(dice, input), any_range(dice, other));
            put(input, to, &other[from]);
        }
        5 => {
            let word = dice.of(words).copied().unwrap_or_default();
            put(input, at..at, word.as_bytes());
        }
        6..=8 => at_place(dice, input, number, &EDGES),
        9 => at_place(dice, input, quoted, &STRINGS),
        10 => at_place(dice, input, quoted, words),
        11 => exchange(dice, input, quoted),
        12 => exchange(dice, input, bracketed),
        13 => lines(dice, input),
        14 => repeat(dice, input),
        _ => {
            let place = bracketed(input, at);
            place.into_iter().for_each(|range| drop(input.drain(range)));
        }
    }
}

fn put(input: &mut Vec<u8>, range: Range<usize>, part: &[u8]) {
    input.splice(range, part.iter().copied());
}

/// A part that is short more often than long.
fn any_range(dice: &mut Dice, bytes: &[u8]) -> Range<usize> {
    let begin = dice.below(bytes.len() + 1);
    let bound = [4, 32, 512, bytes.len()][dice.below(4)];
    let length = dice.below(bound.min(bytes.len() - begin) + 1);
    begin..begin + length
}

fn flip(dice: &mut Dice, input: &mut [u8]) {
    let at = dice.below(input.len());
    if let Some(byte) = input.get_mut(at) {
        *byte = match dice.below(3) {
            0 => *byte ^ (1 << dice.below(8)),
            1 => byte.wrapping_add(1),
            _ => dice.next().to_le_bytes()[0],
        };
    }
}

/// Puts one of `all` in the place that `find` finds from any point on.
fn at_place(
    dice: &mut Dice,
    input: &mut Vec<u8>,
    find: fn(&[u8], usize) -> Option<Range<usize>>,
    all: &[&str],
) {
    let from = dice.below(input.len());
    let word = dice.of(all).copied().unwrap_or_default();
    if let Some(place) = find(input, from) {
        put(input, place, word.as_bytes());
    }
}

/// Puts what stands at one place to another.
fn exchange(dice: &mut Dice, input: &mut Vec<u8>, find: fn(&[u8], usize) -> Option<Range<usize>>) {
    let [from, to] = [(); 2].map(|()| dice.below(input.len()));
    if let Some((from, to)) = find(input, from).zip(find(input, to)) {
        let part = input[from].to_vec();
        put(input, to, &part);
    }
}

/// Takes a line out, doubles it, or puts it elsewhere.
fn lines(dice: &mut Dice, input: &mut Vec<u8>) {
    let from = line(input, dice.below(input.len()));
    let part = input[from.clone()].to_vec();
    let to = line(input, dice.below(input.len())).start;
    match dice.below(3) {
        0 => drop(input.drain(from)),
        1 => put(input, from.end..from.end, &part),
        _ => put(input, to..to, &part),
    }
}

/// Repeats a part until it is long.
fn repeat(dice: &mut Dice, input: &mut Vec<u8>) {
    let range = any_range(dice, input);
    // Very long ones are seldom: each takes the time of a hundred others.
    let times = [2, 2, 3, 3, 10, 10, 200, 5000][dice.below(8)].min(INPUT_BYTES / range.len().max(1));
    let part = input[range.clone()].repeat(times);
    put(input, range.end..range.end, &part);
}

/// The next number from here on.
fn number(input: &[u8], from: usize) -> Option<Range<usize>> {
    let start = from + input.get(from..)?.iter().position(u8::is_ascii_digit)?;
    let is_part =
        |byte: &u8| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'+' | b'-' | b'_');
    let before = input[..start]
        .iter()
        .rev()
        .take_while(|byte| is_part(byte))
        .count();
    let length = input[start..].iter().take_while(|byte| is_part(byte)).count();
    Some(start - before..start + length)
}

/// What stands between the next two quotation marks.
fn quoted(input: &[u8], from: usize) -> Option<Range<usize>> {
    let is_mark = |byte: &u8| *byte == b'"';
    let start = from + input.get(from..)?.iter().position(is_mark)? + 1;
    let length = input[start..].iter().position(is_mark)?;
    Some(start..start + length)
}

/// The next pair of brackets, with what stands in it.
fn bracketed(input: &[u8], from: usize) -> Option<Range<usize>> {
    let start = from
        + input
            .get(from..)?
            .iter()
            .position(|byte| matches!(byte, b'{' | b'['))?;
    let mut depth = 0_u32;
    for (at, byte) in input[start..].iter().enumerate() {
        match byte {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(start..start + at + 1);
        }
    }
    None
}

/// The line that this byte is in, with its end.
fn line(input: &[u8], at: usize) -> Range<usize> {
    let is_end = |byte: &u8| *byte == b'\n';
    let start = input[..at].iter().rposition(is_end).map_or(0, |end| end + 1);
    let end = input[at..]
        .iter()
        .position(is_end)
        .map_or(input.len(), |end| at + end + 1);
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found() {
        let text = b"{\"a\": -1.5e3, \"b\": [1, {}]}\nnext\n";
        let part = |range: Option<Range<usize>>| String::from_utf8_lossy(&text[range.unwrap()]).into_owned();
        assert_eq!(part(number(text, 0)), "-1.5e3");
        assert_eq!(part(number(text, 8)), "-1.5e3");
        assert_eq!(
            (part(quoted(text, 0)), part(quoted(text, 4))),
            ("a".to_owned(), "b".to_owned())
        );
        assert_eq!(part(bracketed(text, 1)), "[1, {}]");
        assert_eq!(part(Some(line(text, 30))), "next\n");
        assert_eq!(
            (number(b"a", 0), quoted(b"\"", 0), bracketed(b"[", 0)),
            (None, None, None)
        );
    }

    #[test]
    fn anything_can_be_mutated_and_the_same_dice_do_the_same() {
        let parents: [&[u8]; 4] = [b"", b"\n", b"{\"a\":[1,2]}\n", &[0xa7; 40]];
        let mut seen = std::collections::BTreeSet::new();
        for start in 0..2000 {
            for parent in parents {
                let [first, second] =
                    [(); 2].map(|()| mutate(&mut Dice(start), parent, b"other \"text\" 17", &["word"]));
                assert_eq!(first, second);
                assert!(first.len() <= INPUT_BYTES);
                seen.insert(first);
            }
        }
        assert!(seen.len() > 2000, "{}", seen.len());
    }
}
