//! `hashlane ndn run` as a process: killed, flooded, starved and stopped.

use crate::forwarder::{
    Folder, Forwarder, Process, RUN, block_on, fetch, over_websocket, parse, produce, until,
};
use hashlane_client::Client;
use hashlane_ndn::mgmt::command::Target;
use hashlane_ndn::mgmt::dataset::FaceStatus;
use hashlane_ndn::mgmt::values::{
    FACE_CONGESTION_MARKING, FACE_LOCAL_FIELDS, FACE_NO_INTEREST_DIGESTS, FACE_PIT_TOKENS, FacePersistency,
};
use hashlane_ndn::mgmt::{CommandBuilder, ControlParameters, Record, Scope};
use hashlane_ndn::wire::InterestBuilder;
use hashlane_rig::children::{PROMPT, finish, start};
use socket2::{Domain, Socket, Type};
use std::fs;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Pseudo-random bytes.
fn noise(seed: u64, octets: usize) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()[3]
    };
    (0..octets).map(|_| next()).collect()
}

#[track_caller]
fn refused(output: &Output, texts: &[&str]) {
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code().is_some_and(|code| code != 0), "{output:?}");
    assert!(texts.iter().all(|text| message.contains(text)), "{texts:?}: {message}");
}

#[test]
fn clients_go_on_when_the_forwarder_is_killed_and_started_again() {
    let folder = Folder::new();
    let first = folder.forwarder(&[]);
    produce(&folder, "/b", |_| b"hello".to_vec());
    let server = Process::printing(folder.command(&["ping-server", "/a"]));
    server.wait_for("PING SERVER", 1);
    let ping = Process::printing(folder.command(&["ping", "/a", "-i", "20", "-o", "1000"]));
    ping.wait_for("content from /a", 3);
    first.process.signal("-KILL");
    first.process.end();
    // Its leftover socket file does not stop the next forwarder.
    assert!(folder.path("nfd.sock").exists());
    let _second = folder.forwarder(&[]);
    let before = ping.count("content from /a");
    ping.wait_for("content from /a", before + 10);
    until(
        || folder.run(&["peek", "/b/c", "-l", "500"]).status.success(),
        || "the prefix registered again".into(),
    );
}

#[test]
fn a_place_that_is_taken_is_refused_and_nothing_is_left_behind() {
    let folder = Folder::new();
    let forwarder = folder.forwarder(&[]);
    refused(
        &folder.run(&RUN),
        &["cannot listen on nfd.sock: another program listens there; end it, or choose another path"],
    );
    for (flag, address) in [("--tcp", forwarder.tcp), ("--udp", forwarder.udp)] {
        let other = ["run", "--unix", "other.sock", "--ws", "none"];
        let rest = if flag == "--tcp" { "--udp" } else { "--tcp" };
        let output = folder.run(&[&other[..], &[flag, &address.to_string(), rest, "none"]].concat());
        let port =
            format!("port {} is in use by another program; end it, or choose another port", address.port());
        refused(&output, &["cannot bind", &port]);
        assert!(!folder.path("other.sock").exists());
    }
    assert!(folder.run(&["status"]).status.success(), "the first one is unharmed");
}

/// The signed command that registers `/page`.
fn registration() -> Vec<u8> {
    let parameters = ControlParameters { name: Some(parse("/page")), ..Default::default() };
    let target = Target { scope: Scope::Localhost, module: b"rib", verb: b"register" };
    let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis() as u64;
    // Two commands in one millisecond are not a loop.
    static NONCE: AtomicU32 = AtomicU32::new(1);
    let nonce = NONCE.fetch_add(1, Ordering::Relaxed);
    let command = CommandBuilder {
        target,
        parameters: &parameters,
        nonce,
        lifetime: 4000,
        signature_nonce: u64::from(nonce).to_be_bytes(),
        time,
    };
    command.build().unwrap()
}

