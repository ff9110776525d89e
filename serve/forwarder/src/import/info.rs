//! The INFO format of nfd.conf: keys with values, and sections in braces.
//!
//! ```text
//! key value ; comment
//! section
//! {
//!   key "a value \"in quotes\", continued " \
//!       "in the next line"
//! }
//! ```
//! A word ends at a blank or a semicolon, so that it may have braces and quotation marks inside. After a
//! value, another key may follow in the same line.
//!
//! Source: Boost.PropertyTree, INFO Parser.

use super::report::path;
use super::{ImportError, MAX_STATEMENTS};

/// Most sections in each other.
const MAX_DEPTH: usize = 32;

/// A key with its value and the section that follows it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) key: String,
    pub(super) value: String,
    /// Number of the statement in the file, from 0 on.
    pub(super) at: usize,
    pub(super) children: Vec<Node>,
}

/// Place of a statement.
#[derive(Debug)]
pub(super) struct Place {
    /// Number of the line, from 1 on.
    pub(super) line: u32,
    /// Sections and key.
    pub(super) path: Box<str>,
}

/// A parsed file.
#[derive(Debug, Default)]
pub(super) struct File {
    /// Sections and keys outside of sections.
    pub(super) nodes: Vec<Node>,
    /// Places of the statements, by their numbers.
    pub(super) places: Vec<Place>,
    /// Number of blank lines and comments.
    pub(super) blank: usize,
}

/// Parses a file.
pub(super) fn parse(text: &str) -> Result<File, ImportError> {
    let mut parser =
        Parser { file: File::default(), open: vec![Section::default()], state: State::Key, line: 0 };
    for line in text.lines() {
        parser.line += 1;
        parser.line(line.trim_start_matches('\u{feff}'))?;
    }
    if parser.open.len() > 1 {
        let line = parser.open.last().map_or(0, |section| section.line);
        return Err(ImportError::Syntax { line, why: "a section without its closing brace" });
    }
    if let State::More = parser.state {
        return Err(parser.error("no string follows the backslash of the line before"));
    }
    parser.file.nodes = parser.open.pop().unwrap_or_default().nodes;
    Ok(parser.file)
}

/// A section whose end has not come.
#[derive(Debug, Default)]
struct Section {
    nodes: Vec<Node>,
    /// Line of its opening brace.
    line: u32,
    path: Box<str>,
    /// True if a section may follow: the last node has none yet.
    may_open: bool,
}

/// Expected next.
#[derive(Clone, Copy, Debug)]
enum State {
    /// A key, or a brace.
    Key,
    /// The value of the last key, or a brace.
    Value,
    /// The rest of a value in quotes.
    More,
}

struct Parser {
    file: File,
    /// Open sections, the outermost one first; never empty.
    open: Vec<Section>,
    state: State,
    line: u32,
}

impl Parser {
    fn error(&self, why: &'static str) -> ImportError {
        ImportError::Syntax { line: self.line, why }
    }

    fn line(&mut self, line: &str) -> Result<(), ImportError> {
        let mut rest = line.trim_start();
        if matches!(rest.chars().next(), None | Some(';')) {
            self.file.blank += 1;
        }
        if let Some(directive) = rest.strip_prefix('#') {
            let why = match directive.split_whitespace().next() {
                Some("include") => {
                    "#include is not followed: put the text of the file there, and import again"
                }
                _ => "unknown directive: a line begins with #, but comments begin with a semicolon",
            };
            return Err(self.error(why));
        }
        loop {
            rest = rest.trim_start();
            match (rest.chars().next(), self.state) {
                // A blank line does not end a value that goes on.
                (None | Some(';'), State::Key | State::More) => return Ok(()),
                (None | Some(';'), State::Value) => {
                    self.state = State::Key;
                    return Ok(());
                }
                (Some('"'), State::More) => {
                    let (more, after) = self.string(rest)?;
                    if let Some(node) = self.open.last_mut().and_then(|section| section.nodes.last_mut()) {
                        node.value.push_str(&more);
                    }
                    rest = after;
                }
                (_, State::More) => {
                    return Err(self.error("no string follows the backslash of the line before"));
                }
                (Some('{'), _) => {
                    self.open()?;
                    rest = rest.get(1..).unwrap_or_default();
                }
                (Some('}'), _) => {
                    self.close()?;
                    rest = rest.get(1..).unwrap_or_default();
                }
                (Some(first), State::Key) => {
                    let (key, after) = match first {
                        '"' => self.quoted(rest)?,
                        _ => self.word(rest)?,
                    };
                    self.add(key)?;
                    rest = after;
                }
                (Some(first), State::Value) => {
                    let (value, after) = match first {
                        '"' => self.string(rest)?,
                        _ => {
                            self.state = State::Key;
                            self.word(rest)?
                        }
                    };
                    if let Some(node) = self.open.last_mut().and_then(|section| section.nodes.last_mut()) {
                        node.value = value;
                    }
                    rest = after;
                }
            }
        }
    }

