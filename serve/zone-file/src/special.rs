//! Types whose data are no plain sequence of fields.

use crate::error::FaultKind;
use crate::field::{expect, found, read, standard, u8_of};
use crate::name;
use crate::number::decimal;
use crate::scan::{Scanner, Token};
use crate::types;
use data_encoding::{BASE64, HEXUPPER_PERMISSIVE};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Appends a location (RFC 1876 §3): `D [M [S]] N|S D [M [S]] E|W ALTITUDE [SIZE [HORIZONTAL [VERTICAL]]]`.
pub(super) fn loc(scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), FaultKind> {
    let latitude = angle(scanner, 90, *b"NS", "N or S")?;
    let longitude = angle(scanner, 180, *b"EW", "E or W")?;
    let altitude = "an altitude in metres, from -100000 to 42849672.95";
    let height = read(scanner, altitude, |text| {
        let (sign, digits) = match text {
            [b'-', digits @ ..] => (-1, digits),
            digits => (1, digits),
        };
        // 0 is 100,000 m below the reference.
        u32::try_from(10_000_000 + sign * i64::try_from(centimetres(digits)?).ok()?).ok()
    })?;
    // The defaults of RFC 1876 §3: 1 m, 10 km, 10 m.
    let mut precisions = [0x12, 0x16, 0x13];
    for precision in &mut precisions {
        let Some(token) = scanner.next()? else { break };
        let size = centimetres(token.text).and_then(power);
        *precision = size.ok_or_else(|| found("a size in metres, up to 90000000", token))?;
    }
    out.push(0);
    out.extend_from_slice(&precisions);
    for value in [latitude, longitude, height] {
        out.extend_from_slice(&value.to_be_bytes());
    }
    Ok(())
}

/// An angle in thousandths of a second of arc, plus 2³¹ (RFC 1876 §2). The second letter of `sides` is the
/// negative one.
fn angle(scanner: &mut Scanner<'_>, most: u32, sides: [u8; 2], side: &'static str) -> Result<u32, FaultKind> {
    let mut parts = [0_u32; 3];
    let mut next = None;
    let fields = ["degrees", "minutes or a side", "seconds or a side"];
    for (number, (part, field)) in parts.iter_mut().zip(fields).enumerate() {
        let token = expect(scanner, field)?;
        if number > 0 && side_of(token, sides).is_some() {
            next = Some(token);
            break;
        }
        let value = match number {
            2 => thousandths(token.text).filter(|value| *value < 60_000),
            0 => decimal(token.text).filter(|value| *value <= most),
            _ => decimal(token.text).filter(|value| *value < 60),
        };
        *part = value.ok_or_else(|| found(field, token))?;
    }
    let token = match next {
        Some(token) => token,
        None => expect(scanner, side)?,
    };
    let negative = side_of(token, sides).ok_or_else(|| found(side, token))?;
    let [degrees, minutes, seconds] = parts;
    let value = degrees * 3_600_000 + minutes * 60_000 + seconds;
    if value > most * 3_600_000 {
        return Err(found("an angle of at most 90° of latitude, 180° of longitude", token));
    }
    Ok(if negative { (1 << 31) - value } else { (1 << 31) + value })
}

/// True for the negative side.
fn side_of(token: Token<'_>, sides: [u8; 2]) -> Option<bool> {
    let [letter] = *token.text else { return None };
    sides.iter().position(|side| *side == letter.to_ascii_uppercase()).map(|place| place == 1)
}

/// Hundredths of a decimal number with at most two places, with or without the unit `m`.
fn centimetres(text: &[u8]) -> Option<u64> {
    fixed(text.strip_suffix(b"m").or(text.strip_suffix(b"M")).unwrap_or(text), 2)
}

/// Thousandths of a decimal number with at most three places.
fn thousandths(text: &[u8]) -> Option<u32> {
    fixed(text, 3)?.try_into().ok()
}

