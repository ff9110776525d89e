//! Memory for a file that claims more than it has. Alone in its process, as it looks at the memory of it.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_hash::scheme::Key;
use hashlane_name::dns::text;
use hashlane_transfer::disk::{DiskError, load};

/// Bytes of address space that this process has had at most.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPeak:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() << 10
}

#[test]
fn a_frame_that_claims_a_gibibyte_in_a_short_file_allocates_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("zone");
    let apex = text::parse(b"example").unwrap();
    let before = peak();
    for kind in 1..=4_u32 {
        for len in [1 << 30, (1 << 30) - 1, u32::MAX, 64 << 20] {
            let file =
                [b"hashlane zone 1\n", &kind.to_le_bytes()[..], &len.to_le_bytes(), &[0; 100]].concat();
            std::fs::write(&path, file).unwrap();
            let loaded = load(&path, apex.view(), &Key::VECTOR);
            assert!(matches!(loaded, Err(DiskError::Damaged { at: 16, .. })));
        }
    }
    // The buffer of the reader has 256 KiB.
    assert!(peak() - before < 32 << 20, "{} bytes", peak() - before);
}
