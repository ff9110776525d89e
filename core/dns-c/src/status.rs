//! Results of the functions.

use hashlane_dns::render::RenderError;
use std::ffi::{CStr, c_char, c_int};

macro_rules! statuses {
    ($($(#[doc = $doc:literal])* $id:ident = $number:literal, $text:literal;)*) => {
        /// The result of a function: 0, or the reason for which it did nothing.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(i32)]
        #[non_exhaustive]
        pub enum Status {
            $($(#[doc = $doc])* $id = $number,)*
        }

        impl Status {
            /// All of them, by their numbers from 0.
            #[cfg(test)]
            const ALL: &[Self] = &[$(Self::$id),*];

            /// The text of a number.
            const fn text(number: c_int) -> &'static CStr {
                match number {
                    $($number => $text,)*
                    _ => c"not a status of this library",
                }
            }
        }
    };
}

statuses! {
    /// The call is done.
    Ok = 0, c"done";
    /// A pointer that is required is null.
    Null = 1, c"a required pointer is null";
    /// A name is not in wire form.
    Name = 2, c"not a name in wire form: expected labels of 1 to 63 bytes, the root at the end, no pointer, \
        at most 255 bytes in all";
    /// Record data that the type cannot have.
    Rdata = 3, c"record data do not have the fields of their type, with names uncompressed";
    /// Record data or EDNS options of more than 65,535 bytes.
    RdataTooLong = 4, c"record data or options longer than 65,535 bytes";
    /// An argument out of range.
    Argument = 5, c"an argument is out of range: a section, a limit, an offset or an unknown option";
    /// No message was started.
    NotStarted = 6, c"no message was started, or it was finished: call start first";
    /// The offset of a name is before the end of an earlier one.
    Offset = 7, c"the name would be before the end of an earlier name: after a cut, call truncate first";
    /// The entry does not fit.
    Full = 8, c"no room in the message; it is as before the call";
    /// The section comes before one that has entries.
    SectionOrder = 9, c"the section comes before one that already has entries";
    /// The section has 65,535 entries.
    TooManyRecords = 10, c"the section already has 65,535 entries";
    /// The mark is of another message, or of a part that was rolled back.
    Mark = 11, c"the mark is of another message or of a part already rolled back: take a new mark";
    /// A name or data inside the buffer of the message.
    Overlap = 12, c"a name or data are in the buffer of the message: copy them before start";
    /// A panic of the library.
    Internal = 13, c"a defect of the library; the message is lost, start another one";
}

impl From<RenderError> for Status {
    fn from(error: RenderError) -> Self {
        match error {
            RenderError::Full => Self::Full,
            RenderError::SectionOrder { .. } => Self::SectionOrder,
            RenderError::TooManyRecords { .. } => Self::TooManyRecords,
            RenderError::RdataTooLong => Self::RdataTooLong,
            RenderError::Mark => Self::Mark,
            _ => Self::Internal,
        }
    }
}

/// The text of a status, in English, one line, terminated by a zero byte; never null. Valid for ever.
#[unsafe(no_mangle)]
pub extern "C" fn hashlane_dns_error(status: c_int) -> *const c_char {
    Status::text(status).as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    /// The constants of the header with their numbers.
    fn header() -> Vec<(String, c_int)> {
        let lines = include_str!("../include/hashlane_dns.h").lines();
        let values = lines.filter_map(|line| line.trim().strip_prefix("HASHLANE_DNS_")?.split_once(" = "));
        let values = values.map(|(name, value)| {
            let digits: String = value.chars().take_while(char::is_ascii_digit).collect();
            (name.to_owned(), digits.parse().unwrap())
        });
        values.collect()
    }

    #[test]
    fn numbers_are_those_of_the_header() {
        let listed: Vec<(String, c_int)> = Status::ALL
            .iter()
            .map(|status| {
                let words = format!("{status:?}").chars().fold(String::new(), |mut words, letter| {
                    if letter.is_uppercase() && !words.is_empty() {
                        words.push('_');
                    }
                    words.extend(letter.to_uppercase());
                    words
                });
                (words, *status as c_int)
            })
            .collect();
        assert_eq!(header(), listed);
    }

    #[test]
    fn each_status_has_a_text_of_its_own() {
        let texts: Vec<&CStr> = (0..).zip(Status::ALL).map(|(number, _)| Status::text(number)).collect();
        let unknown = [-1, texts.len() as c_int, c_int::MAX].map(Status::text);
        assert!(unknown.iter().all(|text| *text == unknown[0] && !texts.contains(text)));
        assert!((1..texts.len()).all(|number| !texts[..number].contains(&texts[number])));
    }
}
