//! The summary that llvm-mca prints.

use std::str::FromStr;

/// Figures that llvm-mca computes for some instructions, executed once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading {
    /// Instructions.
    pub instructions: u64,
    /// Cycles from the first dispatch to the last retirement.
    pub total_cycles: u64,
    /// Micro-operations that the instructions decode into.
    pub total_uops: u64,
    /// Micro-operations that the core dispatches in a cycle at most.
    pub dispatch_width: u64,
    /// Micro-operations a cycle, to two decimals.
    pub uops_per_cycle: f64,
    /// Instructions a cycle, to two decimals.
    pub ipc: f64,
}

/// Reasons for which a summary cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReadingError {
    /// A figure is missing.
    #[error("the summary has no line \"{label}\"")]
    Missing {
        /// Label before the figure.
        label: &'static str,
    },
    /// A figure is there twice.
    #[error("the summary has several lines \"{label}\"")]
    Repeated {
        /// Label before the figure.
        label: &'static str,
    },
    /// The text in the place of a figure is not a number.
    #[error("\"{label}\" is followed by {text:?}, not by a number")]
    NotAFigure {
        /// Label before the figure.
        label: &'static str,
        /// Text in the place of the figure.
        text: String,
    },
    /// The instructions were executed more than once, or never.
    #[error("the summary is of {count} iterations instead of one")]
    Iterations {
        /// Number of occurrences.
        count: u64,
    },
}

impl Reading {
    /// Parses the summary in llvm-mca's output; ignores all other lines.
    ///
    /// # Errors
    /// A figure is missing, present twice or not a number, or the summary is not of one iteration.
    pub fn parse(output: &str) -> Result<Self, ReadingError> {
        match figure(output, "Iterations:")? {
            1 => Ok(Self {
                instructions: figure(output, "Instructions:")?,
                total_cycles: figure(output, "Total Cycles:")?,
                total_uops: figure(output, "Total uOps:")?,
                dispatch_width: figure(output, "Dispatch Width:")?,
                uops_per_cycle: rate(output, "uOps Per Cycle:")?,
                ipc: rate(output, "IPC:")?,
            }),
            count => Err(ReadingError::Iterations { count }),
        }
    }
}

fn rate(output: &str, label: &'static str) -> Result<f64, ReadingError> {
    let rate: f64 = figure(output, label)?;
    if rate.is_finite() && rate >= 0.0 {
        return Ok(rate);
    }
    Err(ReadingError::NotAFigure { label, text: rate.to_string() })
}

/// The figure of the one line that begins with `label`.
fn figure<T: FromStr>(output: &str, label: &'static str) -> Result<T, ReadingError> {
    let mut found = output.lines().filter_map(|line| line.strip_prefix(label));
    let text = found.next().ok_or(ReadingError::Missing { label })?.trim();
    if found.next().is_some() {
        return Err(ReadingError::Repeated { label });
    }
    text.parse().map_err(|_| ReadingError::NotAFigure { label, text: text.to_owned() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Output of llvm-mca 14.0.6 for `imulq %rdi, %rax; rolq $13, %rax; addq sym(%rip), %rax; retq; callq
    /// rand; callq rand` on nehalem.
    const SAMPLE: &str = "\
Iterations:        1
Instructions:      6
Total Cycles:      106
Total uOps:        12

Dispatch Width:    4
uOps Per Cycle:    0.11
IPC:               0.06
Block RThroughput: 3.0
";

    #[test]
    fn reads_the_summary() {
        let expected = Reading {
            instructions: 6,
            total_cycles: 106,
            total_uops: 12,
            dispatch_width: 4,
            uops_per_cycle: 0.11,
            ipc: 0.06,
        };
        assert_eq!(Reading::parse(SAMPLE), Ok(expected));
        assert_eq!(Reading::parse(&SAMPLE.replace('\n', "\r\n")), Ok(expected));
    }

    #[test]
    fn misses_any_figure_that_is_not_there() {
        for line in SAMPLE.lines().filter(|line| !line.is_empty() && !line.starts_with("Block")) {
            let label = line.split_inclusive(':').next().unwrap();
            let error = Reading::parse(&SAMPLE.replace(line, "")).unwrap_err();
            assert!(matches!(error, ReadingError::Missing { label: missing } if missing == label), "{error}");
        }
    }

    #[test]
    fn refuses_what_is_no_figure_of_one_iteration() {
        let parse = |from: &str, to: &str| Reading::parse(&SAMPLE.replace(from, to)).unwrap_err();
        let label = "IPC:";
        assert_eq!(parse("0.06", "NaN"), ReadingError::NotAFigure { label, text: "NaN".into() });
        assert_eq!(parse("0.06", ""), ReadingError::NotAFigure { label, text: String::new() });
        let label = "Total Cycles:";
        assert_eq!(parse("106", "1 06"), ReadingError::NotAFigure { label, text: "1 06".into() });
        assert_eq!(parse("Total uOps:", "Total Cycles: 1\nTotal uOps:"), ReadingError::Repeated { label });
        assert_eq!(parse("Iterations:        1", "Iterations: 100"), ReadingError::Iterations { count: 100 });
    }
}
