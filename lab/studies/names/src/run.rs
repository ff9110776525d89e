//! Names: every method of hashing their prefixes, block by block in alternation.

use crate::blocks::{BLOCK, Blocks, Part};
use crate::counts::{checksum, figures};
use crate::in_c::{self, Source};
use crate::metric;
use crate::model::Empty;
use crate::packed::{COMPARED, ENCODINGS, Names};
use crate::schemes;
use crate::shape::Shape;
use crate::tables::{Checksum, Expect, expects};
use crate::tally::{Reads, Tallies};
use crate::timed::TimedMethod;
use hashlane_baseline::separated::Separated;
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::subject;
use hashlane_lab::memory;
use hashlane_lab::report::scheme_id;
use hashlane_lab::study::{Fact, RunError, Session, Settings};
use hashlane_name::ndn::Ndn;
use std::collections::BTreeMap;

/// Steps of the counter that a sample should span, if a block has enough names: one step is then 1 % of the
/// sample.
const STEPS: u64 = 100;

/// Most bytes of a generated name in one encoding, on average; and each scheme keeps a count for each name.
const ENCODED: usize = 160;

/// Share of a figure above which one step of the counter is reported.
const COARSE: f64 = 0.02;

/// Measures a study of names.
pub(crate) fn run(session: &mut Session<'_>) -> Result<(), RunError> {
    let Session { definition, settings, .. } = *session;
    let key = Key::new(settings.key);
    let expects = expects(definition)?;
    // All names are looked up before anything takes time.
    entries(definition.measured_schemes(), &key, None)?;
    let shapes = definition
        .workloads
        .iter()
        .filter(|_| session.measures_generated())
        .map(|id| {
            let shape = id.parse::<Shape>().map_err(|error| RunError::UnknownWorkload(error.to_string()))?;
            Ok((id.as_str(), shape))
        })
        .collect::<Result<Vec<_>, RunError>>()?;

    let names = settings.size.items as usize * usize::from(session.measures_generated());
    let needed = names * (ENCODINGS.len() * ENCODED + size_of::<u32>() * definition.measured_schemes().len());
    memory::check(&definition.slug, needed as u64, "measure without --full, or fewer schemes (--scheme)")
        .map_err(|error| RunError::Other(Box::new(error)))?;

    // Steps of a workload: the check, and each repetition.
    let steps = settings.size.repetitions as usize + 1;
    let own = session.own::<Names>();
    session.total = own.map_or(0, |_| steps) + (steps + 1) * shapes.len();
    let source = start_source(session);
    let source = source.as_ref();
    let mut run = Run { expects, settings, session, source };
    if let Some((label, names)) = own {
        run.session.notes.extend(few(label, names));
        run.workload(label, names, &mut entries(definition.schemes_on(label), &key, source)?)?;
    }
    for (label, shape) in shapes {
        if run.session.stopped() {
            break;
        }
        run.session.step(label, "generating names");
        // Each workload has a different seed, so that none is a prefix of another.
        let seed = settings.seed.wrapping_add(definition.position(label) as u64);
        let names = shape
            .generate(settings.size.items as usize, seed)
            .map_err(|error| RunError::Generate(label.into(), error.to_string()))?;
        run.check(label, &names)?;
        run.session.notes.extend(few(label, &names));
        run.workload(label, &names, &mut entries(definition.schemes_on(label), &key, source)?)?;
    }
    Ok(())
}

/// The timed methods of schemes, an A/A control as a separate one. Schemes of the source's program are left
/// out where it does not run.
fn entries(ids: &[String], key: &Key, source: Option<&Source>) -> Result<Vec<Entry>, RunError> {
    let mut entries = Vec::with_capacity(ids.len());
    for id in ids {
        if in_c::is_in_c(id) {
            let method = source.and_then(|source| source.method(id));
            entries.extend(method.map(|method| (id.clone(), TimedMethod::InC(method))));
            continue;
        }
        match schemes::names(subject(id), key) {
            Some(method) => entries.push((id.clone(), method)),
            None => return Err(RunError::UnknownScheme { id: id.clone(), help: schemes::names_help() }),
        }
    }
    Ok(entries)
}

