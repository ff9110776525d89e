//! The command as users see it: output, files, exit codes.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

mod answers;
mod audit;
mod compare;
mod disk;
mod errors;
mod figures;
mod flows;
mod forwarders;
mod help;
mod input;
mod kept;
mod kernel_patches;
mod kernels;
mod launches;
mod meters;
mod names;
mod nameservers;
mod readme;
mod renders;
mod results;
mod stop;
