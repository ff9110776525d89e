//! Expectations of functions, and the check of one.

use super::binary::{Binary, Function, Line};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// Expectations by architecture, named as in `std::env::consts::ARCH`.
pub(super) type Expectations = BTreeMap<String, Vec<Expectation>>;

/// Expectations of some functions; the head of `xtask/asm.toml` documents the fields.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct Expectation {
    pub(super) name: String,
    symbol: Vec<String>,
    at_least: BTreeMap<String, usize>,
    #[serde(default)]
    never: Vec<String>,
    #[serde(default)]
    may_call: Vec<String>,
    #[serde(default)]
    called_by: Vec<String>,
    why: String,
}

/// Callers listed for a function that no plane calls.
const CALLERS: usize = 4;

/// Instructions shown before and after the one that is wrong.
const AROUND: usize = 3;

impl Expectation {
    /// Checks all functions of the binaries that match. Returns their number, as text.
    ///
    /// # Errors
    /// A description of the fault and the next step.
    pub(super) fn check(&self, binaries: &[Binary<'_>]) -> Result<String, String> {
        let found: Vec<_> = binaries.iter().map(|binary| (binary, binary.find(&self.symbol))).collect();
        let functions: usize = found.iter().map(|(_, functions)| functions.len()).sum();
        if functions == 0 {
            return Err(format!(
                "  expected: a function whose name contains {:?}\n  found:    none\n  why:      {}\n  \
                 to do:    if it was renamed, change `symbol` in xtask/asm.toml; if it is no longer compiled into\n  \
                 {:9} the binary, the timed code no longer runs it\n",
                self.symbol, self.why, ""
            ));
        }
        let all = found.iter().flat_map(|(binary, functions)| functions.iter().map(move |f| (binary, f)));
        let mut faults: String =
            all.filter_map(|(binary, f)| self.fault(&f.name, &binary.disassemble(f))).collect();
        let mut passed = count(functions, "function");
        if !self.called_by.is_empty() {
            match self.path(&found) {
                // Writing to a string cannot fail.
                Ok(path) => drop(write!(passed, ", called by {path}")),
                Err(fault) => faults.push_str(&fault),
            }
        }
        if faults.is_empty() { Ok(passed) } else { Err(faults) }
    }

    /// The path of calls from a function of the plane to one of the functions, in the first binary that has
    /// one.
    ///
    /// # Errors
    /// A description of the missing function and the next step.
    fn path(&self, found: &[(&Binary<'_>, Vec<&Function>)]) -> Result<String, String> {
        let addresses = |functions: &[&Function]| functions.iter().map(|f| f.at).collect::<Vec<_>>();
        let (mut planes, mut callers) = (0, Vec::new());
        for (binary, functions) in found.iter().filter(|(_, functions)| !functions.is_empty()) {
            let names = |path: &[u64]| path.iter().map(|at| binary.name_of(*at)).collect::<Vec<_>>();
            let plane = binary.find(&self.called_by);
            let to = addresses(functions);
            if let Some(path) = binary.call_graph().path(&addresses(&plane), &to) {
                return Ok(names(&path).join(" → "));
            }
            planes += plane.len();
            callers.extend(names(&binary.call_graph().callers(&to)));
        }
        Err(self.uncalled(planes, &callers))
    }

    /// The fault of a function that `callers` call, none of them in the plane.
    fn uncalled(&self, plane: usize, callers: &[String]) -> String {
        let mut shown: String =
            callers.iter().take(CALLERS).map(|name| format!("{:12}{name}\n", "")).collect();
        if callers.len() > CALLERS {
            let _ = writeln!(shown, "{:12}and {} more", "", callers.len() - CALLERS);
        }
        let found = match plane {
            0 => "no such function".to_owned(),
            _ => format!("no path of calls from any of {}", count(plane, "such function")),
        };
        format!(
            "  function: one whose name contains {:?}\n  \
             expected: a call of it, direct or through others, by a function whose name contains {:?}\n  \
             found:    {found}; it is called by {}\n{shown}  \
             to do:    let the plane run the stage that is timed. If the plane's function was renamed, change\n  \
             {:9} `called-by` in xtask/asm.toml; if the plane inlined the timed function, mark that #[inline(never)]\n",
            self.symbol,
            self.called_by,
            count(callers.len(), "function"),
            ""
        )
    }

    /// The fault of a function; `None` without one.
    fn fault(&self, function: &str, lines: &[Line]) -> Option<String> {
        let mut faults = String::new();
        let mut found = |expected: &str, found: &str| {
            // Writing to a string cannot fail.
            let _ = writeln!(faults, "  expected: {expected}\n  found:    {found}");
        };
        for (mnemonic, &least) in &self.at_least {
            let stand = lines.iter().filter(|line| line.mnemonic == *mnemonic).count();
            if stand < least {
                let among = count(lines.len(), "instruction");
                found(&format!("at least {least} × `{mnemonic}`"), &format!("{stand} among {among}"));
            }
        }
        for mnemonic in &self.never {
            if let Some(at) = lines.iter().position(|line| line.mnemonic == *mnemonic) {
                found(&format!("no `{mnemonic}`"), &excerpt(lines, at));
            }
        }
        let allowed = |callee: &str| self.may_call.iter().any(|part| callee.contains(part.as_str()));
        let mut seen = Vec::new();
        for (at, line) in lines.iter().enumerate() {
            let Some(callee) = line.calls.as_deref().filter(|callee| !allowed(callee)) else {
                continue;
            };
            if !seen.contains(&callee) {
                seen.push(callee);
                let allowed =
                    if self.may_call.is_empty() { "no call" } else { "no call but those in `may-call`" };
                found(allowed, &format!("a call of {callee}\n{}", excerpt(lines, at)));
            }
        }
        (!faults.is_empty()).then(|| {
            format!(
                "  function: {}\n{faults}  why:      {}\n  \
                 to do:    mark what is called, and the leaf that holds the instruction, #[inline]\n",
                function, self.why
            )
        })
    }
}

/// The instructions around the one at `at`, which is marked.
fn excerpt(lines: &[Line], at: usize) -> String {
    let from = at.saturating_sub(AROUND);
    let shown = lines.iter().enumerate().skip(from).take(at - from + AROUND + 1);
    let text = shown.map(|(i, line)| {
        let mark = if i == at { '>' } else { ' ' };
        format!("          {mark} +{:<#7x} {}", line.offset, line.text)
    });
    text.collect::<Vec<_>>().join("\n")
}

fn count(n: usize, of: &str) -> String {
    format!("{n} {of}{}", if n == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn expectation() -> Expectation {
        toml::from_str(
            "name = 'n'\nsymbol = ['s']\nat-least = { crc32q = 2 }\nnever = ['div']\nmay-call = ['cold']\nwhy = 'w'",
        )
        .unwrap()
    }

    fn line(mnemonic: &str, calls: Option<&str>) -> Line {
        Line { offset: 0, mnemonic: mnemonic.into(), text: mnemonic.into(), calls: calls.map(str::to_owned) }
    }

    #[test]
    fn accepts_what_is_expected_and_a_call_of_a_cold_path() {
        let lines = [line("crc32q", None), line("call", Some("a::cold::path")), line("crc32q", None)];
        assert_eq!(expectation().fault("f", &lines), None);
    }

    #[test]
    fn says_that_no_plane_calls_the_function_and_who_does() {
        let expectation = Expectation { called_by: vec!["plane".into()], ..expectation() };
        let callers: Vec<String> = (0..6).map(|number| format!("lab::caller{number}")).collect();
        let fault = expectation.uncalled(2, &callers);
        for part in ["[\"plane\"]", "any of 2 such functions", "lab::caller3", "and 2 more", "to do:"] {
            assert!(fault.contains(part), "{part} in {fault}");
        }
        assert!(!fault.contains("lab::caller4"));
        assert!(expectation.uncalled(0, &[]).contains("no such function; it is called by 0 functions"));
    }

    #[test]
    fn names_the_function_and_all_that_is_wrong_with_it() {
        let lines = [line("crc32q", None), line("call", Some("leaf")), line("div", None)];
        let fault = expectation().fault("some::function", &lines).unwrap();
        for part in ["some::function", "at least 2 × `crc32q`", "1 among 3", "no `div`", "a call of leaf"] {
            assert!(fault.contains(part), "{part} in {fault}");
        }
    }
}