/// The source's program, if the study measures it and it runs here; a note says which compiler made it, or
/// why it was not measured.
fn start_source(session: &mut Session<'_>) -> Option<Source> {
    if !session.definition.measured_schemes().iter().any(|id| in_c::is_in_c(id)) {
        return None;
    }
    match Source::start() {
        Ok(source) => {
            let (hash, flags) = (in_c::HASH, in_c::FLAGS.join(" "));
            session
                .notes
                .push(format!("{hash}: the source's algorithm in C, {flags}, by {}", source.compiler));
            Some(source)
        }
        Err(why) => {
            session.notes.push(format!("{}: not measured: {why}", in_c::HASH));
            None
        }
    }
}

/// A warning where a workload is so small that the branch predictors may learn it.
fn few(label: &str, names: &Names) -> Option<String> {
    const ENOUGH: usize = 8192;
    (names.len() < ENOUGH).then(|| {
        format!(
            "{label}: only {} names; the branch predictor may learn so few, and figures of branching \
             schemes are then too low (use {ENOUGH} names or more)",
            names.len()
        )
    })
}

/// One scheme and its timed method.
type Entry = (String, TimedMethod);

struct Run<'a, 's> {
    expects: Vec<Expect>,
    settings: &'a Settings<'a>,
    session: &'a mut Session<'s>,
    source: Option<&'a Source>,
}

impl Run<'_, '_> {
    /// Compares a generated workload with the study's expectations.
    fn check(&self, label: &str, names: &Names) -> Result<(), RunError> {
        let expects = self.expects.iter().filter(|expect| expect.workload == label);
        for expect in expects.filter(|expect| expect.names as usize <= names.len()) {
            let first = expect.names as usize;
            let wrong = |what: String| RunError::Expectation { workload: label.into(), what };
            let found = figures::<Ndn>(&names.ndn, first).components;
            if found != expect.components {
                return Err(wrong(format!("{found} components, expected {}", expect.components)));
            }
            if let Some(encoding) = expect.checksum.keys().find(|id| !ENCODINGS.contains(&id.as_str())) {
                return Err(wrong(format!("a checksum of the unknown encoding {encoding:?}")));
            }
            for encoding in ENCODINGS {
                let Some(Checksum(expected)) = expect.checksum.get(*encoding) else { continue };
                let found = checksum(encoding, names, first);
                if found != *expected {
                    return Err(wrong(format!("checksum {found:#x} of {encoding}, expected {expected:#x}")));
                }
            }
        }
        Ok(())
    }

    /// Measures all methods over one workload and records the results.
    fn workload(&mut self, label: &str, names: &Names, methods: &mut [Entry]) -> Result<(), RunError> {
        self.session.step(label, "checking that all methods give the same hashes");
        if let Some(source) = self.source {
            source.load(names);
        }
        agree(label, names, methods)?;
        let reads = self.reads(names, methods);
        let mut tallies = Tallies::new(names.len(), BLOCK, &reads);
        for repetition in 0..self.settings.size.repetitions as usize {
            self.session.step(label, "timing");
            if !self.repetition(names, methods, repetition, &mut tallies) {
                break;
            }
            tallies.end_repetition();
        }
        // A single repetition has no spread.
        if tallies.repetitions() >= 2 {
            self.record(label, names, methods, &tallies);
        }
        Ok(())
    }

