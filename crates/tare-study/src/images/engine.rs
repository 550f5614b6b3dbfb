//! Images of local engines, as an archive over Docker's API.

use super::ImageSources;
use super::progress::{Progress, Told};
use bollard::Docker;
use futures_util::{Stream, StreamExt};
use std::future::Future;
use std::io::{self, Read};
use std::pin::Pin;
use std::time::{Duration, Instant};
use tare_host::interrupt;
use tare_image::{Image, ImageError};
use tare_platforms::{Absent, EngineSocket, engine_socket};
use tokio::runtime::{Builder, Runtime};

/// Time for an engine to answer, and between two pieces of an archive, which it packs meanwhile.
const ANSWER: Duration = Duration::from_secs(120);
/// How often the wish to stop is looked at.
const ASK: Duration = Duration::from_millis(100);

/// Why a local engine gives no image.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// It is not there.
    #[error(transparent)]
    Absent(#[from] Absent),
    /// It has no such image.
    #[error("it has no image of that name: list its images with its command 'images', or pull the image")]
    NoSuch,
    /// A name that no engine knows.
    #[error("that is not an image name: write it as debian:12")]
    Name,
    /// It refuses, in its words.
    #[error("it reports: {0}; check its log")]
    Refused(String),
    /// It does not answer.
    #[error("it did not answer for {} s: check its log, or restart it", ANSWER.as_secs())]
    Slow,
    /// The runtime that waits for its answers.
    #[error("cannot wait for its answer: {0}; allow this process more memory or open files")]
    Runtime(io::Error),
    /// What it gave is no image that can be kept.
    #[error(transparent)]
    Image(#[from] ImageError),
}

impl EngineError {
    /// Why, among other places that were looked at: what to do about one of them is no matter.
    pub(super) fn brief(&self) -> String {
        match self {
            Self::Absent(absent) => absent.reason.clone(),
            Self::NoSuch => "it has no such image".to_owned(),
            other => other.to_string(),
        }
    }

    /// Whether the engine is not there or has no such image, so that another may be asked.
    pub(super) fn is_elsewhere(&self) -> bool {
        !matches!(self, Self::Image(_))
    }
}

/// An image of a local engine, taken anew if it is another than in the store.
pub(super) fn take(
    engine: &'static str,
    image: &str,
    site: &ImageSources,
    say: &mut dyn FnMut(Progress),
) -> Result<Image, EngineError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || "._-:/@".contains(c);
    if image.is_empty() || image.contains("..") || !image.chars().all(fits) {
        return Err(EngineError::Name);
    }
    say(Progress::Step(format!("asking {engine} for {image}")));
    let engine_at = Connection::open(engine, site)?;
    let id = engine_at.id(image)?;
    let name = format!("{engine}:{image}");
    if let Some(image) = site.store().get_as(&name, &id)? {
        return Ok(image);
    }
    say(Progress::Step(format!("taking {image} from {engine}")));
    // By its id: the name may go over to another image meanwhile.
    let archive = Told::new(engine_at.export(&id), say);
    let what = format!("{image} of {engine}, {id}");
    let taken = tare_image::from_archive(site.store(), &name, &what, None, archive);
    let taken = taken.map_err(|error| {
        if interrupt::requested() {
            ImageError::Stopped
        } else {
            error
        }
    })?;
    Ok(site.store().call(&taken, &name, Some(&id))?)
}

/// An engine that answers.
struct Connection {
    runtime: Runtime,
    api: Docker,
    /// Last: what was started for it ends when nobody asks any more.
    _socket: EngineSocket,
}

impl Connection {
    fn open(engine: &str, site: &ImageSources) -> Result<Self, EngineError> {
        let socket = engine_socket(engine, site.state())?;
        let runtime = Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(EngineError::Runtime)?;
        let address = socket.address();
        let api = Docker::connect_with_unix(address, ANSWER.as_secs(), bollard::API_DEFAULT_VERSION);
        let api = api.map_err(|e| refused(&e))?;
        let api = wait(&runtime, api.negotiate_version())?;
        Ok(Self {
            runtime,
            api,
            _socket: socket,
        })
    }

    /// The id of an image: another for every other content.
    fn id(&self, image: &str) -> Result<String, EngineError> {
        let found = wait(&self.runtime, self.api.inspect_image(image))?;
        found.id.ok_or(EngineError::NoSuch)
    }

    fn export(&self, id: &str) -> Export<'_> {
        let pieces = self.api.export_image(id);
        Export {
            runtime: &self.runtime,
            pieces: Box::pin(pieces.map(|piece| piece.map(|bytes| bytes.to_vec()).map_err(io::Error::other))),
            piece: io::Cursor::default(),
        }
    }
}

fn wait<T>(
    runtime: &Runtime,
    call: impl Future<Output = Result<T, bollard::errors::Error>>,
) -> Result<T, EngineError> {
    let answer = runtime.block_on(async { tokio::time::timeout(ANSWER, call).await });
    answer.map_err(|_| EngineError::Slow)?.map_err(|e| refused(&e))
}

fn refused(error: &bollard::errors::Error) -> EngineError {
    match error {
        bollard::errors::Error::DockerResponseServerError { status_code: 404, .. } => EngineError::NoSuch,
        other => EngineError::Refused(other.to_string()),
    }
}

/// The archive that an engine sends, piece by piece.
struct Export<'a> {
    runtime: &'a Runtime,
    pieces: Pin<Box<dyn Stream<Item = io::Result<Vec<u8>>> + 'a>>,
    piece: io::Cursor<Vec<u8>>,
}

impl Export<'_> {
    /// The next piece; `None` at the end.
    fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        let end = Instant::now() + ANSWER;
        while !interrupt::requested() && Instant::now() < end {
            let pieces = &mut self.pieces;
            let next = self
                .runtime
                .block_on(async { tokio::time::timeout(ASK, pieces.next()).await });
            if let Ok(next) = next {
                return next.transpose();
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

impl Read for Export<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let read = self.piece.read(into)?;
            if read > 0 || into.is_empty() {
                return Ok(read);
            }
            match self.next()? {
                Some(piece) => self.piece = io::Cursor::new(piece),
                None => return Ok(0),
            }
        }
    }
}
