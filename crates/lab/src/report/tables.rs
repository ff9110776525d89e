//! The rows of the tables, as figures looked up in the records; a missing record leaves its cell without one.

use super::scheme_id;
use crate::record::{Record, RecordSet, metric};
use crate::stats::Interval;
use crate::study::definition::Definition;

/// All that was measured of one scheme on one workload.
pub(super) struct SchemeRow<'a> {
    pub(super) scheme: &'a str,
    pub(super) mean: Option<Interval>,
    pub(super) min_mean: Option<f64>,
    pub(super) spread: Option<f64>,
    pub(super) ratio: Option<Interval>,
    pub(super) stream: Option<f64>,
}

/// How far a scheme with a single walk is from the floor and from the instruction's limit, in cycles.
pub(super) struct FloorRow<'a> {
    pub(super) scheme: &'a str,
    pub(super) mean: Interval,
    pub(super) walk: Option<Interval>,
    pub(super) limit: Option<f64>,
}

/// The model whose schemes are an encoding, a way of hashing and a hash.
const NAMES: &str = "names";

/// The workloads in the order of the report: those of the study that were measured, then the user's own.
pub(super) fn workloads<'a>(definition: &'a Definition, records: &'a RecordSet) -> Vec<&'a str> {
    let measured = records.workloads(&definition.slug);
    let named = definition.workloads.iter().map(String::as_str).filter(|w| measured.contains(w));
    let mut all: Vec<&str> = named.collect();
    all.extend(definition.own_workloads(records));
    all.retain(|w| definition.schemes.iter().any(|s| mean(definition, records, w, s).is_some()));
    all
}

/// The unit of the study's metric.
pub(super) fn unit<'a>(definition: &Definition, records: &'a RecordSet) -> &'a str {
    let of = |r: &&Record| r.study == definition.slug && r.metric == definition.metric;
    records.iter().find(of).map_or("cycles", |r| &r.unit)
}

/// The spread that the study's source gives a bound for.
pub(super) fn spread_metric(definition: &Definition) -> &str {
    definition.bound.as_ref().map_or(metric::CYCLES_MEAN_SD, |bound| &bound.metric)
}

/// The schemes of the study in its order, as far as they were measured on the workload.
pub(super) fn schemes<'a>(
    definition: &'a Definition,
    records: &'a RecordSet,
    workload: &'a str,
) -> impl Iterator<Item = SchemeRow<'a>> {
    let row = move |scheme: &'a str| {
        let record = |name| records.metric(&definition.slug, workload, scheme, name);
        SchemeRow {
            scheme,
            mean: record(&definition.metric).map(Record::interval),
            min_mean: record(metric::CYCLES_MIN_MEAN).map(|r| r.value),
            spread: record(spread_metric(definition)).map(|r| r.value),
            ratio: records
                .ratio(&definition.slug, workload, scheme, &definition.reference)
                .map(Record::interval),
            stream: record(metric::CYCLES_STREAM).map(|r| r.value),
        }
    };
    definition
        .schemes
        .iter()
        .map(move |scheme| row(scheme))
        .filter(|row| row.mean.is_some() || row.min_mean.is_some() || row.stream.is_some())
}

/// The schemes of names with a single walk that were measured on the workload.
pub(super) fn floor<'a>(
    definition: &'a Definition,
    records: &'a RecordSet,
    workload: &'a str,
) -> impl Iterator<Item = FloorRow<'a>> {
    let study = &definition.slug;
    definition.schemes.iter().filter_map(move |scheme| {
        let floors = scheme_id::floors(scheme).filter(|_| definition.model == NAMES)?;
        let walk = floors.iter().find_map(|walk| mean(definition, records, workload, walk));
        // A keyed hash has no CRC to compute.
        let limit = [scheme.as_str(), scheme_id::head(scheme)]
            .iter()
            .filter(|_| scheme_id::last(scheme).starts_with("crc32c"))
            .find_map(|about| records.metric(study, workload, about, metric::CRC_WORDS_LIMIT));
        Some(FloorRow {
            scheme,
            mean: mean(definition, records, workload, scheme)?,
            walk,
            limit: limit.map(|record| record.value),
        })
    })
}

