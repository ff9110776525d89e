//! NFD's management protocol: commands, responses, datasets and events.
//!
//! ```text
//! command   = Interest /localhost/nfd/<module>/<verb>/<ControlParameters>, signed
//! response  = Data with the command's name, whose content is a ControlResponse
//! dataset   = Data /localhost/nfd/<module>/<list>/v=<version>/seg=<number>; joined contents: records
//! event     = Data /localhost/nfd/faces/events/seq=<number>, whose content is a FaceEventNotification
//! ```
//! - [`announcement`]: prefix announcements.
//! - [`command`]: parsing and building commands of formats 0.2 and 0.3.
//! - [`parameters`]: ControlParameters and ControlResponse.
//! - [`dataset`]: records of datasets and events.
//! - [`face_uri`]: face URIs.
//! - [`segment`]: segmentation of datasets, and their names.
//! - [`trace`]: records of traces.
//!
//! Source: NFD Management protocol (wiki pages Management, FaceMgmt, FibMgmt, RibMgmt, CsMgmt,
//! StrategyChoice, ForwarderStatus).

pub mod announcement;
pub mod command;
pub mod dataset;
pub mod face_uri;
pub mod parameters;
pub mod record;
pub mod segment;
pub mod trace;
pub mod values;

pub use announcement::{AnnouncementBuilder, AnnouncementError, PrefixAnnouncement};
pub use command::{Command, CommandBuilder, CommandError, Scope};
pub use face_uri::FaceUri;
pub use parameters::{ControlParameters, ControlResponse};
pub use record::Record;
