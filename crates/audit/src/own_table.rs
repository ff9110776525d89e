//! The audit of a table in a shared object: the keys of all attacks on known functions are inserted into it.

use crate::attack::{About, Attack, Knowledge, Target, attacks};
use crate::draw::Draw;
use crate::keys::Keys;
use crate::library::{Comparison, Table, TableFault};
use crate::registered::Registered;
use crate::subject::Subject;
use crate::table::Geometry;

/// Keys of one attack in the table.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The attack.
    pub about: About,
    /// Scheme that its keys are made for.
    pub scheme: String,
    /// The keys.
    pub keys: Keys,
    /// Measurements of the table.
    pub comparison: Comparison,
}

/// Choices of the audit of a table.
#[derive(Clone, Copy, Debug)]
pub struct Choices {
    /// Bytes of a key; `None` leaves it to each attack.
    pub length: Option<usize>,
    /// Keys of an attack, at most.
    pub count: usize,
    /// Seed of all random choices.
    pub seed: u64,
}

/// Inserts the keys of every attack that needs nothing, made for each scheme of `subjects` that it aims at,
/// and compares with random keys. An attack that needs a bucket is aimed at the lowest bits of the hash.
/// `tell` is called before each with the attack and the scheme.
///
/// # Errors
/// The table has failed: the attack and the scheme whose keys it held, and the failure.
pub fn trials(
    table: &mut Table,
    subjects: &mut [Registered],
    choices: Choices,
    tell: &mut dyn FnMut(&str, &str),
) -> Result<Vec<Trial>, (&'static str, String, TableFault)> {
    let [geometry, ..] = Geometry::named();
    let mut trials = Vec::new();
    for attack in attacks() {
        let about = attack.about();
        if about.knowledge != Knowledge::Nothing {
            continue;
        }
        for subject in
            subjects.iter_mut().filter(|subject| about.aims_at.contains(&subject.info().id.as_str()))
        {
            let scheme = subject.info().id.clone();
            tell(about.id, &scheme);
            let mut draw = Draw::new(choices.seed);
            let Some(keys) = keys(attack, subject, &geometry, choices, &mut draw) else { continue };
            let random = draw.like(&keys);
            let compared = table.compare(&draw.key(), true, keys.len() as u64, &keys, &random);
            let comparison = compared.map_err(|fault| (about.id, scheme.clone(), fault))?;
            trials.push(Trial { about: about.clone(), scheme, keys, comparison });
        }
    }
    Ok(trials)
}

/// Keys of an attack; `None` if it has none of this length.
fn keys(
    attack: &dyn Attack,
    subject: &mut Registered,
    geometry: &Geometry,
    choices: Choices,
    draw: &mut Draw,
) -> Option<Keys> {
    let key = draw.key();
    let Choices { length, count, .. } = choices;
    attack.keys(&mut Target { subject, key, geometry, length, count, draw }).ok()
}
