//! Workloads by their ids: a kind of table, a number of entries, and the names that are looked up.

use super::paths::Depth;
use hashlane_lab::study::RunError;

/// Entries of the largest table.
const MOST: usize = 20_000_000;

/// Components of the longest generated name.
const DEEPEST: usize = 64;

/// A kind of table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `hosts`: suffix rules.
    Hosts,
    /// `deep`: suffix rules, and others with every number of labels.
    Deep,
    /// `chosen`: suffix rules, and others that collide under FxHash.
    Chosen,
    /// `paths` and `paths-11`: prefixes of hierarchical names.
    Paths(Depth),
    /// `backtrack`: prefixes, and others with many components.
    Backtrack,
}

/// The names that are looked up, or what else is timed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Operation {
    /// `hit-1`: names so many labels below a rule; `hit`: names with a prefix in the table.
    Hit(usize),
    /// `miss`: names that match nothing; of the hostile kinds, as deep as the hostile ones.
    Miss,
    /// `zipf-0.8`: names drawn by Zipf's law with this exponent. Of host names, 1 in 10 matches.
    Zipf(f64),
    /// `hostile`: names that match nothing, chosen to cost the most.
    Hostile,
    /// `reload`: names one label below a rule, while another thread builds the table of all rules again.
    Reload,
    /// `update`: removals and insertions.
    Update,
}

/// A workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Workload {
    pub(crate) kind: Kind,
    /// Entries of the table.
    pub(crate) entries: usize,
    pub(crate) operation: Operation,
}

impl Kind {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "hosts" => Some(Self::Hosts),
            "deep" => Some(Self::Deep),
            "chosen" => Some(Self::Chosen),
            "paths" => Some(Self::Paths(Depth::Mixed)),
            "backtrack" => Some(Self::Backtrack),
            _ => {
                let count = text.strip_prefix("paths-")?.parse().ok()?;
                (2..=DEEPEST).contains(&count).then_some(Self::Paths(Depth::Fixed(count)))
            }
        }
    }

    /// `true` for suffix rules of domain names.
    pub(crate) fn is_suffixes(self) -> bool {
        matches!(self, Self::Hosts | Self::Deep | Self::Chosen)
    }

    fn has(self, operation: Operation) -> bool {
        match self {
            Self::Hosts => !matches!(operation, Operation::Hostile | Operation::Update),
            Self::Paths(_) => {
                !matches!(operation, Operation::Hostile | Operation::Reload | Operation::Hit(1..))
            }
            _ => matches!(operation, Operation::Miss | Operation::Hostile),
        }
    }
}

impl Operation {
    fn parse(text: &str) -> Option<Self> {
        match text {
            "hit" => Some(Self::Hit(0)),
            "miss" => Some(Self::Miss),
            "hostile" => Some(Self::Hostile),
            "reload" => Some(Self::Reload),
            "update" => Some(Self::Update),
            _ => match text.strip_prefix("hit-") {
                Some(below) => below.parse().ok().filter(|below| *below < 10).map(Self::Hit),
                None => {
                    let exponent = text.strip_prefix("zipf-")?.parse().ok();
                    exponent.filter(|exponent| (0.0..=2.0).contains(exponent)).map(Self::Zipf)
                }
            },
        }
    }
}

/// A number such as 10k or 2M, of thousands or millions.
fn entries(text: &str) -> Option<usize> {
    let (digits, unit) = match (text.strip_suffix('k'), text.strip_suffix('M')) {
        (Some(digits), _) => (digits, 1000),
        (_, Some(digits)) => (digits, 1_000_000),
        _ => (text, 1),
    };
    let count = digits.parse::<usize>().ok()?.checked_mul(unit)?;
    (100..=MOST).contains(&count).then_some(count)
}

/// Reads the id of a workload, such as `hosts/1M/miss`.
///
/// # Errors
/// It is no workload; the message has their form.
pub(crate) fn parse(id: &str) -> Result<Workload, RunError> {
    let unknown = || {
        RunError::UnknownWorkload(format!(
            "no workload {id:?}: a workload is <kind>/<entries>/<names>; kinds: hosts with hit-0 to hit-9, \
             miss, zipf-<exponent>, reload; deep, chosen and backtrack with miss and hostile; paths and \
             paths-<components> with hit, miss, zipf-<exponent> and update; entries: 100 to 20M"
        ))
    };
    let mut parts = id.splitn(3, '/');
    let mut part = || parts.next().unwrap_or_default();
    let (kind, count, operation) = (Kind::parse(part()), entries(part()), Operation::parse(part()));
    match (kind, count, operation) {
        (Some(kind), Some(entries), Some(operation)) if kind.has(operation) => {
            Ok(Workload { kind, entries, operation })
        }
        _ => Err(unknown()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_kinds_sizes_and_operations() {
        let read = |id| parse(id).ok().map(|workload| (workload.kind, workload.entries, workload.operation));
        assert_eq!(read("hosts/10k/hit-3"), Some((Kind::Hosts, 10_000, Operation::Hit(3))));
        assert_eq!(read("hosts/2M/zipf-0.8"), Some((Kind::Hosts, 2_000_000, Operation::Zipf(0.8))));
        assert_eq!(read("paths/500/hit"), Some((Kind::Paths(Depth::Mixed), 500, Operation::Hit(0))));
        let eleven = Kind::Paths(Depth::Fixed(11));
        assert_eq!(read("paths-11/1M/update"), Some((eleven, 1_000_000, Operation::Update)));
        assert_eq!(read("backtrack/1M/hostile"), Some((Kind::Backtrack, 1_000_000, Operation::Hostile)));
        for id in [
            "",
            "hosts",
            "hosts/1M",
            "hosts/1M/",
            "hosts/1M/update",
            "hosts/99/miss",
            "hosts/21M/miss",
            "hosts/99999999999999999M/miss",
            "hosts/1M/zipf-nan",
            "paths/1M/hit-1",
            "paths/1M/reload",
            "paths-1/1M/hit",
            "deep/1M/hit",
        ] {
            assert!(parse(id).is_err(), "{id}");
        }
    }
}
