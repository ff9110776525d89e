//! FIBs of all nodes, as nfdc prints them, with faces named by their remote URIs.

use super::node::Node;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// Next hops of each prefix: remote URI and cost. Without the node's own applications.
pub(super) type Fib = BTreeMap<String, BTreeSet<(String, u64)>>;

/// Interval between two reads of all FIBs.
const INTERVAL: Duration = Duration::from_secs(2);

/// Exit code of nfdc if no face matches a filter.
const NO_FACE: i32 = 3;

/// Reads the FIB of a node.
///
/// # Errors
/// nfdc failed.
pub(super) fn read(node: &Node<'_>) -> Result<Fib, String> {
    Ok(parse(&udp_faces(node)?, &node.output(&["nfdc", "fib", "list"])?))
}

/// Reads the remote URIs of the UDP faces of a node.
///
/// # Errors
/// nfdc failed.
pub(super) fn read_remotes(node: &Node<'_>) -> Result<BTreeSet<String>, String> {
    Ok(remotes(&udp_faces(node)?).into_values().collect())
}

/// UDP faces as nfdc lists them; empty if there are none.
fn udp_faces(node: &Node<'_>) -> Result<String, String> {
    node.output_or_nothing(&["nfdc", "face", "list", "scheme", "udp4"], NO_FACE)
}

/// FIBs of all nodes, in order.
///
/// # Errors
/// nfdc failed.
pub(super) fn read_all(nodes: &[Node<'_>]) -> Result<Vec<Fib>, String> {
    nodes.iter().map(read).collect()
}

/// Remote URIs in a list of faces, by the id.
fn remotes(faces: &str) -> BTreeMap<String, String> {
    let word = |line: &str, key: &str| {
        line.split_whitespace().find_map(|word| word.strip_prefix(key).map(str::to_owned))
    };
    faces.lines().filter_map(|line| Some((word(line, "faceid=")?, word(line, "remote=")?))).collect()
}

fn parse(faces: &str, fib: &str) -> Fib {
    let remotes = remotes(faces);
    let mut entries = Fib::new();
    for line in fib.lines() {
        let Some((prefix, hops)) = line.trim().split_once(" nexthops={") else { continue };
        for hop in hops.split("faceid=").skip(1) {
            let number = |text: &str| text.chars().take_while(char::is_ascii_digit).collect::<String>();
            let cost = hop.split_once("cost=").and_then(|(_, cost)| number(cost).parse().ok());
            if let (Some(remote), Some(cost)) = (remotes.get(&number(hop)), cost) {
                entries.entry(prefix.to_owned()).or_default().insert((remote.clone(), cost));
            }
        }
    }
    entries
}

/// FIBs that no longer change, and the time of their last change.
#[derive(Clone, Debug)]
pub(super) struct Settled {
    /// Seconds from the start to the last change, or to the first read if nothing has changed since.
    pub(super) seconds: f64,
    pub(super) fibs: Vec<Fib>,
}

/// Reads all FIBs again and again, until `enough` holds and nothing has changed for `quiet`.
///
/// # Errors
/// nfdc failed, or `limit` has passed; `enough` then says what is missing.
pub(super) fn settle(
    nodes: &[Node<'_>],
    start: Instant,
    quiet: Duration,
    limit: Duration,
    enough: impl Fn(&[Fib]) -> Result<(), String>,
) -> Result<Settled, String> {
    let mut fibs = read_all(nodes)?;
    let mut changed = Instant::now();
    loop {
        std::thread::sleep(INTERVAL);
        let now = Instant::now();
        let next = read_all(nodes)?;
        if next != fibs {
            fibs = next;
            changed = now;
        }
        let missing = enough(&fibs);
        if missing.is_ok() && changed.elapsed() >= quiet {
            return Ok(Settled { seconds: changed.duration_since(start).as_secs_f64(), fibs });
        }
        if start.elapsed() > limit {
            let why = missing.err().unwrap_or_else(|| "FIBs still change".to_owned());
            return Err(format!("after {} s: {why}", limit.as_secs()));
        }
    }
}

/// The first difference between two sets of FIBs.
pub(super) fn difference(theirs: &[Fib], ours: &[Fib], names: &[&str]) -> Option<String> {
    let of = |fibs: &[Fib], index: usize| fibs.get(index).cloned().unwrap_or_default();
    names.iter().enumerate().find_map(|(index, name)| {
        let (theirs, ours) = (of(theirs, index), of(ours, index));
        let prefixes: BTreeSet<&String> = theirs.keys().chain(ours.keys()).collect();
        let prefix = prefixes.into_iter().find(|prefix| theirs.get(*prefix) != ours.get(*prefix))?;
        let hops = |fib: &Fib| format!("{:?}", fib.get(prefix).cloned().unwrap_or_default());
        Some(format!("{name}, {prefix}: {} over NFD, {} over hashlane", hops(&theirs), hops(&ours)))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn next_hops_are_named_by_their_uris() {
        let faces = "faceid=261 remote=udp4://10.0.0.2:6363 local=udp4://10.0.0.1:6363\n";
        let fib =
            "  /a nexthops={faceid=261 (cost=25), faceid=7 (cost=0)}\n  /b nexthops={faceid=7 (cost=0)}\n";
        let fib = parse(faces, fib);
        assert_eq!(fib.len(), 1, "{fib:?}");
        assert!(fib["/a"].contains(&("udp4://10.0.0.2:6363".to_owned(), 25)));
        let other = parse(faces, "/a nexthops={faceid=261 (cost=26)}");
        assert!(parse("", "/a nexthops={faceid=261 (cost=26)}").is_empty(), "no faces yet");
        let fib = [fib];
        assert!(difference(&fib, &[other], &["x"]).unwrap().starts_with("x, /a: "));
        assert_eq!(difference(&fib, &fib, &["x"]), None);
    }
}
