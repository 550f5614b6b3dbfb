//! What is no study file, and files that include one another.

use super::{study, study_in};
use tare_study::study_file;

#[test]
fn what_is_no_study_file_is_refused_as_a_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let told = |file: &str| study_in(path, file, false).unwrap_err();
    assert_eq!(
        told("no.toml"),
        "no.toml: cannot read the study file: No such file or directory (os error 2); check the path"
    );
    std::fs::create_dir(path.join("d.toml")).unwrap();
    assert_eq!(
        told("d.toml"),
        "d.toml: is not a regular file: give the path of a study file"
    );
    assert_eq!(
        study_file::read("/dev/zero", false).unwrap_err().to_string(),
        "/dev/zero: is not a regular file: give the path of a study file"
    );
    let large = std::fs::File::create(path.join("l.toml")).unwrap();
    large.set_len(100_000_000).unwrap();
    assert_eq!(
        told("l.toml"),
        "l.toml: has 100000000 B, but a study file at most 1048576: is it the wrong file?"
    );
    assert_eq!(
        study(b"title = \"t\"\n# \xc3\xa9\xff").unwrap_err(),
        "s.toml:2:4: the byte 0xff is not UTF-8: save the file as UTF-8"
    );
    assert_eq!(
        study_file::read("qiuck", false).unwrap_err().to_string(),
        "there is no study 'qiuck': did you mean 'quick'? A file's name ends with .toml, and 'tare plan --list' lists \
         the shipped ones"
    );
    std::fs::write(path.join("s.toml"), "title = \"t\"").unwrap();
    assert_eq!(
        study_in(path, "s.toml", true).unwrap_err(),
        "s.toml: has no small size: omit --small, or add a table [small] with what differs"
    );
}

#[test]
fn mistakes_of_the_small_size_are_told_whichever_is_wanted() {
    super::told(
        "[small.protocol]\nbloks = 2",
        "s.toml:3:1: unknown key 'bloks' in [protocol]: did you mean 'blocks'?",
    );
    super::told(
        "[small]\ninclude = \"x.toml\"",
        "s.toml:3:1: 'include' cannot differ in [small]: remove it there",
    );
}

#[test]
fn what_is_no_toml_is_told_with_its_place() {
    for (text, begin) in [
        ("title = ", "s.toml:1:"),
        ("title = \"t\"\n[factors", "s.toml:2:"),
        ("{\"title\": 1}", "s.toml:1:"),
        ("title = \"\u{1b}[2J\"", "s.toml:1:"),
    ] {
        let found = study(text).unwrap_err();
        assert!(found.starts_with(begin) && found.contains("no TOML"), "{found}");
    }
    let deep = format!("title = {}1{}", "[".repeat(200_000), "]".repeat(200_000));
    let found = study(deep).unwrap_err();
    assert!(found.contains("lists or tables are nested too deeply"), "{found}");
}

#[test]
fn an_included_file_lies_below_and_its_mistakes_are_told_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
    write(
        "base.toml",
        "title = \"base\"\n[factors]\nplatforms = [\"native\", \"lxc\"]\nprovisioning = [\"vanilla\"]\n\
         [protocol]\nblocks = 12",
    );
    write(
        "s.toml",
        "include = \"base.toml\"\n[factors]\nplatforms = [\"native\", \"docker\"]",
    );
    let study = study_in(path, "s.toml", false).unwrap();
    assert_eq!(study.platforms[1].to_string(), "docker");
    assert_eq!((study.protocol.blocks, study.provisioning.len()), (12, 1));
    write("base.toml", "[factors]\nplatforms = [\"native\", 7]");
    write("t.toml", "include = \"base.toml\"\ntitle = \"t\"");
    let told = study_in(path, "t.toml", false).unwrap_err();
    assert!(told.starts_with("base.toml:2:24: 'platforms' is 7"), "{told}");
}

#[test]
fn includes_that_are_missing_or_go_in_circles_are_told_where_they_stand() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path();
    let write = |name: &str, text: &str| std::fs::write(path.join(name), text).unwrap();
    let told = |file: &str| study_in(path, file, false).unwrap_err();
    write("a.toml", "title = \"t\"\ninclude = \"b.toml\"");
    write("b.toml", "include = \"./a.toml\"");
    assert_eq!(
        told("a.toml"),
        "b.toml:1:11: include \"./a.toml\" includes itself (a.toml -> b.toml -> a.toml): remove one include"
    );
    write("m.toml", "title = \"t\"\ninclude = \"gone.toml\"");
    assert_eq!(
        told("m.toml"),
        "m.toml:2:11: include \"gone.toml\": gone.toml: cannot read the study file: No such file or directory (os \
         error 2); check the path"
    );
    write("z.toml", "title = \"t\"\ninclude = \"/dev/zero\"");
    assert!(told("z.toml").contains("is not a regular file"));
    for i in 0..20 {
        write(&format!("c{i}.toml"), &format!("include = \"c{}.toml\"", i + 1));
    }
    let chain = told("c0.toml");
    assert!(chain.contains("more than 16 files"), "{chain}");
}