/// On one workload, the largest effects of the encoding and of the way of hashing: a scheme and the ratio of
/// its time to the reference's, as it was measured pair by pair.
pub(super) struct Sway<'a> {
    /// Another encoding, hashed in the reference's way.
    pub(super) encodings: (&'a str, Interval),
    /// Another way of hashing the reference's encoding.
    pub(super) ways: (&'a str, Interval),
}

/// Compares the schemes that end in the same hash as the reference, so that the hash decides nothing; `None`
/// unless ratios of another encoding and of another way were measured.
pub(super) fn sway<'a>(definition: &'a Definition, records: &RecordSet, workload: &str) -> Option<Sway<'a>> {
    if definition.model != NAMES {
        return None;
    }
    let reference = definition.reference.as_str();
    let ratio = |scheme: &'a String| {
        let record = records.ratio(&definition.slug, workload, scheme, reference)?;
        Some((scheme.as_str(), record.interval())).filter(|(_, ratio)| ratio.value > 0.0)
    };
    let largest = |part: fn(&str) -> &str| {
        let alike = |scheme: &&String| {
            scheme_id::last(scheme) == scheme_id::last(reference) && part(scheme) == part(reference)
        };
        let effect = |ratio: Interval| ratio.value.ln().abs();
        let ratios = definition.schemes.iter().filter(alike).filter_map(ratio);
        ratios.max_by(|a, b| effect(a.1).total_cmp(&effect(b.1)))
    };
    Some(Sway { encodings: largest(scheme_id::tail)?, ways: largest(scheme_id::head)? })
}

fn mean(definition: &Definition, records: &RecordSet, workload: &str, scheme: &str) -> Option<Interval> {
    records.metric(&definition.slug, workload, scheme, &definition.metric).map(Record::interval)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn holds_single_walks_against_the_walk_and_the_instruction() {
        let definition = sample::definition();
        let records = sample::records(&definition, &[]);
        let rows: Vec<_> = floor(&definition, &records, "12Bx5").collect();
        let found: Vec<_> = rows.iter().map(|r| (r.scheme, r.walk.map(|walk| walk.value), r.limit)).collect();
        let expected = [
            ("ccnx/one-pass/crc32c", None, None),
            ("ccnx/burst/crc32c", None, None),
            ("ndn/one-pass/crc32c", Some(10.5), Some(7.0)),
            ("ndn/burst/crc32c", Some(9.8), Some(7.0)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn takes_the_largest_effects_from_ratios_measured_in_pairs() {
        let definition = sample::definition();
        let records = sample::records(&definition, &[]);
        let found = sway(&definition, &records, "6Bx10").unwrap();
        let (encoding, ratio) = found.encodings;
        let measured = records.ratio("sample", "6Bx10", encoding, &definition.reference).unwrap();
        assert_eq!((encoding, ratio), ("ccnx/one-by-one/crc32c", measured.interval()));
        assert!(ratio.low < ratio.value && ratio.value < ratio.high);
        assert_eq!(found.ways.0, "ndn/burst/crc32c");
        // Means alone, which were not measured in pairs, have no ratio.
        let mut unpaired = RecordSet::new();
        for record in records.iter().filter(|record| record.metric != metric::RATIO) {
            unpaired.insert(record.clone()).unwrap();
        }
        assert!(sway(&definition, &unpaired, "6Bx10").is_none());
    }

    #[test]
    fn lists_the_users_own_workloads_last() {
        let definition = sample::definition();
        let records = sample::records(&definition, &["mine"]);
        assert_eq!(workloads(&definition, &records), ["12Bx5", "6Bx10", "mine"]);
        assert_eq!(schemes(&definition, &records, "mine").count(), definition.schemes.len());
        assert!(workloads(&definition, &RecordSet::new()).is_empty());
    }
}
