//! Rights of the users of a host: processes and connections of root and of another user at one forwarder.

use crate::forwarder::{
    Folder, Forwarder, Process, block_on, fetch, over_websocket, over_websocket_all, parse, produce,
};
use hashlane_client::{Client, Express, Transport};
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::dataset::ForwarderStatus;
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, Record, Scope};
use hashlane_ndn::tlv::Elements;
use hashlane_ndn::wire::{DataBuilder, InterestBuilder};
use hashlane_rig::children::{self, output};
use hashlane_rig::command::{NOBODY, copied_to, is_root};
use nix::unistd::{Gid, Group, Uid, setfsuid};
use std::fs::{self, Permissions};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

/// A folder that every user can reach, and a forwarder of root in it.
pub(crate) fn start(config: &str) -> (Folder, Forwarder) {
    let folder = Folder::new();
    fs::set_permissions(&folder.0, Permissions::from_mode(0o755)).unwrap();
    fs::write(folder.path("f.toml"), config).unwrap();
    let forwarder = folder.forwarder(&["--config", "f.toml", "--ws", "127.0.0.1:0"]);
    (folder, forwarder)
}

/// `hashlane ndn …` of the user nobody, with the forwarder at `transport`.
pub(crate) fn nobody(folder: &Folder, transport: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(copied_to(&folder.0, "hashlane-ndn"));
    command.args(arguments).current_dir(&folder.0).env("NDN_CLIENT_TRANSPORT", transport);
    command.uid(NOBODY).gid(NOBODY).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// The Unix socket, and the TCP port.
fn transports(folder: &Folder, forwarder: &Forwarder) -> [String; 2] {
    [folder.transport().to_string(), format!("tcp://{}", forwarder.tcp)]
}

#[track_caller]
pub(crate) fn refused(output: &Output, texts: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(texts.iter().all(|text| message.contains(text)), "{texts:?}: {message}");
}

/// Output of a command that ends when it is refused.
#[track_caller]
fn ended(mut command: Command) -> Output {
    children::finish(children::start(&mut command))
}

#[track_caller]
pub(crate) fn done(output: &Output) {
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn applications_of_other_users_serve_their_prefixes() {
    if !is_root() {
        return;
    }
    let (folder, forwarder) = start("");
    for transport in transports(&folder, &forwarder) {
        let server = Process::printing(nobody(&folder, &transport, &["ping-server", "/a"]));
        server.wait_for("PING SERVER", 1);
        let ping = output(&mut nobody(&folder, &transport, &["ping", "/a", "-c", "3", "-i", "10"]));
        let message = String::from_utf8_lossy(&ping.stdout);
        assert!(message.contains("3 packets transmitted, 3 received"), "{transport}: {ping:?}");
        server.signal("-INT");
        assert_eq!(server.end(), Some(0), "{transport}");
        // It has unregistered its prefix.
        let gone = folder.run(&["peek", "/a/x"]);
        refused(&gone, &["no route for this name"]);
    }
}

#[test]
fn a_forwarder_of_root_runs_as_another_user_and_serves_its_counters() {
    if !is_root() {
        return;
    }
    let folder = Folder::new();
    let forwarder = folder.forwarder(&["--user", "nobody", "--metrics", "127.0.0.1:0"]);
    let status = fs::read_to_string(format!("/proc/{}/status", forwarder.process.child.id())).unwrap();
    for ids in ["Uid", "Gid"] {
        let line = status.lines().find(|line| line.starts_with(ids)).unwrap();
        assert_eq!(line.split_whitespace().skip(1).collect::<Vec<_>>(), ["65534"; 4], "{status}");
    }
    forwarder.process.wait_for("/metrics", 1);
    let lines = forwarder.process.lines.lock().unwrap().clone();
    let address = lines.iter().find_map(|line| line.split_once("url=http://")?.1.strip_suffix("/metrics"));
    let mut client = TcpStream::connect(address.unwrap()).unwrap();
    client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
    let mut response = String::new();
    client.read_to_string(&mut response).unwrap();
    assert!(
        response.contains("hashlane_ndn_packets_total{direction=\"in\",type=\"interest\"}"),
        "{response}"
    );
    // Its own user may command it, as root may.
    done(&folder.run(&["face", "create", "udp4://127.0.0.1:9"]));
    let unknown = folder.run(&["run", "--user", "no-such-user", "--ws", "none"]);
    refused(&unknown, &["this system has no such user"]);
}

#[test]
fn other_users_command_nothing_but_their_own_faces() {
    if !is_root() {
        return;
    }
    let (folder, forwarder) = start("");
    let made = folder.run(&["face", "create", "udp4://127.0.0.1:9"]);
    let message = String::from_utf8(made.stdout).unwrap();
    let id = message.split_once("id=").unwrap().1.split(' ').next().unwrap();
    done(&folder.run(&["route", "add", "/root", id]));
    for transport in transports(&folder, &forwarder) {
        for (arguments, texts) in [
            (
                &["route", "add", "/x", id][..],
                ["user 65534 may register prefixes of its own face", "management.users"],
            ),
            (
                &["route", "remove", "/root", id],
                ["user 65534 may register prefixes of its own face", "management.groups"],
            ),
            (
                &["route", "add", "/localhost/x", "0"],
                ["names under /localhost from user 65534", "trust anchor"],
            ),
            (
                &["strategy", "set", "/x", "multicast"],
                ["strategy-choice/set from user 65534", "management.users"],
            ),
            (
                &["face", "create", "udp4://127.0.0.1:10"],
                ["faces/create from user 65534", "management.users"],
            ),
            (&["face", "update", id, "--mtu", "1400"], ["faces/update from user 65534", "management.users"]),
            (&["face", "destroy", id], ["faces/destroy from user 65534", "management.users"]),
            (&["cs", "config", "--capacity", "1"], ["cs/config from user 65534", "management.users"]),
        ] {
            refused(&output(&mut nobody(&folder, &transport, arguments)), &[&["403"], &texts[..]].concat());
        }
        // The same commands from root are done.
        let uri = ["--connect", transport.as_str()];
        for arguments in [&["route", "add", "/x", id][..], &["strategy", "set", "/x", "multicast"]] {
            done(&folder.run(&[arguments, &uri].concat()));
        }
        done(&folder.run(&[&["route", "remove", "/x", id][..], &uri].concat()));
    }
    let routes = String::from_utf8(folder.run(&["route", "list"]).stdout).unwrap();
    assert!(routes.contains("/root") && !routes.contains("/x"), "{routes}");
}

#[test]
fn users_and_groups_of_the_configuration_give_every_command() {
    if !is_root() {
        return;
    }
    let group = Group::from_gid(Gid::from_raw(NOBODY)).unwrap().expect("nobody has a group").name;
    let lists =
        [format!("users = [{NOBODY}]"), "users = [\"nobody\"]".into(), format!("groups = [\"{group}\"]")];
    for list in lists {
        let (folder, forwarder) = start(&format!("[management]\n{list}\n"));
        for transport in transports(&folder, &forwarder) {
            done(&output(&mut nobody(&folder, &transport, &["strategy", "set", "/x", "multicast"])));
        }
    }
}

#[test]
fn no_rule_is_weaker_over_the_loopback() {
    if !is_root() {
        return;
    }
    let serve = ["ping-server", "/a", "-p", "1"];
    let (folder, forwarder) = start("[faces.unix]\nmode = \"0o600\"\n");
    let [unix, tcp] = transports(&folder, &forwarder);
    assert_eq!(ended(nobody(&folder, &unix, &serve)).status.code(), Some(1));
    refused(&ended(nobody(&folder, &tcp, &serve)), &["403", "user 65534 may not connect to the Unix socket"]);

    let (folder, forwarder) = start("[faces.tcp]\nloopback = false\n");
    let [unix, tcp] = transports(&folder, &forwarder);
    // Not even `/localhost` crosses: the face is not local.
    let set = ["strategy", "set", "/x", "multicast", "--connect"];
    assert_eq!(folder.run(&[&set[..], &[&tcp]].concat()).status.code(), Some(1));
    assert_eq!(folder.run(&["status", "--connect", &tcp]).status.code(), Some(1));
    done(&folder.run(&[&set[..], &[&unix]].concat()));
    produce(&folder, "/a", |_| b"hello".to_vec());
    done(&folder.run(&["peek", "/a/b", "--connect", &tcp]));
}

/// A command, signed with its digest.
pub(crate) fn command(module: &str, verb: &str, parameters: &ControlParameters) -> Vec<u8> {
    let target = Target { scope: Scope::Localhost, module: module.as_bytes(), verb: verb.as_bytes() };
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    let builder =
        CommandBuilder { target, parameters, nonce: 7, lifetime: 4000, signature_nonce: [7; 8], time };
    builder.build().unwrap()
}

#[test]
fn a_websocket_has_the_rights_of_the_user_who_opened_it() {
    if !is_root() {
        return;
    }
    let (_folder, forwarder) = start("[faces.websocket]\nloopback = true\n");
    let at = forwarder.websocket();
    let named = ControlParameters { name: Some(parse("/page")), ..Default::default() };
    let strategy = Some(parse("/localhost/nfd/strategy/multicast"));
    let strategy = ControlParameters { strategy, ..named.clone() };
    let answers = thread::spawn(move || {
        // Of this thread only: its new sockets belong to that user.
        setfsuid(Uid::from_raw(NOBODY));
        let register = over_websocket(at, "", &command("rib", "register", &named));
        let other = over_websocket(at, "", &command("strategy-choice", "set", &strategy));
        let page = over_websocket(at, "Origin: http://a.example\r\n", &command("rib", "register", &named));
        [register, other, page]
    });
    let [register, other, page] = answers.join().unwrap();
    assert!(register.contains("OK"), "{register}");
    assert!(other.contains("strategy-choice/set from user 65534 needs"), "{other}");
    assert!(page.contains("need the origin in faces.websocket.origins"), "{page}");
}

#[test]
fn a_websocket_is_local_if_the_file_says_so_and_no_proxy_is_between() {
    let named = ControlParameters { name: Some(parse("/page")), ..Default::default() };
    let name = parse("/a/b");
    let interest = InterestBuilder { nonce: Some(7), ..InterestBuilder::new(name.view()) }.build();
    for (loopback, proxies) in [
        (false, &[""][..]),
        (
            true,
            &[
                "Forwarded: for=192.0.2.1\r\n",
                "X-Forwarded-For: 192.0.2.1\r\n",
                "x-real-ip: 192.0.2.1\r\n",
                "Via: 1.1 proxy\r\n",
            ],
        ),
    ] {
        let folder = Folder::new();
        fs::write(folder.path("f.toml"), format!("[faces.websocket]\nloopback = {loopback}\n")).unwrap();
        let forwarder = folder.forwarder(&["--config", "f.toml", "--ws", "127.0.0.1:0"]);
        let at = forwarder.websocket();
        produce(&folder, "/a", |_| vec![b'a'; 200]);
        for proxy in proxies {
            // It consumes; the command, under /localhost, is dropped.
            let packets = [command("rib", "register", &named), interest.clone()];
            let answer = over_websocket_all(at, proxy, &packets);
            assert!(answer.contains("aaaa"), "{proxy}: {answer}");
            let routes = String::from_utf8(folder.run(&["route", "list"]).stdout).unwrap();
            assert!(routes.contains("/a") && !routes.contains("/page"), "{proxy}: {routes}");
        }
        if loopback {
            let answer = over_websocket(at, "", &command("rib", "register", &named));
            assert!(answer.contains("OK"), "{answer}");
        }
    }
}

/// Tests if the forwarder answers for its status.
async fn has_status(client: &Client) -> bool {
    let Ok(content) = client.dataset("status", "general", None).await else { return false };
    ForwarderStatus::parse_fields(Elements::new(&content)).is_ok_and(|status| status.start > 0)
}

#[test]
fn applications_do_not_answer_for_the_management() {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&[]);
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        let thief = Client::connect(&folder.transport()).await.unwrap();
        let mut registrations = Vec::new();
        for prefix in ["/localhost/nfd", "/localhost/nfd/status", "/localhop/nfd"] {
            registrations.push(thief.register(parse(prefix).view()).await);
            assert!(has_status(&client).await, "after a registration of {prefix}");
        }
        for registration in registrations {
            let message = registration.map(|_| ()).unwrap_err().to_string();
            assert!(message.contains("403") && message.contains("belongs to the management"), "{message}");
        }
    });
}

