//! The table `[trust]` of the configuration: rules for signed registrations.

use hashlane_ndn::pattern::NamePattern;
use hashlane_ndn::security::policy::{self, HyperRelation, KeyTest, NameTest};
use hashlane_ndn::wire::SignatureType;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Rules for signed registrations, in addition to `management`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Trust {
    /// Files and folders of certificates between a key and a trust anchor. None is trusted by itself.
    pub certificates: Vec<PathBuf>,
    /// True if certificates between a key and a trust anchor that no file has are fetched over NDN.
    pub fetch: bool,
    /// Registrations by users of this host, under `/localhost/nfd/rib`.
    pub localhost: TrustPolicy,
    /// Registrations by neighbours, under `/localhop/nfd/rib`. Needs `management.localhop`.
    pub localhop: TrustPolicy,
    /// Prefix announcements, by rules for Data. Needs `rib.prefix_announcements`.
    pub prefix_announcement: TrustPolicy,
}

/// Rules, and the certificates that they end at.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct TrustPolicy {
    /// True to permit every sender, without looking at the signature.
    pub any: bool,
    /// Trust anchors.
    pub anchors: Vec<Anchor>,
    /// Rules, in order: the first one for the name of a packet decides.
    pub rules: Vec<TrustRule>,
}

/// Trust anchor: exactly one of `file`, `base64` and `folder`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Anchor {
    /// File of a certificate, in Base64 or binary.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<PathBuf>,
    /// A certificate in Base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base64: Option<String>,
    /// Folder whose files are certificates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folder: Option<PathBuf>,
    /// Time after which the file or the folder is read again, in seconds; without it, at SIGHUP only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub refresh_s: Option<u64>,
}

/// Rule for packets of one kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustRule {
    /// Name of the rule in refusals.
    pub id: String,
    /// Kind of the packets.
    #[serde(rename = "for")]
    pub kind: PacketKind,
    /// Conditions on the name of the packet; all must hold; none: every packet.
    #[serde(default)]
    pub filters: Vec<NameCondition>,
    /// Conditions on the signature; one must hold.
    pub checkers: Vec<TrustChecker>,
}

/// Kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PacketKind {
    /// Commands.
    Interest,
    /// Certificates.
    Data,
}

/// Condition on a name: `regex`, or `name` and `relation`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct NameCondition {
    /// NDN regular expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// URI of a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Relation of `name` to the packet's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<Relation>,
}

/// Relation of a name to another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Both are equal.
    Equal,
    /// A prefix of the other, or equal.
    IsPrefixOf,
    /// A shorter prefix of the other.
    IsStrictPrefixOf,
}

/// Condition on a signature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrustChecker {
    /// Kind of the condition on the key.
    #[serde(rename = "type")]
    pub kind: CheckerKind,
    /// Algorithm of the signature.
    #[serde(default)]
    pub signature: SignatureAlgorithm,
    /// Condition on the KeyLocator, for `customized`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyCondition>,
}

/// Kind of a condition on the key.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CheckerKind {
    /// The condition in `key`.
    Customized,
    /// The packet is below the identity of the key.
    Hierarchical,
}

/// Algorithm of a signature.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SignatureAlgorithm {
    /// ECDSA on P-256 with SHA-256.
    #[default]
    EcdsaSha256,
    /// RSA with SHA-256.
    RsaSha256,
    /// Ed25519.
    Ed25519,
}

/// Condition on the name of a KeyLocator: `regex`; `name` and `relation`; or a relation of a part of the
/// KeyLocator's name to a part of the packet's.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct KeyCondition {
    /// NDN regular expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub regex: Option<String>,
    /// URI of a name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Relation of `name` to the KeyLocator's, or of the KeyLocator's part to the packet's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub relation: Option<Relation>,
    /// NDN regular expression of the KeyLocator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_regex: Option<String>,
    /// Part of the KeyLocator, such as `\1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_expand: Option<String>,
    /// NDN regular expression of the packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_regex: Option<String>,
    /// Part of the packet's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub packet_expand: Option<String>,
}

impl From<Relation> for policy::Relation {
    fn from(relation: Relation) -> Self {
        match relation {
            Relation::Equal => Self::Equal,
            Relation::IsPrefixOf => Self::IsPrefixOf,
            Relation::IsStrictPrefixOf => Self::IsStrictPrefixOf,
        }
    }
}

impl From<SignatureAlgorithm> for SignatureType {
    fn from(algorithm: SignatureAlgorithm) -> Self {
        match algorithm {
            SignatureAlgorithm::EcdsaSha256 => Self::SHA256_WITH_ECDSA,
            SignatureAlgorithm::RsaSha256 => Self::SHA256_WITH_RSA,
            SignatureAlgorithm::Ed25519 => Self::ED25519,
        }
    }
}

