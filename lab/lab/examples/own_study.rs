//! A kind of study of your own: two ways of summing numbers, timed in alternating rounds.
//!
//! `cargo run --release -p hashlane-lab --example own_study`

use hashlane_lab::probe::counter;
use hashlane_lab::report::Part;
use hashlane_lab::report::terminal::{Colours, text};
use hashlane_lab::run::Machine;
use hashlane_lab::study::{Rounds, RunError, Session, Settings, Studies, Study, StudyFile, run};
use hashlane_records::metric;
use std::hint::black_box;
use std::sync::atomic::AtomicBool;

const STUDY: &str = r#"
slug = "sums"
model = "sums"
title = "Sums"
question = "Is a sum in four lanes faster than one in order?"
source = "an example"
workloads = ["numbers"]
schemes = ["in-order", "four-lanes"]
reference = "in-order"
metric = "cycles"
per = "number"
[size]
quick = { items = 4096, repetitions = 50 }
full = { items = 65536, repetitions = 200 }

[[sentence]]
as = "answer"
text = "Four lanes take {{ ratio('numbers', 'four-lanes', 'in-order')|times }} the time."

[[section]]
title = "Sums"
note = "Cycles of the time-stamp counter, schemes in alternation."

[[table]]
caption = "Cost"
rows = "schemes"
columns = [
  { head = "scheme", cell = "row" },
  { head = "cycles per number [95 %]", cell = "of('numbers', row, 'cycles')|bounds('figure')" },
]
"#;

struct Sums;

/// A scheme: its id and its function.
type Sum = (&'static str, fn(&[f32]) -> f32);

const SUMS: [Sum; 2] = [
    ("in-order", |numbers| numbers.iter().sum()),
    ("four-lanes", |numbers| {
        let mut lanes = [0.0; 4];
        for four in numbers.chunks_exact(4) {
            lanes.iter_mut().zip(four).for_each(|(lane, number)| *lane += number);
        }
        lanes.iter().sum()
    }),
];

impl Study for Sums {
    fn model(&self) -> &'static str {
        "sums"
    }

    fn files(&self) -> &'static [StudyFile] {
        &[StudyFile { slug: "sums", text: STUDY, in_all: true }]
    }

    fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        let size = session.settings.size;
        let numbers = vec![0.5_f32; size.items as usize];
        session.step("numbers", "timing");
        let time = |(_, sum): &mut Sum| {
            let before = counter::start();
            black_box(sum(black_box(&numbers)));
            counter::stop().wrapping_sub(before) as f64 / numbers.len() as f64
        };
        let rounds = Rounds::run(&mut SUMS.clone(), size.repetitions as usize, |_| !session.stopped(), time);
        let ids: Vec<String> = SUMS.iter().map(|(id, _)| (*id).to_owned()).collect();
        for (at, id) in ids.iter().enumerate() {
            session.add("sums", "numbers", id, "counter", metric::CYCLES, "cycles", rounds.time(at));
        }
        session.add_ratios("sums", "numbers", "counter", &ids, |of, to| rounds.ratio(of, to));
        Ok(())
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    const STUDIES: Studies = Studies(&[&Sums]);
    let definition = STUDIES.parse(STUDY, "sums")?;
    let settings = Settings::new(&definition, false, std::env::current_exe()?);
    let outcome = run(&Sums, &definition, &settings, &AtomicBool::new(false), &mut |_| ());
    let (records, machine) = (&outcome.records, Machine::detect());
    let part = Part {
        definition: &definition,
        records,
        machine: &machine,
        run: None,
        answer: STUDIES.answer(&definition, records),
        sections: STUDIES.sections(&definition, records),
    };
    print!("{}", text(&part, 100, Colours::Never));
    match outcome.failed {
        Some(error) => Err(error.into()),
        None => Ok(()),
    }
}
