//! Figures in Markdown files: texts between markers, drawn from the records of runs.
//!
//! ```markdown
//! <!-- figures
//! {{ answer('quick', 'flow-hash') }}
//! -->
//! No: in bursts …
//! <!-- end of figures -->
//! ```
//!
//! The comment holds a MiniJinja template; what stands between it and the end is replaced. The last sentence
//! names the runs, their commits, and the studies whose code has changed since.

use super::markdown;
use super::part::Part;
use super::section::{Block, Section};
use super::terminal::wrapped;
use crate::run::Machine;
use minijinja::value::Rest;
use minijinja::{AutoEscape, Environment, Error, ErrorKind, UndefinedBehavior};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::sync::{Arc, Mutex, PoisonError};

const BEGIN: &str = "<!-- figures\n";
const THEN: &str = "\n-->\n";
const END: &str = "<!-- end of figures -->\n";

/// Columns of a line of text.
const WIDTH: u16 = 110;

/// Most steps of a template.
const FUEL: u64 = 1_000_000;

/// A run, as texts.
#[derive(Clone, Debug, Default)]
pub struct Run {
    /// The machine, the build and the command.
    pub machine: Machine,
    /// Its studies, by their slugs.
    pub studies: BTreeMap<String, StudyTexts>,
    /// Content of its text files, by their names.
    pub files: BTreeMap<String, String>,
}

/// A study of a run, as texts in Markdown.
#[derive(Clone, Debug, Default)]
pub struct StudyTexts {
    asks: String,
    answer: String,
    criteria: String,
    sections: Vec<Section>,
}

impl StudyTexts {
    /// The texts of a part of a report.
    pub fn new(part: &Part<'_>) -> Self {
        Self {
            asks: part.definition.asks.clone(),
            answer: part.answer.as_ref().map_or_else(String::new, markdown::sentence),
            criteria: markdown::criteria(part.definition, part.records),
            sections: part.sections.clone(),
        }
    }

    /// The section of this title.
    fn section(&self, title: &str) -> Result<&Section, Error> {
        let known = || self.sections.iter().map(|section| section.title.as_str()).collect::<Vec<_>>();
        let found = self.sections.iter().find(|section| section.title == title);
        found.ok_or_else(|| missing("section", title, &known()))
    }

    /// The table whose caption begins with these words.
    fn table(&self, caption: &str) -> Result<String, Error> {
        let tables =
            self.sections.iter().flat_map(|section| &section.blocks).filter_map(|block| match block {
                Block::Table(table) => Some(table),
                _ => None,
            });
        let found = tables.clone().find(|table| table.caption.starts_with(caption));
        found.map(markdown::table).ok_or_else(|| {
            missing("table", caption, &tables.map(|table| table.caption.as_str()).collect::<Vec<_>>())
        })
    }
}

fn missing(what: &str, name: &str, known: &[&str]) -> Error {
    invalid(format!("no {what} {name:?}; there are {}", known.join(", ")))
}

fn invalid(why: String) -> Error {
    Error::new(ErrorKind::InvalidOperation, why)
}

/// Runs by the names of their folders.
pub type Runs = BTreeMap<String, Run>;

/// Pairs of a run and a study that a text has quoted; a file counts as a study named as its run.
type Quoted = Arc<Mutex<BTreeSet<(String, String)>>>;

/// Draws each block of a text again. A text without blocks stays as it is.
///
/// # Errors
/// A block has no end, or its template cannot be drawn: the line on which the block begins, and why.
pub fn fill(text: &str, runs: &Arc<Runs>) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    // An indented line is part of an example.
    let begin = |text: &str| {
        let mut found = text.match_indices(BEGIN).map(|(at, _)| at);
        found.find(|at| *at == 0 || text.as_bytes().get(at - 1) == Some(&b'\n'))
    };
    while let Some((before, block)) = begin(rest).and_then(|at| rest.split_at_checked(at)) {
        let block = block.strip_prefix(BEGIN).unwrap_or_default();
        out += before;
        let line = out.lines().count() + 1;
        let failed = |why: &str| format!("line {line}: figures: {why}");
        let (template, block) = block
            .split_once(THEN)
            .ok_or_else(|| failed("no line `-->` ends the comment with the template"))?;
        let (_, after) = block.split_once(END).ok_or_else(|| failed(&format!("no {}", END.trim_end())))?;
        let drawn = draw(template, runs).map_err(|error| {
            failed(&format!(
                "{}{}",
                error.kind(),
                error.detail().map_or_else(String::new, |d| format!(": {d}"))
            ))
        })?;
        let _ = write!(out, "{BEGIN}{template}{THEN}{drawn}{END}");
        rest = after;
    }
    Ok(out + rest)
}

