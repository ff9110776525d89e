//! Text in HTML.

use std::fmt::{Display, Write as _};

/// A text with the characters that mean something in HTML escaped, in elements and in attributes. Control
/// characters, and those that turn the direction of text, become U+FFFD.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {
                out.push('\u{fffd}')
            }
            control if control.is_control() => out.push('\u{fffd}'),
            other => out.push(other),
        }
    }
    out
}

/// A table with a head, and cells that are HTML already. The first column names the row; the columns from
/// `numbers` on are aligned right.
pub(super) fn table(
    head: &[&str],
    numbers: usize,
    rows: impl Iterator<Item = Vec<String>>,
    none: &str,
) -> String {
    let class = |at: usize| if at >= numbers { " class=\"n\"" } else { "" };
    let mut out = String::from("<div class=\"scroll\" tabindex=\"0\"><table><thead><tr>");
    for (at, name) in head.iter().enumerate() {
        write(&mut out, format_args!("<th{} scope=\"col\">{name}</th>", class(at)));
    }
    out.push_str("</tr></thead><tbody>");
    let mut is_empty = true;
    for row in rows {
        is_empty = false;
        out.push_str("<tr>");
        for (at, cell) in row.iter().enumerate() {
            match at {
                0 => write(&mut out, format_args!("<th scope=\"row\">{cell}</th>")),
                _ => write(&mut out, format_args!("<td{}>{cell}</td>", class(at))),
            }
        }
        out.push_str("</tr>");
    }
    if is_empty {
        write(&mut out, format_args!("<tr><td class=\"quiet\" colspan=\"{}\">{none}</td></tr>", head.len()));
    }
    out.push_str("</tbody></table></div>");
    out
}

/// A bar for a share from 0 to 1.
pub(super) fn bar(share: f64) -> String {
    let width = (share.clamp(0.0, 1.0) * 80.0).max(0.5);
    format!(
        "<svg class=\"bar\" viewBox=\"0 0 80 10\" width=\"80\" height=\"10\" aria-hidden=\"true\">\
         <rect class=\"track\" width=\"80\" height=\"10\"/><rect class=\"ours\" width=\"{width:.1}\" height=\"10\"/></svg>"
    )
}

fn write(out: &mut String, text: impl Display) {
    // Writing to a string cannot fail.
    let _ = write!(out, "{text}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_is_text() {
        assert_eq!(
            escape("<b a='1' c=\"2\">&\n\u{202e}é"),
            "&lt;b a=&#39;1&#39; c=&quot;2&quot;&gt;&amp;\u{fffd}\u{fffd}é"
        );
        let row = vec![escape("<x>"), "1".to_owned()];
        let table = table(&["name", "packets"], 1, [row].into_iter(), "none");
        assert!(table.contains("<th scope=\"row\">&lt;x&gt;</th><td class=\"n\">1</td>"), "{table}");
    }
}
