//! The page over a folder: who may read it, and what it shows.

use crate::common::served::{Served, folder};
use std::time::{Duration, Instant};

#[test]
fn files_are_listed_opened_compared_and_followed_over_time() {
    let tare = folder();
    let served = Served::of(&tare);
    let (status, list) = served.get("");
    assert_eq!(status, 200);
    assert!(
        list.contains("href=\"report/b%20c.jsonl\"") && list.contains("&#60;b&#62;.jsonl"),
        "{list}"
    );
    let (status, page) = served.get("report/b%20c.jsonl");
    assert_eq!(status, 200);
    assert!(page.contains("costs with 95") && page.contains("<a href=\"../\">all results</a>"));
    assert!(
        page.contains("<a href=\"../data/b%20c.jsonl\" download>"),
        "{page}"
    );
    assert!(page.contains("<a href=\"?details\">") && !page.contains("<h2>More figures: "));
    let whole = served.get("report/b%20c.jsonl?details").1;
    assert!(whole.contains("<h2>More figures: ") && !whole.contains("?details"));
    let (status, data) = served.get("data/b%20c.jsonl");
    let file = std::fs::read_to_string(tare.path("all/b c.jsonl")).unwrap();
    assert!(
        status == 200 && data == file,
        "{status}: {} of {} bytes",
        data.len(),
        file.len()
    );
    assert!(served.get("advise/a.jsonl").1.contains("Not measured"));
    assert!(served.get("trend").1.contains("2 files"));
    let (status, change) = served.get("compare?before=a.jsonl&after=b+c.jsonl");
    assert_eq!(status, 200, "{change}");
    assert!(change.contains("Changes from a.jsonl to b c.jsonl"));
    assert_eq!(served.get("compare?before=a.jsonl").0, 422);
    assert_eq!(served.get("report/%3Cb%3E.jsonl").0, 422);
    std::fs::remove_file(tare.path("all/a.jsonl")).unwrap();
    let (status, why) = served.get("trend");
    assert!(
        status == 422 && why.contains("at least two results files"),
        "{why}"
    );
}

#[test]
fn nobody_reads_without_the_token_and_nothing_but_the_folder() {
    let tare = folder();
    std::os::unix::fs::symlink("../secret.jsonl", tare.path("all/link.jsonl")).unwrap();
    let served = Served::of(&tare);
    let here = served.address.clone();
    let root = format!("/{}/", served.token);
    assert_eq!(served.ask("GET", "/", &here).0, 404);
    assert_eq!(
        served.ask("GET", "/0123456789abcdef0123456789abcdef/", &here).0,
        404
    );
    assert_eq!(served.ask("GET", &root, "rebound.example").0, 421);
    assert_eq!(served.ask("POST", &root, &here).0, 405);
    for away in [
        "report/../secret.jsonl",
        "report/..%2fsecret.jsonl",
        "report//etc/passwd",
        "data/../secret.jsonl",
        "data/link.jsonl",
        "report/link.jsonl",
        "report/%",
        "nothing",
    ] {
        let (status, body) = served.get(away);
        assert_eq!(status, 404, "{away}: {body}");
    }
    let (status, body) = served.get("data/%3Cb%3E.jsonl");
    assert!(
        status == 422 && !body.contains("no results\n"),
        "{status}: {body}"
    );
    assert!(here.starts_with("127.0.0.1:"), "{here}");
}

#[test]
fn idle_connections_of_others_keep_nobody_from_the_page() {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let tare = folder();
    let served = Served::of(&tare);
    let few = Rlimit {
        current: Some(100),
        maximum: Some(100),
    };
    let server = Pid::from_raw(i32::try_from(served.process()).unwrap());
    prlimit(server, Resource::Nofile, few).unwrap();
    let idle: Vec<_> = (0..120)
        .map(|_| std::net::TcpStream::connect(&served.address).unwrap())
        .collect();
    let asked = Instant::now();
    assert_eq!(served.get("").0, 200);
    // It was a minute, after which the server gave the connections up.
    assert!(asked.elapsed() < Duration::from_secs(30), "{:?}", asked.elapsed());
    drop(idle);
}