/// A decimal number with at most `places` places, times ten to their power.
fn fixed(text: &[u8], places: usize) -> Option<u64> {
    let (whole, part) = match text.iter().position(|byte| *byte == b'.') {
        Some(dot) => (text.get(..dot)?, text.get(dot + 1..)?),
        None => (text, &b""[..]),
    };
    if part.len() > places {
        return None;
    }
    let mut value = u64::from(decimal(whole)?);
    for place in 0..places {
        let digit = part.get(place).copied().unwrap_or(b'0');
        value = 10 * value + u64::from(digit.checked_sub(b'0').filter(|digit| *digit < 10)?);
    }
    Some(value)
}

/// Centimetres as a digit and a power of ten (RFC 1876 §2), rounded down; at most 9 × 10⁹.
fn power(mut value: u64) -> Option<u8> {
    let mut exponent = 0;
    while value > 9 {
        value /= 10;
        exponent += 1;
    }
    (exponent < 10).then_some((value as u8) << 4 | exponent)
}

/// Appends address prefixes (RFC 3123 §5): `[!]FAMILY:ADDRESS/PREFIX`, any number of them.
pub(super) fn apl(scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), FaultKind> {
    let start = out.len();
    while let Some(token) = scanner.next()? {
        let field = "an address prefix, such as 1:192.0.2.0/24 or !2:2001:db8::/32";
        prefix(token.text, out).ok_or_else(|| found(field, token))?;
        if out.len() - start > usize::from(u16::MAX) {
            return Err(FaultKind::DataTooLong);
        }
    }
    Ok(())
}

fn prefix(text: &[u8], out: &mut Vec<u8>) -> Option<()> {
    let (negated, text) = match text {
        [b'!', text @ ..] => (0x80, text),
        text => (0, text),
    };
    let text = std::str::from_utf8(text).ok()?;
    let (family, rest) = text.split_once(':')?;
    let (address, len) = rest.split_once('/')?;
    let len = decimal(len.as_bytes())?;
    let (address, most) = match (family, address.parse().ok()?) {
        ("1", IpAddr::V4(address)) => (address.octets().to_vec(), 32),
        ("2", IpAddr::V6(address)) => (address.octets().to_vec(), 128),
        _ => return None,
    };
    // Zeros at the end are left out.
    let used = address.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let len = u8::try_from(len).ok().filter(|len| *len <= most)?;
    out.extend_from_slice(&[0, if most == 32 { 1 } else { 2 }, len, negated | used as u8]);
    out.extend_from_slice(address.get(..used)?);
    Some(())
}

/// Appends a host identity (RFC 8005 §6): `ALGORITHM HIT KEY [SERVER…]`.
pub(super) fn hip(
    scanner: &mut Scanner<'_>,
    origin: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), FaultKind> {
    let algorithm = u8_of(scanner)?;
    let hit = read(scanner, "a host identity tag in hex digits", |text| {
        HEXUPPER_PERMISSIVE.decode(text).ok().filter(|hit| (1..=255).contains(&hit.len()))
    })?;
    let key = read(scanner, "a public key in base 64", |text| {
        BASE64.decode(text).ok().filter(|key| !key.is_empty())
    })?;
    let key_len = u16::try_from(key.len()).map_err(|_| FaultKind::DataTooLong)?;
    let start = out.len();
    out.extend_from_slice(&[hit.len() as u8, algorithm]);
    out.extend_from_slice(&key_len.to_be_bytes());
    out.extend_from_slice(&hit);
    out.extend_from_slice(&key);
    while let Some(token) = scanner.next()? {
        name::name(token, origin, out)?;
        if out.len() - start > usize::from(u16::MAX) {
            return Err(FaultKind::DataTooLong);
        }
    }
    Ok(())
}

