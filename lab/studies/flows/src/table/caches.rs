//! Sizes of the machine's caches, as facts beside the figures that depend on them.

use hashlane_lab::study::{Fact, Session};
use std::fs;
use std::path::Path;

/// Model and workload of the sizes; the scheme is the cache, `L2` or `L3`.
const CACHES: &str = "caches";

const BYTES: &str = "bytes";

/// Caches of the first processor as Linux lists them.
const LISTED: &str = "/sys/devices/system/cpu/cpu0/cache";

/// Adds the sizes of the second and third level, where the system states them.
pub(super) fn add(session: &mut Session<'_>) {
    for level in [2, 3] {
        if let Some(bytes) = size(Path::new(LISTED), level) {
            let fact = Fact::exact(bytes as f64, 1);
            session.add(CACHES, CACHES, &format!("L{level}"), "sysfs", BYTES, BYTES, fact);
        }
    }
}

/// Bytes of the cache of this level in a listing.
fn size(listed: &Path, level: u32) -> Option<u64> {
    let indices = fs::read_dir(listed).ok()?.filter_map(Result::ok);
    let of = |folder: &Path, file: &str| Some(fs::read_to_string(folder.join(file)).ok()?.trim().to_owned());
    let of_level = |folder: &Path| {
        (of(folder, "level")? == level.to_string() && of(folder, "type")? != "Instruction").then_some(())?;
        parse(&of(folder, "size")?)
    };
    indices.map(|index| index.path()).find_map(|folder| of_level(&folder))
}

/// Parses `1024K`.
fn parse(size: &str) -> Option<u64> {
    let (digits, unit) = match size.find(|c: char| !c.is_ascii_digit()) {
        Some(at) => size.split_at(at),
        None => (size, ""),
    };
    let unit = match unit {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_sizes_as_the_system_lists_them() {
        assert_eq!(["1024K", "32M", "512"].map(parse), [Some(1 << 20), Some(32 << 20), Some(512)]);
        assert_eq!(["", "K", "1T", "99999999999999999999K"].map(parse), [None; 4]);
        assert_eq!(size(Path::new("no/such/folder"), 2), None);
    }
}
