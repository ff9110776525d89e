//! Configurations as users write them.

use super::*;

#[test]
fn every_value_has_a_default_and_can_be_written() {
    let default = Config::default();
    assert_eq!(Config::parse(""), Ok(default.clone()));
    assert_eq!(Config::parse(&default.to_toml()), Ok(default));
    let text =
        "[strategies]\n\"/\" = \"multicast\"\n[[routes]]\nprefix = \"/\"\nto = \"udp4://192.0.2.1:6363\"\n";
    assert_eq!(Config::parse(text).unwrap().routes[0].cost, 0);
    let config = Config::parse("[cs]\npolicy = \"priority-fifo\"\noctets = 1000\n").unwrap();
    assert_eq!(
        (config.cs.policy, config.cs.octets, config.cs.packets),
        (CsPolicy::PriorityFifo, 1000, 65_536)
    );
}

#[test]
fn users_and_groups_are_names_or_numbers() {
    let config = Config::parse("[management]\nusers = [1000, \"ann\"]\ngroups = [\"ndn\", 60]\n").unwrap();
    let name = |name: &str| Account::Name(name.into());
    assert_eq!(config.management.users, [Account::Id(1000), name("ann")]);
    assert_eq!(config.management.groups, [name("ndn"), Account::Id(60)]);
    assert_eq!(Config::parse(&config.to_toml()), Ok(config));
}

#[test]
fn modes_are_octal() {
    assert!(Config::default().to_toml().contains("mode = \"0o666\"\n"));
    let mode = |text: &str| {
        Config::parse(&format!("[faces.unix]\nmode = {text}")).map(|config| config.faces.unix.mode)
    };
    for text in ["0o660", "432", "\"0o660\""] {
        assert_eq!(mode(text), Ok(0o660), "{text}");
    }
    for text in ["0o1000", "-1", "\"660\"", "\"0o668\"", "\"\"", "true"] {
        assert!(mode(text).unwrap_err().to_string().contains("0o000 to 0o777"), "{text}");
    }
}

#[test]
fn says_what_is_wrong() {
    let says = |text: &str| Config::parse(text).unwrap_err().to_string();
    assert_eq!(
        says("[cs]\npackts = 3"),
        "line 2, column 1: unknown key `cs.packts`; did you mean `cs.packets`?"
    );
    assert_eq!(
        says("[faces.upd]\nmtu = 3"),
        "line 1, column 8: unknown key `faces.upd`; did you mean `faces.udp`?"
    );
    assert_eq!(says("zzz = 1"), "line 1, column 1: unknown key `zzz`");
    let replaced = "line 2, column 1: unknown key `management.loopback`; did you mean `faces.tcp.loopback` \
                    or `faces.websocket.loopback`?";
    assert_eq!(says("[management]\nloopback = false"), replaced);
    assert_eq!(says("[faces.udp]\nmtu = 3"), "`faces.udp.mtu` must be between 256 and 65507");
    let pause = says("[faces.moderation]\npause_us = 1001");
    assert_eq!(pause, "`faces.moderation.pause_us` must be at most 1000: packets wait for as long");
    for origin in ["app.example", "https://app.example/", "https://App.example", "https://", "null"] {
        let text = says(&format!("[faces.websocket]\norigins = [\"{origin}\"]"));
        assert!(text.contains(origin) && text.contains("SCHEME://HOST:PORT"), "{text}");
    }
    for accounts in ["users = [\"\"]", "users = [\"1000\"]", "groups = [\"a b\"]"] {
        let text = says(&format!("[management]\n{accounts}"));
        assert!(text.starts_with("`management.") && text.contains("names, such as \"ndn\""), "{text}");
    }
    for accounts in ["users = [-1]", "groups = [true]"] {
        let text = says(&format!("[management]\n{accounts}"));
        assert!(text.contains("line 2") && text.contains("or a number, such as 1000"), "{text}");
    }
    let text = says("[[routes]]\nprefix = \"/localhost/nfd/rib\"\nto = \"udp4://192.0.2.1:6363\"\n");
    assert_eq!(
        text,
        "`routes.prefix` has \"/localhost/nfd/rib\", which belongs to the management of the forwarder"
    );
    assert_eq!(says("regions = [\"a\"]"), "`regions` has \"a\", which is not the URI of a name");
    assert!(says("[[routes]]\nprefix = \"/a\"\nto = \"udp://a\"").starts_with("`routes.to` has \"udp://a\""));
    let to = |to: &str, more: &str| says(&format!("{more}[[routes]]\nprefix = \"/a\"\nto = {to}\n"));
    assert!(to("\"udp4://192.0.2.1:0\"", "").contains("port 0 is the port of no forwarder"));
    assert!(says("[faces]\npit_tokens = [\"tcp4://192.0.2.1:0\"]").contains("port 0"));
    let groups = says("[faces.udp_multicast]\ngroups = [\"224.0.23.170:0\"]");
    assert!(groups.contains("has 224.0.23.170:0, but needs multicast groups and ports"), "{groups}");
    let (host, ether) = ("\"ether://[02:00:00:00:00:01]\"", "[faces.ether]\ninterfaces = [\"eth*\"]\n");
    assert!(to(host, ether).contains("but not the interface: add local, such as local = \"dev://eth0\""));
    let local = format!("{host}\nlocal = \"udp4://192.0.2.1:6363\"");
    assert!(to(&local, ether).contains("`routes.local` is no interface"));
    let local = "\"udp4://192.0.2.1:6363\"\nlocal = \"dev://eth0\"";
    assert!(to(local, ether).contains("`routes.local` is for faces of Ethernet and of groups"));
    for good in [format!("{host}\nlocal = \"dev://eth0\""), "\"ether://[01:00:5e:00:17:aa]\"".to_owned()] {
        let text = format!("{ether}[[routes]]\nprefix = \"/a\"\nto = {good}\n");
        assert!(Config::parse(&text).is_ok(), "{text}");
    }
    assert!(says("[strategies]\n\"/\" = \"fastest\"").contains("choose one of best-route"));
    assert!(says("[pit]\nentries = \"many\"").contains("line 2"));
    let lifetime = |millis: u64| format!("[pit]\nremote_lifetime_ms = {millis}");
    for millis in [0, 3_600_001] {
        let text = "`pit.remote_lifetime_ms` must be between 1 and 3600000";
        assert_eq!(says(&lifetime(millis)), text);
    }
    assert_eq!(Config::parse(&lifetime(1000)).unwrap().pit.remote_lifetime_ms, 1000);
    assert_eq!(Config::default().pit.remote_lifetime_ms, 30_000);
    assert!(says("[pit]\nindex = \"trie\"").contains("line 2"));
    let needs = "`pit.digest.key` must have 32 hexadecimal digits, the same at all neighbours";
    assert_eq!(says("[pit.digest]\nfunction = \"siphash-64\""), needs);
    assert!(says("[pit.digest]\ntlv_type = 848").contains("between 852 and 956"));
    for shards in ["0", "65", "70000", "-1", "\"2\"", "\"many\"", "true", "2.0"] {
        let text = says(&format!("[threads]\nshards = {shards}"));
        assert!(
            text.contains("line 2") && text.contains("a number of 1 to 64, without quotes, or \"auto\""),
            "{text}"
        );
    }
    assert!(says("[faces]\npit_tokens = [\"udp4://a\"]").starts_with("`faces.pit_tokens` has"));
    assert!(says("[faces.tcp]\nlisten = [\"localhost\"]").contains("line 2"));
    assert!(says("[cs").contains("line 1"));
}

