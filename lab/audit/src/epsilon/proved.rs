//! Bounds that are proved, as data.

use serde::Serialize;

/// A proved bound of the share of seeds for which any pair collides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Proved {
    /// Binary logarithm of the bound.
    pub log2: f64,
    /// Paper, and the condition of the theorem.
    pub source: &'static str,
}

/// Bounds by scheme.
const PROVED: [(&str, Proved); 3] = [
    (
        "multilinear",
        Proved {
            log2: -32.0,
            source: "Lemire and Kaser, Strongly universal string hashing is fast, The Computer Journal \
                     57(11), 2014, theorem 3.1; inputs chosen without knowledge of results",
        },
    ),
    (
        "multilinear-hm",
        Proved {
            log2: -32.0,
            source: "Lemire and Kaser 2014, MULTILINEAR-HM; inputs chosen without knowledge of results",
        },
    ),
    (
        "polymur",
        Proved {
            log2: -48.0,
            source: "Peters, PolymurHash 2.0, 2023: at most n/2^60.2 for keys of up to n bytes, here 4,096; \
                     inputs chosen without knowledge of results",
        },
    ),
];

/// The proved bound of a scheme.
pub fn proved(id: &str) -> Option<Proved> {
    PROVED.iter().find(|(scheme, _)| *scheme == id).map(|(_, proved)| *proved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::registered;
    use crate::subject::AuditedHash;

    #[test]
    fn bounds_are_of_registered_schemes() {
        let subjects = registered::subjects();
        for (id, _) in PROVED {
            assert!(subjects.iter().any(|subject| subject.info().id == id), "{id}");
        }
    }
}
