//! Roles of the things that a chart compares, which decide their colours.

/// The role of a bar or a line. Each has one colour, the same in every chart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Code of this repository: blue.
    Ours,
    /// Third-party code that is in use today: orange.
    Peer,
    /// Code of the source, kept as a baseline: grey.
    Historical,
    /// A fault: red.
    Danger,
    /// One of up to four kinds that are neither, such as encodings. Valid: 0..=3; others wrap around.
    Category(u8),
}

impl Role {
    /// The class of its marks in the style sheet.
    pub(in super::super) fn class(self) -> &'static str {
        match self {
            Self::Ours => "ours",
            Self::Peer => "peer",
            Self::Historical => "historical",
            Self::Danger => "danger",
            Self::Category(n) => ["cat0", "cat1", "cat2", "cat3"][usize::from(n % 4)],
        }
    }
}
