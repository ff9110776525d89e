//! Run of a study of how tuple hashes spread tuples over buckets.

use crate::capture::Capture;
use crate::hashes;
use crate::spread::buckets::{Spread, bin_records, bins};
use crate::spread::queues::Busiest;
use crate::spread::{BUSIEST, RSS};
use crate::tables::{self, Spread as Asked};
use crate::tuples::TupleSet;
use crate::workload::{generate, set};
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_lab::study::{Fact, RunError, Session};
use hashlane_stats::Interval;

/// Tuples of the source's test.
const SOURCE_TUPLES: usize = 1 << 20;

/// Sets and schemes to measure, looked up before anything takes time.
pub(crate) struct Plan {
    asked: Option<Asked>,
    sets: Vec<TupleSet>,
}

impl Plan {
    /// The sets and hashes that the study names.
    pub(crate) fn new(session: &Session<'_>) -> Result<Self, RunError> {
        let asked = tables::spread(session.definition)?;
        let ids = asked.as_ref().map_or(&[][..], |asked| &asked.sets);
        for id in asked.iter().flat_map(|asked| &asked.schemes) {
            if hashes::tuple_hash(id).is_none() {
                return Err(RunError::UnknownScheme { id: id.clone(), help: hashes::tuples_help() });
            }
        }
        let sets = ids.iter().map(|id| set(id)).collect::<Result<_, _>>()?;
        Ok(Self { asked, sets })
    }

    /// Steps of the run's progress.
    pub(crate) fn steps(&self, session: &Session<'_>) -> usize {
        let own = usize::from(self.asked.is_some() && session.own::<Capture>().is_some());
        own + if generates(session) { self.sets.len() } else { 0 }
    }

    /// Distributes every set under every hash, and compares the bins with the source's.
    pub(crate) fn run(&self, session: &mut Session<'_>) -> Result<(), RunError> {
        let Some(asked) = &self.asked else { return Ok(()) };
        if let Some((label, capture)) = session.own::<Capture>() {
            let workload = format!("spread/{label}");
            session.step(&workload, "spreading");
            for id in &asked.schemes {
                self.one(session, asked, &workload, id, &capture.tuples, false)?;
            }
            queues(session, &workload, capture);
        }
        if !generates(session) {
            return Ok(());
        }
        let count = if session.settings.full { asked.tuples.full } else { asked.tuples.quick };
        for set in &self.sets {
            if session.stopped() {
                return Ok(());
            }
            let workload = format!("spread/{set}");
            session.step(&workload, "spreading");
            let of_source = *set == TupleSet::Seed;
            let tuples = generate(*set, if of_source { SOURCE_TUPLES } else { count as usize }, session)?;
            for id in &asked.schemes {
                self.one(session, asked, &workload, id, &tuples, of_source)?;
            }
        }
        Ok(())
    }

    fn one(
        &self,
        session: &mut Session<'_>,
        asked: &Asked,
        workload: &str,
        id: &str,
        tuples: &[Tuple],
        of_source: bool,
    ) -> Result<(), RunError> {
        let key = &Key::new(session.settings.key);
        let Some(hash) = hashes::tuple_hash(id) else { return Ok(()) };
        let hashes = (hash.hash)(key, tuples);
        let study = &session.definition.slug;
        let mut records = Spread::of(hash.info.width, &hashes).records(study, workload, id);
        if of_source {
            // Under the source's own secrets where the hash is the source's.
            let found = bins(&hashes::hashes_of_source(id, tuples).unwrap_or(hashes));
            if let Some(expected) = asked.bins.iter().find(|bins| bins.scheme == id)
                && expected.bins != found
            {
                let what = format!("bins {found:?} of {id}, expected {:?}", expected.bins);
                return Err(RunError::Expectation { workload: workload.into(), what });
            }
            records.extend(bin_records(study, workload, id, &found));
        }
        for record in records {
            // One for each set, hash and fact.
            let _ = session.records.insert(record);
        }
        Ok(())
    }
}

/// Tests if the sets of the study are measured: they are no workloads that a selection could name.
fn generates(session: &Session<'_>) -> bool {
    session.measures_generated() && !session.definition.is_selection()
}

/// Spread of the packets of a capture over receive queues.
fn queues(session: &mut Session<'_>, workload: &str, capture: &Capture) {
    let busiest = Busiest::of(capture, session.settings.seed);
    let fact = |interval| Fact { interval, samples: capture.packets.len() as u64, outliers: 0, launches: 0 };
    let [found, by_chance] = BUSIEST;
    session.add("spread", workload, RSS, "spread", found, "means", fact(Interval::exact(busiest.found)));
    session.add("spread", workload, RSS, "spread", by_chance, "means", fact(busiest.by_chance));
}
