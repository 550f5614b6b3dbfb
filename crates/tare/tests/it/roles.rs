//! Commands with servers: workload files with roles, in boxes and outside of them.

use crate::common::{Tare, alone, can_build_images, installed, left_of, processes_that_bear, ready};
use serde_json::Value;
use std::net::TcpListener;

/// A client in the box that prints a rate, of a server outside that runs this script and tells so.
fn file(server: &str, client: &str) -> String {
    format!(
        r#"about = "a client and its server"

[command]
argv = ["sh", "-c", '''{client}''']
calls = ["sleep"]

[[role]]
name = "db"
place = "outside"
argv = ["sh", "-c", '''{server}''']
ready = {{ line = '^ready$' }}

[[metric]]
name = "rate"
unit = "op/s"
regex = '^rate: (\S+)$'

[[check]]
figure = "errors"
regex = '^errors: (\d+)$'
equals = 0
"#
    )
}

const SERVES: &str = "echo ready; exec sleep 4321";
const CLIENT: &str = "echo rate: 5; echo errors: 0";

fn run(more: &str) -> String {
    format!("run -w ./w.toml --provisioning pinned --cpus 1 --memory 256M --no-settle -o r.jsonl {more}")
}

/// A tare with this workload file.
fn with(text: &str) -> Tare {
    let tare = Tare::new();
    std::fs::write(tare.path("w.toml"), text).unwrap();
    tare
}

/// Runs a file in one native box, where every trial fails: the failure of the first.
fn failure(text: &str, more: &str) -> Value {
    let tare = with(text);
    tare.run(&run(&format!("-p native --blocks 1 {more}")));
    let trials = tare.records_of("r.jsonl", "trial");
    let failed = |t: &Value| t["outcome"]["failed"].is_object();
    assert!(!trials.is_empty() && trials.iter().all(failed), "{trials:?}");
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
    trials[0]["outcome"]["failed"].clone()
}

/// Asserts that a failure tells each of these words in its detail.
fn told(failure: &Value, words: &[&str]) {
    let detail = failure["detail"].as_str().unwrap();
    for word in words {
        assert!(detail.contains(word), "'{word}' is not in: {failure}");
    }
}

/// Asserts that a failure keeps what was printed: by the client to its standard output, by
/// client and servers to the other.
fn kept(failure: &Value, stdout: &str, stderr: &str) {
    let printed = |stream: &str| failure["printed"][stream].as_str().unwrap_or_default().to_owned();
    assert!(printed("stdout").contains(stdout), "'{stdout}': {failure}");
    assert!(printed("stderr").contains(stderr), "'{stderr}': {failure}");
}

/// The trials, which have all succeeded, and how many of them.
fn good(tare: &Tare, many: usize) -> Vec<Value> {
    let mut trials = tare.records_of("r.jsonl", "trial");
    // One that failed on a busy host has its second try behind it.
    let again: Vec<Value> = trials
        .iter()
        .filter(|t| t["attempt"] == 1)
        .map(|t| t["trial"].clone())
        .collect();
    trials.retain(|t| t["attempt"] == 1 || !again.contains(&t["trial"]));
    assert_eq!(trials.len(), many, "{trials:?}");
    let is_good = |t: &Value| t["outcome"]["ok"].is_object();
    assert!(trials.iter().all(is_good), "{trials:?}");
    trials
}

