//! The text of a zone file in the form that the reader takes.
//!
//! The reader panics where a file ends within an entry and where a token follows a quotation without a space,
//! takes a last line without its end for one that is cut off, and has times in seconds alone.

use super::error::ZoneError;

/// Text for the reader.
#[derive(Debug, Default)]
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    /// Lines in which something was replaced, in their order: columns behind it are not those of the file.
    pub(super) replaced: Vec<usize>,
    /// Times of the `$TTL` lines, each with the offset of its end in [`bytes`](Self::bytes).
    pub(super) ttls: Vec<(usize, u32)>,
}

/// Place of the next token in its entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// The first token of a line: an owner, or a directive.
    Start,
    /// The time of `$TTL`.
    Ttl,
    /// A time to live, a class or the type.
    Head,
    /// The origin of `$ORIGIN`.
    Origin,
    /// This field of the data of a SOA record.
    Soa(usize),
    /// Data with names, or the path and the origin of `$INCLUDE`.
    Names,
    /// Anything else.
    Rest,
}

/// Types whose data have names, in which `@` is the origin.
const NAMED: [&str; 19] = [
    "NS", "CNAME", "PTR", "DNAME", "MX", "SRV", "SVCB", "HTTPS", "NAPTR", "RP", "AFSDB", "KX", "RT", "PX",
    "MB", "MG", "MR", "MINFO", "NSEC",
];

/// Makes the reader's text of a file. Time units become seconds in `$TTL`, in times to live and in SOA
/// records. `@` in data becomes the origin, at first `origin`. Bytes that are not printable ASCII are
/// escaped. A byte order mark and the carriage returns of line ends are dropped.
///
/// # Errors
/// A quote or parenthesis is opened and never closed, a time is too long, or `@` has no origin.
pub(super) fn prepare(file: &[u8], origin: Option<Vec<u8>>) -> Result<Text, ZoneError> {
    let file = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(file);
    let mut writer = Writer { text: Text::default(), token: None, place: Place::Start, line: 1, origin };
    let (mut quote, mut open) = (None, Vec::new());
    let mut bytes = file.iter();
    while let Some(&byte) = bytes.next() {
        let rest = bytes.as_slice();
        match byte {
            b'\\' => {
                writer.push(byte);
                if let Some(&escaped) = bytes.next() {
                    writer.push(escaped);
                    writer.line += usize::from(escaped == b'\n');
                }
            }
            b'"' => {
                if quote.is_none() {
                    writer.end_token()?;
                }
                writer.text.bytes.push(byte);
                quote = quote.xor(Some(writer.line));
                if quote.is_none() {
                    writer.quoted();
                    if rest.first().is_some_and(|next| !next.is_ascii_whitespace()) {
                        writer.text.bytes.push(b' ');
                    }
                }
            }
            b'\n' if quote.is_some() => {
                writer.text.bytes.push(byte);
                writer.line += 1;
            }
            _ if quote.is_some() => writer.escape(byte),
            b'\r' if rest.first() == Some(&b'\n') => {}
            b' ' | b'\t' | b'\r' | b'\n' | b'(' | b')' => {
                writer.end_token()?;
                writer.text.bytes.push(byte);
                match byte {
                    b'(' => open.push(writer.line),
                    b')' => drop(open.pop()),
                    b'\n' => writer.line += 1,
                    _ => {}
                }
                if byte == b'\n' && open.is_empty() {
                    writer.place = Place::Start;
                } else if writer.place == Place::Start {
                    // The owner of the record before.
                    writer.place = Place::Head;
                }
            }
            // To the end of the line, which is not taken.
            b';' => {
                writer.end_token()?;
                let comment = rest.iter().take_while(|byte| **byte != b'\n').count();
                bytes = rest[comment..].iter();
            }
            _ => writer.push(byte),
        }
    }
    writer.end_token()?;
    writer.text.bytes.push(b'\n');
    match (quote, open.pop()) {
        (Some(line), _) => Err(ZoneError::Syntax(format!("line {line}: unclosed quotation"))),
        (None, Some(line)) => Err(ZoneError::Syntax(format!("line {line}: unclosed parenthesis"))),
        (None, None) => Ok(writer.text),
    }
}

/// The text so far, and the token that ends it.
struct Writer {
    text: Text,
    /// Offset of the token that is being written, if one is.
    token: Option<usize>,
    place: Place,
    line: usize,
    /// The origin in presentation form, with a dot at its end.
    origin: Option<Vec<u8>>,
}

impl Writer {
    /// Adds a byte to the token.
    fn push(&mut self, byte: u8) {
        self.token.get_or_insert(self.text.bytes.len());
        self.escape(byte);
    }

    /// Adds a byte, escaped if the reader would refuse it.
    fn escape(&mut self, byte: u8) {
        if matches!(byte, b' '..=b'~') {
            self.text.bytes.push(byte);
        } else {
            self.text.bytes.extend_from_slice(format!("\\{byte:03}").as_bytes());
            self.replaced();
        }
    }

