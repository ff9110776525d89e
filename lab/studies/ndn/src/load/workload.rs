//! Packets that are sent to a forwarder, and the links that carry them.

use super::plan::Plan;
use super::tables::Tables;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Kind of connection between the forwarder and consumers and producers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// A stream socket in the file system for each of them.
    Unix,
    /// A UDP socket of the loopback address for each of them.
    Udp,
    /// The same in namespaces of their own, by way of virtual Ethernet.
    Netns,
}

/// The shape of the names of a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Names {
    /// Components of a name, 3 to 20.
    pub components: usize,
    /// `true` if the third component differs from name to name instead of the last: every prefix from there
    /// on is new.
    pub third_distinct: bool,
}

/// Rate of the Interests of a load.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pace {
    /// As many as the windows of 16 consumers allow.
    #[default]
    Full,
    /// A number in a second, of 16 consumers together.
    Steady(u32),
    /// One consumer, which asks when the Interest before is answered.
    OneAtATime,
}

/// A workload: `LINK/COMPONENTS`, then perhaps one of `/third-distinct`, `/pending-COUNT`, `/paced-RATE`,
/// `/one-at-a-time`, `/reliability` (of UDP), `/large` and `/large-COUNT` (counts and rates with `k` behind
/// them for thousands).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The link.
    pub link: Link,
    /// The names.
    pub names: Names,
    /// Interests for other names that are sent first, and never answered.
    pub pending: usize,
    /// Tables that are filled before anything is measured.
    pub tables: Option<Tables>,
    /// The rate of the Interests.
    pub pace: Pace,
    /// `true` if lost link packets are sent again, by both ends of each link.
    pub reliability: bool,
}

/// Error: the id of a workload breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "no load {:?}: write unix, udp or netns, a number of components from {} to {}, and perhaps \
     third-distinct, pending-COUNT (up to {MOST_PENDING}), paced-RATE (Interests a second, from {} to {}), \
     one-at-a-time, reliability (of udp and netns), or with {LARGE_COMPONENTS} components and more large or large-COUNT (prefixes, from {} \
     to {}), as in unix/11/third-distinct, unix/11/pending-200k or udp/4/paced-16k",
    .0,
    COMPONENTS.start(),
    COMPONENTS.end(),
    PACES.start(),
    PACES.end(),
    LARGE.start(),
    LARGE.end()
)]
pub struct WorkloadError(String);

/// A longer name has a length field of three bytes, which no template has.
const COMPONENTS: std::ops::RangeInclusive<usize> = 3..=20;
/// Interests a second, of all consumers.
const PACES: std::ops::RangeInclusive<usize> = 16..=1_000_000;
/// A face of our forwarder gets no more of the PIT than half of it.
const MOST_PENDING: usize = 400_000;
/// Prefixes of a load with large tables; without a count, the most.
const LARGE: std::ops::RangeInclusive<usize> = 100..=1_000_000;
/// Components of its names at least: a prefix's, and one that differs.
const LARGE_COMPONENTS: usize = 4;
/// Prefixes of such a load for each Interest that is never answered.
const PREFIXES_PER_PENDING: usize = 5;

impl Names {
    /// Which component differs, from 0.
    pub fn varied(self) -> usize {
        if self.third_distinct { 2 } else { self.components - 1 }
    }

    fn parse(count: &str) -> Option<Self> {
        let components = count.parse().ok().filter(|count| COMPONENTS.contains(count))?;
        Some(Self { components, third_distinct: false })
    }
}

/// As in ids of workloads, without the link.
impl fmt::Display for Names {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let third = if self.third_distinct { "/third-distinct" } else { "" };
        write!(f, "{}{third}", self.components)
    }
}

impl FromStr for Workload {
    type Err = WorkloadError;

    fn from_str(id: &str) -> Result<Self, WorkloadError> {
        let parts: Vec<&str> = id.split('/').collect();
        let parse = || {
            let [link, count, rest @ ..] = parts.as_slice() else { return None };
            let link = match *link {
                "unix" => Link::Unix,
                "udp" => Link::Udp,
                "netns" => Link::Netns,
                _ => return None,
            };
            let mut names = Names::parse(count)?;
            let (mut pending, mut tables, mut pace, mut reliability) = (0, None, Pace::Full, false);
            let mut large = |count: usize| {
                pending = count / PREFIXES_PER_PENDING;
                tables = Some(Tables { prefixes: count, packets: count });
            };
            match rest {
                [] => {}
                ["third-distinct"] => names.third_distinct = true,
                ["one-at-a-time"] => pace = Pace::OneAtATime,
                ["reliability"] if link != Link::Unix => reliability = true,
                ["large"] => large(*LARGE.end()),
                [other] => match other.split_once('-')? {
                    ("large", count) => large(parse_count(count, LARGE)?),
                    ("pending", count) => pending = parse_count(count, 1..=MOST_PENDING)?,
                    ("paced", rate) => pace = Pace::Steady(parse_count(rate, PACES)? as u32),
                    _ => return None,
                },
                _ => return None,
            }
            if tables.is_some() && names.components < LARGE_COMPONENTS {
                return None;
            }
            Some(Self { link, names, pending, tables, pace, reliability })
        };
        parse().ok_or_else(|| WorkloadError(id.to_owned()))
    }
}

