//! DNS renderers of C libraries.

use super::ffi::RawRenderer;

/// Ids of the renderers, whether they are there, and the packages of Debian that have them.
const LIBRARIES: [(&str, bool, &str); 2] =
    [("knot/packet", cfg!(has_knot), "libknot-dev"), ("bind9/libdns", cfg!(has_bind9), "bind9-dev")];

/// Ids of all renderers, built in or not.
pub const IDS: [&str; 2] = ["knot/packet", "bind9/libdns"];

/// The reason that no renderer of this id can be made, with the next step; `None` if it can, and of ids that
/// are no renderer's.
pub fn missing(id: &str) -> Option<String> {
    let (_, is_there, package) = LIBRARIES.into_iter().find(|(name, ..)| *name == id)?;
    if is_there {
        return None;
    }
    Some(if cfg!(feature = "renderers") {
        format!("{id} is not installed: apt install {package}, then build again")
    } else {
        format!("{id} is not built in: apt install {package}, then build with --features c-renderers")
    })
}

/// A renderer, and its inputs in its own types.
///
/// `knot/packet` takes messages and renders one of them, by libknot's packets without hints. `bind9/libdns`
/// takes names and renders all of them, after a header of zeros, as one message.
#[derive(Debug)]
pub struct Renderer(RawRenderer);

impl Renderer {
    /// A renderer without inputs. `None` if the id is unknown, the library [`missing`], or memory short.
    pub fn new(id: &str) -> Option<Self> {
        RawRenderer::new(id).map(Self)
    }

    /// Adds a message or a name in wire form, without compression; false if the library does not take it.
    pub fn add(&mut self, bytes: &[u8]) -> bool {
        self.0.add(bytes)
    }

    /// Renders an input, counted from 0; `None` if the library does not.
    pub fn render(&mut self, number: usize) -> Option<&[u8]> {
        self.0.render(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn renderers_are_there_or_missing() {
        for (id, is_there, package) in LIBRARIES {
            assert_eq!(missing(id).is_none_or(|why| !why.contains(package)), is_there);
            assert_eq!(Renderer::new(id).is_some(), is_there, "{id}");
        }
        assert!(missing("nsd").is_none() && Renderer::new("nsd").is_none());
    }

    #[test]
    fn what_is_there_compresses() {
        if let Some(mut bind) = Renderer::new("bind9/libdns") {
            assert!(bind.add(b"\x01a\x07example\0") && bind.add(b"\x01b\x07EXAMPLE\0"));
            for _ in 0..3 {
                assert_eq!(bind.render(0).unwrap()[12..], *b"\x01a\x07example\0\x01b\xc0\x0e");
            }
            assert!(bind.render(1).is_none());
        }
        if let Some(mut knot) = Renderer::new("knot/packet") {
            let head = b"\x12\x34\x84\0\0\x01\0\x01\0\0\0\0\x07example\0\0\x01\0\x01";
            let plain = [&head[..], b"\x07example\0\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01"].concat();
            assert!(knot.add(&plain) && !knot.add(b"\0"));
            for _ in 0..3 {
                let expected = [&head[..], b"\xc0\x0c\0\x01\0\x01\0\0\0\x3c\0\x04\xc0\0\x02\x01"].concat();
                assert_eq!(knot.render(0).unwrap(), expected);
            }
        }
    }
}
