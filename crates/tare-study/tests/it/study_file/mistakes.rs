//! Mistakes in what a study says, each with its exact message.

use super::{study, told};

#[test]
fn unknown_keys_are_named_with_the_nearest() {
    told(
        "[factors]\nplatfroms = [\"native\"]",
        "s.toml:3:1: unknown key 'platfroms' in [factors]: did you mean 'platforms'?",
    );
    told(
        "[analysis]\nevidence = true",
        "s.toml:3:1: unknown key 'evidence' in [analysis]: the keys are text, margin, confidence",
    );
    told(
        "colour = 1",
        "s.toml:2:1: unknown key 'colour' in a study file: the keys are title, include, requirement, features, image, workload, \
         effect, tuning, metrics, factors, design, protocol, analysis, conclusion, small",
    );
    told(
        "[[workload]]\nname = \"spawn\"\nsettings = \"x\"",
        "s.toml:4:1: unknown key 'settings' in [[workload]]: the keys are name, size, threads, ends",
    );
}

#[test]
fn values_of_another_type_are_named_with_an_example() {
    told(
        "[protocol]\nblocks = \"ten\"",
        "s.toml:3:10: 'blocks' is \"ten\" (text), where a whole number is needed: write blocks = 20",
    );
    told(
        "[factors]\nplatforms = \"native\"",
        "s.toml:3:13: 'platforms' is \"native\" (text), where a list is needed: write platforms = [\"native\", \"docker\"]",
    );
    told(
        "[factors]\nplatforms = [\"native\", 7]",
        "s.toml:3:24: 'platforms' is 7 (a whole number), where text is needed: write platforms = [\"native\", \"docker\"]",
    );
    told(
        "[protocol]\nsettle = 1",
        "s.toml:3:10: 'settle' is 1 (a whole number), where true or false is needed: write settle = true",
    );
    told(
        "factors = 2026-01-01",
        "s.toml:2:11: 'factors' is 2026-01-01 (a date or time), where a table is needed: write factors = { text = ... }",
    );
    told(
        "[protocol]\nfresh = \"blok\"",
        "s.toml:3:9: 'fresh' cannot be 'blok': did you mean 'block'?",
    );
    for slices in ["0", "\"1h\"", "\"often\""] {
        let word = slices.trim_matches('"');
        told(
            &format!("[protocol]\nslices = {slices}"),
            &format!(
                "s.toml:3:10: 'slices': '{word}' is not a slicing: give auto, off, turns, or a slice length from 1ms to 1s"
            ),
        );
    }
    told(
        "[features]\nmemory = [\"speed\"]",
        "s.toml:3:11: 'memory' cannot be 'speed': the choices are throughput, latency, transaction-speed",
    );
}

#[test]
fn what_is_missing_or_empty_is_told() {
    assert_eq!(
        study("[protocol]\nblocks = 3").unwrap_err(),
        "s.toml:1:1: 'title' is missing: add title = \"what the study asks\""
    );
    told(
        "[factors]\nplatforms = []",
        "s.toml:3:13: 'platforms' is an empty list: give at least one item, as in platforms = [\"native\", \"docker\"], or omit the key",
    );
    told(
        "[[workload]]\nname = \"linpack\"\nsize = []",
        "s.toml:4:8: 'size' is an empty list: give at least one item, as in size = [\"64M\", \"256M\"], or omit the key",
    );
    told(
        "[requirement]\ntext = \" \"",
        "s.toml:3:8: 'text' is empty text: write text = \"...\", or omit it",
    );
    told(
        "[design]\nkind = \"cells\"",
        "s.toml:2:1: 'cells' is missing: add cells = [{ platform = \"docker\" }]",
    );
}

