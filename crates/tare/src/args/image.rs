//! The arguments of `tare image`.

use super::StateArgs;
use clap::{Args, FromArgMatches, Subcommand};
use std::path::PathBuf;
use tare_lab::images::DEFAULT_LIMIT;
use tare_model::size;

/// The default as it is typed.
const LIMIT: &str = "20G";
const _: () = assert!(DEFAULT_LIMIT == 20 << 30, "as LIMIT says");

#[derive(Debug, Args)]
pub struct ImageArgs {
    #[command(subcommand)]
    pub command: Option<ImageCommand>,
    /// Print JSON
    #[arg(long, global = true)]
    pub json: bool,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Where images are kept, and how much of them.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// Folder for the files of runs and boxes, below which the images are
    #[arg(long, value_name = "DIR", env = "TARE_STATE_DIR", global = true)]
    state_dir: Option<PathBuf>,
    /// What all images may occupy together; beyond it, those go that were not used for longest
    #[arg(long, value_name = "SIZE", env = "TARE_IMAGE_LIMIT", global = true, allow_hyphen_values = true, value_parser = size::parse_memory, default_value = LIMIT)]
    pub limit: u64,
}

impl StoreArgs {
    /// As the environment has them, for commands that have no such options.
    ///
    /// # Errors
    /// Of a variable that makes no sense.
    pub fn of_environment() -> Result<Self, clap::Error> {
        let command = Self::augment_args(clap::Command::new("tare"));
        Self::from_arg_matches(&command.try_get_matches_from(["tare"])?)
    }

    /// The state folder, absolute.
    pub fn state(&self) -> PathBuf {
        let state_dir = self.state_dir.clone();
        StateArgs { state_dir }.folder()
    }
}

/// What of the images; by default the list of them.
#[derive(Debug, Subcommand)]
pub enum ImageCommand {
    /// Print the images of the store, and those that can be built
    List,
    /// Build an image of Debian's packages, unless the store has it: one that comes with tare, or a file of yours
    Build {
        /// An image of the list, such as micro, or a file, such as ./mine.toml
        name: String,
    },
    /// Take an image into the store: a folder, an archive, an image of a local engine or of a registry
    Import {
        /// Such as ./rootfs, ./image.tar.gz, docker:NAME, podman:NAME, debian:12, registry.example/NAME:TAG
        source: String,
        /// Also give it this name
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Which of an archive's images, by its name there
        #[arg(long, value_name = "NAME")]
        part: Option<String>,
    },
    /// Print what is known of an image
    Show {
        /// A name of the list, at least 8 digits of a digest, or what it was taken from
        name: String,
    },
    /// Remove images, with all their names
    Remove {
        /// Names of the list, at least 8 digits of their digests, or what they were taken from
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Remove images until the rest fits into the limit, those first that were not used for longest
    Prune {
        /// Remove all that no run uses
        #[arg(long)]
        all: bool,
    },
}
