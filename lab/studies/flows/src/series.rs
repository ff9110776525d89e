//! Styles of the lines of tables and floods.

use hashlane_lab::report::{Role, Series};

/// Lines in colour: the schemes of most interest.
const EMPHASISED: usize = 4;

/// The style of the `place`th scheme: third-party tables are peers, Linux's chained table is history.
pub(crate) fn series((place, name): (usize, &&str)) -> Series {
    let role = match name.split('/').next() {
        Some("hashbrown") => Role::Peer,
        Some("chained") => Role::Historical,
        _ => Role::Ours,
    };
    Series::new(name, role, place < EMPHASISED)
}
