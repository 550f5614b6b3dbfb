//! Who was killed when there was no memory, as the kernel's log tells it. Counters of cgroups
//! and of kernels tell how many, not who.

use rustix::fs::{OFlags, SeekFrom, open, seek};
use std::fs::File;
use std::io::Read;
use tare_wire::protocol::KilledProcess;

/// The kernel's log, one message by each read.
const LOG: &str = "/dev/kmsg";
/// The longest message that the kernel hands out.
const MESSAGE: usize = 8192;

/// The kernel's log behind some moment.
#[derive(Debug)]
pub struct KernelLog(File);

impl KernelLog {
    /// What is logged from now on; `None` where the log cannot be read.
    pub fn from_now() -> Option<Self> {
        let log = Self::from_boot()?;
        seek(&log.0, SeekFrom::End(0)).ok()?;
        Some(log)
    }

    /// All that the kernel still has; `None` where the log cannot be read.
    pub fn from_boot() -> Option<Self> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
        open(LOG, flags, rustix::fs::Mode::empty())
            .ok()
            .map(|file| Self(file.into()))
    }

    /// All processes that were killed since then.
    pub fn killed(self) -> Vec<KilledProcess> {
        let process = |text: String| {
            Some(KilledProcess {
                name: killed(&text)?.to_owned(),
                by_limit: is_by_limit(&text),
            })
        };
        self.messages().filter_map(process).collect()
    }

    /// The names of those in this cgroup or below it, where so many were killed by its own count.
    pub fn killed_in(self, cgroup: &str, number: u64) -> Vec<String> {
        let messages: Vec<String> = self.messages().collect();
        in_cgroup(&messages, cgroup, number)
    }

    fn messages(mut self) -> impl Iterator<Item = String> {
        let mut buffer = [0; MESSAGE];
        std::iter::from_fn(move || {
            loop {
                match self.0.read(&mut buffer) {
                    Ok(n) => return (n > 0).then(|| String::from_utf8_lossy(&buffer[..n]).into_owned()),
                    // It was overwritten before it was read: the next read is of the oldest one left.
                    Err(e) if e.raw_os_error() == Some(rustix::io::Errno::PIPE.raw_os_error()) => {}
                    Err(_) => return None,
                }
            }
        })
    }
}

/// The kernel tells the cgroups of no more than ten in five seconds, but every name: if as many were
/// killed on the whole host as in the cgroup, all of them were in it.
fn in_cgroup(messages: &[String], cgroup: &str, number: u64) -> Vec<String> {
    let all: Vec<&str> = messages.iter().filter_map(|text| killed(text)).collect();
    if all.len() as u64 == number {
        return all.into_iter().map(str::to_owned).collect();
    }
    let victims = messages.iter().filter_map(|text| Victim::of_message(text));
    let own = victims.filter(|victim| victim.is_in(cgroup));
    own.map(|victim| victim.name).collect()
}

/// What the kernel wrote, of a message with what is told of it in front. Others can write to its log
/// too, but not with a number below 8 in front.
fn of_kernel(message: &str) -> Option<&str> {
    let (about, text) = message.split_once(';')?;
    let from = about.split(',').next()?.parse::<u32>().ok()?;
    (from < 8).then_some(text)
}

/// `3,2407,1,-;Memory cgroup out of memory: Killed process 12 (name) total-vm:…`: the name.
fn killed(message: &str) -> Option<&str> {
    let (_, about) = of_kernel(message)?.split_once("Killed process ")?;
    let (_, about) = about.split_once(" (")?;
    let end = about.find(") total-vm:").or_else(|| about.find("), UID "))?;
    Some(&about[..end])
}

/// Of a message of somebody who was killed, whether the limit of a cgroup was full.
fn is_by_limit(message: &str) -> bool {
    of_kernel(message).is_some_and(|text| text.starts_with("Memory cgroup out of memory"))
}

/// A process that was killed, by the line that kernels since 5.0 log of it.
#[derive(Debug, PartialEq, Eq)]
struct Victim {
    cgroup: String,
    name: String,
}

impl Victim {
    /// `6,1234,5678,-;oom-kill:constraint=…,task_memcg=/a/b,task=name,pid=12,uid=0`: a message with
    /// what is told of it in front. A name may have commas and equals signs in it.
    fn of_message(message: &str) -> Option<Self> {
        let about = of_kernel(message)?.strip_prefix("oom-kill:")?.lines().next()?;
        let (_, about) = about.split_once(",task_memcg=")?;
        let (cgroup, about) = about.split_once(",task=")?;
        let (name, _) = about.rsplit_once(",pid=")?;
        Some(Self {
            cgroup: cgroup.to_owned(),
            name: name.to_owned(),
        })
    }

    fn is_in(&self, cgroup: &str) -> bool {
        self.cgroup.split('/').any(|part| part == cgroup)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OF_A_LIMIT: &str = "6,2406,25963218871,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=box,\
        mems_allowed=0,oom_memcg=/tare-7f3a-1/box,task_memcg=/tare-7f3a-1/box,task=tail,pid=8013,uid=0\n";
    const OF_THE_HOST: &str = "6,911,77,-;oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,\
        mems_allowed=0,global_oom,task_memcg=/tare-7f3a-12/box,task=a,task=b,pid=1,pid=93,uid=0\n SUBSYSTEM=x\n";

    #[test]
    fn a_killed_process_is_known_by_its_cgroup_and_its_name() {
        let victim = Victim::of_message(OF_A_LIMIT).unwrap();
        assert_eq!(
            (victim.cgroup.as_str(), victim.name.as_str()),
            ("/tare-7f3a-1/box", "tail")
        );
        assert!(victim.is_in("tare-7f3a-1") && victim.is_in("box"));
        let other = Victim::of_message(OF_THE_HOST).unwrap();
        assert_eq!(other.name, "a,task=b,pid=1");
        assert!(!other.is_in("tare-7f3a-1"));
    }

    const KILLED: &str = "3,2407,25963218890,-;Memory cgroup out of memory: Killed process 8013 (tail) total-vm:71000kB, anon-rss:64000kB";

    #[test]
    fn where_all_were_killed_in_one_cgroup_those_whose_cgroup_is_not_told_are_named_too() {
        let messages = [OF_A_LIMIT, KILLED, &KILLED.replace("tail", "a) b")].map(str::to_owned);
        assert_eq!(in_cgroup(&messages, "tare-7f3a-1", 2), ["tail", "a) b"]);
        assert_eq!(in_cgroup(&messages, "tare-7f3a-1", 1), ["tail"]);
        assert!(in_cgroup(&messages, "tare-7f3a-2", 1).is_empty());
        assert_eq!(
            killed("3,1,1,-;Killed process 7 (sh), UID 0, total-vm:4kB"),
            Some("sh")
        );
        assert_eq!(killed(&KILLED.replacen("3,", "12,", 1)), None);
        assert!(is_by_limit(KILLED));
        assert!(!is_by_limit(&KILLED.replace("Memory cgroup out", "Out")));
    }

    #[test]
    fn other_messages_tell_of_nobody() {
        for message in [
            KILLED,
            "4,2300,1,-;tail invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0",
            "12,5,1,-;oom-kill:constraint=x,task_memcg=/tare-7f3a-1,task=sh,pid=1,uid=0",
            "6,2406,1,-;oom-kill:constraint=CONSTRAINT_MEMCG",
            "no message",
        ] {
            assert_eq!(Victim::of_message(message), None, "{message}");
        }
    }
}
