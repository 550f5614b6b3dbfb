use super::*;
use tare_model::load::Asked;
use tare_model::output::{Find, Stream};
use tare_model::workload::Ready;

const WHOLE: &str = r#"about = "a tool"
feature = { property = "memory", capacity = "throughput" }

[command]
argv = ["tool", "--n={n}", "{file}"]
with = ["{file}"]
env = { LC_ALL = "C", N = "{n}" }
package = "tool"
image = "micro"
calls = ["sh", "{file}"]
seconds = { small = 2, paper = 60.5 }
memory = { small = "1536M", paper = "8G" }

[parameters]
n = { about = "how many", small = "1", paper = "100" }
file = { about = "what", small = "/etc/hostname", paper = "/etc/passwd" }

[[metric]]
name = "rate"
unit = "MB/s"
regex = '^rate: (\S+) MB/s$'

[[metric]]
name = "p99"
unit = "us"
json = "/p99"
stream = "stderr"

[[check]]
figure = "errors"
regex = '^errors: (\d+)$'
equals = 0
"#;

fn of(text: &str, asked: &str) -> Result<CatalogueWorkload, String> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tool.toml");
    std::fs::write(&path, text).unwrap();
    let asked = format!("{}{asked}", path.display());
    let cut = |e: WorkloadFileError| {
        e.to_string()
            .replace(&format!("{}/", folder.path().display()), "")
    };
    read(&asked).map_err(cut)
}

#[test]
fn a_file_is_a_command_with_figures_and_checks() {
    let read = of(WHOLE, "").unwrap();
    assert_eq!((read.name.as_str(), read.family.as_str()), ("tool", "tool"));
    assert_eq!(read.command.argv, ["tool", "--n=1", "/etc/hostname"]);
    assert_eq!(read.command.with, [PathBuf::from("/etc/hostname")]);
    assert_eq!(read.command.env, ["LC_ALL=C", "N=1"]);
    assert_eq!(read.memory_bytes, Some(1536 << 20));
    assert_eq!((read.image.as_deref(), read.seconds), (Some("micro"), Some(2.0)));
    assert_eq!(read.command.calls, ["sh", "/etc/hostname"]);
    assert_eq!(read.command.metrics.len(), 2);
    assert_eq!(read.command.metrics[1].find, Find::Json("/p99".to_owned()));
    assert_eq!(read.command.metrics[1].stream, Stream::Stderr);
    let CheckWish::Figure(errors) = &read.command.checks[0] else {
        panic!("{:?}", read.command.checks);
    };
    assert_eq!((errors.at_least, errors.at_most), (Some(0.0), Some(0.0)));
}

