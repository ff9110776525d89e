//! Patterns of one component: regular expressions over its URI, escaped as in a URI.

use super::PatternError;
use super::program::{Part, Program, TooLong};
use alloc::boxed::Box;
use alloc::string::String;
use alloc::vec::Vec;

/// Most steps of the pattern of one component.
const MAX_STEPS: usize = 512;
/// Most parentheses in each other.
const MAX_DEPTH: usize = 16;

/// Pattern of a component.
#[derive(Clone, Debug)]
pub(super) enum ComponentTest {
    /// Every component.
    Any,
    /// The component with this URI.
    Text(String),
    /// Components whose URI matches.
    Pattern(Program, Vec<ByteTest>),
}

/// Bytes of a URI that a pattern accepts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ByteTest {
    is_negated: bool,
    /// First and last byte of each range.
    ranges: Vec<(u8, u8)>,
}

impl ByteTest {
    fn passes(&self, byte: u8) -> bool {
        self.ranges.iter().any(|(first, last)| (*first..=*last).contains(&byte)) != self.is_negated
    }
}

impl ComponentTest {
    /// True if a component has this URI. `uri` is empty if no test of the pattern looks at it.
    pub(super) fn passes(&self, uri: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Text(text) => text == uri,
            Self::Pattern(program, tests) => {
                let bytes = uri.as_bytes();
                let passes = |test: usize, at: usize| match (tests.get(test), bytes.get(at)) {
                    (Some(test), Some(byte)) => test.passes(*byte),
                    _ => false,
                };
                program.run(bytes.len(), passes).is_some()
            }
        }
    }

    /// Parses the pattern that starts at `at`, after the `<`. Returns it with the offset after the `>`.
    pub(super) fn parse(text: &str, at: usize) -> Result<(Self, usize), PatternError> {
        let mut parser = Parser { bytes: text.as_bytes(), at, tests: Vec::new(), is_text: true };
        let part = parser.choice(0)?;
        if parser.next() != Some(b'>') {
            return Err(PatternError::Unclosed { at });
        }
        let end = parser.at;
        let inside = text.get(at..end - 1).unwrap_or_default();
        if matches!(inside, "" | ".*") {
            return Ok((Self::Any, end));
        }
        if parser.is_text {
            return Ok((Self::Text(inside.into()), end));
        }
        let program = Program::new(&part, 0, MAX_STEPS).map_err(|TooLong| PatternError::TooLong { at })?;
        Ok((Self::Pattern(program, parser.tests), end))
    }
}

