//! Captures that are compressed, and files.

use super::super::file::decompressed;
use super::super::{CaptureError, FormatError, Reader, open};
use super::build::Order;
use super::read;
use flate2::Compression;
use flate2::write::GzEncoder;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::io::{Cursor, Read, Write};

fn capture() -> Vec<u8> {
    let order = Order(false);
    let records: Vec<_> = (0..9000).map(|i| order.record(i, i, 60, &[i as u8; 60])).collect();
    [order.pcap(false, 1), records.concat()].concat()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstandard(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

#[test]
fn reads_compressed_captures_also_of_several_parts() {
    let file = capture();
    let expected = read(&file[..]).0;
    assert_eq!(expected.len(), 9000);
    let (one, two) = file.split_at(file.len() / 2);
    let skippable = [&[0x53, 0x2a, 0x4d, 0x18, 5, 0, 0, 0][..], &[9; 5]].concat();
    let compressed = [
        file.clone(),
        gzip(&file),
        [gzip(one), gzip(two)].concat(),
        zstandard(&file),
        [zstandard(one), skippable.clone(), zstandard(two), skippable].concat(),
    ];
    for bytes in compressed {
        let (frames, error) = read(decompressed(Box::new(Cursor::new(bytes))).unwrap());
        assert!(error.is_none(), "{error:?}");
        assert!(frames == expected);
    }
}

#[test]
fn a_cut_compressed_capture_gives_what_was_read() {
    let file = capture();
    for mut bytes in [gzip(&file), zstandard(&file)] {
        bytes.truncate(bytes.len() * 2 / 3);
        let (frames, error) = read(decompressed(Box::new(Cursor::new(bytes))).unwrap());
        assert!(matches!(error, Some(CaptureError::Read { .. } | CaptureError::CutOff { .. })), "{error:?}");
        assert!(frames.len() < 9000 && read(&file[..]).0.starts_with(&frames));
    }
    for bytes in [vec![0x1f, 0x8b, 1, 2], vec![0x28, 0xb5, 0x2f, 0xfd, 0xff, 0xff], vec![0x1f]] {
        assert!(Reader::new(decompressed(Box::new(Cursor::new(bytes))).unwrap()).is_err());
    }
}

/// The error at the end of a stream in a form of compression.
fn failure(bytes: Vec<u8>) -> String {
    let mut from = decompressed(Box::new(Cursor::new(bytes))).unwrap();
    from.read_to_end(&mut Vec::new()).unwrap_err().to_string()
}

#[test]
fn a_checksum_that_does_not_match_is_an_error() {
    let mut stated = [gzip(&capture()), zstandard(&capture())];
    // gzip ends with a checksum and a length, a frame of Zstandard with a checksum.
    let [one, two] = &mut stated;
    let at = one.len() - 8;
    one[at] ^= 1;
    *two.last_mut().unwrap() ^= 1;
    for bytes in stated {
        assert!(failure(bytes).contains("checksum"));
    }
    // A literal of a raw block is wrong, and the frame still decodes; another one follows.
    let frame = [&[0x28, 0xb5, 0x2f, 0xfd, 0x24, 4, 0x21, 0, 0][..], b"abcd"].concat();
    let wrong = [&frame[..], &[0; 4], &zstandard(&capture())].concat();
    assert!(failure(wrong).contains("of a Zstandard frame that states 0x00000000"));
}

#[test]
fn opens_files() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&gzip(&capture())).unwrap();
    let mut reader = open(file.path()).unwrap();
    let mut count = 0;
    while let Some(batch) = reader.next_batch().unwrap() {
        count += batch.count();
    }
    assert_eq!(count, 9000);
    let missing = file.path().with_extension("missing");
    assert!(matches!(open(&missing), Err(FormatError::Read(_))));
    // A folder opens, and does not read.
    assert!(matches!(open(&std::env::temp_dir()), Err(FormatError::Read(_))));
}
