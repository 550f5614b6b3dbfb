//! The images that come with tare.

use super::file::{self, ImageFile};

/// Their names and texts.
const FILES: [(&str, &str); 3] = [
    ("apps", include_str!("../../images/apps.toml")),
    ("clusters", include_str!("../../images/clusters.toml")),
    ("micro", include_str!("../../images/micro.toml")),
];

/// The names of all, in order.
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// One of them; `None` if none is called so.
pub fn shipped(name: &str) -> Option<ImageFile> {
    let (name, text) = FILES.iter().find(|(known, _)| *known == name)?;
    let parsed = file::parse(&format!("{name}.toml"), text);
    Some(parsed.expect("what comes with tare is well formed"))
}

/// Whether this image that comes with tare has all that the other has.
pub fn has_all_of(name: &str, other: &str) -> bool {
    shipped(name).is_some_and(|file| file.includes.as_deref() == Some(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_one_is_well_formed_and_bears_its_name() {
        for name in names() {
            let file = shipped(name).unwrap();
            assert_eq!(file.name, name);
            assert!(!file.about.is_empty());
        }
        assert!(shipped("none").is_none());
        assert!(has_all_of("apps", "micro") && !has_all_of("micro", "apps"));
        let (apps, micro) = (shipped("apps").unwrap().debian, shipped("micro").unwrap().debian);
        assert!(
            micro
                .packages
                .iter()
                .all(|package| apps.packages.contains(package))
        );
    }
}
