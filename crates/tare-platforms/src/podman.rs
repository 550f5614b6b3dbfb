//! Podman containers, by its service that speaks Docker's API; tare starts one
//! where none runs.

use super::apart::Apart;
use super::contract::{
    Absent, BoxError, BoxSpec, Capabilities, Cleaned, InnerNeeds, Platform, RunningBox, Seccomp, Security,
    Storage, Support,
};
use super::docker::{Docker, UNPROBED};
use super::options::Options;
use super::probe::{installed, limits_usable};
use super::security::Offer;
use super::service::Service;
use std::fs;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use tare_host::carry;
use tare_host::cgroup::Layout;
use tare_host::net::Network;
use tare_host::program::{self, version_of};
use tare_model::results::PlatformVersion;

/// Where the service of the system listens, if it is on.
const SOCKET: &str = "/run/podman/podman.sock";
/// Folder of our own service, in the state folder.
const FOLDER: &str = "podman";

/// What our own service needs where no init system manages cgroups and this
/// process may not raise limits of resources: Podman asks for both by default.
const CONFIGURATION: &str = "[containers]\ndefault_ulimits = []\n\
    [engine]\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"file\"\n";

/// What its service can be told. Its containers' root is closed to writing (mode 555),
/// which a root without capabilities cannot overcome: nothing could be carried in.
const SECURITY: Offer = Offer {
    seccomp: &[Seccomp::Default, Seccomp::Off],
    capabilities: &[Capabilities::Default, Capabilities::All],
    userns: true,
    pidns: true,
};

/// The same of an ordinary user's, whose boxes have root be that user: a namespace within that one would need more users than he has.
const ROOTLESS: Offer = Offer {
    userns: false,
    ..SECURITY
};

/// Time for Podman to make his user namespace; on an emulated CPU it takes over ten seconds.
const HELD_DEADLINE: Duration = Duration::from_secs(120);

/// How his service makes cgroups: below that of tare. By itself it would ask his service manager, for some beside it.
const BELOW: [&str; 2] = ["--cgroup-manager", "cgroupfs"];

/// The program that passes connections on to boxes of this network.
const fn passes_on(network: Network) -> Option<&'static str> {
    match network {
        Network::Pasta | Network::Slirp4netns => Some(network.name()),
        _ => None,
    }
}

/// Debian's package of such a program.
fn package(program: &str) -> &str {
    if program == Network::Pasta.name() {
        "passt"
    } else {
        program
    }
}

fn is_rootless() -> bool {
    !rustix::process::geteuid().is_root()
}

pub(super) struct Podman {
    apart: Apart,
    folder: PathBuf,
    connected: Option<Connected>,
}

/// The service, and the driver that talks to it.
struct Connected {
    docker: Docker,
    _service: Option<Service>,
}

impl Podman {
    pub(super) fn open(mut options: Options, state: &Path) -> Result<Self, String> {
        let apart = if is_rootless() {
            Apart::by_engine(&mut options, &ROOTLESS, &Network::OF_ROOTLESS)?
        } else {
            Apart::by_engine(&mut options, &SECURITY, &Network::OF_ENGINES)?
        };
        options.none()?;
        Ok(Self {
            apart,
            folder: state.join(FOLDER),
            connected: None,
        })
    }

    fn docker(&mut self) -> Result<&mut Docker, BoxError> {
        if self.connected.is_none() {
            self.connected = Some(self.connect()?);
        }
        Ok(&mut self.connected.as_mut().expect("connected just now").docker)
    }

    fn connect(&self) -> Result<Connected, BoxError> {
        if !is_rootless() && UnixStream::connect(SOCKET).is_ok() {
            // Where the folder is, a sweep asks for boxes.
            fs::create_dir_all(&self.folder)
                .map_err(BoxError::host("make the folder of the Podman service"))?;
            return Ok(Connected {
                docker: Docker::on("podman", format!("unix://{SOCKET}"), self.apart),
                _service: None,
            });
        }
        let (service, socket) = Self::start(&self.folder)?;
        Ok(Connected {
            docker: Docker::on("podman", format!("unix://{}", socket.display()), self.apart)
                .within(is_rootless()),
            _service: Some(service),
        })
    }

