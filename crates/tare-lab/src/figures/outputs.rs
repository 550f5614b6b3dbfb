//! Every workload that ships, held against what its program printed once (`tests/outputs`), whole
//! and spoiled.

use super::success;
use std::path::Path;
use tare_model::catalogue;
use tare_model::protocol::{ExitStatus, Exited};
use tare_model::results::{Failure, ProcessUsage, Success};
use tare_model::workload::{CommandRun, Run};
use tare_study::design::of_file;
use tare_study::workload_file::{names, read};

/// A workload, and two of its figures in base units.
type Recorded = (&'static str, [(&'static str, f64); 2]);

/// Of a tool with one figure that one stands twice.
const RECORDED: [Recorded; 54] = [
    (
        "bonnie++",
        [("write-block", 148_784.0 * 1024.0), ("seeks", 3052.0)],
    ),
    ("build", [("wall", 2.0), ("user", 1.0)]),
    ("cassandra", [("mean", 19.4e-3), ("operations", 747.0)]),
    ("cassandra-apart", [("mean", 19.4e-3), ("operations", 747.0)]),
    ("copy-up", [("first", 629.425e-6), ("again", 10.868e-6)]),
    ("cyclictest", [("average", 33_167e-9), ("maximum", 341_144e-9)]),
    ("duckdb", [("time", 0.221_694), ("time", 0.221_694)]),
    ("ffmpeg", [("wall", 2.0), ("user", 1.0)]),
    (
        "fio",
        [("read", 85_444.589_309), ("write-bandwidth", 347_040_020.0)],
    ),
    ("hadoop-terasort", [("time", 26.869), ("task-cpu", 3.27)]),
    ("hadoop-wordcount", [("time", 37.735), ("throughput", 800.0)]),
    ("hardinfo", [("time", 0.483_183), ("time", 0.483_183)]),
    (
        "hardinfo-cryptohash",
        [
            ("throughput", 311.025_867 * 1_048_576.0),
            ("throughput", 311.025_867 * 1_048_576.0),
        ],
    ),
    ("hardinfo-zlib", [("marks", 0.164_589), ("marks", 0.164_589)]),
    ("hpcc", [("hpl", 2.142_35e9), ("dgemm", 3.243_41e9)]),
    ("hpcc-stream", [("triad", 40.1197e9), ("triad", 40.1197e9)]),
    (
        "iozone",
        [("write", 5_113_352.0 * 1024.0), ("reread", 22_259_318.0 * 1024.0)],
    ),
    (
        "iperf",
        [
            ("throughput", 12_836_230_596.0 / 8.0),
            ("throughput", 12_836_230_596.0 / 8.0),
        ],
    ),
    (
        "iperf3",
        [
            ("throughput", 13_019_696_049.666_2 / 8.0),
            ("throughput", 13_019_696_049.666_2 / 8.0),
        ],
    ),
    ("kafka", [("mean", 45.7e-3), ("read-back", 2.4242e6)]),
    (
        "lmbench-syscall",
        [("latency", 0.3157e-6), ("latency", 0.3157e-6)],
    ),
    ("mariadb", [("transactions", 2010.88), ("p95", 2.86e-3)]),
    ("memcached", [("requests", 106_744.0), ("requests", 106_744.0)]),
    ("mpi-prime", [("time", 1.568_451), ("time", 1.568_451)]),
    ("mpi-prime-apart", [("time", 2.864_51), ("time", 2.864_51)]),
    ("mpi-search", [("time", 1.894_956), ("time", 1.894_956)]),
    ("mpi-search-apart", [("time", 1.917_628), ("time", 1.917_628)]),
    ("netperf", [("round-trips", 40_525.135), ("p99", 56e-6)]),
    (
        "netperf-stream",
        [("throughput", 4558.95e6 / 8.0), ("throughput", 4558.95e6 / 8.0)],
    ),
    ("nginx", [("requests", 97_659.11), ("requests", 97_659.11)]),
    ("nodejs", [("wall", 2.0), ("user", 1.0)]),
    (
        "openssl-rsa",
        [("signatures", 4286.0), ("verifications", 70352.0)],
    ),
    (
        "openssl-sha256",
        [("throughput", 1_866_579_968.0), ("throughput", 1_866_579_968.0)],
    ),
    (
        "pgbench",
        [("transactions", 3_608.599_654), ("latency", 1.108e-3)],
    ),
    ("python", [("wall", 2.0), ("user", 1.0)]),
    ("redis", [("get", 1_593_625.62), ("set", 1_201_201.12)]),
    ("spark-kmeans", [("time", 7.315), ("throughput", 98_425.0)]),
    ("spark-on-yarn", [("time", 2.503), ("throughput", 1_278_721.0)]),
    ("spark-pagerank", [("time", 3.134), ("throughput", 1276.0)]),
    ("spark-terasort", [("time", 2.516), ("throughput", 1_271_822.0)]),
    ("spark-wordcount", [("time", 1.781), ("throughput", 17_965.0)]),
    ("spec-cpu2006", [("time", 12.749_075), ("time", 12.749_075)]),
    ("spec-cpu2017", [("time", 12.749_075), ("time", 12.749_075)]),
    ("spot-prices", [("time", 32.916), ("shuffled", 1513038.0)]),
    ("spot-prices-alone", [("time", 1.310), ("time", 1.310)]),
    ("sqlite", [("wall", 2.0), ("user", 1.0)]),
    ("stress-ng", [("rate", 835.48), ("rate", 835.48)]),
    ("sysbench-cpu", [("events", 1675.93), ("events", 1675.93)]),
    ("sysbench-fileio", [("reads", 2289.80), ("p95", 0.13e-3)]),
    (
        "sysbench-memory",
        [
            ("throughput", 9391.87 * 1_048_576.0),
            ("throughput", 9391.87 * 1_048_576.0),
        ],
    ),
    ("wordpress", [("p50", 0.425), ("requests", 83.82)]),
    ("wordpress-apart", [("p50", 0.488), ("requests", 54.77)]),
    ("wordpress-jmeter", [("mean", 0.948_16), ("p99", 1.277)]),
    ("zstd", [("compression", 452.08e6), ("decompression", 1842.2e6)]),
];

