//! The cells that tell what each mechanism of a platform costs.

use tare_model::mechanism::Mechanism;
use tare_model::platform::PlatformPath;
use tare_stats::Design;

/// A platform with each set of its mechanisms that the design for so many has: with all on first, with all off last.
pub fn variants(path: &PlatformPath, mechanisms: &[Mechanism]) -> Vec<PlatformPath> {
    let mut sets = Design::cells_for(mechanisms.len());
    sets.sort_unstable_by(|a, b| b.cmp(a));
    let variant = |on: u32| {
        let off = mechanisms.iter().enumerate().filter(|(i, _)| on >> i & 1 == 0);
        off.fold(path.clone(), |path, (_, mechanism)| {
            mechanism.without_option(&path)
        })
    };
    sets.into_iter().map(variant).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use tare_model::mechanism::Switch;

    #[test]
    fn the_corners_are_the_first_and_the_last() {
        let option = |option| Mechanism {
            name: option,
            switch: Switch::Option {
                key: option,
                off: "off",
            },
            functions: &[],
            states: &[],
            remedy: "",
        };
        let two = variants(&"docker".parse().unwrap(), &[option("a"), option("b")]);
        let told: Vec<String> = two.iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            ["docker", "docker?a=off", "docker?b=off", "docker?a=off&b=off"]
        );
        let five = variants(&"docker".parse().unwrap(), &["a", "b", "c", "d", "e"].map(option));
        assert_eq!(five.len(), 12);
        assert_eq!(five[11].to_string(), "docker?a=off&b=off&c=off&d=off&e=off");
    }
}
