//! Keys of the attacks that need nothing, each made for a function that it aims at.

use crate::attack::{About, Attack, Knowledge, Target, attacks};
use crate::draw::Draw;
use crate::keys::Keys;
use crate::registered::Registered;
use crate::subject::AuditedHash;
use crate::table::Geometry;

/// Choices of keys.
#[derive(Clone, Copy, Debug)]
pub struct Choices {
    /// Bytes of a key; `None` leaves it to each attack.
    pub length: Option<usize>,
    /// Keys of an attack, at most.
    pub count: usize,
    /// Seed of all random choices.
    pub seed: u64,
}

/// Schemes that the keys of an attack are made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Schemes {
    /// Each one that it aims at.
    All,
    /// The first that it has keys for.
    First,
}

/// Keys of one attack.
#[derive(Clone, Debug)]
pub struct KeySet {
    /// The attack.
    pub about: About,
    /// Scheme that the keys are made for.
    pub scheme: String,
    /// The keys.
    pub keys: Keys,
}

/// Passes the keys of every attack that needs nothing to `take`, made for schemes of `subjects` that it aims
/// at, with random choices that follow the choices for the keys. An attack that needs a bucket is aimed at
/// the lowest bits of the hash. `tell` is called before each with the attack and the scheme.
///
/// # Errors
/// `take` has failed.
pub fn key_sets<E>(
    subjects: &mut [Registered],
    choices: Choices,
    schemes: Schemes,
    tell: &mut dyn FnMut(&str, &str),
    take: &mut dyn FnMut(KeySet, &mut Draw) -> Result<(), E>,
) -> Result<(), E> {
    let [geometry, ..] = Geometry::named();
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
            take(KeySet { about: about.clone(), scheme, keys }, &mut draw)?;
            if schemes == Schemes::First {
                break;
            }
        }
    }
    Ok(())
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
    attack.keys(&mut Target { subject, key, geometry, length, count, draw, note: None, pair: None }).ok()
}
