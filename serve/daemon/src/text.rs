//! Text files of the user, read with a limit.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// Byte order marks of UTF-16, of either byte order.
const UTF_16: [[u8; 2]; 2] = [[0xff, 0xfe], [0xfe, 0xff]];

/// Advice for a text in UTF-16; `None` for any other.
pub fn utf_16(octets: &[u8]) -> Option<&'static str> {
    let found = UTF_16.iter().any(|mark| octets.starts_with(mark));
    found.then_some("UTF-16 text; convert the file by iconv -f UTF-16 -t UTF-8")
}

/// Reads a file of UTF-8 text of at most `most` bytes. A byte order mark is removed.
///
/// # Errors
/// The file cannot be read, is longer, or is not UTF-8.
pub fn read(path: &Path, most: u64) -> io::Result<String> {
    let shown = path.display();
    let mut octets = Vec::new();
    // One byte more, to see that a file is longer; a device such as /dev/zero has no end.
    File::open(path)
        .and_then(|file| file.take(most + 1).read_to_end(&mut octets))
        .map_err(|error| io::Error::new(error.kind(), format!("cannot read {shown}: {error}")))?;
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidData, why);
    if octets.len() as u64 > most {
        return Err(invalid(format!("{shown} is longer than {} MiB: name another file", most >> 20)));
    }
    if let Some(advice) = utf_16(&octets) {
        return Err(invalid(format!("{shown}: {advice}")));
    }
    match String::from_utf8(octets) {
        Ok(text) => Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text)),
        Err(error) => {
            let at = error.utf8_error().valid_up_to();
            Err(invalid(format!("{shown}: not UTF-8 text at offset {at}")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(name: &str, content: &[u8]) -> Result<String, String> {
        let path = std::env::temp_dir().join(format!("hashlane-text-{}-{name}", std::process::id()));
        std::fs::write(&path, content).unwrap();
        let text = read(&path, 1 << 20);
        std::fs::remove_file(&path).unwrap();
        text.map_err(|error| error.to_string().replace(&path.display().to_string(), "FILE"))
    }

    #[test]
    fn reads_utf_8_up_to_the_limit() {
        assert_eq!(written("plain", b"a = 1\n"), Ok("a = 1\n".into()));
        assert_eq!(written("mark", b"\xef\xbb\xbfa = 1\n"), Ok("a = 1\n".into()));
        assert_eq!(written("most", &[b'#'; 1 << 20]).map(|text| text.len()), Ok(1 << 20));
        let error = "FILE is longer than 1 MiB: name another file";
        assert_eq!(written("more", &[b'#'; (1 << 20) + 1]), Err(error.into()));
    }

    #[test]
    fn reports_the_place_of_what_is_no_text() {
        assert_eq!(written("binary", b"ab\xff"), Err("FILE: not UTF-8 text at offset 2".into()));
        let error = "FILE: UTF-16 text; convert the file by iconv -f UTF-16 -t UTF-8";
        assert_eq!(written("utf-16", b"\xff\xfea\0"), Err(error.into()));
    }
}