#[test]
fn parameters_are_given_one_by_one_or_as_the_studies_had_them() {
    let argv = |asked: &str| of(WHOLE, asked).unwrap().command.argv;
    assert_eq!(argv("?n=7"), ["tool", "--n=7", "/etc/hostname"]);
    assert_eq!(argv("?preset=paper"), ["tool", "--n=100", "/etc/passwd"]);
    assert_eq!(argv("?preset=paper&n=7"), ["tool", "--n=7", "/etc/passwd"]);
    assert_eq!(of(WHOLE, "?n=7").unwrap().name, "tool n=7");
    let paper = of(WHOLE, "?preset=paper").unwrap();
    assert_eq!((paper.seconds, paper.memory_bytes), (Some(60.5), Some(8 << 30)));
    assert!(of(WHOLE, "?m=7").unwrap_err().contains("has no parameter 'm'"));
    assert!(
        of(WHOLE, "?n")
            .unwrap_err()
            .contains("write parameters after its name")
    );
    // Braces of a script are left as they are.
    let script = WHOLE.replace("\"{file}\"]\nwith", "\"f() { x; }; {n}\"]\nwith");
    assert_eq!(of(&script, "").unwrap().command.argv[2], "f() { x; }; 1");
    // What stands in a value is no parameter.
    assert_eq!(argv("?n={file}"), ["tool", "--n={file}", "/etc/hostname"]);
    assert!(
        of(WHOLE, "?preset=large")
            .unwrap_err()
            .contains("has no preset 'large'")
    );
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    for (from, to, told) in [
        (
            "about",
            "abuot",
            "tool.toml:1:1: unknown key 'abuot' in a workload file: did you mean 'about'?",
        ),
        (
            "\"MB/s\"",
            "\"mb/s\"",
            "tool.toml:18:1: metric 'rate': 'mb/s' can be bits or bytes: write Mbit/s or MB/s",
        ),
        (
            "(\\S+) MB",
            "\\S+ MB",
            "tool.toml:18:1: metric 'rate': '^rate: \\S+ MB/s$' has 0 groups",
        ),
        (
            "json = \"/p99\"",
            "json = \"p99\"",
            "tool.toml:23:1: metric 'p99': 'p99' is not a JSON pointer",
        ),
        (
            "json = \"/p99\"",
            "",
            "tool.toml:23:1: a figure needs exactly one of",
        ),
        ("equals = 0", "", "tool.toml:29:1: a figure needs a bound"),
        (
            "figure = ",
            "says = \"x\"\nfigure = ",
            "tool.toml:29:1: a check needs exactly one of",
        ),
        (
            "small = 2",
            "small = 0",
            "tool.toml:4:1: a run of 0 s: set 'seconds' to more",
        ),
        (
            "N = ",
            "\"A B\" = ",
            "tool.toml:7:31: 'A B' is no name of a variable",
        ),
        (
            "1536M",
            "much",
            "tool.toml:12:20: 'much' is not an amount of memory",
        ),
        ("small = 2", "small = nan", "tool.toml:4:1: a run of NaN s"),
        (
            "{n}",
            "{m}",
            "tool.toml:4:1: '{m}' is not a parameter: did you mean '{n}'?",
        ),
        (
            "{n}",
            "{size}",
            "tool.toml:4:1: '{size}' is not a parameter: add [parameters] size = { about, small, paper }",
        ),
        (
            "[command]",
            "[command]\ncannot_run = { platforms = [\"dokcer\"], why = \"no\" }",
            "tool.toml:5:14: unknown platform 'dokcer': did you mean 'docker'?",
        ),
        ("[command]", "[command", "tool.toml:4:9: no TOML"),
        (
            "argv =",
            "args =",
            "tool.toml:5:1: unknown key 'args' in [command]: did you mean 'argv'?",
        ),
        (
            "with = [\"{file}\"]",
            "with = \"{file}\"",
            "tool.toml:6:8: 'with' is \"{file}\" (text), where a list is needed",
        ),
        (
            "unit = \"MB/s\"\n",
            "",
            "tool.toml:18:1: 'unit' is missing in [[metric]]: add unit = ...",
        ),
    ] {
        let text = WHOLE.replacen(from, to, 1);
        let error = of(&text, "").unwrap_err();
        assert!(error.contains(told), "{told}: {error}");
    }
    assert!(
        read("/no/such.toml")
            .unwrap_err()
            .to_string()
            .contains("check the path")
    );
}

#[test]
fn where_it_cannot_run_is_so_on_hosts_that_say_so() {
    let barred = |host: &str| {
        let key = format!("[command]\ncannot_run = {{ platforms = [\"docker\"], {host} why = \"no\" }}");
        let read = of(&WHOLE.replacen("[command]", &key, 1), "").unwrap();
        read.cannot_run
    };
    let barrier = barred("").unwrap();
    assert_eq!(barred("if_host_has = \"/proc/self\",").as_ref(), Some(&barrier));
    assert_eq!(barred("if_host_has = \"/no/such\","), None);
    let bars = |path: &str| barrier.bars(&path.parse().unwrap());
    assert!(bars("docker") && bars("docker?network=host"));
    assert!(!bars("native") && !bars("vm/docker"));
}

#[test]
fn every_workload_that_ships_is_short_and_can_be_read() {
    for name in names() {
        let read = read(name).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(read.family, name);
        assert!(
            read.package.is_some() || read.command.image_only || name.starts_with("spec-cpu"),
            "{name}: where its program comes from"
        );
        // Of a command that prints no figure its time is one, if it did its work.
        let command = &read.command;
        assert!(
            command.load.is_some() || !command.metrics.is_empty() || !command.checks.is_empty(),
            "{name}"
        );
        assert!(shipped::text(name).unwrap().lines().count() <= 40, "{name}");
    }
    assert!(is_known("sysbench-cpu?primes=5") && !is_known("sysbench"));
}

const SERVED: &str = r#"about = "a client of two servers"

