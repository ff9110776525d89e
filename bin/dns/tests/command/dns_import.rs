//! `hashlane dns import`: what it prints, and its exit codes.

use hashlane_rig::command::{Folder, holds};

const NSD: &str = "\
server:
  ip-address: 127.0.0.1@5353
  verbosity: 2
# The zones.
include: \"zones.conf\"
";

const ZONES: &str = "\
zone:
  name: example.com
  zonefile: example.com.zone
  provide-xfr: 192.0.2.0/24 NOKEY
";

const ZONE: &str = "\
@ 300 IN SOA ns1 hostmaster 7 3600 600 86400 60
@ 300 IN NS ns1.example.net.
";

#[test]
fn a_configuration_of_nsd_is_printed_with_a_line_for_each_of_its_lines() {
    let folder = Folder::new();
    folder.write("nsd.conf", NSD);
    folder.write("zones.conf", ZONES);
    let ran = folder.run(&["dns", "import", "nsd.conf"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    assert_eq!(
        ran.out,
        "[server]\nlisten = [\"127.0.0.1:5353\"]\n\n[[zone]]\nname = \"example.com\"\nfile = \
         \"example.com.zone\"\nallow_transfer = [\"192.0.2.0/24\"]\n"
    );
    assert_eq!(
        ran.err,
        "line 1: server: → [server]
line 2: ip-address: → server.listen
line 3: verbosity: no counterpart; ignored
line 5: include: → the lines of the file
zones.conf, line 1: zone: → [[zone]]
zones.conf, line 2: name: → zone.name
zones.conf, line 3: zonefile: → zone.file
zones.conf, line 4: provide-xfr: → zone.allow_transfer
nsd.conf, read as nsd.conf: 7 statements kept, 1 ignored, 0 lost; 1 blank lines and comments
"
    );
}

#[test]
fn the_result_is_a_configuration_of_the_server() {
    let folder = Folder::new();
    folder.write("example.com.zone", ZONE);
    folder.write(
        "knot.conf",
        "server:\n  listen: 127.0.0.1@5353\n  nsid: ns1\nzone:\n  - domain: example.com\n    storage: .\n",
    );
    let ran = folder.run(&["dns", "import", "knot.conf"]);
    assert_eq!(ran.code, Some(0), "{ran:#?}");
    folder.write("dns.toml", &ran.out);
    holds(&folder.run(&["dns", "check-config", "dns.toml"]).ok(), &["example.com: serial 7, 2 records"]);
}

#[test]
fn a_loss_has_an_exit_code_and_the_rest_is_printed() {
    let folder = Folder::new();
    let zone = "zone:\n name: a\n zonefile: f\n allow-query: 10.0.0.0/8 NOKEY\n";
    folder.write("nsd.conf", format!("include: ../zones.conf\ninclude: /etc/passwd\ninclude: none\n{zone}"));
    let ran = folder.run(&["dns", "import", "nsd.conf", "--from", "nsd"]);
    let expected = "[[zone]]\nname = \"a\"\nfile = \"f\"\nallow_query = [\"10.0.0.0/8\"]\n";
    assert_eq!((ran.code, ran.out.as_str()), (Some(3), expected));
    holds(
        &ran.err,
        &[
            "line 1: include: cannot be kept: ../zones.conf is not in the folder of the configuration",
            "line 2: include: cannot be kept: /etc/passwd is not in the folder",
            "line 3: include: cannot be kept: cannot read none: No such file",
            "line 7: allow-query: → zone.allow_query",
            "4 statements kept, 0 ignored, 3 lost",
        ],
    );
    folder.write("other.conf", "options { };\n");
    let other = folder.run(&["dns", "import", "other.conf"]);
    assert_eq!((other.code, other.out.as_str()), (Some(1), ""));
    holds(&other.err, &["other.conf: neither an nsd.conf nor a knot.conf; name the server by --from"]);
}
