//! `name_prefixes`: hashes of the prefixes of names.

use crate::api::{Chunk, Output, Scalar, Type};
use crate::arguments::{check_given, scheme, scheme_key, shortened, word};
use hashlane_hash::crc32c::Crc32c;
use hashlane_hash::prefix::EveryPrefix;
use hashlane_hash::scheme::{Key, Scheme as _};
use hashlane_hash::siphash::{SipHash13, SipHash24};
use hashlane_name::for_each_encoding;
use hashlane_name::layout::Layout;
use hashlane_name::prefix::OnePass;
use hashlane_name::uri::parse_uri;
use hashlane_name::walk::Encoding as _;

/// `name_prefixes(name, encoding, scheme [, key])`: the hash of each prefix of a name, the shortest first.
/// The name is encoded, as BLOB, or an NDN URI, as VARCHAR.
pub(crate) struct NamePrefixes;

impl Scalar for NamePrefixes {
    const NAME: &'static str = "name_prefixes";

    fn forms() -> Vec<(Vec<Type>, Type)> {
        let rest = [Type::Varchar, Type::Varchar, Type::Blob];
        let forms = [Type::Varchar, Type::Blob].into_iter().flat_map(|name| {
            [2, 3].map(|count| [name].into_iter().chain(rest.into_iter().take(count)).collect())
        });
        forms.map(|form| (form, Type::List(&Type::UBigInt))).collect()
    }

    fn call(input: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), String> {
        check_given(input, &[(3, Type::Blob, "the key")])?;
        let columns = input.all()?;
        let [names, encodings, schemes, keys @ ..] = columns.as_slice() else {
            return Err("expected a name, an encoding and a scheme".to_owned());
        };
        let is_text = names.is(Type::Varchar);
        let mut last: Option<Pass<'_>> = None;
        let (mut hashes, mut lengths) = (Vec::new(), vec![0; input.rows()]);
        for (row, length) in lengths.iter_mut().enumerate() {
            if columns.iter().any(|column| column.is_null(row)) {
                output.set_null(row);
                continue;
            }
            let now = [encodings.bytes(row), schemes.bytes(row), keys.first().and_then(|key| key.bytes(row))];
            let pass = match &mut last {
                Some(pass) if pass.arguments == now => pass,
                last => {
                    let (encoding, id) = (word("encoding", encodings, row)?, word("scheme", schemes, row)?);
                    let [_, _, key] = now;
                    last.insert(Pass { arguments: now, hashes: by_encoding(encoding, id, key)? })
                }
            };
            let name = names.bytes(row).unwrap_or_default();
            let before = hashes.len();
            (pass.hashes)(name, is_text, &mut hashes).map_err(|why| match is_text {
                true => format!("{:?}: {why}", shortened(name)),
                false => format!("a name of {} bytes: {why}", name.len()),
            })?;
            *length = hashes.len() - before;
        }
        let (mut items, places) = output.lists(0, lengths.into_iter())?;
        if let Some(places) = items.numbers::<u64>()?.get_mut(places) {
            places.copy_from_slice(&hashes);
        }
        Ok(())
    }
}

/// Hashes of rows with the same encoding, scheme and key.
struct Pass<'a> {
    arguments: [Option<&'a [u8]>; 3],
    hashes: Box<Hashes>,
}

/// Appends the hashes of the prefixes of a name, which is a text or encoded.
type Hashes = dyn FnMut(&[u8], bool, &mut Vec<u64>) -> Result<(), String>;

fn by_encoding(encoding: &str, id: &str, key: Option<&[u8]>) -> Result<Box<Hashes>, String> {
    let ids = [SipHash13::INFO.id, SipHash24::INFO.id, Crc32c::INFO.id];
    if !ids.contains(&id) {
        return Err(format!("unknown scheme {id:?}; for names: {}", ids.join(", ")));
    }
    let key = scheme_key(&scheme(id)?, key)?;
    macro_rules! pass {
        ($($id:ident: $encoding:ty),* $(,)?) => {
            match encoding {
                $(id_of if id_of == <$encoding>::ID => Ok(by_scheme::<$encoding>(id, &key)),)*
                other => {
                    let known = [$(<$encoding>::ID),*].join(", ");
                    Err(format!("unknown encoding {other:?}; known: {known}"))
                }
            }
        };
    }
    for_each_encoding!(pass)
}

fn by_scheme<E: Layout + 'static>(id: &str, key: &Key) -> Box<Hashes> {
    if id == SipHash13::INFO.id {
        pass::<E, _>(SipHash13::new(key))
    } else if id == SipHash24::INFO.id {
        pass::<E, _>(SipHash24::new(key))
    } else {
        pass::<E, _>(Crc32c::new(key))
    }
}

fn pass<E: Layout + 'static, H: EveryPrefix + 'static>(hash: H) -> Box<Hashes> {
    let mut pass = Box::new(OnePass::<E, H>::new(hash));
    Box::new(move |name, is_text, out| {
        let encoded = match is_text {
            true => Some(parse_uri::<E>(name).map_err(|error| error.to_string())?.into_bytes()),
            false => None,
        };
        let hashes = pass.name(encoded.as_deref().unwrap_or(name)).map_err(|error| error.to_string())?;
        out.extend_from_slice(hashes);
        Ok(())
    })
}
