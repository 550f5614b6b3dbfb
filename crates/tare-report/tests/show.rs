mod common;
#[test]
fn show() {
    let mut r = common::default_study().build();
    common::find(
        &mut r,
        "vm",
        common::Pinned,
        3,
        &tare_model::finding::Finding::HostBusy { load: 0.1 },
    );
    common::fail(&mut r, "lxc", 2, tare_model::finding::Reason::Timeout);
    let p = "vm".parse().unwrap();
    r.header
        .platforms
        .get_mut(&p)
        .unwrap()
        .details
        .insert("accelerator".into(), "tcg".into());
    for b in 0..12 {
        if b % 3 == 0 {
            for t in common::trials_of(&mut r, "docker", common::Pinned).filter(|t| t.block == b) {
                common::scale(t, 1.3);
            }
        }
    }
    let a = tare_report::analyze(&r);
    std::fs::write("/tmp/x.txt", tare_report::text::render(&a, Default::default())).unwrap();
    std::fs::write(
        "/tmp/xs.txt",
        tare_report::text::summary(
            &a,
            tare_report::text::TextOptions {
                colour: true,
                width: 80,
            },
        ),
    )
    .unwrap();
    std::fs::write("/tmp/x.html", tare_report::html::render(&a).unwrap()).unwrap();
    std::fs::write("/tmp/x.json", tare_report::json::render(&a).unwrap()).unwrap();
}
