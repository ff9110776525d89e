//! Errors of runs with the next step.

use anyhow::{Error, anyhow};
use hashlane_link::capture::FormatError;
use hashlane_link::tap::TapError;
use hashlane_meter::RunError;
use std::io;
use std::path::Path;

/// The error of a run with the next step.
pub(super) fn explained(error: &RunError) -> Error {
    let step = match error {
        RunError::Interface(_, TapError::Forbidden) => {
            "; run it with sudo, or as a service with AmbientCapabilities=CAP_NET_RAW (docs/flow.md)"
                .to_owned()
        }
        RunError::Capture(_, FormatError::NotACapture(_)) => {
            "; captures are pcap or pcapng, also compressed by gzip or Zstandard; of files of flows, \
             `hashlane flow show` reads IPFIX"
                .to_owned()
        }
        RunError::Capture(path, FormatError::Read(cause))
            if cause.kind() == io::ErrorKind::NotFound && is_name(path) =>
        {
            format!("; an interface is named with --interface {}", path.display())
        }
        _ => String::new(),
    };
    anyhow!("{error}{step}")
}

/// Tests if a path could be the name of an interface.
fn is_name(path: &Path) -> bool {
    path.extension().is_none() && path.components().count() == 1
}