    /// Notes that columns of this line are not those of the file.
    fn replaced(&mut self) {
        if self.text.replaced.last() != Some(&self.line) {
            self.text.replaced.push(self.line);
        }
    }

    /// Replaces the token at `start`.
    fn replace(&mut self, start: usize, by: &[u8]) {
        self.text.bytes.truncate(start);
        self.text.bytes.extend_from_slice(by);
        self.replaced();
    }

    /// Writes the origin for a token that is `@`.
    fn replace_at(&mut self, start: usize) -> Result<(), ZoneError> {
        if self.text.bytes.get(start..) == Some(b"@") {
            let line = self.line;
            let origin = self.origin.clone();
            let origin = origin.ok_or_else(|| ZoneError::NoOrigin(format!("line {line}")))?;
            self.replace(start, &origin);
        }
        Ok(())
    }

    /// The origin that a `$ORIGIN` states; relative to the one before it if it has no dot at its end.
    fn origin(&self, stated: &[u8]) -> Option<Vec<u8>> {
        match stated {
            b"@" => self.origin.clone(),
            stated if ends_with_dot(stated) => Some(stated.to_vec()),
            stated => match self.origin.as_deref()? {
                b"." => Some([stated, b"."].concat()),
                origin => Some([stated, b".", origin].concat()),
            },
        }
    }

    /// Counts a quotation, whose bytes are kept, as a token.
    fn quoted(&mut self) {
        self.place = match self.place {
            Place::Start => Place::Head,
            Place::Soa(field) => Place::Soa(field + 1),
            Place::Names => Place::Names,
            _ => Place::Rest,
        };
    }

    /// Ends the token, if there is one, and replaces it if it is a time with units.
    fn end_token(&mut self) -> Result<(), ZoneError> {
        let Some(start) = self.token.take() else { return Ok(()) };
        let token = self.text.bytes.get(start..).unwrap_or_default();
        self.place = match self.place {
            Place::Start if token.eq_ignore_ascii_case(b"$TTL") => Place::Ttl,
            Place::Start if token.eq_ignore_ascii_case(b"$ORIGIN") => Place::Origin,
            Place::Start if token.eq_ignore_ascii_case(b"$INCLUDE") => Place::Names,
            Place::Start if token.first() == Some(&b'$') => Place::Rest,
            Place::Start => Place::Head,
            Place::Ttl => {
                if let Some(seconds) = self.replace_time(start)? {
                    self.text.ttls.push((self.text.bytes.len(), seconds));
                }
                Place::Rest
            }
            Place::Head if is_class(token) => Place::Head,
            Place::Head if token.eq_ignore_ascii_case(b"SOA") => Place::Soa(0),
            Place::Head if is_one_of(token, &NAMED) => Place::Names,
            Place::Head => match self.replace_time(start)? {
                Some(_) => Place::Head,
                None => Place::Rest,
            },
            Place::Origin => {
                self.origin = self.origin(token);
                // The reader takes @ for a label here, too.
                self.replace_at(start)?;
                Place::Rest
            }
            Place::Names => {
                self.replace_at(start)?;
                Place::Names
            }
            Place::Soa(field) => {
                // Two names, the serial number, and four times.
                match field {
                    0 | 1 => self.replace_at(start)?,
                    3.. => drop(self.replace_time(start)?),
                    _ => {}
                }
                Place::Soa(field + 1)
            }
            Place::Rest => Place::Rest,
        };
        Ok(())
    }

    /// The seconds of the token at `start`, which are written instead of it; `None` if it is no time.
    fn replace_time(&mut self, start: usize) -> Result<Option<u32>, ZoneError> {
        let token = self.text.bytes.get(start..).unwrap_or_default();
        if !is_time(token) {
            return Ok(None);
        }
        let Some(seconds) = seconds(token) else {
            let token = String::from_utf8_lossy(token);
            return Err(ZoneError::Syntax(format!(
                "line {}: {token} is longer than 2^32 − 1 seconds",
                self.line
            )));
        };
        if !token.iter().all(u8::is_ascii_digit) {
            self.replace(start, seconds.to_string().as_bytes());
        }
        Ok(Some(seconds))
    }
}

/// The classes by their mnemonics and as `CLASS254` (RFC 3597 §5).
fn is_class(token: &[u8]) -> bool {
    let generic = token.get(..5).is_some_and(|start| start.eq_ignore_ascii_case(b"CLASS"));
    generic || is_one_of(token, &["IN", "CH", "HS", "CS", "NONE", "ANY"])
}

fn is_one_of(token: &[u8], words: &[&str]) -> bool {
    words.iter().any(|word| token.eq_ignore_ascii_case(word.as_bytes()))
}

/// `true` if a name is absolute: its last dot is not escaped.
fn ends_with_dot(name: &[u8]) -> bool {
    let Some(rest) = name.strip_suffix(b".") else { return false };
    rest.iter().rev().take_while(|byte| **byte == b'\\').count() % 2 == 0
}

