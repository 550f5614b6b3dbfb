//! What is wanted of Maven: names that can be neither an option, nor a path, nor XML.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt::Write;

/// Folders of an image in which artifacts may land. Others belong to the host while an image is made, or are
/// empty in every box.
const TOPS: [&str; 4] = ["opt", "srv", "usr", "var"];
/// Types that can be unpacked.
const ARCHIVES: [&str; 3] = ["tar", "tar.gz", "tgz"];
/// Versions that mean another one every day.
const MOVING: [&str; 2] = ["LATEST", "RELEASE"];

/// Artifacts of Maven, and where they are in an image.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MavenSpec {
    /// Each as `group:artifact:version[:type[:classifier]]`.
    pub artifacts: Vec<String>,
    /// What is taken of them.
    #[serde(default)]
    pub take: Take,
    /// What they depend on and do not need here, each as `group:artifact`.
    #[serde(default)]
    pub exclude: Vec<String>,
    /// The folder of the image.
    pub folder: String,
}

/// What is taken of artifacts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Take {
    /// They and all that they depend on.
    #[default]
    All,
    /// They alone.
    Alone,
    /// What is in them.
    Unpacked,
}

/// What is wrong with it.
#[derive(Debug, thiserror::Error)]
pub enum NoMaven {
    /// There is no artifact.
    #[error("no artifact is given: give at least one, as group:artifact:version")]
    Nothing,
    #[error(
        "\"{0}\" is not a Maven artifact: write group:artifact:version, plus :type and :classifier if it has them"
    )]
    Artifact(String),
    /// A version that is none.
    #[error("\"{0}\" has no fixed version: write its number")]
    Moving(String),
    /// An artifact that cannot be unpacked.
    #[error("\"{0}\" cannot be unpacked: its type must be tar, tar.gz or tgz")]
    Packed(String),
    /// Something that is left out.
    #[error("\"{0}\" is not a dependency: write group:artifact")]
    Exclude(String),
    /// Something is left out of nothing.
    #[error("'exclude' has no effect if only the artifacts themselves are taken: remove 'exclude' or 'take'")]
    Excluded,
    #[error(
        "\"{0}\" cannot be the folder of artifacts: give a path below /opt, /srv, /usr or /var, such as /opt/tool/lib"
    )]
    Folder(String),
}

impl MavenSpec {
    /// Whether it can be had.
    ///
    /// # Errors
    /// [`NoMaven`].
    pub(crate) fn check(&self) -> Result<(), NoMaven> {
        if self.artifacts.is_empty() {
            return Err(NoMaven::Nothing);
        }
        self.artifacts.iter().try_for_each(|text| self.artifact(text))?;
        if let Some(wrong) = self.exclude.iter().find(|text| pair(text).is_none()) {
            return Err(NoMaven::Exclude(brief(wrong)));
        }
        if self.take != Take::All && !self.exclude.is_empty() {
            return Err(NoMaven::Excluded);
        }
        if !is_folder(&self.folder) {
            return Err(NoMaven::Folder(brief(&self.folder)));
        }
        Ok(())
    }

    fn artifact(&self, text: &str) -> Result<(), NoMaven> {
        let artifact = Artifact::read(text).ok_or_else(|| NoMaven::Artifact(brief(text)))?;
        if MOVING.contains(&artifact.version) || artifact.version.ends_with("-SNAPSHOT") {
            return Err(NoMaven::Moving(brief(text)));
        }
        if self.take == Take::Unpacked && !ARCHIVES.contains(&artifact.kind) {
            return Err(NoMaven::Packed(brief(text)));
        }
        Ok(())
    }

    /// The project that depends on them. [`Self::check`] has seen to it that no name is more than a name.
    pub(super) fn pom(&self) -> String {
        let everything = ["*:*".to_owned()];
        let left_out = match self.take {
            Take::All => self.exclude.as_slice(),
            Take::Alone | Take::Unpacked => &everything,
        };
        let exclusions = left_out.iter().filter_map(|text| text.split_once(':'));
        let exclusions: String = exclusions
            .map(|(group, name)| {
                format!("<exclusion><groupId>{group}</groupId><artifactId>{name}</artifactId></exclusion>")
            })
            .collect();
        let artifacts = self.artifacts.iter().filter_map(|text| Artifact::read(text));
        let dependencies: String = artifacts
            .map(|artifact| artifact.dependency(&exclusions))
            .collect();
        format!(
            "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>\
             <groupId>tare</groupId><artifactId>image</artifactId><version>1</version><packaging>pom</packaging>\
             <dependencies>{dependencies}</dependencies></project>\n"
        )
    }
}

/// An artifact by its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Artifact<'a> {
    group: &'a str,
    name: &'a str,
    version: &'a str,
    kind: &'a str,
    classifier: Option<&'a str>,
}

impl<'a> Artifact<'a> {
    fn read(text: &'a str) -> Option<Self> {
        let parts: Vec<&str> = text.split(':').collect();
        let (&[group, name, version], more) = parts.split_first_chunk()?;
        let (kind, classifier) = match *more {
            [] => ("jar", None),
            [kind] => (kind, None),
            [kind, classifier] => (kind, Some(classifier)),
            _ => return None,
        };
        parts.iter().all(|part| is_name(part)).then_some(Self {
            group,
            name,
            version,
            kind,
            classifier,
        })
    }

