//! Texts that boxes tell, kept short: whoever is in a box may have written them, and every
//! failed trial has one.

use std::borrow::Cow;

/// Characters of such a text that are kept: an error's message is a few lines.
const MOST: usize = 1000;

/// The beginning of a text, with how much was left out.
pub fn brief(text: &str) -> Cow<'_, str> {
    // Not all of a long one need be counted.
    match text.char_indices().nth(MOST) {
        None => Cow::Borrowed(text),
        Some((end, _)) => {
            let left_out = text.len() - end;
            Cow::Owned(format!("{} [{left_out} B omitted]", &text[..end]))
        }
    }
}

/// Shortens a text in its place.
pub fn shorten(text: &mut String) {
    if let Cow::Owned(short) = brief(text) {
        *text = short;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_message_is_kept_whole_and_a_flood_is_not() {
        let message = "é".repeat(MOST);
        assert_eq!(brief(&message), message);
        let flood = format!("{message}{}", "x".repeat(10 << 20));
        let short = brief(&flood);
        assert!(short.starts_with(&message) && short.ends_with(" [10485760 B omitted]"));
    }

    proptest! {
        #[test]
        fn whatever_it_holds_it_is_short_and_begins_alike(text in ".{0,1200}", often in 1usize..20) {
            let text = text.repeat(often);
            let mut short = text.clone();
            shorten(&mut short);
            prop_assert!(short.chars().count() <= MOST + 40);
            let begins: String = text.chars().take(MOST).collect();
            prop_assert!(short.starts_with(&begins));
        }
    }
}
