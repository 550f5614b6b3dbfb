//! Loads: tare's own client beside servers in boxes.

use crate::common::{Tare, left_of};
use serde_json::Value;

/// A web server of Python's that answers by this.
fn file(load: &str, answer: &str) -> String {
    format!(
        r#"about = "a web server"

[command]
seconds = {{ small = 2, paper = 5 }}

[command.load]
http = "/page"
{load}

[[role]]
name = "web"
place = "tested"
argv = ["python3", "-c", '''
import http.server, os, sys, time
class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = 65536
    served = 0
    def log_message(self, *_): pass
    def do_GET(self):
        Handler.served += 1
        body = b"hello"
{answer}
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.ThreadingHTTPServer((sys.argv[1], int(sys.argv[2])), Handler).serve_forever()
''', "{{address}}", "{{port}}"]
ready = {{ tcp = "{{port}}" }}
"#
    )
}

const WELL: &str = "        status = 200";

/// Runs a file natively; the outcomes of its trials.
fn outcomes(text: &str, more: &str) -> (Tare, Vec<Value>) {
    let tare = Tare::new();
    std::fs::write(tare.path("w.toml"), text).unwrap();
    tare.run(&format!(
        "run -w ./w.toml -p native --provisioning pinned --cpus 1 --memory 512M --no-settle -o r.jsonl {more}"
    ));
    let trials = tare.records_of("r.jsonl", "trial");
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
    let outcomes = trials.iter().map(|trial| trial["outcome"].clone()).collect();
    (tare, outcomes)
}

/// The detail of the first failure, all of the trials being some.
fn failure(text: &str) -> String {
    failed(text)["detail"].as_str().unwrap().to_owned()
}

/// The first failure.
fn failed(text: &str) -> Value {
    let (_, outcomes) = outcomes(text, "--blocks 1");
    let failed = |outcome: &Value| outcome["failed"].is_object();
    assert!(
        !outcomes.is_empty() && outcomes.iter().all(failed),
        "{outcomes:?}"
    );
    outcomes[0]["failed"].clone()
}

#[test]
fn a_closed_loop_tells_what_a_server_answers_and_how_long_it_takes() {
    let (tare, outcomes) = outcomes(&file("connections = \"2\"", WELL), "--blocks 2");
    assert_eq!(outcomes.len(), 2);
    for outcome in &outcomes {
        let samples = &outcome["ok"]["samples"];
        for figure in ["requests", "mean", "p50", "box-cpu", "ready"] {
            assert!(samples[figure].as_f64().unwrap() > 0.0, "{figure}: {outcome}");
        }
        assert!(
            outcome["ok"]["latencies"].as_str().unwrap().len() > 50,
            "{outcome}"
        );
    }
    let group = &tare.records_of("r.jsonl", "group")[0];
    assert!(group["rounds"].as_u64().unwrap() > 5, "it ran in slices: {group}");
    let report = tare.ok("report r.jsonl --json").stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    let told = &report["latencies"][0];
    assert_eq!(
        (told["workload"].as_str(), told["trials"].as_u64()),
        (Some("w"), Some(2))
    );
    assert!(told["requests"].as_u64().unwrap() > 100, "{told}");
    let text = tare.ok("report r.jsonl --details").stdout;
    assert!(text.contains("Request latency"), "{text}");
}

#[test]
fn a_slow_server_is_asked_by_all_connections_at_once() {
    // Eight connections of 20 ms each: 400 a second, where one after another would be 50.
    let slow = "        time.sleep(0.02)\n        status = 200";
    for more in ["--blocks 1", "--blocks 1 --slices off"] {
        let (_, outcomes) = outcomes(&file("connections = \"8\"", slow), more);
        let requests = outcomes[0]["ok"]["samples"]["requests"].as_f64().unwrap();
        assert!((200.0..410.0).contains(&requests), "{more}: {outcomes:?}");
    }
}

#[test]
fn a_server_may_have_a_port_of_its_own() {
    let port = std::net::TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let fixed = file("", WELL).replace("int(sys.argv[2])", &port.to_string());
    let fixed = fixed.replace("tcp = \"{port}\"", &format!("tcp = \"{port}\""));
    let (_, outcomes) = outcomes(&fixed, "--blocks 1");
    assert!(outcomes[0]["ok"].is_object(), "{outcomes:?}");
}

