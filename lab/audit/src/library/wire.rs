//! Messages between this process and the one that has loaded a library.
//!
//! A message is the number of its request, the length of its body, both as 32 bits, and the body. All numbers
//! are little-endian. The library can write to every descriptor of its process, so a reply is outside data.

use super::measure::Sample;
use crate::keys::Keys;
use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;

/// Longest body in bytes.
pub(super) const LONGEST_BODY: usize = 32 << 20;

/// Length of the head of a message in bytes.
pub(super) const HEAD: usize = 8;

/// The head of a message: number of its request, and length of the body.
pub(super) fn head(number: u32, body: &[u8]) -> [u8; HEAD] {
    debug_assert!(body.len() <= LONGEST_BODY, "keys are sent in batches");
    let mut head = [0; HEAD];
    let (first, second) = head.split_at_mut(4);
    first.copy_from_slice(&number.to_le_bytes());
    second.copy_from_slice(&(body.len() as u32).to_le_bytes());
    head
}

/// Number and length of the body. `None` if the body is too long.
pub(super) fn parse_head(head: [u8; HEAD]) -> Option<(u32, usize)> {
    let [a, b, c, d, e, f, g, h] = head;
    let len = u32::from_le_bytes([e, f, g, h]) as usize;
    (len <= LONGEST_BODY).then_some((u32::from_le_bytes([a, b, c, d]), len))
}

/// Arguments that lie at the end of readable memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Guard {
    Nothing,
    /// Each key.
    Keys,
    /// The seed.
    Seed,
}

/// Request to the process with the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Request {
    /// Loads a hash function. `parent` is the process id of the sender.
    LoadHash { parent: u32, path: PathBuf, symbol: String, signature: String },
    /// Loads a table. `parent` is the process id of the sender.
    LoadTable { parent: u32, path: PathBuf },
    /// Hashes keys.
    Hash { seed: [u8; 16], guard: Guard, keys: Keys },
    /// Hashes keys under each seed.
    HashUnderAll { seeds: Vec<[u8; 16]>, keys: Keys },
    /// Appends keys for the next measurement.
    Keys(Keys),
    /// Inserts the keys into a new table and looks them up, `batch` at a time; then forgets them.
    Measure { seed: [u8; 16], capacity: u64, batch: u64 },
}

/// Reply of the process with the library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// Done.
    Ready,
    /// Not possible: the reason.
    Refused(String),
    /// One hash for each key.
    Hashes(Vec<u64>),
    /// Times and counts of one batch of a measurement.
    Sample(Sample),
}

impl Request {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        match self {
            Self::LoadHash { parent, path, symbol, signature } => {
                body.push(0);
                body.extend(parent.to_le_bytes());
                put_bytes(&mut body, path.as_os_str().as_bytes());
                put_bytes(&mut body, symbol.as_bytes());
                put_bytes(&mut body, signature.as_bytes());
            }
            Self::LoadTable { parent, path } => {
                body.push(1);
                body.extend(parent.to_le_bytes());
                put_bytes(&mut body, path.as_os_str().as_bytes());
            }
            Self::Hash { seed, guard, keys } => {
                body.push(2);
                body.extend(seed);
                body.push(*guard as u8);
                put_keys(&mut body, keys);
            }
            Self::HashUnderAll { seeds, keys } => {
                body.push(5);
                put_bytes(&mut body, seeds.as_flattened());
                put_keys(&mut body, keys);
            }
            Self::Keys(keys) => {
                body.push(3);
                put_keys(&mut body, keys);
            }
            Self::Measure { seed, capacity, batch } => {
                body.push(4);
                body.extend(seed);
                body.extend(capacity.to_le_bytes());
                body.extend(batch.to_le_bytes());
            }
        }
        body
    }

    /// `None` if the body is no valid request.
    pub(super) fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Body(body);
        let request = match body.array()? {
            [0] => Self::LoadHash {
                parent: body.u32()?,
                path: body.path()?,
                symbol: body.text()?,
                signature: body.text()?,
            },
            [1] => Self::LoadTable { parent: body.u32()?, path: body.path()? },
            [2] => Self::Hash { seed: body.array()?, guard: body.guard()?, keys: body.keys()? },
            [3] => Self::Keys(body.keys()?),
            [4] => Self::Measure { seed: body.array()?, capacity: body.u64()?, batch: body.u64()? },
            [5] => match body.bytes()?.as_chunks() {
                (seeds, []) => Self::HashUnderAll { seeds: seeds.to_vec(), keys: body.keys()? },
                _ => return None,
            },
            _ => return None,
        };
        body.0.is_empty().then_some(request)
    }
}

