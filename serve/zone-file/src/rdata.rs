//! Record data from text to wire form.

use crate::error::FaultKind;
use crate::field::{expect, found, read, standard, u8_of, u16_of};
use crate::number::{decimal, stamp, time};
use crate::scan::Scanner;
use crate::types::{self, Field, Form};
use crate::{library, name, special, wks};
use data_encoding::{BASE32HEX_NOPAD, BASE64, HEXUPPER, HEXUPPER_PERMISSIVE};
use hashlane_dns::slices::Parts as _;
use hashlane_dns::wire::{Rdata, RecordType};
use std::net::{Ipv4Addr, Ipv6Addr};

/// Most bytes of record data.
const MAX_DATA: usize = u16::MAX as usize;

/// Reads record data; keeps the memory for digits from one record to the next.
#[derive(Debug, Default)]
pub(super) struct Data {
    digits: Vec<u8>,
}

impl Data {
    /// Appends the data of a record of type `rtype`, from after the type to the end of the record.
    pub(super) fn read(
        &mut self,
        rtype: u16,
        scanner: &mut Scanner<'_>,
        origin: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), FaultKind> {
        let start = out.len();
        if let Some(marked) = generic(scanner) {
            *scanner = marked;
            self.generic(scanner, out)?;
            let data = out.part(start..);
            return check(rtype, data);
        }
        match types::form(rtype) {
            Some(Form::Fields(fields)) => {
                for field in fields {
                    self.field(*field, scanner, origin, out)?;
                }
            }
            Some(Form::Loc) => special::loc(scanner, out)?,
            Some(Form::Apl) => special::apl(scanner, out)?,
            Some(Form::Hip) => special::hip(scanner, origin, out)?,
            Some(Form::Nsap) => special::nsap(scanner, out)?,
            Some(Form::Wks) => wks::wks(scanner, out)?,
            Some(Form::AmtRelay) => special::amtrelay(scanner, origin, out)?,
            Some(Form::A6) => special::a6(scanner, origin, out)?,
            Some(Form::Nxt) => special::nxt(scanner, origin, out)?,
            Some(Form::Library) => library::read(rtype, scanner, origin, out)?,
            Some(Form::Generic) | None => {
                return Err(FaultKind::TypeWithoutText(RecordType(rtype).to_string()));
            }
        }
        if let Some(token) = scanner.next()? {
            return Err(FaultKind::Trailing(token.shown()));
        }
        if out.len() - start > MAX_DATA { Err(FaultKind::DataTooLong) } else { Ok(()) }
    }

