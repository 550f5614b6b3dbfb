//! What runs: kernels with their parameters, of which a list makes a factor, and
//! workloads that tare does not have yet.

use super::chapters::Draft;
use crate::command::CommandWish;
use crate::design::{self, DesignError, MAX_THREADS, Programs, WorkloadWish};
use crate::workload_file::{self, CatalogueWorkload};
use tare_host::carry::{self, CarryError};
use tare_model::kernel::Kernel;
use tare_model::size::parse_memory;
use tare_model::study::Effect;
use tare_model::template::{LeftOut, Missing};
use tare_model::topology::Topology;
use tare_toml::{Keys, Node, TomlError};

/// As many runs as a study may have.
const MAX_RUNS: usize = 1000;

impl Draft {
    pub(super) fn workloads(&mut self, node: &Node) -> Result<(), TomlError> {
        self.note(("workload", None), node);
        for item in node.list("workload", "[{ name = \"stream\" }]")? {
            let all = ["name", "size", "threads", "ends"];
            let keys = Keys::of(item, "[[workload]]", &all)?;
            let name_node = keys.needed("name", "\"stream\"")?;
            let name = name_node.text("name", "\"stream\"")?;
            match Kernel::ALL.into_iter().find(|k| k.name() == name) {
                Some(kernel) => self.kernel(kernel, item)?,
                None if workload_file::is_known(name) => {
                    Keys::of(item, "[[workload]]", &["name"])?;
                    self.command(name, name_node)?;
                }
                None => return Err(TomlError::at(&name_node.place, design::unknown(name).to_string())),
            }
        }
        Ok(())
    }

    /// Workloads that are held together.
    pub(super) fn effects(&mut self, node: &Node) -> Result<(), TomlError> {
        let items = node.list("effect", "[{ name = \"...\", of = \"...\", against = \"...\" }]")?;
        for (index, item) in items.iter().enumerate() {
            let keys = Keys::of(item, "[[effect]]", &["name", "of", "against"])?;
            let text = |key, example| {
                let text = keys.needed(key, example)?.text(key, example)?;
                Ok(text.to_owned())
            };
            self.note(("effect", Some(index)), item);
            self.wishes.effects.push(Effect {
                name: text("name", "\"Multitasking effect\"")?,
                of: text("of", "\"ffmpeg?tasks=30\"")?,
                against: text("against", "\"ffmpeg\"")?,
            });
        }
        Ok(())
    }

    /// A workload of the catalogue, or of a file of its own. One whose program is not there is
    /// left out, so that the rest of a published study runs where its tools are not.
    pub(super) fn command(&mut self, name: &str, node: &Node) -> Result<(), TomlError> {
        let read = workload_file::read(name).map_err(|e| TomlError::at(&node.place, e.to_string()))?;
        if let Some(why) = without_program(&read, &self.wishes.programs) {
            self.template.left_out.push(LeftOut {
                what: Missing::Workload,
                name: read.name,
                feature: read.feature,
                why,
            });
            return Ok(());
        }
        self.note(("workload", Some(self.wishes.workloads.len())), node);
        self.wishes.workloads.push(WorkloadWish::from(name));
        Ok(())
    }

    /// Every combination of a kernel's parameters.
    fn kernel(&mut self, kernel: Kernel, node: &Node) -> Result<(), TomlError> {
        let keys = Keys::of(node, "[[workload]]", &["name", "size", "threads", "ends"])?;
        let sizes = levels(keys, "size", "[\"64M\", \"256M\"]", |item| size(kernel, item))?;
        let threads = levels(keys, "threads", "[1, \"auto\"]", threads)?;
        let ends = levels(keys, Topology::PARAMETER, "[\"client-outside\"]", ends)?;
        let runs = sizes.len() * threads.len() * ends.len();
        if runs + self.wishes.workloads.len() > MAX_RUNS {
            return Err(TomlError::at(
                &node.place,
                format!("the parameters of {kernel} make more than {MAX_RUNS} runs: give fewer levels"),
            ));
        }
        for (size, size_node) in &sizes {
            for (threads, threads_node) in &threads {
                for (ends, ends_node) in &ends {
                    let index = self.wishes.workloads.len();
                    self.note(("workload", Some(index)), node);
                    self.note(("size", Some(index)), size_node.unwrap_or(node));
                    self.note(("threads", Some(index)), threads_node.unwrap_or(node));
                    self.note((Topology::PARAMETER, Some(index)), ends_node.unwrap_or(node));
                    self.wishes.workloads.push(WorkloadWish {
                        kernel: kernel.name().to_owned(),
                        size: *size,
                        threads: *threads,
                        ends: *ends,
                    });
                }
            }
        }
        Ok(())
    }
}