#[test]
fn an_open_loop_runs_in_one_piece_at_the_rate_that_was_asked_for() {
    let (tare, outcomes) = outcomes(&file("rate = \"200\"\nconnections = \"8\"", WELL), "--blocks 2");
    // On a busy host one may be an overload, and is then tried again.
    let ended_well: Vec<&Value> = outcomes
        .iter()
        .filter(|outcome| outcome["ok"].is_object())
        .collect();
    assert!(!ended_well.is_empty(), "{outcomes:?}");
    for outcome in ended_well {
        let samples = &outcome["ok"]["samples"];
        let achieved = samples["requests"].as_f64().unwrap();
        assert!((140.0..280.0).contains(&achieved), "{outcome}");
    }
    assert!(tare.records_of("r.jsonl", "group").is_empty());
    let text = tare.ok("report r.jsonl --details").stdout;
    assert!(text.contains("mean"), "{text}");
}

#[test]
fn rates_may_be_shares_of_what_the_baseline_answers_which_is_found_once() {
    let tare = Tare::new();
    let rate = "[parameters]\nrate = { about = \"rate\", small = \"10%\", paper = \"80%\" }\n";
    let text = file("rate = \"{rate}\"\nconnections = \"2\"", WELL) + rate;
    std::fs::write(tare.path("w.toml"), text).unwrap();
    tare.run(
        "run -w ./w.toml,./w.toml?rate=20% -p native --provisioning pinned --cpus 1 --memory 512M --no-settle \
         --blocks 2 -o r.jsonl",
    );
    let peaks = tare.records_of("r.jsonl", "peak");
    let [peak] = &peaks[..] else { panic!("{peaks:?}") };
    let mut rates: Vec<f64> = serde_json::from_value(peak["rates"].clone()).unwrap();
    rates.sort_by(f64::total_cmp);
    let peak = rates[rates.len() / 2];
    let trials = tare.records_of("r.jsonl", "trial");
    let ended_well: Vec<&Value> = trials.iter().filter(|t| t["outcome"]["ok"].is_object()).collect();
    assert!(ended_well.len() >= 2, "{trials:?}");
    for trial in ended_well {
        let share = if trial["workload"] == "w" { 0.1 } else { 0.2 };
        let achieved = trial["outcome"]["ok"]["samples"]["requests"].as_f64().unwrap();
        assert!(
            (0.6..1.5).contains(&(achieved / (share * peak))),
            "{achieved} of {peak}"
        );
    }
    let text = tare.ok("report r.jsonl --details").stdout;
    assert!(text.contains("peak of native pinned w"), "{text}");
}

#[test]
#[ignore = "slow: make test-all"]
fn a_peak_within_a_bound_of_latencies_is_searched_with_every_try_kept() {
    // Each request takes 20 ms, four at a time: some 200 a second, with ever longer queues before.
    let slow = "        time.sleep(0.02)\n        status = 200";
    let load = "rate = \"50%\"\nconnections = \"4\"\nbound = { percentile = 90, ms = \"60\" }";
    let (tare, outcomes) = outcomes(&file(load, slow), "--blocks 2");
    let peaks = tare.records_of("r.jsonl", "peak");
    let [found] = &peaks[..] else {
        panic!("{peaks:?} {outcomes:?}")
    };
    assert_eq!(found["within"]["bound"]["share"], 0.9);
    let tries = found["within"]["tries"].as_array().unwrap();
    assert!(tries.len() >= 3 && tries.len().is_multiple_of(3), "{found}");
    // The greatest rate of which two of three tries kept the bound.
    let kept = |one: &&Value| {
        one["achieved"].as_f64().unwrap() >= 0.99
            && one["latency_seconds"].as_f64().is_some_and(|s| s <= 0.06)
    };
    let keeps = |of_rate: &&[Value]| of_rate.iter().filter(kept).count() >= 2;
    let rates = tries
        .chunks(3)
        .filter(keeps)
        .map(|of_rate| of_rate[0]["rate"].as_f64().unwrap());
    let peak = rates.fold(0.0, f64::max);
    assert!((5.0..220.0).contains(&peak), "{found}");
    for outcome in outcomes.iter().filter(|outcome| outcome["ok"].is_object()) {
        let achieved = outcome["ok"]["samples"]["requests"].as_f64().unwrap();
        assert!(
            (0.5..1.7).contains(&(achieved / (0.5 * peak))),
            "{achieved} of {peak}"
        );
    }
    let text = tare.ok("report r.jsonl --details").stdout;
    assert!(text.contains("while 90 % of them take at most 60 ms"), "{text}");
}

