//! The study file: a study as data.

use core::fmt;
use std::collections::{BTreeMap, HashSet};

use serde::Deserialize;

pub use super::braces::BraceError;
use super::file::{Checker, File};

/// A study: the question, what is measured for it, and what the result is held against.
///
/// Every list of schemes in the file may use braces: `{offset,ccnx}/walk` stands for `offset/walk` and `ccnx/walk`. They are
/// expanded here.
#[derive(Clone, Debug, PartialEq)]
pub struct Definition {
    /// The name on the command line and in records: lower-case letters, digits and hyphens, 1 to 64 of them.
    pub slug: String,
    /// What is timed, one of the lab's models, such as `names`.
    pub model: String,
    /// The heading of the report.
    pub title: String,
    /// The question that the study answers.
    pub question: String,
    /// Where the question and the claims come from.
    pub source: String,
    /// The ids of the workloads, each once, in the order of the report.
    pub workloads: Vec<String>,
    /// The ids of the schemes, each once, in the order of the report.
    pub schemes: Vec<String>,
    /// The scheme to which every other one's time is given as a ratio.
    pub reference: String,
    /// Ratios to measure besides those to the reference and those of targets and claims: the time of the
    /// first scheme over that of the second.
    pub pairs: Vec<(String, String)>,
    /// The metric of charts and tables; `cycles_mean` where the file names none.
    pub metric: String,
    /// What a figure is for, one word such as `tuple` or `find`; `name` where the file has none.
    pub per: String,
    /// How much is measured.
    pub size: Sizes,
    /// The largest spread that the source states for its own figures.
    pub bound: Option<Bound>,
    /// What the project holds itself to.
    pub targets: Vec<Target>,
    /// The same of figures, of their differences, and of ratios between workloads.
    pub limits: Vec<Limit>,
    /// What the source says, as rules on ratios.
    pub claims: Vec<Claim>,
    /// The bar charts of the report, at most 64.
    pub charts: Vec<Chart>,
    /// The answers that the schemes must give, whatever their speed.
    pub expects: Vec<Expect>,
    /// The octets that schemes must render, whatever their speed, for studies of renderers.
    pub octets: Vec<Octets>,
    /// Workloads on which only some of the schemes are measured.
    pub only: Vec<Only>,
    /// How tuples spread over buckets, for studies of their hashes.
    pub spread: Option<Spread>,
    /// What a simulator says of the schemes' machine code, for studies of hashes of tuples.
    pub mca: Option<Mca>,
}

/// The two sizes of a study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// For a first answer, in about a minute.
    pub quick: Size,
    /// The source's own size.
    pub full: Size,
}

/// How much is measured of each workload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Items of work in a repetition, such as names hashed or flows looked up; of a study of forwarders, milliseconds for which each is
    /// under load: 1 to 10,000,000.
    pub items: u32,
    /// Passes over all the items, 2 to 1,000. Bounds at 95 %, and so verdicts, take 6 or more.
    pub repetitions: u32,
}

/// The spread that the source states for its figures.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bound {
    /// The metric that is held beside it.
    pub metric: String,
    /// In the metric's unit, above 0.
    pub value: f64,
    /// The source's words.
    pub words: String,
}

/// A ratio to stay at or below.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Target {
    /// The scheme whose time is divided.
    pub of: String,
    /// The scheme whose time it is divided by.
    pub to: String,
    /// The workload.
    pub workload: String,
    /// The largest ratio that meets the target, above 0.
    pub at_most: f64,
}

/// A figure to stay at or below, for what no ratio of two schemes on one workload says.
#[derive(Clone, Debug, PartialEq)]
pub struct Limit {
    /// The scheme.
    pub of: String,
    /// The workload.
    pub workload: String,
    /// What its figure, in the study's metric, is held against.
    pub against: Against,
    /// The largest figure that keeps the limit, above 0.
    pub at_most: f64,
}

/// What a figure with a limit is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// Nothing: the figure itself is limited.
    Nothing,
    /// The figure of another scheme on the same workload: what is more than that is limited.
    Scheme(String),
    /// The same scheme's figure on another workload: the ratio to that is limited.
    Workload(String),
}

