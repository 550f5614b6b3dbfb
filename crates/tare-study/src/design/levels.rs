//! Options of platforms as factors: every platform once for each level that it can have.

use super::StudyRequest;
use std::path::Path;
use tare_model::platform::PlatformPath;
use tare_model::template::{LeftOut, Missing};
use tare_platforms::{OPTION_FACTORS, OpenError, OptionFactor, isolates_nothing};

/// Platforms with the levels that they have, and what they do not have.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Spread {
    pub platforms: Vec<PlatformPath>,
    pub left_out: Vec<LeftOut>,
}

/// What the platforms of a study would be with levels that they do not have, for people.
pub fn levels_left_out(wishes: &StudyRequest) -> Vec<LeftOut> {
    let paths = wishes.platforms.iter().filter_map(|name| name.parse().ok());
    spread(paths.collect(), wishes).left_out
}

/// Takes every platform once for each level of an option that it can have, one that has none of
/// them as it is, and none twice.
pub(super) fn spread(platforms: Vec<PlatformPath>, wishes: &StudyRequest) -> Spread {
    let mut all = Spread {
        platforms,
        left_out: Vec::new(),
    };
    for factor in &OPTION_FACTORS {
        let Some(asked) = wishes.levels.get(factor.option) else {
            continue;
        };
        let mut platforms = Vec::new();
        for path in &all.platforms {
            let (taken, left_out) = levels(path, factor, asked);
            platforms.extend(taken);
            all.left_out.extend(left_out);
        }
        all.platforms = platforms;
    }
    let mut seen = std::collections::BTreeSet::new();
    all.platforms.retain(|path| seen.insert(path.clone()));
    all
}

/// One platform with the levels that it can have of those that are asked for.
fn levels(path: &PlatformPath, factor: &OptionFactor, asked: &[String]) -> (Vec<PlatformPath>, Vec<LeftOut>) {
    // Its own word stands, and what it can have in one way only does not vary. The host is as it is: what others are
    // compared with.
    let all = factor.levels.iter();
    if isolates_nothing(path)
        || path.has_option(factor.option)
        || all.filter(|level| with(path, factor, level).is_ok()).count() < 2
    {
        return (vec![path.clone()], Vec::new());
    }
    let mut taken = Vec::new();
    let mut left_out = Vec::new();
    for level in asked {
        match with(path, factor, level) {
            Ok(path) => taken.push(path),
            Err(why) => left_out.push(LeftOut {
                what: Missing::Platform,
                name: path.with_option(factor.option, level).to_string(),
                feature: None,
                why: why.detail(),
            }),
        }
    }
    if taken.is_empty() {
        taken.push(path.clone());
    }
    (taken, left_out)
}

fn with(path: &PlatformPath, factor: &OptionFactor, level: &str) -> Result<PlatformPath, OpenError> {
    let path = path.with_option(factor.option, level);
    tare_platforms::open(&path, Path::new("")).map(|_| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spread_of(platforms: &[&str], levels: &[(&'static str, &[&str])]) -> (Vec<String>, Vec<String>) {
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let wishes = StudyRequest {
            levels: levels
                .iter()
                .map(|(option, words)| (*option, owned(words)))
                .collect(),
            ..StudyRequest::default()
        };
        let paths = platforms.iter().map(|name| name.parse().unwrap()).collect();
        let spread = spread(paths, &wishes);
        let names = spread.platforms.iter().map(ToString::to_string).collect();
        (names, spread.left_out.into_iter().map(|left| left.name).collect())
    }

    #[test]
    fn a_platform_is_taken_once_for_each_level_that_it_has() {
        let (platforms, left_out) = spread_of(
            &["native", "docker", "runc", "vm", "firecracker", "fake"],
            &[("network", &["host", "bridge", "published"])],
        );
        assert_eq!(
            platforms,
            [
                "native",
                "docker?network=host",
                "docker?network=bridge",
                "docker?network=published",
                "runc?network=host",
                "runc?network=bridge",
                "vm?network=bridge",
                "firecracker",
                "fake",
            ]
        );
        assert_eq!(
            left_out,
            [
                "runc?network=published",
                "vm?network=host",
                "vm?network=published"
            ]
        );
    }

    #[test]
    fn a_platform_without_any_of_the_levels_stays_as_it_is_and_its_own_word_stands() {
        let (platforms, left_out) = spread_of(
            &["docker", "runc?network=none", "docker?network=bridge"],
            &[("network", &["bridge", "bridge"])],
        );
        assert_eq!(platforms, ["docker?network=bridge", "runc?network=none"]);
        assert!(left_out.is_empty());
        let (platforms, left_out) = spread_of(&["docker"], &[("network", &["macvlan"])]);
        assert_eq!(platforms, ["docker"]);
        assert_eq!(left_out, ["docker?network=macvlan"]);
    }

    #[test]
    fn only_disks_have_caches() {
        let (platforms, left_out) = spread_of(
            &["native", "docker", "vm"],
            &[("cache", &["none", "unsafe"]), ("storage", &["own", "raw"])],
        );
        assert_eq!(
            platforms,
            [
                "native",
                "docker?storage=own",
                "vm?storage=own",
                "vm?cache=none&storage=raw",
                "vm?cache=unsafe&storage=raw",
            ]
        );
        assert_eq!(left_out, ["docker?storage=raw"]);
    }
}