#[test]
fn servers_start_in_order_are_waited_for_and_end_in_reverse() {
    let _alone = alone();
    let log = |what: &str| format!("echo {what} >> log");
    let server = |name: &str, at: &str, end: &str| {
        let (started, ended) = (log(&format!("{name} {at}")), log(&format!("{name} ends")));
        format!("trap '{ended}; exit' TERM; {started}; {end}; while :; do sleep 0.02; done")
    };
    // The first leaves a process behind that hears of no signal.
    let cache = server("cache", "{port}", "sleep 6543 & echo port {port}");
    let db = server("db", "{port} {cache.port}", ": > there");
    let client = format!(
        "{}; echo rate: 5",
        log("command {cache.address} {cache.port} {db.port}")
    );
    let text = format!(
        r#"about = "a client of two servers"
[command]
argv = ["sh", "-c", """{client}"""]
setup = ["sh", "-c", "echo setup >> log"]
teardown = ["sh", "-c", "echo teardown >> log"]
[[role]]
name = "cache"
place = "tested"
argv = ["sh", "-c", """{cache}"""]
ready = {{ line = '^port (\d+)$' }}
[[role]]
name = "db"
place = "outside"
argv = ["sh", "-c", """{db}"""]
ready = {{ command = ["test", "-e", "there"] }}
[[metric]]
name = "rate"
unit = "op/s"
regex = '^rate: (\S+)$'
"#
    );
    let tare = with(&text);
    tare.ok(&run("-p native --blocks 1"));
    good(&tare, 1);
    let log = std::fs::read_to_string(tare.path("log")).unwrap();
    let lines: Vec<Vec<&str>> = log.lines().map(|line| line.split(' ').collect()).collect();
    let [setup, cache, db, command, ends @ .., teardown] = &lines[..] else {
        panic!("{log}");
    };
    let cache_port: u16 = cache[1].parse().unwrap();
    let db_port: u16 = db[1].parse().unwrap();
    assert_ne!(cache_port, db_port, "{log}");
    assert_eq!((cache[0], db[0], db[2]), ("cache", "db", cache[1]), "{log}");
    assert_eq!(command[..], ["command", "127.0.0.1", cache[1], db[1]], "{log}");
    assert_eq!(ends, [["db", "ends"], ["cache", "ends"]], "{log}");
    assert_eq!((setup[0], teardown[0]), ("setup", "teardown"), "{log}");
    assert_eq!(processes_that_bear("sleep\x006543"), Vec::<String>::new());
}

#[test]
fn a_server_that_does_not_end_when_it_is_asked_to_is_killed_and_the_trial_counts() {
    let _alone = alone();
    let stubborn = "trap '' TERM; echo ready; while :; do sleep 0.1; : 4324; done";
    let tare = with(&file(&stubborn.replace('\'', "\""), CLIENT));
    tare.ok(&run("-p native --blocks 1"));
    good(&tare, 1);
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
    assert_eq!(processes_that_bear(": 4324"), Vec::<String>::new());
}

#[test]
fn a_server_that_is_killed_or_ends_fails_the_trial_whatever_its_client_printed() {
    let _alone = alone();
    let slow = format!("sleep 0.6; {CLIENT}");
    let failed = failure(
        &file("echo ready; echo working; sleep 0.2; kill -9 $$", &slow),
        "",
    );
    told(&failed, &["the server db ended: signal 9", "working"]);
    kept(&failed, "rate: 5", "[the server db printed]\nready\nworking");
    assert_eq!(failed["reason"], "killed");
    let failed = failure(&file("echo ready; sleep 0.2", &slow), "");
    told(
        &failed,
        &["the server db ended: before its client, with exit status 0"],
    );
    kept(&failed, "rate: 5", "ready");
    // Of a client that fails for it both are told.
    let failed = failure(
        &file(
            "echo ready; sleep 0.2; exit 3",
            "sleep 0.6; echo no answer >&2; exit 7",
        ),
        "",
    );
    told(
        &failed,
        &[
            "the server db ended: exit status 3",
            "then its client: exit status 7: no answer",
        ],
    );
    kept(&failed, "", "no answer\n[the server db printed]");
    // In the box its end is known though its client's leftovers are reaped after it.
    let in_box = file("echo ready; sleep 0.2; kill -9 $$", &slow).replace("outside", "tested");
    told(&failure(&in_box, ""), &["the server db ended: signal 9"]);
}

#[test]
fn a_server_that_does_not_come_to_serve_fails_the_trial_with_its_own_words() {
    let failed = failure(&file("echo loading; exec sleep 4322", CLIENT), "--timeout 1s");
    told(
        &failed,
        &["the server db did not become ready: it printed no line with '^ready$' within 1 s: loading"],
    );
    kept(&failed, "", "[the server db printed]\nloading");
    assert_eq!(failed["reason"], "timeout");
    assert_eq!(processes_that_bear("sleep\x004322"), Vec::<String>::new());
    let failed = failure(&file("echo no disk >&2; exit 4", CLIENT), "");
    told(
        &failed,
        &["the server db did not become ready: exit status 4: no disk"],
    );
    for (ready, why) in [
        ("{ tcp = \"{port}\" }", "it takes no connection at 127.0.0.1:"),
        (
            "{ command = [\"false\"] }",
            "'false' did not end with status 0 within 1 s",
        ),
    ] {
        let text = file(SERVES, CLIENT).replace("{ line = '^ready$' }", ready);
        let failed = failure(&text, "--timeout 1s");
        told(&failed, &["the server db did not become ready: ", why]);
    }
}