[command]
place = "outside"
argv = ["client", "{db.address}:{db.port}", "{cache.port}", "{n}"]

[[role]]
name = "cache"
place = "outside"
argv = ["cached", "--port={port}"]
ready = { line = '^port (\d+)$' }

[[role]]
name = "db"
place = "tested"
argv = ["sh", "-c", "f() { serve; }; f {address} {port} {cache.port} {n}"]
with = ["{file}"]
env = { A = "b" }
calls = ["serve"]
ready = { command = ["ping", "{address}", "{port}"] }

[parameters]
n = { about = "how many", small = "1", paper = "100" }
file = { about = "what", small = "/etc/hostname", paper = "/etc/passwd" }
"#;

#[test]
fn a_file_has_servers_whose_addresses_are_filled_later() {
    let read = of(SERVED, "?n=7").unwrap();
    assert_eq!(read.place, Place::Outside);
    assert_eq!(
        read.command.argv,
        ["client", "{db.address}:{db.port}", "{cache.port}", "7"]
    );
    let [cache, db] = &read.roles[..] else {
        panic!("{:?}", read.roles);
    };
    assert_eq!((cache.name.as_str(), &cache.place), ("cache", &Place::Outside));
    assert_eq!(cache.ready, Ready::Line(r"^port (\d+)$".to_owned()));
    assert_eq!(
        db.command.argv[2],
        "f() { serve; }; f {address} {port} {cache.port} 7"
    );
    assert_eq!(db.command.with, [PathBuf::from("/etc/hostname")]);
    assert_eq!(
        (&db.command.env[..], &db.command.calls[..]),
        (
            &["A=b".to_owned()][..],
            &["serve".to_owned(), "ping".to_owned()][..]
        )
    );
    let tcp = SERVED.replace("{ line = '^port (\\d+)$' }", "{ tcp = \"{port}\" }");
    assert_eq!(
        of(&tcp, "").unwrap().roles[0].ready,
        Ready::Tcp("{port}".to_owned())
    );
}

#[test]
fn what_is_wrong_with_servers_is_told_with_its_place() {
    for (from, to, told) in [
        (
            "place = \"tested\"",
            "place = \"inside\"",
            "tool.toml:15:9: 'place' cannot be 'inside': the choices are tested, outside",
        ),
        (
            "place = \"tested\"",
            "place = \"outside\"",
            "tool.toml:3:1: nothing runs in the box",
        ),
        (
            "name = \"db\"",
            "name = \"cache\"",
            "tool.toml:14:8: the role 'cache' already exists",
        ),
        (
            "name = \"db\"",
            "name = \"command\"",
            "tool.toml:14:8: 'command' is the name of [command]",
        ),
        (
            "name = \"db\"",
            "name = \"d b\"",
            "tool.toml:14:8: 'd b' is not a role name",
        ),
        (
            "{db.port}",
            "{dba.port}",
            "tool.toml:3:1: '{dba.port}' is of no role: did you mean 'db'?",
        ),
        (
            "{db.port}",
            "{db.prot}",
            "tool.toml:3:1: a server has address, port, addresses and endpoints, but no '{db.prot}': did you mean 'port'?",
        ),
        (
            "{db.port}",
            "{port}",
            "tool.toml:3:1: '{port}' is for the words of a server; in the command, refer to one, as in '{cache.port}'",
        ),
        (
            "place = \"outside\"",
            "place = \"outside\"\nsetup = [\"fill\", \"{db.port}\"]",
            "tool.toml:3:1: '{db.port}' is of a server, and setup and teardown run without servers",
        ),
        (
            "--port={port}",
            "--port={db.port}",
            "tool.toml:7:1: '{db.port}' is of a server that is started later: put [[role]] db before this one",
        ),
        (
            "--port={port}",
            "--port={cache.port}",
            "tool.toml:7:1: '{cache.port}' is of the server itself: write '{port}'",
        ),
        (
            "--port={port}",
            "--port={prot}",
            "tool.toml:7:1: '{prot}' is not a parameter: did you mean '{port}'?",
        ),
        (
            "{ line = '^port (\\d+)$' }",
            "{}",
            "tool.toml:11:9: a server needs exactly one sign that it is ready",
        ),
        (
            "{ line = ",
            "{ tcp = \"{port}\", line = ",
            "tool.toml:11:9: a server needs exactly one sign that it is ready",
        ),
        (
            "(\\d+)$",
            "(\\d+)(x)$",
            "tool.toml:11:9: '^port (\\d+)(x)$' has 2 groups",
        ),
        (
            "(\\d+)$",
            "(\\d+$",
            "tool.toml:11:9: '^port (\\d+$' is not a regular expression",
        ),
        (
            "{ line = '^port (\\d+)$' }",
            "{ tcp = \"http\" }",
            "tool.toml:11:9: 'http' is not a port",
        ),
        (
            "{ command = [\"ping\", \"{address}\", \"{port}\"] }",
            "{ command = [] }",
            "tool.toml:20:9: a server needs exactly one sign",
        ),
        (
            "[\"cached\", \"--port={port}\"]",
            "[]",
            "tool.toml:7:1: a role needs a program",
        ),
        (
            "calls = ",
            "call = ",
            "tool.toml:19:1: unknown key 'call' in [[role]]: did you mean 'calls'?",
        ),
        (
            "n = {",
            "port = {",
            "tool.toml:7:1: '{port}' belongs to a role: rename the parameter 'port'",
        ),
    ] {
        let mut text = SERVED.replacen(from, to, 1);
        if from == "n = {" {
            text = text.replace("{n}", "1");
        }
        let error = of(&text, "").unwrap_err();
        assert!(error.contains(told), "{told}: {error}");
    }
    // Without servers such braces are those of a script.
    let script = WHOLE.replace("--n={n}", "{db.port}");
    assert_eq!(of(&script, "").unwrap().command.argv[1], "{db.port}");
    let alone = WHOLE.replace("[command]", "[command]\nplace = \"outside\"");
    assert!(of(&alone, "").unwrap_err().contains("nothing runs in the box"));
}

