//! The page: one self-contained HTML file.

use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, context};
use serde::Serialize;

use super::format::{self, figure, interval, ratio};
use super::interval_mark::Axis;
use super::tables::{self, FloorRow, SchemeRow};
use super::{chart, words};
use crate::record::{Machine, RecordSet, metric};
use crate::stats::Interval;
use crate::study::definition::Definition;
use crate::study::outcome::{ClaimOutcome, Finding, Overall, Reached, TargetOutcome};

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
    environment.add_template("report", include_str!("template.html"))?;
    let studies: Vec<StudyView> = parts.iter().enumerate().map(|(i, part)| study(i, part)).collect();
    environment.get_template("report")?.render(context! { studies => Serde(studies) })
}

#[derive(Serialize)]
struct StudyView {
    id: String,
    title: String,
    question: String,
    source: String,
    partial: Option<String>,
    date: String,
    answer: Vec<String>,
    claims: Vec<ClaimView>,
    sway: Vec<[String; 3]>,
    targets: Vec<TargetView>,
    floors: Vec<FloorView>,
    charts: Vec<ChartView>,
    reference: String,
    bound: Option<[String; 3]>,
    tables: Vec<TableView>,
    overhead: Vec<[String; 3]>,
    facts: Vec<(&'static str, String)>,
    notes: Vec<String>,
}

#[derive(Serialize)]
struct ClaimView {
    tone: &'static str,
    overall: &'static str,
    words: String,
    counts: String,
    rule: String,
    cases: Vec<CaseView>,
}

#[derive(Serialize)]
struct CaseView {
    workload: String,
    of: String,
    to: String,
    ratio: String,
    interval: String,
    mark: String,
    tone: &'static str,
    finding: &'static str,
}

#[derive(Serialize)]
struct TargetView {
    of: String,
    to: String,
    workload: String,
    at_most: String,
    ratio: String,
    interval: String,
    mark: String,
    tone: &'static str,
    reached: &'static str,
}

#[derive(Serialize)]
struct FloorView {
    workload: String,
    open: bool,
    rows: Vec<[String; 7]>,
}

#[derive(Serialize)]
struct ChartView {
    title: String,
    note: String,
    legend: Vec<String>,
    drawings: Vec<(String, String)>,
}

#[derive(Serialize)]
struct TableView {
    workload: String,
    open: bool,
    rows: Vec<RowView>,
}

#[derive(Serialize)]
struct RowView {
    scheme: String,
    cells: [String; 7],
    beyond: bool,
}

fn study(index: usize, part: &Part<'_>) -> StudyView {
    let Part { definition, records, machine } = *part;
    let workloads = tables::workloads(definition, records);
    let claims = definition.claim_outcomes(records);
    let targets = definition.target_outcomes(records);
    let sways: Vec<_> =
        workloads.iter().filter_map(|w| Some((*w, tables::sway(definition, records, w)?))).collect();
    let first = targets.first().map_or_else(|| workloads.first().copied(), |t| Some(t.workload));
    let bound = definition.bound.as_ref();
    let mut floors: Vec<_> =
        workloads.iter().filter_map(|w| floor_view(definition, records, w, Some(*w) == first)).collect();
    let mut tables: Vec<_> =
        workloads.iter().map(|w| table(definition, records, w, Some(*w) == first)).collect();
    // What stands open comes before what a reader must open.
    floors.sort_by_key(|view| !view.open);
    tables.sort_by_key(|view| !view.open);
    StudyView {
        id: format!("study-{index}"),
        title: definition.title.clone(),
        question: definition.question.clone(),
        source: definition.source.clone(),
        partial: machine.run.partial.then(|| {
            let reason = machine.run.partial_reason.as_deref().unwrap_or("no reason was recorded");
            format::plain(reason)
        }),
        date: shown(&machine.run.date),
        answer: answer(&claims, &targets, &sways),
        claims: claims.iter().map(claim).collect(),
        sway: sways.iter().map(|(w, s)| [format::plain(w), times(s.encodings), times(s.ways)]).collect(),
        targets: targets_view(&targets),
        floors,
        charts: definition.charts.iter().map(|c| chart_view(c, definition, records, &workloads)).collect(),
        reference: definition.reference.clone(),
        bound: bound.map(|b| [b.metric.clone(), figure(b.value), b.words.clone()]),
        tables,
        overhead: overhead(definition, records),
        facts: facts(machine),
        notes: machine.run.notes.iter().map(|note| format::plain(note)).collect(),
    }
}

/// The answer in a few sentences.
fn answer(
    claims: &[ClaimOutcome<'_>],
    targets: &[TargetOutcome<'_>],
    sways: &[(&str, tables::Sway)],
) -> Vec<String> {
    let mut sentences = Vec::new();
    let count = |overall| claims.iter().filter(|c| c.overall() == overall).count();
    let said: Vec<String> = [
        (count(Overall::Agrees), "agrees with"),
        (count(Overall::Mixed), "agrees in part with"),
        (count(Overall::Disagrees), "disagrees with"),
        (count(Overall::Undecided), "cannot tell about"),
        (count(Overall::NotMeasured), "did not measure"),
    ]
    .into_iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, verb)| format!("{verb} {count}"))
    .collect();
    if !said.is_empty() {
        let statements = if claims.len() == 1 { "statement" } else { "statements" };
        sentences.push(format!(
            "Of the source's {} {statements}, this machine {}.",
            claims.len(),
            said.join(", ")
        ));
    }
    let most = |part: fn(&tables::Sway) -> f64| sways.iter().map(|(_, s)| part(s)).reduce(f64::max);
    if let (Some(encodings), Some(ways)) = (most(|s| s.encodings), most(|s| s.ways)) {
        sentences.push(format!(
            "With the reference's hash and the same way of hashing, encodings differ by up to {}; with the same encoding, ways \
             of hashing differ by up to {}.",
            times(encodings),
            times(ways)
        ));
    }
    let reached = |what| targets.iter().filter(|t| t.measured.is_some_and(|(_, r)| r == what)).count();
    if !targets.is_empty() {
        sentences.push(format!("Targets met: {} of {}.", reached(Reached::Met), targets.len()));
    }
    sentences
}

fn claim(outcome: &ClaimOutcome<'_>) -> ClaimView {
    let fits = outcome.claim.rule.fits(outcome.claim.tolerance);
    let bounds = outcome.cases.iter().flat_map(|case| [case.ratio.low, case.ratio.high]);
    let axis = Axis::over(bounds.chain([2.0 - fits.1, fits.1]));
    let case = |case: &crate::study::outcome::Case<'_>| CaseView {
        workload: format::plain(case.workload),
        of: case.of.to_owned(),
        to: case.to.to_owned(),
        ratio: ratio(case.ratio.value),
        interval: interval(case.ratio, ratio),
        mark: axis.mark(case.ratio, fits),
        tone: match case.finding {
            Finding::Agrees => "good",
            Finding::Disagrees => "bad",
            Finding::Undecided => "open",
        },
        finding: words::finding(case.finding),
    };
    let overall = outcome.overall();
    ClaimView {
        tone: match overall {
            Overall::Agrees => "good",
            Overall::Disagrees => "bad",
            Overall::Mixed | Overall::Undecided | Overall::NotMeasured => "open",
        },
        overall: words::overall(overall),
        words: outcome.claim.words.clone(),
        counts: words::counts(outcome),
        rule: words::rule(outcome),
        cases: outcome.cases.iter().map(case).collect(),
    }
}

