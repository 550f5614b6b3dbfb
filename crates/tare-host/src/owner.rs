//! Whose a process is. Another user's is told nothing and believed nothing.

use std::fs;
use std::path::Path;

/// Whether a user is this process's own, or root.
pub fn is_us_or_root(user: u32) -> bool {
    user == 0 || user == rustix::process::geteuid().as_raw()
}

/// Whether a process by its folder in /proc is root's or our own user's. By what it says of its users: the
/// folder is root's for every process that may not be dumped, whoever runs it.
pub fn is_ours(process: &Path) -> bool {
    let status = fs::read_to_string(process.join("status")).unwrap_or_default();
    let users = status.lines().find_map(|line| line.strip_prefix("Uid:"));
    // The real user, the effective one, and two more.
    let mut users = users
        .into_iter()
        .flat_map(str::split_whitespace)
        .take(2)
        .peekable();
    users.peek().is_some() && users.all(|user| user.parse().is_ok_and(is_us_or_root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_are_told_by_their_users() {
        assert!(is_ours(Path::new("/proc/self")) && !is_ours(Path::new("/proc/none")));
        let folder = tempfile::tempdir().unwrap();
        for (users, ours) in [
            ("0\t0\t0\t0", true),
            ("65534\t65534\t0\t0", false),
            ("65534\t0\t0\t0", false),
        ] {
            fs::write(folder.path().join("status"), format!("Name:\tx\nUid:\t{users}\n")).unwrap();
            assert_eq!(is_ours(folder.path()), ours, "{users}");
        }
    }
}