/// A number of seconds, or numbers with units: `300`, `1d`, `1w2D`.
fn is_time(token: &[u8]) -> bool {
    let unit = |byte: &u8| matches!(byte.to_ascii_lowercase(), b's' | b'm' | b'h' | b'd' | b'w');
    let digits = token.iter().all(u8::is_ascii_digit);
    let groups = || {
        token.first().is_some_and(u8::is_ascii_digit)
            && token.last().is_some_and(unit)
            && token.iter().all(|byte| byte.is_ascii_digit() || unit(byte))
            && token.windows(2).all(|pair| pair.iter().any(u8::is_ascii_digit))
    };
    !token.is_empty() && (digits || groups())
}

/// Seconds of a time, `None` above 2³² − 1.
fn seconds(time: &[u8]) -> Option<u32> {
    let (mut sum, mut number) = (0_u32, 0_u32);
    for byte in time {
        let unit = match byte.to_ascii_lowercase() {
            digit @ b'0'..=b'9' => {
                number = number.checked_mul(10)?.checked_add(u32::from(digit - b'0'))?;
                continue;
            }
            b'm' => 60,
            b'h' => 3600,
            b'd' => 86_400,
            b'w' => 604_800,
            _ => 1,
        };
        sum = sum.checked_add(number.checked_mul(unit)?)?;
        number = 0;
    }
    sum.checked_add(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prepared(text: &str) -> String {
        let text = prepare(text.as_bytes(), Some(b"example.".to_vec())).unwrap();
        String::from_utf8(text.bytes).unwrap()
    }

    #[test]
    fn times_become_seconds_where_times_stand() {
        for (text, expected) in [
            ("$TTL 1w2D", "$TTL 777600\n"),
            ("$ttl 1h30m", "$ttl 5400\n"),
            ("1d 1d IN A 1.2.3.4", "1d 86400 IN A 1.2.3.4\n"),
            ("a IN 5m TXT 5m", "a IN 300 TXT 5m\n"),
            ("\t10s A 1.2.3.4", "\t10 A 1.2.3.4\n"),
            ("a SOA 1d 1h (1 1h\r\n 15M 1W 1d)", "a SOA 1d 1h (1 3600\n 900 604800 86400)\n"),
            ("a 60 CLASS4 TYPE7 \\# 0", "a 60 CLASS4 TYPE7 \\# 0\n"),
            ("a 1h1 A 1.2.3.4", "a 1h1 A 1.2.3.4\n"),
        ] {
            assert_eq!(prepared(text), expected);
        }
        let long = prepare(b"\n$TTL 9999w", None).unwrap_err().to_string();
        assert_eq!(long, "line 2: 9999w is longer than 2^32 − 1 seconds");
    }

    #[test]
    fn knows_the_times_of_ttl_lines_and_the_lines_that_changed() {
        let text = prepare(b"$TTL 1h ; one\na A 1.2.3.4\n$TTL 60\nb 1m A 1.2.3.4\n", None).unwrap();
        assert_eq!(text.ttls.iter().map(|ttl| ttl.1).collect::<Vec<_>>(), [3600, 60]);
        assert!(text.bytes[..text.ttls[1].0].ends_with(b"$TTL 60"));
        assert_eq!(text.replaced, [1, 4]);
    }

    #[test]
    fn drops_comments_outside_quotations_and_marks_of_the_byte_order() {
        assert_eq!(prepared("\u{feff}a TXT \"x;y\";z\r\n"), "a TXT \"x;y\" \n\n");
    }

    #[test]
    fn an_at_sign_in_data_is_the_origin() {
        for (text, expected) in [
            ("@ CNAME @", "@ CNAME example.\n"),
            ("@ 1 IN MX 10 @", "@ 1 IN MX 10 example.\n"),
            ("@ SOA @ @ 1 2 3 4 5", "@ SOA example. example. 1 2 3 4 5\n"),
            ("@ TXT @", "@ TXT @\n"),
            ("$INCLUDE f @", "$INCLUDE f example.\n"),
            ("a CNAME \\@", "a CNAME \\@\n"),
            ("$ORIGIN sub\na NS @", "$ORIGIN sub\na NS sub.example.\n"),
            ("$ORIGIN sub\n$ORIGIN @\na NS @", "$ORIGIN sub\n$ORIGIN sub.example.\na NS sub.example.\n"),
            ("$ORIGIN a\\..\nb NS @", "$ORIGIN a\\..\nb NS a\\..\n"),
            ("$ORIGIN .\n$ORIGIN b\na NS @", "$ORIGIN .\n$ORIGIN b\na NS b.\n"),
        ] {
            assert_eq!(prepared(text), expected);
        }
        assert_eq!(prepare(b"\na. NS @", None).unwrap_err(), ZoneError::NoOrigin("line 2".into()));
    }

    #[test]
    fn bytes_that_are_not_printable_are_escaped() {
        assert_eq!(prepared("\u{fc}. TXT \"a\tb\u{7f}\""), "\\195\\188. TXT \"a\\009b\\127\"\n");
    }
}