#[test]
fn trust_rules_are_checked_and_can_be_written() {
    let rules = |anchors: &str, checkers: &str| {
        format!(
            "management.localhop = true\n[trust.localhop]\nanchors = [{anchors}]\n[[trust.localhop.rules]]\nid = \
             \"r\"\nfor = \"interest\"\nfilters = [{{ regex = '^<a>' }}, {{ name = \"/a\", relation = \
             \"is-prefix-of\" }}]\ncheckers = [{checkers}]\n"
        )
    };
    let file = "{ file = \"f\" }";
    let hierarchical = "{ type = \"hierarchical\" }";
    let config = Config::parse(&rules(file, hierarchical)).unwrap();
    assert_eq!(Config::parse(&config.to_toml()), Ok(config));
    let says = |text: &str| Config::parse(text).unwrap_err().to_string();
    for (anchors, checkers, expected) in [
        (file, "", "`trust.localhop` has the rule \"r\": it needs a checker"),
        ("", hierarchical, "`trust.localhop` needs both anchors and rules"),
        (
            "{ }",
            hierarchical,
            "`trust.localhop` has an anchor without exactly one of `file`, `base64` and `folder`",
        ),
        ("{ file = \"f\", folder = \"g\" }", hierarchical, "an anchor without exactly one of"),
        ("{ file = \"f\", refresh_s = 0 }", hierarchical, "a refresh_s of 0"),
        (file, "{ type = \"customized\" }", "a customized checker needs `key`"),
        (
            file,
            "{ type = \"customized\", key = { regex = '(' } }",
            "regex \"(\": no end of what begins at offset 0",
        ),
        (
            file,
            "{ type = \"customized\", key = { name = \"/a\" } }",
            "needs `regex`, or `name` and `relation`",
        ),
        (
            file,
            "{ type = \"customized\", key = { key_regex = '(<>)', key_expand = '\\2', relation = \"equal\", \
             packet_regex = '', packet_expand = '' } }",
            "no group 2 in the pattern",
        ),
        (
            file,
            "{ type = \"customized\", key = { key_regex = '(<>)', regex = '<a>' } }",
            "come together, alone",
        ),
    ] {
        let text = says(&rules(anchors, checkers));
        assert!(text.contains(expected), "{text}");
    }
    let any = "[trust.localhop]\nany = true\n";
    assert!(says(any).contains("set management.localhop = true, too"));
    assert!(says(&format!("{}{any}", "[management]\nlocalhop = false\n")).contains("has no effect"));
    let both = rules(file, hierarchical).replace("anchors =", "any = true\nanchors =");
    assert!(says(&both).contains("beside any = true"));
    let modules = "[[management.authorize]]\ncertificate = \"any\"\nmodules = [\"rib\"]\n";
    assert_eq!(
        says(modules),
        "`management.authorize.modules` has \"rib\", but needs some of faces, fib, cs, strategy-choice"
    );
}
