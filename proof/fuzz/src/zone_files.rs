//! Properties of the reader of zone files.

use hashlane_name::dns::{Name, NameBuf};
use hashlane_zone_file::{LoadError, Options, Record, records_of};
use std::fmt::Write as _;

/// A text is read in pieces of any size as in one. Its records are names and data that are read back from the
/// generic form of RFC 3597; its errors are few and short, and stand in lines of the text.
pub fn check_zone_file(text: &[u8]) {
    let whole = read(text, usize::MAX);
    for piece in [1, 1 + text.len() / 3] {
        assert_eq!(read(text, piece), whole);
    }
    match whole {
        Ok(generic) => assert_eq!(read(generic.as_bytes(), usize::MAX).as_ref(), Ok(&generic)),
        Err(error) => {
            let lines = 1 + text.iter().filter(|byte| **byte == b'\n').count();
            assert!((1..=20).contains(&error.faults.len()));
            for fault in &error.faults {
                assert!(fault.line.is_some_and(|line| (1..=lines).contains(&(line as usize))), "{fault}");
                assert!(fault.to_string().len() < 2_000, "{fault}");
            }
        }
    }
}

/// The records of a text, one a line, in generic form.
fn read(text: &[u8], piece: usize) -> Result<String, LoadError> {
    let origin: NameBuf = "example.com".parse().expect("a name");
    let options = Options { threads: 1, piece, max_generated_bytes: 100_000, ..Options::default() };
    let mut out = String::new();
    let mut sink = |Record { owner, rtype, ttl, data }: Record<'_>| {
        assert_eq!(Name::parse(owner.as_bytes()), Ok(owner));
        let _ = write!(out, "{owner} {ttl} TYPE{} \\# {} ", rtype.0, data.len());
        for byte in data {
            let _ = write!(out, "{byte:02x}");
        }
        out.push('\n');
        Ok(())
    };
    records_of("zone", text.to_vec(), Some(origin.view()), &options, &mut sink)?;
    Ok(out)
}