/// A workload, what is put in the place of what in what it printed, and what is told.
type Spoiled = (&'static str, &'static str, &'static str, &'static str);

const SPOILED: [Spoiled; 59] = [
    ("duckdb", "right", "wrong", "does not have"),
    (
        "kafka",
        "2026-11-28 22:09:54",
        "Exiting before consuming the expected number of messages: timeout (20000 ms)\n2026-11-28 22:09:54",
        "has 'Exiting before",
    ),
    (
        "ffmpeg",
        "frames 900",
        "frames 899",
        "frames is 899, and 900 is right",
    ),
    (
        "build",
        "answer 1279189805",
        "answer 1279189806",
        "the answer of the program is 1279189806",
    ),
    (
        "cassandra",
        "Total errors              :          0 ",
        "Total errors              :      1,041 ",
        "errors is 1041, and 0 is right",
    ),
    ("cassandra", "END\n", "FAILURE\n", "has '^FAILURE'"),
    (
        "cassandra",
        "Latency mean              :   19.4 ms",
        "Latency mean              :    NaN ms",
        "no mean",
    ),
    ("mpi-prime", "right\n", "", "does not have '^right$'"),
    ("mpi-prime", "seconds ", "seconds -", "no time"),
    ("mpi-search", "right\n", "", "does not have '^right$'"),
    ("openssl-rsa", "+F2:2:2048:", "+F2:2:1024:", "no signatures"),
    (
        "mariadb",
        "ignored errors:                      0",
        "ignored errors:                      999",
        "errors is 999",
    ),
    (
        "memcached",
        "get_misses: 0",
        "get_misses: 7",
        "misses is 7, and 0 is right",
    ),
    (
        "nginx",
        "Requests/sec",
        "Socket errors: connect 0, read 12\nRequests/sec",
        "has 'Non-2xx",
    ),
    ("nodejs", "[1]", "[2]", "does not have"),
    (
        "pgbench",
        "failed transactions: 0",
        "failed transactions: 3",
        "does not have",
    ),
    ("python", "[1]", "", "does not have"),
    ("redis", "1593625.62", "0.00", "it is 0"),
    ("redis", "\"GET\"", "\"GOT\"", "no get"),
    ("sqlite", "rows", "Error: near", "does not have"),
    (
        "wordpress",
        "Failed requests:        0",
        "Failed requests:        100",
        "failed requests is 100, and 0 is right",
    ),
    (
        "wordpress",
        "Complete requests",
        "Non-2xx responses:      100\nComplete requests",
        "has 'Non-2xx",
    ),
    (
        "wordpress",
        "Document Length:        40125",
        "Document Length:        2413",
        "bytes of the page is 2413",
    ),
    (
        "wordpress-jmeter",
        "missing 0",
        "missing 50",
        "missing is 50, and 0 is right",
    ),
    (
        "wordpress-jmeter",
        "failed 0",
        "failed 3",
        "failed requests is 3, and 0 is right",
    ),
    (
        "wordpress-jmeter",
        "shortest 40417",
        "shortest 2413",
        "shortest page is 2413",
    ),
    ("zstd", "452.08 MB/s", "452.08 GB/s", "no compression"),
    // A phase that took under 0.5 s.
    (
        "bonnie++",
        ",148784,29,",
        ",+++++,+++,",
        "no write-block: '+++++'",
    ),
    ("bonnie++", "1.98,", "1.97,", "does not have '^1\\.98,'"),
    ("bonnie++", ",3052,", ",,", "no seeks: ''"),
    ("cyclictest", "Max: ", "", "no average"),
    (
        "fio",
        "\"error\" : 0",
        "\"error\" : 28",
        "errors in reading is 28, and 0 is right",
    ),
    ("fio", "99.000000", "99.00", "no read-p99"),
    ("fio", "\"jobs\"", "\"job\"", "a check cannot run"),
    // HardInfo 2 tells marks and more fields.
    ("hardinfo", "; 1\n", "; 1; 2; x\n", "no time"),
    (
        "hardinfo",
        "Calculating the 42nd Fibonacci number",
        "Running CryptoHash benchmark",
        "standard error does not have",
    ),
    ("hardinfo-cryptohash", "CryptoHash", "Zlib", "does not have"),
    ("hardinfo-zlib", "0.164589", "0.000000", "it is 0"),
    ("hpcc", "Success=1", "Success=0", "Success is 0, and 1 is right"),
    ("hpcc", "PASSED", "FAILED", "has 'FAILED'"),
    (
        "hpcc",
        "1 tests completed and passed residual",
        "0 tests completed and passed residual",
        "does not have",
    ),
    // Arrays in cache are no test of memory.
    (
        "hpcc-stream",
        "STREAM_VectorSize=4320000",
        "STREAM_VectorSize=333333",
        "numbers in an array is 333333, and at least 4194304 is right",
    ),
    (
        "iozone",
        "iozone test complete",
        "Error writing block",
        "does not have",
    ),
    ("iozone", " 64  ", " 128  ", "no write"),
    // A connection that broke: the rate until then, and status 0.
    (
        "iperf",
        ",0.0-1.0,",
        ",0.0-0.3,",
        "seconds of sending is 0.3, and at least 0.9 is right",
    ),
    ("iperf", "12836230596", "-nan", "no throughput"),
    (
        "iperf3",
        "\"end\":",
        "\"error\":\t\"unable to connect to server: Connection refused\", \"end\":",
        "standard output has",
    ),
    ("iperf3", "sum_received", "sum", "no throughput"),
    ("lmbench-syscall", "microseconds", "milliseconds", "no latency"),
    (
        "netperf",
        "ELAPSED_TIME=1.00",
        "ELAPSED_TIME=0.31",
        "seconds is 0.31, and at least 0.9 is right",
    ),
    ("netperf", "P99_LATENCY=56", "P99_LATENCY=", "no p99"),
    ("netperf-stream", "10^6bits", "10^9bits", "does not have"),
    (
        "openssl-sha256",
        "+F:25:sha256:1866579968.00",
        "",
        "no throughput",
    ),
    ("copy-up", "\"files\": 100", "\"files\": 3", "files is 3"),
    ("spec-cpu2006", "valid: S", "valid: CE", "does not have"),
    ("spec-cpu2017", "12.749075", "--", "no time"),
    (
        "stress-ng",
        "stress-ng: info:",
        "stress-ng: fail:",
        "has '^stress-ng: fail:'",
    ),
    (
        "sysbench-fileio",
        "reads/s:                      2289.80",
        "reads/s: 0.00",
        "no reads",
    ),
    (
        "sysbench-cpu",
        "events per second",
        "events per minute",
        "no events",
    ),
];

