//! Errors and warnings of a zone that is built.

use crate::wire::{RdataError, RecordType};
use alloc::boxed::Box;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use core::fmt;
use hashlane_name::dns::NameBuf;

/// A zone that cannot be served: the record, and the rule that it breaks.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{owner} {rtype}: {rule}")]
pub struct ZoneError {
    /// Owner of the record, or the apex.
    pub owner: Box<NameBuf>,
    /// Type of the record.
    pub rtype: RecordType,
    /// The rule.
    pub rule: Rule,
}

/// A rule that records of a zone must not break.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Rule {
    /// The owner is neither the apex nor below it.
    #[error("owner outside of the zone; move it to its own zone, or check $ORIGIN")]
    OutOfZone,
    /// The type is for questions or messages: OPT, TSIG, ANY and their like (RFC 6895 §3.1).
    #[error("a type for questions and messages, not for zones; remove it")]
    NotAType,
    /// Malformed data.
    #[error("malformed data: {0}; correct them")]
    Data(RdataError),
    /// Data of more than 65,535 bytes.
    #[error("more than 65,535 bytes of data; shorten them")]
    DataTooLong,
    /// The zone has no SOA record.
    #[error("the apex has no SOA record; add one")]
    NoSoa,
    /// Several SOA records.
    #[error("the apex has several SOA records; keep one")]
    SeveralSoa,
    /// An SOA record below the apex.
    #[error("SOA record below the apex; move the zone to its own file")]
    SoaBelowApex,
    /// The apex has no NS record.
    #[error("the apex has no NS record; add the zone's name servers")]
    NoNameServer,
    /// Records beside a CNAME.
    #[error("other records beside a CNAME (RFC 1034 §3.6.2); remove the CNAME or the others")]
    BesideCname,
    /// Several CNAME records of one name.
    #[error("several CNAMEs at one name (RFC 2181 §10.1); keep one")]
    SeveralCname,
    /// Several DNAME records of one name.
    #[error("several DNAMEs at one name (RFC 6672 §2.4); keep one")]
    SeveralDname,
    /// A DNAME beside NS records below the apex.
    #[error("a DNAME beside NS records below the apex (RFC 6672 §2.3); remove either")]
    DnameBesideNs,
    /// More iterations of the NSEC3 hash than [`MAX_ITERATIONS`](super::MAX_ITERATIONS).
    #[error(
        "{} NSEC3 iterations; the limit is {} (RFC 9276 §3.1 asks for 0); sign with 0",
        .0,
        super::MAX_ITERATIONS
    )]
    Iterations(u16),
    /// More types at one name than [`MAX_TYPES`](super::MAX_TYPES).
    #[error("more than {} types at one name; spread them over several names", super::MAX_TYPES)]
    TooManyTypes,
    /// More than 65,535 records of one type, or signatures of them, at one name.
    #[error("more than 65,535 records of one type at one name; spread them over several names")]
    TooManyRecords,
    /// More names, or bytes of records, than 32 bits can number.
    #[error("more names or data than a zone can hold; split the zone")]
    TooLarge,
}

/// Records that are served otherwise than they are written, or that clients cannot use as intended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Owner of the records.
    pub owner: Box<NameBuf>,
    /// Type of the records.
    pub rtype: RecordType,
    /// The cause.
    pub cause: Cause,
}

/// The cause of a [`Warning`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Cause {
    /// Records of one type have several TTLs; all get the smallest.
    TtlsDiffer,
    /// A TTL of more than 2³¹ − 1 seconds, taken for 0.
    TtlTooLarge,
    /// Records below a DNAME are ignored.
    BelowDname,
    /// RRSIG records cover a type that the name does not have, and are ignored.
    NothingSigned,
    /// An NSEC3PARAM record with flags, an unknown hash, or no NSEC3 record for the apex, is ignored.
    Nsec3ParamIgnored,
    /// An NSEC3 record whose owner is no hash below the apex, or with other parameters than the chain in use,
    /// denies nothing.
    Nsec3Ignored,
    /// NSEC3 records without an NSEC3PARAM record, so that none of them denies anything.
    NoNsec3Param,
    /// A signature whose time is over.
    SignatureExpired,
    /// A signature whose time has not begun.
    SignatureNotYetValid,
    /// Records without a signature in a zone with a DNSKEY.
    NotSigned,
    /// A name without an NSEC record in a zone that denies by NSEC, or a signed zone without any.
    NoNsec,
    /// An NSEC or NSEC3 record whose next name is not the next owner.
    NsecGap,
    /// A name server of the zone or of a delegation, with a name that the zone must have, without an address.
    NoAddress,
    /// The host of an NS, MX or SRV record is an alias.
    HostIsAlias,
    /// The records of a set fit into no message.
    SetTooLarge,
}