/// A page may post to the TCP port: here the head of the HTTP request is shaped like one packet, and the body
/// is a command.
#[test]
fn a_command_in_what_a_page_posts_is_not_done() {
    let folder = Folder::new();
    let forwarder = folder.forwarder(&[]);
    let mut stream = TcpStream::connect(forwarder.tcp).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    // As TLV this has the type 0x50 and 0x4f bytes.
    let mut posted = format!("POST /{} HTTP/1.1\r\n\r\n", "x".repeat(0x4f - 17)).into_bytes();
    assert_eq!(posted.len(), 2 + 0x4f);
    posted.extend(registration());
    stream.write_all(&posted).unwrap();
    let mut answer = Vec::new();
    let closed = stream.read_to_end(&mut answer);
    let reset = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionReset;
    assert!(closed.as_ref().map_or_else(reset, |_| true), "{closed:?}");
    assert!(answer.is_empty(), "{answer:?}");
    forwarder.process.wait_for("no packet starts at byte 0", 1);
    let routes = String::from_utf8(folder.run(&["route"]).stdout).unwrap();
    assert!(!routes.contains("/page"), "{routes}");
}

#[test]
fn pages_of_other_hosts_may_not_command_over_the_loopback() {
    let folder = Folder::new();
    fs::write(
        folder.path("f.toml"),
        "[faces.websocket]\nloopback = true\norigins = [\"https://app.example\"]\n",
    )
    .unwrap();
    let forwarder = folder.forwarder(&["--config", "f.toml", "--ws", "127.0.0.1:0"]);
    let at = forwarder.websocket();
    for origin in ["", "Origin: http://localhost:8080\r\n", "Origin: https://app.example\r\n"] {
        let answer = over_websocket(at, origin, &registration());
        assert!(answer.contains("OK"), "{origin}: {answer}");
    }
    let answer = over_websocket(at, "Origin: https://elsewhere.example\r\n", &registration());
    for text in ["not authorized", "https://elsewhere.example at 127.0.0.1", "faces.websocket.origins"] {
        assert!(answer.contains(text), "{text} in {answer}");
    }
}

#[test]
fn a_key_that_there_is_not_names_the_one_that_is_like_it() {
    let folder = Folder::new();
    fs::write(folder.path("wrong.toml"), "[cs]\npackts = 3\n").unwrap();
    let output = folder.run(&[&RUN[..], &["--config", "wrong.toml"]].concat());
    refused(&output, &["wrong.toml", "unknown key `cs.packts`; did you mean `cs.packets`?"]);
    assert!(!folder.path("nfd.sock").exists());
}

/// A listener with a full queue, which answers nothing; its URI, and the connections that fill the queue.
fn silent() -> (TcpListener, String, Vec<Socket>) {
    let socket = || Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
    let listener = socket();
    listener.bind(&"127.0.0.1:0".parse::<SocketAddr>().unwrap().into()).unwrap();
    listener.listen(0).unwrap();
    let listener = TcpListener::from(listener);
    let address = listener.local_addr().unwrap();
    let fill = || {
        let socket = socket();
        socket.set_nonblocking(true).unwrap();
        let _ = socket.connect(&address.into());
        socket
    };
    let filled = (0..4).map(|_| fill()).collect();
    (listener, format!("tcp4://{address}"), filled)
}

#[test]
fn two_who_ask_for_one_tcp_face_get_the_same() {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&[]);
    let (listener, uri, filled) = silent();
    let asking: Vec<_> = (0..2).map(|_| start(&mut folder.command(&["face", "create", &uri]))).collect();
    // Both connections are on their way, or both commands are; then there is room.
    thread::sleep(Duration::from_millis(500));
    drop(filled);
    thread::spawn(move || listener.incoming().map_while(Result::ok).collect::<Vec<_>>());
    let message = asking.into_iter().map(|child| String::from_utf8(finish(child).stdout).unwrap());
    let mut message: Vec<_> = message.collect();
    message.sort();
    let made = message[0].strip_prefix("face-created ").expect("one is made");
    assert_eq!(message[1].strip_prefix("face-exists "), Some(made));
}

