//! Searches for the message that costs our reader most for each of its bytes.
//!
//! Messages are a question, data that may hide labels and pointers, and records whose names are labels,
//! pointers to the starts of labels or to other pointers, or pointers to anywhere. The messages of each size
//! that cost most are mutated, and replaced by what costs more; the cost is the time per byte, as a ratio to
//! an ordinary answer's of 500 addresses, which is timed beside them. A message is read up to its first
//! error.

mod search;

use hashlane_dns::wire::Message;
use hashlane_study_dns::benign_reading;
use search::{Arguments, Draw, Kept};
use std::error::Error;
use std::hint::black_box;
use std::time::Instant;

const HELP: &str = "\
Searches for the message that costs our reader most for each of its bytes

Usage: worst_reading [--messages N] [--seed N] [--out FILE]

  --messages N  mutated messages to try [default: 100000, about ten seconds]
  --seed N      seed of the search [default: 1]
  --out FILE    write the worst message

Example: worst_reading --messages 10000000 --out worst.bin
Exit code: 0 if no message costs more than 4 times the ordinary answer, 1 if one does.";

/// Messages of each size that are mutated.
const KEPT: usize = 16;

/// Sizes in bytes, and how many of a thousand messages have each.
const LIMITS: [(usize, usize); 5] = [(512, 400), (1232, 300), (4096, 250), (16_384, 40), (65_535, 10)];

/// Types of records by number, with the names in their data and the bytes before and after these: NS, SOA,
/// MINFO, MX, SRV, PX, A, and one that nobody knows.
const TYPES: [(u16, usize, usize, usize); 8] = [
    (2, 1, 0, 0),
    (6, 2, 0, 20),
    (14, 2, 0, 0),
    (15, 1, 2, 0),
    (33, 1, 6, 0),
    (26, 2, 2, 0),
    (1, 0, 4, 0),
    (0xff00, 0, 0, 0),
];

/// The target of a pointer.
#[derive(Clone, Copy)]
enum Target {
    /// The label or pointer of this number, counted from the first one of the message on.
    Start(usize),
    /// As before, counted back from the pointer.
    Back(usize),
    /// An offset, of a label or not.
    Offset(usize),
}

/// A name: labels of these lengths, and the root or a pointer.
#[derive(Clone)]
struct Form {
    labels: Vec<u8>,
    end: Option<Target>,
}

/// A record, or bytes of names in the data of a type that nobody knows.
#[derive(Clone)]
struct Entry {
    rtype: usize,
    names: [Form; 3],
    /// Names and pointers in unknown data, one after the other.
    hidden: Vec<Form>,
    times: usize,
    /// Added to the numbers of targets from one copy to the next.
    step: usize,
}

/// A message to be made.
#[derive(Clone)]
struct Plan {
    question: Form,
    entries: Vec<Entry>,
}

impl Draw {
    fn target(&mut self) -> Target {
        match self.below(8) {
            0..=2 => Target::Start(self.below(256)),
            3..=5 => Target::Back(self.below(64)),
            6 => Target::Back(0),
            _ => Target::Offset(12 + self.below(0x3fff)),
        }
    }

    fn form(&mut self, most: usize) -> Form {
        let long = self.below(8) == 0;
        let label = |draw: &mut Self| 1 + draw.below(if long { 63 } else { 2 }) as u8;
        let count = if self.below(2) == 0 { 0 } else { self.below(most + 1) };
        let labels = (0..count).map(|_| label(self)).collect();
        let end = if self.below(8) == 0 { None } else { Some(self.target()) };
        Form { labels, end }
    }

    fn entry(&mut self) -> Entry {
        let names = [self.form(3), self.form(3), self.form(3)];
        let hidden = if self.below(4) == 0 {
            let most = [2, 127][self.below(2)];
            (0..1 + self.below(64)).map(|_| self.form(most)).collect()
        } else {
            Vec::new()
        };
        Entry {
            rtype: self.below(TYPES.len()),
            names,
            hidden,
            times: 1 << self.below(13),
            step: self.below(4),
        }
    }

    fn plan(&mut self) -> Plan {
        let question = Form { end: None, ..self.form(127) };
        Plan { question, entries: (0..1 + self.below(6)).map(|_| self.entry()).collect() }
    }

    fn mutate(&mut self, plan: &mut Plan) {
        let at = self.below(plan.entries.len());
        let entry = &mut plan.entries[at];
        match self.below(10) {
            0 => entry.rtype = self.below(TYPES.len()),
            1 => entry.names[self.below(3)] = self.form(3),
            2 => entry.names[self.below(3)].end = Some(self.target()),
            3 => entry.times = 1 << self.below(13),
            4 => entry.step = self.below(4),
            5 if !entry.hidden.is_empty() => {
                let at = self.below(entry.hidden.len());
                entry.hidden[at] = self.form(127);
            }
            6 => *entry = self.entry(),
            7 if plan.entries.len() < 12 => {
                let entry = self.entry();
                plan.entries.insert(at, entry);
            }
            8 if plan.entries.len() > 1 => drop(plan.entries.remove(at)),
            _ => plan.question = Form { end: None, ..self.form(127) },
        }
    }
}

/// A message under construction.
struct Writer {
    bytes: Vec<u8>,
    /// Offsets of labels and pointers, below the limit of pointers.
    starts: Vec<usize>,
}

