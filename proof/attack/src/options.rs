//! Options of the command.

use crate::dns;
use crate::forwarder::{Program, Project};
use crate::rows::ROWS;
use crate::table::{self, Results};
use clap::Parser;
use serde_json::json;
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Attack a forwarder and a name server, and measure the service of everyone else during and after
///
/// Starts a forwarder for each row of the table in docs/ndn/operate.md and attacks it, while a local client,
/// a neighbour, the management, and newcomers ask at a steady rate. As root, or with user namespaces, the
/// forwarder, the attacker and the neighbour are three hosts (network namespaces); otherwise they share the
/// loopback interface. Rows 13 to 26, in docs/dns-serve.md, attack `hashlane dns serve` over the loopback
/// interface, while clients ask at a steady rate over UDP and TCP. Everything stops by itself and is removed
/// at the end, also after Ctrl-C. Exit code 1 if our forwarder or our name server misses a criterion.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask attack", bin_name = "cargo xtask attack", max_term_width = 100)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Options {
    /// Shorter attacks, at most three and a half minutes in all; some limits and timeouts are smaller in
    /// proportion
    #[arg(long)]
    pub(crate) quick: bool,
    /// Run only this row (repeatable)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=26))]
    row: Vec<u8>,
    /// Run the rows of the name server, 13 to 26
    #[arg(long)]
    dns: bool,
    /// Run a row of our forwarder or name server again if it fails, up to this many times in all: another
    /// process may have held the machine
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=9))]
    pub(crate) attempts: u8,
    /// Datagrams a second in rows 13 to 17; 0: as many as possible. Default: 100,000, with --quick 50,000
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,
    /// Forwarder to attack: hashlane, hashlane:PATH, nfd:PATH, ndnd or ndnd:PATH (repeatable)
    #[arg(long, value_name = "FORWARDER", default_value = "hashlane")]
    forwarder: Vec<Chosen>,
    /// Use the loopback interface, even if there can be network namespaces
    #[arg(long)]
    pub(crate) loopback: bool,
    /// Write the tables in Markdown, as in docs/ndn/operate.md and docs/dns-serve.md
    #[arg(long, value_name = "FILE")]
    table: Option<PathBuf>,
    /// Write all counts and findings as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Our command; set by cargo xtask attack, which builds it
    #[arg(long, value_name = "PATH", hide = true)]
    hashlane: Option<PathBuf>,
    /// ndnd; set by cargo xtask attack, which installs it
    #[arg(long, value_name = "PATH", hide = true)]
    ndnd: Option<PathBuf>,
    /// Socket and prefixes of a registration by another user: a process of row 6
    #[arg(long, value_name = "WORDS", num_args = 2.., hide = true)]
    pub(crate) register_as_other_user: Option<Vec<String>>,
}

const EXAMPLES: &str = "\
Examples:
  cargo xtask attack                                      all rows, about twelve minutes
  cargo xtask attack --quick                              all rows, at most three and a half minutes
  cargo xtask attack --dns --quick                        the rows of the name server, 40 seconds
  cargo xtask attack --row 13 --rate 0                    random subdomains at full rate
  cargo xtask attack --row 4 --row 9                      two rows
  cargo xtask attack --quick --attempts 3                 as `cargo xtask ci` runs them
  cargo xtask attack --forwarder nfd:/usr/bin/nfd --forwarder ndnd --table others.md
                                                          forwarders of other projects
  cargo xtask attack --forwarder hashlane:/tmp/before     an earlier build of ours";

/// Forwarder on the command line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Chosen {
    kind: Project,
    path: Option<PathBuf>,
}

impl FromStr for Chosen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, path) = match text.split_once(':') {
            Some((name, path)) => (name, Some(PathBuf::from(path))),
            None => (text, None),
        };
        let kind = match name {
            "hashlane" => Project::Hashlane,
            "nfd" => Project::Nfd,
            "ndnd" => Project::Ndnd,
            _ => return Err("not a forwarder; use hashlane, nfd:PATH or ndnd".into()),
        };
        if kind == Project::Nfd && path.is_none() {
            return Err("nfd is not installed by this command: give its path, as in nfd:/usr/bin/nfd".into());
        }
        Ok(Self { kind, path })
    }
}

impl Options {
    pub(crate) fn chooses(&self, row: u8) -> bool {
        let is_dns = dns::ROWS.iter().any(|known| known.number == row);
        (self.row.is_empty() && !self.dns) || self.row.contains(&row) || (self.dns && is_dns)
    }

    /// True if a row of the forwarder is chosen.
    pub(crate) fn has_forwarder_rows(&self) -> bool {
        ROWS.iter().any(|row| self.chooses(row.number))
    }