    /// Way of reading the counter around each method: as few units of work between two reads as span
    /// [`STEPS`] of its steps in addition to the probe's own cost.
    fn reads(&self, names: &Names, methods: &mut [Entry]) -> Vec<Reads> {
        let step = self.session.rates.step;
        let blocks = Blocks::new(names, 0);
        // The names before the first block, so that none is shown to a method out of turn.
        let typical = |method: &mut TimedMethod, encoding: &str| {
            let mut samples = Vec::new();
            method.each(&blocks.of(encoding).warm_twice(), 1, &mut samples);
            samples.sort_unstable();
            u64::from(samples.get(samples.len() / 2).copied().unwrap_or_default())
        };
        let probe = typical(&mut TimedMethod::here(Empty), "ndn");
        let of = |(id, method): &mut Entry| {
            let count = typical(method, encoding_of(id)).saturating_sub(probe);
            Reads { in_c: in_c::is_in_c(id), units: units_of(step, count, BLOCK / method.unit()) }
        };
        methods.iter_mut().map(of).collect()
    }

    /// Times every method on every block; `false` if the run was stopped.
    fn repetition(
        &self,
        names: &Names,
        methods: &mut [Entry],
        repetition: usize,
        tallies: &mut Tallies,
    ) -> bool {
        let mut samples = Vec::with_capacity(BLOCK);
        let source = self.source;
        // First every unit by itself, then block by block in one stretch: between a block's two visits lie
        // all others.
        for stream in [false, true] {
            for (number, first) in (0..names.len()).step_by(BLOCK).enumerate() {
                if self.session.stopped() {
                    return false;
                }
                let blocks = Blocks::new(names, first);
                let far = Blocks::new(names, far_from(first, names.len()));
                if !stream {
                    let block = blocks.of("ndn");
                    for (Reads { in_c, units }, tally) in &mut tallies.empty {
                        samples.clear();
                        match source.filter(|_| *in_c) {
                            Some(source) => source.empty().each(block, *units, &mut samples),
                            None => TimedMethod::here(Empty).each(block, *units, &mut samples),
                        }
                        tally.add(number, block.names.names.len(), &samples);
                    }
                }
                // The order is turned from block to block, so that no scheme always follows the same other
                // one.
                let turn = number + repetition;
                for at in 0..methods.len() {
                    let at = (at + turn) % methods.len();
                    let (id, method) = &mut methods[at];
                    let blocks = if self.session.definition.is_control(id) { &far } else { &blocks };
                    let block = blocks.of(encoding_of(id));
                    let tally = &mut tallies.methods[at];
                    let units = tally.reads.units;
                    if stream {
                        tally.add_stream(method.stream(block, units));
                    } else {
                        samples.clear();
                        method.each(block, units, &mut samples);
                        tally.add(number, block.names.names.len(), &samples);
                    }
                }
            }
        }
        true
    }

