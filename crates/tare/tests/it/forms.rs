//! Figures in every form, several files together, words explained.

use crate::common::Tare;
use serde_json::Value;
use std::fs;

/// A run of the test bed with something to compare.
fn measure(tare: &Tare, output: &str, seed: u32) {
    let study = "run -p fake,fake?cost=1.5 --cpus 1 -w syscall --no-settle --blocks 10";
    tare.ok(&format!("{study} --seed {seed} -o {output}"));
}

#[test]
fn a_report_has_every_form() {
    let tare = Tare::beside_others();
    measure(&tare, "r.jsonl", 1);
    let markdown = tare.ok("report r.jsonl --markdown").stdout;
    assert!(
        markdown.starts_with("# ") && markdown.contains("| **slower** |"),
        "{markdown}"
    );
    let csv = tare.ok("report r.jsonl --csv=costs").stdout;
    assert!(csv.starts_with("platform,provisioning,"), "{csv}");
    assert!(tare.ok("report r.jsonl --csv").stdout.contains("# blocks\n"));
    tare.refused("report r.jsonl --csv=cost", &["no table 'cost'", "costs"]);
    tare.refused("report r.jsonl --csv --json", &["cannot be used with"]);
    for form in ["--bmf", "--github-benchmark"] {
        let costs = tare.ok(&format!("report r.jsonl {form}")).stdout;
        assert!(costs.contains("fake?cost=1.5"), "{costs}");
        fs::write(tare.path("costs.json"), costs).unwrap();
        let read = tare
            .ok("analyze old=costs.json new=costs.json --baseline old")
            .stdout;
        assert!(read.contains("1.000"), "{read}");
        tare.refused(&format!("report r.jsonl {form} --json"), &["cannot be used with"]);
    }
    let said = tare.ok("report r.jsonl --svg pictures --html r.html");
    assert!(said.stderr.contains("heat-map.svg"), "{}", said.stderr);
    assert!(said.stdout.is_empty(), "{}", said.stdout);
    let svg = fs::read_to_string(tare.path("pictures/costs-shown.svg")).unwrap();
    assert!(svg.starts_with("<svg xmlns="), "{svg}");
    assert!(
        fs::read_to_string(tare.path("r.html"))
            .unwrap()
            .contains("costs with 95")
    );
}

#[test]
fn a_page_names_the_file_of_its_samples_and_leads_to_one_that_lies_beside_it() {
    let tare = Tare::beside_others();
    measure(&tare, "r.jsonl", 1);
    fs::rename(tare.path("r.jsonl"), tare.path("r 1.jsonl")).unwrap();
    fs::create_dir(tare.path("pages")).unwrap();
    let bytes = fs::metadata(tare.path("r 1.jsonl")).unwrap().len();
    tare.ok(&["report", "r 1.jsonl", "--html", "r.html"]);
    let page = fs::read_to_string(tare.path("r.html")).unwrap();
    let told = format!("<a href=\"r%201.jsonl\" download>r 1.jsonl</a> ({bytes} bytes, SHA-256 <code>");
    assert!(page.contains(&told), "{page}");
    tare.ok(&["report", "r 1.jsonl", "--html", "pages/r.html"]);
    let page = fs::read_to_string(tare.path("pages/r.html")).unwrap();
    assert!(
        page.contains(&format!("Every sample is in r 1.jsonl ({bytes} bytes")),
        "{page}"
    );
}

#[test]
fn a_picture_takes_the_place_of_no_other_file() {
    let tare = Tare::beside_others();
    measure(&tare, "r.jsonl", 1);
    fs::create_dir(tare.path("p")).unwrap();
    fs::write(tare.path("p/heat-map.svg"), "notes").unwrap();
    tare.refused("report r.jsonl --svg p", &["exists and is not a picture"]);
    assert_eq!(fs::read_to_string(tare.path("p/heat-map.svg")).unwrap(), "notes");
}

#[test]
fn files_of_one_study_are_put_together_and_one_file_is_not() {
    let tare = Tare::beside_others();
    for seed in 1..4 {
        measure(&tare, &format!("{seed}.jsonl"), seed);
    }
    let merged: Value =
        serde_json::from_str(&tare.ok("merge 1.jsonl 2.jsonl 3.jsonl 1.jsonl --json").stdout).unwrap();
    assert_eq!(
        (&merged["copies"], merged["files"].as_array().unwrap().len()),
        (&1.into(), 3)
    );
    // All ran here: one host, which tells nothing of others.
    assert_eq!(merged["hosts"], 1);
    assert_eq!(
        merged["comparisons"][0]["verdict"]["refusals"][0]["refusal"],
        "few-hosts"
    );
    let text = tare.ok("merge 1.jsonl 2.jsonl").stdout;
    assert!(text.contains("1 host; conclusions about other"), "{text}");
    assert!(tare.ok("merge .").stdout.contains("3 files of 1 host"));
    tare.refused("merge 1.jsonl", &["is one run"]);
    tare.refused("merge 1.jsonl absent.jsonl", &["absent.jsonl"]);
}

