//! Workloads and schemes of the study, and their ids.

use hashlane_lab::study::RunError;
use std::thread::available_parallelism;

/// Prefixes that the names are spread over, by Zipf's law.
pub(super) const PREFIXES: usize = 4096;

/// A workload, without the clock by which it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Work {
    /// True if all prefixes are below `/a/hot`, which one shard owns at first.
    pub is_hot: bool,
    /// Components of a name.
    pub components: usize,
    pub tables: Tables,
}

/// Size of the tables of all threads together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tables {
    /// Packets in the content stores.
    pub packets: usize,
    /// Interests that are never answered.
    pub pending: usize,
}

/// Tables that fit the last-level cache: 1 or 2 MB with the routes.
const SMALL: Tables = Tables { packets: 1 << 10, pending: 0 };

/// Tables larger than all caches: about 90 MB.
const LARGE: Tables = Tables { packets: 1 << 18, pending: 1 << 16 };

/// Clocks by which a workload is read, the last part of its id.
pub(super) const CLOCKS: [&str; 2] = ["wall", "cpu"];

/// Components of a name: the least has a prefix, a component and a number.
const COMPONENTS: std::ops::RangeInclusive<usize> = 4..=20;

/// Forwarding threads that are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scheme {
    /// One forwarder per thread, with its own names and faces, and nothing between threads.
    Apart(usize),
    /// Threads with a shard each, which send to all faces.
    Shards(usize),
    /// Threads with a shard each, which hand a packet back to the thread that has its face.
    HandBack(usize),
    /// A thread that makes and checks the packets, and forwards none.
    Load,
}

/// Schemes by their ids, but for `all`.
const SCHEMES: [(&str, Scheme); 5] = [
    ("1", Scheme::Apart(1)),
    ("2", Scheme::Shards(2)),
    ("2/back", Scheme::HandBack(2)),
    ("2/apart", Scheme::Apart(2)),
    ("load", Scheme::Load),
];

/// Processors that this process may use.
pub(super) fn processors() -> usize {
    available_parallelism().map_or(1, usize::from)
}

impl Scheme {
    /// The scheme of an id; a shard for each processor is `all`, up to 64.
    ///
    /// # Errors
    /// The id is unknown.
    pub(super) fn parse(id: &str) -> Result<Self, RunError> {
        let known = SCHEMES.iter().find(|(known, _)| *known == id).map(|(_, scheme)| *scheme);
        let all = || (id == "all").then(|| Self::Shards(processors().clamp(2, 64)));
        known.or_else(all).ok_or_else(|| RunError::UnknownScheme {
            id: id.to_owned(),
            help: "known: 1, 2, 2/back, 2/apart, all, load".to_owned(),
        })
    }

    /// Number of threads.
    pub(super) fn threads(self) -> usize {
        match self {
            Self::Apart(threads) | Self::Shards(threads) | Self::HandBack(threads) => threads,
            Self::Load => 1,
        }
    }
}

/// Parses the id of a workload, such as `spread/4/large/wall`. Returns the workload, and the id without the
/// clock.
///
/// # Errors
/// The id is unknown.
pub(super) fn parse(id: &str) -> Result<(Work, &str), RunError> {
    let parse = || {
        let (group, _) = id.rsplit_once("/").filter(|(_, clock)| CLOCKS.contains(clock))?;
        let mut parts = group.split('/');
        let is_hot = match parts.next()? {
            "hot" => true,
            "spread" => false,
            _ => return None,
        };
        let components = parts.next()?.parse().ok().filter(|count| COMPONENTS.contains(count))?;
        let tables = match parts.next()? {
            "small" => SMALL,
            "large" => LARGE,
            _ => return None,
        };
        parts.next().is_none().then_some((Work { is_hot, components, tables }, group))
    };
    parse().ok_or_else(|| {
        RunError::UnknownWorkload(format!(
            "no workload {id:?}: write NAMES/COMPONENTS/TABLES/CLOCK (names: spread, hot; components: 4 to 20; \
             tables: small, large; clock: wall, cpu), as in hot/4/large/wall"
        ))
    })
}