impl Reply {
    pub(super) fn encode(&self) -> Vec<u8> {
        let mut body = Vec::new();
        match self {
            Self::Ready => body.push(0),
            Self::Refused(why) => {
                body.push(1);
                put_bytes(&mut body, why.as_bytes());
            }
            Self::Hashes(hashes) => {
                body.push(2);
                body.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
            }
            Self::Sample(sample) => {
                body.push(3);
                for number in [
                    sample.inserted,
                    sample.refused,
                    sample.len,
                    sample.insert_ns,
                    sample.looked_up,
                    sample.found,
                    sample.lost,
                    sample.find_ns,
                ] {
                    body.extend(number.to_le_bytes());
                }
                if let Some((insert, find)) = sample.compared {
                    body.extend(insert.to_le_bytes());
                    body.extend(find.to_le_bytes());
                }
            }
        }
        body
    }

    /// `None` if the body is no valid reply.
    pub(super) fn decode(body: &[u8]) -> Option<Self> {
        let mut body = Body(body);
        let reply = match body.array()? {
            [0] => Self::Ready,
            [1] => Self::Refused(body.text()?),
            [2] => {
                let (hashes, rest) = body.0.as_chunks();
                body.0 = rest;
                Self::Hashes(hashes.iter().map(|hash| u64::from_le_bytes(*hash)).collect())
            }
            [3] => {
                let [inserted, refused, len, insert_ns, looked_up, found, lost, find_ns] = body.numbers()?;
                let compared = if body.0.is_empty() {
                    None
                } else {
                    let [insert, find] = body.numbers()?;
                    Some((insert, find))
                };
                Self::Sample(Sample {
                    inserted,
                    refused,
                    len,
                    insert_ns,
                    looked_up,
                    found,
                    lost,
                    find_ns,
                    compared,
                })
            }
            _ => return None,
        };
        body.0.is_empty().then_some(reply)
    }
}

fn put_bytes(body: &mut Vec<u8>, bytes: &[u8]) {
    body.extend((bytes.len() as u32).to_le_bytes());
    body.extend(bytes);
}

/// Number of keys, their lengths, their bytes.
fn put_keys(body: &mut Vec<u8>, keys: &Keys) {
    body.extend((keys.len() as u32).to_le_bytes());
    body.extend(keys.iter().flat_map(|key| (key.len() as u32).to_le_bytes()));
    keys.iter().for_each(|key| body.extend(key));
}

/// The rest of a body.
struct Body<'a>(&'a [u8]);

impl<'a> Body<'a> {
    fn take(&mut self, len: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        Some(bytes)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        self.take(N)?.try_into().ok()
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn numbers<const N: usize>(&mut self) -> Option<[u64; N]> {
        let mut numbers = [0; N];
        for number in &mut numbers {
            *number = self.u64()?;
        }
        Some(numbers)
    }

    fn bytes(&mut self) -> Option<&'a [u8]> {
        let len = self.u32()?;
        self.take(len as usize)
    }

    fn path(&mut self) -> Option<PathBuf> {
        Some(OsString::from_vec(self.bytes()?.to_vec()).into())
    }

    fn text(&mut self) -> Option<String> {
        Some(String::from_utf8_lossy(self.bytes()?).into_owned())
    }

