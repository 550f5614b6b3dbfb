//! What processes have in memory, by the kernel's account of their mappings (`/proc/PID/smaps`,
//! proc_pid_smaps(5)).

use std::collections::HashMap;

/// The mappings of the processes of one box.
#[derive(Debug, Default)]
pub(super) struct Mappings {
    /// Memory without a file in KiB, of which processes of one origin may share pages: by share.
    anonymous: u64,
    /// Pages of files in KiB, by file and where the mapping begins in it. Processes of the box that
    /// map the same have the same pages, so that the largest counts.
    files: HashMap<FilePart, u64>,
}

/// Device, inode and offset, as the kernel writes them.
type FilePart = (String, u64, u64);

/// One mapping, in KiB.
#[derive(Debug, Default)]
struct Mapping {
    file: Option<FilePart>,
    resident: u64,
    proportional: u64,
    anonymous: u64,
    huge: u64,
}

impl Mappings {
    /// Takes in a process by the text of its `smaps`.
    pub fn add(&mut self, smaps: &str) {
        let mut open: Option<Mapping> = None;
        for line in smaps.lines() {
            if let Some(file) = header(line) {
                let next = Mapping {
                    file,
                    ..Mapping::default()
                };
                open.replace(next).into_iter().for_each(|m| self.count(m));
            } else if let Some((mapping, (name, kilobytes))) = open.as_mut().zip(field(line)) {
                mapping.read(name, kilobytes);
            }
        }
        open.into_iter().for_each(|m| self.count(m));
    }

    fn count(&mut self, mapping: Mapping) {
        let Some(file) = mapping.file else {
            self.anonymous += mapping.proportional;
            return;
        };
        // What was written to a private mapping is no longer the file's.
        self.anonymous += mapping.anonymous;
        let of_file = mapping.resident.saturating_sub(mapping.anonymous) + mapping.huge;
        let known = self.files.entry(file).or_default();
        *known = of_file.max(*known);
    }

    /// Bytes with each page of a file once and in full, whoever else has it.
    pub fn resident_bytes(&self) -> u64 {
        (self.anonymous + self.files.values().sum::<u64>()) * 1024
    }
}

impl Mapping {
    fn read(&mut self, name: &str, kilobytes: u64) {
        match name {
            "Rss" => self.resident = kilobytes,
            "Pss" => self.proportional = kilobytes,
            "Anonymous" => self.anonymous = kilobytes,
            // Huge pages of hugetlbfs are in neither set size.
            "Shared_Hugetlb" | "Private_Hugetlb" => self.huge += kilobytes,
            _ => {}
        }
    }
}

/// The first line of a mapping, `00400000-0048a000 r-xp 00000000 fd:03 960637 /bin/sh`: the part of
/// a file that it shows, if one.
fn header(line: &str) -> Option<Option<FilePart>> {
    let mut words = line.split_ascii_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    let is_address = |text: &str| u64::from_str_radix(text, 16).is_ok();
    if !is_address(from) || !is_address(to) {
        return None;
    }
    let _permissions = words.next()?;
    let offset = u64::from_str_radix(words.next()?, 16).ok()?;
    let device = words.next()?;
    let inode: u64 = words.next()?.parse().ok()?;
    Some((inode != 0).then(|| (device.to_owned(), inode, offset)))
}

/// `Rss:  892 kB`.
pub(super) fn field(line: &str) -> Option<(&str, u64)> {
    let (name, value) = line.split_once(':')?;
    let kilobytes = value.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some((name, kilobytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program of 100 KiB of which 8 were written to, shared with a process elsewhere, and a heap.
    const AGENT: &str = "\
00400000-00419000 r-xp 00000000 fd:03 960637     /tare agent
Size:                100 kB
Rss:                 100 kB
Pss:                  54 kB
Anonymous:             8 kB
Private_Hugetlb:       0 kB
VmFlags: rd ex mr mw me
0041a000-0041b000 rw-p 00000000 00:00 0          [heap]
Rss:                  40 kB
Pss:                  40 kB
Anonymous:            40 kB
";

    #[test]
    fn a_page_shared_with_others_counts_in_full() {
        let mut mappings = Mappings::default();
        mappings.add(AGENT);
        assert_eq!(mappings.resident_bytes(), (92 + 8 + 40) * 1024);
    }

    #[test]
    fn a_page_that_two_processes_of_the_box_share_counts_once() {
        let mut mappings = Mappings::default();
        mappings.add(AGENT);
        mappings.add(AGENT);
        assert_eq!(mappings.resident_bytes(), (92 + 2 * (8 + 40)) * 1024);
    }

    #[test]
    fn memory_of_huge_pages_is_memory() {
        let mut mappings = Mappings::default();
        mappings.add("7f00-7f10 rw-s 00000000 00:0f 12 /dev/hugepages/guest\nRss: 0 kB\nPss: 0 kB\nAnonymous: 0 kB\nShared_Hugetlb: 0 kB\nPrivate_Hugetlb: 2048 kB\n");
        assert_eq!(mappings.resident_bytes(), 2048 * 1024);
    }

    #[test]
    fn what_is_no_account_counts_nothing() {
        let mut mappings = Mappings::default();
        mappings.add("Rss: 5 kB\nno account\n\u{fffd}-1 x\nab-cd\nab-cd r-xp zz fd:03 1\nPss: -4 kB\n");
        assert_eq!(mappings.resident_bytes(), 0);
    }
}
