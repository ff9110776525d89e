//! Prints the names on standard input that a list of names covers, each with the name of its rule.
//!
//! `cargo run --release -p hashlane-name-map --example match_names -- LIST < NAMES`. A line of the list is a
//! name, which covers itself and all names below it; `#` begins a comment.

use hashlane_name_map::{Builder, Burst, Key, Target};
use std::error::Error;
use std::io::{self, BufRead as _, BufWriter, Write as _};

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: match_names LIST < NAMES")?;
    let list = std::fs::read(&path).map_err(|error| format!("cannot read {path}: {error}"))?;
    let mut builder = Builder::new(&Key::random()?);
    for (number, line) in list.split(|byte| *byte == b'\n').enumerate() {
        let rule = line.split(|byte| *byte == b'#').next().unwrap_or_default().trim_ascii();
        if !rule.is_empty()
            && let Err(error) = builder.block(0, Target::Subtree, rule)
        {
            eprintln!("{path}, line {}: left out: {error}", number + 1);
        }
    }
    let rules = builder.build()?;
    let (mut burst, mut names) = (Burst::new(), Vec::new());
    let mut out = BufWriter::new(io::stdout().lock());
    let mut lines = io::stdin().lock().split(b'\n');
    loop {
        let line = lines.next().transpose()?;
        let is_last = line.is_none();
        let name = line.unwrap_or_default().trim_ascii().to_ascii_lowercase();
        let name = name.strip_suffix(b".").unwrap_or(&name);
        // A line that is no name matches nothing.
        if !name.is_empty() && burst.push(name).is_ok() {
            names.push(name.to_vec());
        }
        if burst.is_full() || is_last {
            for (name, verdict) in names.drain(..).zip(rules.verdicts(&mut burst)) {
                let Some(depth) = verdict.depth() else { continue };
                let labels: Vec<&[u8]> = name.split(|byte| *byte == b'.').collect();
                let rule = labels[labels.len() - depth..].join(&b'.');
                writeln!(out, "{} {}", name.escape_ascii(), rule.escape_ascii())?;
            }
            burst.clear();
        }
        if is_last {
            return Ok(out.flush()?);
        }
    }
}
