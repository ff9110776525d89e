//! Results that SMHasher3 publishes, of functions that are known to be the same.
//!
//! A row is here if the verification value that its page states is the one that the tests of `hashlane-peers`
//! compute of our function.
//!
//! Source: Frank J. T. Wojcik, SMHasher3 (github.com/fwojcik/smhasher3), `results/raw` at 7ad8939d, November
//! 2025, CC BY 4.0.

use serde::{Serialize, Serializer};

/// Published result of a function.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Published {
    /// Id of our scheme.
    #[serde(skip)]
    pub id: &'static str,
    /// Name in SMHasher3.
    pub name: &'static str,
    /// Verification value that its page states.
    pub verification: u32,
    /// Tests passed.
    pub passed: u32,
    /// Tests run.
    pub tests: u32,
    /// Groups of tests with at least one failure, with blanks between them.
    #[serde(serialize_with = "list")]
    pub failed: &'static str,
}

/// Writes words as a list.
fn list<S: Serializer>(words: &str, to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(words.split_ascii_whitespace())
}

/// The published result of a scheme.
pub fn published(id: &str) -> Option<&'static Published> {
    PUBLISHED.iter().find(|published| published.id == id)
}

impl Published {
    /// Text of a cell.
    pub fn text(&self) -> String {
        match self.failed {
            "" => format!("{} of {} passed", self.passed, self.tests),
            failed => {
                format!("{} of {} passed; failed: {}", self.passed, self.tests, failed.replace(' ', ", "))
            }
        }
    }
}

const fn row(
    id: &'static str,
    name: &'static str,
    verification: u32,
    (passed, tests): (u32, u32),
    failed: &'static str,
) -> Published {
    Published { id, name, verification, passed, tests, failed }
}

const PUBLISHED: [Published; 21] = [
    row(
        "xxh32",
        "XXH-32",
        0x6fd7_8385,
        (167, 250),
        "BIC Zeroes Cyclic Sparse Permutation Text TwoBytes PerlinNoise Bitflip SeedZeroes \
         SeedSparse SeedBlockLen SeedBlockOffset SeedBIC SeedBitflip",
    ),
    row("xxh64", "XXH-64", 0x8f82_24c4, (241, 250), "SeedBlockLen SeedBlockOffset SeedBIC"),
    row("wyhash", "wyhash", 0x9dae_7dd3, (235, 250), "Zeroes Permutation SeedZeroes"),
    row("rapidhash", "rapidhash", 0x1fdc_65ee, (250, 250), ""),
    row("rapidhash-micro", "rapidhash-micro", 0x6f18_3d61, (250, 250), ""),
    row("rapidhash-nano", "rapidhash-nano", 0x2c20_0dc7, (250, 250), ""),
    row("gxhash", "gxhash-64", 0x48f8_4240, (226, 250), "Sparse TwoBytes SeedZeroes SeedSparse Seed"),
    row("museair-v0.3", "MuseAir", 0xf89f_1683, (250, 250), ""),
    row("komihash", "komihash", 0x8157_ff6d, (250, 250), ""),
    row("a5hash", "a5hash", 0xadde_79b3, (250, 250), ""),
    row("a5hash128-low", "a5hash-128.64", 0x14ad_402c, (250, 250), ""),
    row(
        "murmurhash2-32",
        "MurmurHash2-32",
        0x2786_4c1e,
        (77, 250),
        "Avalanche BIC Zeroes Cyclic Sparse Permutation Text TwoBytes PerlinNoise Bitflip \
         SeedZeroes SeedSparse SeedBlockLen SeedBlockOffset Seed SeedAvalanche SeedBIC \
         SeedBitflip",
    ),
    row(
        "murmurhash2-64a",
        "MurmurHash2-64",
        0x1f0d_3804,
        (149, 250),
        "Avalanche BIC Sparse Permutation Text TwoBytes PerlinNoise Bitflip SeedZeroes SeedSparse \
         SeedBlockOffset Seed SeedAvalanche SeedBIC SeedBitflip",
    ),
    row(
        "murmurhash3-x86-32",
        "MurmurHash3-32",
        0xb0f5_7ee3,
        (168, 250),
        "BIC Zeroes Sparse Permutation Text PerlinNoise SeedZeroes SeedSparse SeedBlockLen \
         SeedBlockOffset Seed SeedBIC SeedBitflip",
    ),
    row(
        "cityhash64-seed",
        "CityHash-64",
        0x5fab_c5c5,
        (205, 250),
        "SeedZeroes SeedSparse Seed SeedAvalanche SeedBIC SeedBitflip",
    ),
    row(
        "farmhash64-na-seed",
        "FarmHash-64.NA",
        0xebc4_a679,
        (205, 250),
        "SeedZeroes SeedSparse Seed SeedAvalanche SeedBIC SeedBitflip",
    ),
    row(
        "t1ha1-le",
        "t1ha1",
        0xd683_6381,
        (185, 250),
        "Avalanche BIC Permutation TwoBytes PerlinNoise SeedZeroes SeedSparse SeedBlockOffset \
         Seed SeedAvalanche SeedBIC SeedBitflip",
    ),
    row("t1ha2-atonce", "t1ha2-64", 0x8f16_c948, (247, 250), "SeedBlockOffset"),
    row(
        "metrohash64",
        "MetroHash-64",
        0x6fa8_28c9,
        (221, 250),
        "BIC Sparse SeedBlockLen SeedBlockOffset SeedAvalanche SeedBIC SeedBitflip",
    ),
    row(
        "rustc-hash",
        "rust-fxhash64",
        0x8f17_7350,
        (85, 250),
        "Avalanche BIC Zeroes Sparse Permutation Text TwoBytes PerlinNoise Bitflip SeedZeroes \
         SeedSparse SeedBlockLen SeedBlockOffset Seed SeedAvalanche SeedBIC SeedBitflip",
    ),
    row(
        "fnv-1a-offset",
        "FNV-1a-64",
        0x1034_55fc,
        (5, 235),
        "Avalanche BIC Zeroes Cyclic Sparse Permutation Text TwoBytes PerlinNoise Bitflip \
         SeedZeroes SeedSparse SeedBlockLen SeedBlockOffset Seed SeedAvalanche SeedBIC \
         SeedBitflip",
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registered;
    use crate::subject::AuditedHash as _;

    #[test]
    fn rows_are_of_registered_schemes_and_add_up() {
        let subjects = registered::subjects();
        for row in &PUBLISHED {
            assert!(subjects.iter().any(|subject| subject.info().id == row.id), "{}", row.id);
            assert_eq!(row.failed.is_empty(), row.passed == row.tests, "{}", row.id);
        }
        assert_eq!(published("siphash-2-4"), None);
    }
}
