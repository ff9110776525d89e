//! Studies of authoritative DNS name servers, as whole processes: ours and other projects'.
//!
//! [`SERVERS`] runs studies of the model `nameserver`: CPU time of answers, memory and load time of zones,
//! reloads, and latency under random subdomains. [`XDP`] runs the studies of `nameserver-xdp`: CPU time of
//! answers past the kernel's network stack. [`echo`] is the floor, for `hashlane lab echo`.
#![forbid(unsafe_code)]

mod check;
mod costs;
pub mod echo;
mod growth;
mod latency;
mod load;
mod metric;
mod plan;
mod queries;
mod reload;
mod run;
mod servers;
mod sign;
mod transfer;
mod workloads;
mod xdp;
mod zone;

#[cfg(test)]
mod tests;

use hashlane_lab::study::ProgramStudy;
use hashlane_lab::study_files;

/// Studies of name servers.
pub const SERVERS: ProgramStudy = ProgramStudy {
    model: workloads::MODEL,
    files: study_files!["dns-serve"],
    starts: &["dns"],
    run: run::run,
};

/// Studies of name servers by XDP.
pub const XDP: ProgramStudy = ProgramStudy {
    model: xdp::MODEL,
    // It needs root.
    files: study_files![by_name "dns-serve-xdp"],
    starts: &["dns"],
    run: xdp::run,
};

/// Studies of zone transfers.
pub const TRANSFERS: ProgramStudy = ProgramStudy {
    model: transfer::MODEL,
    files: study_files![by_name "dns-transfer"],
    starts: &["dns"],
    run: transfer::run,
};
