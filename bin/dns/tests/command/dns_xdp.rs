//! `hashlane dns serve --io xdp`, on a cable between two network namespaces.
//!
//! Skipped where no namespace can be made; with CI=true that is a failure.

use crate::dns_serve::{Server, folder};
use hashlane_rig::command::{Folder, holds};
use hashlane_rig::namespace;
use hashlane_rig::proc::Stat;
use hashlane_rig::process::until;
use std::fs::File;
use std::net::UdpSocket;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Command;
use std::time::Duration;

/// The ends of the cable, with their addresses.
const FAR: (&str, &[&str]) = ("far", &["10.9.0.2/24"]);
const NEAR: (&str, &[&str]) = ("near", &["10.9.0.1/24"]);

/// Runs a test in the namespace of the server's end `far`; `near`, the client's, is in the other one.
fn with_cable(test: fn(&File)) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let prepare = move || {
        let client = namespace::create_cable(FAR, NEAR)?;
        sender.send(client).map_err(std::io::Error::other)
    };
    namespace::with(prepare, move || test(&receiver.recv().unwrap()));
}

/// A command of a server on `far`, in a folder that every user reads.
fn command(folder: &Folder, more: &[&str]) -> Command {
    std::fs::set_permissions(folder.path(""), std::fs::Permissions::from_mode(0o755)).unwrap();
    let serve = ["dns", "serve", "example.com.zone", "--listen", "10.9.0.2:5300", "--interface", "far"];
    let socket = if more.contains(&"--socket") { &[][..] } else { &["--socket", "none"] };
    folder.command(&[&serve[..], socket, more].concat())
}

/// A socket in the client's namespace.
fn client(namespace: &File) -> UdpSocket {
    let client = namespace::within(namespace, || UdpSocket::bind("0.0.0.0:0").unwrap());
    client.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    client
}

/// Sends a query from the client's namespace, and receives the answer.
fn ask(namespace: &File, server: &Server) {
    let client = client(namespace);
    client.send_to(crate::dns_serve::QUERY, server.address).unwrap();
    let mut response = [0; 512];
    let length = client.recv(&mut response).unwrap();
    assert!(response[..length].ends_with(&[192, 0, 2, 80]));
}