#[test]
fn unknown_names_are_named_with_the_nearest() {
    told(
        "[factors]\nplatforms = [\"native\", \"dokcer\"]",
        "s.toml:3:24: unknown platform 'dokcer': did you mean 'docker'? ('tare doctor' lists those that can run here)",
    );
    told(
        "[factors]\nplatforms = [\"native\", \"vm/dokcer\"]",
        "s.toml:3:24: unknown platform 'dokcer': did you mean 'docker'? ('tare doctor' lists those that can run here)",
    );
    told(
        "[factors]\nplatforms = [\"Docker!\"]",
        "s.toml:3:14: 'Docker!' is not a platform: a name is lower-case letters, digits and dashes, at most 32; \
         write NAME, NAME:HOST, NAME?key=value&key=value, or OUTER/INNER",
    );
    told(
        "[factors]\nplatforms = [\"gke\"]",
        "s.toml:3:13: 'platforms' lists only unknown platforms: add a known one, such as \"native\"",
    );
    told(
        "[[workload]]\nname = \"steram\"",
        "s.toml:3:8: unknown workload 'steram': did you mean 'stream'?",
    );
    told(
        "[[workload]]\nname = \"ffmpg\"",
        "s.toml:3:8: unknown workload 'ffmpg': did you mean 'ffmpeg'?",
    );
    told(
        "[[workload]]\nname = \"chess\"",
        "s.toml:3:8: unknown workload 'chess': 'tare workloads' lists them all, and a file of your own ends with .toml",
    );
    told(
        "[factors]\ninstances = [\"huge\"]",
        "s.toml:3:14: 'huge' is not an instance type: no such type; choose one of large, xlarge, 2xlarge, \
         4xlarge, 8xlarge, 16xlarge, or define one as NAME=CPUS:MEMORY, such as small=1:512M, or NAME=CPUS:MEMORY:HOST_CPUS",
    );
    let on = |host: &str| {
        format!(
            "[factors]\ninstances = [\n{{ name = \"a\", cpus = 2, memory = \"1G\", host_cpus = {host} }}]\nprovisioning = [\"vanilla\"]"
        )
    };
    told(
        &on("1"),
        "s.toml:4:1: 'a=2:1G:1' is not an instance type: a box of 2 CPUs does not fit on 1 CPU of the host; choose one of large, xlarge, 2xlarge, 4xlarge, 8xlarge, 16xlarge, or define one as NAME=CPUS:MEMORY, \
         such as small=1:512M, or NAME=CPUS:MEMORY:HOST_CPUS",
    );
    told(
        &on("\"two\""),
        "s.toml:4:52: 'host_cpus' is \"two\" (text), where a whole number is needed: write host_cpus = 4",
    );
    let wide = study("title = \"t\"\n".to_owned() + &on("4096")).unwrap_err();
    assert!(
        wide.starts_with(
            "s.toml:3:13: instance type 'a' should run on 4096 CPUs of the host, but this host has "
        ),
        "{wide}"
    );
}

#[test]
fn what_is_given_twice_is_named_where_it_is_given_again() {
    told(
        "[factors]\nplatforms = [\"native\", \"lxc\", \"native\"]",
        "s.toml:3:31: platform 'native' is given twice: give each once",
    );
    told(
        "[factors]\nnetworks = [\"host\", \"brige\"]",
        "s.toml:3:21: 'networks' cannot be 'brige': did you mean 'bridge'?",
    );
    told(
        "[factors]\nstorages = \"ssd\"",
        "s.toml:3:12: 'storages' cannot be 'ssd': the choices are own, volume, tmpfs, overlay, raw, qcow2",
    );
    told(
        "[factors]\nprovisioning = [\"vanilla\", \"vanilla\"]",
        "s.toml:3:28: provisioning 'vanilla' is given twice: give each once",
    );
    told(
        "[factors]\ninstances = [\"a=1:1G\", { name = \"a\", cpus = 1, memory = \"2G\" }]",
        "s.toml:3:24: instance type 'a' is given twice: give each once",
    );
    told(
        "[[workload]]\nname = \"spawn\"\n[[workload]]\nname = \"spawn\"",
        "s.toml:4:1: workload 'spawn' is given twice: give each once",
    );
    told(
        "[design]\nkind = \"cells\"\ncells = [{ platform = \"native\" }, { workload = \"spawn\" }]",
        "s.toml:4:35: the cell 'native vanilla spawn' is given twice: give each once",
    );
    told(
        "[analysis]\nmargin = 1\nmargin = 2",
        "s.toml:4:1: no TOML at 'margin': duplicate key; docs/study-files.md shows how a study file is written",
    );
}

#[test]
fn a_baseline_that_is_not_compared_is_named() {
    told(
        "[factors]\nplatforms = [\"lxc\", \"docker\"]\nbaseline = \"native\"",
        "s.toml:4:12: the baseline 'native' is not among the platforms lxc, docker: add it with platforms, or choose another with baseline",
    );
    told(
        "[factors]\nplatforms = [\"native\", \"lxc\"]\nprovisioning = [\"vanilla\"]\n\
         [design]\nkind = \"cells\"\n[[design.cells]]\nplatform = \"lxc\"",
        "s.toml:7:1: the baseline of the cell 'lxc vanilla stream' is not among the cells: add 'native vanilla stream'",
    );
    told(
        "[factors]\nbaseline = \"native\"",
        "s.toml:3:12: 'baseline' needs 'platforms' to compare with it: add them",
    );
}