struct Parser<'t> {
    bytes: &'t [u8],
    at: usize,
    tests: Vec<ByteTest>,
    /// False once a character had a special meaning.
    is_text: bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn next(&mut self) -> Option<u8> {
        let byte = self.peek()?;
        self.at += 1;
        Some(byte)
    }

    fn choice(&mut self, depth: usize) -> Result<Part, PatternError> {
        if depth > MAX_DEPTH {
            return Err(PatternError::TooDeep { at: self.at });
        }
        let mut choices = Vec::new();
        let mut parts = Vec::new();
        loop {
            match self.peek() {
                None | Some(b'>' | b')') => break,
                Some(b'|') => {
                    self.is_text = false;
                    self.at += 1;
                    choices.push(Part::Sequence(core::mem::take(&mut parts)));
                }
                Some(_) => {
                    let part = self.atom(depth)?;
                    let (part, at) = quantified(part, self.bytes, self.at)?;
                    self.is_text &= at == self.at;
                    self.at = at;
                    parts.push(part);
                }
            }
        }
        choices.push(Part::Sequence(parts));
        Ok(Part::Choice(choices))
    }

    fn atom(&mut self, depth: usize) -> Result<Part, PatternError> {
        let at = self.at;
        let byte = self.next().unwrap_or_default();
        self.is_text &= !matches!(byte, b'.' | b'\\' | b'[' | b'(');
        let test = match byte {
            b'.' => ByteTest { is_negated: true, ranges: Vec::new() },
            b'\\' => self.escaped()?,
            b'[' => self.class()?,
            b'(' => {
                if (self.next(), self.next()) != (Some(b'?'), Some(b':')) {
                    return Err(PatternError::ComponentGroup { at });
                }
                let part = self.choice(depth + 1)?;
                return match self.next() {
                    Some(b')') => Ok(part),
                    _ => Err(PatternError::Unclosed { at }),
                };
            }
            b'<' | b'^' | b'$' | b'*' | b'+' | b'?' | b'{' | b'}' | b']' => {
                return Err(PatternError::Unexpected { at, character: byte.into() });
            }
            byte => one(byte),
        };
        self.tests.push(test);
        Ok(Part::Element(self.tests.len() - 1))
    }

    /// The test of an escape, after its backslash.
    fn escaped(&mut self) -> Result<ByteTest, PatternError> {
        let at = self.at;
        let byte = self.next().ok_or(PatternError::Unclosed { at })?;
        let ranges: &[(u8, u8)] = match byte.to_ascii_lowercase() {
            b'd' => &[(b'0', b'9')],
            b'w' => &[(b'0', b'9'), (b'A', b'Z'), (b'_', b'_'), (b'a', b'z')],
            b's' => &[(b'\t', b'\r'), (b' ', b' ')],
            _ if byte.is_ascii_punctuation() => return Ok(one(byte)),
            _ => return Err(PatternError::Unexpected { at, character: byte.into() }),
        };
        Ok(ByteTest { is_negated: byte.is_ascii_uppercase(), ranges: ranges.into() })
    }

    /// The test of a class, after its bracket.
    fn class(&mut self) -> Result<ByteTest, PatternError> {
        let at = self.at;
        let is_negated = self.peek() == Some(b'^');
        self.at += usize::from(is_negated);
        let mut ranges = Vec::new();
        loop {
            let first = match self.next().ok_or(PatternError::Unclosed { at })? {
                b']' => return Ok(ByteTest { is_negated, ranges }),
                b'\\' => match self.escaped()? {
                    ByteTest { is_negated: false, ranges: escaped } if escaped.len() == 1 => {
                        let (first, last) = escaped.first().copied().unwrap_or_default();
                        if first != last {
                            ranges.push((first, last));
                            continue;
                        }
                        first
                    }
                    ByteTest { is_negated: false, ranges: escaped } => {
                        ranges.extend(escaped);
                        continue;
                    }
                    ByteTest { .. } => return Err(PatternError::Class { at }),
                },
                byte => byte,
            };
            let last = match (self.peek(), self.bytes.get(self.at + 1)) {
                (Some(b'-'), Some(&last)) if last != b']' => {
                    self.at += 2;
                    if last == b'\\' || last < first {
                        return Err(PatternError::Class { at });
                    }
                    last
                }
                _ => first,
            };
            ranges.push((first, last));
        }
    }
}

fn one(byte: u8) -> ByteTest {
    ByteTest { is_negated: false, ranges: [(byte, byte)].into() }
}

/// A part with the quantifier at `at`, if there is one. Returns it with the offset after the quantifier.
pub(super) fn quantified(part: Part, bytes: &[u8], at: usize) -> Result<(Part, usize), PatternError> {
    let repeat = |least, most, end| Ok((Part::Repeat { part: Box::new(part.clone()), least, most }, end));
    match bytes.get(at) {
        Some(b'*') => repeat(0, None, at + 1),
        Some(b'+') => repeat(1, None, at + 1),
        Some(b'?') => repeat(0, Some(1), at + 1),
        Some(b'{') => {
            let rest = bytes.get(at + 1..).unwrap_or_default();
            let len = rest.iter().position(|byte| *byte == b'}').ok_or(PatternError::Unclosed { at })?;
            let inside = rest.get(..len).unwrap_or_default();
            let (least, most) = counts(inside).ok_or(PatternError::Quantifier { at })?;
            repeat(least, most, at + len + 2)
        }
        _ => Ok((part, at)),
    }
}

/// The numbers of `n`, `n,`, `,n` and `m,n`.
fn counts(inside: &[u8]) -> Option<(u32, Option<u32>)> {
    let number = |digits: &str| match digits.bytes().all(|byte| byte.is_ascii_digit()) {
        true => digits.parse::<u32>().ok(),
        false => None,
    };
    let text = str::from_utf8(inside).ok()?;
    let (least, most) = match text.split_once(',') {
        None => {
            let count = number(text)?;
            (count, Some(count))
        }
        Some(("", "")) => return None,
        Some(("", most)) => (0, Some(number(most)?)),
        Some((least, "")) => (number(least)?, None),
        Some((least, most)) => (number(least)?, Some(number(most)?)),
    };
    most.is_none_or(|most| least <= most).then_some((least, most))
}