fn targets_view(outcomes: &[TargetOutcome<'_>]) -> Vec<TargetView> {
    let highs = outcomes.iter().filter_map(|t| t.measured).flat_map(|(r, _)| [r.low, r.high]);
    let axis = Axis::over(highs.chain(outcomes.iter().map(|t| t.target.at_most)));
    let none = || format::NONE.to_owned();
    let view = |outcome: &TargetOutcome<'_>| TargetView {
        of: outcome.target.of.clone(),
        to: outcome.target.to.clone(),
        workload: format::plain(outcome.workload),
        at_most: ratio(outcome.target.at_most),
        ratio: outcome.measured.map_or_else(none, |(r, _)| ratio(r.value)),
        interval: outcome.measured.map_or_else(none, |(r, _)| interval(r, ratio)),
        mark: outcome
            .measured
            .map_or_else(String::new, |(r, _)| axis.mark(r, (None, outcome.target.at_most))),
        tone: match outcome.measured {
            Some((_, Reached::Met)) => "good",
            Some((_, Reached::Missed)) => "bad",
            _ => "open",
        },
        reached: outcome.measured.map_or("not measured", |(_, reached)| words::reached(reached)),
    };
    outcomes.iter().map(view).collect()
}

fn floor_view(definition: &Definition, records: &RecordSet, workload: &str, open: bool) -> Option<FloorView> {
    let row = |row: FloorRow<'_>| {
        let over = |base: Option<f64>| base.filter(|b| *b > 0.0).map(|base| times(row.mean.value / base));
        [
            Some(row.scheme.to_owned()),
            Some(figure(row.mean.value)),
            row.walk.map(figure),
            row.walk.map(|walk| figure(row.mean.value - walk)),
            over(row.walk),
            row.limit.map(figure),
            over(row.limit),
        ]
        .map(|cell| cell.unwrap_or_else(|| format::NONE.to_owned()))
    };
    let rows: Vec<_> = tables::floor(definition, records, workload).map(row).collect();
    (!rows.is_empty()).then(|| FloorView { workload: format::plain(workload), open, rows })
}

fn chart_view(
    chart: &crate::study::definition::Chart,
    definition: &Definition,
    records: &RecordSet,
    workloads: &[&str],
) -> ChartView {
    let layout = chart::Layout::new(&chart.schemes);
    let largest = layout.largest(&definition.slug, workloads, records);
    let drawing = |workload: &&str| {
        let name = format::plain(workload);
        let title = format!("{}, {name}: cycles per name", chart.title);
        Some((name, layout.draw(&definition.slug, workload, records, largest, &title)?))
    };
    ChartView {
        title: chart.title.clone(),
        note: chart.note.clone(),
        legend: chart::legend(&chart.schemes).into_iter().map(str::to_owned).collect(),
        drawings: workloads.iter().filter_map(drawing).collect(),
    }
}

