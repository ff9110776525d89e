//! Messages as hex text.
//!
//! Two digits are a byte, white space is ignored, and `#` begins a comment to the end of its line. An empty
//! line ends a message.

use anyhow::{Result, bail};
use data_encoding::{HEXLOWER, HEXLOWER_PERMISSIVE};
use hashlane_dns::MAX_MESSAGE_LEN;

/// Bytes on a line of output.
const LINE: usize = 32;

/// Tests if `text` is hex text, by its characters.
pub(super) fn is_hex(text: &[u8]) -> bool {
    let mut octets = text.split(|octet| *octet == b'\n').flat_map(without_comment);
    let mut digits = false;
    octets.all(|octet| {
        digits |= octet.is_ascii_hexdigit();
        octet.is_ascii_hexdigit() || octet.is_ascii_whitespace()
    }) && digits
}

/// The bytes of each message, and the line where it begins.
pub(super) fn parse(text: &[u8]) -> Result<Vec<(usize, Vec<u8>)>> {
    let mut messages = Vec::new();
    let (mut begun, mut digits) = (1, Vec::new());
    // The empty line added at the end ends the last message.
    for (number, line) in (1..).zip(text.split(|byte| *byte == b'\n').chain([&b""[..]])) {
        if digits.is_empty() {
            begun = number;
        }
        for byte in without_comment(line) {
            match byte {
                digit if digit.is_ascii_hexdigit() => digits.push(*digit),
                space if space.is_ascii_whitespace() => {}
                other => bail!("line {number}: {:?} is not a hex digit", other.escape_ascii().to_string()),
            }
        }
        if digits.len() > 2 * MAX_MESSAGE_LEN {
            bail!(
                "the message that begins in line {begun} has more than {MAX_MESSAGE_LEN} bytes; an empty line ends \
                 a message"
            );
        }
        if line.trim_ascii().is_empty() && !digits.is_empty() {
            match HEXLOWER_PERMISSIVE.decode(&digits) {
                Ok(bytes) => messages.push((begun, bytes)),
                Err(_) => bail!(
                    "the message that begins in line {begun} ends with half a byte, before line {number}"
                ),
            }
            digits.clear();
        }
    }
    Ok(messages)
}

/// Writes a message, and the empty line that ends it.
pub(super) fn text(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len() + bytes.len() / LINE + 2);
    for line in bytes.chunks(LINE) {
        HEXLOWER.encode_append(line, &mut text);
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
    fn errors_name_the_line() {
        let says = |text: &str| parse(text.as_bytes()).unwrap_err().to_string();
        assert_eq!(says("00\n0g"), "line 2: \"g\" is not a hex digit");
        assert_eq!(says("\n000\n"), "the message that begins in line 2 ends with half a byte, before line 3");
        assert!(says(&"00".repeat(65_536)).contains("has more than 65535 bytes"));
    }
}
