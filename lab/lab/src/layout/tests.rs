use super::*;
use crate::report::sample;
use crate::report::{BarPlots, Shown, Table};

/// The sample study with this layout.
fn study(layout: &str) -> Result<Definition, DefinitionError> {
    let definition = Definition::parse(&format!("{}\n{layout}", sample::definition().text()), "study.toml")?;
    check(&definition, &Values::new())?;
    Ok(definition)
}

fn sections(layout: &str) -> Vec<Section> {
    let definition = study(layout).unwrap();
    let records = sample::records(&definition, &[]);
    Drawer::new(&definition.layout, &definition, &records, &Values::new()).sections()
}

#[test]
fn draws_bars() {
    let section = sections(
        "[[section]]\ntitle = \"T\"\n[[chart]]\ndraws = \"bars\"\naxis = \"a\"\nitems = \"schemes_on('12Bx5')\"\n\
         value = \"of('12Bx5', item, study.metric)\"\nfigure = \"{{ value|figure }}\"",
    );
    let Some(Block::Bars(BarPlots { plots, .. })) = section[0].blocks.first() else { panic!("{section:?}") };
    assert!(!plots[0].groups[0].bars.is_empty());
}

/// The only section.
fn section(layout: &str) -> Section {
    sections(&format!("[[section]]\ntitle = \"T\"\n{layout}")).remove(0)
}

fn error(layout: &str) -> String {
    study(layout).unwrap_err().to_string()
}

/// The error of an answer with this text.
fn sentence(text: &str) -> String {
    error(&format!("[[sentence]]\nas = \"answer\"\ntext = \"{text}\""))
}

/// The answer to the sample records, each as `change` leaves it.
fn answer(layout: &str, change: impl Fn(&mut hashlane_records::Record)) -> Answer {
    let (definition, records) = (study(layout).unwrap(), sample::changed(&[], change));
    Drawer::new(&definition.layout, &definition, &records, &Values::new()).answer()
}

const RATIO: &str = "[[sentence]]\nas = \"answer\"\ntext = \"\"\"{% set r = ratio('12Bx5', \
                     'foo/straight/summed', study.reference) %}It takes\n{{ r|times }}.\"\"\"";

fn table(section: &Section) -> &Table {
    section.table("c")
}

#[test]
fn a_sentence_states_its_figures_or_the_doubt() {
    let answered = answer(RATIO, |_| ()).sentence.unwrap();
    assert_eq!((answered.text.as_str(), answered.figures.len()), ("It takes 0.40 ×.", 1));
    let wide = answer(RATIO, |record| {
        if record.metric == hashlane_records::metric::RATIO && record.scheme == "foo/straight/summed" {
            record.high = 10.0 * record.low;
        }
    });
    assert!(matches!(wide.sentence, Err(Doubt::Wide { .. })), "{wide:?}");
    // One that asks first goes on without it.
    let asks = RATIO.replace("{{ r|times }}", "{{ r|times if r.ok else r.why }}");
    let wide = answer(&asks, |record| record.high = 10.0 * record.low.max(0.1));
    assert_eq!(wide.sentence.unwrap().text, "It takes undecided.");
    assert!(matches!(
        answer(RATIO, |record| record.study = "other".into()).sentence,
        Err(Doubt::NotMeasured { .. })
    ));
}

#[test]
fn the_first_answer_whose_condition_holds_is_given() {
    let two = "[[sentence]]\nas = \"answer\"\nwhen = \"of('12Bx5', 'none', 'ns').value > 1\"\ntext = \"A\"\n\
               [[sentence]]\nas = \"answer\"\ntext = \"B\"\n[[sentence]]\nas = \"limit\"\ntext = \"L\"\n\
               [[sentence]]\nas = \"surprise\"\neach = \"[1, 2]\"\nwhen = \"it > 1\"\ntext = \"S{{ it }}\"";
    let answer = answer(two, |_| ());
    assert_eq!(answer.sentence.unwrap().text, "B");
    assert_eq!((answer.limits, answer.surprises), (vec!["L".to_owned()], vec!["S2".to_owned()]));
}

#[test]
fn a_table_has_rows_and_columns_of_lists_and_a_dash_for_no_figure() {
    let section = section(
        "[[table]]\ncaption = \"c {{ study.per }}\"\nrows = \"schemes\"\nwhere = \"row is startingwith 'foo/straight'\"\n\
         shown = \"page-only\"\ncolumns = [\n\
         { head = \"scheme\", cell = \"row\" },\n\
         { each = \"workloads\", head = \"{{ column }}\", cell = \"of(column, row, study.metric)|figure\" },\n\
         { head = \"none\", cell = \"of('12Bx5', row, 'no-metric')|figure\" } ]\n\
         more = [{ rows = \"['mean']\", cells = [\"row\", \"10|fixed1\"] }]",
    );
    let table = table(&section);
    // The column without a figure is left out.
    assert_eq!(table.columns, ["scheme", "12Bx5", "6Bx10"]);
    assert_eq!(table.rows.last().unwrap(), &["mean", "10.0", "—"]);
    assert!(table.rows.len() > 1 && table.shown == crate::report::Shown::PageOnly);
}

