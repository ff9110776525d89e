//! The summary of a run: one screen with the answer of every study.

use super::{BOLD, Colours, YELLOW, coloured, wrapped};
use crate::report::answer::Answer;
use crate::report::differences::differences;
use crate::report::noise::noise;
use crate::report::part::Part;
use crate::run::Machine;
use hashlane_stats::format::{ONE_LAUNCH, plain};

/// Widest line.
const WIDEST: u16 = 110;

/// Columns of the topics.
const TOPICS: usize = 9;

/// Seconds that a run on a noisy machine is advised to wait.
const WAIT: u32 = 60;

/// Summary of a run: the machine and its noise; each study's question, answer, precision and duration;
/// results that differ from the sources. `folder` is the folder of the results, for the commands that it
/// names.
pub fn summary(parts: &[Part<'_>], folder: &str, width: u16, colours: Colours) -> String {
    let width = width.min(WIDEST);
    let Some(first) = parts.first() else { return String::new() };
    let noise = noise(parts);
    let mut head = machine(first.machine);
    let seconds: f64 = parts.iter().filter_map(|part| part.run).map(|run| run.seconds).sum();
    if seconds > 0.0 {
        head.push(format!("{seconds:.0} s"));
    }
    head.push(noise.text.clone());
    let head = wrapped(&plain(&head.join(" · ")), "", width);
    let mut out = if noise.low { head } else { coloured(head.trim_end(), YELLOW, colours) + "\n" };
    let run = &first.machine.run;
    if run.partial {
        let reason = run.partial_reason.as_deref().unwrap_or("no reason was recorded");
        let partial = wrapped(&format!("partial results: {}", plain(reason)), "", width);
        out += &(coloured(partial.trim_end(), YELLOW, colours) + "\n");
    }
    out.push('\n');
    for part in parts {
        out += &study(part, width, colours);
    }
    if parts.iter().any(|part| doubted(part)) {
        let advice =
            format!("Some answers are undecided: run again with --wait-quiet {WAIT}, or with --full.");
        out += &format!("\n{}", wrapped(&advice, "", width));
    }
    if out.contains(ONE_LAUNCH) {
        let note = format!("{ONE_LAUNCH} within one launch only: the next run may have a figure outside.");
        out += &format!("\n{}", wrapped(&note, "", width));
    }
    let differences = differences(parts);
    if !differences.is_empty() {
        let count = differences.len();
        let results = if count == 1 { "1 result differs" } else { &format!("{count} results differ") };
        let line = format!("{results} from what the sources say: hashlane report {folder} --differences");
        out += &format!("\n{}", wrapped(&line, "", width));
    }
    out
}

/// `true` if a study's answer is withheld because of noise.
fn doubted(part: &Part<'_>) -> bool {
    let sentence = part.answer.as_ref().map(|answer| &answer.sentence);
    matches!(sentence, Some(Err(doubt)) if doubt.is_noise())
}

fn study(part: &Part<'_>, width: u16, colours: Colours) -> String {
    let topic = format!("{:width$}", plain(&part.definition.topic), width = TOPICS - 1);
    let indent = " ".repeat(TOPICS);
    let asks = wrapped(&plain(&part.definition.asks), &indent, width);
    let mut out = match asks.strip_prefix(&indent) {
        Some(asks) if topic.chars().count() < TOPICS => format!("{topic} {asks}"),
        _ => format!("{topic}\n{asks}"),
    };
    let mut small = Vec::new();
    let (text, code) = match part.answer.as_ref().map(|Answer { sentence, .. }| sentence) {
        Some(Ok(statement)) => {
            small.extend(statement.precision_text());
            (statement.text.clone(), BOLD)
        }
        Some(Err(doubt)) => (doubt.to_string(), YELLOW),
        None => (format!("no kind of study has the model {:?}", part.definition.model), YELLOW),
    };
    small.extend(part.run.map(|run| format!("{:.0} s", run.seconds)));
    let small = if small.is_empty() { String::new() } else { format!(" [{}]", small.join(", ")) };
    let small = small.trim_start().replace(' ', "\u{a0}");
    let lines = wrapped(&format!("{} {small}", plain(&text)), &indent, width);
    for line in lines.lines() {
        let words = line.trim_start();
        out += &format!("{indent}{}\n", coloured(words, code, colours));
    }
    out
}

/// Version, processor, cores and vectors.
fn machine(machine: &Machine) -> Vec<String> {
    let mut processor = vec![machine.cpu.model.clone().unwrap_or_else(|| "unknown processor".to_owned())];
    processor.extend(machine.cpu.cores.map(|cores| match cores {
        1 => "1 core".to_owned(),
        _ => format!("{cores} cores"),
    }));
    let vectors = [("avx512f", "AVX-512"), ("avx2", "AVX2"), ("asimd", "NEON")];
    let has = |flag: &str| machine.cpu.flags.iter().any(|known| known == flag);
    processor.extend(vectors.iter().find(|(flag, _)| has(flag)).map(|(_, name)| (*name).to_owned()));
    vec![format!("hashlane {}", machine.build.hashlane), processor.join(", ")]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::Doubt;
    use crate::report::{Statement, sample};
    use crate::run::{Noise, RunStudy};
    use hashlane_stats::Interval;

    /// The summary of two studies; the second has no answer.
    fn printed(colours: Colours) -> String {
        let definition = sample::definition();
        let records = sample::records(&definition, &[]);
        let mut machine = sample::machine();
        machine.run.noise = Noise { load: Some(0.2), others: Some(0.0), steal: Some(0.0) };
        let text =
            "The second takes 0.28 × the time of the first, and this is a sentence long enough to be broken \
                    over two lines of the terminal."
                .to_owned();
        let figures = vec![Interval::bounded(0.28, 0.277, 0.283)];
        let run = RunStudy {
            slug: "sample".into(),
            seconds: 11.6,
            samples: 10,
            outliers: 0,
            definition: String::new(),
        };
        let control = Doubt::Control { workload: "12Bx5".into(), ratio: Interval::bounded(1.2, 1.1, 1.3) };
        let part = |sentence| Part {
            definition: &definition,
            records: &records,
            machine: &machine,
            run: Some(&run),
            answer: Some(Answer::new(sentence)),
            sections: vec![sample::section()],
        };
        let parts = [part(Ok(Statement { text, figures })), part(Err(control))];
        summary(&parts, "results", 200, colours)
    }

    #[test]
    fn answers_every_study() {
        insta::assert_snapshot!(printed(Colours::Never));
    }

    #[test]
    fn fits_110_columns() {
        assert!(printed(Colours::Never).lines().all(|line| line.chars().count() <= 110));
        assert!(printed(Colours::Always).contains("\x1b[33mundecided: A/A 1.100 to 1.300 on 12Bx5"));
    }
}
