//! The images that an engine makes containers of: one that holds the binary alone, or the files
//! of an image with the binary in a layer of its own above them. Each is made once, and is known by
//! the digest of what is in it.

use super::super::contract::{BoxError, BoxImage, BoxSpec};
use super::engine::{Engine, refused};
use bollard::models::{ContainerConfig, ContainerCreateBody};
use bollard::query_parameters as query;
use futures_util::future::ready;
use futures_util::stream::{once, unfold};
use futures_util::{Stream, StreamExt};
use hyper::body::Bytes;
use rustix::mount::{MountFlags, mount_bind, mount_remount};
use std::hash::{DefaultHasher, Hasher};
use std::io::{self, BufWriter, Read, Write};
use std::path::Path;
use tokio::sync::mpsc;

/// Beginning of the names of images that tare has made; digests follow, since Podman ignores tags.
pub(super) const IMAGE_STEM: &str = "tare-box-";
/// Digits of an image's digest that stand in its name.
const DIGITS: usize = 24;
/// What an engine that lays overlays calls the folder of the uppermost layer of an image.
const LAYER: &str = "UpperDir";
/// What an archive is handed over in, and how many such pieces may wait.
const PIECE: usize = 256 << 10;
const PIECES: usize = 8;

impl Engine {
    /// The image of which a box is made; imported if the engine does not have it yet.
    pub fn image(&self, spec: &BoxSpec) -> Result<String, BoxError> {
        let binary = &spec.binary;
        let unreadable = || BoxError::host(format!("read {}", binary.display()));
        let mut name = format!("{IMAGE_STEM}{:016x}", digest(binary).map_err(unreadable())?);
        if let Some(image) = spec.root_image() {
            name = format!("{name}-{:.DIGITS$}", image.digest());
        }
        if let Some(id) = self.find(&name) {
            return Ok(id);
        }
        let read = std::fs::read(binary).map_err(unreadable())?;
        let archive = one_file_archive(&read).map_err(BoxError::host("pack the binary"))?;
        match spec.root_image() {
            Some(image) => {
                let below = self.root_image(image)?;
                self.add_layer(&below, &archive, &name)?;
            }
            None => self.import(&name, once(ready(Ok(archive.into()))))?,
        }
        Ok(name)
    }

    /// An image of the files of an image of ours.
    fn root_image(&self, image: &BoxImage) -> Result<String, BoxError> {
        let name = format!("{IMAGE_STEM}image-{:.DIGITS$}", image.digest());
        if let Some(id) = self.find(&name) {
            return Ok(id);
        }
        if self.is_ours() && self.lend(image, &name)? {
            return Ok(name);
        }
        let image = image.clone();
        let archive = streamed(move |mut to| image.layer_tar(&mut to).map_err(io::Error::other));
        self.import(&name, archive)?;
        Ok(name)
    }

    /// Gives an engine in a box an image without a copy, which would take minutes and room of the box:
    /// the image that it is told of is one empty folder, and where it keeps that, the files of ours are
    /// mounted. They are the lower layer of its overlays from then on. False where it lays none.
    fn lend(&self, image: &BoxImage, name: &str) -> Result<bool, BoxError> {
        let archive = one_folder_archive().map_err(BoxError::host("pack a folder"))?;
        self.import(name, once(ready(Ok(archive.into()))))?;
        let made = self.wait(self.api.inspect_image(name))?;
        let kept = made.graph_driver.and_then(|mut driver| driver.data.remove(LAYER));
        let Some(layer) = kept else {
            return Ok(false);
        };
        let closed = MountFlags::BIND | MountFlags::RDONLY;
        mount_bind(image.rootfs(), &layer)
            .and_then(|()| mount_remount(&layer, closed, ""))
            .map_err(|e| BoxError::host(format!("mount the image on {layer}"))(e.into()))?;
        Ok(true)
    }

    fn find(&self, name: &str) -> Option<String> {
        let found = self.wait(self.api.inspect_image(name)).ok()?;
        Some(found.id.unwrap_or_else(|| name.to_owned()))
    }

