//! Searches for the message that costs our renderer most for each byte that it writes.
//!
//! Messages are a question and records whose names are made from a pool, as many as fit: a record that does
//! not fit ends a message once, and is not counted. The messages of each size that cost most are mutated, and
//! replaced by what costs more; the cost is the time per byte, as a ratio to the ordinary referral's, which
//! is timed beside them. Most messages are small, so that ten million take two hours. At the end the worst
//! are rendered again under 20 random keys.

mod search;

use hashlane_dns::MAX_MESSAGE_LEN;
use hashlane_dns::render::{Options, Renderer, SuffixTable, Writer};
use hashlane_dns::wire::{Class, Header, Rdata, RecordType, Section};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Case, MAX_NAME_LEN, Name, NameBuf};
use hashlane_study_dns::benign_names;
use search::{Arguments, Draw, Kept};
use std::error::Error;
use std::time::Instant;

const HELP: &str = "\
Searches for the message that costs our renderer most for each byte that it writes

Usage: worst_message [--messages N] [--seed N] [--out FILE]

  --messages N  mutated messages to try [default: 100000, about a minute]
  --seed N      seed of the search and of the keys [default: 1]
  --out FILE    write the worst message, as rendered

Example: worst_message --messages 10000000 --out worst.bin
Exit code: 0 if no message costs more than 4 times the ordinary answer, 1 if one does.";

/// Messages of each size that are mutated.
const KEPT: usize = 12;

/// Sizes in bytes, and how many of a thousand messages have each: the time of a message is the time of its
/// names.
const LIMITS: [(usize, usize); 5] =
    [(512, 360), (1232, 340), (4096, 280), (16_384, 15), (MAX_MESSAGE_LEN, 5)];

/// Types of records, with the number of names in their data that are compressed and their other bytes.
const TYPES: [(RecordType, usize, usize); 6] = [
    (RecordType::NS, 1, 0),
    (RecordType::PTR, 1, 0),
    (RecordType::MINFO, 2, 0),
    (RecordType::SOA, 2, 20),
    (RecordType::MX, 1, 2),
    (RecordType::A, 0, 4),
];

/// The names of records, as they are picked from the pool, and the labels before them.
#[derive(Clone, Copy)]
struct Pick {
    step: usize,
    first: usize,
    /// Labels of one letter before the name, counted up from record to record.
    heads: usize,
    /// Different letters of the first of them.
    letters: usize,
}

/// Labels before a name.
const MAX_HEADS: usize = 3;

/// A message to be made.
#[derive(Clone)]
struct Plan {
    pool: Vec<NameBuf>,
    rtype: usize,
    /// Of the owner and of the names in the data.
    picks: [Pick; 3],
    question: usize,
}

impl Draw {
    fn label(&mut self) -> Vec<u8> {
        let len = if self.below(8) == 0 { 1 + self.below(63) } else { 1 + self.below(2) };
        let any = self.below(16) == 0;
        (0..len).map(|_| if any { self.below(256) as u8 } else { b'a' + self.below(26) as u8 }).collect()
    }

    fn name(&mut self) -> NameBuf {
        let mut name = NameBuf::ROOT;
        for _ in 0..1 + self.below(127) {
            // A label that does not fit is left out.
            let _ = name.push(&self.label());
        }
        name
    }

    fn pick(&mut self) -> Pick {
        Pick {
            step: self.below(8),
            first: self.below(64),
            heads: self.below(1 + MAX_HEADS),
            letters: 1 + self.below(26),
        }
    }

    fn plan(&mut self) -> Plan {
        let pool = (0..1 + self.below(40)).map(|_| self.name()).collect();
        let picks = [self.pick(), self.pick(), self.pick()];
        Plan { pool, rtype: self.below(TYPES.len()), picks, question: self.below(64) }
    }