#[test]
fn cells_and_bases_have_levels_of_the_study() {
    told(
        "[factors]\nplatforms = [\"native\"]\n[design]\nkind = \"cells\"\ncells = [{ platform = \"vm\" }]",
        "s.toml:6:10: a cell has the platform 'vm', which the study does not have: choose one of native",
    );
    told(
        "[design]\nkind = \"one-at-a-time\"\nbase = { workload = \"sort\" }",
        "s.toml:4:8: a cell has the workload 'sort', which the study does not have: choose one of stream, linpack, \
         syscall, spawn",
    );
    told(
        "[design]\nbase = { workload = \"spawn\" }",
        "s.toml:3:1: 'base' belongs to another design: write kind = \"one-at-a-time\", or omit 'base'",
    );
    told(
        "[factors]\nplatforms = [\"native\", \"lxc\"]\n[design]\nkind = \"cells\"\ncells = [{ platform = \"native\" }]",
        "s.toml:3:13: the platform 'lxc' is in none of the cells: add a cell with it, or omit it",
    );
}

#[test]
fn absurd_numbers_of_the_protocol_are_refused_with_what_makes_sense() {
    for (below, message) in [
        (
            "blocks = 0",
            "10: blocks is 0: give a whole number from 1 to 1000000",
        ),
        (
            "blocks = 999999999999999999999",
            "10: 999999999999999999999 is out of range: give a smaller number",
        ),
        (
            "blocks = -1",
            "10: 'blocks' is -1: it cannot be negative, write blocks = 20",
        ),
        (
            "duration = \"5d\"",
            "12: 'duration': '5d' is not a duration: give a positive number with ms, s, m or h, such as 5m",
        ),
        (
            "blocks = 99999999999999",
            "10: blocks is 99999999999999: give a whole number from 1 to 1000000",
        ),
        (
            "adaptive = true\nblocks = 12",
            "4:10: an adaptive study ends with a look, and there is none after 12 blocks: choose one of 10, 15, 20, 25, \
             30, 40, 50, 60 blocks",
        ),
        (
            "timeout = \"500ms\"\ntrial_time = \"1s\"",
            "11: timeout is 500 ms but a trial should take 1.0 s, so every trial would be aborted: raise timeout or reduce trial_time",
        ),
        (
            "pause = \"1000000000000000000s\"",
            "9: 'pause': '1000000000000000000s' is too much: give at most 8888h, about a year",
        ),
        (
            "pause = 500",
            "9: 'pause': '500' has no unit: give ms, s, m or h, as in 500ms or 500s",
        ),
        ("trial_time = \"2h\"", "14: trial_time is 7200: give 0 s to 1 h"),
        (
            "duration = \"5m\"\nblocks = 9",
            "12: 'duration' and 'blocks' both say how long to run blocks: omit one of them",
        ),
        (
            "adaptive = false\nprecision = 1",
            "4:13: 'precision' ends cells by looks at the data, which 'adaptive = false' forbids: omit one of them",
        ),
        (
            "precision = 0",
            "13: precision is 0: give a percentage from 0.01 to 100",
        ),
    ] {
        // A place of another line is told in full.
        let line = if message.starts_with("4:") { "" } else { "3:" };
        told(
            &format!("[protocol]\n{below}"),
            &format!("s.toml:{line}{message}"),
        );
    }
    told(
        "[analysis]\nmargin = nan",
        "s.toml:3:10: margin is NaN: give a percentage from 0.01 to 100",
    );
    told(
        "[analysis]\nconfidence = 0.99",
        "s.toml:3:14: 'confidence' is 0.99: all intervals and verdicts of tare use 95 %; write confidence = 0.95 or omit it",
    );
}

