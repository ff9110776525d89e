//! `records.csv`: one record a row, under a header of the fields' names.

use core::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::atomic::write_atomically;
use super::set::{Record, RecordSet};

/// The columns, which every file states in its first line. The last is absent in files of versions before
/// 0.3.
const COLUMNS: [&str; 12] = [
    "study", "model", "workload", "scheme", "probe", "metric", "unit", "value", "low", "high", "samples",
    "launches",
];

/// No file of records is longer; a full run of a study writes under one MiB.
const MAX_BYTES: u64 = 16 << 20;

/// Reasons for which a file is not a set of records; `origin` is the file, `line` counts from 1.
#[derive(Debug)]
#[non_exhaustive]
pub enum ReadError {
    /// The file cannot be read.
    Io {
        /// The file.
        origin: String,
        /// Cause.
        error: io::Error,
    },
    /// The file is longer than 16 MiB.
    TooLong {
        /// The file.
        origin: String,
    },
    /// The file is not text in UTF-8.
    NotText {
        /// The file.
        origin: String,
        /// Content of the file, and the next step.
        content: &'static str,
    },
    /// The first line does not name the columns of a record, in their order.
    Header {
        /// The file.
        origin: String,
    },
    /// A row does not have one well-formed field for each column.
    Row {
        /// The file.
        origin: String,
        /// The line on which the row begins.
        line: u64,
        /// Rule that the line breaks.
        message: String,
    },
    /// A row's figures are not finite, or its lower bound is above its upper one.
    Figures {
        /// The file.
        origin: String,
        /// The line on which the row begins.
        line: u64,
    },
    /// There is an earlier row about the same.
    Duplicate {
        /// The file.
        origin: String,
        /// The line on which the second row begins.
        line: u64,
    },
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io { origin, error } => write!(f, "{origin}: {error}"),
            Self::TooLong { origin } => write!(f, "{origin}: longer than {MAX_BYTES} bytes"),
            Self::NotText { origin, content } => write!(f, "{origin}: {content}"),
            Self::Header { origin } => {
                write!(f, "{origin}:1: the columns must be {}", COLUMNS.join(","))
            }
            Self::Row { origin, line, message } => write!(f, "{origin}:{line}: {message}"),
            Self::Figures { origin, line } => {
                write!(f, "{origin}:{line}: value, low and high must be finite, and low not above high")
            }
            Self::Duplicate { origin, line } => {
                write!(f, "{origin}:{line}: an earlier row has the same key")
            }
        }
    }
}

impl core::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Io { error, .. } => Some(error),
            _ => None,
        }
    }
}

impl RecordSet {
    /// Reads the file `path`.
    ///
    /// # Errors
    /// The file cannot be read, or the first rule of [`parse`](Self::parse) that it breaks.
    pub fn read(path: &Path) -> Result<Self, ReadError> {
        let origin = path.display().to_string();
        let io_error = |error| ReadError::Io { origin: path.display().to_string(), error };
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(MAX_BYTES + 1).read_to_end(&mut bytes))
            .map_err(io_error)?;
        Self::parse(&bytes, &origin)
    }

    /// Parses the content of a file of records; `origin` names the file in errors.
    ///
    /// # Errors
    /// The first rule broken, with the line: the header names the columns; each row has them all; figures are
    /// finite and in order; no two rows are about the same.
    pub fn parse(bytes: &[u8], origin: &str) -> Result<Self, ReadError> {
        let origin = origin.to_owned();
        if bytes.len() as u64 > MAX_BYTES {
            return Err(ReadError::TooLong { origin });
        }
        if let Some(content) = not_text(bytes) {
            return Err(ReadError::NotText { origin, content });
        }
        let mut reader = ::csv::ReaderBuilder::new().from_reader(bytes);
        let header = match reader.headers() {
            Ok(header) if header.iter().eq(COLUMNS) || header.iter().eq(COLUMNS.into_iter().take(11)) => {
                header.clone()
            }
            _ => return Err(ReadError::Header { origin }),
        };
        let mut set = Self::new();
        let mut row = ::csv::StringRecord::new();
        loop {
            let line = reader.position().line();
            let row_error = |error: ::csv::Error| ReadError::Row {
                origin: origin.clone(),
                line,
                message: reason(&error),
            };
            if !reader.read_record(&mut row).map_err(row_error)? {
                return Ok(set);
            }
            let line = row.position().map_or(line, ::csv::Position::line);
            let record: Record = row.deserialize(Some(&header)).map_err(row_error)?;
            let well_formed = record.is_well_formed();
            if set.insert(record).is_err() {
                return Err(if well_formed {
                    ReadError::Duplicate { origin, line }
                } else {
                    ReadError::Figures { origin, line }
                });
            }
        }
    }

    /// The content of the file: numbers in their shortest form that reads back the same.
    ///
    /// # Errors
    /// Whatever the csv writer has against a row.
    pub fn to_csv(&self) -> io::Result<Vec<u8>> {
        let mut writer = ::csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
        writer.write_record(COLUMNS)?;
        self.iter().try_for_each(|record| writer.serialize(record))?;
        writer.into_inner().map_err(|e| e.into_error())
    }

    /// Writes the file `path`, whole or not at all.
    ///
    /// # Errors
    /// Whatever keeps the file from being written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        write_atomically(path, &self.to_csv()?)
    }
}

