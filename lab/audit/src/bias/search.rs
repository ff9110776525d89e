//! Selection of suspicious differences: pairs that share a bucket too often, among many pairs of few keys.

use super::Side;
use super::differences::{Difference, TERMS, Window};
use crate::draw::Draw;
use crate::subject::{AuditedHash, Fault};

/// Random bases of a window, each hashed under another seed.
const BASES: u64 = 10;

/// Bits of a bucket at which pairs are counted.
const LEVELS: [u32; 4] = [4, 8, 12, 16];

/// Buckets by whose number keys are sorted to find pairs.
const SORTED: usize = 1 << LEVELS[1];

/// Mark of a place without a change in a code.
const NONE: usize = 0xff;

/// A difference that shared a bucket more often than chance has it.
#[derive(Clone, Debug)]
pub(crate) struct Suspect {
    /// Bytes of a key.
    pub(crate) length: usize,
    /// The difference.
    pub(crate) difference: Difference,
    /// Excess over chance: the logarithm of a ratio of likelihoods.
    pub(crate) score: f64,
}

/// Excess of `count` pairs of one bucket over chance, which has `expected`: the logarithm of the ratio of the
/// likelihoods of a Poisson distribution.
pub(super) fn score(count: u64, expected: f64) -> f64 {
    match count as f64 {
        count if count <= expected => 0.0,
        count => count * (count / expected).ln() - (count - expected),
    }
}

/// The `most` most suspicious differences of keys of all `lengths` in the lowest `width` bits of hashes, and
/// the number of differences searched.
///
/// # Errors
/// The function fails.
pub(super) fn select(
    subject: &mut dyn AuditedHash,
    width: u32,
    lengths: &[usize],
    most: usize,
    draw: &mut Draw,
) -> Result<(u64, Vec<Suspect>), Fault> {
    let (mut searched, mut suspects) = (0, Vec::new());
    for window in lengths.iter().flat_map(|length| Window::of_length(*length)) {
        searched += window.differences();
        suspects.extend(of_window(subject, width, &window, most, draw)?);
        suspects.sort_by(|a, b| b.score.total_cmp(&a.score));
        suspects.truncate(most);
    }
    Ok((searched, suspects))
}

fn of_window(
    subject: &mut dyn AuditedHash,
    width: u32,
    window: &Window,
    most: usize,
    draw: &mut Draw,
) -> Result<Vec<Suspect>, Fault> {
    let mut met = Vec::new();
    let mut hashes = Vec::new();
    for _ in 0..BASES {
        let keys = window.keys(draw);
        subject.hash_all(&draw.key(), &keys, &mut hashes)?;
        for side in Side::BOTH {
            let aligned: Vec<u64> = hashes.iter().map(|hash| side.aligned(*hash, width)).collect();
            meet(window, side, &aligned, &mut met);
        }
    }
    met.sort_unstable();
    let mut scored: Vec<(f64, u32)> = met
        .chunk_by(|a, b| a >> 3 == b >> 3)
        .filter_map(|met| Some((excess(window, met, width), *met.first()? >> 3)))
        .collect();
    scored.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    // Changes that overlap can sum up to nothing.
    let suspects = scored.into_iter().map(|(score, code)| Suspect {
        length: window.length,
        difference: decoded(window, code),
        score,
    });
    let suspects = suspects.filter(|suspect| !suspect.difference.is_none());
    Ok(suspects.take(most).collect())
}

