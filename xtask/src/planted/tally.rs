//! Outcomes of runs, and the criterion.

use serde_json::Value;
use std::fmt;

/// Most seconds that a run may take.
const MOST_SECONDS: f64 = 60.0;

/// Outcome of one run.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Found {
    /// Verdict on the scheme that is slowed down.
    verdict: String,
    /// Its ratio, with bounds.
    ratio: String,
    /// Other rows that are called slower or faster.
    others: Vec<String>,
}

impl Found {
    /// Reads the export of `hashlane compare`.
    ///
    /// # Errors
    /// It is not one, or has no row of the scheme.
    pub(super) fn parse(json: &[u8], scheme: &str) -> Result<Self, String> {
        let export: Value =
            serde_json::from_slice(json).map_err(|error| format!("the export of compare: {error}"))?;
        let mut found = None;
        let mut others = Vec::new();
        let studies = export["studies"].as_array().into_iter().flatten();
        for row in studies.flat_map(|study| study["rows"].as_array().into_iter().flatten()) {
            let text = |field: &str| row[field].as_str().unwrap_or_default().to_owned();
            let verdict = text("verdict");
            if row["scheme"] == scheme {
                let figure = |field: &str| row["ratio"][field].as_f64().unwrap_or(f64::NAN);
                let ratio = format!("{:.3} [{:.3}, {:.3}]", figure("value"), figure("low"), figure("high"));
                found = Some((verdict, ratio));
            } else if verdict == "slower" || verdict == "faster" {
                others.push(format!("{} {verdict}", text("scheme")));
            }
        }
        let (verdict, ratio) = found.ok_or_else(|| format!("compare has no row of {scheme}"))?;
        Ok(Self { verdict, ratio, others })
    }
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.verdict, self.ratio)?;
        if self.others.is_empty() {
            return Ok(());
        }
        write!(f, "; wrongly called: {}", self.others.join(", "))
    }
}

/// Counts of the runs of one kind.
#[derive(Debug, Default)]
pub(super) struct Tally {
    runs: usize,
    /// Runs that call the slow-down.
    called: usize,
    /// Runs that call a row that does not differ, or the slow-down faster.
    wrong: usize,
    /// Runs that do not decide on the scheme.
    undecided: usize,
    seconds: Vec<f64>,
}

impl Tally {
    /// Counts a run, in which the scheme is slowed down or not.
    pub(super) fn add(&mut self, found: &Found, is_planted: bool, seconds: f64) {
        let slower = found.verdict == "slower";
        let wrong = found.verdict == "faster" || (slower && !is_planted) || !found.others.is_empty();
        self.runs += 1;
        self.called += usize::from(slower && is_planted);
        self.wrong += usize::from(wrong);
        self.undecided += usize::from(found.verdict == "undecided");
        self.seconds.push(seconds);
    }

    fn slowest(&self) -> f64 {
        self.seconds.iter().copied().fold(0.0, f64::max)
    }

    fn row(&self, title: &str) -> String {
        let mean = self.seconds.iter().sum::<f64>() / self.runs.max(1) as f64;
        let Self { runs, called, wrong, undecided, .. } = self;
        format!(
            "{title:<22} {runs:>5} {called:>14} {wrong:>14} {undecided:>10} {mean:>9.1} {:>8.1}\n",
            self.slowest()
        )
    }
}

/// The counts as a table.
pub(super) fn table(percent: f64, busy: usize, planted: &Tally, equal: &Tally) -> String {
    let beside = if busy > 0 { format!(", {busy} busy loops") } else { String::new() };
    format!(
        "{:<22} {:>5} {:>14} {:>14} {:>10} {:>9} {:>8}\n{}{}",
        "slow-down",
        "runs",
        "called slower",
        "wrongly called",
        "undecided",
        "s a run",
        "at most",
        planted.row(&format!("{percent} %{beside}")),
        equal.row(&format!("0 %{beside}")),
    )
}

/// Checks the criterion: 19 of 20 slow-downs are called, and 1 of 20 runs calls wrongly at most; beside busy
/// loops, none does.
///
/// # Errors
/// The parts that do not hold.
pub(super) fn criterion(busy: usize, planted: &Tally, equal: &Tally) -> Result<(), String> {
    let mut missed = Vec::new();
    let slowest = planted.slowest().max(equal.slowest());
    if slowest > MOST_SECONDS {
        missed.push(format!("a run took {slowest:.0} s"));
    }
    if busy > 0 {
        if planted.wrong + equal.wrong > 0 {
            missed.push(format!("{} runs called wrongly beside busy loops", planted.wrong + equal.wrong));
        }
    } else {
        if planted.called * 20 < planted.runs * 19 {
            missed.push(format!("{} of {} slow-downs were called", planted.called, planted.runs));
        }
        for (tally, title) in [(planted, "with"), (equal, "without")] {
            if tally.wrong * 20 > tally.runs {
                missed.push(format!("{} of {} runs {title} it called wrongly", tally.wrong, tally.runs));
            }
        }
    }
    if missed.is_empty() { Ok(()) } else { Err(missed.join("; ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn export(verdicts: [&str; 2]) -> Vec<u8> {
        let [of, other] = verdicts;
        format!(
            "{{\"studies\": [{{\"rows\": [{{\"scheme\": \"a\", \"verdict\": \"{of}\", \"ratio\": \
             {{\"value\": 1.03, \"low\": 1.02, \"high\": 1.04}}}},{{\"scheme\": \"b\", \"verdict\": \
             \"{other}\", \"ratio\": null}}]}}]}}"
        )
        .into_bytes()
    }

    fn tally(runs: &[[&str; 2]], is_planted: bool) -> Tally {
        let mut tally = Tally::default();
        for verdicts in runs {
            tally.add(&Found::parse(&export(*verdicts), "a").unwrap(), is_planted, 20.0);
        }
        tally
    }

    #[test]
    fn reads_the_verdicts() {
        let found = Found::parse(&export(["slower", "no-difference"]), "a").unwrap();
        assert_eq!(found.to_string(), "slower 1.030 [1.020, 1.040]");
        let found = Found::parse(&export(["undecided", "faster"]), "a").unwrap();
        assert_eq!(found.to_string(), "undecided 1.030 [1.020, 1.040]; wrongly called: b faster");
        assert!(Found::parse(&export(["slower", "slower"]), "c").is_err());
        assert!(Found::parse(b"", "a").is_err());
    }

    #[test]
    fn counts_and_judges() {
        let same = ["no-difference", "no-difference"];
        let mut planted = vec![["slower", "no-difference"]; 19];
        planted.push(["undecided", "no-difference"]);
        let mut equal = vec![same; 19];
        equal.push(["no-difference", "slower"]);
        let (planted, equal) = (tally(&planted, true), tally(&equal, false));
        assert_eq!((planted.called, planted.wrong, planted.undecided), (19, 0, 1));
        assert_eq!((equal.called, equal.wrong), (0, 1));
        assert_eq!(criterion(0, &planted, &equal), Ok(()));
        assert!(criterion(2, &planted, &equal).is_err());
        assert_eq!(criterion(2, &planted, &tally(&[same], false)), Ok(()));

        let missed = tally(&[["no-difference", "no-difference"]; 20], true);
        assert!(criterion(0, &missed, &equal).is_err_and(|why| why.contains("0 of 20 slow-downs")));
        let wrong = tally(&[["slower", "no-difference"]; 2], false);
        assert!(criterion(0, &planted, &wrong).is_err_and(|why| why.contains("2 of 2 runs without")));
    }
}
