//! Names of images.

use super::Listed;
use crate::ImageError;

const LONGEST: usize = 300;

/// Whether a name can be one of an image.
///
/// # Errors
/// [`ImageError::Name`].
pub fn check(name: &str) -> Result<(), ImageError> {
    let is_digest = name.starts_with("sha256:");
    if is_digest || name.is_empty() || name.len() > LONGEST || name.chars().any(char::is_control) {
        let brief: String = name.chars().filter(|c| !c.is_control()).take(80).collect();
        return Err(ImageError::Name(brief));
    }
    Ok(())
}

/// The names that there are, for whoever asked for another.
pub fn known(all: &[Listed]) -> String {
    /// As many as a message bears.
    const MOST: usize = 10;
    let names = all.iter().flat_map(|listed| listed.manifest.names.clone());
    let mut names: Vec<String> = names.take(MOST + 1).collect();
    if names.is_empty() {
        return "it has none with a name".to_owned();
    }
    if names.len() > MOST {
        names[MOST] = "...".to_owned();
    }
    format!("it has {}", names.join(", "))
}
