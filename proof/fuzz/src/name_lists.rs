//! Properties of the readers of lists of names.

use hashlane_hash::scheme::Key;
use hashlane_name_lists::{Format, ListError, ListReader, Options, Report};
use hashlane_name_map::{Builder, Target};

/// Reads a list in pieces.
fn read(text: &[u8], pieces: usize, options: Options) -> (Result<Report, ListError>, Builder) {
    let mut builder = Builder::new(&Key::VECTOR);
    let mut reader = ListReader::new(0, options);
    let mut pieces = text.chunks(pieces);
    let read = pieces.try_for_each(|piece| reader.push(piece, &mut builder));
    let report = read.and_then(|()| reader.finish(&mut builder));
    (report, builder)
}

/// The first byte tells the format, the target of plain names, and the length of the pieces in which the rest
/// is read as a list. Every line and every rule is counted, and the pieces change nothing.
pub fn check_name_lists(bytes: &[u8]) {
    let Some((first, text)) = bytes.split_first() else { return };
    let format = Format::ALL.get(usize::from(first & 7)).copied();
    let plain = if first & 8 == 0 { Target::Exact } else { Target::Subtree };
    let options = Options { format, plain };
    let (report, builder) = read(text, 1 + usize::from(first >> 4) * 7, options);
    assert_eq!(report, read(text, text.len().max(1), options).0);
    let Ok(Report { format: found, counts }) = report else { return };
    assert!(format.is_none_or(|stated| stated == found));
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let unended = !text.is_empty() && !text.ends_with(b"\n");
    let lines = text.iter().filter(|byte| **byte == b'\n').count() + usize::from(unended);
    assert_eq!(counts.lines, lines as u64);
    assert_eq!(builder.len() as u64, counts.rules() + counts.exceptions);
    let entries = counts.rules() + counts.exceptions + counts.refused();
    assert!(if matches!(found, Format::Hosts | Format::Dnsmasq) {
        entries >= counts.entry_lines()
    } else {
        entries == counts.entry_lines()
    });
    assert!(counts.refused.values().all(|refused| (1..=counts.lines).contains(&refused.first_line)));
    let rules = builder.build().expect("few rules");
    assert!(rules.len() as u64 <= counts.rules() + counts.exceptions);
}
