//! The user's own workloads.

use std::any::Any;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// An option of `study run` that takes a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// Name of the option, such as `names` for `--names`.
    pub option: &'static str,
    /// One line for `--help`. Kinds of studies that share an option have the same line.
    pub help: &'static str,
    /// Options that conflict with this one.
    pub conflicts: &'static [&'static str],
}

/// Option for a capture, of all kinds of studies whose workload can be packets.
pub const PCAP: Input = Input {
    option: "pcap",
    help: "Take the workload from the packets of this capture (pcap, pcapng) instead of a generated one",
    conflicts: &["zone"],
};

/// Files that the user gave, by option.
pub type Paths = BTreeMap<&'static str, PathBuf>;

/// A workload of the user's own.
pub struct Loaded {
    /// Label of the workload in records, such as `names:list.txt`.
    pub label: String,
    /// The workload, as the kind of study keeps it.
    data: Box<dyn Any + Send + Sync>,
    /// Lines about the file: how much was read, and how much was skipped. The first goes into the report.
    pub notes: Vec<String>,
}

impl Loaded {
    /// A workload without notes.
    pub fn new(label: String, data: impl Any + Send + Sync) -> Self {
        Self { label, data: Box::new(data), notes: Vec::new() }
    }

    /// Adds a note about the file.
    pub fn with_note(mut self, note: String) -> Self {
        self.notes.push(note);
        self
    }

    /// The workload, if the kind of study keeps it as a `T`.
    pub fn data<T: Any>(&self) -> Option<&T> {
        self.data.downcast_ref()
    }

    /// Label of a workload that was read from a file: its kind and the file's name.
    pub fn label(what: &str, path: &Path) -> String {
        format!("{what}:{}", path.file_name().unwrap_or(path.as_os_str()).to_string_lossy())
    }
}
