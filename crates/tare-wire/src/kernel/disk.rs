//! What lies between a kernel that uses files and the disk, as its box shows it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// What lies between a kernel and its files' disk. Told by the box: a machine's disk may be
/// a file of its host, whose page cache no box sees.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Disk {
    /// The file system, such as `xfs`; one without a known name by its number, such as
    /// `0x1234`.
    pub file_system: String,
    /// How data goes to and from it.
    pub way: Way,
    /// The device below; absent where the file system has none of its own, or the box does
    /// not show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
}

/// How data goes between a process and a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// Past the page cache: `O_DIRECT`, and no page of the file was found in memory.
    Direct,
    /// Through the page cache, and to the disk before the call returns (`fdatasync`).
    Synced,
    /// Through the page cache, which writes to the disk when it likes.
    PageCache,
}

impl fmt::Display for Way {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Direct => "past the page cache",
            Self::Synced => "through the page cache, synced",
            Self::PageCache => "through the page cache",
        })
    }
}

/// A block device. What its kernel does not tell is absent.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
pub struct Device {
    /// Its number, as `MAJOR:MINOR`.
    pub number: String,
    /// Whether it turns, or says that it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rotational: Option<bool>,
    /// Its write cache: `write back` or `write through`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub write_cache: Option<String>,
    /// Bytes of the smallest block that it takes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub logical_block_bytes: Option<u32>,
}

impl fmt::Display for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {}", self.file_system, self.way)?;
        match &self.device {
            Some(device) => write!(f, "; {device}"),
            None => f.write_str("; no device shown"),
        }
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "device {}", self.number)?;
        match self.rotational {
            Some(true) => f.write_str(", rotational")?,
            Some(false) => f.write_str(", not rotational")?,
            None => {}
        }
        if let Some(cache) = &self.write_cache {
            write!(f, ", {cache}")?;
        }
        if let Some(bytes) = self.logical_block_bytes {
            write!(f, ", blocks of {bytes} B")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_told_in_one_line_and_what_is_not_known_is_left_out() {
        let mut disk = Disk {
            file_system: "xfs".to_owned(),
            way: Way::Direct,
            device: Some(Device {
                number: "253:0".to_owned(),
                rotational: Some(false),
                write_cache: Some("write back".to_owned()),
                logical_block_bytes: Some(512),
            }),
        };
        let all = "xfs, past the page cache; device 253:0, not rotational, write back, blocks of 512 B";
        assert_eq!(disk.to_string(), all);
        disk.device = None;
        assert_eq!(disk.to_string(), "xfs, past the page cache; no device shown");
        let json = serde_json::to_string(&disk).unwrap();
        assert_eq!(json, r#"{"file_system":"xfs","way":"direct"}"#);
        assert_eq!(serde_json::from_str::<Disk>(&json).unwrap(), disk);
    }
}
