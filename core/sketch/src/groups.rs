//! A sketch for each group of rows.

mod batch;

pub use batch::{Batch, Grouped};

use crate::error::{Error, ReadError, within};
use crate::keys::Keys;
use crate::sketch::Sketch;
use crate::wire::{Reader, SketchKind, Writer, grown};
use core::fmt;
use hashlane_hash::scheme::Key;
use std::collections::HashMap;

/// Sketches of one kind and with the same parameters, one for each group of rows.
///
/// A group is named by bytes: a user, a customer's prefix, or several columns in an encoding of the caller's.
/// A new group begins with a clone of an empty sketch, and takes its memory as keys come: 100,000 groups of
/// [`Distinct`](crate::Distinct) with 10 keys each take about 20 MB. The map of groups has its own random
/// key, so that whoever chooses names cannot slow it down; [`with_most`](Self::with_most) limits their number.
///
/// Merges go group by group, so that any split and order of the rows gives the same bytes if the sketch has
/// that property.
///
/// ```
/// use hashlane_hash::scheme::Key;
/// use hashlane_sketch::{Batch, Distinct, Groups, Keys};
///
/// let mut users = Groups::new(Distinct::new(14, &Key::new([7; 16]))?)?;
/// let (user, page) = (Keys::rows(b"aabbb", 1)?, Keys::rows(b"xyxxx", 1)?);
/// users.update(&user, &Batch::new(page))?;
/// assert_eq!(users.get(b"a").map(|pages| pages.result().keys), Some(2.0));
/// assert_eq!(users.get(b"b").map(|pages| pages.result().keys), Some(1.0));
/// # Ok::<(), hashlane_sketch::Error>(())
/// ```
#[derive(Clone)]
pub struct Groups<S> {
    /// The sketch that a group begins with.
    empty: S,
    most: usize,
    /// Place of each group in `sketches`.
    places: HashMap<Box<[u8]>, u32>,
    sketches: Vec<S>,
    /// Totals of all groups, which bound the totals of each.
    totals: [u64; 2],
}

impl<S: Grouped> Groups<S> {
    /// Most groups, whatever limit is set.
    pub const MOST: usize = 1 << 26;

    /// Most bytes of the name of a group.
    pub const MOST_NAME: usize = 4096;

    /// No groups, at most 2²⁰ later. A group begins with `empty`.
    ///
    /// # Errors
    /// The sketch has keys.
    pub fn new(empty: S) -> Result<Self, Error> {
        if empty.has_keys() {
            return Err(Error::NotEmpty);
        }
        Ok(Self { empty, most: 1 << 20, places: HashMap::new(), sketches: Vec::new(), totals: [0; 2] })
    }

    /// Limits the number of groups: 1 to [`MOST`](Self::MOST).
    ///
    /// # Errors
    /// The limit is out of range.
    pub fn with_most(mut self, most: usize) -> Result<Self, Error> {
        within("limit of groups", most as u64, 1, Self::MOST as u64)?;
        self.most = most;
        Ok(self)
    }

    /// Gives groups that were read from bytes their key, so that they can be updated.
    ///
    /// # Errors
    /// The sketches were made with another key, or have none.
    pub fn with_key(mut self, key: &Key) -> Result<Self, Error> {
        self.empty = self.empty.with_key_of_groups(key)?;
        // A clone of the empty sketch shares its parameters.
        for sketch in &mut self.sketches {
            let mut keyed = self.empty.clone();
            keyed.merge(sketch)?;
            *sketch = keyed;
        }
        Ok(self)
    }

    /// The sketch that a group begins with.
    pub fn empty(&self) -> &S {
        &self.empty
    }

    /// Number of groups.
    pub fn len(&self) -> usize {
        self.sketches.len()
    }

    /// Returns true if there are no groups.
    pub fn is_empty(&self) -> bool {
        self.sketches.is_empty()
    }

    /// The sketch of a group.
    pub fn get(&self, group: &[u8]) -> Option<&S> {
        self.places.get(group).and_then(|place| self.sketches.get(*place as usize))
    }

    /// Groups and their sketches, in the order of the groups' bytes.
    pub fn iter(&self) -> impl Iterator<Item = (&[u8], &S)> {
        let mut groups: Vec<(&[u8], u32)> =
            self.places.iter().map(|(group, place)| (&**group, *place)).collect();
        groups.sort_unstable();
        groups.into_iter().filter_map(|(group, place)| Some((group, self.sketches.get(place as usize)?)))
    }

