//! `cargo xtask release`

use crate::duckdb::Duckdb;
use crate::need;
use crate::python::wheel;
use crate::run::{self, Outcome};
use clap::Args;
use serde_json::Value;

/// Rehearse the publication of the crates, the Python package and the DuckDB extension
///
/// Packages the crates that are for crates.io, builds each from its package alone, builds the source
/// distribution, the portable wheels and the DuckDB extension, and prints the commands that would publish
/// them, and a line for each file that cannot be built here. It publishes nothing.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Release {
    /// Publish nothing; required, as only people with the keys of the registries publish
    #[arg(long, required = true)]
    dry_run: bool,
    /// Package files that are not committed, too
    #[arg(long)]
    allow_dirty: bool,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask release --dry-run";

impl Release {
    pub(crate) fn run(&self) -> Outcome {
        if let Err(why) = self.crates() {
            return Outcome::Failed(why);
        }
        let missing = match need::meet(&[need::PYTHON]) {
            Ok(()) => wheel::write_release(&run::root().join("dist")),
            Err(Outcome::Skipped(why)) => Ok(vec![format!("Python package: {why}")]),
            Err(outcome) => return outcome,
        };
        let missing = match missing {
            Ok(missing) => missing,
            Err(why) => return Outcome::Failed(why),
        };
        let outcome = Duckdb::for_release().run();
        println!("would run: maturin upload dist/*.whl dist/*.tar.gz");
        println!("would attach to the release: dist/*.duckdb_extension");
        missing.iter().for_each(|line| println!("not built: {line}"));
        outcome
    }

    /// Packages the crates.
    fn crates(&self) -> Result<(), String> {
        let mut words = vec!["publish".to_owned(), "--locked".to_owned()];
        words.extend(packages()?.into_iter().flat_map(|name| ["--package".to_owned(), name]));
        let mut cargo = run::command(&["cargo"]);
        cargo.args(&words).arg("--dry-run");
        if self.allow_dirty {
            cargo.arg("--allow-dirty");
        }
        run::show(&mut cargo)?;
        println!("would run: cargo {}", words.join(" "));
        Ok(())
    }
}

/// Packages of the workspace that may be published.
fn packages() -> Result<Vec<String>, String> {
    let said = run::command(&["cargo", "metadata", "--no-deps", "--format-version", "1"]).output();
    let said = said.map_err(|error| format!("`cargo metadata`: {error}"))?;
    let metadata: Value =
        serde_json::from_slice(&said.stdout).map_err(|error| format!("`cargo metadata`: {error}"))?;
    let names = publishable(&metadata);
    if names.is_empty() { Err("no package may be published".to_owned()) } else { Ok(names) }
}

/// Names of the packages without `publish = false`.
fn publishable(metadata: &Value) -> Vec<String> {
    let packages = metadata.get("packages").and_then(Value::as_array);
    let public =
        packages.into_iter().flatten().filter(|package| package.get("publish") == Some(&Value::Null));
    public.filter_map(|package| Some(package.get("name")?.as_str()?.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn packages_that_are_not_for_the_registry_stay_here() {
        let metadata = json!({"packages": [
            {"name": "a", "publish": null},
            {"name": "b", "publish": []},
            {"name": "c", "publish": null},
        ]});
        assert_eq!(publishable(&metadata), ["a", "c"]);
        assert!(publishable(&json!({})).is_empty());
    }
}