    fn record(&mut self, label: &str, names: &Names, methods: &[Entry], tallies: &Tallies) {
        let rates = self.session.rates;
        let place = |id: &str| methods.iter().position(|(other, _)| other == id);
        let ids: Vec<String> = methods.iter().map(|(id, _)| id.clone()).collect();
        let failures: Vec<Option<String>> = methods.iter().map(|(_, method)| method.failure()).collect();
        if let Some((id, why)) = ids.iter().zip(&failures).find_map(|(id, why)| Some((id, why.as_ref()?))) {
            self.session.notes.push(format!("{label}: {id} and those like it were not measured: {why}"));
        }
        let measured = |at: usize| failures.get(at).is_some_and(Option::is_none);
        self.session.add_ratios("names", label, "cycles", &ids, |of, to| {
            if measured(of) && measured(to) { tallies.ratio(of, to) } else { None }
        });
        let mut add = |scheme: &str, probe: &str, metric: &str, unit: &str, fact: Fact| {
            self.session.add("names", label, scheme, probe, metric, unit, fact);
        };
        let mut coarse = Vec::new();
        for (at, ((id, method), tally)) in methods.iter().zip(&tallies.methods).enumerate() {
            if !measured(at) {
                continue;
            }
            let Some(empty) = tallies.empty(tally) else { continue };
            let least = tally.min_mean(empty);
            coarse.push((id.as_str(), rates.step as f64 * tally.samples(), least.interval.value));
            let timed_at_once = Fact::exact((tally.reads.units * method.unit()) as f64, names.len());
            add(id, "cycles", metric::CYCLES_MEAN, "cycles", tally.mean(empty));
            add(id, "cycles", metric::CYCLES_MIN_MEAN, "cycles", least);
            add(id, "cycles", metric::CYCLES_MEAN_SD, "cycles", tally.mean_deviation());
            add(id, "stream", metric::CYCLES_STREAM, "cycles", tally.stream());
            add(id, "count", metric::NAMES_PER_READING, "names", timed_at_once);
        }
        for method in without_encodings(methods.iter().map(|(id, _)| id.as_str())) {
            let places = COMPARED
                .iter()
                .map(|encoding| place(&format!("{encoding}/{method}")).filter(|at| measured(*at)));
            let places: Option<Vec<usize>> = places.collect();
            if let Some(ratio) = places.and_then(|places| tallies.slowest_to_fastest(&places)) {
                add(method, "cycles", metric::SLOWEST_TO_FASTEST, "ratio", ratio);
            }
        }
        for (Reads { in_c, units }, tally) in &tallies.empty {
            let probe = if *in_c { metric::EMPTY_IN_C } else { metric::EMPTY };
            let probe = format!("{probe}/{units}");
            add(&probe, "cycles", metric::OVERHEAD_MEAN, "cycles", tally.cost());
            add(&probe, "cycles", metric::OVERHEAD_MIN, "cycles", tally.least_cost());
        }
        macro_rules! all_figures {
            ($($id:ident: $encoding:ty),* $(,)?) => { [$(figures::<$encoding>(&names.$id, names.len())),*] };
        }
        for figures in hashlane_name::for_each_encoding!(all_figures, separated: Separated) {
            let encoding = figures.encoding;
            let a_name = |total: u64| Fact::exact(total as f64 / names.len() as f64, names.len());
            add(encoding, "count", "octets", "octets", a_name(figures.bytes));
            add(encoding, "count", "components", "components", a_name(figures.components));
            add(encoding, "count", metric::HASHED_BYTES, "bytes", a_name(figures.hashed));
            add(encoding, "count", "crc_words", "words", a_name(figures.words));
            let mut limit = a_name(figures.words);
            limit.scale(1.0 / rates.core_cycles_a_count());
            add(encoding, "count", metric::CRC_WORDS_LIMIT, "cycles", limit);
        }
        self.session.notes.extend(too_coarse(label, rates.step, &coarse));
    }
}

/// Units of work that span [`STEPS`] steps of the counter, if one takes `count` counts: a power of two, at
/// most `most`.
fn units_of(step: u64, count: u64, most: usize) -> usize {
    let units = STEPS.saturating_mul(step).div_ceil(count.max(1)).min(most as u64);
    // At most `most`, which fits.
    (units as usize).next_power_of_two().min(most)
}

/// Warning if one step of the counter, per name, is a large share of figures: the ids, the step and the
/// figure of each.
fn too_coarse(label: &str, step: u64, figures: &[(&str, f64, f64)]) -> Option<String> {
    let share =
        |&(id, step, figure): &(&'_ str, f64, f64)| (id.to_owned(), step / figure.max(f64::MIN_POSITIVE));
    let coarse: Vec<(String, f64)> = figures.iter().map(share).filter(|(_, share)| *share > COARSE).collect();
    let (worst, share) = coarse.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    Some(format!(
        "{label}: the counter advances in steps of {step}; one step is more than {:.0} % of {} for {} of {} \
         schemes, up to {:.0} % ({worst}): compare their means, not their minima",
        100.0 * COARSE,
        metric::CYCLES_MIN_MEAN,
        coarse.len(),
        figures.len(),
        100.0 * share.min(1.0),
    ))
}

/// The encoding in a scheme's id.
fn encoding_of(id: &str) -> &str {
    id.split('/').next().unwrap_or_default()
}

/// Start of the block half a repetition away from the one at `first`. The A/A control takes it: the control
/// and its scheme run the same code, and the branch predictors would learn the names from one for the other.
fn far_from(first: usize, names: usize) -> usize {
    let blocks = names.div_ceil(BLOCK).max(1);
    (first / BLOCK + blocks / 2) % blocks * BLOCK
}

/// The methods of schemes, each with its hash and each once: their ids without the encoding.
fn without_encodings<'a>(ids: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut methods = Vec::new();
    for method in ids.map(scheme_id::tail) {
        if !methods.contains(&method) {
            methods.push(method);
        }
    }
    methods
}

