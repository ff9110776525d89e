//! Messages as hex text.
//!
//! Two digits are an octet, white space means nothing, and `#` begins a comment to the end of its line. An empty line ends a
//! message.

use anyhow::{Result, bail};
use hashlane_dns::MAX_MESSAGE_LEN;
use std::fmt::Write as _;

/// Octets of a line that is written.
const LINE: usize = 32;

/// Whether `text` is hex text, by its characters.
pub(super) fn is_hex(text: &[u8]) -> bool {
    let mut octets = text.split(|octet| *octet == b'\n').flat_map(without_comment);
    let mut digits = false;
    octets.all(|octet| {
        digits |= octet.is_ascii_hexdigit();
        octet.is_ascii_hexdigit() || octet.is_ascii_whitespace()
    }) && digits
}

/// The octets of each message, and the line where it begins.
pub(super) fn parse(text: &[u8]) -> Result<Vec<(usize, Vec<u8>)>> {
    let mut messages = Vec::new();
    let (mut begun, mut octets, mut half) = (1, Vec::new(), None);
    // A last line that is empty ends the last message.
    for (number, line) in (1..).zip(text.split(|octet| *octet == b'\n').chain([&b""[..]])) {
        for octet in without_comment(line) {
            let digit = match char::from(*octet).to_digit(16) {
                Some(digit) => digit as u8,
                None if octet.is_ascii_whitespace() => continue,
                None => bail!("line {number}: {:?} is no hex digit", octet.escape_ascii().to_string()),
            };
            match half.take() {
                None => half = Some(digit),
                Some(high) => octets.push(high << 4 | digit),
            }
            if octets.is_empty() {
                begun = number;
            }
            if octets.len() > MAX_MESSAGE_LEN {
                bail!(
                    "the message that begins in line {begun} has more than {MAX_MESSAGE_LEN} octets; an empty line \
                     ends a message"
                );
            }
        }
        if line.trim_ascii().is_empty() {
            if half.is_some() {
                bail!(
                    "the message that begins in line {begun} ends with half an octet, before line {number}"
                );
            }
            if !octets.is_empty() {
                messages.push((begun, std::mem::take(&mut octets)));
            }
        }
    }
    Ok(messages)
}

/// Writes a message, and the empty line that ends it.
pub(super) fn text(octets: &[u8]) -> String {
    let mut text = String::with_capacity(2 * octets.len() + octets.len() / LINE + 2);
    for line in octets.chunks(LINE) {
        for octet in line {
            // A string takes whatever comes.
            let _ = write!(text, "{octet:02x}");
        }
        text.push('\n');
    }
    text.push('\n');
    text
}

fn without_comment(line: &[u8]) -> &[u8] {
    line.split(|octet| *octet == b'#').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_what_it_writes() {
        let octets: Vec<u8> = (0..=255).collect();
        let written = ["# one\n", &text(&octets), "# two\n", &text(&octets[..3])].concat();
        assert!(is_hex(written.as_bytes()));
        assert_eq!(parse(written.as_bytes()).unwrap(), [(2, octets.clone()), (12, octets[..3].to_vec())]);
        assert_eq!(written.lines().nth(1).unwrap().len(), 64);
    }

    #[test]
    fn spaces_and_comments_do_not_end_a_message() {
        let text = b"\r\n\n 0 1  a\tB# c\r\n#\n 02\r\n\r\n\n03";
        assert_eq!(parse(text).unwrap(), [(3, vec![1, 0xab, 2]), (8, vec![3])]);
    }

    #[test]
    fn tells_hex_from_other_text() {
        for text in ["", "# 00", " \n", "a. A 192.0.2.1", "; 00", "0x00"] {
            assert!(!is_hex(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn says_where_text_is_no_hex() {
        let says = |text: &str| parse(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(says("00\n0g"), "line 2: \"g\" is no hex digit");
        assert_eq!(
            says("\n000\n"),
            "the message that begins in line 2 ends with half an octet, before line 3"
        );
        assert!(says(&"00".repeat(65_536)).contains("has more than 65535 octets"));
    }
}
