//! Checks of a configuration on this host, without listening or writing anywhere.

use crate::config::{Config, Io, OutputConfig};
use crate::export::ExportError;
use crate::outputs::{self, Origin};
use crate::run::{RunError, interface_index};
use hashlane_daemon::privileges::Account;
use hashlane_link::unix::check_folder;
use hashlane_link::xdp::XdpTap;
use nix::unistd::Uid;
use std::io;
use std::path::Path;

/// Checks all that a meter with this configuration would refuse at its start: values, interface, user,
/// control socket, folders of files, hosts of collectors. Returns warnings.
///
/// The right to read the interface, and the addresses of the metrics, are not checked.
///
/// # Errors
/// The first fault.
pub fn check(config: &Config) -> io::Result<Vec<String>> {
    let invalid = |why: String| io::Error::new(io::ErrorKind::InvalidInput, why);
    config.check().map_err(|error| invalid(error.to_string()))?;
    if !config.input.interface.is_empty() {
        let interface = &config.input.interface;
        interface_index(interface)?;
        if config.input.io == Io::Xdp {
            XdpTap::check(interface)
                .map_err(|error| io::Error::other(RunError::Xdp(interface.clone(), error)))?;
        }
    }
    let account = Account::of(&config.server.user, &config.server.group)?;
    config.control.socket().check(account.as_ref())?;
    outputs::check(&config.output, &[], Origin::File).map_err(invalid)?;
    let is_other = account.is_some_and(|account| account.uid() != Uid::effective());
    let mut warnings = Vec::new();
    for output in &config.output {
        warnings.extend(check_output(output, is_other)?);
    }
    if config.output.is_empty() {
        warnings.push("no output: add [[output]], or name one to `flow meter`".to_owned());
    }
    Ok(warnings)
}

/// Checks the folder of a file, or the host of a collector. Returns a warning about a file that exists.
/// `is_other`: a different user than this process's writes it, and only that user knows if it may.
fn check_output(output: &OutputConfig, is_other: bool) -> io::Result<Option<String>> {
    let Some(path) = output.to.path() else {
        let resolved = output.to.clone().resolved();
        let cannot = |error| io::Error::other(format!("no address for {}: {error}", output.to));
        return resolved.map(|_| None).map_err(cannot);
    };
    let found = path.metadata();
    if output.to.is_standard_output() || found.as_ref().is_ok_and(|found| !found.is_file()) {
        return Ok(None);
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = |error: io::Error| {
        io::Error::new(error.kind(), ExportError::Create(path.to_owned(), error).to_string())
    };
    if is_other {
        folder.metadata().map(drop).map_err(cannot)?;
    } else {
        check_folder(folder).map_err(cannot)?;
    }
    let stays = found.is_ok() && !output.overwrite && !output.rotates();
    let path = path.display();
    Ok(stays
        .then(|| format!("{path} exists: a meter that starts refuses it; move it, or set overwrite = true")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_of_the_host_are_found_and_files_that_exist_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("flows.csv");
        let check = |text: &str| {
            let text = text.replace("FILE", &file.display().to_string());
            check(&Config::parse(&text).unwrap()).map_err(|error| error.to_string())
        };
        let output = "[[output]]\nformat = \"csv\"\nto = \"FILE\"\n";
        assert_eq!(check(output), Ok(vec![]));
        assert!(check("[input]\ninterface = \"lo\"\n").unwrap()[0].contains("no output"));
        std::fs::write(&file, "").unwrap();
        assert!(check(output).unwrap()[0].contains("flows.csv exists"));
        assert_eq!(check(&format!("{output}overwrite = true\n")), Ok(vec![]));
        assert_eq!(check("[[output]]\nto = \"/dev/null\"\n"), Ok(vec![]));
        for (text, words) in [
            ("[input]\ninterface = \"nothing0\"\n", "no interface nothing0"),
            ("[input]\ninterface = \"lo\"\nio = \"xdp\"\n", "lo: no XDP: not an Ethernet interface"),
            ("[server]\nuser = \"no-such-user\"\n", "no such user"),
            ("[control]\npath = \"/nowhere/a.sock\"\n", "/nowhere"),
            ("[[output]]\nto = \"/nowhere/a.ipfix\"\n", "; create its folder, or name another file"),
            ("[[output]]\nto = \"/dev/../tmp/x\"\n[[output]]\nto = \"/tmp/x\"\n", "are the same file"),
        ] {
            assert!(check(text).unwrap_err().contains(words), "{text}: {:?}", check(text));
        }
    }
}