/// Something that the source says, as a rule on ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct Claim {
    /// Its name in tables.
    pub id: String,
    /// The source's words.
    pub words: String,
    /// What the words say of a ratio.
    pub rule: Rule,
    /// How far from 1 a ratio may be and still fit the words, above 0 and below 1.
    pub tolerance: f64,
    /// The workloads that the words are about.
    pub workloads: Vec<String>,
    /// The ratios that the words are about: the time of the first over the time of the second.
    pub pairs: Vec<(String, String)>,
}

/// What a claim says of a ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Rule {
    /// At or below 1 + tolerance.
    NoMore,
    /// Above 1, at or below 1 + tolerance.
    LittleMore,
    /// Between 1 − tolerance and 1 + tolerance.
    Alike,
}

/// A bar chart, drawn once for each workload.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// The heading.
    pub title: String,
    /// What a reader must know to read it; may be empty.
    pub note: String,
    /// The bars.
    pub schemes: Vec<String>,
}

/// The answers over the first names of a workload under the run's standard seed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expect {
    /// The workload.
    pub workload: String,
    /// How many names, from the first: 1 to 10,000,000.
    pub names: u32,
    /// The total count of components in those names.
    pub components: u64,
    /// The checksum over all prefix hashes, by the encoding's id.
    pub checksum: BTreeMap<String, Checksum>,
}

/// How many octets a message must have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Octets {
    /// The workload.
    pub workload: String,
    /// The schemes that render it so, where they are measured.
    pub schemes: Vec<String>,
    /// The octets of all of the workload's messages, headers included.
    pub octets: u32,
}

/// The schemes that are measured on a workload, where not all are.
#[derive(Clone, Debug, PartialEq)]
pub struct Only {
    /// The workload.
    pub workload: String,
    /// The schemes.
    pub schemes: Vec<String>,
}

/// Which tuples are thrown into buckets by which hashes.
#[derive(Clone, Debug, PartialEq)]
pub struct Spread {
    /// The sets of tuples.
    pub sets: Vec<String>,
    /// The hashes, without the manner of calling them.
    pub schemes: Vec<String>,
    /// Tuples of a set in either size, 1 to 10,000,000.
    pub tuples: Counts,
    /// The source's bins, which must come out again.
    pub bins: Vec<Bins>,
}

/// A count for each size of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// For a first answer.
    pub quick: u32,
    /// The source's own.
    pub full: u32,
}

/// How many of the source's tuples a hash throws into each tenth of 65,535 slots.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bins {
    /// The hash.
    pub scheme: String,
    /// The counts.
    pub bins: [u32; 10],
}

/// Whose machine code is simulated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mca {
    /// The hashes; all others are compared with the first.
    pub schemes: Vec<String>,
}

/// A checksum, `0x…` in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Checksum(#[serde(deserialize_with = "crate::hex::deserialize")] pub u64);

/// The rule that a study file breaks; `origin` is the file (or where else the text came from), `field` the place in it, such
/// as `claim[1].pairs[0]`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum DefinitionError {
    /// The text is longer than 1 MiB.
    TooLong {
        /// Where the text came from.
        origin: String,
    },
    /// The text is not TOML, lacks a field, or has one that no study has.
    Toml {
        /// Where the text came from.
        origin: String,
        /// The parser's words, with the line.
        message: String,
    },
    /// A field has a value outside its range.
    OutOfRange {
        /// Where the text came from.
        origin: String,
        /// The field.
        field: String,
        /// What the field takes.
        takes: &'static str,
    },
    /// A list names the same thing twice.
    Duplicate {
        /// Where the text came from.
        origin: String,
        /// The field.
        field: String,
        /// What is there twice.
        id: String,
    },
    /// Braces in a scheme do not expand.
    Braces {
        /// Where the text came from.
        origin: String,
        /// The field.
        field: String,
        /// The rule that the braces break.
        error: BraceError,
    },
    /// A field names a scheme or workload that the study does not measure.
    Unknown {
        /// Where the text came from.
        origin: String,
        /// The field.
        field: String,
        /// The name.
        id: String,
        /// What there is.
        known: Vec<String>,
    },
}

