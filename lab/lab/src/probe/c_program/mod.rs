//! C code of a source, timed beside ours: compiled when the study runs, and run in a separate process.
//!
//! [`Compiler`] finds the C compiler of this machine and makes a program or an object file of a text;
//! [`Program`] is the running program, which is asked over its standard input and answers on its output. The
//! text of a program follows [`HEADER`], which has the counter with the barriers of
//! [`counter`](super::counter) and the reads and writes of a request. Requests and answers are the study's
//! own: this module knows none.

mod compiler;
mod program;

pub use compiler::{Built, Compiler};
pub use program::Program;

/// Text before each program's: the counter, and whole requests and answers.
pub const HEADER: &str = include_str!("probe.h");

/// The compiler, for tests; `None` and a message on standard error without one. In continuous integration
/// (`CI=true`) there must be one.
///
/// # Panics
/// In continuous integration, if no compiler is found.
#[doc(hidden)]
pub fn compiler_or_skip() -> Option<Compiler> {
    match Compiler::find() {
        Ok(compiler) => Some(compiler),
        Err(error) if std::env::var("CI").is_ok_and(|value| value == "true" || value == "1") => {
            panic!("{error}")
        }
        Err(error) => {
            eprintln!("skipped: {error}");
            None
        }
    }
}
