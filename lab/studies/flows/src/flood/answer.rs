//! Answer of a study of floods: the growth of a lookup under the attack that no secret stops.

use super::growth::{Verdict, taken_apart};
use crate::metric;
use crate::own::Traffic;
use crate::words::times;
use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Answer, Block, Line, LinePlot, LinePlots, Role, Series, Statement};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::count;

/// The attack that collapses the keyed hashes of the source.
const ATTACK: &str = "local";

/// The keyed hashes of the source in Linux's table, with their names.
const LINUX: [(&str, &str); 3] = [
    ("jhash2", "chained/jhash2/single"),
    ("hsiphash", "chained/hsiphash/single"),
    ("siphash", "chained/siphash/single"),
];

const OURS: &str = "batched/siphash-1-3/burst";

pub(crate) fn answer(definition: &Definition, records: &RecordSet) -> Answer {
    let study = Study { definition, records, evidence: Evidence::new(definition, records) };
    if let Some(traffic) = Traffic::of(definition, records) {
        let attack = format!("{}/{ATTACK}", traffic.label);
        let sentence = study.of_traffic(&traffic, &attack);
        return Answer { chart: study.chart(&attack), ..Answer::new(sentence) };
    }
    let (sentence, surprises) = match study.growths(ATTACK) {
        Ok(growths) => (Ok(study.sentence(growths)), study.surprises(growths)),
        Err(doubt) => (Err(doubt), Vec::new()),
    };
    Answer {
        sentence,
        chart: study.chart(ATTACK),
        surprises,
        limits: vec![
            "Only a host that answers for a whole prefix of addresses meets the attack local.".to_owned(),
            "Even without hostile flows, the 32 lookups meet each other in one bucket of Linux's table."
                .to_owned(),
        ],
    }
}

struct Study<'a> {
    definition: &'a Definition,
    records: &'a RecordSet,
    evidence: Evidence<'a>,
}

/// Growth of ours, and of each scheme of [`LINUX`].
type Growths = (Interval, [Interval; 3]);