    /// Starts a service of our own, with its files in this folder, and waits until it answers.
    fn start(folder: &Path) -> Result<(Service, PathBuf), BoxError> {
        fs::create_dir_all(folder).map_err(BoxError::host("make the folder of the Podman service"))?;
        let folder = std::path::absolute(folder).map_err(BoxError::host("find the Podman service"))?;
        let (socket, configuration) = (folder.join("socket"), folder.join("containers.conf"));
        fs::write(&configuration, CONFIGURATION).map_err(BoxError::host("configure the Podman service"))?;
        let mut command = Command::new("podman");
        // A monitor writes a file where it was started when its container meets its limit of
        // memory, and the service forgets images on their way in.
        let scratch = folder.join("scratch");
        fs::create_dir_all(&scratch).map_err(BoxError::host("make a folder for the Podman service"))?;
        // The folder itself stays: another service may still work in it.
        for left in fs::read_dir(&scratch).into_iter().flatten().flatten() {
            let _ = fs::remove_file(left.path());
        }
        command.current_dir(&scratch).env("TMPDIR", &scratch);
        if !Path::new("/run/systemd/system").exists() {
            command.env("CONTAINERS_CONF", &configuration);
        }
        // crun, the usual runtime, refuses controllers of both versions of cgroups side by side.
        if Layout::detect().is_ok_and(|layout| layout.unified_beside_v1().is_some()) {
            command.args(["--runtime", "runc"]);
        }
        if is_rootless() {
            // Makes the process that holds the user namespace: the service that made it would outlive tare.
            let held = program::output(Command::new("podman").arg("info"), HELD_DEADLINE);
            held.map_err(BoxError::host("ask Podman for its state"))?;
            command.args(BELOW);
        }
        command
            .args(["system", "service", "--time=0"])
            .arg(format!("unix://{}", socket.display()));
        let service = Service::start("podman", command, &socket)?;
        Ok((service, socket))
    }
}

/// The address of the service of the system, or of one of our own with its files in this folder.
pub(super) fn socket(folder: &Path) -> Result<(String, Option<Service>), Absent> {
    if !is_rootless() && UnixStream::connect(SOCKET).is_ok() {
        return Ok((format!("unix://{SOCKET}"), None));
    }
    installed("podman", "install it (Debian: apt-get install podman)")?;
    may_map_users()?;
    let unusable = |e: BoxError| Absent::new(e.to_string(), "see whether 'podman images' works");
    let (service, socket) = Podman::start(folder).map_err(unusable)?;
    Ok((format!("unix://{}", socket.display()), Some(service)))
}

/// Whether boxes may have been made by it. One that could not be asked for its version is not missing.
fn is_usable() -> bool {
    let asked = may_map_users().ok().map(|()| version_of("podman", "--version"));
    asked.is_some_and(|asked| !asked.is_err_and(|e| e.kind() == io::ErrorKind::NotFound))
}

/// Whether this user has others to give to the files and processes of containers; root needs none.
fn may_map_users() -> Result<(), Absent> {
    if !is_rootless() {
        return Ok(());
    }
    if carry::find_program("newuidmap").is_err() {
        return Err(Absent::new(
            "no newuidmap on PATH, without which Podman makes no container for an ordinary user",
            "install it (Debian: apt-get install uidmap), or run tare as root",
        ));
    }
    let user = rustix::process::geteuid().as_raw().to_string();
    let names = [user_name(&user).unwrap_or_default(), user];
    let has_some = |file: &str| {
        let text = fs::read_to_string(file).unwrap_or_default();
        text.lines().any(|line| {
            let owner = line.split(':').next().unwrap_or_default();
            !owner.is_empty() && names.iter().any(|name| name == owner)
        })
    };
    if ["/etc/subuid", "/etc/subgid"].into_iter().all(has_some) {
        return Ok(());
    }
    Err(Absent::new(
        "this user has no others to give to containers in /etc/subuid and /etc/subgid",
        "sudo usermod --add-subuids 100000-165535 --add-subgids 100000-165535 $USER, or run tare as root",
    ))
}

