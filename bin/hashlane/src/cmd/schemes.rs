//! `hashlane schemes`

use crate::output;
use anyhow::Result;
use clap::Args;
use hashlane_audit::stated::stated;
use hashlane_flow::ehash::TupleHash;
use hashlane_hash::scheme::{Keying, Scheme, SchemeInfo};
use hashlane_study_names::schemes;
use std::fmt::Write as _;
use std::process::ExitCode;

/// List the registered hashes: source, width, keying, check value, where each is safe, and ε: the share of
/// seeds for which the worst pair known collides.
#[derive(Debug, Args)]
#[command(after_help = "\
The check value is the hash of the nine bytes 123456789 under the key 00 01 … 0f.

Examples:
  hashlane schemes
  hashlane schemes | grep -A 3 siphash
  hashlane schemes --markdown > schemes.md      tables, with the hashes that are only audited")]
pub(crate) struct Schemes {
    /// Print tables in Markdown, with the hashes that `hashlane audit` knows besides: docs/schemes.md
    #[arg(long)]
    markdown: bool,
}

/// Beginning of the page in Markdown.
const HEAD: &str = "\
# Schemes

The hashes of this repository. A test compares this page with the output of the command that prints it:
`hashlane schemes --markdown > docs/schemes.md`.

ε is the share of seeds for which two keys collide that were chosen without the seed; the worst pair known
counts. *Proved* is a bound by a theorem, *broken* a known pair or attack, *measured* a search of the audit
that has found none, which is no proof. [audit.md](audit.md#ε) explains the figures, and
[the table of all attacks](../records/epyc-avx512-2vcpu/audit/audit.txt) is what `hashlane audit` prints.
";

impl Schemes {
    pub(crate) fn run(self) -> Result<ExitCode> {
        output::print(&if self.markdown { markdown()? } else { list()? })?;
        Ok(ExitCode::SUCCESS)
    }
}

fn list() -> Result<String> {
    let mut text = String::new();
    for scheme in schemes::schemes() {
        let info = scheme.info;
        let keying = keying(info.keying);
        let digits = info.width as usize / 4;
        writeln!(text, "{}  {} bits, {keying}, check {:0digits$x}", info.id, info.width, info.check)?;
        writeln!(text, "    source: {}", info.source)?;
        writeln!(text, "    safe:   {}", info.safe)?;
        writeln!(text, "    ε:      {}", stated(info.id))?;
    }
    writeln!(text, "\nIn studies: {}.", schemes::names_help())?;
    Ok(text)
}

fn keying(keying: Keying) -> String {
    match keying {
        Keying::None => "no key".to_owned(),
        Keying::Seed(bits) => format!("{bits}-bit seed"),
        Keying::Secret(bits) => format!("{bits}-bit secret key"),
    }
}

/// All hashes as tables.
fn markdown() -> Result<String> {
    macro_rules! of_bytes {
        ($($group:ident: $($hash:ty),*;)*) => { vec![$($(<$hash as Scheme>::INFO),*),*] };
    }
    macro_rules! of_tuples {
        ($($hash:ty,)*) => { vec![$(<$hash as TupleHash>::INFO),*] };
    }
    let listed = schemes::schemes().into_iter().map(|scheme| scheme.info).collect();
    let audited = hashlane_peers::for_each_audited_hash!(of_bytes);
    let tuples = hashlane_baseline::for_each_tuple_hash!(of_tuples);
    let mut text = HEAD.to_owned();
    for (title, prefix, schemes) in [
        ("For tables and studies", "", listed),
        ("Of other projects, audited alone", "", audited),
        ("Of connections in Linux", "ehash/", tuples),
    ] {
        write!(text, "\n## {title}\n\n| id | bits | keying | ε | safe |\n| --- | --- | --- | --- | --- |\n")?;
        for SchemeInfo { id, width, keying: of, safe, .. } in schemes {
            let id = format!("{prefix}{id}");
            writeln!(text, "| `{id}` | {width} | {} | {} | {safe} |", keying(of), stated(&id))?;
        }
    }
    Ok(text)
}
