//! The command as users see it: output, files, exit codes.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

mod audit;
mod children;
mod compare;
mod disk;
mod dns;
#[cfg(target_os = "linux")]
mod dns_serve;
mod dump;
mod errors;
mod flow;
#[cfg(target_os = "linux")]
mod flow_live;
mod flow_metrics;
#[cfg(target_os = "linux")]
mod flow_top;
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
#[cfg(target_os = "linux")]
mod ndn;
mod readme;
mod renders;
mod results;
mod stop;
mod support;
