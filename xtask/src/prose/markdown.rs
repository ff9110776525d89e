//! Lines of Markdown, as far as these checks need them.

/// The lines outside fenced code blocks, with their numbers from 1.
pub(super) fn prose(content: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence = None;
    (1..).zip(content.lines()).filter(move |(_, line)| {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(_)) => fence = mark,
            (Some(open), Some(mark)) if open == mark => fence = None,
            (open, _) => return open.is_none(),
        }
        false
    })
}

/// A line without its code spans.
pub(super) fn without_code(line: &str) -> String {
    line.replace("``", "`").split('`').step_by(2).collect()
}

/// The anchors that GitHub gives to the headings.
pub(super) fn anchors(content: &str) -> Vec<String> {
    let mut anchors: Vec<String> = Vec::new();
    for (_, line) in prose(content).filter(|(_, line)| line.starts_with('#')) {
        let heading = line.trim_start_matches('#').trim().to_lowercase();
        let kept = heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
        let again = anchors.iter().filter(|known| **known == anchor).count();
        anchors.push(if again == 0 { anchor } else { format!("{anchor}-{again}") });
    }
    anchors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_is_not_prose() {
        let lines: Vec<_> = prose("a\n```sh\nb\n~~~\n```\nc\n").collect();
        assert_eq!(lines, [(1, "a"), (6, "c")]);
        assert_eq!(without_code("a `b` c ``d`` e"), "a  c  e");
    }

    #[test]
    fn headings_have_anchors() {
        let text = "# One, two\n## The `PIT`'s index\n## One two\n```\n# not one\n```\n";
        assert_eq!(anchors(text), ["one-two", "the-pits-index", "one-two-1"]);
    }
}