#[test]
fn an_overload_is_no_result() {
    let slow = "        time.sleep(0.02)\n        status = 200";
    let told = failure(&file("rate = \"2000\"", slow));
    assert!(told.starts_with("overload: of "), "{told}");
}

#[test]
fn a_server_that_answers_nothing_is_an_overload_too() {
    let silent = "        time.sleep(300)\n        status = 200";
    let failed = failed(&file("rate = \"50\"", silent));
    assert_eq!(failed["reason"], "check", "{failed}");
    let told = failed["detail"].as_str().unwrap();
    assert!(
        told.starts_with("overload: none of 1 request was answered"),
        "{told}"
    );
}

#[test]
fn the_plan_of_an_open_loop_speaks_of_no_slices_and_counts_what_leads_up_to_it() {
    let tare = Tare::new();
    let plan = |load: &str| {
        std::fs::write(tare.path("w.toml"), file(load, WELL)).unwrap();
        let args = "plan -w ./w.toml -p native --provisioning pinned --cpus 1 --blocks 10";
        let json: Value = serde_json::from_str(&tare.ok(&format!("{args} --json")).stdout).unwrap();
        let text = tare.ok(args).stdout;
        (text, json["cost"]["seconds"].as_f64().unwrap())
    };
    let (text, of_rate) = plan("rate = \"50\"");
    assert!(
        text.contains("none: an open loop") && !text.contains("10 ms"),
        "{text}"
    );
    let (_, of_peak) = plan("rate = \"50%\"");
    // Ten trials of the two seconds that the file says.
    assert!(of_rate > 30.0 && of_peak > of_rate, "{of_rate} {of_peak}");
    assert!(plan("").0.contains("of at most 10 ms"));
}

#[test]
fn what_a_server_prints_without_end_is_read_and_its_beginning_kept() {
    let floods = "        status = 200\n        for _ in range(500):\n            try: print('x' * 100, flush=True)\n            \
                  except OSError: os._exit(3)\n";
    let (_, outcomes) = outcomes(&file("", floods), "--blocks 1");
    assert!(outcomes[0]["ok"].is_object(), "{outcomes:?}");
    let failed = failed(&file(
        "",
        &format!("{floods}        if Handler.served == 20: os._exit(4)"),
    ));
    let printed = failed["printed"]["stderr"].as_str().unwrap();
    assert!(
        printed.contains(" B more were printed, and are not kept]"),
        "{failed}"
    );
    assert!(
        failed["detail"].as_str().unwrap().contains("exit status 4"),
        "{failed}"
    );
}

/// It answers by HTTP/1.0, closes each connection and prints a line for each request.
#[test]
fn the_server_that_comes_with_python_is_measured() {
    let text = r#"about = "files"
[command.load]
http = "/w.toml"
connections = "4"
[[role]]
name = "web"
place = "tested"
argv = ["python3", "-m", "http.server", "--bind", "{address}", "{port}"]
ready = { tcp = "{port}" }
"#;
    for (keep, reopens) in [("", true), ("keep = \"no\"\n", false)] {
        let text = text.replace("[[role]]", &format!("{keep}[[role]]"));
        let (_, outcomes) = outcomes(&text, "--blocks 1");
        let reconnects = outcomes[0]["ok"]["reconnects"].as_u64();
        assert!(reconnects.is_some_and(|n| (n > 0) == reopens), "{outcomes:?}");
    }
}

#[test]
fn answers_that_are_errors_fail_a_trial() {
    let some = "        status = 503 if Handler.served % 10 == 0 else 200";
    let told = failure(&file("", some));
    assert!(
        told.contains("answers were not as they should be; the first: status 503"),
        "{told}"
    );
}

#[test]
fn a_server_that_dies_during_load_is_why_a_trial_fails() {
    let dies =
        "        status = 200\n        if Handler.served > 50: print('no more', flush=True); os._exit(3)";
    let failed = failed(&file("", dies));
    let printed = failed["printed"]["stderr"].as_str().unwrap_or_default();
    assert!(printed.contains("[the server web printed]\nno more"), "{failed}");
    let told = failed["detail"].as_str().unwrap();
    assert!(told.starts_with("the server web ended: exit status 3"), "{told}");
    assert!(
        told.contains("then its client: ") && told.contains("no more"),
        "{told}"
    );
}