fn ends(node: &Node) -> Result<Option<Topology>, TomlError> {
    let choices = Topology::ALL.map(|ends| (ends.name(), ends));
    node.choice(Topology::PARAMETER, &choices).map(Some)
}

/// Which program of a packaged workload is not where programs are, and how it comes there.
fn without_program(read: &CatalogueWorkload, programs: &Programs) -> Option<String> {
    if read.command.image_only && matches!(programs, Programs::Host) {
        return Some(DesignError::ImageOnly.to_string());
    }
    let package = read.package.as_ref()?;
    match programs {
        Programs::Host => not_installed(read, package),
        Programs::Image(chosen) => commands(read).find_map(|command| design::lacking(command, chosen)).map(|absent| {
            let image = &chosen.name;
            format!(
                "its program {absent} is not in the image {image}: choose one that has it by --image, or --image none for the programs of this host"
            )
        }),
        Programs::Unmade(_) => None,
    }
}

/// All that a workload runs: its servers and its command.
fn commands(read: &CatalogueWorkload) -> impl Iterator<Item = &CommandWish> {
    let servers = read.roles.iter().map(|role| &role.command);
    servers.chain([&read.command])
}

fn not_installed(read: &CatalogueWorkload, package: &str) -> Option<String> {
    let mut programs = commands(read).flat_map(|command| command.argv.iter().take(1).chain(&command.calls));
    let absent = programs.find(|name| {
        matches!(
            carry::find_program(name),
            Err(CarryError::NotFound(_) | CarryError::NoFile(_))
        )
    })?;
    Some(format!(
        "its program {absent} is not on PATH: install it (Debian: apt-get install {package})"
    ))
}

/// A level of a parameter, and where it stands.
type Level<'a, T> = (Option<T>, Option<&'a Node>);

/// The levels of a parameter; one that is left to tare where the key is absent.
fn levels<'a, T>(
    keys: Keys<'a>,
    key: &str,
    example: &str,
    read: impl Fn(&Node) -> Result<Option<T>, TomlError>,
) -> Result<Vec<Level<'a, T>>, TomlError> {
    let Some(node) = keys.get(key) else {
        return Ok(vec![(None, None)]);
    };
    let items = node.one_or_more(key, example)?.iter();
    items.map(|item| Ok((read(item)?, Some(item)))).collect()
}

/// Bytes with a unit where the size is an amount of memory, plain numbers elsewhere.
fn size(kernel: Kernel, node: &Node) -> Result<Option<u64>, TomlError> {
    let size = if kernel.sizes().is_some_and(|sizes| sizes.in_bytes) {
        node.read("size", "\"64M\"", parse_memory)
    } else {
        node.whole("size", "1000")
    };
    size.map(Some)
}

fn threads(node: &Node) -> Result<Option<u32>, TomlError> {
    if node.text("threads", "\"auto\"").is_ok_and(|text| text == "auto") {
        return Ok(None);
    }
    let number = node.whole("threads", "[1, \"auto\"]")?;
    let threads = u32::try_from(number).map_err(|_| {
        let message = format!("'threads' is {number}: give at most {MAX_THREADS}");
        TomlError::at(&node.place, message)
    })?;
    Ok(Some(threads))
}
