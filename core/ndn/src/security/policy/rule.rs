//! Rules: which packets they are for, and which keys may sign these.

use crate::pattern::{Expansion, NamePattern, PatternError};
use crate::wire::SignatureType;
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_name::walk::Walk;

/// Relation of a name to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// Both are equal.
    Equal,
    /// The first one is a prefix of the second one, or equal.
    IsPrefixOf,
    /// The first one is a shorter prefix of the second one.
    IsStrictPrefixOf,
}

impl Relation {
    /// True if `first` is in this relation to `second`.
    pub fn holds(self, first: NdnName<'_>, second: NdnName<'_>) -> bool {
        let is_prefix =
            second.walk().bytes().starts_with(first.walk().bytes()) && first.len() <= second.len();
        match self {
            Self::Equal => first == second,
            Self::IsPrefixOf => is_prefix,
            Self::IsStrictPrefixOf => is_prefix && first.len() < second.len(),
        }
    }
}

/// Condition on the name of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NameTest {
    /// This name has this relation to the packet's.
    Relation {
        /// The name.
        name: OwnedName<Ndn>,
        /// Its relation.
        relation: Relation,
    },
    /// The packet's name matches.
    Pattern(NamePattern),
}

impl NameTest {
    fn passes(&self, packet: NdnName<'_>) -> bool {
        match self {
            Self::Relation { name, relation } => relation.holds(name.view(), packet),
            Self::Pattern(pattern) => pattern.is_match(packet),
        }
    }
}

/// Rule of a [`Policy`](super::Policy).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// Name of the rule in reports.
    pub id: String,
    /// Conditions on the packet. The rule is for packets that meet all of them.
    pub filters: Vec<NameTest>,
    /// Conditions on the signature. It must meet one of them.
    pub checkers: Vec<Checker>,
}

impl Rule {
    /// True if the rule is for packets of this name.
    pub(super) fn is_for(&self, packet: NdnName<'_>) -> bool {
        self.filters.iter().all(|filter| filter.passes(packet))
    }

    /// True if a signature of this type, by the key that `locator` names, may be on a packet of this name.
    pub(super) fn allows(&self, signature: SignatureType, locator: NdnName<'_>, packet: NdnName<'_>) -> bool {
        let mut checkers = self.checkers.iter();
        checkers.any(|checker| checker.signature == signature && checker.key.passes(locator, packet))
    }
}

/// Condition on a signature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checker {
    /// Algorithm of the signature. Never one without a key, which authenticates nobody.
    pub signature: SignatureType,
    /// Condition on the KeyLocator.
    pub key: KeyTest,
}

impl Checker {
    /// Condition that the packet is below the identity of the key.
    ///
    /// # Errors
    /// Never for the patterns of this crate.
    pub fn hierarchical(signature: SignatureType) -> Result<Self, PatternError> {
        let key =
            HyperRelation::new(("^(<>*)<KEY><>{1,3}$", "\\1"), Relation::IsPrefixOf, ("^(<>*)$", "\\1"))?;
        Ok(Self { signature, key: KeyTest::Hyper(Box::new(key)) })
    }
}

/// Condition on the name of a KeyLocator.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeyTest {
    /// This name has this relation to the identity of the key; if the name has the component `KEY`, to the
    /// name of the KeyLocator.
    Relation {
        /// The name.
        name: OwnedName<Ndn>,
        /// Its relation.
        relation: Relation,
    },
    /// The name of the KeyLocator matches.
    Pattern(NamePattern),
    /// Parts of both names are in a relation.
    Hyper(Box<HyperRelation>),
}

impl KeyTest {
    fn passes(&self, locator: NdnName<'_>, packet: NdnName<'_>) -> bool {
        match self {
            Self::Relation { name, relation } => {
                let key = |component: Component<'_>| component == Component::generic(b"KEY");
                if name.view().components().any(key) {
                    return relation.holds(name.view(), locator);
                }
                // Of several components KEY, the last one begins the name of the key.
                let Some(last) = locator.components().enumerate().filter(|(_, found)| key(*found)).last()
                else {
                    return false;
                };
                let identity = OwnedName::<Ndn>::from_components(locator.components().take(last.0));
                identity.is_ok_and(|identity| relation.holds(name.view(), identity.view()))
            }
            Self::Pattern(pattern) => pattern.is_match(locator),
            Self::Hyper(hyper) => hyper.passes(locator, packet),
        }
    }
}

/// Relation of a part of the KeyLocator's name to a part of the packet's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HyperRelation {
    key: (NamePattern, Expansion),
    relation: Relation,
    packet: (NamePattern, Expansion),
}

impl HyperRelation {
    /// Creates a relation of the part of the KeyLocator's name to the part of the packet's. A part is a
    /// pattern with an expansion.
    ///
    /// # Errors
    /// The first rule that a pattern or an expansion breaks.
    pub fn new(key: (&str, &str), relation: Relation, packet: (&str, &str)) -> Result<Self, PatternError> {
        let part = |(pattern, expansion): (&str, &str)| {
            let pattern = NamePattern::parse(pattern)?;
            let expansion = Expansion::parse(expansion, pattern.groups())?;
            Ok((pattern, expansion))
        };
        Ok(Self { key: part(key)?, relation, packet: part(packet)? })
    }

    fn passes(&self, locator: NdnName<'_>, packet: NdnName<'_>) -> bool {
        let part = |(pattern, expansion): &(NamePattern, Expansion), name| {
            expansion.expand(&pattern.find(name)?).ok()
        };
        let (key, packet) = (part(&self.key, locator), part(&self.packet, packet));
        key.zip(packet).is_some_and(|(key, packet)| self.relation.holds(key.view(), packet.view()))
    }
}
