//! The images that come with tare.

use super::file::{self, ImageFile};

/// Their names and texts.
const FILES: [(&str, &str); 4] = [
    ("all", include_str!("../../images/all.toml")),
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

/// The smallest of them that has all of both; `None` if none has.
pub fn with_both<'a>(one: &'a str, other: &'a str) -> Option<&'a str> {
    let all = [one, other].into_iter().chain(names());
    let mut fit = all.filter(|name| has_all_of(name, one) && has_all_of(name, other));
    fit.next()
}

/// Whether an image of this name has all of the other.
pub(super) fn has_all_of(name: &str, other: &str) -> bool {
    let includes = || shipped(name).map_or(Vec::new(), |file| file.includes);
    name == other || includes().iter().any(|included| has_all_of(included, other))
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
        for (one, other, both) in [
            ("micro", "micro", Some("micro")),
            ("micro", "apps", Some("apps")),
            ("clusters", "micro", Some("all")),
            ("apps", "clusters", Some("all")),
            ("mine", "mine", Some("mine")),
            ("mine", "micro", None),
        ] {
            assert_eq!(with_both(one, other), both);
        }
        let (apps, micro) = (shipped("apps").unwrap().debian, shipped("micro").unwrap().debian);
        assert!(
            micro
                .packages
                .iter()
                .all(|package| apps.packages.contains(package))
        );
    }
}