#[test]
fn the_list_of_faces_shows_their_settings() {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&[]);
    let udp = UdpSocket::bind("127.0.0.1:0").unwrap();
    let asked = ControlParameters {
        uri: Some(format!("udp4://{}", udp.local_addr().unwrap())),
        persistency: Some(FacePersistency::Permanent),
        mtu: Some(1400),
        flags: Some(0),
        mask: Some(FACE_CONGESTION_MARKING),
        marking_interval: Some(7_000_000),
        congestion_threshold: Some(9000),
        ..Default::default()
    };
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        let list = async |id: Option<u64>| {
            let octets = client.dataset("faces", "list", None).await.unwrap();
            FaceStatus::parse_all(&octets).unwrap().into_iter().find(|face| Some(face.face_id) == id).unwrap()
        };
        let made = client.command("faces", "create", &asked).await.unwrap();
        assert_eq!((made.mtu, made.flags), (Some(1400), Some(0)));
        assert_eq!((made.marking_interval, made.congestion_threshold), (Some(7_000_000), Some(9000)));
        let message = list(made.face_id).await;
        assert_eq!((message.mtu, message.flags, message.expiration), (Some(1400), 0, None));
        assert_eq!((message.marking_interval, message.congestion_threshold), (Some(7_000_000), Some(9000)));
        assert_eq!(message.persistency, FacePersistency::Permanent);
        // From now on the face ends when it is idle.
        let persistency = Some(FacePersistency::OnDemand);
        let update = ControlParameters { face_id: made.face_id, persistency, ..Default::default() };
        client.command("faces", "update", &update).await.unwrap();
        assert_eq!(list(made.face_id).await.expiration, Some(600_000));
        // Over TCP, too.
        let neighbour = TcpListener::bind("127.0.0.1:0").unwrap();
        let tcp = Some(format!("tcp4://{}", neighbour.local_addr().unwrap()));
        let flags = FACE_CONGESTION_MARKING | FACE_LOCAL_FIELDS;
        let asked = ControlParameters {
            uri: tcp,
            mtu: None,
            flags: Some(FACE_LOCAL_FIELDS),
            mask: Some(flags),
            ..asked
        };
        let made = client.command("faces", "create", &asked).await.unwrap();
        let message = list(made.face_id).await;
        assert_eq!((made.flags, message.flags), (Some(FACE_LOCAL_FIELDS), FACE_LOCAL_FIELDS));
        assert_eq!(message.congestion_threshold, Some(9000));
    });
}

#[test]
fn a_face_that_exists_is_created_again_with_other_options() {
    let folder = Folder::new();
    let forwarder = folder.forwarder(&[]);
    let uri = "udp4://127.0.0.1:9";
    let create = |options: &[&str]| folder.run(&[&["face", "create", uri], options].concat());
    let message = |output: &Output| String::from_utf8(output.stdout.clone()).unwrap();
    let show = || message(&folder.run(&["face", "show", uri]));
    let made = message(&create(&["--mtu", "1400"]));
    let rest = made.strip_prefix("face-created ").expect("it is new").to_owned();
    assert_eq!(message(&create(&[])), format!("face-exists {rest}"));
    let updated = create(&["--mtu", "1300", "--persistency", "permanent"]);
    assert_eq!((updated.status.code(), message(&updated)), (Some(0), format!("face-updated {rest}")));
    assert!(show().contains("1300") && show().contains("permanent"), "{}", show());
    let same = create(&["--mtu", "1300", "--persistency", "permanent"]);
    assert_eq!(message(&same), format!("face-exists {rest}"));
    refused(&create(&["--mtu", "20"]), &["406", "MTU"]);
    // An on-demand face ends when it is idle, and stays after `face create`.
    let neighbour = UdpSocket::bind("127.0.0.1:0").unwrap();
    neighbour.send_to(&InterestBuilder::new(parse("/a").view()).build(), forwarder.udp).unwrap();
    let uri = format!("udp4://{}", neighbour.local_addr().unwrap());
    let show = || message(&folder.run(&["face", "show", &uri]));
    until(|| show().contains("on-demand"), || "a face on demand".into());
    assert!(message(&folder.run(&["face", "create", &uri])).starts_with("face-updated "));
    assert!(show().contains("persistent"), "{}", show());
}

#[test]
fn face_update_changes_only_the_given_options() {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&[]);
    let uri = "udp4://127.0.0.1:9";
    assert!(folder.run(&["face", "create", uri]).status.success());
    let flags = |changes: &[&str]| {
        let output = folder.run(&[&["face", "update", uri], changes].concat());
        let message = String::from_utf8(output.stdout).unwrap();
        assert!(message.starts_with("face-updated id=") && message.contains(uri), "{message}");
        message.trim().rsplit_once("flags=").unwrap().1.parse::<u64>().unwrap()
    };
    let marks = flags(&["--congestion-marks", "on"]);
    assert_eq!(marks, FACE_CONGESTION_MARKING);
    let all = marks | FACE_PIT_TOKENS | FACE_NO_INTEREST_DIGESTS;
    assert_eq!(flags(&["--pit-tokens", "on", "--interest-digests", "off"]), all);
    assert_eq!(flags(&["--mtu", "1400", "--persistency", "permanent"]), all, "they were not named");
    let off = ["--pit-tokens", "off", "--interest-digests", "on", "--congestion-marks", "off"];
    assert_eq!(flags(&off), 0);
    let shown = String::from_utf8(folder.run(&["face", "show", uri]).stdout).unwrap();
    assert!(shown.contains("1400") && shown.contains("permanent"), "{shown}");
    refused(&folder.run(&["face", "update", uri, "--mtu", "1"]), &["409", "Invalid properties"]);
    refused(&folder.run(&["face", "update", "999999", "--mtu", "1400"]), &["no face 999999"]);
    assert_eq!(folder.run(&["face", "update", uri]).status.code(), Some(2), "nothing to change");
}

