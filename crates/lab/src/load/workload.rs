//! What is sent to a forwarder, and by which link.

use std::fmt;
use std::str::FromStr;

/// How consumers and producers are connected with the forwarder.
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
    /// Whether the third component is the one that differs from name to name, and not the last: every prefix from there on is new.
    pub third_distinct: bool,
}

/// A workload: `LINK/COMPONENTS`, and then perhaps `/third-distinct` or `/pending-COUNT` (with `k` behind it for thousands).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Workload {
    /// The link.
    pub link: Link,
    /// The names.
    pub names: Names,
    /// Interests for other names that are sent first, and never answered.
    pub pending: usize,
}

/// What is wrong with the id of a workload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkloadError(String);

impl fmt::Display for WorkloadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no load {:?}: write unix, udp or netns, a number of components from {} to {}, and perhaps third-distinct or pending-COUNT \
             (up to {MOST_PENDING}), as in unix/11/third-distinct or unix/11/pending-200k",
            self.0,
            COMPONENTS.start(),
            COMPONENTS.end()
        )
    }
}

impl std::error::Error for WorkloadError {}

/// A name of more has a length of three octets, which no template has.
const COMPONENTS: std::ops::RangeInclusive<usize> = 3..=20;
/// A face of our forwarder gets no more of the PIT than half of it.
const MOST_PENDING: usize = 400_000;

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
            let mut pending = 0;
            match rest {
                [] => {}
                ["third-distinct"] => names.third_distinct = true,
                [other] => pending = parse_pending(other)?,
                _ => return None,
            }
            Some(Self { link, names, pending })
        };
        parse().ok_or_else(|| WorkloadError(id.to_owned()))
    }
}

fn parse_pending(part: &str) -> Option<usize> {
    let count = part.strip_prefix("pending-")?;
    let (digits, unit) = match count.strip_suffix('k') {
        Some(digits) => (digits, 1000),
        None => (count, 1),
    };
    let count = digits.parse::<usize>().ok()?.checked_mul(unit)?;
    (1..=MOST_PENDING).contains(&count).then_some(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_ids() {
        let workload = |id: &str| id.parse::<Workload>().unwrap();
        let names = |components, third_distinct| Names { components, third_distinct };
        let plain = Workload { link: Link::Unix, names: names(4, false), pending: 0 };
        assert_eq!(workload("unix/4"), plain);
        assert_eq!(workload("udp/4"), Workload { link: Link::Udp, ..plain });
        assert_eq!(workload("netns/4"), Workload { link: Link::Netns, ..plain });
        let third = workload("unix/11/third-distinct");
        assert_eq!((third.names, third.names.varied()), (names(11, true), 2));
        assert_eq!(third.names.to_string(), "11/third-distinct");
        let pending = workload("unix/11/pending-200k");
        assert_eq!((pending.pending, pending.names.varied()), (200_000, 10));
        assert_eq!(workload("unix/11/pending-50").pending, 50);
    }

    #[test]
    fn refuses_other_ids_and_says_what_there_is() {
        for id in [
            "",
            "unix",
            "tcp/4",
            "unix/2",
            "unix/21",
            "unix/x",
            "unix/4/none",
            "unix/4/pending-0",
            "unix/4/pending-999999999999999999999k",
            "unix/4/pending-401k",
            "unix/4/third-distinct/more",
        ] {
            let error = id.parse::<Workload>().unwrap_err().to_string();
            assert!(error.contains("unix/11/third-distinct"), "{error}");
        }
    }
}
