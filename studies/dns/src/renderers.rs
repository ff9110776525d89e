//! Renderers of DNS messages by their ids.

#[cfg(feature = "peers")]
use crate::composer::{Fresh, Reused};
use crate::model::{Messages, Names, Packed};
use crate::workload::Corpus;
use hashlane_baseline::dns::{Dumb, New, Old};
use hashlane_dns::render::{Compressor, SuffixTable};
use hashlane_peers::dns::{BUILT_IN, IDS, Input, Render};

/// Those of this repository.
const OURS: [&str; 4] = ["old", "new", "dumb", "ours"];

/// Our compressor behind the message builder of `domain`, with the feature `peers`.
const COMPOSERS: [&str; 2] = ["composer/fresh", "composer/reused"];

/// `true` if a scheme of that id is known, built in or not.
pub(crate) fn is_renderer(id: &str) -> bool {
    OURS.contains(&id) || COMPOSERS.contains(&id) || IDS.contains(&id)
}

/// `true` if that renderer is built in: third-party renderers and those behind their builders need the
/// feature `peers`.
pub(crate) fn is_built_in(id: &str) -> bool {
    let composers = cfg!(feature = "peers") && COMPOSERS.contains(&id);
    OURS.contains(&id) || composers || BUILT_IN && IDS.contains(&id)
}

/// The renderer of that id, made ready for `corpus`. `packed` has its names, for ours; `plain` its messages
/// in wire form without compression, for other people's renderers to read; `table` is that of ours.
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
        "old" => ours(corpus, packed, Old::default()),
        "new" => ours(corpus, packed, New::default()),
        "dumb" => ours(corpus, packed, Dumb),
        "ours" => ours(corpus, packed, table.clone()),
        _ => {
            let input = match corpus {
                Corpus::Names(names) => Input::Names(names),
                Corpus::Messages(_) => Input::Messages(plain),
            };
            #[cfg(feature = "peers")]
            match id {
                "composer/fresh" => {
                    return hashlane_peers::dns::domain::renderer(Fresh, input);
                }
                "composer/reused" => {
                    return hashlane_peers::dns::domain::renderer(Reused, input);
                }
                _ => {}
            }
            hashlane_peers::dns::renderer(id, input)
        }
    }
}

/// Syntax of the ids, for a message.
pub(crate) fn renderers_help() -> String {
    format!("a renderer is one of {}, {}, {}", OURS.join(", "), COMPOSERS.join(", "), IDS.join(", "))
}
