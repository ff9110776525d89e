//! The lab's core: study files, runs, records, probes and reports. It knows no scheme and no
//! protocol.
//!
//! - [`definition`]: study files, the data that state a question, its workloads, schemes, criteria and
//!   claims.
//! - [`study`]: the trait of a kind of study, and its runs in alternating rounds.
//! - [`probe`]: the time-stamp counter, its calibration, and llvm-mca.
//! - [`run`]: facts of a run beside its records: the machine and the studies.
//! - [`outcome`]: claims and criteria of a study compared with its records.
//! - [`evidence`]: checks of the figures that a sentence states.
//! - [`report`]: the page and the terminal's tables, computed from records.
//! - [`compare`]: two builds launched alternately; comparisons of builds and runs as text and JSON.
//! - [`launch`]: runs of a study, each in a separate process.
//! - [`memory`]: limits of memory, and studies that are refused under them.
//!
//! Only a run measures. It writes records; every table, chart and verdict is computed from records.
#![deny(unsafe_code)]

pub mod compare;
pub mod definition;
pub mod evidence;
pub mod hex;
pub mod launch;
pub mod layout;
pub mod memory;
pub mod outcome;
pub mod probe;
pub mod report;
pub mod run;
pub mod scatter;
pub mod study;