impl Cause {
    /// All causes, in the order of reports.
    const ALL: [Self; 15] = [
        Self::TtlsDiffer,
        Self::TtlTooLarge,
        Self::BelowDname,
        Self::NothingSigned,
        Self::Nsec3ParamIgnored,
        Self::Nsec3Ignored,
        Self::NoNsec3Param,
        Self::SignatureExpired,
        Self::SignatureNotYetValid,
        Self::NotSigned,
        Self::NoNsec,
        Self::NsecGap,
        Self::NoAddress,
        Self::HostIsAlias,
        Self::SetTooLarge,
    ];
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::TtlsDiffer => "records of one set have several TTLs (RFC 2181 §5.2); all get the smallest",
            Self::TtlTooLarge => "TTL of more than 2147483647 s (RFC 2181 §8); served as 0",
            Self::BelowDname => "records below a DNAME (RFC 6672 §2.4); ignored",
            Self::NothingSigned => "RRSIG of a type that this name does not have; ignored",
            Self::Nsec3ParamIgnored => {
                "NSEC3PARAM with flags, an unknown hash, or no NSEC3 for the apex (RFC 5155 §4.1.2); ignored"
            }
            Self::Nsec3Ignored => "NSEC3 outside of the chain that NSEC3PARAM names; ignored",
            Self::NoNsec3Param => {
                "NSEC3 records without NSEC3PARAM (RFC 5155 §7.3) deny nothing; sign the zone again"
            }
            Self::SignatureExpired => "signature expired; sign the zone again",
            Self::SignatureNotYetValid => {
                "signature not yet valid; check the clock of the signer and of this host"
            }
            Self::NotSigned => "no signature in a signed zone; sign the zone again",
            Self::NoNsec => "no NSEC record in a signed zone (RFC 4035 §2.3); sign the zone again",
            Self::NsecGap => "the next name is not the next owner of the chain; sign the zone again",
            Self::NoAddress => "name server in this zone without an address; add its A or AAAA record",
            Self::HostIsAlias => {
                "names a host that is an alias (RFC 2181 §10.3, RFC 2782); name the host that has the address"
            }
            Self::SetTooLarge => "records of one set take more than 65535 bytes: no response holds them",
        })
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.owner, self.rtype, self.cause)
    }
}

/// Warnings of a zone: the first of each cause, and how many there are.
#[derive(Clone, Debug, Default)]
pub struct Warnings {
    list: Vec<Warning>,
    /// Number of warnings of each cause, in the order of its variants.
    counts: [usize; Cause::ALL.len()],
}

impl Warnings {
    /// Warnings of a cause that are kept.
    pub const KEPT: usize = 3;

    /// The first [`KEPT`](Self::KEPT) of each cause, in the order in which they were found.
    pub fn list(&self) -> &[Warning] {
        &self.list
    }

    /// Number of warnings, those that were not kept included.
    pub fn count(&self) -> usize {
        self.counts.iter().sum()
    }

    /// Lines of a report, without line breaks: cause by cause, the warnings that were kept, and the number of
    /// the others.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        for (cause, count) in Cause::ALL.iter().zip(self.counts) {
            lines.extend(self.list.iter().filter(|found| found.cause == *cause).map(ToString::to_string));
            if let Some(others @ 1..) = count.checked_sub(Self::KEPT) {
                lines.push(format!("{others} more: {cause}"));
            }
        }
        lines
    }

    /// Adds a warning of an owner, which is not asked for if there are enough of this cause.
    pub(super) fn add(&mut self, owner: impl FnOnce() -> NameBuf, rtype: RecordType, cause: Cause) {
        let Some(count) = self.counts.get_mut(cause as usize) else { return };
        *count += 1;
        if *count <= Self::KEPT {
            self.list.push(Warning { owner: Box::new(owner()), rtype, cause });
        }
    }

    pub(super) fn memory(&self) -> usize {
        self.list.capacity() * size_of::<Warning>() + self.list.len() * size_of::<NameBuf>()
    }
}