    /// Adds a key to the open section.
    fn add(&mut self, key: String) -> Result<(), ImportError> {
        let at = self.file.places.len();
        if at >= MAX_STATEMENTS {
            return Err(ImportError::TooManyStatements);
        }
        if let Some(section) = self.open.last_mut() {
            self.file.places.push(Place { line: self.line, path: path(&section.path, &key) });
            section.nodes.push(Node { key, value: String::new(), at, children: Vec::new() });
            section.may_open = true;
        }
        self.state = State::Value;
        Ok(())
    }

    fn open(&mut self) -> Result<(), ImportError> {
        if self.open.len() > MAX_DEPTH {
            return Err(self.error("sections nested more than 32 deep"));
        }
        let path = match self.open.last_mut() {
            Some(section) if section.may_open => {
                section.may_open = false;
                section
                    .nodes
                    .last()
                    .and_then(|node| self.file.places.get(node.at))
                    .map(|place| place.path.clone())
            }
            _ => None,
        };
        let path = path.ok_or_else(|| self.error("an opening brace without a key before it"))?;
        self.open.push(Section { line: self.line, path, ..Section::default() });
        self.state = State::Key;
        Ok(())
    }

    fn close(&mut self) -> Result<(), ImportError> {
        let section = self.open.pop().unwrap_or_default();
        let Some(parent) = self.open.last_mut() else {
            return Err(self.error("a closing brace without an opening one"));
        };
        if let Some(node) = parent.nodes.last_mut() {
            node.children = section.nodes;
        }
        self.state = State::Key;
        Ok(())
    }

