//! The options of a query and of its response (RFC 6891 §6.1.2).

use super::cookie::{CLIENT_LEN, COOKIE_LEN};
use super::writer::{Full, Writer};
use super::{Asker, Settings, Transport};
use crate::render::Edns;
use crate::wire::{Class, Rcode, RecordType, Section};

/// Name server identifier (RFC 5001).
const NSID: u16 = 3;
/// Cookie (RFC 7873).
const COOKIE: u16 = 10;
/// Timeout of a TCP connection (RFC 7828).
const KEEPALIVE: u16 = 11;
/// Extended error (RFC 8914).
const EXTENDED_ERROR: u16 = 15;

/// Code of an extended error: the server has no such zone (RFC 8914 §4.21).
pub(super) const NOT_AUTHORITATIVE: u16 = 20;
/// Code of an extended error: the client has no right to the operation (RFC 8914 §4.19).
pub(super) const PROHIBITED: u16 = 18;
/// Code of an extended error: the zone is not loaded (RFC 8914 §4.15).
pub(super) const NOT_READY: u16 = 14;

/// Bytes of an OPT record without options.
const OPT_LEN: usize = 11;

/// The OPT record of a response.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Reply {
    /// DO of the query, which the response repeats (RFC 3225 §3).
    pub(super) dnssec: bool,
    /// NSID was asked for.
    nsid: bool,
    cookie: Option<[u8; COOKIE_LEN]>,
    /// The timeout was asked for, over TCP.
    keepalive: bool,
    /// The query has a valid cookie of this server.
    pub(super) is_known: bool,
}

impl Reply {
    /// Reads the options of a query.
    ///
    /// # Errors
    /// FORMERR for a cookie of a length that there is not (RFC 7873 §5.2.2).
    pub(super) fn of(edns: &Edns<'_>, settings: &Settings, asker: &Asker) -> Result<Self, Rcode> {
        let mut reply = Self { dnssec: edns.dnssec_ok, ..Self::default() };
        let mut options = edns.options;
        while let [a, b, c, d, rest @ ..] = options {
            let (code, len) = (u16::from_be_bytes([*a, *b]), u16::from_be_bytes([*c, *d]));
            let Some((data, rest)) = rest.split_at_checked(usize::from(len)) else { break };
            options = rest;
            match (code, &settings.cookies) {
                (NSID, _) => reply.nsid = !settings.nsid.is_empty(),
                // Over UDP it has no meaning (RFC 7828 §3.2.1).
                (KEEPALIVE, _) => reply.keepalive = asker.transport == Transport::Tcp,
                // The first of several (RFC 7873 §5.2).
                (COOKIE, Some(cookies)) if reply.cookie.is_none() => {
                    if !matches!(data.len(), CLIENT_LEN | 16..=40) {
                        return Err(Rcode::FORMAT_ERROR);
                    }
                    let checked = cookies.check(data, asker.address, asker.now);
                    (reply.cookie, reply.is_known) =
                        checked.map_or((None, false), |(cookie, is_known)| (Some(cookie), is_known));
                }
                _ => {}
            }
        }
        Ok(reply)
    }

    /// Bytes of the record, without its extended error.
    pub(super) fn len(&self, settings: &Settings) -> usize {
        let nsid = if self.nsid { 4 + settings.nsid.len() } else { 0 };
        let keepalive = if self.keepalive { 6 } else { 0 };
        OPT_LEN + nsid + keepalive + self.cookie.map_or(0, |cookie| 4 + cookie.len())
    }

    /// Writes the record. An extended error is left out if there is no room for its 6 bytes.
    pub(super) fn write(
        &self,
        writer: &mut Writer<'_>,
        settings: &Settings,
        rcode: Rcode,
        error: Option<u16>,
    ) -> Result<(), Full> {
        writer.bytes(&[0])?;
        let ttl = u32::from(rcode.0 >> 4) << 24 | u32::from(self.dnssec) << 15;
        let from = writer.head(RecordType::OPT, Class(settings.max_udp), ttl)?;
        if self.nsid {
            option(writer, NSID, &settings.nsid)?;
        }
        if let Some(cookie) = &self.cookie {
            option(writer, COOKIE, cookie)?;
        }
        if self.keepalive {
            option(writer, KEEPALIVE, &settings.keepalive.to_be_bytes())?;
        }
        if let Some(error) = error
            && writer.room() >= 6
        {
            option(writer, EXTENDED_ERROR, &error.to_be_bytes())?;
        }
        writer.end_data(from);
        writer.add(Section::Additional);
        Ok(())
    }
}

fn option(writer: &mut Writer<'_>, code: u16, data: &[u8]) -> Result<(), Full> {
    let ([a, b], [c, d]) = (code.to_be_bytes(), (data.len() as u16).to_be_bytes());
    writer.bytes(&[a, b, c, d])?;
    writer.bytes(data)
}