#[test]
fn a_table_or_section_without_figures_is_left_out() {
    let none = "[[section]]\ntitle = \"T\"\n[[table]]\ncaption = \"c\"\nrows = \"schemes\"\n\
                columns = [{ head = \"a\", cell = \"row\" }, { head = \"b\", cell = \"of('x', row, 'ns')|count\" }]";
    assert!(sections(none).is_empty());
    assert!(sections(&none.replace("title = \"T\"", "title = \"T\"\nmodels = [\"other\"]")).is_empty());
}

#[test]
fn lines_forests_and_texts_are_drawn() {
    let section = section(
        "[[chart]]\ndraws = \"lines\"\naxis = \"y\"\nacross = \"x\"\nitems = \"schemes\"\npoints = \"[1, 2]\"\n\
         x = \"point\"\nvalue = \"of('12Bx5', item, study.metric)\"\nemphasised = \"item == study.reference\"\n\
         label = \"the reference\"\nrole = \"'ours'\"\nshades = \"[[1, 2, 'L2']]\"\n\
         [[chart]]\ndraws = \"forest\"\naxis = \"ratio\"\nzero = 1.0\nitems = \"schemes\"\n\
         value = \"ratio('12Bx5', item, study.reference)\"\nfigure = \"{{ value|ratio }}\"\n\
         [[text]]\ncaption = \"t\"\ntext = \"{% for s in schemes %}{{ s }}\\n{% endfor %}\"",
    );
    let [Block::Lines(lines), Block::Forest(forest), Block::Text(text)] = &section.blocks[..] else {
        panic!("{section:?}")
    };
    assert_eq!((lines.series[0].label.as_deref(), lines.shades.len()), (Some("the reference"), 1));
    assert!(lines.plots[0].lines.iter().all(|line| line.points.len() == 2));
    assert!(!forest.rows.is_empty() && text.text.lines().count() > 1);
}

#[test]
fn faults_are_named_with_the_line_of_their_table() {
    let unknown = sentence("{{ offf('a', 'b', 'c') }}");
    assert!(unknown.contains("sentence.text: unknown function: offf is unknown"), "{unknown}");
    let line: usize = unknown.split("line ").nth(1).unwrap().split(':').next().unwrap().parse().unwrap();
    assert!(line > 20, "{unknown}");
    assert!(sentence("{{ 1|signficant }}").contains("filter signficant is unknown"));
    assert!(sentence("{{ 1 ").contains("syntax error"));
    assert!(
        sentence("{{ 1|bounds('digits') }}").contains("no format \"digits\"; there are significant"),
        "{}",
        sentence("{{ 1|bounds('digits') }}")
    );
    let chart =
        "[[chart]]\ndraws = \"bars\"\naxis = \"a\"\nitems = \"schemes\"\nvalue = \"1\"\nrole = \"'our'\"";
    assert!(error(chart).contains("chart.role: invalid operation: no role \"our\""), "{}", error(chart));
    assert!(error("[[table]]\ncaption = \"c\"\nrow = \"x\"").contains("unknown field `row`"));
    assert!(error("[[chart]]\ndraws = \"pie\"\n").contains("unknown variant `pie`"));
    // No file takes all of the processor or the memory.
    assert!(
        sentence("{% for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}")
            .contains("out of fuel")
    );
}

#[test]
fn macros_and_formats_of_the_file() {
    let text = format!(
        "words = \"{{% macro list() %}}b\\n a{{% endmacro %}}\"\n{}\n[formats]\nshort_one = [{{ below = 10.0, as = \
         \"fixed1\" }}, {{ as = \"count\" }}]\n[[sentence]]\nas = \"answer\"\ntext = \"{{{{ \
         words.list()|lines|join('+') }}}} {{{{ 5|short_one }}}} {{{{ 5000|short_one }}}}\"",
        sample::definition().text()
    );
    let definition = Definition::parse(&text, "study.toml").unwrap();
    check(&definition, &Values::new()).unwrap();
    let records = sample::records(&definition, &[]);
    let answer = Drawer::new(&definition.layout, &definition, &records, &Values::new()).answer();
    assert_eq!(answer.sentence.unwrap().text, "b+a 5.0 5,000");
}

#[test]
fn lines_are_in_order_of_interest() {
    let layout = r#"
[[section]]
title = "T"
[[chart]]
draws = "lines"
axis = "a"
items = "['foo/batch/summed', 'foo/straight/summed', 'quux/straight/summed']"
points = "['12Bx5', '6Bx10']"
x = "point|replace('Bx10', '')|replace('Bx5', 'Ki')|number"
value = "of(point, item, study.metric)"
order = "['quux/straight/summed', 'foo/straight/summed']"
emphasised = "place < 2"
"#;
    let section = sections(layout).remove(0);
    let Some(Block::Lines(lines)) = section.blocks.first() else { panic!("{section:?}") };
    let series: Vec<(&str, bool)> = lines.series.iter().map(|s| (s.name.as_str(), s.emphasised)).collect();
    assert_eq!(
        series,
        [("quux/straight/summed", true), ("foo/straight/summed", true), ("foo/batch/summed", false)]
    );
    let line = &lines.plots[0].lines[0];
    let places: Vec<f64> = line.points.iter().map(|(x, _)| *x).collect();
    assert_eq!((line.name.as_str(), places), ("foo/batch/summed", vec![6.0, 12_288.0]));
}