#[test]
fn a_role_may_have_several_boxes_that_stay_for_a_block() {
    let several = |count: &str| {
        SERVED
            .replacen(
                "place = \"outside\"\nargv = [\"cached\"",
                &format!("place = \"apart\"\ncount = {count}\nlives = \"block\"\nargv = [\"cached\""),
                1,
            )
            .replace("{cache.port}", "{cache.addresses}")
    };
    let names = |count: &str, asked: &str| {
        let read = of(&several(count), asked).unwrap();
        assert!(read.roles[0].stands && !read.roles[1].stands);
        read.roles[0].each().collect::<Vec<_>>()
    };
    let numbered = |i: u32| (format!("cache-{i}"), Some("cache".to_owned()));
    assert_eq!(names("2", ""), [numbered(1), numbered(2)]);
    assert_eq!(names("\"{n}\"", "?n=3").len(), 3);
    assert_eq!(names("\"{n}\"", ""), [numbered(1)]);
    for count in ["0", "51", "-1", "\"two\"", "\"{n}\""] {
        let error = of(&several(count), "?n=1,000").unwrap_err();
        assert!(
            error.contains("is not a number of boxes: give count = 1 to 50"),
            "{error}"
        );
    }
    let wrong = |from: &str, to: &str| of(&several("2").replacen(from, to, 1), "").unwrap_err();
    for (from, to, told) in [
        (
            "place = \"apart\"",
            "place = \"outside\"",
            "tool.toml:10:9: 'count' is for boxes beside",
        ),
        (
            "{cache.addresses}",
            "{cache.port}",
            "tool.toml:3:1: '{cache.port}' is of one server, and 'cache' has a count",
        ),
        (
            "name = \"db\"",
            "name = \"cache-2\"",
            "tool.toml:16:8: the role 'cache-2' already exists",
        ),
        (
            "\"block\"",
            "\"ever\"",
            "'lives' cannot be 'ever': the choices are trial, block",
        ),
    ] {
        let error = wrong(from, to);
        assert!(error.contains(told), "{told}: {error}");
    }
    let short = several("2").replacen("lives = \"block\"\n", "", 1);
    let short = short.replacen("calls = [\"serve\"]", "lives = \"block\"", 1);
    let error = of(&short, "").unwrap_err();
    assert!(
        error.contains("'db' stays from trial to trial, and 'cache', which it talks to, does not"),
        "{error}"
    );
}