    /// Forwarders to attack, in order.
    ///
    /// # Errors
    /// A program is missing.
    pub(crate) fn programs(&self) -> Result<Vec<Program>, String> {
        self.forwarder.iter().map(|chosen| self.program(chosen)).collect()
    }

    /// Our own command.
    pub(crate) fn own_program(&self) -> Result<Program, String> {
        let ours =
            self.forwarder.iter().find(|chosen| chosen.kind == Project::Hashlane && chosen.path.is_some());
        let built = Chosen { kind: Project::Hashlane, path: None };
        self.program(if self.hashlane.is_some() { &built } else { ours.unwrap_or(&built) })
    }

    fn program(&self, chosen: &Chosen) -> Result<Program, String> {
        let known = match chosen.kind {
            Project::Hashlane => &self.hashlane,
            Project::Ndnd => &self.ndnd,
            Project::Nfd => &None,
        };
        let path = chosen.path.as_ref().or(known.as_ref());
        let path =
            path.ok_or_else(|| format!("give the path of {:?}, or run cargo xtask attack", chosen.kind))?;
        let path = fs::canonicalize(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let label = match (chosen.kind, &chosen.path) {
            (Project::Hashlane, None) => "hashlane".to_owned(),
            (Project::Hashlane, Some(_)) => format!("hashlane, {}", path.display()),
            (Project::Nfd, _) => "NFD".to_owned(),
            (Project::Ndnd, _) => "ndnd".to_owned(),
        };
        Ok(Program { kind: chosen.kind, path, label })
    }

    /// Writes the files that were asked for.
    ///
    /// # Errors
    /// A file cannot be written.
    pub(crate) fn write(&self, all: &[Results], dns: &[dns::Line], about: &str) -> Result<(), String> {
        let form = if self.quick { " --quick" } else { "" };
        let numbers = || ROWS.iter().map(|row| row.number).chain(dns::ROWS.iter().map(|row| row.number));
        let (rows, of) = (numbers().filter(|number| self.chooses(*number)).count(), numbers().count());
        let about = format!("`cargo xtask attack{form}`, {rows} of {of} rows; {about}.");
        if let Some(file) = &self.table {
            let mut text = table::markdown(all, &about);
            if !dns.is_empty() {
                text += &dns::markdown(dns);
            }
            write(file, &text)?;
        }
        if let Some(file) = &self.json {
            // The name server's rows come last, in the form of a forwarder's.
            let server = (!dns.is_empty()).then(|| json!({ "server": "hashlane dns serve", "lines": dns }));
            let all: Vec<_> = all.iter().map(|results| json!(results)).chain(server).collect();
            write(file, &serde_json::to_string_pretty(&all).map_err(|error| error.to_string())?)?;
        }
        Ok(())
    }
}

fn write(file: &Path, text: &str) -> Result<(), String> {
    fs::write(file, text).map_err(|error| format!("{}: {error}", file.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forwarders_are_names_with_or_without_a_path() {
        let chosen = |text: &str| text.parse::<Chosen>();
        assert_eq!(chosen("hashlane"), Ok(Chosen { kind: Project::Hashlane, path: None }));
        let nfd = Chosen { kind: Project::Nfd, path: Some("/usr/bin/nfd".into()) };
        assert_eq!(chosen("nfd:/usr/bin/nfd"), Ok(nfd));
        assert!(chosen("nfd").is_err_and(|why| why.contains("nfd:/usr/bin/nfd")));
        assert!(chosen("yanfd").is_err_and(|why| why.contains("use hashlane")));
    }

    #[test]
    fn options_are_as_the_examples_write_them() {
        for line in EXAMPLES.lines().filter_map(|line| line.trim().strip_prefix("cargo xtask attack")) {
            let words = line.split("   ").next().unwrap_or_default().split_whitespace();
            let parsed = Options::try_parse_from([""].into_iter().chain(words));
            assert!(parsed.is_ok(), "{line}: {parsed:?}");
        }
        let one = Options::try_parse_from(["", "--row", "4", "--row", "9"]).unwrap();
        assert!(one.chooses(4) && one.chooses(9) && !one.chooses(1));
        assert!(Options::try_parse_from(["", "--row", "27"]).is_err());
        let dns = Options::try_parse_from(["", "--dns", "--row", "9"]).unwrap();
        assert!(dns.chooses(9) && dns.chooses(13) && dns.chooses(26) && !dns.chooses(1));
        let dns = Options::try_parse_from(["", "--dns"]).unwrap();
        assert!(!dns.has_forwarder_rows() && one.has_forwarder_rows());
    }
}
