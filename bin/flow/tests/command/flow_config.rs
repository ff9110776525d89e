//! `hashlane flow meter --config` and `hashlane flow check-config`.

use crate::flow::capture;
use hashlane_rig::command::{Folder, holds, lines};

/// Settings with which the five flows of the capture go to two files.
const CONFIG: &str = "[input]\ninterface = \"nothing0\"\n[meter]\nworkers = 2\ndomain = 7\n\
                      [[output]]\nformat = \"csv\"\nto = \"flows.csv\"\n\
                      [[output]]\nto = \"flows.ipfix\"\nnanoseconds = true\n";

#[test]
fn a_configuration_names_outputs_and_flags_override_it() {
    let folder = Folder::new();
    folder.write("trace.pcap", capture());
    folder.write("flow.toml", CONFIG);
    let meter = |arguments: &[&str]| {
        folder.run(&[&["flow", "meter", "trace.pcap", "--config", "flow.toml"], arguments].concat())
    };
    // The interface of the file is not there: captures take its place.
    holds(&meter(&[]).err, &["flows.csv: 5 flows, ", "flows.ipfix: 5 flows, "]);
    // Two workers have the domains 7 and 8.
    let csv = lines(&folder.path("flows.csv"));
    let column = csv[0].split(',').position(|name| name == "observationDomainId").unwrap();
    let domains: Vec<&str> = csv[1..].iter().map(|line| line.split(',').nth(column).unwrap()).collect();
    assert!(domains.len() == 5 && domains.iter().all(|domain| ["7", "8"].contains(domain)), "{domains:?}");
    holds(&meter(&[]).failed(), &["flows.csv exists: choose another name, or set overwrite = true"]);
    holds(&meter(&["--force"]).err, &["flows.csv: 5 flows, ", "flows.ipfix: 5 flows, "]);
    let ran = meter(&["--json", "flows.json", "--threads", "1", "--domain", "9"]);
    assert!(ran.code == Some(0) && !ran.err.contains("flows.csv"), "{ran:#?}");
    assert!(lines(&folder.path("flows.json"))[0].contains("\"observationDomainId\":9"));
    holds(&meter(&["--json", "flows.json"]).failed(), &["flows.json exists: ", "add --force"]);
    holds(&meter(&["--domain", "4294967295"]).failed(), &["--domain is at most 4294967294 with --threads 2"]);
    holds(&meter(&["--csv", "trace.pcap"]).failed(), &["--csv trace.pcap would overwrite the input"]);
}

#[test]
fn a_configuration_is_checked_and_printed() {
    let folder = Folder::new();
    let check = |text: &str| {
        folder.write("flow.toml", text);
        folder.run(&["flow", "check-config", "flow.toml"])
    };
    let valid = check(&CONFIG.replace("nothing0", "lo")).ok();
    assert_eq!(valid, "flow.toml is a valid configuration\n");
    folder.write("flows.csv", "");
    holds(&check(&CONFIG.replace("nothing0", "lo")).ok(), &["warning: flows.csv exists", "is a valid"]);
    for (text, says) in [
        (CONFIG, "no interface nothing0"),
        ("[meter]\nidel = \"1s\"\n", "unknown key `meter.idel`; did you mean `meter.idle`?"),
        ("[meter]\nidle = \"1\"\n", "500ms, 60s, 5min, 1h"),
        ("[[output]]\nto = \"-\"\n", "`output.to` is refused: "),
        ("[[output]]\nto = \"no/such/a.ipfix\"\n", "cannot create no/such/a.ipfix: No such file"),
        ("[server]\nuser = \"no-such-user\"\n", "no such user"),
    ] {
        holds(&check(text).failed(), &[says]);
    }
    let printed = folder.run(&["flow", "check-config", "--print"]).ok();
    folder.write("flow.toml", &printed);
    holds(&folder.run(&["flow", "check-config", "flow.toml"]).ok(), &["warning: no output", "is a valid"]);
    assert_eq!(folder.run(&["flow", "check-config", "--print", "flow.toml"]).ok(), printed);
    holds(&folder.run(&["flow", "check-config"]).failed(), &["use --print to print the defaults"]);
    holds(&folder.run(&["flow", "check-config", "none.toml"]).failed(), &["cannot read none.toml"]);
    holds(&folder.run(&["flow", "check-config", "."]).failed(), &["not a regular file"]);
    for (text, says) in [("", "no output: "), ("[[output]]\nto = \"a\"\n", "no input: ")] {
        folder.write("flow.toml", text);
        holds(&folder.run(&["flow", "meter", "--config", "flow.toml"]).failed(), &[says]);
    }
}

#[test]
fn the_configurations_of_the_page_are_some() {
    let folder = Folder::new();
    let page = include_str!("../../../../docs/flow.md");
    let blocks: Vec<&str> =
        page.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        // Of this host.
        let text = block.replace("\"eth0\"", "\"lo\"").replace("/var/lib/hashlane-flow-eth0/", "");
        folder.write("flow.toml", text);
        folder.run(&["flow", "check-config", "flow.toml"]).ok();
    }
}
