//! What a misspelt word was meant to be, wherever a name is asked for.

use strsim::osa_distance;

/// No word that is meant is longer, in characters, and the distance takes time.
const LONGEST: usize = 64;

/// `did you mean 'x'?` if one is near, else all of them: `the keys are a, b, c`.
pub fn among(word: &str, known: &[&str], what: &str) -> String {
    match nearest(word, known) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("{what} are {}", known.join(", ")),
    }
}

/// The known word that few slips of the keyboard turn into this one, or that it begins.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    if word.chars().count() > LONGEST {
        return None;
    }
    let word = &word.to_lowercase();
    let slips = slips(word);
    let near = known.iter().map(|k| (osa_distance(word, k), *k));
    near.filter(|(distance, _)| *distance <= slips)
        .min()
        .map(|(_, known)| known)
        .or_else(|| known.iter().find(|k| begins(word, k)).copied())
}

/// The known words that may be meant, nearest first: those that few slips turn into this one, or a part of
/// theirs, then those that it is a part of.
pub fn near<'a>(word: &str, known: &[&'a str], most: usize) -> Vec<&'a str> {
    if word.chars().count() > LONGEST {
        return Vec::new();
    }
    let word = word.to_lowercase();
    let slips = slips(&word);
    let far = |known: &str| {
        let known = known.to_lowercase();
        let parts = known.split([' ', '-']).chain([known.as_str()]);
        let nearest = parts.map(|part| osa_distance(&word, part)).min();
        let part = word.chars().count() >= 3 && known.contains(&word);
        nearest
            .filter(|d| *d <= slips)
            .or_else(|| part.then_some(slips + 1))
    };
    let mut near: Vec<(usize, &str)> = known.iter().filter_map(|k| Some((far(k)?, *k))).collect();
    near.sort_by_key(|(far, _)| *far);
    near.into_iter().map(|(_, known)| known).take(most).collect()
}

/// The most slips by which a word may miss the one that is meant.
fn slips(word: &str) -> usize {
    (word.chars().count() / 3).clamp(1, 3)
}

/// Whether a word is the beginning of a known one, and enough of it to be no chance.
fn begins(word: &str, known: &str) -> bool {
    word.chars().count() >= 3 && known.starts_with(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_found_and_another_word_is_not() {
        let known = ["stream", "linpack", "syscall", "spawn"];
        assert_eq!(among("steram", &known, "they"), "did you mean 'stream'?");
        assert_eq!(among("Stream", &known, "they"), "did you mean 'stream'?");
        assert_eq!(among("lin", &known, "they"), "did you mean 'linpack'?");
        assert_eq!(among("spwan", &known, "they"), "did you mean 'spawn'?");
        assert_eq!(
            among("sort", &known, "they"),
            "they are stream, linpack, syscall, spawn"
        );
    }

    #[test]
    fn the_near_ones_are_few_and_the_nearest_comes_first() {
        let known = ["mean cost", "CPU cost", "costs", "range of sizes", "host-busy"];
        assert_eq!(near("costs", &known, 2), ["costs", "mean cost"]);
        assert_eq!(near("cpu", &known, 4), ["CPU cost"]);
        assert_eq!(near("bsuy", &known, 4), ["host-busy"]);
        assert_eq!(near("rang", &known, 4), ["range of sizes"]);
        assert!(near("xyzzy", &known, 4).is_empty());
        assert!(near(&"cost".repeat(20), &known, 4).is_empty());
    }
}
