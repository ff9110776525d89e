//! Measurements inside the kernel, through the files of `tree/probe.h`.

use super::report::{Result, cannot};
use crate::line::Reading;
use crate::scheme::KernelScheme;
use hashlane_baseline::ehash::Secrets;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_study_flows::tuples::TupleSet;
use std::fmt::Write as _;
use std::fs;
use std::net::{Ipv6Addr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;

const FOLDER: &str = "/proc/hashlane";

/// Tuples whose hashes are compared.
const CHECKED: usize = 256;

/// Selects the tuple that the files report on.
pub(super) fn about(tuple: &Tuple) -> Result<()> {
    let mut digits = String::new();
    for byte in tuple.as_bytes() {
        // A String takes all.
        let _ = write!(digits, "{byte:02x}");
    }
    fs::write(Path::new(FOLDER).join("tuple"), digits).map_err(cannot("write a tuple to the kernel"))
}

fn read(name: &str) -> Result<String> {
    fs::read_to_string(Path::new(FOLDER).join(name)).map_err(cannot(&format!("read {FOLDER}/{name}")))
}

/// Value of the line of the file that begins with `name`.
fn value<'a>(text: &'a str, name: &str) -> Result<&'a str> {
    let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
    line.ok_or_else(|| format!("the kernel does not report {name}"))
}

fn hex<T>(text: &str, parse: fn(&str, u32) -> std::result::Result<T, std::num::ParseIntError>) -> Result<T> {
    parse(text, 16).map_err(|error| format!("the kernel reports {text:?}: {error}"))
}

/// Compares the kernel's hashes with our crates', under the kernel's secrets; returns their number.
pub(super) fn check(seed: u64) -> Result<u64> {
    let tuples = TupleSet::Random.generate(CHECKED, seed, u64::MAX).map_err(cannot("make tuples"))?;
    let mut checked = 0;
    for tuple in std::iter::once(&Tuple::CHECK).chain(&tuples) {
        about(tuple)?;
        let text = read("tuple")?;
        let id = value(&text, "scheme")?;
        let scheme: KernelScheme =
            id.parse().map_err(|_| format!("the kernel has an unknown hash {id:?}"))?;
        let expected = scheme.hash(tuple, &secrets(&text)?);
        let hash = hex(value(&text, "hash")?, u32::from_str_radix)?;
        if hash != expected {
            return Err(format!(
                "the kernel's {scheme} of {tuple:?} is {hash:#010x}, ours is {expected:#010x}"
            ));
        }
        checked += 1;
    }
    Ok(checked)
}

fn secrets(text: &str) -> Result<Secrets> {
    let word = |name| hex(value(text, name)?, u32::from_str_radix);
    let key = value(text, "key")?;
    let (low, high) = key.split_once(' ').ok_or("the kernel reports half a key")?;
    let halves = [hex(low, u64::from_str_radix)?, hex(high, u64::from_str_radix)?];
    let bytes = u128::from(halves[0]) | u128::from(halves[1]) << 64;
    Ok(Secrets {
        ehash: word("ehash")?,
        ipv6: word("ipv6")?,
        mix: word("mix")?,
        key: Key::new(bytes.to_le_bytes()),
    })
}

/// A connection, so that the lookup has one to find.
pub(super) struct Asked {
    _ends: (TcpStream, TcpStream),
    tuple: Tuple,
}

impl Asked {
    /// Over ::1.
    pub(super) fn new() -> Result<Self> {
        let failed = cannot("connect over ::1");
        let listener = TcpListener::bind((Ipv6Addr::LOCALHOST, 0)).map_err(&failed)?;
        let client = TcpStream::connect(listener.local_addr().map_err(&failed)?).map_err(&failed)?;
        let (server, _) = listener.accept().map_err(&failed)?;
        let (local, foreign) = (server.local_addr().map_err(&failed)?, server.peer_addr().map_err(&failed)?);
        let (SocketAddr::V6(local), SocketAddr::V6(foreign)) = (local, foreign) else {
            return Err("::1 is not an IPv6 address".to_owned());
        };
        let tuple = Tuple::new(*local.ip(), local.port(), *foreign.ip(), foreign.port());
        Ok(Self { _ends: (client, server), tuple })
    }

    /// Times the hash and the lookup, of a connection that is not there and of one that is.
    pub(super) fn cycles(&self, reading: &mut Reading) -> Result<()> {
        let missing = [("independent", "independent"), ("dependent", "dependent"), ("lookup", "miss")];
        let existing = [("lookup", "hit")];
        for (tuple, expected, timed) in [(&Tuple::CHECK, 0, &missing[..]), (&self.tuple, 1, &existing)] {
            about(tuple)?;
            let text = read("cycles")?;
            found(&text, expected)?;
            for (name, id) in timed {
                reading.cycles.entry((*id).to_owned()).or_default().extend(counts(value(&text, name)?)?);
            }
        }
        Ok(())
    }
}

/// Checks that the lookup found the expected socket.
fn found(text: &str, expected: u32) -> Result<()> {
    if value(text, "found")? == expected.to_string() {
        return Ok(());
    }
    Err(format!("the kernel's lookup found {}, expected {expected}", value(text, "found")?))
}

/// Counts per call, of each TOTAL/CALLS.
fn counts(line: &str) -> Result<Vec<f64>> {
    let count = |part: &str| {
        let (total, calls) = part.split_once('/')?;
        let (total, calls): (u64, u32) = (total.parse().ok()?, calls.parse().ok()?);
        (calls > 0).then(|| total as f64 / f64::from(calls))
    };
    let counts: Option<Vec<f64>> = line.split_ascii_whitespace().map(count).collect();
    counts.filter(|counts| !counts.is_empty()).ok_or_else(|| format!("the kernel reports no times: {line:?}"))
}

/// Entries of the fullest bucket, and of the table.
pub(super) fn table() -> Result<(u64, u64)> {
    let text = read("table")?;
    let number =
        |name| value(&text, name)?.parse().map_err(|error| format!("the kernel reports {name}: {error}"));
    Ok((number("longest")?, number("entries")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_the_kernel_tells() {
        let text = "scheme base\nhash 0000000a\nehash ffffffff\nipv6 00000001\nmix 00000002\n\
                    key 0706050403020100 0f0e0d0c0b0a0908\n";
        let secrets = secrets(text).unwrap();
        assert_eq!((secrets.ehash, secrets.ipv6, secrets.mix), (u32::MAX, 1, 2));
        assert_eq!(secrets.key, Key::VECTOR);
        assert_eq!(value(text, "scheme"), Ok("base"));
        assert!(value(text, "has").is_err());
        assert_eq!(counts("130/10 7/2"), Ok(vec![13.0, 3.5]));
        for bad in ["", "1", "1/0", "-1/2", "1/2 x"] {
            assert!(counts(bad).is_err(), "{bad:?}");
        }
    }
}