impl Study<'_> {
    /// Ids of a scheme with the most and with the fewest hostile flows.
    fn ends(&self, scheme: &str) -> Option<(&str, &str)> {
        let of = |id: &&String| taken_apart(id).is_some_and(|(name, _)| name == scheme);
        let flows = |id: &&String| taken_apart(id).map(|(_, flows)| flows);
        let ids = || self.definition.schemes.iter().filter(of);
        Some((ids().max_by_key(flows)?, ids().min_by_key(flows)?))
    }

    fn most(&self) -> String {
        let most = self.definition.schemes.iter().filter_map(|id| Some(taken_apart(id)?.1)).max();
        count(most.unwrap_or_default() as f64)
    }

    fn growth(&self, metric: &str, attack: &str, scheme: &str) -> Result<Interval, Doubt> {
        let missing = || Doubt::NotMeasured { figure: format!("growth of {scheme}, {attack}") };
        let (of, to) = self.ends(scheme).ok_or_else(missing)?;
        self.evidence.ratio_in(metric, attack, of, to)
    }

    fn growths(&self, attack: &str) -> Result<Growths, Doubt> {
        let growth = |scheme| self.growth(metric::RATIO, attack, scheme);
        let [a, b, c] = LINUX.map(|(_, scheme)| growth(scheme));
        Ok((growth(OURS)?, [a?, b?, c?]))
    }

    fn sentence(&self, (ours, linux): Growths) -> Statement {
        let mut theirs = String::new();
        for ((name, _), growth) in LINUX.iter().zip(linux) {
            theirs += match theirs.is_empty() {
                true => format!("Linux's {name} takes {} as long", times(growth.value)),
                false => format!(", {name} {}", times(growth.value)),
            }
            .as_str();
        }
        let text = format!("Ours: {} under {ATTACK}, where {theirs}.{}", times(ours.value), self.elsewhere());
        Statement { text, figures: [ours].into_iter().chain(linux).collect() }
    }

    /// A sentence about ours under all attacks of the run.
    fn elsewhere(&self) -> String {
        let attacks = &self.definition.workloads;
        let not_slowed = |attack: &&String| {
            let growth = self.growth(metric::RATIO, attack, OURS);
            growth.is_ok_and(|growth| Verdict::of(growth) == Verdict::NotSlowed)
        };
        match (attacks.iter().filter(not_slowed).count(), attacks.len()) {
            (_, 1) => String::new(),
            (held, all) if held == all => format!(" None of the {all} attacks slows ours."),
            (held, all) => format!(" Ours is not slowed by {held} of {all} attacks."),
        }
    }

    fn surprises(&self, (_, [.., siphash]): Growths) -> Vec<String> {
        let slowed = Verdict::of(siphash) == Verdict::Slowed;
        let sentence = format!(
            "A keyed hash is no protection if it leaves out what the attacker varies: siphash over 32 bits \
             of the local address takes {} as long.",
            times(siphash.value)
        );
        slowed.then_some(sentence).into_iter().collect()
    }

    fn of_traffic(&self, traffic: &Traffic<'_>, attack: &str) -> Result<Statement, Doubt> {
        let (_, linux) = LINUX[0];
        let of = |metric, scheme| self.growth(metric, attack, scheme);
        let figures = [
            of(metric::RATIO_ELSEWHERE, OURS)?,
            of(metric::RATIO_ELSEWHERE, linux)?,
            of(metric::RATIO, OURS)?,
            of(metric::RATIO, linux)?,
        ];
        let [ours, theirs, ours_aimed, theirs_aimed] = figures.map(|growth| times(growth.value));
        let text = format!(
            "{traffic}: beside {} hostile flows ({ATTACK}), a lookup of yours takes {ours} its time in our \
             table, {theirs} in Linux's (jhash2); of an attacked flow {ours_aimed} and {theirs_aimed}.",
            self.most()
        );
        Ok(Statement { text, figures: figures.to_vec() })
    }

    /// Time of a lookup against hostile flows: Linux's and ours in colour, all others grey.
    fn chart(&self, attack: &str) -> Option<Block> {
        let mut lines: Vec<Line> = Vec::new();
        for id in &self.definition.schemes {
            let record = self.records.metric(&self.definition.slug, attack, id, metric::NS);
            let (Some((name, flows)), Some(record)) = (taken_apart(id), record) else { continue };
            let point = (flows as f64, Record::interval(record));
            match lines.iter_mut().find(|line| line.name == name) {
                Some(line) => line.points.push(point),
                None => lines.push(Line { name: name.to_owned(), points: vec![point] }),
            }
        }
        for line in &mut lines {
            line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
        }
        let all_slowed = LINUX.iter().all(|(_, scheme)| {
            let growth = self.growth(metric::RATIO, attack, scheme);
            growth.is_ok_and(|growth| Verdict::of(growth) == Verdict::Slowed)
        });
        let series = |line: &Line| match line.name.as_str() {
            OURS => Series::labelled(OURS, Role::Ours, "ours"),
            name if name == LINUX[0].1 && all_slowed => {
                Series::labelled(name, Role::Danger, "Linux, all keyed variants of the source")
            }
            name if name == LINUX[0].1 => Series::labelled(name, Role::Historical, "Linux, jhash2"),
            name => Series::new(name, Role::Historical, false),
        };
        let mut series: Vec<Series> = lines.iter().map(series).collect();
        series.sort_by_key(|series| !series.emphasised);
        (!lines.is_empty()).then(|| {
            Block::Lines(LinePlots {
                x: "hostile flows in the table".to_owned(),
                y: "time per lookup of an innocent flow (ns)".to_owned(),
                series,
                plots: vec![LinePlot { lines, ..LinePlot::default() }],
                ..LinePlots::default()
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    /// The answer from the sample records, each changed by `change`.
    fn answer_with(change: impl Fn(&mut Record)) -> Answer {
        answer(&sample::definitions()[1], &sample::changed(change))
    }

    #[test]
    fn states_the_growth_of_ours_and_of_the_keyed_hashes_of_the_source() {
        let answer = answer_with(|_| {});
        let statement = answer.sentence.unwrap();
        assert_eq!(
            statement.text,
            "Ours: 1.00 × under local, where Linux's jhash2 takes 2,460 × as long, hsiphash 2,270 ×, \
             siphash 2,360 ×. None of the 3 attacks slows ours."
        );
        assert_eq!(statement.figures.len(), 4);
        assert!(answer.surprises[0].contains("takes 2,360 × as long"), "{:?}", answer.surprises);
        let Some(Block::Lines(chart)) = answer.chart else { panic!("no chart") };
        let labels: Vec<_> =
            chart.series.iter().filter(|s| s.emphasised).map(|s| (s.role, s.label.clone())).collect();
        let linux = Some("Linux, all keyed variants of the source".to_owned());
        assert_eq!(labels, [(Role::Danger, linux), (Role::Ours, Some("ours".to_owned()))]);
        assert_eq!(chart.plots[0].lines.len(), chart.series.len());
    }

    #[test]
    fn counts_the_attacks_that_slow_ours() {
        let answer = answer_with(|record| {
            if record.workload == "xor"
                && record.scheme == format!("{OURS}@65536")
                && record.metric == "ratio"
            {
                (record.value, record.low, record.high) = (1.5, 1.4, 1.6);
            }
        });
        let text = answer.sentence.unwrap().text;
        assert!(text.ends_with("Ours is not slowed by 2 of 3 attacks."), "{text}");
    }

    #[test]
    fn withholds_the_sentence_without_records_and_on_a_noisy_machine() {
        let none = answer(&sample::definitions()[1], &RecordSet::new());
        assert!(matches!(none.sentence, Err(Doubt::NotMeasured { .. })) && none.chart.is_none());
        let noisy = answer_with(|record| {
            if record.scheme.ends_with("/again") && record.metric == "ratio" {
                (record.value, record.low, record.high) = (1.2, 1.1, 1.3);
            }
        });
        assert!(matches!(noisy.sentence, Err(Doubt::Control { .. })), "{:?}", noisy.sentence);
        assert!(noisy.surprises.is_empty());
    }

    #[test]
    fn speaks_of_the_users_flows() {
        let (definitions, records) = (sample::definitions(), sample::own_records());
        let answer = answer(&definitions[1], &records);
        assert_eq!(
            answer.sentence.unwrap().text,
            "3,214 flows in 1.2 M packets: beside 65,536 hostile flows (local), a lookup of yours takes \
             1.00 × its time in our table, 1.00 × in Linux's (jhash2); of an attacked flow 1.00 × and 2,460 \
             ×."
        );
        assert!(answer.chart.is_some() && answer.surprises.is_empty());
    }
}