/// Content of a file that is no text in UTF-8, by its first bytes.
fn not_text(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Some("UTF-16 text; save it as UTF-8"),
        _ if bytes.iter().take(1024).any(|byte| *byte == 0) => {
            Some("a binary file, not records; name a folder that `hashlane study run` wrote")
        }
        _ => None,
    }
}

/// The csv reader's words without its own position, which counts differently from ours.
fn reason(error: &::csv::Error) -> String {
    match error.kind() {
        ::csv::ErrorKind::Deserialize { err, .. } => {
            match err.field().and_then(|i| COLUMNS.get(i as usize)) {
                Some(column) => format!("{column}: {}", err.kind()),
                None => err.kind().to_string(),
            }
        }
        ::csv::ErrorKind::UnequalLengths { expected_len, len, .. } => {
            format!("{len} fields, expected {expected_len} columns")
        }
        ::csv::ErrorKind::Utf8 { .. } => "not UTF-8".to_owned(),
        _ => error.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: &str = "study,model,workload,scheme,probe,metric,unit,value,low,high,samples,launches\n";

    fn error(rows: &str) -> String {
        RecordSet::parse(format!("{HEADER}{rows}").as_bytes(), "r.csv").unwrap_err().to_string()
    }

    #[test]
    fn reads_rows() {
        let rows = "s,sample,\"N(7.3,sd=11.7)Bx8\",foo/idle,tsc,cycles_mean,cycles,10.5,10.25,11,20,6\n";
        let set = RecordSet::parse(format!("{HEADER}{rows}").as_bytes(), "r.csv").unwrap();
        let record = set.iter().next().unwrap();
        assert_eq!(record.workload, "N(7.3,sd=11.7)Bx8");
        assert_eq!(
            (record.value, record.low, record.high, record.samples, record.launches),
            (10.5, 10.25, 11.0, 20, 6)
        );
        assert_eq!(
            set.to_csv().unwrap(),
            format!("{HEADER}{}", rows.replace(",11,20,", ",11.0,20,")).into_bytes()
        );
        assert!(RecordSet::parse(HEADER.as_bytes(), "r.csv").unwrap().is_empty());
    }

    #[test]
    fn names_the_line_of_a_malformed_row() {
        let good = "s,m,w,a,p,x,u,1,1,1,1,1\n";
        for (bad, reason) in [
            ("s,m,w,b,p,x,u,1,1,1,1\n", "11 fields, expected 12 columns"),
            ("s,m,w,b,p,x,u,one,1,1,1,1\n", "value: invalid float literal"),
            ("s,m,w,b,p,x,u,1,1,1,-1,1\n", "samples: invalid digit found in string"),
            ("s,m,w,b,p,x,u,NaN,1,1,1,1\n", "value, low and high must be finite, and low not above high"),
            ("s,m,w,b,p,x,u,1,1,inf,1,1\n", "value, low and high must be finite, and low not above high"),
            ("s,m,w,b,p,x,u,1,2,1,1,1\n", "value, low and high must be finite, and low not above high"),
            (good, "an earlier row has the same key"),
        ] {
            assert_eq!(error(&format!("{good}{bad}")), format!("r.csv:3: {reason}"));
        }
    }

    #[test]
    fn reads_files_without_the_column_of_launches() {
        let header = HEADER.replace(",launches", "");
        let set = RecordSet::parse(format!("{header}s,m,w,a,p,x,u,1,0.5,2,9\n").as_bytes(), "r.csv").unwrap();
        let record = set.iter().next().unwrap();
        assert!(record.launches == 1 && record.interval().one_launch, "{record:?}");
    }

    #[test]
    fn refuses_another_header() {
        for header in ["", "study,model\n", &HEADER.replace("low,high", "high,low")] {
            let result = RecordSet::parse(header.as_bytes(), "r.csv");
            assert!(matches!(result, Err(ReadError::Header { .. })), "{header:?}");
        }
    }

    #[test]
    fn refuses_octets_that_are_not_text() {
        let bytes = [HEADER.as_bytes(), b"s,m,w,\xff,p,x,u,1,1,1,1,1\n"].concat();
        assert_eq!(RecordSet::parse(&bytes, "r.csv").unwrap_err().to_string(), "r.csv:2: not UTF-8");
    }

    #[test]
    fn says_what_a_file_is_that_is_no_text() {
        let utf16: Vec<u8> = HEADER.encode_utf16().flat_map(u16::to_be_bytes).collect();
        for (bytes, content) in [
            ([b"\xfe\xff".as_slice(), &utf16].concat(), "UTF-16 text; save it as UTF-8"),
            (b"\x7fELF\x02\x01\0".to_vec(), "a binary file, not records; "),
        ] {
            let error = RecordSet::parse(&bytes, "r.csv").unwrap_err().to_string();
            assert!(error.starts_with(&format!("r.csv: {content}")), "{error}");
        }
    }

    #[test]
    fn names_the_file_that_cannot_be_read() {
        let error = RecordSet::read(Path::new("/nonexistent/records.csv")).unwrap_err().to_string();
        assert!(error.starts_with("/nonexistent/records.csv: "), "{error}");
    }

    #[test]
    fn writes_a_file_that_reads_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("records.csv");
        let set =
            RecordSet::parse(format!("{HEADER}s,m,w,a,p,x,u,0.1,0.05,0.3,9,5\n").as_bytes(), "").unwrap();
        set.write(&path).unwrap();
        assert_eq!(RecordSet::read(&path).unwrap(), set);
    }

    fn any_record() -> impl Strategy<Value = Record> {
        let text = || "[a-c/\"',;\r\n é]{0,6}";
        let figure = || prop::num::f64::NORMAL | prop::num::f64::SUBNORMAL | prop::num::f64::ZERO;
        let names = (text(), text(), text(), text(), text(), text(), text());
        (names, figure(), figure(), figure(), any::<u64>()).prop_map(|(names, value, a, b, samples)| {
            let launches = samples / 7;
            let (study, model, workload, scheme, probe, metric, unit) = names;
            let (low, high) = (a.min(b), a.max(b));
            let columns = [&study, &model, &workload, &scheme, &probe, &metric, &unit].map(String::as_str);
            Record::new(columns, [value, low, high], samples, launches)
        })
    }

    proptest! {
        #[test]
        fn any_records_survive_the_file(records in prop::collection::vec(any_record(), 0..12)) {
            let mut set = RecordSet::new();
            for record in records {
                let _ = set.insert(record);
            }
            let read = RecordSet::parse(&set.to_csv().unwrap(), "r.csv").unwrap();
            prop_assert_eq!(read, set);
        }

        #[test]
        fn any_octets_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = RecordSet::parse(&[HEADER.as_bytes(), &bytes].concat(), "r.csv");
        }
    }
}