fn draw(template: &str, runs: &Arc<Runs>) -> Result<String, Error> {
    let quoted = Quoted::default();
    let body = environment(runs, &quoted).render_str(template, ())?;
    let quoted = quoted.lock().unwrap_or_else(PoisonError::into_inner);
    if quoted.is_empty() {
        return Err(invalid(
            "it quotes no run, by answer(), criteria(), section(), table() or paragraph()".to_owned(),
        ));
    }
    let mut studies: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (run, study) in quoted.iter() {
        studies.entry(run).or_default().push(study);
    }
    let sources =
        studies.iter().filter_map(|(name, studies)| Some(source(&runs.get(*name)?.machine, studies)));
    let text = format!("{}\n\nMeasured {}.", body.trim(), sources.collect::<Vec<_>>().join("; "));
    Ok(text.lines().map(line).collect())
}

/// A line of a text, broken where it is too wide; rows of tables and indented lines stay.
fn line(line: &str) -> String {
    match line.starts_with(['|', ' ']) || line.is_empty() {
        true => format!("{line}\n"),
        false => wrapped(line, "", WIDTH),
    }
}

/// Commit, day, processor and command of a run; and the `studies` whose code has changed since.
fn source(machine: &Machine, studies: &[&str]) -> String {
    let (build, run) = (&machine.build, &machine.run);
    let day = run.date.split('T').next().unwrap_or_default();
    let mut words = vec![day.to_owned()];
    words.extend(machine.cpu.model.clone());
    let command: Vec<&str> = run.command.iter().skip(1).map(String::as_str).collect();
    words.push(format!("`hashlane {}`", command.join(" ")));
    let changed: Vec<&str> = studies
        .iter()
        .filter(|study| build.changed.iter().any(|changed| changed == *study))
        .copied()
        .collect();
    let mark = match changed.len() {
        0 => String::new(),
        count if count == studies.len() => ", **code changed since**".to_owned(),
        _ => format!(", **code changed since** ({})", changed.join(", ")),
    };
    let commit = build.commit.as_deref().unwrap_or("unknown");
    format!("at commit {commit} ({}){mark}", words.join(", "))
}

/// The run of this name.
fn run<'a>(runs: &'a Runs, name: &str) -> Result<&'a Run, Error> {
    let known = || runs.keys().map(String::as_str).collect::<Vec<_>>();
    runs.get(name).ok_or_else(|| missing("run", name, &known()))
}

