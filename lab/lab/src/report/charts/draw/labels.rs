//! Sizes and places of words in a drawing.

use hashlane_stats::format;

/// Distance of the base lines of two lines of a label.
pub(super) const LINE: f64 = 13.5;

/// About the width of `words` in the labels' size, in the widest of the system's fonts, DejaVu Sans.
pub(super) fn width(words: &str) -> f64 {
    let wide = |c: char| match c {
        'm' | 'w' | 'M' | 'W' | '…' => 12.0,
        'f' | 'i' | 'j' | 'l' | 'r' | 't' | 'I' | ' ' | '.' | ',' | ':' | '-' | '/' | '(' | ')' | '['
        | ']' => 4.8,
        c if c.is_uppercase() || matches!(c, '−' | '+' | '÷' | '×') => 9.0,
        _ => 7.7,
    };
    words.chars().map(wide).sum()
}

/// Words in bold are wider by about this factor.
pub(super) const BOLD: f64 = 1.12;

/// The widest of `all`, or zero.
pub(super) fn widest<'a>(all: impl Iterator<Item = &'a str>) -> f64 {
    all.map(width).fold(0.0, f64::max)
}

/// Words cut from the left to fit: the end of an id tells it from its neighbours.
pub(super) fn shortened(words: &str, room: f64) -> String {
    // Rounding must not cut what was measured to fit.
    if width(words) <= room + 0.1 {
        return words.to_owned();
    }
    let mut left = room - width("…");
    let fits = |c: &char| {
        left -= width(c.encode_utf8(&mut [0; 4]));
        left >= 0.0
    };
    let tail: Vec<char> = words.chars().rev().take_while(fits).collect();
    core::iter::once('…').chain(tail.into_iter().rev()).collect()
}

/// Words broken at spaces and after slashes, and where there is neither shortened, into lines that fit.
pub(super) fn wrapped(words: &str, room: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in words.split_whitespace() {
        for (i, piece) in word.split_inclusive('/').enumerate() {
            let gap = if i == 0 { " " } else { "" };
            match lines.last_mut() {
                Some(line) if width(line) + width(gap) + width(piece) <= room => {
                    line.push_str(gap);
                    line.push_str(piece);
                }
                _ => lines.push(shortened(piece, room)),
            }
        }
    }
    lines
}

/// Tops of blocks of these wished middles and heights, sorted by their middles, so that none overlaps another
/// and all lie between `top` and `bottom`; `None` if there is no room.
pub(super) fn placed(blocks: &[(f64, f64)], top: f64, bottom: f64) -> Option<Vec<f64>> {
    if blocks.iter().map(|(_, height)| height).sum::<f64>() > bottom - top {
        return None;
    }
    let mut free = top;
    let mut tops: Vec<f64> = Vec::new();
    for (middle, height) in blocks {
        let at = free.max(middle - height / 2.0);
        tops.push(at);
        free = at + height;
    }
    let mut below = bottom;
    for (at, (_, height)) in tops.iter_mut().zip(blocks).rev() {
        *at = at.min(below - height);
        below = *at;
    }
    Some(tops)
}

/// A number on an axis, with a true minus sign.
pub(super) fn number(value: f64) -> String {
    format::short(value).replace('-', "−")
}

/// Middles of words centred on these places, in rising order, all between `left` and `right`; `None` for
/// words that would touch those after them. The last are always kept.
pub(super) fn centred(words: &[(f64, String)], left: f64, right: f64) -> Vec<Option<f64>> {
    let mut free = f64::INFINITY;
    let mut places: Vec<Option<f64>> = Vec::new();
    for (at, words) in words.iter().rev() {
        let wide = width(words);
        let from = (at - wide / 2.0).min(right - wide).max(left);
        let fits = from + wide + 6.0 <= free;
        places.push(fits.then_some(from + wide / 2.0));
        if fits {
            free = from;
        }
    }
    places.reverse();
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shortens_long_labels_from_the_left() {
        assert_eq!(shortened("ahash", 200.0), "ahash");
        assert_eq!(shortened("abcdefghijklmnopqrstuvwxyz", 60.0), "…vwxyz");
        assert_eq!(shortened("abc", 0.0), "…");
    }

    #[test]
    fn breaks_labels_at_spaces_and_slashes() {
        assert_eq!(wrapped("Linux, all keyed variants", 90.0), ["Linux, all", "keyed", "variants"]);
        assert_eq!(wrapped("chained/siphash/single", 90.0), ["chained/", "siphash/", "single"]);
        assert_eq!(wrapped("chained/siphash/single", 110.0), ["chained/", "siphash/single"]);
        assert!(wrapped("", 90.0).is_empty());
    }

    proptest! {
        #[test]
        fn labels_never_overlap(
            middles in prop::collection::vec(-50.0..350.0f64, 0..12),
            heights in prop::collection::vec(10.0..40.0f64, 12),
        ) {
            let mut blocks: Vec<(f64, f64)> = middles.into_iter().zip(heights).collect();
            blocks.sort_by(|a, b| a.0.total_cmp(&b.0));
            let total: f64 = blocks.iter().map(|(_, height)| height).sum();
            let placed = placed(&blocks, 20.0, 300.0);
            prop_assert!(placed.is_some() || total > 280.0);
            let tops = placed.unwrap_or_default();
            for (i, (top, (_, height))) in tops.iter().zip(&blocks).enumerate() {
                prop_assert!(*top >= 20.0 - 1e-6 && top + height <= 300.0 + 1e-6);
                prop_assert!(tops.get(i + 1).is_none_or(|next| *next >= top + height - 1e-6));
            }
        }

        #[test]
        fn numbers_of_an_axis_never_overlap(mut places in prop::collection::vec(0.0..300.0f64, 1..20)) {
            places.sort_by(f64::total_cmp);
            let words: Vec<(f64, String)> = places.into_iter().map(|at| (at, format!("{at:.0}"))).collect();
            let middles = centred(&words, 0.0, 300.0);
            prop_assert!(middles.last().is_some_and(Option::is_some));
            let mut free = 0.0;
            for (middle, (_, words)) in middles.into_iter().zip(&words) {
                let Some(middle) = middle else { continue };
                let from = middle - width(words) / 2.0;
                prop_assert!(from >= free - 1e-6 && from + width(words) <= 300.0 + 1e-6);
                free = from + width(words);
            }
        }
    }
}
