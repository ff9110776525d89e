//! Reasons why an entry of a list is no rule.

use hashlane_name_map::NameError;

macro_rules! reasons {
    ($($(#[$doc:meta])* $reason:ident $id:literal $text:literal,)*) => {
        /// Reason why an entry of a list is no rule.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Reason {
            $($(#[$doc])* $reason,)*
        }

        impl Reason {
            /// All reasons.
            pub const ALL: &[Self] = &[$(Self::$reason),*];

            /// A word for programs: `label-too-long`.
            pub const fn id(self) -> &'static str {
                match self { $(Self::$reason => $id),* }
            }

            /// The reason as a noun with its plural, for people.
            pub const fn text(self) -> &'static str {
                match self { $(Self::$reason => $text),* }
            }
        }
    };
}

reasons! {
    /// A name that every hosts file has for its own host: `localhost`.
    Local "local-name" "names of the host itself, such as localhost",
    /// A hosts file gives the name the address of another host: nothing is blocked.
    OtherAddress "other-address" "names with the address of another host",
    /// A line of a hosts file does not begin with an address.
    NoAddress "no-address" "lines that do not begin with an address",
    /// The line has no name where its format has one.
    NoName "no-name" "lines without a name",
    /// The line goes on after its name.
    ExtraWords "extra-words" "lines that go on after the name",
    /// An IPv4 address where a name is expected.
    Address "address" "addresses in place of names",
    /// A filter of elements of web pages.
    Cosmetic "cosmetic" "cosmetic filters of web pages",
    /// A filter with options, such as `$third-party`.
    Modifier "modifier" "filters with options ($…)",
    /// A filter that wins over exceptions.
    Important "important" "filters that win over exceptions ($important)",
    /// A filter of paths.
    Path "path" "filters of paths",
    /// A filter of parts of addresses, which is no name.
    Pattern "pattern" "filters of parts of addresses, not written ||name^",
    /// A regular expression.
    Regex "regex" "regular expressions",
    /// Words that may stand anywhere in a name.
    Keyword "keyword" "keywords",
    /// Another file of rules.
    Include "include" "inclusions of other files",
    /// A kind of rule that is not known.
    UnknownKind "unknown-kind" "rules of an unknown kind",
    /// Names that are resolved by a stated server.
    Resolver "resolver" "names that another server resolves",
    /// A trigger of an RPZ zone besides the queried name.
    RpzTrigger "rpz-trigger" "triggers besides the queried name (rpz-ip, rpz-nsdname and others)",
    /// An action of an RPZ zone besides block and pass.
    RpzAction "rpz-action" "actions that neither block nor pass",
    /// Records that an RPZ zone gives in place of an answer.
    RpzData "rpz-data" "records that replace an answer",
    /// A directive of a zone file that is not followed.
    Directive "directive" "directives besides $TTL and $ORIGIN",
    /// An owner outside the zone, or one whose zone is not known.
    OutsideZone "outside-zone" "owners outside the zone, or without its SOA before them",
    /// A line of a zone file that is no record.
    NotARecord "not-a-record" "lines that are no record",
    /// All names: a wildcard alone.
    AllNames "all-names" "wildcards of all names",
    /// A byte that no name of a list has.
    Character "character" "names with other characters than letters, digits, - and _",
    /// A byte that no text has, such as NUL, or white space inside a name.
    Control "control-character" "names with white space or control characters",
    /// A slash or a colon in a name to look up, as in the address of a page.
    PageAddress "page-address" "addresses of pages; take the names out of them",
    /// Two dots in a row, or a dot at the start.
    EmptyLabel "empty-label" "names with an empty label",
    /// A label of more than 63 bytes.
    LabelTooLong "label-too-long" "names with a label of more than 63 bytes",
    /// A name of more than 253 bytes.
    TooLong "too-long" "names of more than 253 bytes",
    /// Text that is no internationalized name.
    Idn "idn" "invalid internationalized names",
}

impl From<NameError> for Reason {
    fn from(error: NameError) -> Self {
        match error {
            NameError::Empty => Self::NoName,
            NameError::EmptyLabel => Self::EmptyLabel,
            NameError::LabelTooLong { .. } => Self::LabelTooLong,
            _ => Self::TooLong,
        }
    }
}
