//! The page: one self-contained HTML file.

mod drawings;
mod interval_mark;
mod section_view;
mod view;

use minijinja::syntax::SyntaxConfig;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, Value, context, escape_formatter};

use self::section_view::section;
use self::view::page;
use super::part::Part;
use super::section::Section;
use hashlane_stats::format::plain;

/// Page for one study or several, in their order. It loads nothing: styles and drawings are inline, fonts are
/// the system's. All text from outside is escaped, and a figure that was not measured is shown as a dash.
///
/// # Errors
/// Whatever the template engine has against the page.
pub fn html(parts: &[Part<'_>]) -> Result<String, Error> {
    let page = page(parts);
    environment()?.get_template("report")?.render(context! { title => page.get_attr("title")?, page })
}

/// Page of sections without a study, each with its findings before its note and its blocks. `title` is what
/// follows "hashlane", and `lead` stands below it.
///
/// # Errors
/// Whatever the template engine has against the page.
pub fn sections_html(title: &str, lead: &str, sections: &[Section]) -> Result<String, Error> {
    let sections = sections.iter().map(section).collect::<Value>();
    environment()?.get_template("page of sections")?.render(context! { title, lead, sections })
}

/// The templates. All text from outside is escaped, and has no control characters.
fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_formatter(|out, state, value| match value.as_str().filter(|_| !value.is_safe()) {
        Some(text) => escape_formatter(out, state, &plain(text).into()),
        None => escape_formatter(out, state, value),
    });
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template("charts.css", include_str!("../charts/charts.css"))?;
    environment.add_template("sections", include_str!("sections.html"))?;
    environment
        .add_template("style", concat!(include_str!("page.css"), include_str!("../charts/charts.css")))?;
    environment.add_template("script", include_str!("page.js"))?;
    environment.add_template("head", include_str!("head.html"))?;
    environment.add_template("report", include_str!("page.html"))?;
    environment.add_template("page of sections", include_str!("sections_page.html"))?;
    Ok(environment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::Definition;
    use crate::report::{Answer, Block, Forest, ForestRow, Role, Statement, sample};
    use crate::run::Machine;
    use hashlane_records::RecordSet;
    use hashlane_stats::Interval;

    fn answer() -> Answer {
        let figures = vec![Interval::bounded(0.28, 0.277, 0.283)];
        let statement = Statement { text: "The second takes 0.28 × the time.".to_owned(), figures };
        let row = ForestRow {
            label: "token".to_owned(),
            role: Role::Ours,
            interval: Some(Interval::bounded(-0.2, -0.3, -0.1)),
            figure: "-0.2".to_owned(),
        };
        let axis = "difference (points of CPU)".to_owned();
        let forest = Forest { caption: String::new(), axis, zero: 0.0, rows: vec![row] };
        Answer { chart: Some(Block::Forest(forest)), ..Answer::new(Ok(statement)) }
    }

    fn part<'a>(definition: &'a Definition, records: &'a RecordSet, machine: &'a Machine) -> Part<'a> {
        let (answer, sections) = (Some(answer()), vec![sample::section()]);
        Part { definition, records, machine, run: None, answer, sections }
    }

    fn page(records: &RecordSet, machine: &Machine) -> String {
        html(&[part(&sample::definition(), records, machine)]).unwrap()
    }

    /// The lines from the first that holds `from` to the next that holds `to`.
    fn between(page: &str, from: &str, to: &str) -> String {
        let lines = page.lines().skip_while(|line| !line.contains(from));
        let mut taken: Vec<&str> = Vec::new();
        for line in lines {
            taken.push(line);
            if taken.len() > 1 && line.contains(to) {
                break;
            }
        }
        taken.join("\n")
    }

    #[test]
    fn answers_before_the_detail() {
        let page = page(&sample::records(&sample::definition(), &[]), &sample::machine());
        let claims = between(&page, "class=\"scroll claims\"", "</table>");
        insta::assert_snapshot!(claims);
        let at = |text: &str| page.find(text).unwrap();
        assert!(at("The second takes 0.28") < at("class=\"scroll claims\""));
        assert!(at("class=\"scroll claims\"") < at("All findings, charts and tables"));
        assert!(at("All findings, charts and tables") < at("Criteria of the project"));
    }

    #[test]
    fn tabulates_criteria() {
        let page = page(&sample::records(&sample::definition(), &[]), &sample::machine());
        insta::assert_snapshot!(between(&page, "id=\"criteria\"", "</table>"));
    }

    #[test]
    fn tabulates_all_figures_and_the_machine() {
        let page = page(&sample::records(&sample::definition(), &[]), &sample::machine());
        insta::assert_snapshot!(between(&page, "<h2>All figures", "</details>"));
        insta::assert_snapshot!(between(&page, "<dl>", "</dl>"));
    }

    #[test]
    fn shows_a_dash_for_what_was_not_measured() {
        let page = page(&RecordSet::new(), &Machine::default());
        assert!(page.contains("2 not measured") && page.contains("<dd>—</dd>"));
        assert!(!page.contains("NaN") && !page.contains("inf,"));
    }

    #[test]
    fn criteria_are_not_applied_to_the_users_own_workloads() {
        let definition = sample::definition();
        let mut records = RecordSet::new();
        for record in sample::records(&definition, &["mine"]).iter().filter(|r| r.workload == "mine") {
            records.insert(record.clone()).unwrap();
        }
        let page = page(&records, &sample::machine());
        assert!(page.contains("None applies to these workloads."));
    }

    #[test]
    fn marks_a_partial_run() {
        let records = sample::records(&sample::definition(), &[]);
        let mut machine = sample::machine();
        assert!(!page(&records, &machine).contains("class=\"banner\""));
        machine.run.partial = true;
        machine.run.partial_reason = Some("Ctrl-C <now>".into());
        assert!(page(&records, &machine).contains("before its end: Ctrl-C &lt;now&gt;."));
    }

    #[test]
    fn sections_alone_are_a_page() {
        let finding = "Flooded by <b>".to_owned();
        let section = Section { findings: vec![finding], ..sample::section() };
        let page = sections_html("audit", "Seed 7.\u{202e}", std::slice::from_ref(&section)).unwrap();
        assert!(page.starts_with("<!DOCTYPE html>") && page.contains("<h1>hashlane audit</h1>"));
        assert!(page.contains("Flooded by &lt;b&gt;") && page.contains("Seed 7.\u{fffd}"), "{page}");
        assert!(page.contains(&format!("<h2 id=\"section-1\">{}</h2>", section.title)), "{page}");
        assert!(page.contains("<table>") && !page.contains("http"), "{page}");
    }

    #[test]
    fn loads_nothing_from_elsewhere() {
        let page = page(&sample::records(&sample::definition(), &["mine"]), &sample::machine());
        for loader in ["http:", "https:", "src=", "<link", "url(", "@import", "href=\"/", "fetch(", "import("]
        {
            assert!(!page.contains(loader), "{loader}");
        }
        assert_eq!(page.matches("<script").count(), 1, "but the filters of tables, which stand in the page");
    }

    #[test]
    fn escapes_text_from_outside_wherever_it_stands() {
        const HOSTILE: &str = "\"'><script>alert(1)</script><b onclick=x>&{{ 7*7 }}";
        let mut definition = sample::definition();
        let records = sample::changed(&["mine"], |record| {
            for text in [&mut record.workload, &mut record.scheme, &mut record.unit] {
                *text = text.replace("mine", HOSTILE).replace("batch", HOSTILE);
            }
        });
        let schemes = definition.schemes.iter_mut();
        let pairs = definition.claims.iter_mut().flat_map(|c| &mut c.pairs).flat_map(|(of, to)| [of, to]);
        let criteria = definition.criteria.iter_mut().map(|criterion| &mut criterion.of);
        for id in schemes.chain(pairs).chain(criteria) {
            *id = id.replace("batch", HOSTILE);
        }
        let words = definition.claims.iter_mut().map(|c| &mut c.words);
        for text in words.chain([&mut definition.title, &mut definition.question, &mut definition.source]) {
            text.push_str(HOSTILE);
        }
        let mut machine = sample::machine();
        for text in [&mut machine.run.date, &mut machine.run.size, &mut machine.system.os] {
            text.push_str(HOSTILE);
        }
        machine.cpu.model = Some(HOSTILE.into());
        machine.run.command.push(HOSTILE.into());
        machine.run.notes.push(HOSTILE.into());
        machine.run.partial = true;
        machine.run.partial_reason = Some(HOSTILE.into());
        let mut hostile_section = sample::section();
        hostile_section.title.push_str(HOSTILE);
        hostile_section.note.push_str(HOSTILE);
        for block in &mut hostile_section.blocks {
            let Block::Table(table) = block else { continue };
            table.caption.push_str(HOSTILE);
            table.columns.push(HOSTILE.to_owned());
            table.rows.push(vec![HOSTILE.to_owned(); 3]);
        }
        let mut hostile = part(&definition, &records, &machine);
        hostile.sections = vec![hostile_section];
        if let Some(Answer { sentence: Ok(statement), surprises, limits, .. }) = &mut hostile.answer {
            statement.text.push_str(HOSTILE);
            surprises.push(HOSTILE.to_owned());
            limits.push(HOSTILE.to_owned());
        }
        let page = html(&[hostile]).unwrap();
        let (page, _) = page.split_once("<script>\n// Adds a filter").unwrap();
        assert!(page.contains("&lt;script&gt;alert(1)"));
        assert!(!page.contains("<script") && !page.contains("<b onclick") && !page.contains(">49<"));
        // Every quote that is not escaped delimits an attribute of our own, so there is an even number in
        // each tag.
        for tag in page.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
            assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        }
    }

    #[test]
    fn all_sentences_precede_the_first_chart() {
        let definition = sample::definition();
        let (records, machine) = (sample::records(&definition, &[]), sample::machine());
        let mut parts = vec![part(&definition, &records, &machine); 8];
        for (number, part) in parts.iter_mut().enumerate() {
            let Some(Answer { sentence: Ok(statement), .. }) = &mut part.answer else {
                panic!("no sentence")
            };
            statement.text = format!("Sentence {number}.");
        }
        let page = html(&parts).unwrap();
        let (before, _) = page.split_once("<svg").unwrap();
        let list = between(before, "<ul class=\"answers\"", "</ul>");
        let lines: Vec<&str> = list.lines().filter(|line| line.starts_with("<li>")).collect();
        assert_eq!(lines.len(), 8);
        for (number, line) in lines.iter().enumerate() {
            let answer = format!("Sentence {number}.</b> <span class=\"quiet\">figures ±2 %");
            assert!(line.contains(&answer) && line.contains("Which is fastest?"), "{line}");
        }
        // One study has its sentence at its head.
        assert!(!html(&parts[..1]).unwrap().contains("class=\"answers\""));
    }

    #[test]
    fn joins_several_studies_on_one_page() {
        let definition = sample::definition();
        let (records, machine) = (sample::records(&definition, &[]), sample::machine());
        let one = part(&definition, &records, &machine);
        let page = html(&[one.clone(), one]).unwrap();
        assert_eq!(page.matches("class=\"card\"").count(), 2);
        assert!(page.contains("href=\"#sample\"") && page.contains("<article id=\"sample\""));
    }
}