/// A client would measure whoever serves there, and nobody would know.
#[test]
fn a_stranger_at_the_port_of_a_server_is_not_taken_for_it() {
    let stranger = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = stranger.local_addr().unwrap().port().to_string();
    let text =
        file("exec sleep 4325", CLIENT).replace("{ line = '^ready$' }", &format!("{{ tcp = \"{port}\" }}"));
    let failed = failure(&text, "--timeout 5s");
    told(
        &failed,
        &[
            "the server db did not become ready: port ",
            " is already in use at 127.0.0.1",
        ],
    );
    assert_eq!(processes_that_bear("sleep\x004325"), Vec::<String>::new());
}

/// Why a server cannot be reached, or was gone, is often how it is waited for.
#[test]
fn a_server_that_listens_elsewhere_or_for_one_connection_is_told_so() {
    let server = |then: &str, at: &str| {
        let listens = format!(
            "import socket, sys; s = socket.socket(socket.{at}); s.bind((\"{}\", int(sys.argv[1]))); s.listen(); {then}",
            if at == "AF_INET6" { "::1" } else { "127.0.0.1" },
        );
        let text = file("SERVER", "sleep 1; echo rate: 5; echo errors: 0");
        text.replace(
            "[\"sh\", \"-c\", \'\'\'SERVER\'\'\']",
            &format!("[\"python3\", \"-c\", \'\'\'{listens}\'\'\', \"{{port}}\"]"),
        )
        .replace("{ line = '^ready$' }", "{ tcp = \"{port}\" }")
    };
    let failed = failure(&server("s.accept()", "AF_INET"), "");
    told(
        &failed,
        &[
            "the server db ended: before its client",
            "the ready check used that",
        ],
    );
    let failed = failure(&server("import time; time.sleep(60)", "AF_INET6"), "--timeout 2s");
    told(
        &failed,
        &[
            "takes no connection at 127.0.0.1:",
            "[something takes connections at [::1]:",
        ],
    );
    assert!(
        !failed["detail"].as_str().unwrap().contains("or at 127.0.0.1"),
        "{failed}"
    );
}

#[test]
fn a_client_that_fails_or_has_errors_fails_the_trial_and_its_server_ends() {
    // No process of another test is taken for this server.
    let serves = SERVES.replace("4321", "4325");
    let failed = failure(&file(&serves, "echo rate: 5; echo errors: 3"), "");
    told(&failed, &["errors is 3, and 0 is right"]);
    kept(&failed, "rate: 5\nerrors: 3", "[the server db printed]\nready");
    let failed = failure(
        &file(&serves, "echo rate: 5; echo errors: 0; exec sleep 4323"),
        "--timeout 1s",
    );
    assert_eq!(failed["reason"], "timeout", "{failed}");
    kept(&failed, "rate: 5", "ready");
    for left in ["sleep\x004325", "sleep\x004323"] {
        assert_eq!(processes_that_bear(left), Vec::<String>::new());
    }
}

/// iperf3 in the box, its client outside; `port` of the client and of the server.
fn iperf3(server: &str, client: &str) -> String {
    format!(
        r#"about = "iperf3"
[command]
place = "outside"
argv = ["iperf3", "-c", "{{db.address}}", "-p", "{client}", "-t", "1", "-J"]
[[role]]
name = "db"
place = "tested"
argv = ["iperf3", "-s", "-p", "{server}", "--forceflush"]
ready = {{ tcp = "{server}" }}
[[metric]]
name = "rate"
unit = "bit/s"
json = "/end/sum_received/bits_per_second"
"#
    )
}

#[test]
fn a_refused_connection_and_a_port_that_is_taken_fail_the_trial() {
    if !installed("iperf3") {
        return;
    }
    let failed = failure(&iperf3("{port}", "1"), "");
    // It ends with status 0 all the same.
    told(&failed, &["no rate"]);
    kept(
        &failed,
        "unable to connect to server: Connection refused",
        "[the server db printed]",
    );
    let taken = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let failed = failure(&iperf3(&port, "{db.port}"), "--timeout 5s");
    told(&failed, &["the server db", " is already in use at 127.0.0.1"]);
}