    fn import(
        &self,
        name: &str,
        archive: impl Stream<Item = io::Result<Bytes>> + Send + 'static,
    ) -> Result<(), BoxError> {
        let options = query::CreateImageOptionsBuilder::new()
            .from_src("-")
            .repo(name)
            .build();
        let archive = bollard::body_try_stream(archive);
        let mut progress = self.api.create_image(Some(options), Some(archive), None);
        self.runtime.block_on(async {
            while let Some(step) = progress.next().await {
                step.map_err(|e| refused(self.name, &e))?;
            }
            Ok(())
        })
    }

    /// An image with what an archive holds above all of another one: by a container that is
    /// never started, the one way that engines of all kinds have and that sends the archive alone.
    fn add_layer(&self, below: &str, archive: &[u8], name: &str) -> Result<(), BoxError> {
        let body = ContainerCreateBody {
            image: Some(below.to_owned()),
            cmd: Some(vec!["/tare".to_owned()]),
            ..ContainerCreateBody::default()
        };
        let options = None::<query::CreateContainerOptions>;
        let id = self.wait(self.api.create_container(options, body))?.id;
        let added = self.commit(&id, archive, name);
        let removed = self.remove(&id);
        added.and(removed)
    }

    fn commit(&self, container: &str, archive: &[u8], name: &str) -> Result<(), BoxError> {
        let to = query::UploadToContainerOptionsBuilder::new().path("/").build();
        let body = bollard::body_full(archive.to_vec().into());
        self.wait(self.api.upload_to_container(container, Some(to), body))?;
        let options = query::CommitContainerOptionsBuilder::new()
            .container(container)
            .repo(name)
            .build();
        self.wait(self.api.commit_container(options, ContainerConfig::default()))?;
        Ok(())
    }
}

/// What a thread writes, as a stream: archives are larger than memory shall be.
fn streamed(
    write: impl FnOnce(&mut dyn Write) -> io::Result<()> + Send + 'static,
) -> impl Stream<Item = io::Result<Bytes>> + Send + 'static {
    let (sender, receiver) = mpsc::channel(PIECES);
    std::thread::spawn(move || {
        let failures = sender.clone();
        let mut pieces = BufWriter::with_capacity(PIECE, Pieces(sender));
        if let Err(e) = write(&mut pieces).and_then(|()| pieces.flush()) {
            // Nobody is there to be told where the receiver has gone.
            let _ = failures.blocking_send(Err(e));
        }
    });
    unfold(receiver, |mut receiver| async {
        let piece = receiver.recv().await?;
        Some((piece.map(Bytes::from), receiver))
    })
}

struct Pieces(mpsc::Sender<io::Result<Vec<u8>>>);

impl Write for Pieces {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let sent = self.0.blocking_send(Ok(bytes.to_vec()));
        sent.map(|()| bytes.len())
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A digest of a file, piece by piece: it is taken for every box, and the file is large.
fn digest(path: &Path) -> io::Result<u64> {
    let mut file = std::fs::File::open(path)?;
    let mut hasher = DefaultHasher::new();
    let mut piece = vec![0; 64 << 10];
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(hasher.finish()),
            n => hasher.write(&piece[..n]),
        }
    }
}

fn one_folder_archive() -> io::Result<Vec<u8>> {
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::Directory);
    header.set_size(0);
    header.set_mode(0o755);
    let mut archive = tar::Builder::new(Vec::new());
    archive.append_data(&mut header, "./", io::empty())?;
    archive.into_inner()
}

fn one_file_archive(binary: &[u8]) -> io::Result<Vec<u8>> {
    let mut header = tar::Header::new_gnu();
    header.set_size(binary.len() as u64);
    header.set_mode(0o755);
    let mut archive = tar::Builder::new(Vec::with_capacity(binary.len() + 4096));
    archive.append_data(&mut header, "tare", binary)?;
    archive.into_inner()
}
