//! Text from a file or from another host, for a terminal or a log.

use crate::format;

/// Characters of a line that are kept.
const LONGEST_LINE: usize = 2000;

/// The lines of a text, each with its line feed: control characters are escaped, so that none reaches the
/// terminal, and long lines are cut.
///
/// ```
/// assert_eq!(hashlane_stats::escape::lines("a\x1b[2Jb\nc"), "a\\u{1b}[2Jb\nc\n");
/// ```
pub fn lines(text: &str) -> String {
    let mut shown = String::new();
    for line in text.trim_end().lines() {
        for (at, character) in line.chars().enumerate() {
            match character {
                _ if at == LONGEST_LINE => {
                    shown.push('…');
                    break;
                }
                control if steers(control) => shown.extend(control.escape_default()),
                other => shown.push(other),
            }
        }
        shown.push('\n');
    }
    shown
}

/// Tests if a character steers a terminal, or turns the direction of reading.
fn steers(character: char) -> bool {
    character.is_control() || format::plain(character.encode_utf8(&mut [0; 4])) == "\u{fffd}"
}