#[test]
fn absurd_sizes_are_refused_with_what_makes_sense() {
    told(
        "[factors]\ncpus = -2",
        "s.toml:3:8: 'cpus': '-2' is not a number of CPUs: give a positive number with at most three decimals, such \
         as 2 or 0.5",
    );
    told(
        "[factors]\ncpus = 1e300",
        "s.toml:3:8: 'cpus': '1000000000000000000000000000000000000000...' is too much: give at most 4294966 CPUs",
    );
    told(
        "[factors]\nmemory = \"999999999999G\"",
        "s.toml:3:10: 'memory': '999999999999G' is too much: give at most 16777215T",
    );
    told(
        "[[workload]]\nname = \"stream\"\nthreads = 99999999999",
        "s.toml:4:11: 'threads' is 99999999999: give at most 4096",
    );
    told(
        "[factors]\ncpus = 1\nmemory = \"1M\"",
        "s.toml:4:10: 1 MiB of memory are too little: a box needs at least 64 MiB: set memory to 64M or more",
    );
    told(
        "[factors]\ninstances = [\"a=1:128M\"]",
        "s.toml:3:13: 128 MiB of memory are too little: stream (three arrays of 32 MiB) needs at least 202 MiB: set \
         memory to 202M or more",
    );
    told(
        "[factors]\ninstances = [\"a=1:1G\"]\ncpus = 1",
        "s.toml:3:13: instances sets both CPUs and memory: omit cpus and memory",
    );
    told(
        "[[workload]]\nname = \"linpack\"\nsize = [500, 100000]",
        "s.toml:4:14: linpack cannot have size 100000: give 50 to 16383 (order of the matrix)",
    );
    told(
        "[[workload]]\nname = \"stream\"\nthreads = 0",
        "s.toml:4:11: stream cannot have threads 0: give 1 to 4096",
    );
    told(
        "[[workload]]\nname = \"stream\"\nsize = \"1 TB\"",
        "s.toml:4:8: 'size': '1 TB' is not an amount of memory: give a positive number with K, M or G (powers of \
         1024), such as 512M",
    );
    let many = "title = \"t\"\n[factors]\ncpus = 9999\nprovisioning = [\"vanilla\"]";
    let found = study(many).unwrap_err();
    assert!(
        found.starts_with("s.toml:3:8: 9999 CPUs are requested, but this host has "),
        "{found}"
    );
}

#[test]
fn more_than_anybody_could_run_is_refused_before_it_is_made() {
    let numbers = |of: std::ops::Range<u32>| of.map(|i| i.to_string()).collect::<Vec<_>>().join(", ");
    told(
        &format!("[[workload]]\nname = \"linpack\"\nsize = [{}]", numbers(50..2000)),
        "s.toml:4:8: 'size' has 1950 items: give at most 1000",
    );
    let kernels = format!("[[workload]]\nname = \"linpack\"\nsize = [{}]", numbers(50..900));
    told(
        &format!("{kernels}\n{kernels}"),
        "s.toml:5:1: the parameters of linpack make more than 1000 runs: give fewer levels",
    );
    let platforms: Vec<String> = (1..=200).map(|i| format!("\"fake?seed={i}\"")).collect();
    told(
        &format!("{kernels}\n[factors]\nplatforms = [{}]", platforms.join(", ")),
        "s.toml:6:13: 340000 cells in 60 blocks are too many: the limits are 100000 cells and 4294967295 trials",
    );
}

#[test]
fn an_effect_names_two_workloads_of_the_study() {
    let effect = |of: &str, against: &str| {
        format!(
            "[[workload]]\nname = \"spawn\"\n[[workload]]\nname = \"stream\"\nthreads = [1, 2]\n\
             [[effect]]\nname = \"e\"\nof = \"{of}\"\nagainst = \"{against}\""
        )
    };
    let read = study("title = \"t\"\n".to_owned() + &effect("stream?threads=2", "stream threads=1")).unwrap();
    let effects: Vec<String> = read.effects.iter().map(ToString::to_string).collect();
    assert_eq!(effects, ["e (stream threads=2 against stream threads=1)"]);
    told(
        &effect("stream", "spawn"),
        "s.toml:7:1: the effect 'e' names the workload 'stream', which the study does not have: \
         choose two of spawn, stream threads=1, stream threads=2",
    );
    told(
        &effect("spawn", "spawn"),
        "s.toml:7:1: an effect compares the workload 'spawn' with itself: give two different ones",
    );
    let twice = effect("spawn", "stream?threads=1");
    let (_, entry) = twice.split_once("[[effect]]").unwrap();
    told(
        &format!("{twice}\n[[effect]]{entry}"),
        "s.toml:11:1: effect 'e (spawn against stream threads=1)' is given twice: give each once",
    );
    told(
        "[[workload]]\nname = \"spawn\"\n[[effect]]\nname = \"e\"\nof = \"spawn\"",
        "s.toml:4:1: 'against' is missing: add against = \"ffmpeg\"",
    );
}