#[test]
fn iperf3_crosses_into_boxes_and_out_of_them() {
    let _alone = alone();
    if !installed("iperf3") {
        return;
    }
    let platforms = [
        "native",
        "docker?network=bridge",
        "docker?network=published",
        "runc?network=bridge",
    ];
    for platform in platforms.into_iter().filter(|platform| ready(platform)) {
        eprintln!("on {platform}");
        let inward = iperf3("{port}", "{db.port}").replace(
            "argv = [\"iperf3\", \"-s\"",
            "env = { TMPDIR = \".\" }\nargv = [\"iperf3\", \"-s\"",
        );
        let outward = inward
            .replace("place = \"outside\"", "place = \"there\"")
            .replace("place = \"tested\"", "place = \"outside\"")
            .replace(
                "place = \"there\"",
                "place = \"tested\"\nenv = { TMPDIR = \".\" }",
            );
        let tare = with(&inward);
        std::fs::write(tare.path("out.toml"), outward).unwrap();
        tare.ok(&run(&format!("-p {platform} -w ./out.toml --blocks 1")));
        for trial in good(&tare, 2) {
            let samples = &trial["outcome"]["ok"]["samples"];
            for metric in ["rate", "box-cpu", "wall", "ready"] {
                assert!(samples[metric].as_f64().unwrap() > 0.0, "{trial}");
            }
        }
        assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
    }
}

/// Client and server both in a box without a network: its own loopback is enough.
#[test]
fn a_client_beside_its_server_needs_no_network() {
    let _alone = alone();
    if !installed("iperf3") || !ready("runc") {
        return;
    }
    let text = iperf3("{port}", "{db.port}")
        .replace("place = \"outside\"", "env = { TMPDIR = \".\" }")
        .replace("[[role]]", "[[role]]\nenv = { TMPDIR = \".\" }");
    let tare = with(&text);
    tare.ok(&run("-p runc --blocks 1"));
    good(&tare, 1);
    let header = tare.records_of("r.jsonl", "header").remove(0);
    assert_eq!(header["study"]["workloads"][0]["roles"][1]["name"], "command");
}

/// A box for the server alone, with files of its own: what a server writes is not beside its client.
#[test]
fn a_server_that_is_apart_has_a_box_of_its_own() {
    let _alone = alone();
    let text = file(
        "echo {address} {port} > there; echo ready; exec sleep 4322",
        "test ! -e there; : {db.address} {db.port}; echo rate: 5; echo errors: $?",
    );
    let text = text.replace("\"outside\"", "\"apart\"");
    let tare = with(&text.replace("ready = {", "calls = [\"sleep\"]\nready = {"));
    let platforms = [
        "runc?network=bridge",
        "docker?network=bridge",
        "lxc?network=bridge",
    ];
    let platforms: Vec<&str> = platforms.into_iter().filter(|p| ready(p)).collect();
    if platforms.is_empty() {
        return;
    }
    tare.ok(&run(&format!("-p {} --blocks 1", platforms.join(","))));
    good(&tare, platforms.len());
    let of_db = |records: Vec<Value>| records.iter().filter(|r| r["role"] == "db").count();
    assert_eq!(of_db(tare.records_of("r.jsonl", "box")), platforms.len());
    assert_eq!(of_db(tare.records_of("r.jsonl", "removed")), platforms.len());
    let plan = tare
        .ok("plan -p native -w ./w.toml --cpus 1 --memory 256M --blocks 10")
        .stdout;
    let plan = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        plan.contains("db in a box of its own beside it; command in the box"),
        "{plan}"
    );
    // Two of 256 MiB for each way to limit them.
    assert!(plan.contains("up to 4 boxes side by side, with 1 GiB"), "{plan}");
    assert!(plan.contains("20 trials in 40 boxes"), "{plan}");
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
}

#[test]
fn roles_are_told_by_show_plan_and_check() {
    let _alone = alone();
    let tare = with(&file(SERVES, CLIENT));
    let flat = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let shown = flat(tare.ok("workloads show ./w.toml").stdout);
    for words in [
        "db outside, on CPU",
        "serves once it prints '^ready$'",
        "command in the box: ",
    ] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let plan = flat(tare.ok("plan -p native -w ./w.toml --cpus 1").stdout);
    assert!(plan.contains("w: db outside, on CPU"), "{plan}");
    assert!(plan.contains("; command in the box"), "{plan}");
    assert!(!plan.contains("takes all CPUs"), "{plan}");
    let all = std::thread::available_parallelism().unwrap();
    let plan = flat(
        tare.ok(&format!("plan -p native -w ./w.toml --cpus {all}"))
            .stdout,
    );
    assert!(plan.contains("it takes all CPUs of this host"), "{plan}");
    let checked = tare.ok("workloads check ./w.toml").stdout;
    assert!(checked.contains("5.000 op/s"), "{checked}");
    std::fs::write(tare.path("w.toml"), file("exit 9", CLIENT)).unwrap();
    let checked = tare.run("workloads check ./w.toml");
    assert_eq!(checked.code, 1, "{checked:?}");
    assert!(flat(checked.stdout).contains("the server db did not become ready: exit status 9"));
}

