//! The management protocol of NFD: commands, their answers, and lists of what a forwarder holds.
//!
//! ```text
//! command   = Interest /localhost/nfd/<module>/<verb>/<ControlParameters>, signed
//! answer    = Data of the command's name, its content a ControlResponse
//! dataset   = Data /localhost/nfd/<module>/<list>/v=<version>/seg=<number>, their contents joined a list of records
//! event     = Data /localhost/nfd/faces/events/seq=<number>, its content a FaceEventNotification
//! ```
//! - [`command`]: both forms of signed command, read and built.
//! - [`parameters`]: ControlParameters and ControlResponse.
//! - [`dataset`]: the records of datasets and events.
//! - [`face_uri`]: the addresses of faces as text.
//! - [`segment`]: a list as Data packets, and their names.
//!
//! Source: NFD Management protocol (the wiki pages Management, FaceMgmt, FibMgmt, RibMgmt, CsMgmt, StrategyChoice, ForwarderStatus).

pub mod command;
pub mod dataset;
pub mod face_uri;
pub mod parameters;
pub mod record;
pub mod segment;
pub mod values;

pub use command::{Command, CommandBuilder, CommandError, Scope};
pub use face_uri::FaceUri;
pub use parameters::{ControlParameters, ControlResponse};
pub use record::Record;