#[test]
fn a_folder_of_results_has_a_trend_and_what_is_no_result_is_left_out() {
    let tare = Tare::beside_others();
    fs::create_dir(tare.path("all")).unwrap();
    for seed in 1..4 {
        measure(&tare, &format!("all/{seed}.jsonl"), seed);
    }
    fs::write(tare.path("all/other.jsonl"), "{}\n").unwrap();
    let done = tare.ok("trend all --fail-above 5");
    assert!(done.stdout.contains("3 files"), "{}", done.stdout);
    assert!(done.stderr.contains("skipped: "), "{}", done.stderr);
    let json: Value = serde_json::from_str(&tare.ok("trend all --json").stdout).unwrap();
    assert_eq!(json["series"][0]["points"].as_array().unwrap().len(), 3);
    fs::create_dir(tare.path("empty")).unwrap();
    tare.refused("trend empty", &["at least two results files", "none"]);
}

#[test]
fn words_are_explained() {
    let tare = Tare::beside_others();
    let told = tare.ok("explain typical cost").stdout;
    assert!(told.contains("the verdict is about"), "{told}");
    assert!(tare.ok("explain").stdout.contains("host-busy"));
    tare.refused("explain vanila", &["did you mean 'vanilla'?"]);
}

#[test]
fn samples_and_slices_are_exported_and_nobody_s_file_is_replaced() {
    let tare = Tare::beside_others();
    measure(&tare, "r.jsonl", 1);
    let printed = tare.ok("export r.jsonl").stdout;
    assert_eq!(
        printed.lines().count(),
        1 + tare.records_of("r.jsonl", "trial").len(),
        "{printed}"
    );
    tare.ok("export r.jsonl -o r.parquet");
    let bytes = fs::read(tare.path("r.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    tare.ok("export r.jsonl --slices -o s.csv");
    assert!(
        fs::read_to_string(tare.path("s.csv"))
            .unwrap()
            .starts_with("run,host,group,block,platform,")
    );
    measure(&tare, "other.jsonl", 2);
    tare.ok("export . -o all.csv");
    let all = fs::read_to_string(tare.path("all.csv")).unwrap();
    let own = |file: &str| tare.ok(&format!("export {file}")).stdout;
    let (other, first) = (own("other.jsonl"), own("r.jsonl"));
    assert_eq!(all, other + first.split_once('\n').unwrap().1);
    tare.refused("export r.jsonl -o r.parquet", &["already exists"]);
    fs::create_dir(tare.path("empty")).unwrap();
    tare.refused("export empty -o none.csv", &["0 files have no trials to export"]);
    assert!(!tare.path("none.csv").exists());
    tare.refused("export r.jsonl -o r.txt", &[".csv or .parquet"]);
}

#[test]
fn advice_says_what_is_shown_and_what_is_not_known() {
    let tare = Tare::beside_others();
    measure(&tare, "r.jsonl", 1);
    let text = tare.ok("advise r.jsonl --weigh start=0.1").stdout;
    for words in [
        "Not measured",
        "Ranking by your weights",
        "ghatrehsamani2020-1",
        "not known",
    ] {
        assert!(text.contains(words), "{words}: {text}");
    }
    let json: Value = serde_json::from_str(&tare.ok("advise r.jsonl --json").stdout).unwrap();
    assert_eq!(json["settings"][0]["choices"].as_array().unwrap().len(), 2);
    tare.refused("advise r.jsonl --weigh memroy=1", &["did you mean 'memory'?"]);
    tare.refused("advise r.jsonl --weigh memory=-1", &["at least 0"]);
}

/// Lines of a results file as another host writes them.
fn with_other_host(lines: &str) -> String {
    let (header, rest) = lines.split_once('\n').unwrap();
    let mut header: serde_json::Value = serde_json::from_str(header).unwrap();
    header["host"]["id"] = "another".into();
    format!("{header}\n{rest}")
}

#[test]
fn a_run_is_watched_by_its_file() {
    let tare = Tare::beside_others();
    measure(&tare, "r.jsonl", 1);
    let told = tare.ok("watch r.jsonl").stdout;
    assert!(told.contains("block 10 of 10, "), "{told}");
    assert!(told.contains("cost (fake = 1)"), "{told}");
    let whole = fs::read_to_string(tare.path("r.jsonl")).unwrap();
    let half: Vec<&str> = whole.lines().take(whole.lines().count() / 2).collect();
    fs::write(tare.path("half.jsonl"), half.join("\n") + "\n").unwrap();
    // Nobody on this host writes to it: of a run that was killed nothing more comes.
    let killed = tare.run("watch half.jsonl --once");
    assert_eq!(killed.code, 1, "{killed:?}");
    assert!(
        killed.stdout.contains(" of 10, ") && !killed.stdout.contains(" left"),
        "{killed:?}"
    );
    assert!(
        killed.stderr.contains("tare run --resume half.jsonl"),
        "{killed:?}"
    );
    // One on another host may go on until the file has not grown for long.
    let elsewhere = fs::read_to_string(tare.path("half.jsonl")).unwrap();
    fs::write(tare.path("half.jsonl"), with_other_host(&elsewhere)).unwrap();
    let told = tare.ok("watch half.jsonl --once").stdout;
    assert!(told.contains(" of 10, ") && told.contains(" left"), "{told}");
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(3600);
    let file = fs::File::options()
        .write(true)
        .open(tare.path("half.jsonl"))
        .unwrap();
    file.set_modified(old).unwrap();
    drop(file);
    let left = tare.run("watch half.jsonl");
    assert_eq!(left.code, 1, "{left:?}");
    assert!(left.stderr.contains("tare run --resume half.jsonl"), "{left:?}");
}