    /// Changes a message a little.
    fn mutate(&mut self, plan: &mut Plan) {
        let at = self.below(plan.pool.len());
        match self.below(10) {
            0 => plan.pool.push(self.name()),
            1 if plan.pool.len() > 1 => drop(plan.pool.swap_remove(at)),
            2 => plan.rtype = self.below(TYPES.len()),
            3 => plan.picks[self.below(3)] = self.pick(),
            4 | 5 => plan.question = self.below(64),
            // Copies of a name, each with another label in one place: they share what is behind it.
            6 => {
                for _ in 0..self.below(64) {
                    plan.pool.push(self.changed(&plan.pool[at]));
                }
            }
            7 => plan.pool[at] = self.changed(&plan.pool[at]),
            8 => plan.pool[at] = self.name(),
            _ => {
                // Another case of the same name, or other bytes of the same length.
                let labels: Vec<Vec<u8>> = labels(&plan.pool[at]);
                let upper = labels.iter().map(|label| match self.below(4) {
                    0 => label.to_ascii_uppercase(),
                    _ => label.clone(),
                });
                plan.pool[at] = from_labels(upper);
            }
        }
        plan.pool.truncate(512);
    }

    fn changed(&mut self, name: &NameBuf) -> NameBuf {
        let mut labels = labels(name);
        let at = self.below(labels.len());
        match labels.get_mut(at) {
            Some(label) => *label = self.label(),
            None => labels.push(self.label()),
        }
        from_labels(labels.into_iter())
    }
}

fn labels(name: &NameBuf) -> Vec<Vec<u8>> {
    name.view().labels().map(<[u8]>::to_vec).collect()
}

fn from_labels(labels: impl Iterator<Item = Vec<u8>>) -> NameBuf {
    let mut name = NameBuf::ROOT;
    for label in labels {
        // A label that does not fit is left out.
        let _ = name.push(&label);
    }
    name
}

/// A message with its names made: the question, and the names of each record, its owner first.
struct Message {
    question: NameBuf,
    rtype: usize,
    records: Vec<[NameBuf; 3]>,
    limit: usize,
}

impl Plan {
    fn message(&self, limit: usize) -> Message {
        let pool = |at: usize| &self.pool[at % self.pool.len()];
        let name = |record: usize, pick: &Pick| {
            let base = pool(pick.first + pick.step * record);
            if pick.heads == 0 {
                return *base;
            }
            let mut bytes = [0; MAX_NAME_LEN];
            for (head, place) in bytes.as_chunks_mut::<2>().0.iter_mut().take(pick.heads).enumerate() {
                let number =
                    if head == 0 { record % pick.letters } else { record / pick.letters / head.pow(3) };
                *place = [1, b'a' + (number % 26) as u8];
            }
            let (start, mut rest) = (2 * pick.heads, base.as_bytes());
            while start + rest.len() > MAX_NAME_LEN {
                rest = &rest[1 + usize::from(rest[0])..];
            }
            bytes[start..start + rest.len()].copy_from_slice(rest);
            Name::parse(&bytes[..start + rest.len()]).map_or(*base, NameBuf::from)
        };
        // A record takes at least 12 bytes, and a name of those that it has two.
        let most = (limit - 12) / (12 + 2 * TYPES[self.rtype].1 + TYPES[self.rtype].2);
        let records = (0..most).map(|record| self.picks.each_ref().map(|pick| name(record, pick))).collect();
        Message { question: *pool(self.question), rtype: self.rtype, records, limit }
    }
}

impl Message {
    /// Leaves out the records that do not fit; `false` if not even the question does.
    fn cut(&mut self, renderer: &mut Renderer) -> bool {
        let bytes = self.render(renderer);
        let [questions, records] =
            [4, 6].map(|at| usize::from(u16::from_be_bytes([bytes[at], bytes[at + 1]])));
        self.records.truncate(records);
        questions == 1
    }

    /// Renders as many of the records as fit.
    fn render<'a>(&self, renderer: &'a mut Renderer) -> &'a [u8] {
        let (rtype, names, bytes) = TYPES[self.rtype];
        let options = Options { limit: self.limit, ..Options::default() };
        let mut message = renderer.start(Header::response(1), options);
        let other = &[0; 20][..bytes];
        let (before, after) = if rtype == RecordType::SOA { (&[][..], other) } else { (other, &[][..]) };
        let mut write = || {
            message.question(self.question.view(), rtype, Class::IN)?;
            for [owner, first, second] in &self.records {
                let data = [first, second].map(|name| Some(name.view()));
                let data = match names {
                    0 => [None; 2],
                    1 => [data[0], None],
                    _ => data,
                };
                message.record(
                    Section::Answer,
                    owner.view(),
                    rtype,
                    Class::IN,
                    60,
                    &Rdata { before, names: data, after },
                )?;
            }
            Ok::<(), hashlane_dns::render::RenderError>(())
        };
        // What does not fit ends the message.
        let _ = write();
        message.finish()
    }

    /// Nanoseconds per byte written: the least of several renderings.
    fn cost(&self, renderer: &mut Renderer, renderings: usize) -> f64 {
        let mut least = f64::INFINITY;
        for _ in 0..renderings {
            let start = Instant::now();
            let bytes = self.render(renderer).len();
            least = least.min(start.elapsed().as_nanos() as f64 / bytes as f64);
        }
        least
    }
}

