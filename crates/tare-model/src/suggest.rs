//! What a misspelt word was meant to be, wherever a name is asked for.

/// `did you mean 'x'?` if one is near, else all of them: `the keys are a, b, c`.
pub fn among(word: &str, known: &[&str], what: &str) -> String {
    match nearest(word, known) {
        Some(near) => format!("did you mean '{near}'?"),
        None => format!("{what} are {}", known.join(", ")),
    }
}

/// The known word that few slips of the keyboard turn into this one, or that it begins.
pub fn nearest<'a>(word: &str, known: &[&'a str]) -> Option<&'a str> {
    // No word that is meant is this long, and the distance takes time.
    if word.chars().count() > 64 {
        return None;
    }
    let word = &word.to_lowercase();
    let slips = (word.chars().count() / 3).clamp(1, 3);
    let near = known.iter().map(|k| (distance(word, k), *k));
    near.filter(|(distance, _)| *distance <= slips)
        .min()
        .map(|(_, known)| known)
        .or_else(|| known.iter().find(|k| begins(word, k)).copied())
}

/// Whether a word is the beginning of a known one, and enough of it to be no chance.
fn begins(word: &str, known: &str) -> bool {
    word.chars().count() >= 3 && known.starts_with(word)
}

/// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
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
        assert_eq!(distance("", "abc"), 3);
        assert_eq!(distance("dokcer", "docker"), 1);
    }
}