impl Workload {
    /// The load that it asks for, measured for a time.
    pub fn plan(&self, measured: Duration) -> Plan {
        let full = Plan::lasting(measured);
        match self.pace {
            Pace::Full => full,
            Pace::Steady(rate) => Plan::paced(measured, rate / full.pairs as u32),
            Pace::OneAtATime => Plan { pairs: 1, window: 1, ..full },
        }
    }
}

/// A count, with `k` behind it for thousands.
fn parse_count(count: &str, range: std::ops::RangeInclusive<usize>) -> Option<usize> {
    let (digits, unit) = match count.strip_suffix('k') {
        Some(digits) => (digits, 1000),
        None => (count, 1),
    };
    let count = digits.parse::<usize>().ok()?.checked_mul(unit)?;
    range.contains(&count).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_ids() {
        let names = |components, third_distinct| Names { components, third_distinct };
        let plain = Workload {
            link: Link::Unix,
            names: names(4, false),
            pending: 0,
            tables: None,
            pace: Pace::Full,
            reliability: false,
        };
        let long = Workload { names: names(11, false), ..plain };
        let tables = |entries| Some(Tables { prefixes: entries, packets: entries });
        let large = Workload { pending: 200_000, tables: tables(1_000_000), ..long };
        for (id, workload) in [
            ("unix/4", plain),
            ("udp/4", Workload { link: Link::Udp, ..plain }),
            ("udp/4/reliability", Workload { link: Link::Udp, reliability: true, ..plain }),
            ("netns/4", Workload { link: Link::Netns, ..plain }),
            ("unix/11/third-distinct", Workload { names: names(11, true), ..plain }),
            ("unix/11/pending-200k", Workload { pending: 200_000, ..long }),
            ("unix/11/pending-50", Workload { pending: 50, ..long }),
            ("unix/4/paced-16k", Workload { pace: Pace::Steady(16_000), ..plain }),
            ("unix/4/one-at-a-time", Workload { pace: Pace::OneAtATime, ..plain }),
            // A large load fills all tables.
            ("unix/11/large", large),
            ("unix/11/large-1000k", large),
            ("udp/4/large-1k", Workload { link: Link::Udp, pending: 200, tables: tables(1000), ..plain }),
        ] {
            assert_eq!(id.parse(), Ok(workload), "{id}");
        }
        assert_eq!((names(11, true).varied(), names(11, false).varied()), (2, 10));
        assert_eq!(names(11, true).to_string(), "11/third-distinct");
    }

    #[test]
    fn a_pace_is_that_of_all_consumers() {
        let plan = |id: &str| id.parse::<Workload>().unwrap().plan(Duration::from_secs(2));
        let (full, paced, one) = (plan("unix/4"), plan("unix/4/paced-16k"), plan("udp/4/one-at-a-time"));
        assert_eq!(full, Plan::lasting(Duration::from_secs(2)));
        let offered = paced.offered(paced.measured);
        assert_eq!((paced.pairs, paced.pace, offered), (16, Some(1000), Some(32_000.0)));
        assert_eq!((one.pairs, one.window, one.pace), (1, 1, None));
    }

    #[test]
    fn refuses_other_ids_and_says_what_there_is() {
        let wrong = " unix tcp/4 unix/2 unix/21 unix/x unix/4/none unix/4/pending-0 unix/4/pending-401k \
                     unix/4/pending-999999999999999999999k unix/4/paced-15 unix/4/paced-1001k unix/4/paced- \
                     unix/4/one-at-a-time/more unix/4/third-distinct/more unix/3/large unix/4/large- \
                     unix/4/large-99 unix/4/reliability unix/4/large-1001k unix/4/large-1k/more unix/4/large/third-distinct";
        for id in wrong.split(' ') {
            let error = id.parse::<Workload>().unwrap_err().to_string();
            assert!(error.contains("unix/11/third-distinct"), "{error}");
        }
    }
}
