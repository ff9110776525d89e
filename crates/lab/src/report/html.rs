//! The page: one self-contained HTML file.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, context};

use super::view::{StudyView, study};
use crate::record::{Machine, RecordSet};
use crate::study::definition::Definition;

/// A study with the records of a run and the machine that they come from.
#[derive(Clone, Copy, Debug)]
pub struct Part<'a> {
    /// The study.
    pub definition: &'a Definition,
    /// The records; those of other studies are passed over.
    pub records: &'a RecordSet,
    /// The machine and the run.
    pub machine: &'a Machine,
}

/// The page for one study or several, in their order. It loads nothing: styles and drawings are within, fonts are the
/// system's. All text from outside is escaped, and what was not measured shows as a dash.
///
/// # Errors
/// Whatever the template engine has against the page.
pub fn html(parts: &[Part<'_>]) -> Result<String, Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    environment.set_undefined_behavior(UndefinedBehavior::Strict);
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.add_template("sections", include_str!("sections.html"))?;
    environment.add_template("report", include_str!("template.html"))?;
    let studies: Vec<StudyView> = parts.iter().enumerate().map(|(i, part)| study(i, part)).collect();
    environment.get_template("report")?.render(context! { studies => Serde(studies) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;
    use crate::report::{flow_sample, sample};

    /// The page of the studies of flows.
    fn flows(records: &RecordSet) -> String {
        let (definitions, machine) = (flow_sample::definitions(), sample::machine());
        let part = |definition| Part { definition, records, machine: &machine };
        html(&definitions.iter().map(part).collect::<Vec<_>>()).unwrap()
    }

    fn page(records: &RecordSet, machine: &Machine) -> String {
        html(&[Part { definition: &sample::definition(), records, machine }]).unwrap()
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
    fn answers_from_the_records() {
        let page = page(&sample::records(&sample::definition(), &[]), &sample::machine());
        insta::assert_snapshot!(between(&page, "class=\"answer\"", "</section>"));
    }

    #[test]
    fn tabulates_targets_and_the_distance_from_the_floor() {
        let page = page(&sample::records(&sample::definition(), &[]), &sample::machine());
        insta::assert_snapshot!(between(&page, "<h2>Criteria", "</table>"));
        insta::assert_snapshot!(between(&page, "<h2>How far", "</details>"));
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
        assert!(page.contains("Statements of the source: 2 not measured. Criteria: 2 not measured."));
        assert!(page.contains("not measured") && page.contains("<dd>—</dd>"));
        assert!(!page.contains("NaN") && !page.contains("inf,"));
    }

    #[test]
    fn says_when_a_run_is_partial() {
        let records = sample::records(&sample::definition(), &[]);
        let mut machine = sample::machine();
        assert!(!page(&records, &machine).contains("class=\"banner\""));
        machine.run.partial = true;
        machine.run.partial_reason = Some("Ctrl-C <now>".into());
        assert!(page(&records, &machine).contains("before its end: Ctrl-C &lt;now&gt;."));
    }

    #[test]
    fn loads_nothing_from_elsewhere() {
        let page = page(&sample::records(&sample::definition(), &["mine"]), &sample::machine());
        for loader in ["http:", "https:", "src=", "<link", "<script", "url(", "@import", "href=\"/"] {
            assert!(!page.contains(loader), "{loader}");
        }
    }

    #[test]
    fn escapes_text_from_outside_wherever_it_stands() {
        const HOSTILE: &str = "\"'><script>alert(1)</script><b onclick=x>&{{ 7*7 }}";
        let mut definition = sample::definition();
        let mut records = RecordSet::new();
        for record in sample::records(&definition, &["mine"]).iter() {
            let mut record: Record = record.clone();
            for text in [&mut record.workload, &mut record.scheme, &mut record.unit] {
                *text = text.replace("mine", HOSTILE).replace("burst", HOSTILE);
            }
            records.insert(record).unwrap();
        }
        let schemes =
            definition.schemes.iter_mut().chain(definition.charts.iter_mut().flat_map(|c| &mut c.schemes));
        let pairs = definition.claims.iter_mut().flat_map(|c| &mut c.pairs).flat_map(|(of, to)| [of, to]);
        let targets = definition.targets.iter_mut().flat_map(|t| [&mut t.of, &mut t.to]);
        for id in schemes.chain(pairs).chain(targets) {
            *id = id.replace("burst", HOSTILE);
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
        let page = html(&[Part { definition: &definition, records: &records, machine: &machine }]).unwrap();
        assert!(page.contains("&lt;script&gt;alert(1)"));
        assert!(!page.contains("<script") && !page.contains("<b onclick") && !page.contains(">49<"));
        // Every quote that is not escaped delimits an attribute of our own, so there is an even number in each tag.
        for tag in page.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
            assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        }
    }

    #[test]
    fn shows_what_is_known_of_flows() {
        let page = flows(&flow_sample::records());
        for heading in [
            "<h2>Cost: cycles per tuple",
            "<h2>What llvm-mca",
            "<h2>Spread",
            "<h2>Under flood",
            "<h2>As the table",
        ] {
            assert_eq!(page.matches(heading).count(), 1, "{heading}");
        }
        insta::assert_snapshot!(between(&page, "<h2>Cost", "<figure>").replace('>', ">\n"));
        insta::assert_snapshot!(between(&page, "<b>skylake, with the cold call", "</details>"));
        insta::assert_snapshot!(between(&page, "<b>The picture", "</details>"));
        insta::assert_snapshot!(between(&page, "<figcaption>local", "</figure>").replace('>', ">\n"));
        insta::assert_snapshot!(between(&page, "<h2>As the table", "<div class=\"charts"));
    }

    #[test]
    fn speaks_of_names_only_where_names_are_measured() {
        let page = flows(&flow_sample::records());
        for words in [
            "per name",
            "All figures",
            "How far from the floor",
            "Encoding against",
            "The probe's own cost",
            "barriers",
        ] {
            assert!(!page.contains(words), "{words}");
        }
        assert!(!page.contains("Nothing that bears on the question"));
    }

    #[test]
    fn has_no_section_without_records() {
        let page = flows(&RecordSet::new());
        assert_eq!(page.matches("<h2>").count(), 3 * 3, "targets, the machine, how figures are made");
        assert!(!page.contains("<figure") && !page.contains("NaN"));
    }

    #[test]
    fn escapes_what_the_records_of_flows_say() {
        const HOSTILE: &str = "\"'><script>alert(1)</script><b onclick=x>&{{ 7*7 }}\u{202e}";
        let mut records = RecordSet::new();
        for record in flow_sample::records().iter() {
            let mut record: Record = record.clone();
            for text in [&mut record.workload, &mut record.scheme, &mut record.unit] {
                for word in ["sip", "lo", "sky", "seq", "hit", "rand"] {
                    *text = text.replace(word, HOSTILE);
                }
            }
            records.insert(record).unwrap();
        }
        let page = flows(&records);
        assert!(page.contains("alert(1)"));
        assert!(!page.contains("<script") && !page.contains("<b onclick") && !page.contains(">49<"));
        assert!(!page.contains('\u{202e}'));
        for tag in page.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
            assert!(tag.matches('"').count().is_multiple_of(2), "{tag}");
        }
    }

    #[test]
    fn survives_any_finite_figure() {
        for figure in [0.0, -1.0, 1e-300, 1e300, f64::MAX] {
            let mut records = RecordSet::new();
            for (i, record) in flow_sample::records().iter().enumerate() {
                let mut record: Record = record.clone();
                if i % 3 != 0 {
                    (record.value, record.low, record.high) = (figure, figure, figure);
                }
                records.insert(record).unwrap();
            }
            let page = flows(&records);
            for wrong in ["NaN", ">inf", "\"inf", " inf"] {
                let near = page.find(wrong).and_then(|at| page.get(at.saturating_sub(200)..at + 20));
                assert_eq!(near, None, "{figure:e}");
            }
        }
    }

    #[test]
    fn joins_several_studies_on_one_page() {
        let definition = sample::definition();
        let (records, machine) = (sample::records(&definition, &[]), sample::machine());
        let part = Part { definition: &definition, records: &records, machine: &machine };
        let page = html(&[part, part]).unwrap();
        assert!(page.contains("href=\"#study-1\"") && page.contains("<article id=\"study-1\""));
    }
}
