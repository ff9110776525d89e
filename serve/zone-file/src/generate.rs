//! `$GENERATE` (BIND 9 Administrator Reference Manual, "Zone File").

use crate::error::FaultKind;
use crate::number::decimal;
use std::fmt::Write as _;

/// Most bytes of a template, so that a short file does not keep a server busy.
const MAX_TEMPLATE: usize = 1_024;

/// Greatest width of a number.
const MAX_WIDTH: u32 = 255;

/// The values of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) start: u32,
    pub(super) stop: u32,
    pub(super) step: u32,
}

impl Range {
    /// Parses `START-STOP` or `START-STOP/STEP`.
    pub(super) fn parse(text: &[u8]) -> Result<Self, FaultKind> {
        let invalid =
            FaultKind::Generate("expected a range START-STOP or START-STOP/STEP, with START up to STOP");
        let parse = || {
            let (range, step) = match text.iter().position(|byte| *byte == b'/') {
                Some(slash) => (text.get(..slash)?, decimal(text.get(slash + 1..)?)?),
                None => (text, 1),
            };
            let dash = range.iter().position(|byte| *byte == b'-')?;
            let (start, stop) = (decimal(range.get(..dash)?)?, decimal(range.get(dash + 1..)?)?);
            (start <= stop && step > 0 && stop <= i32::MAX as u32).then_some(Self { start, stop, step })
        };
        parse().ok_or(invalid)
    }

    /// Number of the values.
    pub(super) fn count(self) -> u64 {
        u64::from((self.stop - self.start) / self.step) + 1
    }

    /// The values in their order.
    pub(super) fn values(self) -> impl Iterator<Item = u32> {
        (self.start..=self.stop).step_by(self.step as usize)
    }
}

/// A part of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Text(Vec<u8>),
    Number { offset: i64, width: u32, base: u8 },
}

/// Text with places for numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Template(Vec<Part>);

impl Template {
    /// Parses a template: `$` is the value, `${OFFSET}`, `${OFFSET,WIDTH}` and `${OFFSET,WIDTH,BASE}` the
    /// value plus OFFSET in at least WIDTH digits of the base `d`, `o`, `x` or `X`, or as nibbles in reverse
    /// order with dots between them, `n` or `N`. `$$` and `\$` are the character.
    pub(super) fn parse(text: &[u8]) -> Result<Self, FaultKind> {
        if text.len() > MAX_TEMPLATE {
            return Err(FaultKind::Generate("a template is longer than 1,024 bytes; shorten it"));
        }
        let (mut parts, mut literal, mut rest) = (Vec::new(), Vec::new(), text);
        loop {
            rest = match *rest {
                [] => break,
                [b'\\', b'$', ref after @ ..] | [b'$', b'$', ref after @ ..] => {
                    // Only an owner could be taken for a directive.
                    literal.push(b'$');
                    after
                }
                [b'\\', byte, ref after @ ..] => {
                    literal.extend_from_slice(&[b'\\', byte]);
                    after
                }
                [b'$', ref after @ ..] => {
                    if !literal.is_empty() {
                        parts.push(Part::Text(std::mem::take(&mut literal)));
                    }
                    let (number, after) = match after {
                        [b'{', after @ ..] => modified(after).ok_or(FaultKind::Generate(
                            "expected ${OFFSET,WIDTH,BASE} with base d, o, x, X, n or N",
                        ))?,
                        _ => (Part::Number { offset: 0, width: 0, base: b'd' }, after),
                    };
                    parts.push(number);
                    after
                }
                [byte, ref after @ ..] => {
                    literal.push(byte);
                    after
                }
            };
        }
        if !literal.is_empty() {
            parts.push(Part::Text(literal));
        }
        Ok(Self(parts))
    }