#[test]
fn unreachable_hosts_do_not_block_others() {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&[]);
    produce(&folder, "/a", |_| b"hello".to_vec());
    let closed = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    assert!(folder.run(&["face", "create", &format!("udp4://{closed}")]).status.success());
    refused(
        &folder.run(&["face", "create", &format!("tcp4://{closed}")]),
        &["504", "cannot connect to", "refused"],
    );
    let (_silent, uri, _filled) = silent();
    let waits = start(&mut folder.command(&["face", "create", &uri]));
    let client = async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        for number in 0..100 {
            assert!(fetch(&client, &format!("/a/{number}")).await);
        }
    };
    block_on(client);
    refused(&finish(waits), &["504", "has not answered within 8 s"]);
}

#[test]
fn connections_in_use_stay_if_there_are_more_than_descriptors() {
    let folder = Folder::new();
    let mut limited = Command::new("sh");
    limited.args(["-c", "ulimit -n 40; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_hashlane-ndn")]).args(RUN);
    limited
        .current_dir(&folder.0)
        .env("HASHLANE_LOG", "info")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let forwarder = Forwarder::start(limited);
    produce(&folder, "/a", |_| b"hello".to_vec());
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        assert!(fetch(&client, "/a/before").await);
        let many: Vec<_> = (0..60).map(|_| UnixStream::connect(folder.path("nfd.sock")).unwrap()).collect();
        for number in 0..20 {
            assert!(fetch(&client, &format!("/a/{number}")).await, "faces in use keep working");
        }
        // 60 are more than there are places, and the first ones have not been silent for long.
        for mut stream in many.into_iter().rev().take(40) {
            stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
            assert_eq!(stream.read(&mut [0]).unwrap(), 0, "closed by the forwarder");
        }
        assert!(fetch(&client, "/a/then").await);
    });
    assert!(folder.run(&["peek", "/a/after"]).status.success());
    assert_eq!(forwarder.process.count("Too many open files"), 0);
}

#[test]
fn noise_closes_the_stream_that_it_comes_over_and_is_counted() {
    const STREAMS: usize = 20;
    let folder = Folder::new();
    let forwarder = folder.forwarder(&[]);
    produce(&folder, "/a", |_| b"hello".to_vec());
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        for seed in 0..STREAMS as u64 {
            let mut stream = UnixStream::connect(folder.path("nfd.sock")).unwrap();
            stream.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
            let _ = stream.write_all(&noise(seed, 1 << 16));
            let mut rest = Vec::new();
            let closed = stream.read_to_end(&mut rest);
            let reset = |error: &std::io::Error| error.kind() == std::io::ErrorKind::ConnectionReset;
            assert!(closed.as_ref().map_or_else(reset, |_| true), "{closed:?}");
            assert!(fetch(&client, &format!("/a/{seed}")).await);
        }
    });
    let process = &forwarder.process;
    let named = || process.count("no packet starts at byte") + process.count("bytes or more, at most");
    until(|| named() >= STREAMS, || format!("a reason for each of {STREAMS} streams"));
    let datagrams = UdpSocket::bind("127.0.0.1:0").unwrap();
    for seed in 0..100 {
        datagrams.send_to(&noise(seed, seed as usize), forwarder.udp).unwrap();
    }
    // The answer proves that earlier packets have been handled.
    let uri = format!("udp://{}", forwarder.udp);
    assert!(folder.run(&["peek", "/a/behind", "--connect", &uri]).status.success());
    let status = folder.run(&["status"]);
    let text = String::from_utf8_lossy(&status.stdout);
    let dropped = text.lines().find(|line| line.trim_start().starts_with("dropped "));
    assert!(dropped.is_some_and(|dropped| dropped.contains("malformed ")), "{text}");
    process.signal("-TERM");
    process.wait_for("packets dropped since the start", 1);
    let lines = process.lines.lock().unwrap().clone();
    let message = lines.iter().find_map(|line| line.split_once("malformed ")).unwrap().1;
    let malformed: usize = message.split([',', '"']).next().unwrap().parse().unwrap();
    assert!(malformed >= 100, "{message}");
}

