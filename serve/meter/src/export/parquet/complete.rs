//! The part of a file that is complete, after its process was killed.

use super::MAGIC;
use std::io::{self, Read, Seek, SeekFrom};

/// Length up to the last footer of a file that this exporter wrote: its whole length, unless the process was
/// killed in the midst of a write. Returns 0 if it has no footer.
///
/// # Errors
/// The file cannot be read.
pub fn complete_len(mut file: impl Read + Seek) -> io::Result<u64> {
    const WINDOW: usize = 1 << 16;
    let mut end = file.seek(SeekFrom::End(0))?;
    let mut window = Vec::new();
    // From the end, in windows that overlap by the bytes of a footer's end.
    loop {
        let start = end.saturating_sub(WINDOW as u64);
        file.seek(SeekFrom::Start(start))?;
        window.clear();
        file.by_ref().take(end - start).read_to_end(&mut window)?;
        for at in (8..=window.len()).rev() {
            if window[..at].ends_with(MAGIC) {
                let len =
                    window[at - 8..at - 4].iter().rev().fold(0, |len, byte| len << 8 | u64::from(*byte));
                let place = start + at as u64;
                // A magic number by chance has no footer before it.
                if len > 0 && len + 12 <= place && is_footer(&mut file, place - 8 - len, len)? {
                    return Ok(place);
                }
            }
        }
        if start == 0 {
            return Ok(0);
        }
        end = start + 7;
    }
}

/// Tests if the library reads the bytes as a footer.
fn is_footer(file: &mut (impl Read + Seek), at: u64, len: u64) -> io::Result<bool> {
    // Footers have some 3 kB for each of at most a few thousand row groups.
    if len > 1 << 26 {
        return Ok(false);
    }
    file.seek(SeekFrom::Start(at))?;
    let mut footer = Vec::new();
    file.take(len).read_to_end(&mut footer)?;
    Ok(parquet::file::metadata::ParquetMetaDataReader::decode_metadata(&footer).is_ok())
}
