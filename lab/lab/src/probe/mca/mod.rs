//! Simulation of a timed function by llvm-mca. The machine code is taken out of the running program.
//!
//! [`Function`] finds the code, [`Tool`] the llvm-mca on PATH that reads it, and [`records`] makes facts of a
//! [`Reading`]. The method comes from q2ven/inet6_ehashfn, which hands its compiler's assembly to
//! `llvm-mca --march x86-64 --mcpu=skylake --iterations=1`; here it is the code that the other probes time.
//!
//! llvm-mca walks the instructions from the first to the last, once: it takes no jump and makes no call. So a
//! loop counts one round of its body, and both arms of a branch count. [`Function::loops`] and
//! [`Function::calls`] show if a function is more than straight code.
//!
//! # The cold call
//! The source's functions draw their secrets at first use. Its compiler lays that arm, with a call of `rand`
//! for each of two secrets, after the return, and it runs once in the life of the program; llvm-mca walks
//! straight on into it, and counts a call as 100 cycles, its default. About 100 cycles of each published
//! figure come from it. [`Calls::Cold`] puts the two calls after the function and so reproduces the published
//! figures; [`Calls::None`] simulates the function alone.

mod calls;
mod function;
mod tool;

pub use calls::Calls;
pub use function::Function;
pub use tool::Tool;

use hashlane_records::Record;

/// Model and probe of the records.
pub const PROBE: &str = "mca";

/// Lines of the summary of llvm-mca, with the metric and the unit of each figure.
const FIGURES: [(&str, &str, &str); 6] = [
    ("Instructions:", "instructions", "instructions"),
    ("Total Cycles:", "total_cycles", "cycles"),
    ("Total uOps:", "total_uops", "uops"),
    ("Dispatch Width:", "dispatch_width", "uops"),
    ("uOps Per Cycle:", "uops_per_cycle", "uops"),
    ("IPC:", "ipc", "instructions"),
];

/// Figures that llvm-mca computes for some instructions, executed once.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Reading([f64; FIGURES.len()]);

impl Reading {
    /// Parses the summary in llvm-mca's output; ignores all other lines.
    ///
    /// # Errors
    /// A figure is missing, present twice or not a number, or the summary is not of one iteration.
    pub(crate) fn parse(output: &str) -> Result<Self, String> {
        let iterations = figure(output, "Iterations:")?;
        if iterations != 1.0 {
            return Err(format!("the summary is of {iterations} iterations instead of one"));
        }
        let mut figures = [0.0; FIGURES.len()];
        for (found, (label, ..)) in figures.iter_mut().zip(FIGURES) {
            *found = figure(output, label)?;
        }
        Ok(Self(figures))
    }

    /// Number of instructions.
    fn instructions(&self) -> f64 {
        self.0[0]
    }
}

/// The figure of the one line that begins with `label`.
fn figure(output: &str, label: &str) -> Result<f64, String> {
    let mut found = output.lines().filter_map(|line| line.strip_prefix(label));
    let text = found.next().ok_or_else(|| format!("the summary has no line \"{label}\""))?.trim();
    if found.next().is_some() {
        return Err(format!("the summary has several lines \"{label}\""));
    }
    let number = text.parse::<f64>().ok().filter(|figure| figure.is_finite() && *figure >= 0.0);
    number.ok_or_else(|| format!("\"{label}\" is followed by {text:?}, not by a number"))
}

/// The records of one reading, of the model and the probe `mca`.
pub fn records(study: &str, workload: &str, scheme: &str, reading: &Reading) -> Vec<Record> {
    let record = |((_, metric, unit), value)| {
        Record::new([study, PROBE, workload, scheme, PROBE, metric, unit], [value; 3], 1, 1)
    };
    FIGURES.into_iter().zip(reading.0).map(record).collect()
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
    fn reads_the_summary_and_records_every_figure() {
        let expected = Reading([6.0, 106.0, 12.0, 4.0, 0.11, 0.06]);
        for text in [SAMPLE.to_owned(), SAMPLE.replace('\n', "\r\n")] {
            assert_eq!(Reading::parse(&text), Ok(expected));
        }
        let workloads = [Calls::None, Calls::Cold].map(|calls| calls.workload("skylake"));
        assert_eq!(workloads, ["mca/skylake", "mca/skylake/cold-call"]);
        let records = records("flow-hash", &workloads[0], "base", &expected);
        let [_, cycles, .., ipc] = &records[..] else { panic!("{records:?}") };
        assert_eq!((cycles.metric.as_str(), cycles.unit.as_str()), ("total_cycles", "cycles"));
        assert_eq!((cycles.low, cycles.value, cycles.high, cycles.samples), (106.0, 106.0, 106.0, 1));
        assert_eq!((ipc.metric.as_str(), ipc.value), ("ipc", 0.06));
    }

    #[test]
    fn refuses_a_summary_without_one_figure_of_each_kind() {
        for line in SAMPLE.lines().filter(|line| !line.is_empty() && !line.starts_with("Block")) {
            let label = line.split_inclusive(':').next().unwrap();
            let error = Reading::parse(&SAMPLE.replace(line, "")).unwrap_err();
            assert_eq!(error, format!("the summary has no line \"{label}\""));
        }
        for (from, to, why) in [
            ("0.06", "NaN", "\"IPC:\" is followed by \"NaN\", not by a number"),
            ("0.06", "", "\"IPC:\" is followed by \"\", not by a number"),
            ("106", "1 06", "\"Total Cycles:\" is followed by \"1 06\", not by a number"),
            (
                "Total uOps:",
                "Total Cycles: 1\nTotal uOps:",
                "the summary has several lines \"Total Cycles:\"",
            ),
            ("Iterations:        1", "Iterations: 100", "the summary is of 100 iterations instead of one"),
        ] {
            assert_eq!(Reading::parse(&SAMPLE.replace(from, to)).unwrap_err(), why);
        }
    }
}
