//! Renderers of DNS messages by their ids.

use crate::model::{Messages, Names, Packed};
use crate::workload::Corpus;
use hashlane_baseline::dns::{
    Dumb, HashNotStored, HashedTwice, Item, New, NewTable, Old, PrimeBuckets, WholeName,
};
use hashlane_dns::render::{Compressor, SuffixTable};
use hashlane_peers::dns::{BUILT_IN, IDS, Input, Render};
use hashlane_peers_cpp::{self as c, RENDERERS};

/// Those of this repository; `new/…` are forms of `new`.
const OURS: [&str; 8] = [
    "old",
    "new",
    "dumb",
    "ours",
    "new/prime-buckets",
    "new/whole-name",
    "new/hash-not-stored",
    "new/hashed-twice",
];

/// Our compressor behind the message builder of `domain`, with the feature `peers`.
const COMPOSERS: [&str; 2] = ["composer/fresh", "composer/reused"];

/// `true` if a scheme of that id is known, built in or not.
pub(crate) fn is_renderer(id: &str) -> bool {
    OURS.contains(&id) || COMPOSERS.contains(&id) || IDS.contains(&id) || RENDERERS.contains(&id)
}

/// The reason that a renderer is not built in, with the next step; `None` if it is.
pub(crate) fn missing(id: &str) -> Option<String> {
    if RENDERERS.contains(&id) {
        return c::missing(id);
    }
    (!is_built_in(id)).then(|| {
        format!(
            "{id} was not measured: this command was built without the feature `peers`, which is on by default"
        )
    })
}

/// `true` if that renderer is built in: third-party renderers and those behind their builders need the
/// feature `peers`.
pub(crate) fn is_built_in(id: &str) -> bool {
    let composers = cfg!(feature = "peers") && COMPOSERS.contains(&id);
    OURS.contains(&id)
        || composers
        || BUILT_IN && IDS.contains(&id)
        || RENDERERS.contains(&id) && c::missing(id).is_none()
}

/// The renderer of that id, made ready for `corpus`. `packed` has its names, for ours; `plain` its messages
/// in wire form without compression, for other people's renderers to read; `table` is our renderers' table.
///
/// # Errors
/// The renderer cannot render the corpus; the error says in words which rule is broken.
pub(crate) fn renderer<'a>(
    id: &str,
    corpus: &'a Corpus,
    packed: &'a Packed,
    plain: &'a [Vec<u8>],
    table: &SuffixTable,
) -> Result<Box<dyn Render + 'a>, String> {
    fn ours<'a, C: Compressor + 'a>(
        corpus: &'a Corpus,
        packed: &'a Packed,
        compressor: C,
    ) -> Result<Box<dyn Render + 'a>, String> {
        Ok(match corpus {
            Corpus::Names(_) => Box::new(Names::new(packed, compressor)),
            Corpus::Messages(messages) => Box::new(Messages::new(messages, packed, compressor)?),
        })
    }
    match id {
        _ if RENDERERS.contains(&id) => Ok(Box::new(Library::new(id, corpus, plain)?)),
        "old" => ours(corpus, packed, Old::default()),
        "new" => ours(corpus, packed, New::default()),
        "new/prime-buckets" => ours(corpus, packed, PrimeBuckets::default()),
        "new/whole-name" => ours(corpus, packed, WholeName::default()),
        "new/hash-not-stored" => ours(corpus, packed, HashNotStored::default()),
        "new/hashed-twice" => ours(corpus, packed, HashedTwice::default()),
        "dumb" => ours(corpus, packed, Dumb),
        "ours" => ours(corpus, packed, table.clone()),
        _ => {
            let input = match corpus {
                Corpus::Names(names) => Input::Names(names),
                Corpus::Messages(_) => Input::Messages(plain),
            };
            #[cfg(feature = "peers")]
            use {
                ::domain::dep::octseq::Truncate,
                hashlane_dns::composer::Compressing,
                hashlane_peers::dns::domain::{self, cleared},
            };
            #[cfg(feature = "peers")]
            match id {
                // A compressor for each message, with a table of the process.
                "composer/fresh" => {
                    let fresh = |last: Compressing<_>| Compressing::pooled(cleared(last.into_target()));
                    return domain::renderer(Compressing::pooled, fresh, input);
                }
                // One compressor for all messages, cut to nothing between them.
                "composer/reused" => {
                    let reused = |mut last: Compressing<_>| {
                        last.truncate(0);
                        last
                    };
                    return domain::renderer(Compressing::pooled, reused, input);
                }
                _ => {}
            }
            hashlane_peers::dns::renderer(id, input)
        }
    }
}

