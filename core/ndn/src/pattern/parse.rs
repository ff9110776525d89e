//! The parser of patterns.

use super::component::{ComponentTest, quantified};
use super::program::{Part, Program, TooLong};
use super::{MAX_GROUPS, MAX_STEPS, NamePattern, NameTest, PatternError};
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// Most groups in each other.
const MAX_DEPTH: usize = 16;

/// Parses a pattern of bounded length.
pub(super) fn parse(text: &str) -> Result<NamePattern, PatternError> {
    let mut parser = Parser { text, at: 0, tests: Vec::new(), groups: 0 };
    let is_start = parser.take(b'^');
    let mut parts = parser.parts(0)?;
    let is_end = parser.take(b'$');
    if let Some(byte) = parser.peek() {
        return Err(PatternError::Unexpected { at: parser.at, character: byte.into() });
    }
    let any = parser.tests.len();
    parser.tests.push(NameTest { is_negated: false, choices: vec![ComponentTest::Any] });
    let rest = || Part::Repeat { part: Box::new(Part::Element(any)), least: 0, most: None };
    if !is_end {
        parts.push(rest());
    }
    let whole = Part::Sequence(parts);
    let whole = match is_start {
        true => whole,
        false => Part::Choice(vec![whole.clone(), Part::Sequence(vec![rest(), whole])]),
    };
    let Parser { tests, groups, .. } = parser;
    let program =
        Program::new(&whole, groups, MAX_STEPS).map_err(|TooLong| PatternError::TooLong { at: 0 })?;
    Ok(NamePattern { text: text.into(), program, tests, groups })
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    tests: Vec<NameTest>,
    groups: usize,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    /// Parts up to the end of the pattern, a `$` or a `)`.
    fn parts(&mut self, depth: usize) -> Result<Vec<Part>, PatternError> {
        let mut parts = Vec::new();
        while let Some(byte) = self.peek() {
            let at = self.at;
            let part = match byte {
                b'<' => {
                    let test = self.component()?;
                    self.test(NameTest { is_negated: false, choices: vec![test] })
                }
                b'[' => self.set()?,
                b'(' => {
                    if depth >= MAX_DEPTH {
                        return Err(PatternError::TooDeep { at });
                    }
                    if self.groups >= MAX_GROUPS {
                        return Err(PatternError::Groups);
                    }
                    let number = self.groups;
                    self.groups += 1;
                    self.at += 1;
                    let inside = Part::Sequence(self.parts(depth + 1)?);
                    if !self.take(b')') {
                        return Err(PatternError::Unclosed { at });
                    }
                    Part::Group { part: Box::new(inside), number }
                }
                b')' if depth > 0 => break,
                b'$' if depth == 0 => break,
                byte => return Err(PatternError::Unexpected { at, character: byte.into() }),
            };
            let (part, end) = quantified(part, self.text.as_bytes(), self.at)?;
            self.at = end;
            parts.push(part);
        }
        Ok(parts)
    }

    fn test(&mut self, test: NameTest) -> Part {
        self.tests.push(test);
        Part::Element(self.tests.len() - 1)
    }

    /// A component, at its `<`.
    fn component(&mut self) -> Result<ComponentTest, PatternError> {
        let (test, end) = ComponentTest::parse(self.text, self.at + 1)?;
        self.at = end;
        Ok(test)
    }

    /// A set, at its `[`.
    fn set(&mut self) -> Result<Part, PatternError> {
        let start = self.at;
        self.at += 1;
        let is_negated = self.take(b'^');
        let mut choices = Vec::new();
        loop {
            match self.peek() {
                Some(b'<') => choices.push(self.component()?),
                Some(b']') => {
                    self.at += 1;
                    return Ok(self.test(NameTest { is_negated, choices }));
                }
                Some(byte) => {
                    return Err(PatternError::Unexpected { at: self.at, character: byte.into() });
                }
                None => return Err(PatternError::Unclosed { at: start }),
            }
        }
    }
}