#[test]
fn what_cannot_be_is_refused_before_anything_runs() {
    let text = file(SERVES, CLIENT);
    for (from, to, told) in [
        (
            "\"outside\"",
            "\"inside\"",
            "w.toml:9:9: 'place' cannot be 'inside'",
        ),
        ("echo rate", "echo {web.port} rate", "'{web.port}' is of no role"),
    ] {
        let tare = with(&text.replace(from, to));
        for verb in ["plan -p native -w ./w.toml", "workloads check ./w.toml"] {
            tare.refused(verb, &[told]);
        }
    }
    let across = text.replace("echo rate", "echo {db.port} rate");
    let swapped = across
        .replace("place = \"outside\"", "place = \"tested\"")
        .replace("[command]", "[command]\nplace = \"outside\"");
    let apart = across.replace("place = \"outside\"", "place = \"apart\"");
    for (platform, file, why) in [
        ("runc", &across, "no network with this host"),
        ("runc", &apart, "share no network"),
        (
            "runc?network=macvlan",
            &swapped,
            "keeps the host and a macvlan on it apart",
        ),
    ] {
        if ready(platform) {
            with(file).refused(&format!("plan -p {platform} -w ./w.toml --memory 256M"), &[why]);
        }
    }
    if ready("docker") {
        let role = "[[role]]\nname = \"web\"\nplace = \"tested\"\nargv = [\"true\"]\nready = { line = 'x' }\n[[metric]]";
        let two = swapped
            .replace("[[metric]]", role)
            .replace("echo {db.port}", "echo {web.port} {db.port}");
        let plan = "plan -p docker?network=published -w ./w.toml --memory 256M";
        with(&two).refused(plan, &["the engine publishes one port"]);
    }
}