#[test]
fn what_is_pending_is_answered_before_the_end() {
    for signal in ["-TERM", "-INT"] {
        let folder = Folder::new();
        let forwarder = folder.forwarder(&[]);
        let (came, asked) = mpsc::channel();
        let (go, wait) = mpsc::channel();
        produce(&folder, "/a", move |_| {
            came.send(()).unwrap();
            wait.recv_timeout(PROMPT).unwrap();
            b"late".to_vec()
        });
        let transport = folder.transport();
        let consumer = thread::spawn(move || {
            block_on(async {
                let client = Client::connect(&transport).await.unwrap();
                fetch(&client, "/a/b").await
            })
        });
        asked.recv_timeout(PROMPT).expect("the Interest arrives");
        forwarder.process.signal(signal);
        forwarder.process.wait_for("stopping", 1);
        go.send(()).unwrap();
        assert!(consumer.join().unwrap(), "{signal}");
        assert_eq!(forwarder.process.end(), Some(0), "{signal}");
        assert!(!folder.path("nfd.sock").exists(), "{signal}");
    }
}

#[test]
fn a_hangup_without_a_file_is_logged_and_ends_nothing() {
    let folder = Folder::new();
    let forwarder = folder.forwarder(&[]);
    produce(&folder, "/a", |_| b"hello".to_vec());
    for number in 0..3 {
        forwarder.process.signal("-HUP");
        forwarder.process.wait_for("no configuration file to read again", number + 1);
        assert!(folder.run(&["peek", &format!("/a/{number}")]).status.success());
    }
    forwarder.process.signal("-TERM");
    assert_eq!(forwarder.process.end(), Some(0));
}

/// Sends packets to the forwarder until it ends.
fn flood(folder: &Folder, packet: impl Fn(u32) -> Vec<u8> + Send + 'static) -> thread::JoinHandle<()> {
    let mut stream = UnixStream::connect(folder.path("nfd.sock")).unwrap();
    thread::spawn(move || {
        let packets = |turn: u32| (0..100).flat_map(|at| packet(100 * turn + at)).collect::<Vec<u8>>();
        (0..).take_while(|turn| stream.write_all(&packets(*turn)).is_ok()).for_each(drop);
    })
}

#[test]
fn a_flood_does_not_keep_it_from_its_end() {
    for command in [false, true] {
        let folder = Folder::new();
        let mut forwarder = folder.forwarder(&[]);
        // Interests without an answer, or for the management, each with a new name.
        let packet = move |number: u32| {
            let name = match command {
                true => parse("/localhost/nfd/status/general"),
                false => parse(&format!("/nobody/{number}")),
            };
            let nonce = Some(number);
            InterestBuilder { nonce, can_be_prefix: true, ..InterestBuilder::new(name.view()) }.build()
        };
        let floods: Vec<_> = (0..2).map(|_| flood(&folder, packet)).collect();
        // The forwarder is busy: the packets of two pipes exceed the buffer of a socket.
        let stat = || fs::read_to_string(format!("/proc/{}/stat", forwarder.process.child.id())).unwrap();
        let ticks = || stat().rsplit_once(')').unwrap().1.split(' ').nth(12).unwrap().parse::<u64>().unwrap();
        until(|| ticks() >= 50, || "half a second of CPU time".into());
        forwarder.process.signal("-TERM");
        forwarder.process.wait_for("stopping", 1);
        until(|| forwarder.process.child.try_wait().unwrap().is_some(), || "its end".into());
        assert_eq!(forwarder.process.end(), Some(0), "{command}");
        floods.into_iter().for_each(|flood| flood.join().unwrap());
    }
}

