//! Text files of the user, read with a limit.

use anyhow::{Context, Result, bail};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Byte order marks of UTF-16, of either byte order.
const UTF_16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// Advice for a text in UTF-16; `None` for any other.
pub(crate) fn utf_16(octets: &[u8]) -> Option<&'static str> {
    let found = UTF_16.iter().any(|mark| octets.starts_with(mark));
    found.then_some("UTF-16 text; convert the file by iconv -f UTF-16 -t UTF-8")
}

/// Reads a file of UTF-8 text of at most `most` bytes. A byte order mark is removed.
///
/// # Errors
/// The file cannot be read, is longer, or is not UTF-8.
pub(crate) fn text(path: &Path, most: u64) -> Result<String> {
    let shown = path.display();
    let mut octets = Vec::new();
    // One byte more, to see that a file is longer; a device such as /dev/zero has no end.
    File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut octets))
        .with_context(|| format!("cannot read {shown}"))?;
    if octets.len() as u64 > most {
        bail!("{shown} is longer than {} MiB: name another file", most >> 20);
    }
    if let Some(advice) = utf_16(&octets) {
        bail!("{shown}: {advice}");
    }
    match String::from_utf8(octets) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(error) => {
            bail!("{shown}: not UTF-8 text at offset {}", error.utf8_error().valid_up_to())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(name: &str, content: &[u8]) -> Result<String, String> {
        let path = std::env::temp_dir().join(format!("hashlane-text-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        let read = text(&path, 1 << 20);
        std::fs::remove_file(&path).unwrap();
        read.map_err(|error| error.to_string().replace(&path.display().to_string(), "FILE"))
    }

    #[test]
    fn reads_utf_8_up_to_the_limit() {
        assert_eq!(read("plain", b"a = 1\n"), Ok("a = 1\n".into()));
        assert_eq!(read("mark", b"\xef\xbb\xbfa = 1\n"), Ok("a = 1\n".into()));
        assert_eq!(read("most", &[b'#'; 1 << 20]).map(|text| text.len()), Ok(1 << 20));
        let error = "FILE is longer than 1 MiB: name another file";
        assert_eq!(read("more", &[b'#'; (1 << 20) + 1]), Err(error.into()));
    }

    #[test]
    fn reports_the_place_of_what_is_no_text() {
        assert_eq!(read("binary", b"ab\xff"), Err("FILE: not UTF-8 text at offset 2".into()));
        let error = "FILE: UTF-16 text; convert the file by iconv -f UTF-16 -t UTF-8";
        assert_eq!(read("utf-16", b"\xff\xfea\0"), Err(error.into()));
    }
}
