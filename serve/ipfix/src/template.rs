//! Templates that a reader has learned.

use crate::{FIRST_TEMPLATE, VARIABLE};
use std::collections::BTreeMap;

/// Largest number of templates of all domains; a further one is an error.
const MAX_TEMPLATES: usize = 4_096;
/// Largest number of fields of all templates.
const MAX_FIELDS: usize = 1 << 16;

/// A field specifier.
#[derive(Clone, Copy, Debug)]
pub(super) struct Field {
    pub(super) enterprise: u32,
    pub(super) id: u16,
    /// Bytes, or [`VARIABLE`].
    pub(super) len: u16,
}

/// A template or an options template.
#[derive(Debug)]
pub(super) struct Template {
    /// Its fields, without those of no bytes: a record takes a step for each, and has a byte for each.
    pub(super) fields: Vec<Field>,
    /// Smallest length of a record; not 0.
    pub(super) min_len: usize,
    /// Tests if it is an options template.
    pub(super) options: bool,
}

/// Templates by observation domain and id.
#[derive(Debug, Default)]
pub(super) struct Templates {
    /// By domain, options or not, and id, of which one kind has a template: so that a withdrawal of all of a
    /// kind visits those alone.
    known: BTreeMap<(u32, bool, u16), Template>,
    fields: usize,
}

/// Templates and options templates.
const KINDS: [bool; 2] = [false, true];

impl Templates {
    pub(super) fn find(&self, domain: u32, id: u16) -> Option<&Template> {
        KINDS.into_iter().find_map(|options| self.known.get(&(domain, options, id)))
    }

    /// Reads the records of a set of templates.
    ///
    /// # Errors
    /// The offset in `set` of a record that is cut off, of a template with a reserved id, of one whose
    /// records have no bytes, or of the first one too many.
    pub(super) fn learn(&mut self, domain: u32, set: &[u8], options: bool) -> Result<(), usize> {
        let mut at = 0;
        // Up to three bytes of padding.
        while set.len() - at >= 4 {
            at = self.learn_one(domain, set, at, options).ok_or(at)?;
        }
        Ok(())
    }

    /// Reads the record at `at`, and returns the end of it.
    fn learn_one(&mut self, domain: u32, set: &[u8], at: usize, options: bool) -> Option<usize> {
        let mut at = at;
        let mut word = || {
            let bytes = set.get(at..at + 2)?;
            at += 2;
            Some(u16::from_be_bytes([bytes[0], bytes[1]]))
        };
        let (id, count) = (word()?, word()?);
        if id < FIRST_TEMPLATE {
            // A withdrawal of all templates has the id of its set.
            let all = count == 0 && id == if options { 3 } else { 2 };
            if all {
                self.forget_all(domain, options);
            }
            return all.then_some(at);
        }
        if count == 0 {
            self.forget(domain, id);
            return Some(at);
        }
        if options {
            // The number of scope fields; they are like the others to a reader of flows.
            word()?;
        }
        let mut fields = Vec::new();
        let mut min_len = 0;
        for _ in 0..count {
            let (id, len) = (word()?, word()?);
            let enterprise = if id & 0x8000 == 0 { 0 } else { u32::from(word()?) << 16 | u32::from(word()?) };
            min_len += if len == VARIABLE { 1 } else { usize::from(len) };
            if len > 0 {
                fields.push(Field { enterprise, id: id & 0x7fff, len });
            }
        }
        self.forget(domain, id);
        if min_len == 0 || self.known.len() >= MAX_TEMPLATES || self.fields + fields.len() > MAX_FIELDS {
            return None;
        }
        self.fields += fields.len();
        self.known.insert((domain, options, id), Template { fields, min_len, options });
        Some(at)
    }

    fn forget(&mut self, domain: u32, id: u16) {
        for options in KINDS {
            if let Some(template) = self.known.remove(&(domain, options, id)) {
                self.fields -= template.fields.len();
            }
        }
    }

    fn forget_all(&mut self, domain: u32, options: bool) {
        let all = (domain, options, u16::MIN)..=(domain, options, u16::MAX);
        let ids: Vec<u16> = self.known.range(all).map(|((.., id), _)| *id).collect();
        ids.into_iter().for_each(|id| self.forget(domain, id));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_withdrawal_of_all_leaves_other_domains_and_the_other_kind() {
        let mut templates = Templates::default();
        let template = |id: u8| [1, id, 0, 1, 0, 2, 0, 8];
        let options = |id: u8| [1, id, 0, 1, 0, 1, 0, 2, 0, 8];
        for domain in [7, 8] {
            assert_eq!(templates.learn(domain, [template(0), template(1)].as_flattened(), false), Ok(()));
            assert_eq!(templates.learn(domain, [options(1), options(2)].as_flattened(), true), Ok(()));
        }
        assert_eq!(templates.learn(8, &[0, 3, 0, 0], true), Ok(()));
        assert_eq!(templates.learn(7, &[0, 2, 0, 0], false), Ok(()));
        let known = |domain| [256, 257, 258].map(|id| templates.find(domain, id).map(|known| known.options));
        // The options template took the place of the other with its id.
        assert_eq!(known(7), [None, Some(true), Some(true)]);
        assert_eq!(known(8), [Some(false), None, None]);
        assert_eq!(templates.fields, 3);
    }

    #[test]
    fn fields_without_bytes_are_not_kept() {
        let mut templates = Templates::default();
        let specifiers = [[0, 1, 0, 0], [0, 2, 0, 8], [0, 4, 0xff, 0xff], [0, 6, 0, 0]];
        let set = [&[1, 0, 0, 4][..], specifiers.as_flattened()].concat();
        assert_eq!(templates.learn(7, &set, false), Ok(()));
        let template = templates.find(7, 256).unwrap();
        assert_eq!((template.fields.len(), template.min_len, templates.fields), (2, 9, 2));
    }
}
