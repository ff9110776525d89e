//! Limits of zone files that no option changes.

/// Most bytes of an entry: a record, a directive, a comment or a blank, from the start of its first line to
/// its last line break. Data of 65,535 bytes take at most 753,000 characters, as the APL record
/// `2:0000:0000:0000:0000:0000:0000:0000:0000/0 …`.
pub const MAX_ENTRY: usize = 1 << 20;

/// Most files that include one another.
pub const MAX_DEPTH: usize = 8;

/// Most included files.
pub const MAX_FILES: usize = 10_000;
