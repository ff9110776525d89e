//! The names by which a server tells of itself, in class CH (RFC 4892).

use super::Settings;
use super::writer::{Full, Owner, Writer};
use crate::wire::{Class, RecordType, Section};
use hashlane_name::dns::Name;

/// Text of a name of class CH.
pub(super) fn text<'s>(name: Name<'_>, settings: &'s Settings) -> Option<&'s [u8]> {
    let is = |wire: &[u8]| name.as_bytes().eq_ignore_ascii_case(wire);
    let text = if is(b"\x07version\x04bind\0") || is(b"\x07version\x06server\0") {
        &settings.version
    } else if is(b"\x02id\x06server\0") || is(b"\x08hostname\x04bind\0") {
        &settings.identity
    } else {
        return None;
    };
    Some(text).filter(|text| !text.is_empty()).map(|text| &text[..])
}

/// Writes a TXT record owned by the name of the question.
pub(super) fn write(writer: &mut Writer<'_>, text: &[u8]) -> Result<(), Full> {
    let Owner::At(at) = Owner::QUESTION else { return Ok(()) };
    writer.bytes(&(0xc000 | at).to_be_bytes())?;
    let from = writer.head(RecordType::TXT, Class::CH, 0)?;
    for string in text.chunks(255) {
        writer.bytes(&[string.len() as u8])?;
        writer.bytes(string)?;
    }
    writer.end_data(from);
    writer.add(Section::Answer);
    Ok(())
}
