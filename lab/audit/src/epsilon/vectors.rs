//! Pairs that collide for more seeds than they should, as files of TOML under `vectors/collisions`.

use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use hashlane_hash::scheme::Key;
use serde::{Deserialize, Serialize};

/// Origin of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// Its source states it.
    Published,
    /// The search of this crate, or a search by the method of the source, found it.
    Found,
}

/// Two keys that collide.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// Id of the scheme.
    pub scheme: String,
    /// Origin of the pair.
    pub origin: Origin,
    /// Thread or paper, and for a pair of our own the method.
    pub source: String,
    /// The keys.
    pub keys: [Vec<u8>; 2],
    /// A seed under which they collide.
    pub seed: Key,
    /// Binary logarithm of the share of seeds for which they collide, as stated by the source.
    pub log2_share: f64,
}

/// A pair as written.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    scheme: String,
    origin: Origin,
    source: String,
    a: String,
    b: String,
    seed: String,
    log2_share: f64,
}

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("../../collisions/", $name, ".toml")))),*]
    };
}

/// Names and texts of the committed files.
const FILES: &[(&str, &str)] =
    &files!["ahash-aes", "foldhash", "komihash", "museair", "museair-bfast", "xxh3"];

/// A file that holds no pair.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PairError {
    /// It is not TOML, or has other keys than it may have.
    #[error("{}", .0.to_string().trim_end())]
    Toml(Box<toml::de::Error>),
    /// The value of this key is not bytes in hexadecimal digits, or has another length than it may have.
    #[error("`{0}` must be bytes in hexadecimal digits (16 bytes for `seed`)")]
    Bytes(&'static str),
    /// The share is no share.
    #[error("`log2-share` must be at most 0, the logarithm of all seeds; it is {0}")]
    Share(f64),
}

impl Pair {
    /// The pair of a file's text.
    ///
    /// # Errors
    /// The text is no TOML of the form of [`Pair::to_text`].
    pub fn parse(text: &str) -> Result<Self, PairError> {
        let file: File = toml::from_str(text).map_err(|error| PairError::Toml(Box::new(error)))?;
        let bytes = |key, text: &str| bytes(text).ok_or(PairError::Bytes(key));
        if !file.log2_share.is_finite() || file.log2_share > 0.0 {
            return Err(PairError::Share(file.log2_share));
        }
        let seed = bytes("seed", &file.seed)?.try_into().map_err(|_| PairError::Bytes("seed"))?;
        Ok(Self {
            keys: [bytes("a", &file.a)?, bytes("b", &file.b)?],
            scheme: file.scheme,
            origin: file.origin,
            source: file.source,
            seed: Key::new(seed),
            log2_share: file.log2_share,
        })
    }

    /// The text of a file of this pair.
    ///
    /// # Errors
    /// Its values cannot be written as TOML.
    pub fn to_text(&self) -> Result<String, toml::ser::Error> {
        let [a, b] = self.keys.each_ref().map(|key| hex(key));
        toml::to_string(&File {
            scheme: self.scheme.clone(),
            origin: self.origin,
            source: self.source.clone(),
            a,
            b,
            seed: hex(&self.seed.to_bytes()),
            log2_share: self.log2_share,
        })
    }
}

/// The committed pairs.
///
/// # Errors
/// A file of the build is damaged: its name, and the damage.
pub fn committed() -> Result<Vec<Pair>, (&'static str, PairError)> {
    FILES.iter().map(|(name, text)| Pair::parse(text).map_err(|error| (*name, error))).collect()
}

/// Two hexadecimal digits for each byte.
pub fn hex(bytes: &[u8]) -> String {
    HEXLOWER.encode(bytes)
}

fn bytes(text: &str) -> Option<Vec<u8>> {
    HEXLOWER_PERMISSIVE.decode(text.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::Draw;
    use crate::epsilon;
    use crate::registered;
    use crate::subject::AuditedHash;

    #[test]
    fn every_committed_pair_collides_under_its_seed_and_as_often_as_stated() {
        let mut subjects = registered::subjects();
        for pair in committed().unwrap() {
            let subject = subjects.iter_mut().find(|subject| subject.info().id == pair.scheme).unwrap();
            let keys = pair.keys.iter().collect();
            let mut hashes = Vec::new();
            subject.hash_all(&pair.seed, &keys, &mut hashes).unwrap();
            assert!(matches!(hashes[..], [a, b] if a == b), "{}: {hashes:x?}", pair.scheme);
            assert_ne!(pair.keys[0], pair.keys[1]);
            if pair.log2_share > -13.0 {
                let share = epsilon::measure(subject, &pair.keys, 1 << 18, &mut Draw::new(5)).unwrap();
                let stated = pair.log2_share.exp2();
                assert!(share.low < 1.1 * stated && 0.9 * stated < share.high, "{}: {share:?}", pair.scheme);
            }
        }
    }

    #[test]
    fn files_are_read_as_they_are_written() {
        for pair in committed().unwrap() {
            assert_eq!(Pair::parse(&pair.to_text().unwrap()).unwrap(), pair);
        }
        let error = |text: &str| Pair::parse(text).unwrap_err().to_string();
        let text = committed().unwrap()[0].to_text().unwrap();
        assert!(error(&text.replace("seed = \"", "seed = \"00")).contains("16 bytes"));
        assert!(error(&text.replace("a = \"", "a = \"0x")).contains("`a`"));
        for share in ["nan", "-inf", "1.5"] {
            let (before, _) = text.split_once("log2-share").unwrap();
            assert!(error(&format!("{before}log2-share = {share}")).contains("at most 0"), "{share}");
        }
        assert!(error("scheme = 3").contains("scheme"));
    }
}
