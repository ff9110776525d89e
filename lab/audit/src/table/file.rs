//! Geometries in files of TOML.

use super::{Geometry, Index, MAX_BUCKETS, MAX_SEED_BITS, Resolution};
use serde::Deserialize;

/// A geometry as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    kind: FileKind,
    buckets: usize,
    #[serde(default)]
    growth: Growth,
    load: Option<f64>,
    #[serde(default = "mask")]
    index: Index,
    #[serde(default = "sixty_four")]
    hash_bits: u32,
    #[serde(default)]
    compare: Compare,
    tag: Option<Tag>,
    #[serde(default = "all_bits")]
    seed_bits: u32,
}

#[derive(Clone, Copy, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum FileKind {
    Chained,
    Linear,
    Swiss,
}

#[derive(Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Growth {
    #[default]
    Double,
    None,
}

#[derive(Default, PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Compare {
    #[default]
    Key,
    Hash,
}

#[derive(PartialEq, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Tag {
    Upper,
    Lower,
}

fn mask() -> Index {
    Index::Mask
}

fn all_bits() -> u32 {
    MAX_SEED_BITS
}

fn sixty_four() -> u32 {
    64
}

/// A file that states no geometry.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// It is not TOML, or has other keys or values than it may have.
    #[error("{}", .0.to_string().trim_end())]
    Toml(Box<toml::de::Error>),
    /// A value is out of its range: the key, and its range.
    #[error("`{0}` must be {1}")]
    Range(&'static str, String),
    /// A key that tables of this kind have not.
    #[error("`{0}` is for tables of kind \"{1}\" alone: leave it out")]
    OtherKind(&'static str, &'static str),
}

impl Geometry {
    /// Geometry of a file's text. Its keys:
    ///
    /// - `kind`: `chained`, `linear` or `swiss`;
    /// - `buckets`: number of buckets or slots of the empty table;
    /// - `growth`: `double` (the default) or `none`;
    /// - `load`: entries for each bucket at which the table doubles; 1 if not given, 0.5 for `linear`,
    ///   0.875 for `swiss`;
    /// - `index`: bits that choose the bucket: `mask` (the default), `modulo`, `upper` or `multiply-shift`;
    /// - `hash-bits`: 64 (the default) or 32, the lowest bits of the hash;
    /// - `compare`: `key` (the default), or `hash` if entries hold their hashes, which are compared first;
    /// - `tag`, of `swiss` alone: `upper` (the default, hashbrown) or `lower` (Abseil);
    /// - `seed-bits`: bits of the seed that an outsider does not know: 128 (the default), fewer if it comes
    ///   from a clock or a process id, 0 if it is fixed.
    ///
    /// # Errors
    /// The text is no TOML of this form, or a value is out of its range.
    pub fn parse(name: &str, text: &str) -> Result<Self, FileError> {
        let file: File = toml::from_str(text).map_err(|error| FileError::Toml(Box::new(error)))?;
        if !(1..=MAX_BUCKETS).contains(&file.buckets) {
            return Err(FileError::Range("buckets", format!("from 1 to {MAX_BUCKETS}")));
        }
        let swiss = file.kind == FileKind::Swiss;
        if file.tag.is_some() && !swiss {
            return Err(FileError::OtherKind("tag", "swiss"));
        }
        if (file.index.needs_power_of_two() || swiss) && !file.buckets.is_power_of_two() {
            return Err(FileError::Range(
                "buckets",
                "a power of two, or `index` must be \"modulo\"".to_owned(),
            ));
        }
        if !matches!(file.hash_bits, 32 | 64) {
            return Err(FileError::Range("hash-bits", "32 or 64".to_owned()));
        }
        if file.seed_bits > MAX_SEED_BITS {
            return Err(FileError::Range("seed-bits", format!("from 0 to {MAX_SEED_BITS}")));
        }
        let (usual, most) = match file.kind {
            FileKind::Chained => (1.0, 1024.0),
            FileKind::Linear => (0.5, 0.95),
            FileKind::Swiss => (0.875, 0.95),
        };
        let load = file.load.unwrap_or(usual);
        if !(0.01..=most).contains(&load) {
            return Err(FileError::Range("load", format!("from 0.01 to {most} for this kind")));
        }
        Ok(Self {
            name: name.to_owned(),
            kind: match file.kind {
                FileKind::Chained => Resolution::Chained,
                FileKind::Linear => Resolution::Linear,
                FileKind::Swiss => Resolution::Swiss { upper_tag: file.tag != Some(Tag::Lower) },
            },
            buckets: file.buckets,
            grows_at: (file.growth == Growth::Double).then_some(load),
            index: file.index,
            hash_bits: file.hash_bits,
            stores_hash: file.compare == Compare::Hash,
            seed_bits: file.seed_bits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_states_each_part_of_a_geometry() {
        let text = "kind = \"chained\"\nbuckets = 1009\ngrowth = \"none\"\nindex = \"modulo\"\n\
                    hash-bits = 32\ncompare = \"hash\"\n";
        let geometry = Geometry::parse("mine", text).unwrap();
        assert_eq!((geometry.buckets, geometry.grows_at, geometry.index), (1009, None, Index::Modulo));
        assert!(geometry.stores_hash && geometry.hash_bits == 32 && geometry.kind == Resolution::Chained);
        let swiss = Geometry::parse("mine", "kind = \"swiss\"\nbuckets = 16\ntag = \"lower\"").unwrap();
        assert_eq!((swiss.kind, swiss.grows_at), (Resolution::Swiss { upper_tag: false }, Some(0.875)));
    }

    #[test]
    fn errors_name_the_key_and_its_range() {
        let error = |text: &str| Geometry::parse("mine", text).unwrap_err().to_string();
        assert!(error("kind = \"chained\"\nbuckets = 0").contains("`buckets` must be from 1"));
        assert!(error("kind = \"chained\"\nbuckets = 12").contains("power of two"));
        assert!(error("kind = \"swiss\"\nbuckets = 12\nindex = \"modulo\"").contains("power of two"));
        assert!(error("kind = \"linear\"\nbuckets = 16\nload = 1.0").contains("from 0.01 to 0.95"));
        assert!(error("kind = \"chained\"\nbuckets = 16\nload = nan").contains("`load`"));
        assert!(error("kind = \"cuckoo\"\nbuckets = 16").contains("cuckoo"));
        assert!(error("kind = \"linear\"\nbuckets = 16\nsize = 3").contains("size"));
        assert!(error("kind = \"linear\"\nbuckets = 16\nhash-bits = 8").contains("32 or 64"));
        for kind in ["chained", "linear"] {
            let tagged = error(&format!("kind = \"{kind}\"\nbuckets = 16\ntag = \"upper\""));
            assert!(tagged.contains("`tag` is for tables of kind \"swiss\" alone"), "{tagged}");
        }
        assert!(error("kind = \"linear\"\nbuckets = 16\nseed-bits = 129").contains("from 0 to 128"));
    }
}
