//! ε of a scheme as it is known without an audit: from proofs, committed pairs, attacks, or a search.

use crate::attack::{Knowledge, USUAL_LENGTH, attacks};
use crate::draw::Draw;
use crate::epsilon::vectors::committed;
use crate::epsilon::{self, long, proved, search};
use crate::registered::{Registered, subjects};
use crate::subject::{AuditedHash as _, Fault};
use crate::verdict::power_of_two;
use hashlane_hash::scheme::Keying;

/// ε of the registered scheme `id` in one clause, for lists: proved, broken, or measured by a search, which
/// takes some milliseconds.
pub fn stated(id: &str) -> String {
    if let Some(proved) = proved(id) {
        return format!("≤ {}, proved", power_of_two(proved.log2));
    }
    let attack = attacks()
        .into_iter()
        .map(|attack| attack.about())
        // Keys that share buckets alone collide no more than others.
        .filter(|about| about.id != "top-bits" && about.knowledge == Knowledge::Nothing)
        .find(|about| about.aims_at.contains(&id));
    if let Some(about) = attack {
        return format!("100 %, broken by {}", about.id);
    }
    let pairs = match committed() {
        Ok(pairs) => pairs,
        Err((name, error)) => return format!("unknown: vector {name}: {error}"),
    };
    if let Some(pair) = pairs.iter().find(|pair| pair.scheme == id) {
        return format!("{}, broken by vectors/collisions/{id}.toml", power_of_two(pair.log2_share));
    }
    if let Some(run) = long::RUNS.iter().find(|run| run.scheme == id) {
        return format!("measured: no pair in 2^{:.1} comparisons of two keys", run.log2_compared);
    }
    match subjects().into_iter().find(|subject| subject.info().id == id) {
        // A pair that collides once collides always.
        Some(subject) if subject.info().keying == Keying::None => "100 %, no seed changes it".to_owned(),
        Some(mut subject) => searched(&mut subject).unwrap_or_else(|fault| format!("unknown: {fault}")),
        None => format!("unknown: no scheme {id}"),
    }
}

/// Result of a search, the same every time.
fn searched(subject: &mut Registered) -> Result<String, Fault> {
    let mut draw = Draw::new(1);
    let Some(suspect) = search::search(subject, USUAL_LENGTH, &mut draw)? else {
        let keys = search::keys_of(USUAL_LENGTH);
        return Ok(format!("none found, measured: {keys} keys, {} seeds", search::SEEDS));
    };
    let share = epsilon::measure(subject, &suspect.keys, 1 << 10, &mut draw)?;
    Ok(format!("{}, broken by a search", power_of_two(share.value().log2())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_the_kind_of_the_claim() {
        assert_eq!(stated("multilinear"), "≤ 2^-32, proved");
        assert_eq!(stated("crc32c"), "100 %, broken by linear");
        assert_eq!(stated("xxh3"), "2^-10.5, broken by vectors/collisions/xxh3.toml");
        assert_eq!(stated("siphash-1-3"), "none found, measured: 431 keys, 256 seeds");
        assert_eq!(stated("ehash/v4"), "100 %, broken by a search");
        assert_eq!(stated("ehash/jhash-unseeded"), "100 %, no seed changes it");
        assert_eq!(stated("nothing"), "unknown: no scheme nothing");
    }
}
