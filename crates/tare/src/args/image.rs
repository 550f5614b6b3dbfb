//! The arguments of `tare image`.

use super::StateArgs;
use clap::{Args, FromArgMatches, Subcommand};
use std::path::PathBuf;
use tare_model::size;
use tare_study::images::DEFAULT_LIMIT;

/// The default as typed on the command line.
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

/// The image store and its limit.
#[derive(Debug, Args)]
pub struct StoreArgs {
    /// Folder for files of runs and boxes; images are below it
    #[arg(long, value_name = "DIR", env = "TARE_STATE_DIR", global = true)]
    state_dir: Option<PathBuf>,
    /// Limit of the image store; beyond it, least recently used images are removed
    #[arg(long, value_name = "SIZE", env = "TARE_IMAGE_LIMIT", global = true, allow_hyphen_values = true, value_parser = size::parse_memory, default_value = LIMIT)]
    pub limit: u64,
}

impl StoreArgs {
    /// Read from the environment, for commands without these options.
    ///
    /// # Errors
    /// If a variable has an invalid value.
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

/// What to do with images; the default is to list them.
#[derive(Debug, Subcommand)]
pub enum ImageCommand {
    /// List the images in the store and those that can be built
    List,
    /// Build an image (shipped, or from your file) from Debian packages; skipped if it is in the store
    Build {
        /// A listed image, such as micro, or a file, such as ./mine.toml
        name: String,
    },
    /// Import an image into the store: a folder, an archive, or an image of a local engine or a registry
    Import {
        /// For example ./rootfs, ./image.tar.gz, docker:NAME, podman:NAME, debian:12, registry.example/NAME:TAG
        source: String,
        /// Also give it this name
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// Name of the image inside an archive of several
        #[arg(long, value_name = "NAME")]
        part: Option<String>,
    },
    /// Show details of an image
    Show {
        /// A listed name, at least 8 digits of the digest, or the source it was imported from
        name: String,
    },
    /// Remove images, with all their names
    Remove {
        /// Listed names, at least 8 digits of their digests, or the sources they were imported from
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
    },
    /// Remove least recently used images until the store fits its limit
    Prune {
        /// Remove all images that no run uses
        #[arg(long)]
        all: bool,
    },
}