fn environment(runs: &Arc<Runs>, quoted: &Quoted) -> Environment<'static> {
    let mut env = Environment::new();
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_undefined_behavior(UndefinedBehavior::Strict);
    env.set_fuel(Some(FUEL));
    let (all, seen) = (Arc::clone(runs), Arc::clone(quoted));
    // The text that `of` takes from a study, which counts as quoted.
    let quote = move |name: &str, slug: &str, of: &dyn Fn(&StudyTexts) -> Result<String, Error>| {
        let studies = &run(&all, name)?.studies;
        let known = || studies.keys().map(String::as_str).collect::<Vec<_>>();
        let text = of(studies.get(slug).ok_or_else(|| missing("study", slug, &known()))?)?;
        seen.lock().unwrap_or_else(PoisonError::into_inner).insert((name.to_owned(), slug.to_owned()));
        Ok::<_, Error>(text)
    };
    let q = quote.clone();
    env.add_function("asks", move |run: &str, slug: &str| q(run, slug, &|study| Ok(study.asks.clone())));
    let q = quote.clone();
    env.add_function("answer", move |run: &str, slug: &str| q(run, slug, &|study| Ok(study.answer.clone())));
    let q = quote.clone();
    env.add_function("criteria", move |run: &str, slug: &str| {
        q(run, slug, &|study| Ok(study.criteria.clone()))
    });
    let q = quote.clone();
    env.add_function("section", move |run: &str, slug: &str, titles: Rest<String>| {
        q(run, slug, &|study| {
            let section = |title: &String| Ok(markdown::section(study.section(title)?).trim().to_owned());
            Ok(titles.iter().map(section).collect::<Result<Vec<_>, Error>>()?.join("\n\n"))
        })
    });
    env.add_function("table", move |run: &str, slug: &str, caption: &str| {
        quote(run, slug, &|study| study.table(caption))
    });
    let (all, seen) = (Arc::clone(runs), Arc::clone(quoted));
    env.add_function("paragraph", move |name: &str, file: &str, start: &str| {
        let files = &run(&all, name)?.files;
        let known = || files.keys().map(String::as_str).collect::<Vec<_>>();
        let text = files.get(file).ok_or_else(|| missing("file", file, &known()))?;
        let found = text.split("\n\n").map(str::trim).find(|paragraph| paragraph.starts_with(start));
        let found =
            found.ok_or_else(|| invalid(format!("{file} has no paragraph that begins with {start:?}")))?;
        seen.lock().unwrap_or_else(PoisonError::into_inner).insert((name.to_owned(), name.to_owned()));
        Ok::<_, Error>(found.split_whitespace().collect::<Vec<_>>().join(" "))
    });
    env
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Table;
    use crate::report::section::Shown;

    fn runs(changed: &[&str]) -> Arc<Runs> {
        let mut machine = Machine::default();
        machine.build.commit = Some("0123456789ab".into());
        machine.build.changed = changed.iter().map(|slug| (*slug).to_owned()).collect();
        machine.run.date = "2026-01-02T03:04:05Z".into();
        machine.run.command = ["hashlane", "study", "run", "all"].map(str::to_owned).to_vec();
        let table = Table {
            caption: "costs of all".into(),
            columns: vec!["scheme".into(), "ns".into()],
            left: 1,
            rows: vec![vec!["a".into(), "3".into()]],
            shown: Shown::Open,
        };
        let section = Section {
            title: "Costs".into(),
            note: "A note.".into(),
            findings: Vec::new(),
            blocks: vec![Block::Table(table)],
        };
        let study = |answer: &str| StudyTexts {
            asks: "Is it so?".into(),
            answer: answer.into(),
            criteria: "| a |".into(),
            sections: vec![section.clone()],
        };
        let studies = BTreeMap::from([("one".to_owned(), study("Yes.")), ("two".to_owned(), study("No."))]);
        let files = BTreeMap::from([("a.txt".to_owned(), "first\n\nOf two,\none.\n".to_owned())]);
        Arc::new(BTreeMap::from([("quick".to_owned(), Run { machine, studies, files })]))
    }

    fn filled(template: &str, changed: &[&str]) -> String {
        let text = format!("# A\n<!-- figures\n{template}\n-->\nold\n<!-- end of figures -->\nend\n");
        let out = fill(&text, &runs(changed)).unwrap();
        assert_eq!(fill(&out, &runs(changed)).unwrap(), out, "drawn twice");
        let (_, body) = out.split_once("-->\n").unwrap();
        body.strip_suffix("<!-- end of figures -->\nend\n").unwrap().to_owned()
    }

    const SOURCE: &str = "Measured at commit 0123456789ab (2026-01-02, `hashlane study run all`)";

    #[test]
    fn a_block_is_drawn_anew_and_names_its_run() {
        assert_eq!(filled("{{ answer('quick', 'one') }}", &[]), format!("Yes.\n\n{SOURCE}.\n"));
        assert_eq!(
            filled("{{ table('quick', 'two', 'costs') }}", &["one"]),
            format!("| scheme | ns |\n| --- | --: |\n| a | 3 |\n\n{SOURCE}.\n")
        );
        assert!(
            filled("{{ section('quick', 'two', 'Costs') }}", &[]).starts_with("A note.\n\ncosts of all:")
        );
        let paragraph = filled("{{ paragraph('quick', 'a.txt', 'Of') }}", &[]);
        assert_eq!(paragraph, format!("Of two, one.\n\n{SOURCE}.\n"));
    }

    #[test]
    fn studies_whose_code_has_changed_are_marked() {
        let both = "{{ answer('quick', 'one') }} {{ answer('quick', 'two') }}";
        assert!(filled(both, &["one"]).ends_with("all`), **code changed since** (one).\n"));
        assert!(filled(both, &["one", "two"]).ends_with("all`), **code changed since**.\n"));
    }

    #[test]
    fn faults_have_the_line_of_their_block() {
        for (text, why) in [
            ("<!-- figures\n{{ answer('quick', 'one') }}\n-->\n", "no <!-- end of figures -->"),
            ("<!-- figures\n{{ 1 }}", "no line `-->`"),
            ("<!-- figures\n{{ 1 }}\n-->\n<!-- end of figures -->\n", "quotes no run"),
            (
                "<!-- figures\n{{ answer('q', 'one') }}\n-->\n<!-- end of figures -->\n",
                "no run \"q\"; there are quick",
            ),
            (
                "<!-- figures\n{{ table('quick', 'one', 'x') }}\n-->\n<!-- end of figures -->\n",
                "costs of all",
            ),
        ] {
            let fault = fill(&format!("first\n\n{text}"), &runs(&[])).unwrap_err();
            assert!(fault.starts_with("line 3: figures: ") && fault.contains(why), "{fault}");
        }
        for text in ["no block\n", "    <!-- figures\n", "ä<!-- figures\n"] {
            assert_eq!(fill(text, &runs(&[])).unwrap(), text);
        }
    }
}
