//! `hashlane dns serve` as a primary and a secondary, with `control`, and `check-zone`, end to end.

use crate::dns_serve::Server;
use hashlane_rig::command::{Folder, holds};
use hashlane_rig::process::{Process, until};
use std::os::unix::fs::PermissionsExt;

const ZONE: &str = "\
$ORIGIN example.com.
$TTL 300
@ IN SOA ns1 hostmaster 7 3600 600 86400 60
@ IN NS ns1
ns1 IN A 192.0.2.1
";

/// A server with a configuration of its folder, and the address that it listens on.
fn serve(folder: &Folder, config: &str) -> (Process, String) {
    let Server { process, address } = Server::start(folder.command(&["dns", "serve", "--config", config]));
    (process, address.to_string())
}

#[test]
fn a_secondary_is_set_up_by_files_and_commands() {
    let folder = Folder::new();
    folder.write("example.com.zone", ZONE);
    folder.write("example.net.zone", ZONE.replace("example.com", "example.net"));
    let common = "[server]\nlisten = [\"127.0.0.1:0\"]\nworkers = 1\n[[key]]\nname = \"transfer.example\"\n\
                  algorithm = \"hmac-sha256\"\nsecret_file = \"secret\"\n";
    folder.write("secret", "c2VjcmV0IHNlY3JldCBzZWNyZXQgc2VjcmV0\n");
    folder.write(
        "primary.toml",
        format!(
            "{common}[control]\npath = \"{}\"\n[transfer]\nfolder = \"kept\"\n[log]\nqueries = 1\n[[zone]]\n\
             name = \"example.com\"\nfile = \"example.com.zone\"\n\
             allow_transfer = [\"key transfer.example\"]\n",
            folder.path("primary.sock").display()
        ),
    );
    let mode =
        |mode| std::fs::set_permissions(folder.path("secret"), PermissionsExt::from_mode(mode)).unwrap();
    mode(0o644);
    let (primary, address) = serve(&folder, "primary.toml");
    primary.wait_for("every user can read this secret", 1);
    mode(0o600);
    folder.write(
        "secondary.toml",
        format!(
            "{common}[control]\npath = \"{}\"\n[transfer]\nfolder = \"received\"\n[[zone]]\n\
             name = \"example.com\"\nprimaries = [\"{address} key transfer.example\"]\n",
            folder.path("secondary.sock").display()
        ),
    );
    holds(
        &folder.run(&["dns", "check-config", "secondary.toml"]).ok(),
        &["not yet received from its primaries", "is a valid configuration"],
    );
    let (secondary, _) = serve(&folder, "secondary.toml");
    secondary.wait_for("zone transferred", 1);
    assert_eq!(secondary.count("every user can read"), 0);
    // The query for the SOA record was signed, and logged.
    primary.wait_for("transferred zone=", 1);
    let control =
        |socket: &str, words: &[&str]| folder.run(&[&["dns", "control", "--socket", socket], words].concat());
    until(
        || control("secondary.sock", &["status"]).ok().contains(&format!("from {address}")),
        || control("secondary.sock", &["status"]).ok(),
    );
    holds(&control("secondary.sock", &["refresh", "example.com"]).ok(), &["asking its primaries"]);
    holds(&control("secondary.sock", &["retransfer", "example.com"]).ok(), &["asking its primaries"]);
    secondary.wait_for("zone transferred", 2);
    let wait = |verb: &str| control("secondary.sock", &[verb, "example.com", "--wait"]).ok();
    holds(&wait("refresh"), &[&format!("example.com: serial 7 is the newest at {address}\n")]);
    holds(&wait("retransfer"), &[&format!("example.com: serial 7 transferred from {address} by AXFR\n")]);
    // A whole zone is written to this path first.
    let place = folder.path("received/example.com.transfer.new");
    std::fs::create_dir(&place).unwrap();
    for verb in ["retransfer", "refresh"] {
        let lost = control("secondary.sock", &[verb, "example.com", "--wait"]);
        assert_eq!(lost.code, Some(1), "{lost:?}");
        let why = "example.com: serial 7 is in service, but not on the disk: ";
        holds(&lost.out, &[why, "example.com.transfer.new: ", "the next refresh tries again\n"]);
    }
    std::fs::remove_dir(&place).unwrap();
    assert!(!wait("refresh").contains("disk"));
    let full = control("secondary.sock", &["status", "Example.COM."]).ok();
    let source = format!("source      its primaries: {address} key transfer.example\n");
    holds(&full, &[&source[..], "serial      7", &format!("answered by {address}, ")]);
    holds(&control("secondary.sock", &["status", "example.net"]).failed(), &["no zone example.net"]);
    assert!(!control("secondary.sock", &["status", "--failing"]).ok().contains("serial 7"));
    holds(&control("secondary.sock", &["stats"]).ok(), &["transfers    in: 4 completed, 0 failed; out: 0"]);
    holds(&control("secondary.sock", &["refresh", "example.net"]).failed(), &["no zone example.net"]);
    holds(&control("primary.sock", &["notify", "example.com"]).failed(), &["nobody to tell"]);
    // Another zone at run time, whose file the server reads.
    let file = folder.path("example.net.zone").display().to_string();
    holds(&control("primary.sock", &["add", "example.net", "--file", &file]).ok(), &["example.net: added"]);
    holds(&control("primary.sock", &["status"]).ok(), &["example.net  serial 7"]);
    holds(&control("primary.sock", &["add", "example.net", "--file", &file]).failed(), &["twice"]);
    holds(&control("primary.sock", &["delete", "example.net"]).ok(), &["example.net: deleted"]);
    holds(&control("primary.sock", &["delete", "example.com"]).failed(), &["not added"]);
    // A catalog of the zones, with rights, and what is kept of it.
    let rights = ["--allow-transfer", "key transfer.example", "--notify", "127.0.0.1:9"];
    let add = ["add", "catalog.example", "--catalog", "produce"];
    control("primary.sock", &[&add[..], &rights].concat()).ok();
    let kept = std::fs::read_to_string(folder.path("kept/added.toml")).unwrap();
    holds(&kept, &["name = \"catalog.example\"", "catalog = \"produce\"", "notify = [\"127.0.0.1:9\"]"]);
    let peer = format!("{address} key transfer.example");
    let add = ["add", "catalog.example", "--primary", &peer, "--catalog", "follow"];
    control("secondary.sock", &[&add[..], &["--allow-notify", "127.0.0.9"]].concat()).ok();
    until(
        || control("secondary.sock", &["status", "catalog.example"]).ok().contains("answered by 127"),
        || control("secondary.sock", &["status"]).ok(),
    );
    holds(
        &std::fs::read_to_string(folder.path("received/added.toml")).unwrap(),
        &["catalog = \"follow\"", "allow_notify = [\"127.0.0.9/32\"]"],
    );
    primary.signal("-INT");
    assert_eq!(primary.end(), Some(0));
    let gone = control("secondary.sock", &["refresh", "example.com", "--wait"]);
    assert_eq!(gone.code, Some(1), "{gone:?}");
    holds(&gone.out, &["example.com: not transferred: ", "refused", "serial 7 is in service"]);
    holds(&control("secondary.sock", &["status", "example.com"]).ok(), &["failures    1", "last        127"]);
    let failing = control("secondary.sock", &["status", "--failing"]);
    assert_eq!(failing.code, Some(1));
    holds(&failing.out, &["example.com  serial 7", "1 failure: "]);
    // One line for one failure.
    assert_eq!(secondary.count("Connection refused"), 1);
    secondary.signal("-INT");
    assert_eq!(secondary.end(), Some(0));
}