fn table(definition: &Definition, records: &RecordSet, workload: &str, open: bool) -> TableView {
    let bound = definition.bound.as_ref().map_or(f64::INFINITY, |bound| bound.value);
    let row = |row: SchemeRow<'_>| RowView {
        scheme: row.scheme.to_owned(),
        cells: [
            row.mean.map(|m| figure(m.value)),
            row.mean.map(|m| interval(m, figure)),
            row.min_mean.map(figure),
            row.spread.map(|s| format!("{s:.2}")),
            row.ratio
                .map(|r| ratio(r.value))
                .or_else(|| is_reference(definition, &row).then(|| "1".to_owned())),
            row.ratio.map(|r| interval(r, ratio)),
            row.stream.map(figure),
        ]
        .map(|cell| cell.unwrap_or_else(|| format::NONE.to_owned())),
        beyond: row.spread.is_some_and(|s| s > bound),
    };
    let rows = tables::schemes(definition, records, workload).map(row).collect();
    TableView { workload: format::plain(workload), open, rows }
}

fn is_reference(definition: &Definition, row: &SchemeRow<'_>) -> bool {
    row.scheme == definition.reference
}

/// The probe's own cost: workload, mean, fewest.
fn overhead(definition: &Definition, records: &RecordSet) -> Vec<[String; 3]> {
    let cycles = |workload, name| {
        let record = records.metric(&definition.slug, workload, metric::EMPTY, name);
        record.map(|record| record.interval())
    };
    let exact = |i: Interval| if i.low < i.high { words::cycles(i) } else { figure(i.value) };
    records
        .workloads(&definition.slug)
        .into_iter()
        .filter_map(|workload| {
            let (mean, min) =
                (cycles(workload, metric::OVERHEAD_MEAN), cycles(workload, metric::OVERHEAD_MIN));
            mean.or(min)?;
            let cell = |i: Option<Interval>| i.map_or_else(|| format::NONE.to_owned(), exact);
            Some([format::plain(workload), cell(mean), cell(min)])
        })
        .collect()
}

fn facts(machine: &Machine) -> Vec<(&'static str, String)> {
    let Machine { cpu, system, build, run } = machine;
    let text = |text: &Option<String>| text.as_deref().map_or_else(|| format::NONE.to_owned(), shown);
    let ghz = |before: Option<f64>, after: Option<f64>| {
        let one = |g: Option<f64>| g.map_or_else(|| format::NONE.to_owned(), |g| format!("{g:.3}"));
        format!("{} GHz before the run, {} after", one(before), one(after))
    };
    let yes = |fact: Option<bool>| match fact {
        Some(true) => "yes".to_owned(),
        Some(false) => "no".to_owned(),
        None => format::NONE.to_owned(),
    };
    vec![
        ("Processor", text(&cpu.model)),
        ("Vendor", text(&cpu.vendor)),
        ("Logical processors", cpu.cores.map_or_else(|| format::NONE.to_owned(), |n| n.to_string())),
        ("Instruction sets", shown(&cpu.flags.join(" "))),
        ("Under a hypervisor", yes(cpu.hypervisor)),
        ("Governor", text(&cpu.governor)),
        ("Turbo", yes(cpu.turbo)),
        ("Time-stamp counter", ghz(run.tsc_ghz_before, run.tsc_ghz_after)),
        ("Core clock", ghz(run.core_ghz_before, run.core_ghz_after)),
        (
            "Memory",
            system
                .memory_kib
                .map_or_else(|| format::NONE.to_owned(), |k| format!("{:.1} GiB", k as f64 / 1_048_576.0)),
        ),
        ("System", shown(format!("{} {}", system.os, system.arch).trim())),
        ("Kernel", text(&system.kernel)),
        ("hashlane", shown(&build.hashlane)),
        ("Commit", text(&build.commit)),
        ("Compiler", text(&build.rustc)),
        ("Date", shown(&run.date)),
        ("Size", shown(&run.size)),
        ("Seed", format!("{:#018x}", run.seed)),
        ("Command", shown(&run.command.join(" "))),
    ]
}

/// Text from outside, or a dash for none.
fn shown(text: &str) -> String {
    if text.is_empty() { format::NONE.to_owned() } else { format::plain(text) }
}

/// A factor: `×1.24`.
fn times(factor: f64) -> String {
    format!("×{}", if factor < 2.0 { format!("{factor:.2}") } else { format!("{factor:.1}") })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Record;
    use crate::report::sample;

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
        insta::assert_snapshot!(between(&page, "<h2>Targets", "</table>"));
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
        assert!(page.contains("this machine did not measure 2. Targets met: 0 of 2."));
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
    fn joins_several_studies_on_one_page() {
        let definition = sample::definition();
        let (records, machine) = (sample::records(&definition, &[]), sample::machine());
        let part = Part { definition: &definition, records: &records, machine: &machine };
        let page = html(&[part, part]).unwrap();
        assert!(page.contains("href=\"#study-1\"") && page.contains("<article id=\"study-1\""));
    }
}