#[test]
fn the_examples_of_the_documentation_can_be_read() {
    let page = include_str!("../../../../docs/workload-files.md");
    let blocks = page
        .split("```toml\n")
        .skip(1)
        .filter_map(|rest| rest.split_once("```"));
    let files: Vec<&str> = blocks
        .map(|(block, _)| block)
        .filter(|block| block.starts_with("about"))
        .collect();
    assert_eq!(files.len(), 4);
    for file in files {
        of(file, "").unwrap_or_else(|e| panic!("{e}: {file}"));
    }
    let served = of(
        page.split("```toml\n")
            .nth(2)
            .unwrap()
            .split_once("```")
            .unwrap()
            .0,
        "",
    );
    assert_eq!(served.unwrap().roles[0].ready, Ready::Tcp("{port}".to_owned()));
}

const LOADED: &str = r#"about = "a web site"

[command]
image = "site"
image_only = true

[command.load]
http = "/{page}"
connections = "{users}"
rate = "{rate}"

[[role]]
name = "db"
place = "tested"
argv = ["db", "{address}"]
ready = { tcp = "{port}" }

[[role]]
name = "web"
place = "tested"
argv = ["web", "{address}", "{db.port}"]
ready = { tcp = "{port}" }

[parameters]
page = { about = "a page", small = "a", paper = "b" }
users = { about = "users at once", small = "8", paper = "64" }
rate = { about = "requests per second", small = "0", paper = "250.5" }
"#;

#[test]
fn a_load_takes_the_place_of_a_program() {
    let read = of(LOADED, "").unwrap();
    let load = read.command.load.unwrap();
    assert_eq!(
        (load.server.as_str(), load.connections, load.rate),
        ("web", 8, None)
    );
    assert_eq!(load.asked, Asked::Http("/a".to_owned()));
    assert_eq!(read.place, Place::Outside);
    // It is the servers that need the image.
    assert!(read.roles.iter().all(|role| role.command.image_only));
    let load = of(LOADED, "?preset=paper").unwrap().command.load.unwrap();
    assert_eq!((load.connections, load.rate), (64, Some(250.5)));
    let load = of(LOADED, "?rate=80%").unwrap().command.load.unwrap();
    assert_eq!((load.rate, load.of_peak), (None, Some(0.8)));
    let resp = LOADED.replace(
        "http = \"/{page}\"",
        "server = \"db\"\nresp = [\"GET\", \"k:__key__\"]\nfirst = [\"SET\", \"k:__key__\", \"__value__\"]\nkeys = \"5\"",
    );
    let load = of(&resp, "").unwrap().command.load.unwrap();
    assert_eq!((load.server.as_str(), load.keys), ("db", 5));
    assert!(matches!(load.asked, Asked::Resp { first, .. } if first.len() == 3));
}