#[test]
fn tables_are_shown_as_an_expression_says() {
    let table = |shown: &str| {
        format!(
            "[[section]]\ntitle = \"T\"\n[[table]]\neach = \"['folded', 'page-only']\"\ncaption = \"{{{{ it }}}}\"\n\
             rows = \"['a@9', 'a@x', 'a@10', 'b@1']|numbered('a')\"\nshown = \"{shown}\"\n\
             columns = [{{ head = \"id\", cell = \"row\" }}, {{ head = \"n\", cell = \"(row|split('@'))[1]\" }}]"
        )
    };
    let section = sections(&table("it")).remove(0);
    let tables: Vec<&Table> = section
        .blocks
        .iter()
        .filter_map(|block| if let Block::Table(table) = block { Some(table) } else { None })
        .collect();
    assert_eq!(tables[0].rows, [["a@9", "9"], ["a@10", "10"]]);
    assert_eq!(tables.iter().map(|t| t.shown).collect::<Vec<_>>(), [Shown::Folded, Shown::PageOnly]);
    let error = study(&table("fold")).unwrap_err().to_string();
    assert!(error.contains("table.shown") && error.contains("open, folded, page-only"), "{error}");
}

#[test]
fn parts_stand_where_they_are_shown_and_columns_are_whole() {
    let columns = "columns = [{ head = \"a\", cell = \"row\" }]";
    let table = |columns: &str| format!("[[table]]\ncaption = \"c\"\nrows = \"schemes\"\n{columns}");
    let in_section = |part: &str| error(&format!("[[section]]\ntitle = \"T\"\n{part}"));
    assert!(error(&table(columns)).contains("table.rows: it stands before the first [[section]]"));
    assert!(
        in_section(&table("columns = [{ cell = \"row\" }]")).contains("columns: each has a head and a cell")
    );
    assert!(in_section(&table("columns = []")).contains("columns: there are none"));
    let answer = in_section("[[sentence]]\nas = \"answer\"\ntext = \"A\"");
    assert!(answer.contains("sentence.as: before the first [[section]] stand answers"), "{answer}");
    assert!(error(&"[[section]]\ntitle = \"T\"\n".repeat(65)).contains("more than 64 sections"));
}

#[test]
fn misspelt_names_are_errors_also_in_conditions() {
    let figure = sentence("{% if of('a', 'b', 'c').okk %}{% endif %}");
    assert!(figure.contains("no field \"okk\" of a figure; there are value"), "{figure}");
    let study = sentence("{% if study.ownn %}{% endif %}");
    assert!(study.contains("no field \"ownn\"; there are metric"), "{study}");
    assert!(sentence("{{ of('a', 'b', 'c') }}").contains("a figure without a format"));
    assert!(sentence("{% include 'x' %}").contains("sentence.text: "));
    let formats = error("[formats]\nus = [{ as = \"fixd\" }]\n[[sentence]]\nas = \"limit\"\ntext = \"A\"");
    assert!(formats.contains("formats.us: no format \"fixd\"; there are"), "{formats}");
}

#[test]
fn no_text_makes_a_list_or_a_program_too_large() {
    assert!(sentence("{{ product(range(1000)|list, range(1000)|list)|length }}").contains("131072 pairs"));
    assert!(sentence(&format!("{{{{ 1{} }}}}", "+1".repeat(50_000))).contains("more than 16384 bytes"));
    let grows = "{% set n = namespace(x='x' * 10000) %}{% set n.x = n.x|replace('x', n.x) %}";
    assert!(sentence(grows).contains("a text of more than 1048576 bytes"));
    assert!(sentence("{{ [1]|batch(1000000000, 'x')|list|length }}").contains("filter batch is unknown"));
}

#[test]
fn a_part_that_records_cannot_draw_is_named_and_the_others_stay() {
    let section = section(
        "[[table]]\ncaption = \"c\"\nrows = \"schemes\"\ncolumns = [{ head = \"a\", cell = \"row\" }, \
         { head = \"b\", cell = \"[0][of('12Bx5', row, study.metric).samples - 1] + 1\" }]\n\
         [[sentence]]\nas = \"finding\"\ntext = \"F\"",
    );
    assert!(section.findings.iter().any(|finding| finding == "F"), "{section:?}");
    let named =
        |finding: &String| finding.starts_with("Not drawn: line ") && finding.contains("columns.cell");
    assert!(section.blocks.is_empty() && section.findings.iter().any(named), "{section:?}");
}
