//! Writing a URI.

use core::fmt;

use super::parse::is_unreserved;
use super::{DIGEST_PREFIXES, NUMBER_PREFIXES};
use crate::component::{Component, DIGEST_LEN, GENERIC};
use crate::layout::Layout;
use crate::view::Name;

impl<E: Layout> fmt::Display for Name<'_, E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_str("/");
        }
        self.components().try_for_each(|component| write!(f, "/{component}"))
    }
}

impl fmt::Display for Component<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix_in = |prefixes: &[(u16, &'static str)]| {
            prefixes.iter().find(|(typ, _)| *typ == self.typ).map(|&(_, prefix)| prefix)
        };
        if self.typ == GENERIC {
            return write_escaped(self.value, f);
        }
        if let (Some(prefix), Some(number)) = (prefix_in(&NUMBER_PREFIXES), read_integer(self.value)) {
            return write!(f, "{prefix}={number}");
        }
        if let (Some(prefix), DIGEST_LEN) = (prefix_in(&DIGEST_PREFIXES), self.value.len()) {
            write!(f, "{prefix}=")?;
            return self.value.iter().try_for_each(|byte| write!(f, "{byte:02x}"));
        }
        write!(f, "{}=", self.typ)?;
        write_escaped(self.value, f)
    }
}

fn write_escaped(value: &[u8], f: &mut fmt::Formatter<'_>) -> fmt::Result {
    if value.iter().all(|&byte| byte == b'.') {
        f.write_str("...")?;
    }
    value.iter().try_for_each(|&byte| {
        if is_unreserved(byte) {
            fmt::Write::write_char(f, char::from(byte))
        } else {
            write!(f, "%{byte:02X}")
        }
    })
}

/// The number whose shortest NonNegativeInteger is `value`.
fn read_integer(value: &[u8]) -> Option<u64> {
    let (number, least) = match *value {
        [a] => (u64::from(a), 0),
        [a, b] => (u64::from(u16::from_be_bytes([a, b])), 1 << 8),
        [a, b, c, d] => (u64::from(u32::from_be_bytes([a, b, c, d])), 1 << 16),
        [a, b, c, d, e, f, g, h] => (u64::from_be_bytes([a, b, c, d, e, f, g, h]), 1 << 32),
        _ => return None,
    };
    (number >= least).then_some(number)
}
