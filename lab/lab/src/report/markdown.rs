//! A study as Markdown, for a comment or a page of documentation. Drawings are left out: tables have the
//! same figures.

use super::answer::Answer;
use super::part::Part;
use super::section::{Block, Section, Table, Text};
use crate::compare::export::markdown::row;
use crate::definition::Definition;
use hashlane_records::RecordSet;
use hashlane_stats::format::{plain, ratio};

/// A study with its answer and sections.
pub fn markdown(part: &Part<'_>) -> String {
    let mut out = format!("# {}\n\n", words(&part.definition.title));
    if let Some(answer) = &part.answer {
        out += &format!("**{}** {}\n", words(&part.definition.question), sentence(answer));
        for line in answer.surprises.iter().chain(&answer.limits) {
            out += &format!("\n{}\n", words(line));
        }
    }
    for each in &part.sections {
        out += &format!("\n## {}\n\n{}", words(&each.title), section(each));
    }
    out
}

/// The answer with its precision, or the reason for withholding it.
pub(super) fn sentence(answer: &Answer) -> String {
    match &answer.sentence {
        Ok(statement) => {
            let precision = statement.precision_text().map_or(String::new(), |text| format!(" [{text}]"));
            words(&format!("{}{precision}", statement.text))
        }
        Err(doubt) => words(&doubt.to_string()),
    }
}

/// The note, findings, tables and texts of a section, without its title.
pub(super) fn section(section: &Section) -> String {
    let mut parts: Vec<String> = Vec::new();
    parts.extend((!section.note.is_empty()).then(|| words(&section.note)));
    parts.extend(section.findings.iter().map(|finding| words(finding)));
    parts.extend(section.blocks.iter().filter_map(|block| match block {
        Block::Table(of) => Some(format!("{}:\n\n{}", words(&of.caption), table(of))),
        Block::Text(Text { caption, text, .. }) => {
            // No fence inside ends it: a line of the text has four blanks before it.
            let lines: String = text.lines().map(|line| format!("    {}\n", plain(line))).collect();
            Some(format!("{}:\n\n{}", words(caption), lines.trim_end()))
        }
        Block::Lines(_) | Block::Bars(_) | Block::Forest(_) => None,
    }));
    parts.join("\n\n") + "\n"
}

/// The rows of a table, columns of figures flush right.
pub(super) fn table(table: &Table) -> String {
    let rules: Vec<&str> =
        (0..table.columns.len()).map(|at| if at < table.left { "---" } else { "--:" }).collect();
    let rows = table.rows.iter().map(|cells| row(cells));
    format!("{}| {} |\n{}", row(&table.columns), rules.join(" | "), rows.collect::<String>())
        .trim_end()
        .into()
}

/// The criteria that were measured: each with its figure, its limit and the verdict.
pub(super) fn criteria(definition: &Definition, records: &RecordSet) -> String {
    let outcomes = definition.criterion_outcomes(records);
    let rows = outcomes.iter().filter_map(|outcome| {
        let of = outcome.criterion;
        Some(row(&[
            super::words::criterion(of),
            super::words::ratio_with_bounds(outcome.measured?),
            ratio(of.at_most),
            super::words::reached(outcome.reached).to_owned(),
        ]))
    });
    format!("| criterion | measured | at most | |\n| --- | --: | --: | --- |\n{}", rows.collect::<String>())
        .trim_end()
        .to_owned()
}

/// A sentence whose characters begin no tag, link or emphasis.
fn words(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in plain(text).chars() {
        if matches!(c, '*' | '_' | '`' | '\\') {
            out.push('\\');
        }
        match c {
            '<' => out.push_str("&lt;"),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Doubt;
    use crate::report::section::Shown;
    use crate::report::{Statement, sample};
    use hashlane_stats::Interval;

    #[test]
    fn a_section_keeps_its_words_and_tables() {
        let table = Table {
            caption: "cost of <an> answer".into(),
            columns: vec!["server".into(), "µs".into()],
            left: 1,
            rows: vec![vec!["a|b".into(), "3.1".into()]],
            shown: Shown::Open,
        };
        let text = Text { caption: "stars".into(), text: "a *\n```\n".into(), shown: Shown::Open };
        let of = Section {
            title: "Servers".into(),
            note: "A note.".into(),
            findings: vec!["a_b is *first*.".into()],
            blocks: vec![Block::Table(table), Block::Text(text)],
        };
        assert_eq!(
            section(&of),
            "A note.\n\na\\_b is \\*first\\*.\n\ncost of &lt;an> answer:\n\n| server | µs |\n| --- | --: |\n\
             | a\\|b | 3.1 |\n\nstars:\n\n    a *\n    ```\n"
        );
    }

    #[test]
    fn a_study_begins_with_its_answer_or_the_doubt() {
        let definition = sample::definition();
        let records = sample::records(&definition, &[]);
        let machine = sample::machine();
        let text =
            Statement { text: "It takes half.".into(), figures: vec![Interval::bounded(0.5, 0.49, 0.51)] };
        let part = |sentence| Part {
            definition: &definition,
            records: &records,
            machine: &machine,
            run: None,
            answer: Some(Answer::new(sentence)),
            sections: vec![sample::section()],
        };
        let written = markdown(&part(Ok(text)));
        assert!(written.starts_with(&format!("# {}\n\n**", words(&definition.title))), "{written}");
        assert!(written.contains("It takes half. [±2 %]\n"), "{written}");
        assert!(written.contains(&format!("\n## {}\n", words(&sample::section().title))), "{written}");
        let none = markdown(&part(Err(Doubt::NotMeasured { figure: "half".into() })));
        assert!(none.contains("half") && !none.contains("[±"), "{none}");
    }
}