    /// Checks that the groups can take so much more: packets or weights, and bytes.
    ///
    /// # Errors
    /// A total would pass 2⁶³ − 1.
    pub fn check_room(&self, totals: [u64; 2]) -> Result<(), Error> {
        self.grown(totals).map(drop)
    }

    fn grown(&self, [first, second]: [u64; 2]) -> Result<[u64; 2], Error> {
        let [ours, other] = self.totals;
        Ok([grown(ours, first)?, grown(other, second)?])
    }

    /// Adds each row of a batch to the sketch of its group; `groups` has a name for each row.
    ///
    /// # Errors
    /// The columns have several lengths, a name or key is too long, there would be too many groups, the
    /// sketches have no key or take other rows, or the total over all groups would pass 2⁶³ − 1. The groups
    /// then stay as they were.
    pub fn update(&mut self, groups: &Keys<'_>, batch: &Batch<'_>) -> Result<(), Error> {
        batch.keys.check_rows("groups", groups.len())?;
        self.empty.check_batch(batch)?;
        self.check_room(S::totals_of(batch))?;
        let (before, mut places) = (self.sketches.len(), Vec::with_capacity(groups.len()));
        self.find_places(groups, &mut places).inspect_err(|_| self.truncate(before))?;
        self.update_places(&places, batch)
    }

    /// Adds each row of a batch to the sketch at its place, which [`find_places`](Self::find_places) has told.
    ///
    /// # Errors
    /// As [`update`](Self::update); and a place without a group.
    pub fn update_places(&mut self, places: &[u32], batch: &Batch<'_>) -> Result<(), Error> {
        batch.keys.check_rows("groups", places.len())?;
        self.empty.check_batch(batch)?;
        let groups = self.sketches.len();
        if let Some(place) = places.iter().find(|place| **place as usize >= groups) {
            within("place of a group", (*place).into(), 0, (groups as u64).saturating_sub(1))?;
        }
        let totals = self.grown(S::totals_of(batch))?;
        S::update_each(&mut self.sketches, places, batch)?;
        self.totals = totals;
        Ok(())
    }

    /// Appends the place of the group of each row to `places`; a new group begins empty.
    ///
    /// # Errors
    /// A name is too long, or there would be too many groups. Places and groups before the row remain:
    /// [`truncate`](Self::truncate) removes them.
    pub fn find_places(&mut self, groups: &Keys<'_>, places: &mut Vec<u32>) -> Result<(), Error> {
        places.reserve(groups.len());
        let mut last: Option<(&[u8], u32)> = None;
        for (row, group) in groups.iter().enumerate() {
            let place = match last {
                Some((before, place)) if before == group => place,
                _ => match self.places.get(group) {
                    Some(place) => *place,
                    None if group.len() > Self::MOST_NAME => {
                        return Err(Error::KeyTooLong { row, len: group.len(), most: Self::MOST_NAME });
                    }
                    None => self.begin(group)?,
                },
            };
            last = Some((group, place));
            places.push(place);
        }
        Ok(())
    }

    fn begin(&mut self, group: &[u8]) -> Result<u32, Error> {
        let place = self.sketches.len();
        if place >= self.most {
            return Err(Error::TooManyGroups { most: self.most });
        }
        self.places.insert(group.into(), place as u32);
        self.sketches.push(self.empty.clone());
        Ok(place as u32)
    }

    /// Removes the groups that began after there were `len`; they must have taken no keys.
    pub fn truncate(&mut self, len: usize) {
        self.places.retain(|_, place| (*place as usize) < len);
        self.sketches.truncate(len);
    }
}

impl<S: Grouped> Sketch for Groups<S> {
    const KIND: SketchKind = SketchKind::Groups;

    /// Merges group by group. The limits of groups may differ; this one's holds.
    fn merge(&mut self, other: &Self) -> Result<(), Error> {
        self.empty.clone().merge(&other.empty)?;
        let totals = self.grown(other.totals)?;
        let before = self.sketches.len();
        for group in other.places.keys() {
            if !self.places.contains_key(group) {
                self.begin(group).inspect_err(|_| self.truncate(before))?;
            }
        }
        // No merge fails: the parameters are alike, and the totals have room.
        for (group, theirs) in other.iter() {
            let place = self.places.get(group).map(|place| *place as usize);
            if let Some(ours) = place.and_then(|place| self.sketches.get_mut(place)) {
                ours.merge(theirs)?;
            }
        }
        self.totals = totals;
        Ok(())
    }