/// The name of a user by the file of users.
fn user_name(number: &str) -> Option<String> {
    let text = fs::read_to_string("/etc/passwd").ok()?;
    let mut users = text.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let found = users.find(|fields| fields.get(2) == Some(&number))?;
    Some((*found.first()?).to_owned())
}

/// Whether there are users that Podman may give to containers: unlike other engines it
/// takes none that these files do not name.
fn users_to_give() -> Result<(), Absent> {
    for file in ["/etc/subuid", "/etc/subgid"] {
        let text = fs::read_to_string(file).unwrap_or_default();
        if !text.lines().any(|line| line.starts_with("containers:")) {
            return Err(Absent::new(
                format!("no users for 'containers' in {file}, without which Podman makes no user namespace"),
                "add the line 'containers:1048576:1048576' to /etc/subuid and /etc/subgid",
            ));
        }
    }
    Ok(())
}

impl Platform for Podman {
    fn probe(&mut self) -> Result<PlatformVersion, Absent> {
        limits_usable()?;
        installed("podman", "install it (Debian: apt-get install podman)")?;
        may_map_users()?;
        // Under AppArmor pasta prints no version.
        if let Some(program) = passes_on(self.apart.network)
            && carry::find_program(program).is_err()
        {
            return Err(Absent::new(
                format!("no {program} on PATH"),
                format!("install it (Debian: apt-get install {})", package(program)),
            ));
        }
        if self.apart.security.has_userns() {
            users_to_give()?;
        }
        let unusable = |e: BoxError| Absent::new(e.to_string(), "see whether 'podman run' works");
        let mut version = self.docker().map_err(unusable)?.probe()?;
        version
            .details
            .extend(is_rootless().then(|| ("rootless".to_owned(), "on".to_owned())));
        Ok(version)
    }

    fn launch(&mut self, spec: &BoxSpec) -> Result<Box<dyn RunningBox>, BoxError> {
        self.docker()?.launch(spec)
    }

    fn supports_weight(&self) -> Support {
        let connected = self.connected.as_ref();
        connected.map_or(Err(UNPROBED), |connected| connected.docker.supports_weight())
    }

    fn is_in_own_cgroup(&self) -> bool {
        is_rootless()
    }

    fn network(&self) -> Network {
        self.apart.network
    }

    fn storage(&self) -> Option<Storage> {
        self.apart.storage
    }

    fn supports_image(&self) -> Support {
        Ok(())
    }

    fn supports_image_inside(&self) -> Support {
        Err(
            "Podman inside another box would need minutes and disk space there for a copy of the image: choose docker, runc, crun, nspawn or native as the inner one, or omit this platform or the image",
        )
    }

    fn supports_held_image(&self) -> Support {
        Ok(())
    }

    fn security(&self) -> Option<Security> {
        Some(self.apart.security)
    }

    fn inner_needs(&self) -> InnerNeeds {
        InnerNeeds {
            programs: &["podman", "conmon", "runc"],
            memory_bytes: 384 << 20,
            ..InnerNeeds::default()
        }
    }

    fn cost(&self) -> (Duration, f64) {
        (Duration::from_millis(1500), 1.1)
    }

    fn sweep(&mut self, run: &str) -> Result<Vec<String>, BoxError> {
        // No run that used this state folder ever made a box: no service is started to ask.
        if !self.folder.exists() || !is_usable() {
            return Ok(Vec::new());
        }
        self.docker()?.sweep(run)
    }

    fn clean(&mut self, alive: &[String]) -> Result<Cleaned, BoxError> {
        // Podman keeps images beyond the state folder. One that does not work here made none.
        let cleaned = match is_usable().then(|| self.docker()) {
            Some(Ok(docker)) => docker.clean(alive)?,
            Some(Err(_)) | None => Cleaned::default(),
        };
        self.connected = None;
        match fs::remove_dir_all(&self.folder) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => {
                Err(BoxError::host("remove the folder of the Podman service")(e))
            }
            _ => Ok(cleaned),
        }
    }
}
