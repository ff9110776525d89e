//! ε of a scheme as it is known without an audit: from proofs, committed pairs and attacks.

use crate::attack::{Knowledge, attacks};
use crate::epsilon::proved;
use crate::epsilon::vectors::committed;
use crate::verdict::power_of_two;

/// ε of the scheme `id` in one clause, for lists: proved, broken, or not measured.
pub fn stated(id: &str) -> String {
    if let Some(proved) = proved(id) {
        return format!("≤ {}, proved", power_of_two(proved.log2));
    }
    let attack = attacks()
        .into_iter()
        .map(|attack| attack.about())
        .find(|about| about.knowledge == Knowledge::Nothing && about.aims_at.contains(&id));
    if let Some(about) = attack {
        return format!("100 %, broken by {}", about.id);
    }
    let pairs = match committed() {
        Ok(pairs) => pairs,
        Err((name, error)) => return format!("unknown: vector {name}: {error}"),
    };
    match pairs.iter().find(|pair| pair.scheme == id) {
        Some(pair) => format!("{}, broken by vectors/collisions/{id}.toml", power_of_two(pair.log2_share)),
        None => format!("not measured; hashlane audit --scheme {id}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_the_kind_of_the_claim() {
        assert_eq!(stated("multilinear"), "≤ 2^-32, proved");
        assert_eq!(stated("crc32c"), "100 %, broken by linear");
        assert_eq!(stated("xxh3"), "2^-10.5, broken by vectors/collisions/xxh3.toml");
        assert_eq!(stated("siphash-1-3"), "not measured; hashlane audit --scheme siphash-1-3");
    }
}
