//! The penalty that Alcatel-Lucent (ALU) found for TLV names, and its parts: the method and the encoding.
//!
//! ALU hashed offset names with separators all in one, and TLV names of 2 + 2 component by component: two
//! methods and two encodings at a time. Here both methods run over both encodings.

use hashlane_lab::definition::Definition;
use hashlane_lab::evidence::{Doubt, Evidence};
use hashlane_lab::report::{Block, Section, Shown, Table, words};
use hashlane_records::{Record, RecordSet};
use hashlane_stats::Interval;
use hashlane_stats::format::{NONE, figure};

use crate::metric;

/// Workloads of ALU's comparison.
const ALU: [&str; 2] = ["12Bx5", "6Bx10"];

const SEPARATED_ALL_IN_ONE: &str = "separated/all-in-one/crc32c";
const SEPARATED_ONE_BY_ONE: &str = "separated/one-by-one/crc32c";
const SEPARATED_EVERY_PREFIX: &str = "separated/all-at-once/longest-first/crc32c";
const TLV_ALL_IN_ONE: &str = "ccnx/all-in-one/crc32c";
const TLV_ONE_BY_ONE: &str = "ccnx/one-by-one/crc32c";

/// The penalty on a workload and its factors, ratios measured pair by pair.
struct Penalty {
    /// TLV names one by one over offset names all in one.
    whole: Interval,
    /// One by one over all in one, offset names.
    method: Interval,
    /// TLV names over offset names, one by one: times the method, the whole.
    encoding: Interval,
    /// The other path to the whole: TLV names over offset names, all in one.
    encoding_first: Interval,
    /// One by one over all in one, TLV names.
    method_last: Interval,
}

impl Penalty {
    fn of(evidence: &Evidence<'_>, workload: &str) -> Result<Self, Doubt> {
        let ratio = |of, to| evidence.ratio(workload, of, to);
        Ok(Self {
            whole: ratio(TLV_ONE_BY_ONE, SEPARATED_ALL_IN_ONE)?,
            method: ratio(SEPARATED_ONE_BY_ONE, SEPARATED_ALL_IN_ONE)?,
            encoding: ratio(TLV_ONE_BY_ONE, SEPARATED_ONE_BY_ONE)?,
            encoding_first: ratio(TLV_ALL_IN_ONE, SEPARATED_ALL_IN_ONE)?,
            method_last: ratio(TLV_ONE_BY_ONE, TLV_ALL_IN_ONE)?,
        })
    }
}

/// The penalty and its parts in a sentence, for the workload or the first of ALU's that allows one.
pub(crate) fn sentence(evidence: &Evidence<'_>, own: Option<&str>) -> Option<String> {
    let workloads = own.map_or(ALU.to_vec(), |own| vec![own]);
    let (workload, Penalty { whole, method, encoding, .. }) =
        workloads.iter().find_map(|w| Some((*w, Penalty::of(evidence, w).ok()?)))?;
    (whole.low > 1.0).then(|| {
        format!(
            "ALU's penalty for TLV names ({workload}) is {:.2} ×: {:.2} × from hashing component by \
             component, {:.2} × from the encoding.",
            whole.value, method.value, encoding.value
        )
    })
}

/// The two methods over the two encodings, a table for each workload.
pub(crate) fn section(definition: &Definition, records: &RecordSet, workloads: &[&str]) -> Option<Section> {
    let evidence = Evidence::new(definition, records);
    let blocks: Vec<Block> = workloads.iter().filter_map(|w| table(definition, records, w)).collect();
    (!blocks.is_empty()).then(|| Section {
        title: "ALU's penalty: the method and the encoding".to_owned(),
        note: "ALU hashed offset names with separators all in one, and TLV names (CCNx 2+2) component by \
               component. All in one is one hash, of the whole name: the cost of a lookup whose longest \
               prefix matches. Ratios are measured pair by pair. The penalty, bottom right, is the method's \
               ratio in the first row times the encoding's in the second column, or the other way round."
            .to_owned(),
        findings: ALU.iter().filter_map(|workload| finding(&evidence, workload)).collect(),
        blocks,
    })
}

fn finding(evidence: &Evidence<'_>, workload: &str) -> Option<String> {
    let Penalty { whole, method, encoding, encoding_first, method_last } =
        Penalty::of(evidence, workload).ok()?;
    let times = |ratio: Interval| words::ratio_with_bounds(ratio);
    let every = evidence.ratio(workload, TLV_ONE_BY_ONE, SEPARATED_EVERY_PREFIX).ok();
    let every = every.map_or(String::new(), |ratio| {
        format!(" If only the first component matches, so that every prefix is hashed: {}.", times(ratio))
    });
    Some(format!(
        "{workload}: TLV names one by one take {} of the time of offset names all in one: method {} times \
         encoding {}, or encoding {} times method {}.{every}",
        times(whole),
        times(method),
        times(encoding),
        times(encoding_first),
        times(method_last),
    ))
}

fn table(definition: &Definition, records: &RecordSet, workload: &str) -> Option<Block> {
    let mean = |scheme: &str| {
        let record = records.metric(&definition.slug, workload, scheme, &definition.metric);
        record.map_or(NONE.to_owned(), |record| words::cycles(record.interval()))
    };
    let ratio = |of: &str, to: &str| {
        let record = records.ratio(&definition.slug, workload, of, to);
        record.map(Record::interval).map_or(NONE.to_owned(), words::ratio_with_bounds)
    };
    let bytes = |encoding: &str| {
        let record = records.metric(&definition.slug, workload, encoding, metric::HASHED_BYTES);
        record.map_or(NONE.to_owned(), |record| figure(record.value))
    };
    records.ratio(&definition.slug, workload, TLV_ONE_BY_ONE, SEPARATED_ALL_IN_ONE)?;
    let row = |cells: [String; 5]| cells.to_vec();
    Some(Block::Table(Table {
        caption: format!("{workload}: cycles per {}", definition.per),
        columns: ["encoding", "bytes", "all in one", "one by one", "method: ratio"]
            .map(str::to_owned)
            .to_vec(),
        left: 1,
        rows: vec![
            row([
                "offset, separators".to_owned(),
                bytes("separated"),
                mean(SEPARATED_ALL_IN_ONE),
                mean(SEPARATED_ONE_BY_ONE),
                ratio(SEPARATED_ONE_BY_ONE, SEPARATED_ALL_IN_ONE),
            ]),
            row([
                "CCNx 2+2 TLV".to_owned(),
                bytes("ccnx"),
                mean(TLV_ALL_IN_ONE),
                mean(TLV_ONE_BY_ONE),
                ratio(TLV_ONE_BY_ONE, TLV_ALL_IN_ONE),
            ]),
            row([
                "encoding: ratio".to_owned(),
                String::new(),
                ratio(TLV_ALL_IN_ONE, SEPARATED_ALL_IN_ONE),
                ratio(TLV_ONE_BY_ONE, SEPARATED_ONE_BY_ONE),
                ratio(TLV_ONE_BY_ONE, SEPARATED_ALL_IN_ONE),
            ]),
        ],
        shown: if ALU.contains(&workload) { Shown::Open } else { Shown::PageOnly },
    }))
}
