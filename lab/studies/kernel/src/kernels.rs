//! Kernels of our own: Linux with other hashes of connections, built here and run as User Mode Linux.
//!
//! [`Kernels::build`] takes the source that Debian packages (`linux-source`), unpacks it under the user's
//! cache folder, replaces one function, and builds one kernel for each [`KernelScheme`]; a later run reuses
//! the kernels. [`Kernels::boot`] runs one: an ordinary process, without root, whose only process inside is
//! this command again ([`guest`](crate::guest)), found through the host's files.
//!
//! None of the kernel's source is kept here. The replacement of the function and the code that queries the
//! kernel are in `tree/`.

pub use crate::build::Kernels;
pub use crate::line::{Reading, SynReading};
pub use crate::scheme::{KernelScheme, UnknownKernelScheme};