    /// Appends the text for a value.
    pub(super) fn expand(&self, value: u32, out: &mut Vec<u8>) -> Result<(), FaultKind> {
        for part in &self.0 {
            match part {
                Part::Text(text) => out.extend_from_slice(text),
                Part::Number { offset, width, base } => {
                    let value = u64::try_from(i64::from(value) + offset).map_err(|_| {
                        FaultKind::Generate("a number below 0; correct the range or the offset")
                    })?;
                    let width = *width as usize;
                    let mut text = String::new();
                    // Writing to a string cannot fail.
                    let _ = match base {
                        b'o' => write!(text, "{value:0width$o}"),
                        b'x' => write!(text, "{value:0width$x}"),
                        b'X' => write!(text, "{value:0width$X}"),
                        b'd' => write!(text, "{value:0width$}"),
                        base => {
                            text = nibbles(value, width, *base == b'N');
                            Ok(())
                        }
                    };
                    out.extend_from_slice(text.as_bytes());
                }
            }
        }
        Ok(())
    }
}

/// The number after `${`, and the text after its brace.
fn modified(text: &[u8]) -> Option<(Part, &[u8])> {
    let end = text.iter().position(|byte| *byte == b'}')?;
    let (inside, after) = (text.get(..end)?, text.get(end + 1..)?);
    let mut fields = inside.split(|byte| *byte == b',');
    let offset = match fields.next()? {
        [b'-', digits @ ..] => -i64::from(decimal(digits)?),
        [b'+', digits @ ..] | digits => i64::from(decimal(digits)?),
    };
    let width = fields.next().map_or(Some(0), decimal).filter(|width| *width <= MAX_WIDTH)?;
    let base = match fields.next() {
        None => b'd',
        Some([base @ (b'd' | b'o' | b'x' | b'X' | b'n' | b'N')]) => *base,
        Some(_) => return None,
    };
    fields.next().is_none().then_some((Part::Number { offset, width, base }, after))
}

/// Hex digits from the last to the first, with dots between them, in at least `width` characters; as BIND
/// writes them, with a dot at the end if the width asks for one.
fn nibbles(mut value: u64, mut width: usize, upper: bool) -> String {
    let mut text = String::new();
    loop {
        let digit = char::from_digit((value & 15) as u32, 16).unwrap_or('0');
        text.push(if upper { digit.to_ascii_uppercase() } else { digit });
        value >>= 4;
        width = width.saturating_sub(1);
        if width > 0 || value != 0 {
            text.push('.');
            width = width.saturating_sub(1);
        }
        if width == 0 && value == 0 {
            return text;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expanded(template: &str, value: u32) -> String {
        let mut out = Vec::new();
        Template::parse(template.as_bytes()).unwrap().expand(value, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn expands_templates_as_bind_does() {
        for (template, value, text) in [
            ("host-$", 7, "host-7"),
            ("$.$", 12, "12.12"),
            ("a$$b\\$c\\.d", 1, "a$b$c\\.d"),
            ("${0}", 5, "5"),
            ("${-1,3}x", 5, "004x"),
            ("${10,0,o}", 6, "20"),
            ("${0,4,x}-${0,4,X}", 171, "00ab-00AB"),
            ("${0,8,n}.ip6", 0x1af, "f.a.1.0..ip6"),
            ("${0,7,N}", 0x1af, "F.A.1.0"),
            ("${0,1,n}", 0xab, "b.a"),
        ] {
            assert_eq!(expanded(template, value), text, "{template}");
        }
    }

    #[test]
    fn refuses_malformed_templates_and_ranges() {
        for template in ["${", "${x}", "${1,2,q}", "${1,999}", "${1,2,d,4}", "${}"] {
            assert!(Template::parse(template.as_bytes()).is_err(), "{template}");
        }
        assert!(Template::parse(&[b'a'; 1_025]).is_err());
        let mut out = Vec::new();
        assert!(Template::parse(b"${-2}").unwrap().expand(1, &mut out).is_err());
        for range in ["", "1", "2-1", "1-2/0", "-1-2", "1-", "0-4294967295/65537", "1-2/x"] {
            assert!(Range::parse(range.as_bytes()).is_err(), "{range}");
        }
        let values: Vec<u32> = Range::parse(b"0-65535").unwrap().values().collect();
        assert_eq!((values.len(), values.last()), (65_536, Some(&65_535)));
        let range = Range::parse(b"1-10/4").unwrap();
        assert!(range.values().eq([1, 5, 9]) && range.count() == 3);
    }
}
