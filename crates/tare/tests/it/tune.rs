//! Parameters of a workload that a study varies: measured, told, and what is refused.

use crate::common::Tare;
use crate::common::schema::Schema;
use serde_json::Value;

/// A loop whose length follows from two of three parameters.
const WORKLOAD: &str = "about = \"a loop\"
[command]
argv = [\"sh\", \"-c\", \"i=0; while [ $i -lt $(({turns} * {more})) ]; do i=$((i+1)); done; echo {word}\"]
seconds = { small = 0.02, paper = 0.02 }
[parameters]
turns = { about = \"turns\", small = \"4000\", paper = \"4000\" }
more = { about = \"times as many\", small = \"1\", paper = \"1\" }
word = { about = \"what it says\", small = \"a\", paper = \"a\" }
";
const STUDY: &str = "title = \"Which?\"
[tuning]
workload = \"./loop.toml\"
factors = { turns = [8000, 4000], more = [1, 3], word = [\"a\", \"b\"] }
[factors]
platforms = [\"native\"]
provisioning = \"pinned\"
cpus = 1
memory = \"128M\"
[protocol]
blocks = 6
settle = false
trial_time = \"100ms\"
";

fn tare_with(study: &str) -> Tare {
    let tare = Tare::new();
    std::fs::write(tare.path("loop.toml"), WORKLOAD).unwrap();
    std::fs::write(tare.path("s.toml"), study).unwrap();
    tare
}

#[test]
fn the_parameters_that_matter_are_found_and_the_setting_to_take() {
    let tare = tare_with(STUDY);
    let plan = tare.ok("plan s.toml").stdout;
    for part in [
        "loop (8 settings)",
        "tuning        full: more (1, 3), turns (8000, 4000), word (a, b)",
    ] {
        assert!(plan.contains(part), "'{part}' is not in: {plan}");
    }
    let told = tare.ok("tune s.toml -q --json -o r.jsonl").stdout;
    Schema::of("tare-tune").holds(&told);
    let told: Value = serde_json::from_str(&told).unwrap();
    let [of] = &told.as_array().unwrap()[..] else {
        panic!("{told}")
    };
    let shown = of["effects"].as_array().unwrap().iter();
    let shown: Vec<&str> = shown
        .filter(|effect| effect["is_shown"] == true)
        .map(|effect| effect["factor"].as_str().unwrap())
        .collect();
    assert!(shown.contains(&"more") && shown.contains(&"turns"), "{of}");
    let best = of["best"]["changes"].as_array().unwrap();
    let turns = |change: &Value| change["factor"] == "turns" && change["level"] == "4000";
    assert!(
        best.iter().any(turns) && best.iter().all(|change| change["factor"] != "more"),
        "{of}"
    );
    // The same of the file, as text and as a page with its picture; and in its report.
    let text = tare.ok("tune r.jsonl --html p.html --svg pictures").stdout;
    assert!(
        text.contains("best setting shown: ") && !text.contains("Each setting"),
        "{text}"
    );
    let details = tare.ok("tune r.jsonl --details").stdout;
    assert!(
        details.contains("Each setting") && details.contains("more=3"),
        "{details}"
    );
    assert!(
        std::fs::read_to_string(tare.path("p.html"))
            .unwrap()
            .contains("<svg")
    );
    assert!(tare.path("pictures/levels.svg").exists());
    assert!(tare.ok("report r.jsonl").stdout.contains("best setting shown: "));
    let json: Value = serde_json::from_str(&tare.ok("report r.jsonl --json").stdout).unwrap();
    assert_eq!(json["tunings"], told);
    tare.refused("tune r.jsonl --blocks 3", &["is read, nothing is measured"]);
}

#[test]
fn what_varies_no_parameters_is_refused() {
    let tare = Tare::new();
    std::fs::write(
        tare.path("t.toml"),
        "title = \"t\"\n[[workload]]\nname = \"syscall\"\n[factors]\nplatforms = [\"fake\"]\n",
    )
    .unwrap();
    tare.refused("tune t.toml", &["varies no parameters", "[tuning]"]);
    tare.refused("tune none.jsonl", &["there is no file none.jsonl"]);
    tare.ok("run -p fake -w syscall --cpus 1 --blocks 2 --no-settle -q -o r.jsonl");
    tare.refused("tune r.jsonl", &["is of no study that varies parameters"]);
}

#[test]
fn a_mistake_in_a_tuning_chapter_is_told_with_its_place() {
    for (from, to, told) in [
        ("./loop.toml", "nginy", "s.toml:3:12: 'workload' is 'nginy'"),
        ("./loop.toml", "./none.toml", "s.toml:3:12: "),
        (
            "more = [1, 3]",
            "mor = [1, 3]",
            "loop has no parameter 'mor': did you mean 'more'?",
        ),
        ("more = [1, 3]", "more = [1]", "'more' has one level"),
        (
            "./loop.toml",
            "./loop.toml?more=5",
            "'more' is given in 'workload' too",
        ),
        ("more = [1, 3]", "more = [1, 1]", "'more' has the level '1' twice"),
        (
            "more = [1, 3]",
            "more = [1, \"3&turns=1\"]",
            "'more' cannot be \"3&turns=1\"",
        ),
        (
            "more = [1, 3]",
            "more = [1, \"\\u001b3\"]",
            "omit &, control characters",
        ),
        ("more = [1, 3]", "more = [1, \" 3\"]", "blanks at its ends"),
        (
            "more = [1, 3]",
            "more = [1, 2, 3]",
            "takes two levels of each factor, and 'more' has 3",
        ),
        ("more = [1, 3]", "more = 3", "'more' is 3"),
        (
            "factors = {",
            "design = \"ful\"\nfactors = {",
            "'design' cannot be 'ful': did you mean 'full'?",
        ),
        (
            "factors = {",
            "design = \"fractional\"\nfactors = {",
            "takes 4 to 8 factors, and there are 3",
        ),
        ("factors = {", "levels = {", "unknown key 'levels' in [tuning]"),
        ("workload =", "factor =", "unknown key 'factor' in [tuning]"),
        (
            "[factors]\nplatforms = [\"native\"]\nprovisioning = \"pinned\"",
            "[design]\nkind = \"cells\"\ncells = [{ provisioning = \"pinned\" }, { workload = \"loop turns=8000\", provisioning = \"vanilla\" }]\n[factors]\nplatforms = [\"native\"]",
            "has some of the settings of [tuning] and not others",
        ),
    ] {
        let tare = tare_with(&STUDY.replace(from, to));
        tare.refused("tune s.toml", &[told]);
        assert!(!tare.path("r.jsonl").exists());
    }
}
