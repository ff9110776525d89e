//! Kinds of studies, and their runs: the only place that measures.
//!
//! Each kind of study implements [`Study`] in a separate crate; [`Studies`] lists the kinds that a command
//! has. [`run`] runs one study: its kind gets a [`Session`], measures in [`Rounds`], and adds a [`Fact`] for
//! each figure. Programs are started as a [`Child`]; they are [`Contender`]s that [`take_turns`], and their
//! [`Figures`] are lists. [`testing`] has reports of few records for tests.

mod child;
mod error;
mod fact;
mod input;
mod kind;
mod list;
mod rounds;
mod run;
mod session;
pub mod testing;
mod turns;

pub use child::{Child, Start, empty_folder, on_core};
pub use error::{RunError, TurnError};
pub use fact::Fact;
pub use input::{Input, Loaded, PCAP, Paths};
pub use kind::{ProgramStudy, Study, StudyFile};
pub use list::{FindError, Studies};
pub use rounds::{Rounds, order};
pub use run::{Outcome, run};
pub use session::{Event, SEED, Session, Settings, Step, by_id, ids_of};
pub use turns::{Contender, Figure, Figures, Summary, take_turns, views};