    fn field(
        &mut self,
        field: Field,
        scanner: &mut Scanner<'_>,
        origin: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<(), FaultKind> {
        match field {
            Field::Name => name::name(expect(scanner, "a name")?, origin, out)?,
            Field::U8 => out.push(u8_of(scanner)?),
            Field::U16 => out.extend_from_slice(&u16_of(scanner)?.to_be_bytes()),
            Field::U32 => {
                let value = read(scanner, "a number of 0 to 4294967295", decimal)?;
                out.extend_from_slice(&value.to_be_bytes());
            }
            Field::Time => {
                let value = read(scanner, "a time, such as 3600 or 1h30m", time)?;
                out.extend_from_slice(&value.to_be_bytes());
            }
            Field::Ipv4 => {
                let address: Ipv4Addr = read(scanner, "an IPv4 address", standard)?;
                out.extend_from_slice(&address.octets());
            }
            Field::Ipv6 => {
                let address: Ipv6Addr = read(scanner, "an IPv6 address", standard)?;
                out.extend_from_slice(&address.octets());
            }
            Field::String => name::string(expect(scanner, "a string")?, out)?,
            Field::Strings => {
                let start = out.len();
                name::string(expect(scanner, "a string")?, out)?;
                while let Some(token) = scanner.next()? {
                    name::string(token, out)?;
                    if out.len() - start > MAX_DATA {
                        return Err(FaultKind::DataTooLong);
                    }
                }
            }
            Field::Text => name::text(expect(scanner, "text")?, out)?,
            Field::Hex => {
                self.collect(scanner, "hex digits")?;
                self.hex("an even number of hex digits", out)?;
            }
            Field::Salt => {
                let token = expect(scanner, SALT)?;
                let digits = if token.is(b"-") { &[] } else { token.text };
                let salt = HEXUPPER_PERMISSIVE.decode(digits).map_err(|_| found(SALT, token))?;
                out.push(u8::try_from(salt.len()).map_err(|_| found(SALT, token))?);
                out.extend_from_slice(&salt);
            }
            Field::Hash => {
                let token = expect(scanner, HASH)?;
                let digits = token.text.to_ascii_uppercase();
                let hash = BASE32HEX_NOPAD.decode(&digits).map_err(|_| found(HASH, token))?;
                let len = u8::try_from(hash.len()).ok().filter(|len| *len > 0);
                out.push(len.ok_or_else(|| found(HASH, token))?);
                out.extend_from_slice(&hash);
            }
            Field::Base64 => self.base64(scanner, out)?,
            Field::Bitmap => bitmap(scanner, out)?,
            Field::Type => {
                let value = read(scanner, "a type", types::rtype)?;
                out.extend_from_slice(&value.to_be_bytes());
            }
            Field::Algorithm => {
                let number = |text: &[u8]| match decimal(text) {
                    Some(number) => u8::try_from(number).ok(),
                    None => types::algorithm(text),
                };
                out.push(read(scanner, "a DNSSEC algorithm by its number or mnemonic", number)?);
            }
            Field::Stamp => {
                let value = read(scanner, "a time as YYYYMMDDHHmmSS", stamp)?;
                out.extend_from_slice(&value.to_be_bytes());
            }
            Field::Certificate => {
                let number = |text: &[u8]| match decimal(text) {
                    Some(number) => u16::try_from(number).ok(),
                    None => types::certificate(text),
                };
                let value = read(scanner, "a type of certificate by its number or mnemonic", number)?;
                out.extend_from_slice(&value.to_be_bytes());
            }
            Field::Eui48 => {
                out.extend(read(scanner, "6 bytes in hex digits, such as 00-00-5e-00-53-2a", eui::<6>)?);
            }
            Field::Eui64 => {
                out.extend(read(
                    scanner,
                    "8 bytes in hex digits, such as 00-00-5e-ef-10-00-00-2a",
                    eui::<8>,
                )?);
            }
            Field::Locator => {
                out.extend(
                    read(scanner, "four groups of hex digits, such as 2001:db8:0:1", locator)?.as_flattened(),
                );
            }
        }
        Ok(())
    }

    /// Takes the rest of the record as digits without the spaces between them.
    fn collect(&mut self, scanner: &mut Scanner<'_>, field: &'static str) -> Result<(), FaultKind> {
        self.digits.clear();
        while let Some(token) = scanner.next()? {
            if token.quoted {
                return Err(found(field, token));
            }
            self.digits.extend_from_slice(token.text);
            if self.digits.len() > 2 * MAX_DATA {
                return Err(FaultKind::DataTooLong);
            }
        }
        Ok(())
    }

    /// Appends the bytes of the collected hex digits.
    fn hex(&mut self, field: &'static str, out: &mut Vec<u8>) -> Result<(), FaultKind> {
        decode(&HEXUPPER_PERMISSIVE, &self.digits, field, out)
    }

    fn base64(&mut self, scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), FaultKind> {
        let field = "base 64, with = at its end where needed";
        self.collect(scanner, field)?;
        // A delete record of RFC 8078 §4 has the single digit 0 in place of a key.
        if self.digits == b"0" {
            out.push(0);
            return Ok(());
        }
        if self.digits.is_empty() {
            return Err(FaultKind::Expected { field, found: None });
        }
        decode(&BASE64, &self.digits, field, out)
    }

    /// Appends data in generic form (RFC 3597 §5), after `\#`.
    fn generic(&mut self, scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), FaultKind> {
        let stated = usize::from(u16_of(scanner)?);
        let start = out.len();
        self.collect(scanner, "hex digits")?;
        self.hex("an even number of hex digits", out)?;
        let found = out.len() - start;
        if found == stated { Ok(()) } else { Err(FaultKind::GenericLength { stated, found }) }
    }
}

const SALT: &str = "a salt: - or at most 255 bytes in hex digits";
const HASH: &str = "a hash in base 32, in the digits 0 to 9 and A to V";

/// Appends decoded digits.
fn decode(
    encoding: &data_encoding::Encoding,
    digits: &[u8],
    field: &'static str,
    out: &mut Vec<u8>,
) -> Result<(), FaultKind> {
    let refused = || FaultKind::Expected { field, found: Some(super::scan::shown(digits)) };
    let start = out.len();
    let most = encoding.decode_len(digits.len()).map_err(|_| refused())?;
    if most > MAX_DATA + 2 {
        return Err(FaultKind::DataTooLong);
    }
    out.resize(start + most, 0);
    let into = out.part_mut(start..);
    let len = encoding.decode_mut(digits, into).map_err(|_| refused())?;
    out.truncate(start + len);
    Ok(())
}

/// The scanner after the mark of the generic form, if that stands next.
fn generic<'t>(scanner: &Scanner<'t>) -> Option<Scanner<'t>> {
    if !scanner.may_escape() {
        return None;
    }
    let mut after = scanner.clone();
    let token = after.next().ok()??;
    (!token.quoted && token.text == b"\\#").then_some(after)
}

