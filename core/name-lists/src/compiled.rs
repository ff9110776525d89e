//! Rules that were compiled from lists, with what is to be known of each list.
//!
//! They are an image of `hashlane-name-map`, which carries a line for each list: format, number of rules, of
//! exceptions and of refused entries, and name, with tabs between them.

use crate::format::Format;
use crate::reader::Report;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use hashlane_name_map::{ImageError, MAX_LISTS, Rules};

/// A list that rules were compiled from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledList {
    /// Its name. Control characters become spaces when it is written, and when it is read.
    pub name: String,
    /// Its format.
    pub format: Format,
    /// Rules, without exceptions.
    pub rules: u64,
    /// Exceptions.
    pub exceptions: u64,
    /// Entries that are no rules.
    pub refused: u64,
}

/// Compiled rules that were not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CompiledError {
    /// The rules cannot be read.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// The lists cannot be read, or rules belong to others.
    #[error("compiled rules without a description of their lists; compile the lists again")]
    Lists,
}

impl CompiledList {
    /// A list called `name`, which was read.
    pub fn new(name: impl Into<String>, report: &Report) -> Self {
        let Report { format, counts } = report;
        let (rules, exceptions, refused) = (counts.rules(), counts.exceptions, counts.refused());
        Self { name: name.into(), format: *format, rules, exceptions, refused }
    }

    fn line(&self) -> String {
        let name = plain(&self.name);
        let Self { format, rules, exceptions, refused, .. } = self;
        format!("{format}\t{rules}\t{exceptions}\t{refused}\t{name}\n")
    }

    fn parse(line: &str) -> Option<Self> {
        let mut parts = line.splitn(5, '\t');
        let format = parts.next()?.parse().ok()?;
        let mut number = || parts.next()?.parse::<u64>().ok();
        let (rules, exceptions, refused) = (number()?, number()?, number()?);
        Some(Self { format, rules, exceptions, refused, name: plain(parts.next()?) })
    }
}

/// Rules and their lists as bytes, for [`read_compiled`]. Who reads them can choose names that take long.
pub fn write_compiled(rules: &Rules, lists: &[CompiledList]) -> Vec<u8> {
    let lines: String = lists.iter().map(CompiledList::line).collect();
    rules.to_bytes(lines.as_bytes())
}

/// Tests if bytes begin as [`write_compiled`] begins; the first 8 tell.
pub fn is_compiled(start: &[u8]) -> bool {
    // A beginning is compiled rules that were cut, and no other format.
    !matches!(Rules::from_bytes(start), Err(ImageError::Format))
}

/// Bytes of all of the compiled rules that begin so; the first 256 tell. `None` if they do not tell.
pub fn compiled_len(start: &[u8]) -> Option<u64> {
    match Rules::from_bytes(start) {
        Ok(_) => Some(start.len() as u64),
        Err(ImageError::Length { expected, .. }) if start.len() >= 256 => Some(expected),
        Err(_) => None,
    }
}

/// The rules and lists of [`write_compiled`].
///
/// # Errors
/// The fault of the bytes.
pub fn read_compiled(bytes: &[u8]) -> Result<(Rules, Vec<CompiledList>), CompiledError> {
    let (rules, about) = Rules::from_bytes(bytes)?;
    let lines = core::str::from_utf8(about).map_err(|_| CompiledError::Lists)?;
    let lists = lines.lines().map(CompiledList::parse).collect::<Option<Vec<_>>>();
    let lists = lists.filter(|lists| lists.len() <= MAX_LISTS).ok_or(CompiledError::Lists)?;
    let beyond = rules.used_lists().checked_shr(lists.len() as u32).unwrap_or(0);
    if beyond == 0 { Ok((rules, lists)) } else { Err(CompiledError::Lists) }
}

/// The name of a list as one line of text, without tabs or codes for terminals.
fn plain(name: &str) -> String {
    name.chars().map(|char| if char.is_control() { ' ' } else { char }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reader::{ListReader, Options};
    use alloc::vec;
    use hashlane_name_map::{Builder, Key, Reversed, Target};

    #[test]
    fn rules_and_lists_are_read_as_they_were_written() {
        let mut builder = Builder::new(&Key::VECTOR);
        let mut reader = ListReader::new(0, Options::default());
        reader.push(b"||a.example^\n@@||b.a.example^\n/path\n", &mut builder).unwrap();
        let list = CompiledList::new("my\tlist\n1", &reader.finish(&mut builder).unwrap());
        let bytes = write_compiled(&builder.build().unwrap(), &[list.clone(), list.clone()]);
        assert!(is_compiled(&bytes[..8]) && !is_compiled(b"# a list") && !is_compiled(b""));
        assert_eq!(compiled_len(&bytes[..256]), Some(bytes.len() as u64));
        assert_eq!((compiled_len(&bytes), compiled_len(&bytes[..20])), (Some(bytes.len() as u64), None));
        let (rules, lists) = read_compiled(&bytes).unwrap();
        let read = CompiledList { name: "my list 1".into(), ..list };
        assert_eq!((read.rules, read.exceptions, read.refused), (1, 1, 1));
        assert_eq!(lists, vec![read.clone(), read]);
        let mut name = Reversed::new();
        name.set(b"x.a.example").unwrap();
        assert_eq!(rules.verdict(&name).lists(), 1);
    }

    #[test]
    fn rules_of_lists_without_a_description_are_refused() {
        let line = "hosts\t1\t2\t3\tname\n";
        for (list, exception) in [(0, false), (3, false), (3, true), (63, false)] {
            let mut builder = Builder::new(&Key::VECTOR);
            // So many that longer ones inherit the first.
            let mut add = |name: &[u8]| match exception {
                true => builder.except(list, Target::Below, name).unwrap(),
                false => builder.block(list, Target::Below, name).unwrap(),
            };
            add(b"example");
            (0..200).for_each(|number| add(format!("a.b{number}.c.example").as_bytes()));
            let rules = builder.build().unwrap();
            assert_eq!(rules.used_lists(), 1 << list);
            let read = |lists: usize| read_compiled(&rules.to_bytes(line.repeat(lists).as_bytes()));
            assert_eq!(read(list).unwrap_err(), CompiledError::Lists, "{list}");
            assert_eq!(read(list + 1).unwrap().1.len(), list + 1);
        }
    }

    #[test]
    fn a_name_that_was_read_is_one_line_of_text() {
        let rules = Builder::new(&Key::VECTOR).build().unwrap();
        let (_, lists) =
            read_compiled(&rules.to_bytes("hosts\t1\t2\t3\ta\tb\u{1b}[2J\n".as_bytes())).unwrap();
        assert_eq!(lists.first().map(|list| list.name.as_str()), Some("a b [2J"));
    }

    #[test]
    fn rules_without_lists_that_can_be_read_are_refused() {
        let rules = Builder::new(&Key::VECTOR).build().unwrap();
        for about in [&b"hosts\t1\t2\n"[..], b"hosts\t1\t2\tx\tname\n", b"new\t1\t2\t3\tname\n", b"\xff"] {
            assert_eq!(read_compiled(&rules.to_bytes(about)).unwrap_err(), CompiledError::Lists);
        }
        let many = "hosts\t1\t2\t3\tname\n".repeat(65);
        assert_eq!(read_compiled(&rules.to_bytes(many.as_bytes())).unwrap_err(), CompiledError::Lists);
        assert_eq!(read_compiled(b"# a list\n").unwrap_err(), CompiledError::Image(ImageError::Format));
    }
}
