//! Answer: the difference that an index makes to the router's CPU, beside the A/A control.

use super::section::{LOAD, MODEL};
use crate::metric;
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Block, Facts, Forest, ForestRow, Role, Statement};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::{interval, significant};

/// The indexes compared, and the control.
const NAME: &str = "name";
const AGAIN: &str = "name-again";
const DIGEST: &str = "digest";
const TOKEN: &str = "token";

/// Loads of the source, the longer names first: the first that was measured answers.
const PACED: [&str; 4] = ["paced/udp/11", "paced/netns/11", "paced/udp/4", "paced/netns/4"];

/// Lookups of Data in the table, the largest table first.
const LOOKUPS: [&str; 3] = ["match/1Mi/11", "match/64Ki/11", "match/1Ki/11"];

/// Whole exchanges, those with the least besides the table first.
const WHOLE: [&str; 2] = ["load/unix/11", "load/udp/11"];

/// Loads that take nearly a whole core, in the order of [`PACED`].
const BUSY: [&str; 4] = ["busy/udp/11", "busy/netns/11", "busy/udp/4", "busy/netns/4"];

/// The source's savings in points, by components of names.
const SOURCE: &str = "network";

pub(crate) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let load = Facts::of(definition, records, LOAD);
    if load.is_none() && Facts::of(definition, records, MODEL).is_none() {
        return Answer::new(Err(Doubt::NotMeasured { figure: "the study".to_owned() }));
    }
    let view = View { definition, evidence: Evidence::new(definition, records) };
    Answer {
        sentence: view.sentence(),
        chart: load.as_ref().and_then(|load| view.chart(load)),
        surprises: view.surprises(),
        limits: vec![
            "The digest's cost in a consumer and a producer is not counted; the forwarder's is.".to_owned(),
            "At 1000 Interests a second each packet is handled alone, so most of the CPU is system calls."
                .to_owned(),
        ],
    }
}

struct View<'a> {
    definition: &'a Definition,
    evidence: Evidence<'a>,
}

/// Effect of an index, by its interval and that of the control.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effect {
    Saves,
    Costs,
    None,
}

/// An effect is one beyond `zero` and beyond the control.
fn effect(figure: Interval, control: Interval, zero: f64) -> Effect {
    if figure.high < control.low.min(zero) {
        Effect::Saves
    } else if figure.low > control.high.max(zero) {
        Effect::Costs
    } else {
        Effect::None
    }
}

/// Points of CPU with their bounds: `+0.3 [+0.2, +0.4]`.
fn points(i: Interval) -> String {
    // Without a negative zero.
    let [value, low, high] = [i.value, i.low, i.high].map(|points| format!("{:+.1}", points + 0.0));
    format!("{value} [{low}, {high}]").replace("-0.0", "+0.0").replace('-', "−")
}