/// What the workload makes of what its program printed, with `to` in the place of `from`.
fn trial(name: &str, from: &str, to: &str) -> Result<Success, Failure> {
    let printed = |end: &str| {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/outputs/{name}.{end}"));
        std::fs::read_to_string(path).unwrap_or_default()
    };
    let (stdout, stderr) = (printed("out"), printed("err"));
    assert!(
        stdout.contains(from) || stderr.contains(from),
        "{name}: '{from}' was not printed"
    );
    let role = catalogue::main(Run::Command(CommandRun { argv: Vec::new() }));
    let workload = of_file(read(name).unwrap(), role, Vec::new()).unwrap();
    success(
        &workload,
        ended_well(),
        stdout.replace(from, to).as_bytes(),
        stderr.replace(from, to).as_bytes(),
        0,
    )
}

fn ended_well() -> Exited {
    let usage = ProcessUsage {
        wall_ns: 2_000_000_000,
        user_ns: 1_000_000_000,
        max_rss_bytes: 4096,
        ..ProcessUsage::default()
    };
    Exited {
        status: ExitStatus::Code(0),
        usage,
        repetitions: vec![usage],
        stdout_lost_bytes: 0,
        stderr_lost_bytes: 0,
        left_running: 0,
    }
}

#[test]
fn every_tool_is_read_right() {
    // A load prints nothing that would be read.
    let is_load = |name: &str| read(name).unwrap().command.load.is_some();
    let tools = names().into_iter().filter(|name| !is_load(name));
    assert_eq!(RECORDED.map(|(name, _)| name).to_vec(), tools.collect::<Vec<_>>());
    for (name, figures) in RECORDED {
        let success = trial(name, "", "").unwrap_or_else(|failure| panic!("{name}: {failure:?}"));
        for (figure, value) in figures {
            let found = success.samples[figure];
            assert!((found / value - 1.0).abs() < 1e-9, "{name}: {figure} is {found}");
        }
    }
}

#[test]
fn what_a_tool_did_not_do_is_no_figure() {
    for (name, from, to, told) in SPOILED {
        let failure = trial(name, from, to).expect_err(name);
        assert!(failure.detail.contains(told), "{name}: {told}: {failure:?}");
        assert!(failure.printed.is_some(), "{name}");
    }
}
