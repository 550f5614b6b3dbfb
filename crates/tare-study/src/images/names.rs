//! Names that a user may give to an image.

use tare_platforms::IMAGE_ENGINES;

/// What cannot be the name of an image of the user's.
#[derive(Debug, thiserror::Error)]
pub enum NoName {
    /// It means something else wherever an image is asked for.
    #[error(
        "\"{0}\" cannot be the name of an image, as it would be read as {1}: use letters, digits and . _ - : / such as tools:2"
    )]
    Means(String, &'static str),
    /// It is of no form.
    #[error("\"{0}\" cannot be the name of an image: use 1 to 100 letters, digits and . _ - : /")]
    Form(String),
}

/// Whether a name finds the image again that it is given to.
///
/// # Errors
/// [`NoName`].
pub fn check(name: &str) -> Result<(), NoName> {
    const LONGEST: usize = 100;
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-:/@".contains(c);
    let brief = || name.chars().filter(|c| !c.is_control()).take(LONGEST).collect();
    if is_path(name) || name.ends_with(".toml") {
        return Err(NoName::Means(brief(), "a file"));
    }
    if name.starts_with("sha256:") {
        return Err(NoName::Means(brief(), "a digest"));
    }
    let engine = name.split_once(':').map_or("", |(engine, _)| engine);
    if IMAGE_ENGINES.contains(&engine) {
        return Err(NoName::Means(brief(), "an image of a local engine"));
    }
    if name.is_empty() || name.len() > LONGEST || !name.chars().all(fits) {
        return Err(NoName::Form(brief()));
    }
    Ok(())
}

/// Whether a text is a path as a shell would take a command for one.
pub(super) fn is_path(text: &str) -> bool {
    let begins = ["/", "./", "../"].iter().any(|begin| text.starts_with(begin));
    begins || text == "." || text == ".."
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_means_something_else_is_refused() {
        for name in ["tools", "tools:2", "me/tools:2.1_x", "r.example:5000/a"] {
            check(name).unwrap();
        }
        for name in ["./a", "/a", "..", "a.toml", "sha256:12", "docker:a", "podman:a"] {
            assert!(matches!(check(name), Err(NoName::Means(..))), "{name}");
        }
        for name in ["", "a b", "a\nb", &"n".repeat(101)] {
            assert!(matches!(check(name), Err(NoName::Form(_))), "{name}");
        }
    }
}
