//! `rss` and `ehash`: hashes of the two ends of flows.

use crate::api::{Chunk, Output, Scalar, Type};
use crate::arguments::{card, check_given, number, secret, word};
use crate::ends::{ADDRESSES, Ends, types};
use hashlane_baseline::ehash::{Function, Secrets};
use hashlane_flow::rss;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_hash::toeplitz;

/// `rss(src, sport, dst, dport, key [, queues])`: Toeplitz hash or queue of a received packet.
pub(crate) struct Rss;

impl Scalar for Rss {
    const NAME: &'static str = "rss";

    fn forms() -> Vec<(Vec<Type>, Type)> {
        let short = ADDRESSES.map(|address| [&types(address)[..], &[Type::Blob]].concat());
        let long = short.clone().map(|form| [&form[..], &[Type::BigInt]].concat());
        short.into_iter().chain(long).map(|form| (form, Type::UInteger)).collect()
    }

    fn call(input: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), String> {
        check_given(input, &[(4, Type::Blob, "card_key")])?;
        let (ends, columns) = (Ends::of(input)?, input.all()?);
        let mut last: Option<(&[u8], toeplitz::Rss)> = None;
        each_row(input, output, |row| {
            let (Some(key), Some((source, destination))) =
                (columns.get(4).and_then(|key| key.bytes(row)), ends.at(row)?)
            else {
                return Ok(None);
            };
            // The table of a key takes as long as hundreds of rows.
            let table = match &last {
                Some((of, table)) if *of == key => table,
                _ => &last.insert((key, toeplitz::Rss::new(card(key)?))).1,
            };
            // The host that receives the packet is the local end.
            let received = Tuple::new(destination.0, destination.1, source.0, source.1);
            match columns.get(5) {
                Some(queues) if queues.is_null(row) => Ok(None),
                Some(queues) => {
                    let queues = number("queues", queues, row, 1..=rss::ENTRIES as u64)?;
                    Ok(Some(rss::queue(table, &received, queues as usize) as u32))
                }
                None => Ok(Some(rss::hash(table, &received))),
            }
        })
    }
}

/// `ehash(local, lport, foreign, fport, function, ehash_secret [, ipv6_secret, mix [, key]])`: the hash by
/// which Linux chooses the bucket of an established connection.
pub(crate) struct Ehash;

impl Scalar for Ehash {
    const NAME: &'static str = "ehash";

    fn forms() -> Vec<(Vec<Type>, Type)> {
        let rest = [Type::Varchar, Type::BigInt, Type::BigInt, Type::BigInt, Type::Blob];
        let forms = ADDRESSES.iter().flat_map(|address| {
            [2, 4, 5].map(|count| types(*address).into_iter().chain(rest.into_iter().take(count)).collect())
        });
        forms.map(|form| (form, Type::UInteger)).collect()
    }

    fn call(input: &Chunk<'_>, output: &mut Output<'_>) -> Result<(), String> {
        check_given(input, &[(8, Type::Blob, "the key")])?;
        let (ends, columns) = (Ends::of(input)?, input.all()?);
        let rest = columns.get(4..).unwrap_or_default();
        let mut last: Option<(&str, Function)> = None;
        each_row(input, output, |row| {
            if rest.iter().any(|column| column.is_null(row)) {
                return Ok(None);
            }
            let Some((local, foreign)) = ends.at(row)? else { return Ok(None) };
            let secret_of = |name, place: usize| match rest.get(place) {
                Some(column) => number(name, column, row, 0..=u64::from(u32::MAX)).map(|word| word as u32),
                None => Ok(0),
            };
            let id = rest.first().map(|column| word("function", column, row)).transpose()?;
            let id = id.unwrap_or_default();
            let function = match last {
                Some((of, function)) if of == id => function,
                _ => last.insert((id, Function::of(id).map_err(|error| error.to_string())?)).1,
            };
            let key = match rest.get(4).and_then(|key| key.bytes(row)) {
                Some(key) => secret(key)?,
                None if function.has_key() => {
                    return Err(format!("{id} needs a key of 16 bytes as the last argument"));
                }
                None => Key::VECTOR,
            };
            let tuple = Tuple::new(local.0, local.1, foreign.0, foreign.1);
            // Another secret than the kernel's would be another hash.
            if rest.len() < 4 && !tuple.is_v4() {
                return Err("IPv6 addresses need ipv6_secret and mix as further arguments".to_owned());
            }
            let secrets = Secrets {
                ehash: secret_of("ehash_secret", 1)?,
                ipv6: secret_of("ipv6_secret", 2)?,
                mix: secret_of("mix", 3)?,
                key,
            };
            Ok(Some(function.hash(&tuple, &secrets)))
        })
    }
}

/// Writes the number of each row, or a null.
fn each_row(
    input: &Chunk<'_>,
    output: &mut Output<'_>,
    mut number: impl FnMut(usize) -> Result<Option<u32>, String>,
) -> Result<(), String> {
    for row in 0..input.rows() {
        match number(row)? {
            Some(number) => {
                if let Some(place) = output.numbers()?.get_mut(row) {
                    *place = number;
                }
            }
            None => output.set_null(row),
        }
    }
    Ok(())
}