/// Returns `true` if a program is on the interface.
fn is_attached() -> bool {
    let output = Command::new("ip").args(["link", "show", "far"]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8_lossy(&output.stdout).contains("prog/xdp")
}

/// Waits until no program is on the interface.
fn until_detached() {
    until(|| !is_attached(), || "a program on the interface".to_owned());
}

#[test]
fn the_kernel_removes_the_program_whatever_ends_the_server() {
    with_cable(|namespace| {
        let folder = folder();
        for (signal, code) in [("-KILL", None), ("-TERM", Some(0)), ("-INT", Some(0)), ("-KILL", None)] {
            // The user that it becomes has no rights.
            let server = Server::start(command(&folder, &["--io", "xdp", "--user", "nobody"]));
            let lines = server.process.lines.lock().unwrap().join("\n");
            assert!(lines.contains("XDP interface=\"far\" mode=native, copying queues=1"), "{lines}");
            assert!(is_attached());
            ask(namespace, &server);
            server.process.signal(signal);
            assert_eq!(server.process.end(), code, "{signal}");
            until_detached();
        }
    });
}

#[test]
fn an_interface_that_another_server_has_is_refused_or_left_to_sockets() {
    with_cable(|_| {
        let folder = folder();
        let first = Server::start(command(&folder, &["--user", "root"]));
        assert_eq!(first.process.count("XDP interface=\"far\""), 1, "auto uses the interface that is named");
        // On another address, so that the first one's sockets are not in the way.
        namespace::ip("addr add 10.9.0.3/24 dev far").unwrap();
        let other = |io| {
            let serve = ["dns", "serve", "example.com.zone", "--listen", "10.9.0.3:5300", "--socket", "none"];
            let xdp = ["--user", "root", "--interface", "far", "--io", io];
            folder.command(&[&serve[..], &xdp].concat())
        };
        let said = hashlane_rig::command::Ran::of(other("xdp")).failed();
        let expected = "XDP on far: another program has XDP on it; end that program, or run `ip link set dev far \
                        xdp off`; or use sockets, by --io sockets or auto";
        assert!(said.contains(expected), "{said}");
        let second = Server::start(other("auto"));
        assert_eq!(second.process.count("no XDP; its queries come by sockets interface=\"far\""), 1);
        let third = "[server]\nio = \"sockets\"\ninterfaces = [\"far\"]\n";
        folder.write("dns.toml", third);
        drop((first, second));
        until_detached();
        let sockets = Server::start(command(&folder, &["--user", "root", "--config", "dns.toml"]));
        assert!(!is_attached());
        drop(sockets);
    });
}

#[test]
fn an_interface_that_was_removed_is_reported_once_and_sockets_take_over() {
    with_cable(|namespace| {
        let folder = folder();
        let server = Server::start(command(&folder, &["--io", "xdp", "--user", "nobody"]));
        ask(namespace, &server);
        namespace::ip("link set far down").unwrap();
        server.process.wait_for("set it up: ip link set dev far up interface=\"far\"", 1);
        namespace::ip("link set far up").unwrap();
        server.process.wait_for("the interface is up again interface=\"far\"", 1);
        ask(namespace, &server);
        namespace::ip("link del far").unwrap();
        server.process.wait_for("restart the server to have them by XDP interface=\"far\"", 1);
        namespace::connect(FAR, NEAR, namespace).unwrap();
        ask(namespace, &server);
        // Several looks later, no line was repeated.
        std::thread::sleep(Duration::from_secs(1));
        assert_eq!(server.process.count("up again"), 1);
        assert_eq!(server.process.count("the interface was removed"), 1);
        assert!(!is_attached());
    });
}

#[test]
fn frames_that_a_server_is_too_slow_for_are_in_its_metrics() {
    const SENT: u64 = 5000;
    with_cable(|namespace| {
        let folder = folder();
        let more = ["--io", "xdp", "--user", "root", "--metrics", "127.0.0.1:0", "--socket", "control.sock"];
        let server = Server::start(command(&folder, &more));
        // The kernel keeps few datagrams until it knows the neighbour.
        ask(namespace, &server);
        server.process.signal("-STOP");
        let id = i32::try_from(server.process.child.id()).unwrap();
        until(|| Stat::read(id).unwrap().state == 'T', || "a process that is stopped".to_owned());
        let client = client(namespace);
        let unsent = || namespace::within(namespace, || namespace::unsent("near").unwrap());
        let before = unsent();
        for _ in 0..SENT {
            client.send_to(crate::dns_serve::QUERY, server.address).unwrap();
        }
        server.process.signal("-CONT");
        // The kernel had a frame for each of the next 2,048.
        let received = "messages_total{transport=\"udp\"} 2049\n";
        let lost = SENT - 2048 - (unsent() - before);
        let stats = format!("  xdp-dropped        {},{:03}\n", lost / 1000, lost % 1000);
        let lost = format!("xdp_lost_total{{cause=\"dropped\"}} {lost}\n");
        let metrics = || crate::dns_serve::metrics(&server);
        until(|| metrics().contains(received) && metrics().contains(&lost), metrics);
        assert!(metrics().contains("hashlane_dns_xdp_up{interface=\"far\"} 1\n"));
        assert!(metrics().contains("hashlane_dns_xdp_outages_total{interface=\"far\"} 0\n"));
        let control = |command| folder.run(&["dns", "control", "--socket", "control.sock", command]).ok();
        holds(&control("status"), &["XDP          far, native, copying, 1 queues; up, 0 outages\n"]);
        holds(&control("stats"), &[&stats]);
    });
}