#[test]
fn what_applications_say_of_the_forwarder_is_not_kept() {
    let folder = Folder::new();
    let forwarder = folder.forwarder(&[]);
    block_on(async {
        let thief = Client::connect(&folder.transport()).await.unwrap();
        let mut registration = thief.register(parse("/localhost").view()).await.unwrap();
        let consumer = Client::connect(&folder.transport()).await.unwrap();
        let name = parse("/localhost");
        let asked = tokio::spawn(async move {
            let interest = InterestBuilder {
                can_be_prefix: true,
                lifetime: 60_000,
                ..InterestBuilder::new(name.view())
            };
            consumer.express(&interest, &Express::default()).await.is_ok()
        });
        let incoming = registration.next().await.unwrap();
        // Data that would satisfy the Interest for the shorter name, and stay in the content store for an
        // hour.
        for (name, freshness) in [("/localhost/nfd/status/general/v=1/seg=0", 3_600_000), ("/localhost/x", 1)]
        {
            let name = parse(name);
            let last = name.view().components().last();
            let data = DataBuilder {
                freshness: Some(freshness),
                final_block: last,
                ..DataBuilder::new(name.view(), b"")
            };
            let _ = incoming.reply(&data.build()).await;
        }
        assert!(asked.await.unwrap());
        let client = Client::connect(&folder.transport()).await.unwrap();
        assert!(has_status(&client).await, "{:#?}", forwarder.process.lines.lock().unwrap());
    });
}

#[test]
fn udp_of_this_host_registers_as_that_of_others() {
    let folder = Folder::new();
    let forwarder = folder.forwarder(&[]);
    let transport: Transport = format!("udp://{}", forwarder.udp).parse().unwrap();
    block_on(async {
        let client = Client::connect(&transport).await.unwrap();
        let message = client.register(parse("/a").view()).await.map(|_| ()).unwrap_err().to_string();
        assert!(
            message.contains("registrations under /localhop from 127.0.0.1 are not enabled"),
            "{message}"
        );
        produce(&folder, "/b", |_| b"hello".to_vec());
        assert!(fetch(&client, "/b/c").await, "consuming needs no rights");
    });
}
