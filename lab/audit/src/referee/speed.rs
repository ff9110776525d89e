//! Time of the functions, for long keys and for short ones, measured in alternation.

use crate::draw::Draw;
use crate::keys::Keys;
use crate::registered::Registered;
use crate::subject::{AuditedHash, Fault, Lengths};
use hashlane_hash::scheme::Key;
use std::hint::black_box;
use std::time::{Duration, Instant};

/// Bytes of a long key, and the number of them: together they fit into a cache of the first level.
const LONG: (usize, usize) = (4096, 4);

/// Bytes of a short key, and the number of them.
const SHORT: (usize, usize) = (8, 1024);

/// Least times of a function.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed {
    /// Nanoseconds a byte of keys of 4,096 bytes. `None` for a function that takes no such keys.
    pub ns_per_byte: Option<f64>,
    /// Nanoseconds a key of 8 bytes, among others that do not depend on each other. `None` as above.
    pub ns_of_8_bytes: Option<f64>,
}

/// Times of all functions of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Speeds {
    /// One for each function, in order.
    pub functions: Vec<Speed>,
    /// Nanoseconds of the loop over keys of 8 bytes without a hash, which all times of short keys contain.
    pub loop_ns: f64,
}

/// Measures all functions `rounds` times, one after the other in each round, so that a slow moment of the
/// machine hits all of them alike, and takes the least time of each. `tell` is called with the number of each
/// round.
///
/// # Errors
/// A function has failed.
pub fn measure(subjects: &mut [Registered], rounds: u32, tell: &mut dyn FnMut(u32)) -> Result<Speeds, Fault> {
    let mut draw = Draw::new(1);
    let key = draw.key();
    let [long, short] = [LONG, SHORT].map(|(length, count)| draw.keys(count, length));
    let mut hashes = Vec::with_capacity(SHORT.1);
    let mut least = vec![[None::<Duration>; 2]; subjects.len()];
    let mut least_loop = None;
    for round in 0..rounds {
        tell(round);
        keep(&mut least_loop, timed(&mut Lengthy, &key, &short, &mut hashes)?);
        for (subject, least) in subjects.iter_mut().zip(&mut least) {
            for (keys, least) in [&long, &short].into_iter().zip(least) {
                if takes(subject, keys) {
                    keep(least, timed(subject, &key, keys, &mut hashes)?);
                }
            }
        }
    }
    let per = |least: Option<Duration>, count: usize| least.map(|least| ns(least) / count as f64);
    Ok(Speeds {
        functions: least
            .into_iter()
            .map(|[of_long, of_short]| Speed {
                ns_per_byte: per(of_long, LONG.0 * LONG.1),
                ns_of_8_bytes: per(of_short, SHORT.1),
            })
            .collect(),
        loop_ns: per(least_loop, SHORT.1).unwrap_or(0.0),
    })
}

fn takes(subject: &Registered, keys: &Keys) -> bool {
    match subject.info().lengths {
        Lengths::Any => true,
        Lengths::Exactly(length) => keys.iter().all(|key| key.len() == length),
    }
}

fn timed(
    subject: &mut impl HashAll,
    key: &Key,
    keys: &Keys,
    hashes: &mut Vec<u64>,
) -> Result<Duration, Fault> {
    let start = Instant::now();
    subject.hash_keys(black_box(key), black_box(keys), hashes)?;
    black_box(&hashes);
    Ok(start.elapsed())
}

fn keep(least: &mut Option<Duration>, time: Duration) {
    *least = Some(least.map_or(time, |least| least.min(time)));
}

fn ns(time: Duration) -> f64 {
    time.as_secs_f64() * 1e9
}

/// A loop over keys.
trait HashAll {
    fn hash_keys(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault>;
}

impl HashAll for Registered {
    fn hash_keys(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        self.hash_all(key, keys, hashes)
    }
}

/// The loop without a hash: the lengths of the keys.
struct Lengthy;

impl HashAll for Lengthy {
    fn hash_keys(&mut self, _: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        hashes.clear();
        hashes.extend(keys.iter().map(|key| key.len() as u64));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registered::subjects;

    #[test]
    fn each_function_has_the_times_of_the_keys_that_it_takes() {
        let mut subjects = subjects();
        let mut rounds = Vec::new();
        let speeds = measure(&mut subjects, 2, &mut |round| rounds.push(round)).unwrap();
        assert_eq!((rounds.as_slice(), speeds.functions.len()), (&[0, 1][..], subjects.len()));
        assert!(speeds.loop_ns > 0.0);
        for (subject, speed) in subjects.iter().zip(&speeds.functions) {
            let times = [speed.ns_per_byte, speed.ns_of_8_bytes];
            match subject.info().lengths {
                Lengths::Any => assert!(times.iter().all(|time| time.is_some_and(|time| time > 0.0))),
                Lengths::Exactly(_) => assert_eq!(times, [None; 2], "{}", subject.info().id),
            }
        }
    }
}
