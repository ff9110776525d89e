use super::*;
use crate::registered;
use hashlane_rig::long;
use std::collections::HashSet;

/// Hashes of an attack's keys under a seed that the attacker did not know unless he must, and their number of
/// distinct values.
fn distinct(attack: &dyn Attack, subject: &mut dyn AuditedHash) -> Result<(usize, usize), Miss> {
    let geometry = &Geometry::named()[0];
    let mut draw = Draw::new(11);
    let (own, of_table) = (draw.key(), draw.key());
    let key = if attack.about().knowledge == Knowledge::Nothing { own } else { of_table };
    let mut target =
        Target { subject, key, geometry, length: None, count: 4096, draw: &mut draw, note: None, pair: None };
    let keys = attack.keys(&mut target)?;
    assert_eq!(keys.iter().collect::<HashSet<_>>().len(), keys.len(), "{}", attack.about().id);
    let mut hashes = Vec::new();
    subject.hash_all(&of_table, &keys, &mut hashes)?;
    Ok((keys.len(), hashes.into_iter().collect::<HashSet<_>>().len()))
}

#[test]
fn ids_of_attacks_differ_and_aims_are_registered() {
    let ids: HashSet<_> = attacks().iter().map(|attack| attack.about().id).collect();
    assert_eq!(ids.len(), attacks().len());
    let schemes: HashSet<_> =
        registered::subjects().iter().map(|subject| subject.info().id.clone()).collect();
    for about in attacks().iter().map(|attack| attack.about()) {
        for id in about.aims_at {
            assert!(schemes.contains(*id), "{} aims at {id}", about.id);
        }
    }
}

#[test]
fn keys_of_every_length_differ() {
    let mut subjects = registered::subjects();
    let geometry = &Geometry::named()[0];
    for (id, longest) in [
        ("fnv-1a", long::pick(256, MAX_LENGTH)),
        ("toeplitz", long::pick(256, MAX_LENGTH)),
        ("rapidhash", MAX_LENGTH),
        ("murmurhash2-32", long::pick(256, MAX_LENGTH)),
    ] {
        let subject = subjects.iter_mut().find(|subject| subject.info().id == id).unwrap();
        for length in [1, 2, 3, 7, 16, 37, longest] {
            for attack in
                attacks().into_iter().filter(|attack| attack.about().knowledge == Knowledge::Nothing)
            {
                let mut draw = Draw::new(length as u64);
                let key = draw.key();
                let mut target = Target {
                    subject,
                    key,
                    geometry,
                    length: Some(length),
                    count: 64,
                    draw: &mut draw,
                    note: None,
                    pair: None,
                };
                let Ok(keys) = attack.keys(&mut target) else { continue };
                let distinct = keys.iter().collect::<HashSet<_>>().len();
                assert_eq!(distinct, keys.len(), "{} on {id}, {length} bytes", attack.about().id);
            }
        }
    }
}

#[test]
fn each_attack_yields_keys_for_each_scheme_that_it_aims_at() {
    let mut subjects = registered::subjects();
    let mut failed = Vec::new();
    for attack in attacks() {
        let about = attack.about();
        for id in about.aims_at {
            let Some(subject) = subjects.iter_mut().find(|subject| subject.info().id == **id) else {
                continue;
            };
            // Random keys of one bucket have different hashes.
            let of_bucket =
                about.id.starts_with("truncat") || ["seed-guessed", "top-bits"].contains(&about.id);
            match distinct(attack, subject) {
                Ok((keys, distinct)) if keys >= FEWEST && (of_bucket || 50 * distinct <= keys) => {}
                outcome => failed.push((about.id, *id, outcome)),
            }
        }
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

#[test]
fn the_page_of_the_audit_describes_every_attack() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/audit.md");
    let page = std::fs::read_to_string(path).unwrap();
    let titles = page.lines().filter_map(|line| line.strip_prefix("**")?.split("** (").next());
    let described: Vec<&str> = titles.flat_map(|title| title.split(", ")).collect();
    let is_described = |id: &str| {
        described.iter().any(|title| match title.strip_suffix('…') {
            Some(start) => id.starts_with(start),
            None => id == *title,
        })
    };
    let all = attacks().into_iter().map(|attack| attack.about());
    for about in all.chain([crate::bias::about(), pairs::about()]) {
        assert!(is_described(about.id), "{} is missing from docs/audit.md", about.id);
    }
    assert!(!is_described("erased"));
}