/// Pairs of suffixes in one bucket after names, in the forms of `new` that differ in it.
///
/// # Errors
/// The names cannot be rendered.
pub(crate) fn collisions(id: &str, packed: &Packed) -> Option<Result<f64, String>> {
    fn pairs<I: Item, const COUNT: usize, const LEN: usize, const KEPT: bool>(
        packed: &Packed,
        table: NewTable<I, COUNT, LEN, KEPT>,
    ) -> Result<f64, String> {
        let mut names = Names::new(packed, table);
        names.render(0)?;
        let pairs = |items: usize| items * items.saturating_sub(1) / 2;
        Ok(names.compressor().occupancy().map(pairs).sum::<usize>() as f64)
    }
    Some(match id {
        "new" => pairs(packed, New::default()),
        "new/prime-buckets" => pairs(packed, PrimeBuckets::default()),
        "new/whole-name" => pairs(packed, WholeName::default()),
        _ => return None,
    })
}

/// A renderer of a C library.
struct Library(c::Renderer);

impl Library {
    /// # Errors
    /// The library is missing, or takes no input of this kind.
    fn new(id: &str, corpus: &Corpus, plain: &[Vec<u8>]) -> Result<Self, String> {
        let mut renderer = c::Renderer::new(id).ok_or("it cannot be made")?;
        let taken = match (id, corpus) {
            ("bind9/libdns", Corpus::Names(names)) => names.iter().all(|name| renderer.add(name.as_bytes())),
            ("bind9/libdns", Corpus::Messages(_)) => return Err("it takes names alone".into()),
            (_, Corpus::Messages(_)) => plain.iter().all(|message| renderer.add(message)),
            (_, Corpus::Names(_)) => return Err("it takes whole messages".into()),
        };
        if taken { Ok(Self(renderer)) } else { Err("it does not take a message".into()) }
    }
}

impl Render for Library {
    fn render(&mut self, message: usize) -> Result<&[u8], String> {
        self.0.render(message).ok_or_else(|| format!("it does not render message {message}"))
    }
}

/// Syntax of the ids, for a message.
pub(crate) fn renderers_help() -> String {
    let ids = [&OURS[..], &COMPOSERS, &IDS, &RENDERERS].concat();
    format!("a renderer is one of {}", ids.join(", "))
}

#[cfg(all(test, feature = "peers"))]
mod tests {
    use super::*;
    use hashlane_hash::scheme::Key;

    #[test]
    fn composers_compress_names_message_after_message() {
        let names = ["www.example.com", "ns.Example.com", "."].map(|text| text.parse().unwrap());
        let corpus = Corpus::Names(names.into());
        let (packed, table) = (Packed::new(&corpus), SuffixTable::new(&Key::VECTOR));
        for id in COMPOSERS {
            let mut renderer = renderer(id, &corpus, &packed, &[], &table).unwrap();
            let first = renderer.render(0).unwrap().to_vec();
            assert_eq!(&first[12..], b"\x03www\x07example\x03com\0\x02ns\xc0\x10\0");
            assert_eq!(renderer.render(0).unwrap(), first);
        }
    }
}
