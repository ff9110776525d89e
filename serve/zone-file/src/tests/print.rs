//! Data of random fields, printed and read back.

use super::*;
use crate::types::{Field, Form, NUMBERS, form};
use data_encoding::{BASE32HEX_NOPAD, BASE64, HEXLOWER};
use prop::collection::vec as list;
use proptest::prelude::*;

/// Random bytes that end with zeros without end.
struct Bytes<'a>(std::slice::Iter<'a, u8>);

impl Bytes<'_> {
    fn next(&mut self) -> u8 {
        self.0.next().copied().unwrap_or(0)
    }

    fn take(&mut self, len: usize) -> Vec<u8> {
        (0..len).map(|_| self.next()).collect()
    }

    fn some(&mut self, most: u8) -> Vec<u8> {
        let len = 1 + self.next() % most;
        self.take(len.into())
    }
}

/// Text of bytes in a quotation.
fn quoted(bytes: &[u8]) -> String {
    let escaped: String = bytes
        .iter()
        .map(|byte| match byte {
            b'"' | b'\\' => format!("\\{}", char::from(*byte)),
            b' '..=b'~' => char::from(*byte).to_string(),
            byte => format!("\\{byte:03}"),
        })
        .collect();
    format!("\"{escaped}\"")
}

/// A random field: its text and its wire form.
fn field(field: Field, bytes: &mut Bytes<'_>) -> (String, Vec<u8>) {
    let number = |wire: Vec<u8>| {
        let value = wire.iter().fold(0_u64, |value, byte| value << 8 | u64::from(*byte));
        (value.to_string(), wire)
    };
    let with_len = |data: &[u8]| [&[data.len() as u8], data].concat();
    let grouped = |data: &[u8], len: usize, sign: &str| {
        let groups: Vec<String> = data.chunks(len).map(|group| HEXLOWER.encode(group)).collect();
        groups.join(sign)
    };
    match field {
        Field::Name => {
            let mut name = NameBuf::ROOT;
            for _ in 0..bytes.next() % 4 {
                name.push(&bytes.some(20)).unwrap();
            }
            (name.to_string(), name.as_bytes().to_vec())
        }
        Field::U8 | Field::Algorithm => number(bytes.take(1)),
        Field::U16 | Field::Certificate => number(bytes.take(2)),
        Field::U32 | Field::Time | Field::Stamp => number(bytes.take(4)),
        Field::Type => {
            let (text, wire) = number(bytes.take(2));
            (format!("TYPE{text}"), wire)
        }
        Field::Ipv4 => {
            let wire = bytes.take(4);
            let text: Vec<String> = wire.iter().map(u8::to_string).collect();
            (text.join("."), wire)
        }
        Field::Ipv6 => {
            let wire = bytes.take(16);
            (grouped(&wire, 2, ":"), wire)
        }
        Field::String => {
            let data = bytes.some(200);
            (quoted(&data), with_len(&data))
        }
        Field::Strings => {
            let (first, second) = (bytes.some(200), bytes.some(20));
            (
                format!("{} {}", quoted(&first), quoted(&second)),
                [with_len(&first), with_len(&second)].concat(),
            )
        }
        Field::Text => {
            let data = bytes.some(200);
            (quoted(&data), data)
        }
        Field::Hex => {
            let data = bytes.some(60);
            (grouped(&data, 7, " "), data)
        }
        Field::Salt => {
            let data = bytes.some(60);
            (HEXLOWER.encode(&data), with_len(&data))
        }
        Field::Hash => {
            let data = bytes.some(60);
            (BASE32HEX_NOPAD.encode(&data), with_len(&data))
        }
        Field::Base64 => {
            let data = bytes.some(90);
            let text = BASE64.encode(&data);
            let (start, end) = text.split_at(text.len() / 2);
            (format!("( {start}\n {end} )"), data)
        }
        Field::Bitmap => {
            let rtype = bytes.next();
            let mut wire = vec![3, rtype / 8 + 1];
            wire.extend(vec![0; usize::from(rtype / 8)]);
            wire.push(0x80 >> (rtype % 8));
            (format!("TYPE{} TYPE{}", 768 + u16::from(rtype), 768 + u16::from(rtype)), wire)
        }
        Field::Eui48 => {
            let wire = bytes.take(6);
            (grouped(&wire, 1, "-"), wire)
        }
        Field::Eui64 => {
            let wire = bytes.take(8);
            (grouped(&wire, 1, "-"), wire)
        }
        Field::Locator => {
            let wire = bytes.take(8);
            (grouped(&wire, 2, ":"), wire)
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn printed_data_are_read_back(random in list(any::<u8>(), 0..400), number in 0..NUMBERS.len()) {
        let rtype = NUMBERS[number];
        let Some(Form::Fields(fields)) = form(rtype) else { return Ok(()) };
        let mut bytes = Bytes(random.iter());
        let (mut text, mut wire) = (String::new(), Vec::new());
        for part in fields {
            let (shown, data) = field(*part, &mut bytes);
            text = text + " " + &shown;
            wire.extend(data);
        }
        let generic = format!("\\# {} {}", wire.len(), HEXLOWER.encode(&wire));
        prop_assert_eq!(data(&format!("a 1 TYPE{rtype} {text}")), wire.clone(), "{}", text);
        prop_assert_eq!(data(&format!("a 1 TYPE{rtype} {generic}")), wire, "{}", text);
    }
}