    /// A value in quotes, and what follows it. Sets the state: a backslash after it says that it goes on.
    fn string<'t>(&mut self, text: &'t str) -> Result<(String, &'t str), ImportError> {
        let (value, after) = self.quoted(text)?;
        let Some(rest) = after.trim_start().strip_prefix('\\') else {
            self.state = State::Key;
            return Ok((value, after));
        };
        if !matches!(rest.trim_start().chars().next(), None | Some(';')) {
            return Err(self.error("only the end of the line may follow a backslash after a string"));
        }
        self.state = State::More;
        Ok((value, ""))
    }

    /// The text in quotes at the start of `text`, and what follows it.
    fn quoted<'t>(&self, text: &'t str) -> Result<(String, &'t str), ImportError> {
        let inside = text.get(1..).unwrap_or_default();
        let mut is_escaped = false;
        let end = inside.find(|c| {
            let is_end = c == '"' && !is_escaped;
            is_escaped = c == '\\' && !is_escaped;
            is_end
        });
        let end = end.ok_or_else(|| self.error("a string without its closing quotation mark"))?;
        let (inside, after) = inside.split_at(end);
        Ok((self.unescape(inside)?, after.get(1..).unwrap_or_default()))
    }

    /// The word at the start of `text`, and what follows it.
    fn word<'t>(&self, text: &'t str) -> Result<(String, &'t str), ImportError> {
        let end = text.find(|c: char| c.is_whitespace() || c == ';').unwrap_or(text.len());
        let (word, after) = text.split_at(end);
        Ok((self.unescape(word)?, after))
    }

    fn unescape(&self, text: &str) -> Result<String, ImportError> {
        let mut value = String::with_capacity(text.len());
        let mut chars = text.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                value.push(c);
                continue;
            }
            value.push(match chars.next() {
                Some('0') => '\0',
                Some('a') => '\u{7}',
                Some('b') => '\u{8}',
                Some('f') => '\u{c}',
                Some('n') => '\n',
                Some('r') => '\r',
                Some('t') => '\t',
                Some('v') => '\u{b}',
                Some(same @ ('"' | '\'' | '\\')) => same,
                Some(_) => return Err(self.error("unknown escape: a backslash itself is written \\\\")),
                None => return Err(self.error("a backslash at the end of a word")),
            });
        }
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys and values as `line:path=value`.
    fn texts(text: &str) -> Vec<String> {
        fn list(nodes: &[Node], file: &File, out: &mut Vec<String>) {
            for node in nodes {
                let Place { line, path } = &file.places[node.at];
                out.push(format!("{line}:{path}={}", node.value));
                list(&node.children, file, out);
            }
        }
        let file = parse(text).expect(text);
        let mut out = Vec::new();
        list(&file.nodes, &file, &mut out);
        out
    }

    #[test]
    fn keys_values_and_sections_are_read_wherever_the_lines_break() {
        assert_eq!(texts("a b ; c\nd\n{\n  e f g h\n}\n"), ["1:a=b", "2:d=", "4:d.e=f", "4:d.g=h"]);
        assert_eq!(texts("a { b c } d e"), ["1:a=", "1:a.b=c", "1:d=e"]);
        assert_eq!(texts("a b\n{\nc\n}\n"), ["1:a=b", "3:a.c="]);
        assert_eq!(texts("a b { c d }\n"), ["1:a=b", "1:a.c=d"]);
        assert_eq!(texts("regex ^<>*<KEY><>{1,3}$\n"), ["1:regex=^<>*<KEY><>{1,3}$"]);
        assert_eq!(texts("x \\\\1;c\n"), ["1:x=\\1"]);
        assert_eq!(texts("x \"a ; \\\"b\\\" {\" y\n"), ["1:x=a ; \"b\" {", "1:y="]);
        assert_eq!(texts("\"a b\" \"c\"\n"), ["1:a b=c"]);
        assert_eq!(texts("x \"a\" \\\n\n  \"b\" \\ ; c\n \"c\" y z\n"), ["1:x=abc", "4:y=z"]);
        assert_eq!(texts("\u{feff}a b\r\n"), ["1:a=b"]);
        assert_eq!(texts("\n ; c\n"), Vec::<String>::new());
        assert_eq!(parse("\n ; c\na\n").expect("a file").blank, 2);
    }

    #[test]
    fn errors_have_the_line_and_the_reason() {
        let error = |text: &str| parse(text).expect_err(text).to_string();
        for (text, expected) in [
            ("a {\n b {\n }\n", "line 1: a section without its closing brace"),
            ("a\n}\n", "line 2: a closing brace without an opening one"),
            ("{", "line 1: an opening brace without a key before it"),
            ("a { } { }", "line 1: an opening brace without a key before it"),
            ("a \"b", "line 1: a string without its closing quotation mark"),
            ("a \\x", "line 1: unknown escape: a backslash itself is written \\\\"),
            ("a b\\", "line 1: a backslash at the end of a word"),
            ("a \"b\" \\\nc", "line 2: no string follows the backslash of the line before"),
            ("a \"b\" \\", "line 1: no string follows the backslash of the line before"),
            ("a \"b\" \\ c", "line 1: only the end of the line may follow a backslash after a string"),
            (
                "a b\n#include \"x\"\n",
                "line 2: #include is not followed: put the text of the file there, and import again",
            ),
            ("# x", "line 1: unknown directive: a line begins with #, but comments begin with a semicolon"),
        ] {
            assert_eq!(error(text), expected, "{text}");
        }
        assert_eq!(error(&"a {".repeat(40)), "line 1: sections nested more than 32 deep");
        assert_eq!(
            parse(&"a\n".repeat(MAX_STATEMENTS + 1)).expect_err("too many"),
            ImportError::TooManyStatements
        );
    }
}
