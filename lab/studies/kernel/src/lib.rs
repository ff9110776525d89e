//! Studies of Linux kernels built with other hashes of connections, and run as User Mode Linux.
//!
//! [`Kernels`](kernels::Kernels) builds and boots them on the host; [`guest`] is the only process inside.
//! [`KernelStudies`] runs studies of the model `kernel`. [`patches`] writes the series for the kernel's
//! maintainers.
#![forbid(unsafe_code)]

mod boot;
mod build;
mod cache;
mod edit;
pub mod guest;
pub mod kernels;
mod line;
mod metric;
mod needs;
pub mod patches;
mod run;
mod scheme;
mod source;
mod watch;

#[cfg(test)]
mod tests;

use hashlane_lab::study::{Input, Loaded, Paths, RunError, Session, Study, StudyFile};
use hashlane_lab::study_files;
use std::error::Error;
use std::path::PathBuf;

/// Studies of kernels.
#[derive(Clone, Copy, Debug)]
pub struct KernelStudies;

/// Option for the source of Linux.
const LINUX_SOURCE: Input = Input {
    option: "linux-source",
    help: "Build the kernels from this source (linux-source-VERSION.tar.xz) instead of Debian's package",
    conflicts: &[],
};

impl Study for KernelStudies {
    fn model(&self) -> &'static str {
        run::CYCLES
    }

    fn files(&self) -> &'static [StudyFile] {
        // Not in all, as it builds kernels.
        study_files![by_name "flow-kernel"]
    }

    fn inputs(&self) -> &'static [Input] {
        &[LINUX_SOURCE]
    }

    fn load(&self, paths: &Paths) -> Result<Option<Loaded>, Box<dyn Error + Send + Sync>> {
        let source = |path: &PathBuf| Loaded::new(Loaded::label("linux-source", path), path.clone());
        Ok(paths.get(LINUX_SOURCE.option).map(source))
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        run::run(session)
    }
}