/// Appends an address of the OSI (RFC 1706 §7): `0x` and hex digits, with dots anywhere between them.
pub(super) fn nsap(scanner: &mut Scanner<'_>, out: &mut Vec<u8>) -> Result<(), FaultKind> {
    let address = read(scanner, "an address as 0x and hex digits, such as 0x47.0005.80", |text| {
        let ([b'0', b'x' | b'X'], digits) = text.split_at_checked(2)? else { return None };
        let digits: Vec<u8> = digits.iter().copied().filter(|byte| *byte != b'.').collect();
        HEXUPPER_PERMISSIVE.decode(&digits).ok().filter(|address| !address.is_empty())
    })?;
    out.extend_from_slice(&address);
    Ok(())
}

/// Appends a relay of multicast (RFC 8777 §4.3.1): `PRECEDENCE D TYPE RELAY`. The relay of type 0 is a dot,
/// of type 1 and 2 an address, of type 3 a name.
pub(super) fn amtrelay(
    scanner: &mut Scanner<'_>,
    origin: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), FaultKind> {
    let precedence = u8_of(scanner)?;
    let discovery = read(scanner, "a discovery bit of 0 or 1", |text| decimal(text).filter(|bit| *bit < 2))?;
    let relay = read(scanner, "a type of relay, 0 to 3", |text| decimal(text).filter(|rtype| *rtype < 4))?;
    out.extend_from_slice(&[precedence, (discovery << 7 | relay) as u8]);
    match relay {
        0 => read(scanner, "a dot, as there is no relay", |text| (text == b".").then_some(()))?,
        1 => out.extend_from_slice(&read(scanner, "an IPv4 address", standard::<Ipv4Addr>)?.octets()),
        2 => out.extend_from_slice(&read(scanner, "an IPv6 address", standard::<Ipv6Addr>)?.octets()),
        _ => name::name(expect(scanner, "a name")?, origin, out)?,
    }
    Ok(())
}

/// Appends a part of an IPv6 address (RFC 2874 §3.2): `LENGTH [ADDRESS] [NAME]`. The address may be left out
/// if the length is 128, and there is no name if it is 0.
pub(super) fn a6(
    scanner: &mut Scanner<'_>,
    origin: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), FaultKind> {
    let len = read(scanner, "the length of a prefix, 0 to 128", |text| {
        u8::try_from(decimal(text)?).ok().filter(|len| *len <= 128)
    })?;
    out.push(len);
    let mut next = expect(scanner, if len < 128 { "an IPv6 address" } else { "a name" })?;
    match standard::<Ipv6Addr>(next.text) {
        Some(address) => {
            let suffix = address.to_bits() & u128::MAX.checked_shr(len.into()).unwrap_or(0);
            // Without the whole bytes of the prefix, which may be all 16.
            out.extend(suffix.to_be_bytes().iter().skip(usize::from(len / 8)));
            if len == 0 {
                return Ok(());
            }
            next = expect(scanner, "a name")?;
        }
        None if len < 128 => return Err(found("an IPv6 address", next)),
        None => {}
    }
    name::name(next, origin, out)
}

/// Appends the next name of a zone and the types of this one (RFC 2535 §5.2): `NAME TYPE…`. Types are below
/// 128.
pub(super) fn nxt(
    scanner: &mut Scanner<'_>,
    origin: Option<&[u8]>,
    out: &mut Vec<u8>,
) -> Result<(), FaultKind> {
    name::name(expect(scanner, "a name")?, origin, out)?;
    let start = out.len();
    while let Some(token) = scanner.next()? {
        let rtype = types::rtype(token.text).filter(|rtype| (1..128).contains(rtype));
        let rtype = rtype.ok_or_else(|| found("a type of 1 to 127", token))?;
        let at = start + usize::from(rtype / 8);
        out.resize(out.len().max(at + 1), 0);
        if let Some(byte) = out.get_mut(at) {
            *byte |= 0x80 >> (rtype % 8);
        }
    }
    match out.len() > start {
        true => Ok(()),
        false => Err(FaultKind::Expected { field: "a type of 1 to 127", found: None }),
    }
}
