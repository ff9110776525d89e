//! The rows of the tables, as figures looked up in the records; a missing record leaves its cell without one.

use crate::metric;
use crate::tables;
use hashlane_lab::definition::Definition;
use hashlane_lab::report::scheme_id;
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;

/// All that was measured of one scheme on one workload.
pub(crate) struct SchemeRow<'a> {
    pub(crate) scheme: &'a str,
    pub(crate) mean: Option<Interval>,
    pub(crate) min_mean: Option<f64>,
    pub(crate) deviation: Option<f64>,
    pub(crate) ratio: Option<Interval>,
}

/// Distances of a scheme with a single walk from the floor and from the instruction's limit, in cycles.
pub(crate) struct FloorRow<'a> {
    pub(crate) scheme: &'a str,
    pub(crate) mean: Interval,
    pub(crate) walk: Option<Interval>,
    pub(crate) limit: Option<f64>,
}

/// Metric of the standard deviation that the study's source states.
pub(crate) fn deviation_metric(definition: &Definition) -> String {
    let table = tables::repeatability(definition).ok().flatten();
    table.map_or(metric::CYCLES_MEAN_SD.to_owned(), |table| table.metric)
}

/// The schemes of the study in its order, as far as they were measured on the workload.
pub(crate) fn schemes<'a>(
    definition: &'a Definition,
    records: &'a RecordSet,
    workload: &'a str,
) -> impl Iterator<Item = SchemeRow<'a>> {
    let deviation = deviation_metric(definition);
    let row = move |scheme: &'a str| {
        let record = |name: &str| records.metric(&definition.slug, workload, scheme, name);
        SchemeRow {
            scheme,
            mean: record(&definition.metric).map(Record::interval),
            min_mean: record(metric::CYCLES_MIN_MEAN).map(|r| r.value),
            deviation: record(&deviation).map(|r| r.value),
            ratio: records
                .ratio(&definition.slug, workload, scheme, &definition.reference)
                .map(Record::interval),
        }
    };
    definition
        .schemes
        .iter()
        .map(move |scheme| row(scheme))
        .filter(|row| row.mean.is_some() || row.min_mean.is_some())
}

/// The schemes of names with a single walk that were measured on the workload.
pub(crate) fn floor<'a>(
    definition: &'a Definition,
    records: &'a RecordSet,
    workload: &'a str,
) -> impl Iterator<Item = FloorRow<'a>> {
    let study = &definition.slug;
    definition.schemes.iter().filter_map(move |scheme| {
        let floors = floors(scheme)?;
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

fn mean(definition: &Definition, records: &RecordSet, workload: &str, scheme: &str) -> Option<Interval> {
    records.metric(&definition.slug, workload, scheme, &definition.metric).map(Record::interval)
}

/// Ids of the hashless walk that is the floor of a scheme with a single walk, the closest first: one pass
/// over a burst has the walk over a burst, if that is measured. `None` for a scheme that walks more than
/// once, or only walks.
fn floors(scheme: &str) -> Option<[String; 2]> {
    let mut parts = scheme.split('/');
    let encoding = parts.next()?;
    let way = parts.next().filter(|way| matches!(*way, "one-pass" | "burst"))?;
    Some([format!("{encoding}/walk/{way}"), format!("{encoding}/walk")])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    #[test]
    fn holds_single_walks_against_the_walk_and_the_instruction() {
        let definition = sample::definition();
        let records = sample::records(&definition, &[]);
        let rows: Vec<_> = floor(&definition, &records, "12Bx5").collect();
        let found: Vec<_> = rows.iter().map(|r| (r.scheme, r.walk.map(|walk| walk.value), r.limit)).collect();
        let expected = [
            ("offset/one-pass/crc32c", None, None),
            ("offset/burst/crc32c", None, None),
            ("ccnx/one-pass/crc32c", None, None),
            ("ccnx/burst/crc32c", None, None),
            ("ndn/one-pass/crc32c", Some(10.5), Some(7.0)),
            ("ndn/burst/crc32c", Some(9.8), Some(7.0)),
            ("offset/burst/siphash-2-4", None, None),
            ("ccnx/burst/siphash-2-4", None, None),
            ("ndn/burst/siphash-2-4", Some(9.8), None),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn lists_the_users_own_workloads_last() {
        let definition = sample::definition();
        let records = sample::records(&definition, &["mine"]);
        assert_eq!(hashlane_lab::report::facts::workloads(&definition, &records), ["12Bx5", "6Bx10", "mine"]);
        assert_eq!(schemes(&definition, &records, "mine").count(), definition.schemes.len());
        assert!(hashlane_lab::report::facts::workloads(&definition, &RecordSet::new()).is_empty());
    }

    #[test]
    fn knows_the_floor_of_a_single_walk() {
        assert_eq!(floors("ndn/burst/crc32c").unwrap(), ["ndn/walk/burst", "ndn/walk"]);
        assert_eq!(floors("ndn/one-pass/crc32c").unwrap(), ["ndn/walk/one-pass", "ndn/walk"]);
        assert_eq!(floors("ndn/one-by-one/crc32c"), None);
        assert_eq!(floors("ndn/walk/burst"), None);
    }
}