#[test]
fn a_secondary_that_refuses_a_notify_is_named_until_it_is_told_no_more() {
    let folder = Folder::new();
    folder.write("example.com.zone", ZONE);
    let config = |socket: &str, more: &str| {
        format!(
            "[server]\nlisten = [\"127.0.0.1:0\"]\nworkers = 1\n[control]\npath = \"{socket}\"\n[[zone]]\n\
             name = \"example.com\"\nfile = \"example.com.zone\"\n{more}"
        )
    };
    // One that has the zone from a file.
    folder.write("stranger.toml", config("", ""));
    let (_stranger, address) = serve(&folder, "stranger.toml");
    let socket = folder.path("primary.sock").display().to_string();
    folder.write("primary.toml", config(&socket, &format!("notify = [\"{address}\"]\n")));
    let (_primary, _) = serve(&folder, "primary.toml");
    let control =
        |words: &[&str]| folder.run(&[&["dns", "control", "--socket", "primary.sock"], words].concat());
    let refused = control(&["notify", "example.com", "--wait"]);
    assert_eq!((refused.code, refused.out), (Some(1), format!("example.com: {address}: REFUSED\n")));
    let line =
        format!("  not told: {address} has answered REFUSED to NOTIFY of serial 7; permit this server");
    let failing = control(&["status", "--failing"]);
    assert_eq!(failing.code, Some(1));
    holds(&failing.out, &["example.com  serial 7", &line]);
    holds(&control(&["status", "example.com"]).ok(), &[&line]);
    holds(&control(&["stats"]).ok(), &["notify       0 taken, "]);
    folder.write("primary.toml", config(&socket, ""));
    control(&["reload"]).ok();
    assert!(!control(&["status", "--failing"]).ok().contains("not told"));
}

