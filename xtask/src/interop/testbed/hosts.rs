//! Configurations of all hosts of the testbed: imported, run, and given the commands of the host's start.

use super::lab::Lab;
use super::network::{self, Link};
use super::node::{Forwarder, Namespace, Node, Setup};
use super::report::Report;
use super::templates::{NFD_CONF, NFD_INIT, Templates};
use std::path::Path;
use std::time::Duration;

/// Programs that the part needs.
pub(super) const NEEDS: [&str; 1] = ["nfdc"];

/// Timeout of a command.
const TIMEOUT: Duration = Duration::from_secs(20);

/// A host whose forwarder has run.
struct Host {
    /// Keys of nfd.conf: kept, default here, ignored, not supported.
    keys: [usize; 4],
    /// Commands of the host's start.
    commands: usize,
    /// Those that were refused.
    refused: Vec<String>,
}

/// Runs all hosts, and adds a table. Returns what failed.
pub(super) fn run(lab: &Lab, report: &mut Report) -> Vec<String> {
    let Some(testbed) = lab.programs.file("testbed") else {
        report.text("Hosts: not run: clone named-data/testbed into a folder of --path.");
        return Vec::new();
    };
    let templates = match Templates::read(&testbed) {
        Ok(templates) => templates,
        Err(why) => return vec![format!("hosts: {why}")],
    };
    let header = ["host", "keys kept", "default here", "ignored", "not supported", "commands", "refused"];
    let (mut rows, mut failed) = (vec![header.map(str::to_owned).to_vec()], Vec::new());
    for name in templates.hosts() {
        println!("the configuration of {name}");
        match one(lab, &templates, &testbed, name) {
            Ok(Host { keys, commands, refused }) => {
                let numbers =
                    keys.into_iter().chain([commands, refused.len()]).map(|number| number.to_string());
                rows.push([name.to_owned()].into_iter().chain(numbers).collect());
                if keys[3] > 0 {
                    failed.push(format!("the nfd.conf of {name}: {} keys are not supported", keys[3]));
                }
                failed.extend(refused.into_iter().map(|why| format!("{name}: {why}")));
            }
            Err(why) => {
                rows.push(vec![name.to_owned(), "failed".to_owned()]);
                failed.push(format!("the configuration of {name}: {why}"));
            }
        }
    }
    report.table("Configurations of the testbed's hosts", &rows);
    report.text(
        "nfd.conf and nfd-init.sh of each host, rendered from the testbed's templates: keys by what became of them \
         in `hashlane ndn import-nfd-conf`, and the commands to nfdc of the script, given to a forwarder that runs \
         with the result.",
    );
    failed
}

fn one(lab: &Lab, templates: &Templates, testbed: &Path, host: &str) -> Result<Host, String> {
    let dir = lab.folder(host)?;
    // Paths of the testbed's containers.
    let conf = templates
        .render(NFD_CONF, host)?
        .replace("/run/nfd/nfd.sock", &dir.join("nfd.sock").display().to_string())
        .replace("/keys/anchors", &testbed.join("anchors").display().to_string());
    let script = templates.render(NFD_INIT, host)?;
    let namespaces = (Namespace::new("host")?, Namespace::new("internet")?);
    let link = Link::new(0, ["host", "internet"])?;
    network::ip(&["-n", "host", "route", "add", "default", "dev", &link.interface])?;
    let setup = Setup { conf: Some(conf), ..Setup::default() };
    let node = Node::start_in(lab, namespaces.0, dir, Forwarder::Hashlane, &setup)?;
    let keys = keys(&node.imported).ok_or_else(|| format!("import-nfd-conf: {}", node.imported))?;
    let mut commands = 0;
    let mut refused = Vec::new();
    for line in script.lines().filter(|line| line.starts_with("nfdc ")) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let ended = node.run(&words, TIMEOUT)?;
        commands += 1;
        // There is no face yet to destroy.
        let expected = if words.starts_with(&["nfdc", "face", "destroy"]) { 3 } else { 0 };
        if ended.code != Some(expected) {
            refused.push(format!("`{line}`: exit code {:?}: {}", ended.code, ended.text().trim()));
        }
    }
    node.stop()?;
    Ok(Host { keys, commands, refused })
}

/// Numbers of keys in the last line of a report of the import.
fn keys(report: &str) -> Option<[usize; 4]> {
    let (_, counts) = report.lines().last()?.rsplit_once(": ")?;
    let number = |word: &str| {
        counts.split([',', ';']).find_map(|part| part.trim().strip_suffix(word)?.trim().parse().ok())
    };
    Some([number("keys kept")?, number("default here")?, number("ignored")?, number("not supported")?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_an_import_has_the_numbers() {
        let report = "line 1: a: kept\nx/nfd.conf: 33 keys kept, 14 default here, 2 ignored, 0 not supported; 9 blank \
                      lines and comments\n";
        assert_eq!(keys(report), Some([33, 14, 2, 0]));
        assert_eq!(keys("error"), None);
    }
}