impl Writer {
    fn start(&mut self) {
        if self.bytes.len() < 0x4000 {
            self.starts.push(self.bytes.len());
        }
    }

    fn name(&mut self, form: &Form, shift: usize) {
        let mut len = 1;
        for label in &form.labels {
            len += 1 + usize::from(*label);
            if len > 255 {
                break;
            }
            self.start();
            self.bytes.push(*label);
            self.bytes.extend((0..*label).map(|at| b'a' + at % 26));
        }
        let known = self.starts.len();
        let target = form.end.and_then(|target| match target {
            Target::Start(number) => self.starts.get((number + shift) % known.max(1)).copied(),
            Target::Back(number) => {
                known.checked_sub(1 + (number + shift) % known.max(1)).map(|at| self.starts[at])
            }
            Target::Offset(at) => Some((at + shift) % self.bytes.len().clamp(1, 0x4000)),
        });
        match target {
            Some(target) => {
                self.start();
                self.bytes.extend((0xc000 | target as u16).to_be_bytes());
            }
            None => self.bytes.push(0),
        }
    }
}

impl Plan {
    /// The message, as many records as fit.
    fn message(&self, limit: usize) -> Vec<u8> {
        let mut writer = Writer { bytes: vec![0; 12], starts: Vec::new() };
        writer.name(&self.question, 0);
        writer.bytes.extend([0, 1, 0, 1]);
        let mut count = 0_u16;
        'entries: for entry in &self.entries {
            for copy in 0..entry.times {
                let (end, starts) = (writer.bytes.len(), writer.starts.len());
                let (rtype, names, before, after) = TYPES[entry.rtype];
                let shift = copy * entry.step;
                writer.name(&entry.names[0], shift);
                writer.bytes.extend(rtype.to_be_bytes());
                writer.bytes.extend([0, 1, 0, 0, 0, 60, 0, 0]);
                let data = writer.bytes.len();
                writer.bytes.resize(data + before, 0);
                entry.names[1..=names].iter().for_each(|name| writer.name(name, shift));
                if rtype == 0xff00 && copy == 0 {
                    entry.hidden.iter().for_each(|name| writer.name(name, shift));
                }
                writer.bytes.resize(writer.bytes.len() + after, 0);
                let len = writer.bytes.len() - data;
                if writer.bytes.len() > limit || len > 65_535 || count == u16::MAX {
                    writer.bytes.truncate(end);
                    writer.starts.truncate(starts);
                    break 'entries;
                }
                writer.bytes[data - 2..data].copy_from_slice(&(len as u16).to_be_bytes());
                count += 1;
            }
        }
        let [a, b] = count.to_be_bytes();
        writer.bytes[..12].copy_from_slice(&[0, 1, 0x84, 0, 0, 1, a, b, 0, 0, 0, 0]);
        writer.bytes
    }
}

/// Reads a message up to its first error.
fn read(bytes: &[u8]) -> usize {
    let Ok((questions, records)) = Message::parse(bytes).and_then(|message| message.questions()) else {
        return 0;
    };
    black_box(questions);
    records.map_while(Result::ok).map(black_box).count()
}

/// Nanoseconds per byte: the least of several readings.
fn cost(bytes: &[u8], readings: usize) -> f64 {
    let mut least = f64::INFINITY;
    for _ in 0..readings {
        let start = Instant::now();
        black_box(read(black_box(bytes)));
        least = least.min(start.elapsed().as_nanos() as f64);
    }
    least / bytes.len() as f64
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(Arguments { messages, seed, out }) = Arguments::parse(HELP)? else { return Ok(()) };
    let mut draw = Draw::new(seed);
    let benign = benign_reading();
    let mut ordinary = cost(&benign, 8);
    let mut kept = Kept::new(&LIMITS, KEPT);
    for number in 0..messages {
        if number % 1024 == 0 {
            ordinary = cost(&benign, 8);
        }
        let size = kept.draw_size(&mut draw);
        let plan = match kept.draw_parent(size, &mut draw) {
            Some(mut plan) => {
                (0..1 + draw.below(3)).for_each(|_| draw.mutate(&mut plan));
                plan
            }
            None => draw.plan(),
        };
        let message = plan.message(kept.limit(size));
        let mut now = cost(&message, 2) / ordinary;
        for _ in 0..3 {
            if now > kept.least(size) {
                // It may have been interrupted.
                now = now.min(cost(&message, 8) / cost(&benign, 4));
            }
        }
        kept.add(size, now, plan);
        kept.report(number, messages);
    }
    let mut worst: Option<(f64, Vec<u8>)> = None;
    for (limit, plan) in kept.iter() {
        let message = plan.message(limit);
        let mut costs: Vec<f64> = (0..20).map(|_| cost(&message, 20) / cost(&benign, 20)).collect();
        costs.sort_by(f64::total_cmp);
        if worst.as_ref().is_none_or(|(cost, _)| costs[10] > *cost) {
            println!(
                "{:.2} × the ordinary answer per byte, the median of 20: {} bytes, {} records read",
                costs[10],
                message.len(),
                read(&message)
            );
            worst = Some((costs[10], message));
        }
    }
    if let (Some((_, message)), Some(out)) = (&worst, out) {
        std::fs::write(out, message)?;
    }
    search::judge(worst.map(|(cost, _)| cost))
}
