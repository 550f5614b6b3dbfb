//! How a guest's memory is backed by the host's.

use super::super::contract::security::on_off;
use super::super::contract::{Absent, GuestMemory};
use super::super::options::Options;
use std::fs;

impl GuestMemory {
    /// Takes both options out of those of a path.
    pub(in super::super) fn take(options: &mut Options) -> Result<Self, String> {
        let mut is_on = |key| {
            options
                .choose(key, &[false, true], on_off)
                .map(Option::unwrap_or_default)
        };
        Ok(Self {
            prealloc: is_on(Self::PREALLOC)?,
            hugepages: is_on(Self::HUGE_PAGES)?,
        })
    }

    /// Whether the host has what it needs.
    pub(in super::super) fn probe(self) -> Result<(), Absent> {
        if self.hugepages && !has_huge_pages() {
            return Err(Absent::new(
                "the host has reserved no huge pages",
                "reserve half as many as the boxes have MiB, and some more (sysctl vm.nr_hugepages=600 for 1 GiB), or omit hugepages=on",
            ));
        }
        Ok(())
    }

    /// QEMU's object for this memory; `None` where QEMU's own choice is as good.
    pub(super) fn object(self, mebibytes: u64) -> Option<String> {
        let Self { prealloc, hugepages } = self;
        (prealloc || hugepages).then(|| {
            let kind = if hugepages {
                "memory-backend-memfd,hugetlb=on"
            } else {
                "memory-backend-ram"
            };
            format!("{kind},id=ram,size={mebibytes}M,prealloc={}", on_off(prealloc))
        })
    }

    pub(super) fn details(self) -> impl Iterator<Item = (String, String)> {
        let values = [
            (Self::PREALLOC, self.prealloc),
            (Self::HUGE_PAGES, self.hugepages),
        ];
        values
            .into_iter()
            .map(|(key, value)| (key.to_owned(), on_off(value).to_owned()))
    }
}

/// Whether the host has reserved huge pages of the usual size.
pub(in super::super) fn has_huge_pages() -> bool {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let total = text
        .lines()
        .find_map(|line| line.strip_prefix("HugePages_Total:"));
    total.is_some_and(|total| total.trim() != "0")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_memory_that_is_not_usual_has_an_object() {
        let memory = |prealloc, hugepages| GuestMemory { prealloc, hugepages }.object(512);
        assert_eq!(memory(false, false), None);
        assert_eq!(
            memory(true, false).unwrap(),
            "memory-backend-ram,id=ram,size=512M,prealloc=on"
        );
        assert_eq!(
            memory(false, true).unwrap(),
            "memory-backend-memfd,hugetlb=on,id=ram,size=512M,prealloc=off"
        );
    }
}