/// Checks that all methods of one hash over one encoding yield the same hashes.
fn agree(label: &str, names: &Names, methods: &mut [Entry]) -> Result<(), RunError> {
    let first = names.len().min(4096);
    let mut seen: BTreeMap<(String, String, &str), (String, u64)> = BTreeMap::new();
    for (id, timed) in methods {
        let (encoding, hash) = (encoding_of(id), subject(id).rsplit('/').next().unwrap_or_default());
        // Masked, a component ends with zeros: the hashed bytes depend on the component boundaries, and so on
        // the way of hashing.
        let (Some(packed), false) = (names.packed(encoding), hash == "crc32c-masked") else { continue };
        let hash = match hash {
            "crc32c-shifted" | in_c::HASH => "crc32c",
            "burst" if id.contains("/walk/") => "walk",
            hash => hash,
        };
        // A sum of the hashes of whole names, not of all prefixes.
        let hashed = if id.contains("/all-in-one/") { "names" } else { "prefixes" };
        let digest = timed.digest(&Part::new(packed, 0..first));
        if timed.failure().is_some() {
            continue;
        }
        let (other, expected) =
            seen.entry((encoding.into(), hash.into(), hashed)).or_insert_with(|| (id.clone(), digest));
        if *expected != digest {
            let schemes = (other.clone(), id.clone());
            return Err(RunError::Disagree { workload: label.into(), schemes });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_spans_a_hundred_steps_as_far_as_a_block_has_names() {
        // Counts of a unit, and the units that are timed at once.
        for (step, count, most, units) in [
            (1, 104, 256, 1),
            (1, 52, 256, 2),
            (26, 340, 256, 8),
            (26, 52, 256, 64),
            (26, 360, 8, 8),
            (26, 3000, 8, 1),
            (26, 0, 256, 256),
            (u64::MAX, 1, 256, 256),
        ] {
            assert_eq!(units_of(step, count, most), units, "steps of {step}, units of {count}");
        }
    }

    #[test]
    fn the_control_takes_each_block_once_and_never_that_of_its_scheme() {
        for names in [0, 1, 256, 257, 700, 4096] {
            let blocks: Vec<usize> = (0..names).step_by(BLOCK).collect();
            let mut far: Vec<usize> = blocks.iter().map(|first| far_from(*first, names)).collect();
            assert!(blocks.len() < 2 || blocks.iter().zip(&far).all(|(first, far)| first != far));
            far.sort_unstable();
            assert_eq!(far, blocks, "{names}");
        }
    }

    #[test]
    fn warns_once_of_figures_that_are_few_steps() {
        let figures = [("ndn/one-by-one/crc32c", 26.0 / 8.0, 340.0), ("ndn/walk/burst", 26.0 / 256.0, 10.4)];
        assert_eq!(too_coarse("12Bx5", 26, &figures), None);
        let coarse = [figures[0], ("ndn/walk", 26.0, 13.0), ("ndn/walk/burst", 26.0 / 32.0, 10.4)];
        assert_eq!(
            too_coarse("12Bx5", 26, &coarse).unwrap(),
            "12Bx5: the counter advances in steps of 26; one step is more than 2 % of cycles_min_mean for 2 \
             of 3 schemes, up to 100 % (ndn/walk): compare their means, not their minima"
        );
        let one = [("ndn/walk/burst", 0.26, 10.4)];
        assert!(
            too_coarse("12Bx5", 26, &one).unwrap().contains("for 1 of 1 schemes, up to 2 % (ndn/walk/burst)")
        );
        assert!(too_coarse("12Bx5", 26, &[("ndn/walk", 1.0, -3.0)]).is_some());
    }
}