#[test]
fn mistakes_in_a_load_are_told_where_they_are() {
    for (from, to, told) in [
        (
            "http = \"/{page}\"",
            "http = \"{page}\"",
            "\"a\" is not a request path: begin it",
        ),
        ("http = \"/{page}\"", "", "a load sends one kind of request"),
        (
            "http = \"/{page}\"",
            "http = \"/\"\nresp = [\"PING\"]",
            "a load sends one kind of request",
        ),
        (
            "http = \"/{page}\"",
            "http = \"/\"\nfirst = [\"SET\"]",
            "'first' belongs to 'resp'",
        ),
        (
            "http = \"/{page}\"",
            "http = \"/\"\nserver = \"wbe\"",
            "'wbe' is not a role: did you mean 'web'?",
        ),
        (
            "\"{users}\"",
            "\"0\"",
            "connections = '0': give a whole number from 1 to 10000",
        ),
        (
            "\"{users}\"",
            "\"{user}\"",
            "'{user}' is not a parameter: did you mean '{users}'?",
        ),
        ("\"{rate}\"", "\"-1\"", "rate = '-1': give requests per second"),
        (
            "http = \"/{page}\"",
            "http = \"/a b\"",
            "write ' ' as % and two hexadecimal digits",
        ),
        ("\"{rate}\"", "\"0%\"", "rate = '0%': give requests per second"),
        (
            "\"{rate}\"",
            "\"9\"\nburst = \"9\"",
            "requests come either at a rate or in bursts",
        ),
        (
            "\"{rate}\"",
            "\"0\"\nkeep = \"maybe\"",
            "keep = 'maybe': give yes or no",
        ),
        (
            "\"{rate}\"",
            "\"0\"\nkeep = \"no\"\npipeline = \"2\"",
            "keep = 'no' is for 'http'",
        ),
        ("\"{rate}\"", "\"nan\"", "rate = 'nan': give requests per second"),
        (
            "image_only",
            "argv = [\"ab\"]\nimage_only",
            "'argv' belongs to a program, and a load has none",
        ),
        (
            "image_only",
            "setup = [\"x\"]\nimage_only",
            "'setup' belongs to a program, and a load has none",
        ),
        (
            "[parameters]",
            "[[metric]]\nname = \"x\"\nunit = \"s\"\nregex = '(.)'\n[parameters]",
            "a load has its own figures",
        ),
        (
            "[parameters]",
            "[[check]]\nsays = 'x'\n[parameters]",
            "a load checks every answer itself",
        ),
    ] {
        let error = of(&LOADED.replace(from, to), "").unwrap_err().to_string();
        assert!(
            error.contains(told) && error.contains("tool.toml:"),
            "{told}: {error}"
        );
    }
    let alone = &LOADED[..LOADED.find("[[role]]").unwrap()];
    let alone = alone
        .replace("{page}", "")
        .replace("{users}", "1")
        .replace("{rate}", "0");
    let error = of(&alone, "").unwrap_err().to_string();
    assert!(
        error.contains("a load needs a server") || error.contains("nothing runs in the box"),
        "{error}"
    );
    let nothing = WHOLE.replacen("argv = [\"tool\", \"--n={n}\", \"{file}\"]\n", "", 1);
    let error = of(&nothing, "").unwrap_err().to_string();
    assert!(error.contains("nothing to run: give argv"), "{error}");
}

#[test]
fn a_wrong_value_of_a_load_is_told_at_its_key() {
    for (from, to, place) in [
        ("\"{rate}\"", "\"-1\"", "tool.toml:10:8: rate = '-1'"),
        ("\"{users}\"", "\"many\"", "tool.toml:9:15: connections = 'many'"),
        (
            "\"{users}\"",
            "\"{user}\"",
            "tool.toml:9:15: '{user}' is not a parameter",
        ),
        (
            "\"/{page}\"",
            "\"{page}\"",
            "tool.toml:8:8: \"a\" is not a request path",
        ),
        (
            "rate = \"{rate}\"",
            "server = \"wbe\"",
            "tool.toml:10:10: 'wbe' is not a role",
        ),
        (
            "rate = \"{rate}\"",
            "keep = \"maybe\"",
            "tool.toml:10:8: keep = 'maybe'",
        ),
    ] {
        let told = of(&LOADED.replace(from, to), "").unwrap_err();
        assert!(told.starts_with(place), "{told}");
    }
}

#[test]
fn a_bound_of_latencies_is_of_a_peak() {
    let bounded = |rate: &str, bound: &str| {
        let text = LOADED.replace(
            "rate = \"{rate}\"",
            &format!("rate = \"{rate}\"\nbound = {bound}"),
        );
        of(&text, "").map(|read| read.command.load.unwrap().bound)
    };
    let found = bounded("50%", "{ percentile = 99, ms = \"2.5\" }")
        .unwrap()
        .unwrap();
    assert_eq!((found.share, found.seconds), (0.99, 0.0025));
    assert_eq!(bounded("50%", "{ percentile = 99, ms = \"0\" }"), Ok(None));
    assert_eq!(bounded("0", "{ percentile = 99, ms = \"0\" }"), Ok(None));
    for (rate, bound, told) in [
        (
            "50",
            "{ percentile = 99, ms = \"5\" }",
            "tool.toml:11:9: a latency bound needs a rate",
        ),
        (
            "50%",
            "{ percentile = 100, ms = \"5\" }",
            "tool.toml:11:9: percentile = 100: give a number from 50 to 99.9",
        ),
        (
            "50%",
            "{ percentile = 99, ms = \"-5\" }",
            "tool.toml:11:33: ms = '-5': give milliseconds",
        ),
        (
            "50%",
            "{ percentile = 99, s = \"5\" }",
            "tool.toml:11:28: unknown key 's'",
        ),
    ] {
        let error = bounded(rate, bound).unwrap_err();
        assert!(error.starts_with(told), "{error}");
    }
}