    fn guard(&mut self) -> Option<Guard> {
        [Guard::Nothing, Guard::Keys, Guard::Seed].get(usize::from(u8::from_le_bytes(self.array()?))).copied()
    }

    fn keys(&mut self) -> Option<Keys> {
        let count = self.u32()? as usize;
        let (lengths, []) = self.take(count.checked_mul(4)?)?.as_chunks() else { return None };
        let mut keys = Keys::default();
        for len in lengths {
            keys.push(self.take(u32::from_le_bytes(*len) as usize)?);
        }
        Some(keys)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// A library can write anything in place of a reply.
        #[test]
        fn bodies_of_any_bytes_are_refused_or_written_the_same_again(
            kind in 0..6u8,
            mut body in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            body.insert(0, kind);
            match Reply::decode(&body) {
                // Bytes that are no text are replaced.
                None | Some(Reply::Refused(_)) => {}
                Some(reply) => prop_assert_eq!(reply.encode(), body.clone()),
            }
            if let Some(Request::Keys(keys)) = Request::decode(&body) {
                prop_assert_eq!(Request::Keys(keys).encode(), body);
            }
        }
    }

    fn requests() -> Vec<Request> {
        let keys: Keys = ["a", "", "bcd"].into_iter().collect();
        let path = PathBuf::from(OsString::from_vec(b"/x/\xff.so".to_vec()));
        vec![
            Request::LoadHash {
                parent: 7,
                path: path.clone(),
                symbol: "f".into(),
                signature: "u64(void*)".into(),
            },
            Request::LoadTable { parent: 7, path },
            Request::Hash { seed: [3; 16], guard: Guard::Nothing, keys: keys.clone() },
            Request::HashUnderAll { seeds: vec![[3; 16], [4; 16]], keys: keys.clone() },
            Request::Hash { seed: [3; 16], guard: Guard::Keys, keys: keys.clone() },
            Request::Hash { seed: [3; 16], guard: Guard::Seed, keys: keys.clone() },
            Request::Keys(keys),
            Request::Measure { seed: [4; 16], capacity: 5, batch: 6 },
        ]
    }

    fn replies() -> Vec<Reply> {
        let sample = Sample {
            inserted: 1,
            refused: 2,
            len: 3,
            insert_ns: 4,
            looked_up: 5,
            found: 6,
            lost: 7,
            find_ns: 8,
            compared: None,
        };
        vec![
            Reply::Ready,
            Reply::Refused("no".into()),
            Reply::Hashes(vec![1, u64::MAX]),
            Reply::Hashes(vec![]),
            Reply::Sample(sample.clone()),
            Reply::Sample(Sample { compared: Some((9, 10)), ..sample }),
        ]
    }

    #[test]
    fn messages_are_read_as_they_were_written() {
        for request in requests() {
            assert_eq!(Request::decode(&request.encode()), Some(request));
        }
        for reply in replies() {
            assert_eq!(Reply::decode(&reply.encode()), Some(reply));
        }
        assert_eq!(parse_head(head(9, b"abc")), Some((9, 3)));
        assert_eq!(parse_head([255; HEAD]), None);
    }

    #[test]
    fn bodies_that_are_cut_or_continued_are_refused() {
        let bodies = requests().iter().map(Request::encode).collect::<Vec<_>>();
        for body in bodies {
            for end in 0..body.len() {
                assert_eq!(Request::decode(&body[..end]), None);
            }
            assert_eq!(Request::decode(&[&body[..], b"x"].concat()), None);
        }
        for reply in replies() {
            assert_eq!(Reply::decode(&[&reply.encode()[..], b"x"].concat()), None);
        }
        assert_eq!(Reply::decode(&[]), None);
        assert_eq!(Reply::decode(&[9]), None);
        // More keys than the body could hold.
        let mut body = vec![3];
        body.extend(u32::MAX.to_le_bytes());
        assert_eq!(Request::decode(&body), None);
    }
}
