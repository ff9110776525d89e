//! Configurations as operators write them.

use super::*;

#[test]
fn every_value_has_a_default_and_can_be_written() {
    let default = Config::default();
    assert_eq!(Config::parse(""), Ok(default.clone()));
    assert_eq!(Config::parse(&default.to_toml()), Ok(default.clone()));
    let shown = default.to_toml().replace("# [[", "[[").replace("# format", "format").replace("# to", "to");
    let config = Config::parse(&shown).unwrap();
    assert_eq!(config.output[0].to, Target::Udp("192.0.2.1:4739".into()));
    assert_eq!(Config::parse(&config.to_toml()), Ok(config));
}

#[test]
fn values_are_those_of_the_file() {
    let text = "[input]\ninterface = \"eth0\"\npromiscuous = true\nio = \"xdp\"\n[meter]\nidle = \"500ms\"\nactive = \"5min\"\n\
                flows = 1000\ntunnels = true\nsampling = 10\nworkers = 2\ndomain = 7\n\
                [[output]]\nformat = \"csv\"\nto = \"a/flows.csv\"\nrotate_every = \"1h\"\nrotate_mib = 3\n\
                overwrite = true\n[[output]]\nto = \"tcp:collector:4739\"\nnanoseconds = true\n";
    let config = Config::parse(text).unwrap();
    assert_eq!((config.input.promiscuous, config.input.io), (true, Io::Xdp));
    let options = config.meter.options(3);
    assert_eq!((options.idle, options.active, options.ingress), (500_000_000, 300_000_000_000, 3));
    assert_eq!((options.flows, options.tunnels, options.sampling, options.domain), (1000, true, 10, 7));
    let csv = OutputConfig {
        format: Format::Csv,
        to: Target::File("a/flows.csv".into()),
        nanoseconds: false,
        overwrite: true,
        rotate_every: Some(Duration::from_secs(3600)),
        rotate_mib: 3,
    };
    assert_eq!(config.output[0], csv);
    assert_eq!(config.output[1].to, Target::Tcp("collector:4739".into()));
    assert!(config.output[1].nanoseconds && config.output[1].format == Format::Ipfix);
    assert_eq!(Config::parse(&config.to_toml()), Ok(config));
}

#[test]
fn says_what_is_wrong() {
    let says = |text: &str| Config::parse(text).unwrap_err().to_string();
    for (text, words) in [
        ("[meter]\nidle = \"60\"", "expected a time from 1ms to 336h"),
        (
            "[meter]\nidle = 60",
            "line 2, column 8: invalid type: integer `60`, expected a time with its unit, such as \"30s\"",
        ),
        ("[[output]]\nto = \"a\"\nrotate_every = 1.5", "expected a time with its unit"),
        ("[meter]\nidel = \"60s\"", "unknown key `meter.idel`; did you mean `meter.idle`?"),
        ("[meter]\nthreads = 2", "did you mean `meter.workers`?"),
        ("[meter]\nflows = 63", "`meter.flows` is 63, but must be between 64 and 1073741824"),
        ("[meter]\nsampling = 0", "`meter.sampling` is 0"),
        ("[meter]\nworkers = 65", "`meter.workers` is 65"),
        ("[meter]\nworkers = 2\ndomain = 4294967295", "at most 4294967294 with 2 workers"),
        ("[input]\ninterface = \"a-name-of-16-byte\"", "no interface can have"),
        ("[input]\nio = \"sockets\"", "unknown variant `sockets`, expected one of `auto`, `packet`, `xdp`"),
        ("[metrics]\nlisten = [\"9100\"]", "not an address and port"),
        ("[output]\nto = \"a\"", "write [[output]]"),
        ("[[output]]\nformat = \"csv\"", "`output.to` is missing"),
        ("[[output]]\nformat = \"cvs\"\nto = \"a\"", "unknown variant `cvs`, expected one of `ipfix`"),
        ("[[output]]\nto = \"udp:collector\"", "not HOST:PORT"),
        (
            "[[output]]\nto = \"-\"",
            "`output.to` is refused: the ipfix output - has no form on standard output",
        ),
        ("[[output]]\nto = \"udp:a:1\"\nrotate_mib = 1", "`output.rotate_mib` is for files"),
        ("[[output]]\nto = \"udp:a:1\"\nrotate_every = \"1h\"", "`output.rotate_every` is for files"),
        ("[[output]]\nto = \"a\"\nrotate_mib = 9999999", "between 0 and 1048576"),
        ("[[output]]\nto = \"a\"\nforce = true", "did you mean `output.overwrite`?"),
        ("[[output]]\nto = \"a\"\nformat = \"csv\"\nnanoseconds = true", "is for the format ipfix"),
        ("zzz = 1", "unknown key `zzz`"),
    ] {
        assert!(says(text).contains(words) && !says(text).contains('\n'), "{text}: {}", says(text));
    }
}

#[test]
fn files_are_relative_to_the_folder_of_the_configuration() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flow.toml");
    let outputs = ["flows.ipfix", "/var/flows.ipfix", "udp:127.0.0.1:9"];
    let mut text: String = outputs.iter().map(|to| format!("[[output]]\nto = \"{to}\"\n")).collect();
    text += "[[output]]\nformat = \"json\"\nto = \"-\"\n";
    std::fs::write(&path, text).unwrap();
    let config = Config::read(&path).unwrap();
    let targets: Vec<_> = config.output.iter().map(|output| output.to.to_string()).collect();
    let own = folder.path().join("flows.ipfix").display().to_string();
    assert_eq!(targets, [&own, "/var/flows.ipfix", "udp:127.0.0.1:9", "-"]);
    std::fs::write(&path, "[meter]\nidle = 1\n").unwrap();
    let error = Config::read(&path).unwrap_err().to_string();
    assert!(error.contains("flow.toml is not a valid configuration: "), "{error}");
}

#[test]
fn the_page_describes_every_key() {
    let page = include_str!("../../../../docs/flow.md");
    let known = Config { output: vec![OutputConfig::default()], ..Config::default() };
    let mut keys = 0;
    for (section, values) in toml::Table::try_from(known).unwrap() {
        let values = match values {
            toml::Value::Array(mut tables) => tables.remove(0),
            table => table,
        };
        for key in values.as_table().unwrap().keys() {
            let described = [format!("`{section}.{key}`"), format!(", `{key}`")];
            assert!(described.iter().any(|key| page.contains(key.as_str())), "{section}.{key}");
            keys += 1;
        }
    }
    assert!(keys > 15);
}
