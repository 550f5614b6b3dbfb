//! Words of a command line that is to be copied.

/// An argument as a shell takes it: in quotes where a shell would read more into it, such as `?`,
/// for which some look for files, and `&`.
pub fn word(argument: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./,:=@%+".contains(c);
    if !argument.is_empty() && argument.chars().all(plain) {
        argument.to_owned()
    } else {
        format!("'{}'", argument.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::word;

    #[test]
    fn what_a_shell_would_read_more_into_is_quoted() {
        assert_eq!(word("native,runc"), "native,runc");
        assert_eq!(word("docker?network=bridge"), "'docker?network=bridge'");
        assert_eq!(
            word("bonnie++?ram=1024&size=3072"),
            "'bonnie++?ram=1024&size=3072'"
        );
        assert_eq!(word("it's"), r"'it'\''s'");
        assert_eq!(word(""), "''");
    }
}