    fn dependency(&self, exclusions: &str) -> String {
        let Self {
            group,
            name,
            version,
            kind,
            classifier,
        } = self;
        let mut text = format!(
            "<dependency><groupId>{group}</groupId><artifactId>{name}</artifactId><version>{version}</version><type>{kind}</type>"
        );
        if let Some(classifier) = classifier {
            let _ = write!(text, "<classifier>{classifier}</classifier>");
        }
        text + &format!("<exclusions>{exclusions}</exclusions></dependency>")
    }
}

fn pair(text: &str) -> Option<(&str, &str)> {
    text.split_once(':')
        .filter(|(group, name)| is_name(group) && is_name(name))
}

/// A name of Maven's, which is a part of a file's name and of XML.
fn is_name(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-+".contains(c);
    text.starts_with(|c: char| c.is_ascii_alphanumeric()) && text.chars().all(fits)
}

fn is_folder(text: &str) -> bool {
    let Some(inner) = text.strip_prefix('/') else {
        return false;
    };
    let mut names = inner.split('/');
    let is_below = names.next().is_some_and(|top| TOPS.contains(&top));
    is_below && inner.contains('/') && names.all(is_name)
}

fn brief(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(100).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(artifact: &str) -> MavenSpec {
        MavenSpec {
            artifacts: vec![artifact.to_owned()],
            take: Take::All,
            exclude: Vec::new(),
            folder: "/opt/tool/lib".to_owned(),
        }
    }

    fn told(spec: &MavenSpec) -> String {
        spec.check().unwrap_err().to_string()
    }

    #[test]
    fn an_artifact_has_three_to_five_parts() {
        let whole = Artifact::read("org.apache.x:x-all:4.0-alpha2:tar.gz:bin").unwrap();
        assert_eq!((whole.kind, whole.classifier), ("tar.gz", Some("bin")));
        let short = Artifact::read("g:a:1").unwrap();
        assert_eq!((short.kind, short.classifier), ("jar", None));
        for good in ["g:a:1", "junit:junit:4.13.2", "g:a_2.12:1.0+b:jar:linux-x86_64"] {
            assert!(spec(good).check().is_ok(), "{good}");
        }
    }

    #[test]
    fn what_could_be_an_option_a_path_or_xml_is_refused() {
        for wrong in [
            "",
            "g",
            "g:a",
            "g:a:1:jar:x:y",
            "-Dx:a:1",
            "g:-a:1",
            "g:a:../1",
            "g:a:1/2",
            "g:a:.",
            "g::1",
            "g:a:<version>",
            "g:a:1&amp;2",
            "g:a:${user.home}",
            "g:a:[1,2)",
            "g:a:1 2",
            "g:a:1\n",
            "g:a:1:",
            "g:a:1:jar:",
        ] {
            assert!(told(&spec(wrong)).contains("is not a Maven artifact"), "{wrong}");
        }
        for wrong in ["g:a:LATEST", "g:a:RELEASE", "g:a:1.0-SNAPSHOT"] {
            assert!(told(&spec(wrong)).contains("has no fixed version"), "{wrong}");
        }
        for wrong in [
            "",
            "/",
            "opt/x",
            "/opt",
            "/opt/",
            "/opt/../etc",
            "/opt//x",
            "/opt/x/",
            "/etc/x",
            "/proc/x",
            "/opt/a b",
            "/opt/-x",
            "/opt/.x",
        ] {
            let wrong = MavenSpec {
                folder: wrong.to_owned(),
                ..spec("g:a:1")
            };
            assert!(told(&wrong).contains("folder of artifacts"), "{wrong:?}");
        }
        for wrong in ["a", "g:a:1", "*:*", "g:<a>"] {
            let wrong = MavenSpec {
                exclude: vec![wrong.to_owned()],
                ..spec("g:a:1")
            };
            assert!(told(&wrong).contains("is not a dependency"), "{wrong:?}");
        }
    }

    #[test]
    fn what_contradicts_itself_is_refused() {
        let nothing = MavenSpec {
            artifacts: Vec::new(),
            ..spec("g:a:1")
        };
        assert!(told(&nothing).contains("no artifact is given"));
        let unpacked = |text| MavenSpec {
            take: Take::Unpacked,
            ..spec(text)
        };
        assert!(told(&unpacked("g:a:1")).contains("cannot be unpacked"));
        assert!(told(&unpacked("g:a:1:zip")).contains("cannot be unpacked"));
        assert!(unpacked("g:a:1:tar.gz:bin").check().is_ok());
        let alone = MavenSpec {
            take: Take::Alone,
            exclude: vec!["g:b".to_owned()],
            ..spec("g:a:1")
        };
        assert!(told(&alone).contains("'exclude' has no effect"));
    }

    #[test]
    fn the_project_leaves_out_what_is_not_wanted() {
        let all = MavenSpec {
            exclude: vec!["g:b".to_owned()],
            ..spec("g:a:1:jar:x")
        }
        .pom();
        let dependency = "<groupId>g</groupId><artifactId>a</artifactId><version>1</version><type>jar</type><classifier>x</classifier>\
            <exclusions><exclusion><groupId>g</groupId><artifactId>b</artifactId></exclusion></exclusions></dependency>";
        assert!(all.contains(dependency), "{all}");
        let alone = MavenSpec {
            take: Take::Alone,
            ..spec("g:a:1")
        }
        .pom();
        assert!(
            alone.contains("<groupId>*</groupId><artifactId>*</artifactId>"),
            "{alone}"
        );
        assert!(!spec("g:a:1").pom().contains("<exclusion>"));
    }
}
