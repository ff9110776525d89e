//! Formats of numbers by name.

use hashlane_stats::format;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A step of a format of the file: below a magnitude, numbers are written as another format does.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Step {
    /// The magnitude; without it, of all numbers.
    below: Option<f64>,
    /// A format with a name that every study has.
    #[serde(rename = "as")]
    name: String,
}

/// Formats that every study has. `fixed0` to `fixed4` write so many decimals.
pub(super) const NAMES: [&str; 13] = [
    "significant",
    "figure",
    "ratio",
    "count",
    "whole",
    "percent",
    "binary",
    "short",
    "fixed0",
    "fixed1",
    "fixed2",
    "fixed3",
    "fixed4",
];

/// Writes a number in one of [`NAMES`]; `None` if there is no such format.
fn built_in(name: &str, value: f64) -> Option<String> {
    Some(match name {
        "significant" => format::significant(value),
        "figure" => format::figure(value),
        "ratio" => format::ratio(value),
        "count" => format::count(value),
        "whole" => format::count(value.round()),
        "percent" => format::percent(value),
        "binary" => format::binary(value),
        "short" => format::short(value),
        _ => {
            let decimals: usize = name.strip_prefix("fixed")?.parse().ok().filter(|n| *n <= 4)?;
            format!("{value:.decimals$}")
        }
    })
}

/// Writes a number in the format `name`, of the file or of every study.
///
/// # Errors
/// There is no such format.
pub(super) fn write(own: &BTreeMap<String, Vec<Step>>, name: &str, value: f64) -> Result<String, String> {
    let unknown = || {
        let known: Vec<&str> = NAMES.iter().copied().chain(own.keys().map(String::as_str)).collect();
        format!("no format {name:?}; there are {}", known.join(", "))
    };
    let name = match own.get(name) {
        None => name,
        Some(steps) => {
            let fits = |step: &&Step| step.below.is_none_or(|below| value.abs() < below);
            let step = steps.iter().find(fits);
            step.map(|step| step.name.as_str())
                .ok_or_else(|| format!("the format {name:?} has no step for {value}"))?
        }
    };
    built_in(name, value).ok_or_else(unknown)
}

/// A format of the file that writes by one which is unknown.
pub(super) fn unknown(own: &BTreeMap<String, Vec<Step>>) -> Option<String> {
    let steps = own.iter().flat_map(|(name, steps)| steps.iter().map(move |step| (name, step)));
    let mut unknown = steps.filter(|(_, step)| built_in(&step.name, 1.0).is_none());
    let (name, step) = unknown.next()?;
    Some(format!("{name}: no format {:?}; there are {}", step.name, NAMES.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_by_name_and_by_magnitude() {
        let own: BTreeMap<String, Vec<Step>> = toml::from_str(
            "us = [{ below = 9.995, as = \"fixed2\" }, { as = \"figure\" }]\nbad = [{ below = 1.0, as = \"x\" }]",
        )
        .unwrap();
        assert_eq!(write(&own, "us", 1.0).unwrap(), "1.00");
        assert_eq!(write(&own, "us", 1234.0).unwrap(), format::figure(1234.0));
        assert_eq!(write(&own, "fixed3", 0.5).unwrap(), "0.500");
        assert!(NAMES.iter().all(|name| write(&own, name, 12.5).is_ok()));
        assert!(
            write(&own, "fixed9", 1.0).unwrap_err().contains("no format \"fixed9\"; there are significant")
        );
        assert!(write(&own, "bad", 0.5).is_err() && write(&own, "bad", 2.0).unwrap_err().contains("no step"));
    }
}