impl fmt::Display for DefinitionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { origin } => {
                write!(f, "{origin}: the study file is longer than {MAX_TEXT} octets")
            }
            Self::Toml { origin, message } => write!(f, "{origin}: {}", message.trim_end()),
            Self::OutOfRange { origin, field, takes } => write!(f, "{origin}: {field}: takes {takes}"),
            Self::Duplicate { origin, field, id } => write!(f, "{origin}: {field}: {id:?} is there twice"),
            Self::Braces { origin, field, error } => write!(f, "{origin}: {field}: {error}"),
            Self::Unknown { origin, field, id, known } => {
                write!(f, "{origin}: {field}: {id:?} is not in the study; there are")?;
                known.iter().try_for_each(|k| write!(f, "\n  {k}"))
            }
        }
    }
}

impl core::error::Error for DefinitionError {}

const MAX_TEXT: usize = 1 << 20;

impl Definition {
    /// Reads the study file `text`; `origin` says in errors where it came from.
    ///
    /// # Errors
    /// The first rule broken, with the field. Fields that no study has are refused, and so are targets, claims, charts and
    /// expected answers about schemes or workloads that the study does not measure.
    pub fn parse(text: &str, origin: &str) -> Result<Self, DefinitionError> {
        if text.len() > MAX_TEXT {
            return Err(DefinitionError::TooLong { origin: origin.to_owned() });
        }
        let file: File = toml::from_str(text)
            .map_err(|e| DefinitionError::Toml { origin: origin.to_owned(), message: e.to_string() })?;
        Checker { origin }.definition(file)
    }

