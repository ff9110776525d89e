//! Table of ε: the share of seeds for which the worst pair of keys known collides.

use hashlane_audit::registered::subjects;
use hashlane_audit::stated::stated;
use hashlane_audit::subject::Subject as _;
use hashlane_lab::report::{Block, Shown, Table};

/// ε of the hashes of these ids, each once, in order; `None` if there are none.
pub(crate) fn table<'a>(hashes: impl Iterator<Item = &'a str>) -> Option<Block> {
    let audited: Vec<String> = subjects().into_iter().map(|subject| subject.info().id.clone()).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for hash in hashes {
        if rows.iter().any(|row| row.first().is_some_and(|id| id == hash)) {
            continue;
        }
        // The audit knows Linux's hashes of connections under a prefix.
        let of_tuples = format!("ehash/{hash}");
        let id = if audited.contains(&of_tuples) { &of_tuples } else { hash };
        rows.push(vec![hash.to_owned(), stated(id)]);
    }
    (!rows.is_empty()).then(|| {
        Block::Table(Table {
            caption: "ε: share of seeds for which the worst pair of keys known collides".to_owned(),
            columns: ["hash", "ε"].map(str::to_owned).to_vec(),
            left: 2,
            rows,
            shown: Shown::PageOnly,
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_hash_has_one_row_with_the_claim() {
        let Some(Block::Table(table)) = table(["jhash2", "xxh3", "jhash2", "multilinear"].into_iter()) else {
            panic!("no table");
        };
        let cells = [
            ["jhash2", "100 %, broken by unhashed"],
            ["xxh3", "2^-10.5, broken by vectors/collisions/xxh3.toml"],
            ["multilinear", "≤ 2^-32, proved"],
        ];
        assert_eq!(table.rows, cells);
    }
}