#[test]
fn queries_are_logged_one_of_as_many_as_the_configuration_says() {
    let folder = Folder::new();
    folder.write("example.com.zone", ZONE);
    folder.write(
        "dns.toml",
        "[server]\nlisten = [\"127.0.0.1:0\"]\nworkers = 1\n[control]\npath = \"\"\n[log]\nqueries = 3\n\
         [[zone]]\nname = \"example.com\"\nfile = \"example.com.zone\"\n",
    );
    let (server, address) = serve(&folder, "dns.toml");
    let client = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    client.set_read_timeout(Some(std::time::Duration::from_secs(15))).unwrap();
    for _ in 0..9 {
        client
            .send_to(b"\0\x01\0\0\0\x01\0\0\0\0\0\0\x03WWW\x07example\x03com\0\0\x01\0\x01", &address)
            .unwrap();
        client.recv(&mut [0; 512]).unwrap();
    }
    server.wait_for("name=WWW.example.com. rtype=A", 3);
    assert_eq!(server.count("transport=\"udp\""), 3);
    server.signal("-INT");
    assert_eq!(server.end(), Some(0));
}

#[test]
fn zone_files_are_checked_without_a_server() {
    let folder = Folder::new();
    folder.write("example.com.zone", ZONE);
    let ok = folder.run(&["dns", "check-zone", "example.com.zone"]).ok();
    holds(&ok, &["example.com: serial 7, 3 records"]);
    folder
        .write("faulty.example.zone", format!("{}@ IN MX 10 ns1\n", ZONE.replace("ns1 IN A 192.0.2.1", "")));
    let faulty = ["dns", "check-zone", "faulty.example=faulty.example.zone"];
    let zone = ZONE.replace("example.com", "faulty.example").replace("ns1 IN A 192.0.2.1\n", "");
    folder.write("faulty.example.zone", zone);
    holds(&folder.run(&faulty).ok(), &["warning: ", "without an address"]);
    let strict = folder.run(&[&faulty[..], &["--strict"]].concat());
    assert_eq!(strict.code, Some(1));
    holds(&strict.err, &["1 of 1 zones have faults"]);
    folder.write("faulty.example.zone", "@ IN SOA\n");
    let broken = folder.run(&faulty);
    assert_eq!(broken.code, Some(1));
    holds(&(broken.out + &broken.err), &["faulty.example.zone", "cannot be loaded"]);
}
