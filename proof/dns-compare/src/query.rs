//! Queries.

use hashlane_dns::wire::{Class, RecordType};
use hashlane_name::dns::NameBuf;
use std::fmt;

/// EDNS of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Edns {
    pub(crate) size: u16,
    pub(crate) version: u8,
    pub(crate) dnssec: bool,
    pub(crate) options: Vec<(u16, Vec<u8>)>,
}

/// A query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Query {
    /// Number of the zone that it was made for.
    pub(crate) zone: usize,
    pub(crate) name: NameBuf,
    pub(crate) rtype: u16,
    pub(crate) class: u16,
    pub(crate) opcode: u8,
    /// RD, AD, CD.
    pub(crate) flags: u16,
    pub(crate) edns: Option<Edns>,
    /// Bytes that follow the identifier, where they are no regular query.
    pub(crate) raw: Option<Vec<u8>>,
}

pub(crate) const RD: u16 = 0x0100;
pub(crate) const AD: u16 = 0x0020;
pub(crate) const CD: u16 = 0x0010;

impl Query {
    /// A query of class IN without flags and EDNS.
    pub(crate) fn plain(name: NameBuf, rtype: u16) -> Self {
        Self { zone: 0, name, rtype, class: 1, opcode: 0, flags: 0, edns: None, raw: None }
    }

    /// Bytes of an answer over UDP at most.
    pub(crate) fn limit(&self) -> usize {
        self.edns.as_ref().map_or(512, |edns| usize::from(edns.size).clamp(512, 1232))
    }

    /// The message.
    pub(crate) fn to_bytes(&self, id: u16) -> Vec<u8> {
        let mut bytes = id.to_be_bytes().to_vec();
        if let Some(raw) = &self.raw {
            bytes.extend(raw);
            return bytes;
        }
        bytes.extend((self.flags | u16::from(self.opcode) << 11).to_be_bytes());
        bytes.extend([0, 1, 0, 0, 0, 0, 0, u8::from(self.edns.is_some())]);
        bytes.extend(self.name.as_bytes());
        bytes.extend([self.rtype.to_be_bytes(), self.class.to_be_bytes()].as_flattened());
        if let Some(Edns { size, version, dnssec, options }) = &self.edns {
            bytes.extend([0, 0, 41]);
            bytes.extend(size.to_be_bytes());
            bytes.extend([0, *version, u8::from(*dnssec) << 7, 0]);
            let data: Vec<u8> = options
                .iter()
                .flat_map(|(code, data)| {
                    [&code.to_be_bytes()[..], &(data.len() as u16).to_be_bytes(), data].concat()
                })
                .collect();
            bytes.extend((data.len() as u16).to_be_bytes());
            bytes.extend(data);
        }
        bytes
    }
}

impl fmt::Display for Query {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(raw) = &self.raw {
            return write!(f, "bytes after the identifier: {raw:02x?}");
        }
        write!(f, "{} {} {}", self.name, Class(self.class), RecordType(self.rtype))?;
        if self.opcode > 0 {
            write!(f, " opcode {}", self.opcode)?;
        }
        for (flag, name) in [(RD, "rd"), (AD, "ad"), (CD, "cd")] {
            if self.flags & flag > 0 {
                write!(f, " {name}")?;
            }
        }
        if let Some(Edns { size, version, dnssec, options }) = &self.edns {
            write!(f, " edns{version} {size}{}", if *dnssec { " do" } else { "" })?;
            for (code, data) in options {
                write!(f, " option {code} {data:02x?}")?;
            }
        }
        Ok(())
    }
}