impl View<'_> {
    /// Difference of an index to the name in points of CPU.
    fn points(&self, workload: &str, of: &str) -> Result<Interval, Doubt> {
        self.evidence.difference(metric::CPU_PERCENT, workload, of, NAME)
    }

    /// The first of the workloads that has a record of the difference or ratio of `of` to the name.
    fn first<'w>(&self, workloads: &[&'w str], of: &str, metric: &str) -> Option<&'w str> {
        let Evidence { definition, records } = self.evidence;
        let found = |w: &&&str| records.metric_in(&definition.slug, w, of, metric, NAME).is_some();
        workloads.iter().find(found).copied()
    }

    fn sentence(&self) -> Result<Statement, Doubt> {
        let token = self.token();
        let Some(workload) = self.first(&PACED, DIGEST, metric::MORE) else {
            // Without the loads, the lookup is all there is.
            return match token {
                Some(text) => Ok(Statement { text, figures: Vec::new() }),
                None => Err(Doubt::NotMeasured { figure: format!("{DIGEST} − {NAME}, paced") }),
            };
        };
        let (digest, again) = (self.points(workload, DIGEST)?, self.points(workload, AGAIN)?);
        let verdict = match effect(digest, again, 0.0) {
            Effect::Saves => "Yes",
            Effect::Costs => "No, it costs",
            Effect::None => "No saving seen",
        };
        let more: String =
            self.round_trip().into_iter().chain(token).map(|sentence| format!(" {sentence}")).collect();
        let text = format!("{verdict}: {} points of CPU; A/A {}.{more}", points(digest), points(again));
        // The bounds of all figures are in the text.
        Ok(Statement { text, figures: Vec::new() })
    }

    /// Round-trip time by digest where the forwarder by name takes nearly a whole core, as the source's did.
    fn round_trip(&self) -> Option<String> {
        let workload = self.first(&BUSY, DIGEST, metric::RATIO_RTT)?;
        let percent = self.evidence.figure(workload, NAME, metric::CPU_PERCENT).ok()?;
        let ratio = |index| self.evidence.ratio_in(metric::RATIO_RTT, workload, index, NAME).ok();
        let shown =
            |ratio: Interval| format!("{} × {}", significant(ratio.value), interval(ratio, significant));
        let (digest, again) = (ratio(DIGEST)?, ratio(AGAIN)?);
        Some(format!(
            "At {:.0} % of a core, round trips take {}; A/A {}.",
            percent.value,
            shown(digest),
            shown(again)
        ))
    }

    /// Saving of the token: of the lookup, and of the whole exchange.
    fn token(&self) -> Option<String> {
        let lookup = self.saving(&LOOKUPS)?;
        Some(match (lookup, self.saving(&WHOLE)) {
            (Some(lookup), Some(Some(whole))) => {
                format!("A token saves {lookup} of the lookup and {whole} of the whole.")
            }
            (Some(lookup), Some(None)) => {
                format!("A token saves {lookup} of the lookup; of the whole, no saving was seen.")
            }
            (Some(lookup), None) => format!("A token saves {lookup} of the lookup."),
            (None, Some(Some(whole))) => {
                format!("A token saves {whole} of the whole; of the lookup, no saving was seen.")
            }
            (None, _) => "Of a token, no saving was seen.".to_owned(),
        })
    }

    /// The token's saving on the first measured workload in words; within, `None` if none was seen.
    fn saving(&self, workloads: &[&str]) -> Option<Option<String>> {
        let (effect, ratio) = self.compared(workloads, TOKEN)?;
        let [value, most, least] =
            [ratio.value, ratio.low, ratio.high].map(|ratio| format!("{:.0}", 100.0 * (1.0 - ratio)));
        Some((effect == Effect::Saves).then(|| format!("{value} % [{least}, {most}]")))
    }

    /// Effect of an index on the first measured workload, and its ratio to the name.
    fn compared(&self, workloads: &[&str], index: &str) -> Option<(Effect, Interval)> {
        let workload = self.first(workloads, index, metric::RATIO)?;
        let ratio = self.evidence.ratio(workload, index, NAME).ok()?;
        let control = self.evidence.control(workload).unwrap_or(Interval::exact(1.0));
        Some((effect(ratio, control, 1.0), ratio))
    }

    fn surprises(&self) -> Vec<String> {
        let lookup = self.compared(&LOOKUPS, DIGEST).filter(|(effect, _)| *effect == Effect::Costs);
        let lookup = lookup.map(|(_, ratio)| {
            let bounds = interval(ratio, significant);
            format!("A lookup by digest takes {} × {bounds} one by name.", significant(ratio.value))
        });
        self.surprise().into_iter().chain(lookup).collect()
    }

    /// The source's saving where this run saw none of its size.
    fn surprise(&self) -> Option<String> {
        let source = self.definition.published(SOURCE)?;
        let midpoint = |index: &str| {
            let [from, to] = ["cpu_from", "cpu_to"].map(|column| source.figure(index, column));
            Some(f64::midpoint(from?, to?))
        };
        let theirs = midpoint("4/digest")? - midpoint("4/baseline")?;
        let ours = self.points("paced/udp/4", DIGEST).ok().filter(|ours| ours.low > theirs)?;
        Some(
            format!(
                "With 4 components the source saw {theirs:+.1} points by digest, this machine {}.",
                points(ours)
            )
            .replace('-', "−"),
        )
    }

    /// Differences to the name, the control's first.
    fn chart(&self, load: &Facts<'_>) -> Option<Block> {
        let paced: Vec<&str> = load.workloads.iter().copied().filter(|w| w.starts_with("paced/")).collect();
        let more = |workload: &str, id: &str| {
            let record = load.records.metric_in(load.study, workload, id, metric::MORE, NAME);
            record.map(Record::interval)
        };
        let mut rows = Vec::new();
        for workload in &paced {
            let others = load.schemes_on(workload).filter(|id| ![NAME, AGAIN].contains(id));
            for id in [AGAIN].into_iter().chain(others) {
                let Some(interval) = more(workload, id) else { continue };
                let label = if id == AGAIN { "A/A (name again)" } else { id };
                let label = if paced.len() > 1 { format!("{workload}: {label}") } else { label.to_owned() };
                let role = if id == AGAIN { Role::Historical } else { Role::Ours };
                rows.push(ForestRow { label, role, interval: Some(interval), figure: points(interval) });
            }
        }
        let caption = match paced.as_slice() {
            [workload] => (*workload).to_owned(),
            _ => String::new(),
        };
        (!rows.is_empty()).then(|| {
            let axis = "difference to the index by name (points of one core's CPU)".to_owned();
            Block::Forest(Forest { caption, axis, zero: 0.0, rows })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    const STUDY: &str = include_str!("../../pit-index/study.toml");

    struct Adder(RecordSet);

    impl Adder {
        fn add(&mut self, workload: &str, scheme: &str, metric: &str, unit: &str, bounds: (f64, f64, f64)) {
            let model = if workload.starts_with("match") { MODEL } else { LOAD };
            let at = [workload, scheme, metric, unit];
            self.0.insert(sample::record("pit-index", model, at, bounds)).unwrap();
        }

        fn ratio(&mut self, workload: &str, of: &str, bounds: (f64, f64, f64)) {
            self.add(workload, of, metric::RATIO, NAME, bounds);
        }

        /// A paced load with these differences, digest and control.
        fn paced(workload: &str, digest: (f64, f64, f64), again: (f64, f64, f64)) -> Self {
            let mut all = Self(RecordSet::new());
            all.add(workload, NAME, metric::CPU_PERCENT, "%", (30.0, 29.0, 31.0));
            for (id, more) in [(DIGEST, digest), (AGAIN, again)] {
                all.add(workload, id, metric::MORE, NAME, more);
            }
            all.ratio(workload, AGAIN, (1.0, 0.99, 1.01));
            all
        }
    }

    fn answered(records: &Adder) -> Answer {
        answer(&Definition::parse(STUDY, "study.toml").unwrap(), &records.0)
    }

    fn sentence(records: &Adder) -> Result<String, Doubt> {
        answered(records).sentence.map(|statement| statement.text)
    }

    #[test]
    fn a_saving_lies_beyond_zero_and_beyond_the_control() {
        let of = |digest, again| sentence(&Adder::paced("paced/udp/11", digest, again)).unwrap();
        assert_eq!(
            of((0.3, 0.2, 0.35), (0.4, -0.01, 0.6)),
            "No saving seen: +0.3 [+0.2, +0.3] points of CPU; A/A +0.4 [+0.0, +0.6]."
        );
        assert!(of((-2.0, -2.5, -1.5), (0.1, -0.5, 0.5)).starts_with("Yes: −2.0 [−2.5, −1.5] points"));
        // The control moved as far.
        assert!(of((-2.0, -2.5, -1.5), (-1.0, -2.0, 0.5)).starts_with("No saving seen"));
        assert!(of((2.0, 1.5, 2.5), (0.1, -0.5, 0.5)).starts_with("No, it costs: +2.0"));
    }

    #[test]
    fn the_token_is_judged_on_the_lookup_and_on_the_whole() {
        let mut all = Adder::paced("paced/udp/11", (0.1, -0.2, 0.3), (0.0, -0.3, 0.3));
        all.ratio("match/64Ki/11", TOKEN, (0.41, 0.39, 0.43));
        let text = sentence(&all).unwrap();
        assert!(text.ends_with("A token saves 59 % [57, 61] of the lookup."), "{text}");
        all.ratio("load/udp/11", TOKEN, (0.98, 0.93, 1.03));
        let text = sentence(&all).unwrap();
        assert!(text.ends_with("of the lookup; of the whole, no saving was seen."), "{text}");
        assert!(text.len() < 200, "{text}");
    }

    #[test]
    fn a_difference_within_the_noise_is_no_saving() {
        let mut all = Adder::paced("paced/udp/11", (0.1, -0.2, 0.3), (0.0, -0.3, 0.3));
        all.ratio("match/64Ki/11", TOKEN, (0.91, 0.87, 1.2));
        assert!(sentence(&all).unwrap().ends_with(" Of a token, no saving was seen."));
        all.ratio("load/udp/11", TOKEN, (0.8, 0.78, 0.82));
        let text = sentence(&all).unwrap();
        assert!(
            text.ends_with("saves 20 % [18, 22] of the whole; of the lookup, no saving was seen."),
            "{text}"
        );
    }

    #[test]
    fn a_digest_that_costs_in_the_lookup_is_a_surprise() {
        let mut all = Adder::paced("paced/udp/11", (0.1, -0.2, 0.3), (0.0, -0.3, 0.3));
        all.ratio("match/64Ki/11", DIGEST, (1.4, 1.3, 1.5));
        assert_eq!(answered(&all).surprises, ["A lookup by digest takes 1.40 × [1.30, 1.50] one by name."]);
    }

    #[test]
    fn the_round_trip_at_nine_tenths_of_a_core_is_stated_beside_its_control() {
        let mut all = Adder::paced("paced/udp/11", (0.1, -0.2, 0.3), (0.0, -0.3, 0.3));
        all.add("busy/udp/11", NAME, metric::CPU_PERCENT, "%", (93.2, 92.0, 94.0));
        all.ratio("busy/udp/11", AGAIN, (1.0, 0.99, 1.01));
        all.add("busy/udp/11", DIGEST, metric::RATIO_RTT, NAME, (1.1, 1.05, 1.2));
        assert!(sentence(&all).unwrap().ends_with("+0.3]."), "not without the control");
        all.add("busy/udp/11", AGAIN, metric::RATIO_RTT, NAME, (1.0, 0.95, 1.04));
        let text = sentence(&all).unwrap();
        let stated = "At 93 % of a core, round trips take 1.10 × [1.05, 1.20]; A/A 1.00 × [0.95, 1.04].";
        assert!(text.ends_with(stated), "{text}");
    }

    #[test]
    fn the_lookup_alone_answers_without_a_load() {
        let mut all = Adder(RecordSet::new());
        all.ratio("match/64Ki/11", TOKEN, (0.41, 0.39, 0.43));
        assert_eq!(sentence(&all).unwrap(), "A token saves 59 % [57, 61] of the lookup.");
    }

    #[test]
    fn doubts_withhold_the_sentence() {
        assert!(matches!(sentence(&Adder(RecordSet::new())), Err(Doubt::NotMeasured { .. })));
        let wide = Adder::paced("paced/udp/11", (0.0, -14.0, 14.0), (0.0, -0.3, 0.3));
        assert!(matches!(sentence(&wide), Err(Doubt::Wide { .. })));
        let mut queued = Adder::paced("paced/udp/11", (0.1, -0.2, 0.3), (0.0, -0.3, 0.3));
        queued.add("paced/udp/11", DIGEST, metric::CARRIED, "share", (0.5, 0.5, 0.5));
        assert!(matches!(sentence(&queued), Err(Doubt::NotCarried { .. })));
    }

    #[test]
    fn the_control_is_the_first_row_of_the_chart() {
        let Some(Block::Forest(forest)) =
            answered(&Adder::paced("paced/udp/11", (0.1, -0.2, 0.3), (0.0, -0.3, 0.3))).chart
        else {
            panic!("no forest")
        };
        let labels: Vec<&str> = forest.rows.iter().map(|row| row.label.as_str()).collect();
        assert_eq!((labels.as_slice(), forest.zero), (["A/A (name again)", "digest"].as_slice(), 0.0));
        assert_eq!(forest.rows[1].figure, "+0.1 [−0.2, +0.3]");
    }

    #[test]
    fn a_saving_of_the_source_that_was_not_seen_is_a_surprise() {
        let all = Adder::paced("paced/udp/4", (0.1, -0.2, 0.3), (0.0, -0.3, 0.3));
        assert_eq!(
            answered(&all).surprises,
            ["With 4 components the source saw −2.0 points by digest, this machine +0.1 [−0.2, +0.3]."]
        );
        let all = Adder::paced("paced/udp/4", (-2.1, -2.5, -1.7), (0.0, -0.3, 0.3));
        assert_eq!(answered(&all).surprises, [""; 0]);
    }
}