/// Nanoseconds per byte of the ordinary referral, the least of several renderings.
fn benign(table: &mut SuffixTable, names: &[NameBuf]) -> f64 {
    const PASSES: u32 = 16;
    let (mut least, mut buffer) = (f64::INFINITY, [0; 1024]);
    for _ in 0..8 {
        let (start, mut bytes) = (Instant::now(), 0);
        for _ in 0..PASSES {
            let mut writer = Writer::new(&mut buffer, 0, table, Case::Ignored);
            // The buffer has room for all.
            let _ = writer
                .bytes(&[0; 12])
                .and_then(|()| names.iter().try_for_each(|name| writer.name(name.view())));
            bytes += writer.finish().len();
        }
        least = least.min(start.elapsed().as_nanos() as f64 / bytes as f64);
    }
    least
}

fn main() -> Result<(), Box<dyn Error>> {
    let Some(Arguments { messages, seed, out }) = Arguments::parse(HELP)? else { return Ok(()) };
    let mut draw = Draw::new(seed);
    let key = |number| Key::VECTOR.derive(b"worst-of", number);
    let (mut renderer, mut table) = (Renderer::new(&key(seed)), SuffixTable::new(&key(seed)));
    let names = benign_names();
    let mut ordinary = benign(&mut table, &names);
    let mut kept = Kept::new(&LIMITS, KEPT);
    for number in 0..messages {
        if number % 64 == 0 {
            ordinary = benign(&mut table, &names);
        }
        let size = kept.draw_size(&mut draw);
        let plan = match kept.draw_parent(size, &mut draw) {
            Some(mut plan) => {
                (0..1 + draw.below(3)).for_each(|_| draw.mutate(&mut plan));
                plan
            }
            None => draw.plan(),
        };
        let mut message = plan.message(kept.limit(size));
        if !message.cut(&mut renderer) {
            continue;
        }
        // Twice: first the table may grow.
        let mut cost = message.cost(&mut renderer, 2) / ordinary;
        for _ in 0..2 {
            if cost > kept.least(size) {
                // It may have been interrupted.
                cost = cost.min(message.cost(&mut renderer, 8) / benign(&mut table, &names));
            }
        }
        kept.add(size, cost, plan);
        kept.report(number, messages);
    }
    let mut worst: Option<(f64, &Plan)> = None;
    for (limit, plan) in kept.iter() {
        let mut message = plan.message(limit);
        message.cut(&mut renderer);
        let costs = (0..20).map(|number| {
            let key = key(seed.wrapping_add(1 + number));
            let (mut renderer, mut table) = (Renderer::new(&key), SuffixTable::new(&key));
            message.cost(&mut renderer, 20) / benign(&mut table, &names)
        });
        let mut costs: Vec<f64> = costs.collect();
        costs.sort_by(f64::total_cmp);
        let (median, most) = (costs[costs.len() / 2], costs[costs.len() - 1]);
        if worst.is_none_or(|(cost, _)| median > cost) {
            worst = Some((median, plan));
            let bytes = message.render(&mut renderer);
            println!(
                "{median:.2} × the ordinary answer per byte under the median of 20 keys, {most:.2} × under the worst: \
                 {} bytes, {} names in the pool, {:?} records",
                bytes.len(),
                plan.pool.len(),
                TYPES[plan.rtype].0
            );
            if let Some(out) = &out {
                std::fs::write(out, bytes)?;
            }
        }
    }
    search::judge(worst.map(|(cost, _)| cost))
}