#[test]
fn a_client_that_never_reads_fills_only_its_queue() {
    const ROUNDS: u32 = 40;
    const ROUND: u32 = 100;
    let folder = Folder::new();
    fs::write(folder.path("no-cache.toml"), "[cs]\nadmit = false\n").unwrap();
    let forwarder = folder.forwarder(&["--config", "no-cache.toml"]);
    let answered = Arc::<AtomicU32>::default();
    let counted = Arc::clone(&answered);
    produce(&folder, "/a", move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        vec![7; 8000]
    });
    let mut lazy = UnixStream::connect(folder.path("nfd.sock")).unwrap();
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        assert!(fetch(&client, "/a/first").await);
        let before = forwarder.memory();
        for round in 0..ROUNDS {
            let expected = answered.load(Ordering::Relaxed) + ROUND;
            for number in 0..ROUND {
                let name = parse(&format!("/a/{round}/{number}"));
                let nonce = Some(round * ROUND + number);
                lazy.write_all(&InterestBuilder { nonce, ..InterestBuilder::new(name.view()) }.build())
                    .unwrap();
            }
            until(|| answered.load(Ordering::Relaxed) >= expected, || "answers".into());
            assert!(fetch(&client, &format!("/a/other/{round}")).await);
        }
        // 32 MB were sent to it. Its queue holds 1 MiB, in at most four times as much memory.
        let grown = forwarder.memory().saturating_sub(before);
        assert!(grown < 12 << 20, "{grown} octets");
    });
}

#[test]
fn routes_that_come_and_go_cost_no_packet() {
    let folder = Folder::new();
    let _forwarder = folder.forwarder(&[]);
    produce(&folder, "/a", |_| b"hello".to_vec());
    let ping = start(&mut folder.command(&["ping", "/a", "-c", "300", "-i", "5", "-q"]));
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        let uri = Some("udp4://127.0.0.1:9".to_owned());
        let made = client.command("faces", "create", &ControlParameters { uri, ..Default::default() }).await;
        let face_id = made.unwrap().face_id;
        for verb in ["register", "unregister", "register", "unregister"] {
            for number in 0..150 {
                let name = Some(parse(&format!("/other/{number}")));
                let route = ControlParameters { name, face_id, ..Default::default() };
                client.command("rib", verb, &route).await.unwrap();
            }
        }
        let routes = client.dataset("rib", "list", None).await.unwrap();
        let routes = hashlane_ndn::mgmt::dataset::RibEntry::parse_all(&routes).unwrap();
        assert!(routes.iter().all(|route| !route.name.to_string().starts_with("/other")));
    });
    let output = finish(ping);
    let message = String::from_utf8_lossy(&output.stdout);
    assert!(message.contains("300 packets transmitted, 300 received, 0 lost"), "{message}");
}

#[test]
fn a_permanent_tcp_face_is_connected_again_and_a_persistent_one_closed() {
    let folder = Folder::new();
    let forwarder = folder.forwarder(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let uri = format!("tcp4://{}", listener.local_addr().unwrap());
    let show = || String::from_utf8(folder.run(&["face", "show", &uri, "--json"]).stdout).unwrap();
    let create = |persistency: &str| {
        let output = folder.run(&["face", "create", &uri, "--persistency", persistency]);
        assert!(output.status.success(), "{output:?}");
        listener.accept().unwrap().0
    };
    drop(create("persistent"));
    until(|| show().is_empty(), || "the end of the face".into());

    let first = create("permanent");
    let number =
        |text: &str| text.split_once("\"face\":").map(|(_, rest)| rest.split(',').next().unwrap().to_owned());
    let face = number(&show()).unwrap();
    assert!(folder.run(&["route", "add", "/t", &uri]).status.success());
    drop(first);
    forwarder.process.wait_for("connection lost; reconnecting", 1);
    let (mut second, _): (TcpStream, _) = listener.accept().unwrap();
    forwarder.process.wait_for("connected again", 1);
    assert_eq!(number(&show()), Some(face.clone()), "the same face");
    let asking = start(&mut folder.command(&["peek", "/t/x", "-l", "1000"]));
    second.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    let mut octets = [0; 512];
    let read = second.read(&mut octets).unwrap();
    let interest = hashlane_ndn::wire::LpPacket::parse(&octets[..read]).unwrap().fragment;
    assert_eq!(hashlane_ndn::wire::Interest::parse(interest).unwrap().name(), parse("/t/x").view());
    finish(asking);
    assert!(folder.run(&["face", "destroy", face.trim()]).status.success());
    assert_eq!(second.read(&mut octets).unwrap(), 0, "destroyed it is not connected again");
}