#[test]
fn a_study_skips_where_a_workload_does_not_reach_and_runs_the_rest() {
    let _alone = alone();
    if !ready("runc") {
        return;
    }
    let tare = with(&file(SERVES, CLIENT));
    let study = "title = \"reach\"
[requirement]
questions = [\"does it reach?\"]
[[workload]]
name = \"w.toml\"
[[workload]]
name = \"syscall\"
[factors]
platforms = [\"native\", \"runc\"]
provisioning = \"pinned\"
cpus = 1
memory = \"256M\"
[protocol]
blocks = 1
trial_time = \"50ms\"
settle = false
";
    std::fs::write(tare.path("s.toml"), study).unwrap();
    let plan = tare.ok("plan s.toml").stdout;
    let plan = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plan.contains("w in runc: its boxes share no network"), "{plan}");
    tare.run("run s.toml -o r.jsonl");
    let trials = tare.records_of("r.jsonl", "trial");
    for trial in &trials {
        let skipped = trial["outcome"]["skipped"]["reason"] == "cannot-run";
        let unreached = trial["workload"] == "w" && trial["platform"] == "runc";
        assert_eq!(skipped, unreached, "{trial}");
    }
    assert!(trials.len() >= 4, "{trials:?}");
}

/// Two workers in boxes of their own, whom all know by name, serve two workloads of a block and are started once.
#[test]
fn workers_have_names_and_stay_for_a_block() {
    let _alone = alone();
    // What a box knows of names, by its shell alone: calls itself as it should, and finds each worker at its address.
    let named = "read self < /proc/sys/kernel/hostname; found=; while read at names; do for name in $names; do \
                 case $name in worker-*) found=$found,$at;; esac; done; done < /etc/hosts";
    let worker = format!("{named}; echo $self started; exec sleep 4324");
    let client = format!(
        "{named}; test $self = tare; test $found = ,{{worker.addresses}}; echo rate: 5; echo errors: $?"
    );
    let text = file(&worker, &client)
        .replace(
            "\"outside\"",
            "\"apart\"\ncount = 2\nlives = \"block\"\ncalls = [\"sleep\"]",
        )
        .replace("name = \"db\"", "name = \"worker\"")
        .replace("'^ready$'", "'^worker-[12] started$'");
    let tare = with(&text);
    std::fs::write(tare.path("again.toml"), &text).unwrap();
    let platforms = [
        "native?network=bridge",
        "runc?network=bridge",
        "docker?network=bridge",
        "lxc?network=bridge",
        "nspawn?network=bridge",
    ];
    let platforms: Vec<&str> = platforms.into_iter().filter(|p| ready(p)).collect();
    let asked = format!(
        "-p {} --baseline {} --blocks 1",
        platforms.join(","),
        platforms[0]
    );
    tare.ok(&run(&asked).replace("./w.toml", "./w.toml,./again.toml"));
    let plan = tare
        .ok("plan -p native?network=bridge -w ./w.toml --cpus 1")
        .stdout;
    assert!(
        plan.contains("worker in 2 boxes of their own beside it"),
        "{plan}"
    );
    let trials = good(&tare, 2 * platforms.len());
    for platform in &platforms {
        let of = |records: &[Value]| {
            records
                .iter()
                .filter(|r| r["platform"] == *platform)
                .cloned()
                .collect::<Vec<_>>()
        };
        let ready = of(&trials)
            .into_iter()
            .map(|t| t["outcome"]["ok"]["samples"]["ready"].as_f64().unwrap());
        let ready: Vec<f64> = ready.collect();
        assert!(ready[0] > 0.0 && ready[1] == 0.0, "{platform}: {ready:?}");
        assert_eq!(of(&tare.records_of("r.jsonl", "box")).len(), 3, "{platform}");
    }
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
}

/// Servers that stay serve one run before the first trial of a block, which is told nowhere; that it fails is.
#[test]
fn servers_that_stay_serve_one_run_that_does_not_count() {
    let client = "echo ran >> runs.txt; echo rate: 5; echo errors: 0";
    let text =
        file("echo ready; exec sleep 4326", client).replace("\"outside\"", "\"outside\"\nlives = \"block\"");
    let tare = with(&text);
    std::fs::write(tare.path("again.toml"), &text).unwrap();
    tare.ok(&run("-p native --blocks 2").replace("./w.toml", "./w.toml,./again.toml"));
    good(&tare, 4);
    let runs = std::fs::read_to_string(tare.path("runs.txt")).unwrap();
    assert_eq!(runs.lines().count(), 2 * 3);
    let fails = text.replace(client, "exit 3");
    told(&failure(&fails, ""), &["in the run before the first trial", "3"]);
}

/// A worker that ends before the command leaves a smaller cluster: the trial tells so, and the next one begins anew.
#[test]
fn workers_that_are_lost_are_counted() {
    let _alone = alone();
    if !ready("runc?network=bridge") {
        return;
    }
    let worker = "read self < /proc/sys/kernel/hostname; echo ready; test $self = worker-2 || exec sleep 4325; sleep 0.2; exit 7";
    let text = file(worker, "sleep 1; echo rate: 5; echo errors: 0")
        .replace(
            "\"outside\"",
            "\"apart\"\ncount = 3\nlives = \"block\"\ncalls = [\"sleep\"]",
        )
        .replace("name = \"db\"", "name = \"worker\"");
    let tare = with(&text);
    std::fs::write(tare.path("again.toml"), &text).unwrap();
    let asked = run("-p runc?network=bridge --blocks 1").replace("./w.toml", "./w.toml,./again.toml");
    tare.ok(&asked);
    for trial in good(&tare, 2) {
        let findings = trial["findings"].as_array().unwrap();
        let lost = findings.iter().find(|f| f["finding"] == "lost-servers");
        let lost = lost.unwrap_or_else(|| panic!("{trial}"));
        assert_eq!(
            (&lost["role"], lost["ended"].as_u64(), lost["all"].as_u64()),
            (&"worker".into(), Some(1), Some(3))
        );
        assert!(
            trial["outcome"]["ok"]["samples"]["ready"].as_f64() > Some(0.0),
            "{trial}"
        );
    }
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
}

#[test]
fn a_job_runs_on_a_cluster_of_one_worker() {
    if !ready("runc?network=bridge") || !can_build_images() {
        return;
    }
    let tare = Tare::new();
    tare.ok("image build clusters");
    let _alone = alone();
    tare.ok(
        "run -p runc?network=bridge -w spark-wordcount?workers=1 --provisioning vanilla --cpus 1 --memory 1792M --blocks 1 --no-settle -o r.jsonl",
    );
    good(&tare, 1);
    assert_eq!(tare.records_of("r.jsonl", "box").len(), 2);
    assert_eq!(left_of(&tare.run_name("r.jsonl")), Vec::<String>::new());
}