/// Appends a set of types: for each block of 256 types with one in the set, its number, the length of a bit
/// string, and the bit string (RFC 4034 §4.1.2).
fn bitmap(scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), FaultKind> {
    let mut types = Vec::new();
    while let Some(token) = scanner.next()? {
        types.push(types::rtype(token.text).ok_or_else(|| found("a type", token))?);
        // Mentioned twice, or from the list of all types: more than there are.
        if types.len() > 2 * MAX_DATA {
            return Err(FaultKind::DataTooLong);
        }
    }
    types.sort_unstable();
    for window in types.chunk_by(|a, b| a >> 8 == b >> 8) {
        let (Some(first), Some(last)) = (window.first(), window.last()) else { continue };
        let len = (last & 0xff) / 8 + 1;
        out.extend_from_slice(&[(first >> 8) as u8, len as u8]);
        let start = out.len();
        out.resize(start + usize::from(len), 0);
        for rtype in window {
            if let Some(byte) = out.get_mut(start + usize::from(rtype & 0xff) / 8) {
                *byte |= 0x80 >> (rtype % 8);
            }
        }
    }
    Ok(())
}

fn eui<const N: usize>(text: &[u8]) -> Option<[u8; N]> {
    let mut bytes = [0; N];
    let mut pairs = text.split(|byte| *byte == b'-');
    for byte in &mut bytes {
        let pair = pairs.next()?;
        [*byte] = HEXUPPER.decode(&pair.to_ascii_uppercase()).ok()?.try_into().ok()?;
    }
    pairs.next().is_none().then_some(bytes)
}

fn locator(text: &[u8]) -> Option<[[u8; 2]; 4]> {
    let mut groups = [[0; 2]; 4];
    let mut words = text.split(|byte| *byte == b':');
    for group in &mut groups {
        let word = words.next().filter(|word| (1..=4).contains(&word.len()))?;
        let digits = word.iter().all(u8::is_ascii_hexdigit).then(|| std::str::from_utf8(word).ok())??;
        *group = u16::from_str_radix(digits, 16).ok()?.to_be_bytes();
    }
    words.next().is_none().then_some(groups)
}

/// Checks data in generic form against the type's own, as far as answers depend on it.
fn check(rtype: u16, data: &[u8]) -> Result<(), FaultKind> {
    let refused = |why: &str| FaultKind::Data(format!("data that {} cannot have: {why}", RecordType(rtype)));
    if data.is_empty() {
        // APL alone may have none.
        return match types::form(rtype) {
            None | Some(Form::Apl | Form::Generic) => Ok(()),
            Some(_) => Err(refused("none")),
        };
    }
    Rdata::parse(RecordType(rtype), data).map_err(|error| refused(&error.to_string()))?;
    if let Some(Form::Fields(fields)) = types::form(rtype) {
        let rest = fields.iter().try_fold(data, |rest, field| skip(*field, rest));
        match rest {
            None => return Err(refused("bytes are missing or malformed")),
            Some([]) => {}
            Some(_) => return Err(refused("trailing bytes")),
        }
    }
    Ok(())
}

/// The data after a field in wire form.
fn skip(field: Field, data: &[u8]) -> Option<&[u8]> {
    let fixed = |len: usize| data.get(len..);
    let string = |data: &'_ [u8]| -> Option<usize> {
        let len = 1 + usize::from(*data.first()?);
        (len <= data.len()).then_some(len)
    };
    match field {
        Field::Name => {
            let name = hashlane_name::dns::Name::parse_first(data).ok()?;
            data.get(name.len()..)
        }
        Field::U8 | Field::Algorithm => fixed(1),
        Field::U16 | Field::Type | Field::Certificate => fixed(2),
        Field::U32 | Field::Time | Field::Stamp | Field::Ipv4 => fixed(4),
        Field::Eui48 => fixed(6),
        Field::Eui64 | Field::Locator => fixed(8),
        Field::Ipv6 => fixed(16),
        Field::String | Field::Salt | Field::Hash => data.get(string(data)?..),
        Field::Strings => {
            let mut rest = data.get(string(data)?..)?;
            while !rest.is_empty() {
                rest = rest.get(string(rest)?..)?;
            }
            Some(rest)
        }
        Field::Text | Field::Hex | Field::Base64 => Some(&[]),
        Field::Bitmap => {
            let (mut rest, mut last) = (data, None);
            while let [window, len @ 1..=32, after @ ..] = rest {
                if last.is_some_and(|last| last >= *window) {
                    return None;
                }
                last = Some(*window);
                rest = after.get(usize::from(*len)..)?;
            }
            rest.is_empty().then_some(rest)
        }
    }
}