    /// The schemes to be measured on a workload.
    pub fn schemes_on<'a>(&'a self, workload: &str) -> &'a [String] {
        let only = self.only.iter().find(|only| only.workload == workload);
        only.map_or(&self.schemes, |only| &only.schemes)
    }

    /// The ratios to measure, `(of, to)`, each once: every scheme to the reference, and the pairs of the
    /// file, its targets and its claims.
    pub fn ratio_pairs(&self) -> Vec<(&str, &str)> {
        let to_reference = self
            .schemes
            .iter()
            .filter(|&scheme| *scheme != self.reference)
            .map(|scheme| (scheme.as_str(), self.reference.as_str()));
        let targets = self.targets.iter().map(|t| (t.of.as_str(), t.to.as_str()));
        let named = self.pairs.iter().chain(self.claims.iter().flat_map(|c| &c.pairs));
        let named = named.map(|(of, to)| (of.as_str(), to.as_str()));
        let mut seen = HashSet::new();
        to_reference.chain(targets).chain(named).filter(|&pair| seen.insert(pair)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STUDY: &str = include_str!("../../../../studies/name-encodings/study.toml");

    fn changed(from: &str, to: &str) -> Result<Definition, DefinitionError> {
        assert!(STUDY.contains(from), "{from}");
        Definition::parse(&STUDY.replacen(from, to, 1), "study.toml")
    }

    fn message(result: Result<Definition, DefinitionError>) -> String {
        result.unwrap_err().to_string()
    }

    #[test]
    fn reads_the_study_of_name_encodings() {
        let study = Definition::parse(STUDY, "study.toml").unwrap();
        assert_eq!(study.slug, "name-encodings");
        assert_eq!(study.workloads.len(), 7);
        assert_eq!(study.schemes.len(), 3 * 13 + 8);
        assert!(study.schemes.contains(&study.reference));
        assert_eq!(study.size.full, Size { items: 1_000_000, repetitions: 20 });
        assert_eq!(study.bound.unwrap().value, 1.0);
        assert_eq!((study.metric.as_str(), study.per.as_str()), ("cycles_mean", "name"));
        assert_eq!(study.targets.len(), 4);
        assert_eq!(study.claims[1].rule, Rule::LittleMore);
        assert_eq!(study.charts[0].schemes.len(), 6);
        let expected: Vec<_> = study.expects.iter().map(|expect| &expect.workload).collect();
        assert_eq!(expected, study.workloads.iter().collect::<Vec<_>>());
        assert!(study.expects.iter().all(|expect| expect.names <= study.size.quick.items));
    }

    #[test]
    fn lists_each_ratio_once() {
        let study = Definition::parse(STUDY, "study.toml").unwrap();
        let pairs = study.ratio_pairs();
        let distinct: HashSet<_> = pairs.iter().collect();
        assert_eq!(distinct.len(), pairs.len());
        // 46 to the reference, among them the four targets; of the claims' seven pairs two are the same.
        assert_eq!(pairs.len(), 46 + 6);
        assert!(pairs.contains(&("ccnx/one-by-one/crc32c", "offset/one-by-one/crc32c")));
        assert!(pairs.iter().all(|(of, to)| of != to));
    }

    #[test]
    fn reads_expected_answers() {
        let first = "components = 20480\nchecksum = { offset = \"0x2818cedc272f\", ccnx = \"0x28272449cd33\", ndn = \"0x27d1f401c637\" }";
        let second = "components = 500\nchecksum = { offset = \"0x1\", ccnx = \"0xffffffffffffffff\", ndn = \"0x03\" }";
        let study = changed(first, second).unwrap();
        assert_eq!(study.expects[0].components, 500);
        let checksums = [("ccnx", u64::MAX), ("ndn", 3), ("offset", 1)];
        assert!(study.expects[0].checksum.iter().map(|(id, sum)| (id.as_str(), sum.0)).eq(checksums));
        let error = message(changed(first, &second.replace("0x03", "3")));
        assert!(error.contains("\"3\" is not 0x"), "{error}");
    }

    #[test]
    fn reads_limits() {
        let with = |lines: &str| {
            let text = format!(
                "{STUDY}\n[[limit]]\nof = \"ndn/one-pass/crc32c\"\nworkload = \"12Bx5\"\nat_most = 3.0\n{lines}\n"
            );
            Definition::parse(&text, "study.toml")
        };
        let against = |lines| with(lines).unwrap().limits[0].against.clone();
        assert_eq!(against(""), Against::Nothing);
        let other = "ndn/one-by-one/crc32c".to_owned();
        assert_eq!(against("more_than = \"ndn/one-by-one/crc32c\""), Against::Scheme(other));
        let domain = "domain".to_owned();
        assert_eq!(against("times = \"domain\""), Against::Workload(domain));
        let error = message(with("times = \"domain\"\nmore_than = \"ndn/one-by-one/crc32c\""));
        assert_eq!(error, "study.toml: limit[0]: takes more_than or times, not both");
        for (lines, field) in [
            ("times = \"12Bx5\"", "limit[0].times: takes another workload"),
            ("times = \"4Bx2\"", "limit[0].times: \"4Bx2\" is not in the study"),
            ("more_than = \"ndn\"", "limit[0].more_than: \"ndn\" is not in the study"),
        ] {
            let error = message(with(lines));
            assert!(error.contains(field), "{error}");
        }
    }

    #[test]
    fn reads_what_a_figure_is_for() {
        let reference = "reference = \"ndn/one-by-one/crc32c\"";
        let study = changed(reference, &format!("metric = \"ns\"\nper = \"find\"\n{reference}")).unwrap();
        assert_eq!((study.metric.as_str(), study.per.as_str()), ("ns", "find"));
        let error = message(changed(reference, &format!("per = \" \"\n{reference}")));
        assert_eq!(error, "study.toml: per: takes some words");
    }

    #[test]
    fn measures_the_pairs_of_the_file() {
        let reference = "reference = \"ndn/one-by-one/crc32c\"";
        let with = |pair: &str| changed(reference, &format!("pairs = [[{pair}]]\n{reference}"));
        let study = with("\"ndn/walk\", \"ccnx/walk\"").unwrap();
        assert!(study.ratio_pairs().contains(&("ndn/walk", "ccnx/walk")));
        assert_eq!(study.ratio_pairs().len(), 46 + 6 + 1);
        let error = message(with("\"ndn/walk\", \"ndn\""));
        assert!(error.contains("pairs[0]: \"ndn\" is not in the study"), "{error}");
        let error = message(with("\"ndn/walk\", \"ndn/walk\""));
        assert_eq!(error, "study.toml: pairs[0]: takes two different schemes");
    }

    #[test]
    fn refuses_a_field_that_no_study_has() {
        let error = message(changed("slug =", "sluge ="));
        assert!(error.starts_with("study.toml: ") && error.contains("sluge"), "{error}");
        let error = message(changed("at_most = 0.45", "at_most = 0.45\nat_least = 0.1"));
        assert!(error.contains("at_least"), "{error}");
    }

    #[test]
    fn lists_what_there_is_when_a_scheme_or_workload_is_unknown() {
        let error = message(changed("reference = \"ndn/one-by-one/crc32c\"", "reference = \"ndn/nothing\""));
        assert!(error.contains("reference: \"ndn/nothing\" is not in the study; there are"), "{error}");
        assert!(error.contains("\n  ccnx/walk/burst"), "{error}");
        let error = message(changed("workload = \"N(7.3,var=11.7)Bx8\"", "workload = \"8Bx8\""));
        assert!(error.contains("target[0].workload: \"8Bx8\""), "{error}");
        assert!(error.contains("\n  ircache"), "{error}");
        let error = message(changed(
            "[\"ndn/one-by-one/crc32c\", \"ccnx/one-by-one/crc32c\"]",
            "[\"ndn/one-by-one/crc32c\", \"ccnx/one-by-one/md5\"]",
        ));
        assert!(error.contains("claim[1].pairs[0]: \"ccnx/one-by-one/md5\""), "{error}");
        let error = message(changed("\"ndn/walk\",\n  \"ndn/walk/burst\"", "\"ndn/run\""));
        assert!(error.contains("chart[2].schemes: \"ndn/run\""), "{error}");
    }

    #[test]
    fn refuses_values_out_of_range() {
        for (from, to, field) in [
            ("slug = \"name-encodings\"", "slug = \"../x\"", "slug"),
            ("items = 32768", "items = 0", "size.quick.items"),
            ("items = 1000000", "items = 10000001", "size.full.items"),
            ("repetitions = 10 ", "repetitions = 1 ", "size.quick.repetitions"),
            ("at_most = 0.13", "at_most = nan", "target[1].at_most"),
            ("tolerance = 0.15", "tolerance = 1.0", "claim[1].tolerance"),
            ("value = 1.0", "value = -inf", "bound.value"),
        ] {
            let error = message(changed(from, to));
            assert!(error.starts_with(&format!("study.toml: {field}: takes ")), "{error}");
        }
    }

    #[test]
    fn refuses_what_is_there_twice() {
        let error = message(changed("\"12Bx5\", \"6Bx10\"", "\"12Bx5\", \"12Bx5\""));
        assert_eq!(error, "study.toml: workloads: \"12Bx5\" is there twice");
        let error = message(changed("{offset,ccnx,ndn}/walk\"", "{ndn,ccnx,ndn}/walk\""));
        assert_eq!(error, "study.toml: schemes: \"ndn/walk\" is there twice");
        let error = message(changed("ndn-a-little-worse", "no-penalty-2+2"));
        assert_eq!(error, "study.toml: claim[1].id: \"no-penalty-2+2\" is there twice");
    }

    #[test]
    fn names_the_field_whose_braces_do_not_expand() {
        let error = message(changed("{offset,ccnx,ndn}/walk\"", "{offset,ccnx,ndn/walk\""));
        assert_eq!(error, "study.toml: schemes[11]: the brace opened at offset 0 is not closed");
    }

    #[test]
    fn refuses_an_endless_file() {
        let text = "#".repeat(MAX_TEXT + 1);
        assert!(matches!(Definition::parse(&text, "x"), Err(DefinitionError::TooLong { .. })));
        let deep = format!("slug = {}", "[".repeat(100_000));
        assert!(matches!(Definition::parse(&deep, "x"), Err(DefinitionError::Toml { .. })));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn survives_a_file_with_any_octet_changed(at in 0..STUDY.len(), to in "[{}\\[\\]\"=a0\n,]") {
            let mut text = STUDY.to_owned();
            if text.is_char_boundary(at) && text.is_char_boundary(at + 1) {
                text.replace_range(at..at + 1, &to);
            }
            if let Ok(study) = Definition::parse(&text, "study.toml") {
                prop_assert!(study.schemes.contains(&study.reference));
            }
        }
    }
}
