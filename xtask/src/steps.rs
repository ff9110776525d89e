//! Steps in order, with a summary at the end.

use crate::run::Outcome;
use std::fmt::Debug;
use std::time::Instant;

/// Runs every step, also after a failure, and prints a line for each at the end.
pub(crate) fn run<'a, S: Copy + Debug + 'a>(
    task: &str,
    steps: impl IntoIterator<Item = &'a S>,
    mut run: impl FnMut(S) -> Outcome,
) -> Outcome {
    let mut summary = String::new();
    let mut failed = Vec::new();
    for &step in steps {
        let name = format!("{step:?}").to_lowercase();
        println!("\n== {name}");
        let start = Instant::now();
        let outcome = run(step);
        let seconds = start.elapsed().as_secs_f64();
        let (mark, why) = match outcome {
            Outcome::Passed => ("ok", String::new()),
            Outcome::Skipped(why) => ("skipped", why),
            Outcome::Failed(why) => {
                failed.push(name.clone());
                ("FAILED", why)
            }
        };
        let row = format!("{mark:<7}  {name:<8}  {seconds:>6.1} s  {why}");
        println!("-- {}", row.trim_end());
        summary.push_str(&format!("  {}\n", row.trim_end()));
    }
    print!("\ncargo xtask {task}\n{summary}");
    if failed.is_empty() { Outcome::Passed } else { Outcome::Failed(failed.join(", ")) }
}