    /// The empty sketch, the number of groups, and for each its name and its sketch, without the bytes that
    /// it has in common with the beginning of the empty one.
    fn to_bytes(&self) -> Vec<u8> {
        let mut to = Writer::new(Self::KIND);
        let empty = self.empty.to_bytes();
        to.string(&empty);
        to.number(self.sketches.len() as u64);
        for (group, sketch) in self.iter() {
            let bytes = sketch.to_bytes();
            let shared = shared(&empty, &bytes);
            to.string(group);
            to.number(shared as u64);
            to.string(bytes.get(shared..).unwrap_or_default());
        }
        to.finish()
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self, ReadError> {
        let mut from = Reader::begin(bytes, Self::KIND)?;
        let at = from.at();
        let header = from.string("sketch of a group", bytes.len())?;
        let empty = S::from_bytes(header)?;
        let has_keys = |_| ReadError::Field { field: "empty sketch of a group", at };
        let mut groups = Self::new(empty).map_err(has_keys)?;
        let number = from.number("number of groups", Self::MOST as u64)?;
        check_expanded(from.clone(), number, bytes.len())?;
        groups.most = groups.most.max(number as usize);
        let mut before: Option<&[u8]> = None;
        for _ in 0..number {
            let at = from.at();
            let group = from.string("name of a group", Self::MOST_NAME)?;
            if before.is_some_and(|before| before >= group) {
                return Err(ReadError::Field { field: "name of a group out of order", at });
            }
            before = Some(group);
            let at = from.at();
            let prefix = from.number("bytes in common", header.len() as u64)? as usize;
            let rest = from.string("sketch of a group", bytes.len())?;
            let whole = [header.get(..prefix).unwrap_or_default(), rest].concat();
            let damaged = ReadError::Field { field: "sketch of a group", at };
            if shared(header, &whole) != prefix {
                return Err(damaged);
            }
            let sketch = S::from_bytes(&whole).map_err(|_| damaged)?;
            // A clone of the empty sketch shares its parameters, and differs in none.
            let mut ours = groups.empty.clone();
            ours.merge(&sketch).map_err(|_| damaged)?;
            groups.totals = groups.grown(sketch.totals()).map_err(|_| damaged)?;
            groups.places.insert(group.into(), groups.sketches.len() as u32);
            groups.sketches.push(ours);
        }
        from.finish()?;
        Ok(groups)
    }
}

impl<S: fmt::Debug> fmt::Debug for Groups<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Groups").field("empty", &self.empty).field("len", &self.sketches.len()).finish()
    }
}

/// Bytes that the sketches of all groups have together for each byte of the groups, at most: a bucket or a
/// load has 8 bytes of memory for one in the bytes, so that this is 128 bytes of memory for a byte.
const EXPANSION: u64 = 16;

/// Bytes that they may have whatever the bytes of the groups are: 1 GiB of memory.
const EXPANDED: u64 = 1 << 27;

/// Checks the bytes of all sketches before memory is taken: a group of four bytes may have megabytes in
/// common with the empty sketch. `from` is at the first of `number` groups, which are in `len` bytes.
///
/// # Errors
/// [`ReadError::Expanded`]. Damaged bytes are none: reading them names the field.
fn check_expanded(mut from: Reader<'_>, number: u64, len: usize) -> Result<(), ReadError> {
    let most = EXPANDED.max(EXPANSION.saturating_mul(len as u64));
    let mut next = || {
        from.string("name of a group", len).ok()?;
        let shared = from.number("bytes in common", len as u64).ok()?;
        let rest = from.string("sketch of a group", len).ok()?;
        Some((from.at(), shared + rest.len() as u64))
    };
    let mut expanded: u64 = 0;
    for _ in 0..number {
        let Some((at, bytes)) = next() else { break };
        expanded = expanded.saturating_add(bytes);
        if expanded > most {
            return Err(ReadError::Expanded { at });
        }
    }
    Ok(())
}

/// Number of bytes that both begin with.
fn shared(one: &[u8], other: &[u8]) -> usize {
    one.iter().zip(other).take_while(|(one, other)| one == other).count()
}
