//! The workloads that come with tare.

/// Their names and texts.
const FILES: [(&str, &str); 49] = [
    ("bonnie++", include_str!("../../../../workloads/bonnie++.toml")),
    ("build", include_str!("../../../../workloads/build.toml")),
    ("cassandra", include_str!("../../../../workloads/cassandra.toml")),
    ("copy-up", include_str!("../../../../workloads/copy-up.toml")),
    (
        "cyclictest",
        include_str!("../../../../workloads/cyclictest.toml"),
    ),
    ("ffmpeg", include_str!("../../../../workloads/ffmpeg.toml")),
    ("fio", include_str!("../../../../workloads/fio.toml")),
    ("hardinfo", include_str!("../../../../workloads/hardinfo.toml")),
    (
        "hardinfo-cryptohash",
        include_str!("../../../../workloads/hardinfo-cryptohash.toml"),
    ),
    (
        "hardinfo-zlib",
        include_str!("../../../../workloads/hardinfo-zlib.toml"),
    ),
    ("hpcc", include_str!("../../../../workloads/hpcc.toml")),
    (
        "hpcc-stream",
        include_str!("../../../../workloads/hpcc-stream.toml"),
    ),
    ("iozone", include_str!("../../../../workloads/iozone.toml")),
    ("iperf", include_str!("../../../../workloads/iperf.toml")),
    ("iperf3", include_str!("../../../../workloads/iperf3.toml")),
    (
        "lmbench-syscall",
        include_str!("../../../../workloads/lmbench-syscall.toml"),
    ),
    ("mariadb", include_str!("../../../../workloads/mariadb.toml")),
    ("memcached", include_str!("../../../../workloads/memcached.toml")),
    (
        "mariadb-get",
        include_str!("../../../../workloads/mariadb-get.toml"),
    ),
    ("mpi-prime", include_str!("../../../../workloads/mpi-prime.toml")),
    (
        "mpi-prime-apart",
        include_str!("../../../../workloads/mpi-prime-apart.toml"),
    ),
    (
        "mpi-search",
        include_str!("../../../../workloads/mpi-search.toml"),
    ),
    (
        "mpi-search-apart",
        include_str!("../../../../workloads/mpi-search-apart.toml"),
    ),
    ("netperf", include_str!("../../../../workloads/netperf.toml")),
    (
        "netperf-stream",
        include_str!("../../../../workloads/netperf-stream.toml"),
    ),
    ("nginx", include_str!("../../../../workloads/nginx.toml")),
    ("nginx-get", include_str!("../../../../workloads/nginx-get.toml")),
    ("nodejs", include_str!("../../../../workloads/nodejs.toml")),
    (
        "openssl-rsa",
        include_str!("../../../../workloads/openssl-rsa.toml"),
    ),
    (
        "openssl-sha256",
        include_str!("../../../../workloads/openssl-sha256.toml"),
    ),
    ("pgbench", include_str!("../../../../workloads/pgbench.toml")),
    (
        "postgresql-get",
        include_str!("../../../../workloads/postgresql-get.toml"),
    ),
    ("python", include_str!("../../../../workloads/python.toml")),
    ("redis", include_str!("../../../../workloads/redis.toml")),
    ("redis-get", include_str!("../../../../workloads/redis-get.toml")),
    ("redis-set", include_str!("../../../../workloads/redis-set.toml")),
    (
        "spec-cpu2006",
        include_str!("../../../../workloads/spec-cpu2006.toml"),
    ),
    (
        "spec-cpu2017",
        include_str!("../../../../workloads/spec-cpu2017.toml"),
    ),
    ("sqlite", include_str!("../../../../workloads/sqlite.toml")),
    ("stress-ng", include_str!("../../../../workloads/stress-ng.toml")),
    (
        "sysbench-cpu",
        include_str!("../../../../workloads/sysbench-cpu.toml"),
    ),
    (
        "sysbench-fileio",
        include_str!("../../../../workloads/sysbench-fileio.toml"),
    ),
    (
        "sysbench-memory",
        include_str!("../../../../workloads/sysbench-memory.toml"),
    ),
    ("wordpress", include_str!("../../../../workloads/wordpress.toml")),
    (
        "wordpress-apart",
        include_str!("../../../../workloads/wordpress-apart.toml"),
    ),
    (
        "wordpress-get",
        include_str!("../../../../workloads/wordpress-get.toml"),
    ),
    (
        "wordpress-burst",
        include_str!("../../../../workloads/wordpress-burst.toml"),
    ),
    (
        "wordpress-jmeter",
        include_str!("../../../../workloads/wordpress-jmeter.toml"),
    ),
    ("zstd", include_str!("../../../../workloads/zstd.toml")),
];

/// The names of all, in order.
pub fn names() -> Vec<&'static str> {
    FILES.iter().map(|(name, _)| *name).collect()
}

/// The text of one.
pub(super) fn text(name: &str) -> Option<&'static str> {
    let found = FILES.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}