impl TrustPolicy {
    /// True if the configuration sets nothing here.
    pub(crate) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The rules, checked. The error is the rule that the configuration breaks.
    pub(crate) fn policy(&self) -> Result<policy::Policy, String> {
        let mut policy = policy::Policy::default();
        for rule in &self.rules {
            let compiled = rule.compile()?;
            match rule.kind {
                PacketKind::Interest => policy.interests.push(compiled),
                PacketKind::Data => policy.data.push(compiled),
            }
        }
        Ok(policy)
    }

    /// Checks the rules and the form of the anchors.
    pub(super) fn check(&self) -> Result<(), String> {
        self.policy()?;
        for anchor in &self.anchors {
            let sources = [anchor.file.is_some(), anchor.base64.is_some(), anchor.folder.is_some()];
            if sources.into_iter().filter(|is_set| *is_set).count() != 1 {
                return Err("has an anchor without exactly one of `file`, `base64` and `folder`".into());
            }
            if anchor.refresh_s == Some(0) || (anchor.base64.is_some() && anchor.refresh_s.is_some()) {
                return Err("has an anchor with a refresh_s of 0, or beside base64; leave it out".into());
            }
        }
        if self.any && !(self.anchors.is_empty() && self.rules.is_empty()) {
            return Err("has anchors or rules beside any = true, which have no effect; remove either".into());
        }
        if self.anchors.is_empty() != self.rules.is_empty() {
            return Err("needs both anchors and rules: without one of them, no signature is trusted".into());
        }
        Ok(())
    }
}

impl TrustRule {
    /// The rule, checked. The error names the rule and what is wrong in it.
    pub(crate) fn compile(&self) -> Result<policy::Rule, String> {
        let wrong = |why: String| format!("has the rule {:?}: {why}", self.id);
        if self.checkers.is_empty() {
            return Err(wrong("it needs a checker".into()));
        }
        let filters = self.filters.iter().map(NameCondition::compile).collect::<Result<_, _>>();
        let checkers = self.checkers.iter().map(TrustChecker::compile).collect::<Result<_, _>>();
        let (filters, checkers) = (filters.map_err(wrong)?, checkers.map_err(wrong)?);
        Ok(policy::Rule { id: self.id.clone(), filters, checkers })
    }
}

/// A pattern; the error has its text.
fn pattern(text: &str) -> Result<NamePattern, String> {
    NamePattern::parse(text).map_err(|error| format!("regex {text:?}: {error}"))
}

impl NameCondition {
    fn compile(&self) -> Result<NameTest, String> {
        match (&self.regex, &self.name, self.relation) {
            (Some(regex), None, None) => pattern(regex).map(NameTest::Pattern),
            (None, Some(uri), Some(relation)) => {
                let name =
                    super::parse_name(uri).ok_or_else(|| format!("{uri:?} is not the URI of a name"))?;
                Ok(NameTest::Relation { name, relation: relation.into() })
            }
            _ => Err("a condition needs `regex`, or `name` and `relation`".into()),
        }
    }
}

impl TrustChecker {
    fn compile(&self) -> Result<policy::Checker, String> {
        let signature = self.signature.into();
        match (self.kind, &self.key) {
            (CheckerKind::Hierarchical, None) => {
                policy::Checker::hierarchical(signature).map_err(|error| error.to_string())
            }
            (CheckerKind::Customized, Some(key)) => Ok(policy::Checker { signature, key: key.compile()? }),
            (CheckerKind::Hierarchical, Some(_)) => Err("a hierarchical checker has no `key`".into()),
            (CheckerKind::Customized, None) => Err("a customized checker needs `key`".into()),
        }
    }
}

impl KeyCondition {
    fn compile(&self) -> Result<KeyTest, String> {
        let Self { regex, name, relation, key_regex, key_expand, packet_regex, packet_expand } = self;
        if let (Some(key), Some(key_expand), Some(packet), Some(packet_expand), Some(relation), None, None) =
            (key_regex, key_expand, packet_regex, packet_expand, relation, name, regex)
        {
            let hyper = HyperRelation::new((key, key_expand), (*relation).into(), (packet, packet_expand));
            let hyper = hyper.map_err(|error| format!("{key:?} or {packet:?}: {error}"))?;
            return Ok(KeyTest::Hyper(Box::new(hyper)));
        }
        if [key_regex, key_expand, packet_regex, packet_expand].iter().any(|part| part.is_some()) {
            let why = "key_regex, key_expand, packet_regex, packet_expand and relation come together, alone";
            return Err(why.into());
        }
        let condition = NameCondition { regex: regex.clone(), name: name.clone(), relation: *relation };
        Ok(match condition.compile()? {
            NameTest::Pattern(pattern) => KeyTest::Pattern(pattern),
            NameTest::Relation { name, relation } => KeyTest::Relation { name, relation },
        })
    }
}