/// Appends the pairs that share a bucket: the code of their difference, then the side and the finest level at
/// which they do, in the lowest three bits.
fn meet(window: &Window, side: Side, hashes: &[u64], met: &mut Vec<u32>) {
    let n = window.changes.len();
    let (single, rest) = hashes.split_at((n + 1).min(hashes.len()));
    let pairs = n * n.saturating_sub(1) / 2;
    let (double, terms) = rest.split_at(pairs.min(rest.len()));
    let mut push = |code: u32, a: u64, b: u64| {
        let equal = (a ^ b).leading_zeros();
        if let Some(level) = LEVELS.iter().rposition(|level| *level <= equal) {
            met.push(code << 3 | (side as u32) << 2 | level as u32);
        }
    };
    for (one, a) in single.iter().enumerate() {
        for (other, b) in single.iter().enumerate().skip(one + 1) {
            push(code(one.checked_sub(1), other - 1, None), *a, *b);
        }
    }
    let mut sorted: Vec<Vec<usize>> = vec![Vec::new(); SORTED];
    let bucket = |hash: u64| (hash >> (u64::BITS - LEVELS[1])) as usize;
    single.iter().enumerate().for_each(|(number, hash)| sorted[bucket(*hash)].push(number));
    for ([one, other], b) in window.pairs().zip(double) {
        for number in &sorted[bucket(*b)] {
            let code = match number.checked_sub(1) {
                Some(third) if third == one => code(None, other, None),
                Some(third) if third == other => code(None, one, None),
                third => code(Some(one), other, third),
            };
            push(code, single[*number], *b);
        }
    }
    for (step, terms) in terms.chunks(TERMS).enumerate() {
        for (one, a) in terms.iter().enumerate() {
            for (by, b) in terms[one + 1..].iter().enumerate() {
                push(1 << 24 | (step as u32) << 8 | (by as u32 + 1), *a, *b);
            }
        }
    }
}

/// Code of a difference of one to three changes.
fn code(one: Option<usize>, other: usize, third: Option<usize>) -> u32 {
    let mut changes = [one.unwrap_or(NONE), other, third.unwrap_or(NONE)];
    changes.sort_unstable();
    changes.iter().rev().fold(0, |code, change| code << 8 | *change as u32)
}

fn decoded(window: &Window, code: u32) -> Difference {
    let part = |shift: u32| (code >> shift & 0xff) as usize;
    match code >> 24 {
        0 => window.sum([0, 8, 16].map(part).into_iter().filter(|change| *change != NONE)),
        _ => match window.steps.get(part(8)) {
            Some(Difference::Add { at, width, by }) => {
                Difference::Add { at: *at, width: *width, by: by * part(0) as u64 }
            }
            _ => Difference::Xor(vec![0; window.length]),
        },
    }
}

/// The largest excess of one difference over all sides and levels.
fn excess(window: &Window, met: &[u32], width: u32) -> f64 {
    let mut most = 0.0_f64;
    for side in Side::BOTH {
        let mut count = 0;
        for (level, bits) in LEVELS.iter().enumerate().rev() {
            count += met.iter().filter(|met| **met & 7 == (side as u32) << 2 | level as u32).count() as u64;
            if *bits > width {
                continue;
            }
            let pairs = BASES * trials(window, met[0] >> 3, level);
            most = most.max(score(count, pairs as f64 / f64::from(1 << bits)));
        }
    }
    most
}

/// Pairs of one base that have the difference.
fn trials(window: &Window, code: u32, level: usize) -> u64 {
    if code >> 24 != 0 {
        return TERMS as u64 - u64::from(code & 0xff);
    }
    let changes = [0, 8, 16].iter().filter(|shift| code >> **shift & 0xff != NONE as u32).count();
    match (changes, level) {
        // The coarsest level has pairs of single changes alone, and the code of three has no such pair.
        (1 | 2, 0) => 1,
        (1, _) => window.changes.len() as u64,
        (2, _) => 2,
        _ => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_decoded_to_their_differences() {
        for window in Window::of_length(12) {
            for [one, other] in window.pairs().step_by(7) {
                let expected = |changes: &[usize]| window.sum(changes.iter().copied());
                assert_eq!(decoded(&window, code(None, one, None)), expected(&[one]));
                assert_eq!(decoded(&window, code(Some(other), one, None)), expected(&[one, other]));
                let third = (other + 1) % window.changes.len();
                if third != one {
                    assert_eq!(
                        decoded(&window, code(Some(one), other, Some(third))),
                        expected(&[one, other, third])
                    );
                }
            }
            let add = decoded(&window, 1 << 24 | 1 << 8 | 5);
            assert!(matches!(add, Difference::Add { by: 0x500, .. }), "{add}");
        }
    }

    #[test]
    fn chance_has_no_excess_and_collisions_have() {
        assert_eq!(score(3, 4.0), 0.0);
        assert!(score(4, 0.5) > 4.0 && score(40, 0.5) > 100.0);
    }
}
