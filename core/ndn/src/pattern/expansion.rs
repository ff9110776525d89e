//! Names made of what the groups of a pattern kept.

use super::{Match, PatternError};
use alloc::vec::Vec;
use hashlane_name::build::{NameBuilder, OwnedName};
use hashlane_name::error::BuildError;
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_uri;

/// A template such as `\1` or `\1<KEY>`: the components of groups, and fixed components.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expansion(Vec<Item>);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Item {
    Group(usize),
    Component(OwnedName<Ndn>),
}

impl Expansion {
    /// Most groups and components.
    const MAX_ITEMS: usize = 64;

    /// Parses the template of a pattern with this number of groups. `\0` is the whole name.
    ///
    /// # Errors
    /// The first rule that the text breaks.
    pub fn parse(text: &str, groups: usize) -> Result<Self, PatternError> {
        let (mut items, mut at) = (Vec::new(), 0);
        while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
            let malformed = PatternError::Expansion { at };
            if items.len() >= Self::MAX_ITEMS {
                return Err(PatternError::TooLong { at });
            }
            if let Some(digits) = rest.strip_prefix('\\') {
                let len = digits.bytes().take_while(u8::is_ascii_digit).count();
                let number = digits.get(..len).and_then(|digits| digits.parse().ok()).ok_or(malformed)?;
                if number > groups {
                    return Err(PatternError::NoGroup { number });
                }
                items.push(Item::Group(number));
                at += 1 + len;
            } else if let Some((component, _)) = rest.strip_prefix('<').and_then(|rest| rest.split_once('>'))
            {
                let uri = [b"/", component.as_bytes()].concat();
                let name: OwnedName<Ndn> = parse_uri(&uri).map_err(|_| malformed)?;
                if name.view().len() != 1 {
                    return Err(malformed);
                }
                items.push(Item::Component(name));
                at += component.len() + 2;
            } else {
                return Err(malformed);
            }
        }
        Ok(Self(items))
    }

    /// The name for a match.
    ///
    /// # Errors
    /// [`BuildError`] if the name is too long.
    pub fn expand(&self, found: &Match<'_>) -> Result<OwnedName<Ndn>, BuildError> {
        let mut name = NameBuilder::new();
        for item in &self.0 {
            let part = match item {
                Item::Group(number) => found.group(*number),
                Item::Component(component) => component.clone(),
            };
            part.view().components().try_for_each(|component| name.push(component))?;
        }
        Ok(name.finish())
    }
}
