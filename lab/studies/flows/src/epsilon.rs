//! ε of a hash: the share of seeds for which the worst pair of keys known collides.

use hashlane_audit::registered::subjects;
use hashlane_audit::stated::stated;
use hashlane_audit::subject::AuditedHash as _;

/// ε of a hash in words, for the templates of study files.
pub(crate) fn epsilon(hash: &str) -> String {
    // The audit knows Linux's hashes of connections under a prefix.
    let of_tuples = format!("ehash/{hash}");
    let is_audited = subjects().iter().any(|subject| subject.info().id == of_tuples);
    stated(if is_audited { &of_tuples } else { hash })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_the_claim_of_each_hash() {
        let claims = ["jhash2", "xxh3", "multilinear"].map(epsilon);
        let expected = [
            "100 %, broken by unhashed",
            "2^-10.5, broken by vectors/collisions/xxh3.toml",
            "≤ 2^-32, proved",
        ];
        assert_eq!(claims, expected);
    }
}
