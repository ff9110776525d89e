//! Renderers of DNS messages by their ids.

use crate::metric::BENIGN;
use crate::model::{Messages, Names, Packed};
use crate::programs;
use crate::servers;
use crate::workload::Corpus;
use hashlane_baseline::dns::{
    Dumb, HashNotStored, HashedTwice, Item, New, NewTable, Old, PrimeBuckets, WholeName,
};
use hashlane_dns::render::{Compressor, SuffixTable};
use hashlane_peers::dns::{BUILT_IN, IDS, Input, Render};
use hashlane_peers_cpp::{self as c, READERS, RENDERERS};

/// Renderers of this repository; `new/…` are forms of `new`.
const OURS: [&str; 9] = [
    "old",
    "new",
    "dumb",
    "ours",
    BENIGN,
    "new/prime-buckets",
    "new/whole-name",
    "new/hash-not-stored",
    "new/hashed-twice",
];

/// Our compressor behind the message builder of `domain`, with the feature `peers`.
const COMPOSERS: [&str; 2] = ["composer/fresh", "composer/reused"];

/// Renderers of others: Rust crates, C libraries, and programs in other languages.
pub(crate) const OTHERS: [&[&str]; 3] = [&IDS, &RENDERERS, &programs::IDS];

/// `true` if a scheme of that id is known, there or not.
pub(crate) fn is_known(id: &str) -> bool {
    let ours = OURS.contains(&id) || COMPOSERS.contains(&id);
    ours || servers::IDS.contains(&id) || READERS.contains(&id) || OTHERS.iter().any(|ids| ids.contains(&id))
}

/// The note on a scheme: the reason that it is not there, with the next step, or the version of a program.
/// `None` for those built in.
pub(crate) fn note(id: &str) -> Option<String> {
    if RENDERERS.contains(&id) || READERS.contains(&id) {
        return c::missing(id);
    }
    if programs::IDS.contains(&id) {
        return Some(
            programs::version(id).clone().map_or_else(|why| why, |version| format!("{id}: {version}")),
        );
    }
    if servers::IDS.contains(&id) {
        return servers::note(id);
    }
    (!is_there(id)).then(|| {
        format!(
            "{id} was not measured: this command was built without the feature `peers`, which is on by default"
        )
    })
}

/// `true` if that renderer is there: third-party renderers and those behind their builders need the feature
/// `peers`, those in other languages their programs.
pub(crate) fn is_there(id: &str) -> bool {
    let composers = cfg!(feature = "peers") && COMPOSERS.contains(&id);
    OURS.contains(&id)
        || composers
        || BUILT_IN && IDS.contains(&id)
        || RENDERERS.contains(&id) && c::missing(id).is_none()
        || programs::IDS.contains(&id) && programs::version(id).is_ok()
}

/// The renderer of that id, made ready for `corpus`. `packed` has its names, for ours; `wire` its messages in
/// wire form, for other people's renderers to read; `table` is our renderers' table.
///
/// # Errors
/// The renderer cannot render the corpus; the error says in words which rule is broken.
pub(crate) fn renderer<'a>(
    id: &str,
    corpus: &'a Corpus,
    packed: &'a Packed,
    wire: &'a [Vec<u8>],
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
        _ if RENDERERS.contains(&id) => Ok(Box::new(Library::new(id, corpus, wire)?)),
        _ if programs::IDS.contains(&id) => program(id, corpus, wire),
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
                Corpus::Messages(_) => Input::Messages(wire),
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

/// A renderer in another language.
fn program<'a>(id: &str, corpus: &Corpus, wire: &[Vec<u8>]) -> Result<Box<dyn Render + 'a>, String> {
    if let Corpus::Names(_) = corpus {
        return Err("it takes whole messages".into());
    }
    let mut driver = programs::start(id).map_err(|error| error.to_string())?;
    wire.iter().try_for_each(|message| driver.add(message)).map_err(|error| error.to_string())?;
    Ok(Box::new(driver))
}

/// A renderer of a C library.
struct Library(c::Renderer);

impl Library {
    /// # Errors
    /// The library is missing, or takes no input of this kind.
    fn new(id: &str, corpus: &Corpus, wire: &[Vec<u8>]) -> Result<Self, String> {
        let mut renderer = c::Renderer::new(id).ok_or("it cannot be made")?;
        let inputs: Vec<&[u8]> = match (id, corpus) {
            ("bind9/libdns", Corpus::Names(names)) => names.iter().map(|name| name.as_bytes()).collect(),
            ("bind9/libdns", Corpus::Messages(_)) => return Err("it takes names alone".into()),
            (_, Corpus::Messages(_)) => wire.iter().map(Vec::as_slice).collect(),
            (_, Corpus::Names(_)) => return Err("it takes whole messages".into()),
        };
        match inputs.iter().enumerate().find(|(_, input)| !renderer.add(input)) {
            Some((number, input)) => {
                Err(format!("it does not take input {number}, of {} bytes", input.len()))
            }
            None => Ok(Self(renderer)),
        }
    }
}

impl Render for Library {
    fn render(&mut self, message: usize) -> Result<&[u8], String> {
        self.0.render(message).ok_or_else(|| format!("it does not render message {message}"))
    }
}

/// Syntax of the ids, for a message.
pub(crate) fn renderers_help() -> String {
    let ids = [&OURS[..], &COMPOSERS, &OTHERS.concat(), &["c-ares"], &servers::IDS].concat();
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
