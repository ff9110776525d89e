//! Faces of multicast groups and over Ethernet, between forwarders in several network namespaces.
//!
//! Skipped where no namespace can be made; with CI=true that is a failure.

use crate::forwarder::{Folder, Forwarder, block_on, fetch, parse, produce, until};
use hashlane_client::{Client, Express};
use hashlane_ndn::mgmt::dataset::{FaceQueryFilter, FaceStatus};
use hashlane_ndn::mgmt::values::LinkType;
use hashlane_ndn::mgmt::{ControlParameters, Record as _};
use hashlane_ndn::wire::InterestBuilder;
use hashlane_rig::namespace;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, bind, send, socket};
use std::fs::{self, File};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::mpsc::TryRecvError;
use std::time::{Duration, Instant};

/// NFD's groups.
const UDP4: &str = "udp4://224.0.23.170:56363";
const ETHER: &str = "ether://[01:00:5e:00:17:aa]";

/// Hosts on one link: a bridge in a namespace without its own addresses.
struct Network {
    hosts: Vec<File>,
}

/// Name of the interface of each host.
const INTERFACE: &str = "lan0";

/// Ethernet address of a host.
fn mac(host: usize) -> String {
    format!("02:00:00:00:00:{:02x}", host + 1)
}

impl Network {
    /// Makes the hosts, and moves this thread into the namespace of the bridge.
    fn new(hosts: usize) -> io::Result<Self> {
        let hosts: Vec<File> = (0..hosts).map(|_| namespace::create()).collect::<io::Result<_>>()?;
        namespace::create()?;
        let _ = fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
        // A bridge that looks into memberships keeps groups from ports for a while.
        namespace::ip("link add br0 type bridge mcast_snooping 0")?;
        namespace::ip("link set br0 up")?;
        let network = Self { hosts };
        (0..network.hosts.len()).try_for_each(|host| network.plug(host))?;
        Ok(network)
    }

    /// Connects a host to the bridge.
    fn plug(&self, host: usize) -> io::Result<()> {
        let port = format!("port{host}");
        let address = format!("10.9.0.{}/24", host + 1);
        let there = self.hosts.get(host).ok_or(io::ErrorKind::NotFound)?;
        let path = format!("/proc/{}/fd/{}", std::process::id(), there.as_raw_fd());
        namespace::ip(&format!(
            "link add {port} type veth peer name {INTERFACE} address {} netns {path}",
            mac(host)
        ))?;
        namespace::ip(&format!("link set {port} master br0 up"))?;
        namespace::within(there, || {
            namespace::ip("link set lo up")?;
            let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{INTERFACE}/accept_dad"), "0");
            namespace::ip(&format!("addr add {address} dev {INTERFACE}"))?;
            namespace::ip(&format!("link set {INTERFACE} up"))
        })?;
        Ok(())
    }
}

/// Runs a test with so many hosts on one link.
fn with_network(hosts: usize, test: impl FnOnce(&Network) + Send) {
    let (sender, receiver) = std::sync::mpsc::channel();
    let prepare = move || sender.send(Network::new(hosts)?).map_err(io::Error::other);
    namespace::with(prepare, move || test(&receiver.recv().unwrap()));
}

/// A forwarder on a host, and the folder of its socket.
struct Node {
    folder: Folder,
    forwarder: Forwarder,
}

impl Node {
    fn start(network: &Network, host: usize, more: &[&str]) -> Self {
        let folder = Folder::new();
        let more = [&["--udp-multicast", INTERFACE, "--ether", "lan*"], more].concat();
        let forwarder = namespace::within(&network.hosts[host], || folder.forwarder(&more));
        let node = Self { folder, forwarder };
        // One of each group.
        until(
            || node.faces("link=multi-access").len() + node.faces("link=ad-hoc").len() == 3,
            || node.list(),
        );
        node
    }

    /// Output of a command that must succeed.
    #[track_caller]
    fn run(&self, arguments: &[&str]) -> String {
        let output = self.folder.run(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Destroys the faces of two groups.
    fn destroy_groups(&self) {
        for remote in [UDP4, ETHER] {
            self.run(&["face", "destroy", remote]);
            until(|| self.faces(&format!("remote={remote}")).is_empty(), || self.list());
        }
    }

    fn list(&self) -> String {
        self.run(&["face", "list"])
    }

    /// Lines of the list of faces with a text.
    fn faces(&self, text: &str) -> Vec<String> {
        self.list()
            .lines()
            .filter(|line| line.split(' ').any(|field| field.contains(text)))
            .map(str::to_owned)
            .collect()
    }

    /// A number of the face of a remote end.
    fn number(&self, remote: &str, field: &str) -> u64 {
        let lines = self.faces(&format!("remote={remote}"));
        let [line] = &lines[..] else { panic!("one face of {remote}: {lines:?}") };
        let start = format!("{field}=");
        line.split(' ').find_map(|of| of.strip_prefix(&start)).unwrap().parse().unwrap()
    }

    /// Adds routes over UDP multicast, Ethernet multicast, and an Ethernet face to the second host. Returns
    /// the URI of that host.
    fn route_by_all_means(&self) -> String {
        let neighbour = format!("ether://[{}]", mac(1));
        self.run(&["face", "create", &neighbour, "--local", "dev://lan0"]);
        for (prefix, remote) in [("/far/a", UDP4), ("/far/b", ETHER)] {
            self.run(&["route", "add", prefix, remote]);
        }
        self.run(&["route", "add", "/far/c", &self.number(&neighbour, "face").to_string()]);
        neighbour
    }

    /// Waits until Data of each name comes: the kernel drops what it gets while it brings a link up.
    #[track_caller]
    fn reaches(&self, names: &[String]) {
        for name in names {
            until(
                || self.folder.run(&["peek", name, "-l", "300"]).status.success(),
                || format!("{name} again: {}", self.list()),
            );
        }
    }

    /// Fetches Data over the network.
    #[track_caller]
    fn fetches(&self, name: &str) {
        let transport = self.folder.transport();
        let done = block_on(async { fetch(&Client::connect(&transport).await.unwrap(), name).await });
        assert!(done, "{name}: {}", self.list());
    }
}

/// Packets of a producer that are longer than a frame.
fn answer(_: &hashlane_client::Incoming) -> Vec<u8> {
    vec![7; 7000]
}

fn exchange_by_all_means(shards: &str) {
    with_network(2, |network| {
        let [near, far] = [0, 1].map(|host| Node::start(network, host, &["--shards", shards]));
        produce(&far.folder, "/far", answer);
        let means = [
            (UDP4, "local=udp4://10.9.0.1:56363"),
            ("udp6://[ff02::1234%lan0]:56363", "local=udp6://[fe80::ff:fe00:1%lan0]:56363"),
            (ETHER, "local=dev://lan0"),
        ];
        for (number, (remote, local)) in means.into_iter().enumerate() {
            let faces = near.faces(&format!("remote={remote}"));
            let [face] = &faces[..] else { panic!("{remote}: {}", near.list()) };
            for part in [local, "scope=non-local", "persistency=permanent", "link=multi-access"] {
                assert!(face.contains(part), "{part}: {face}");
            }
            let prefix = format!("/far/{number}");
            near.run(&["route", "add", &prefix, remote]);
            for packet in 0..8 {
                near.fetches(&format!("{prefix}/{packet}"));
            }
            assert!(
                near.number(remote, "in-data") == 8 && far.number(remote, "out-data") == 8,
                "{}",
                far.list()
            );
            // More frames than packets: they were cut and joined.
            assert!(far.number(remote, "out-octets") > 8 * 7000);
            near.run(&["route", "remove", &prefix, remote]);
        }
        let neighbour = format!("ether://[{}]", mac(1));
        let made = near.run(&["face", "create", &neighbour, "--local", "dev://lan0"]);
        assert!(made.starts_with("face-created id="), "{made}");
        let again = near.run(&["face", "create", &neighbour, "--local", "dev://lan0"]);
        assert!(again.starts_with("face-exists id="), "{again}");
        // An Ethernet face that is there needs no local end.
        near.run(&["route", "add", "/far/one", &neighbour]);
        for packet in 0..8 {
            near.fetches(&format!("/far/one/{packet}"));
        }
        let faces = far.faces(&format!("remote=ether://[{}]", mac(0)));
        let [face] = &faces[..] else { panic!("{}", far.list()) };
        for part in ["local=dev://lan0", "persistency=on-demand", "link=point-to-point", "mtu=1500"] {
            assert!(face.contains(part), "{part}: {face}");
        }
        for node in [near, far] {
            node.forwarder.process.signal("-TERM");
            assert_eq!(node.forwarder.process.end(), Some(0));
        }
    });
}

#[test]
fn forwarders_exchange_packets_over_multicast_and_ethernet() {
    exchange_by_all_means("1");
}

#[test]
fn forwarders_with_several_threads_do_so_too() {
    exchange_by_all_means("2");
}

#[test]
fn three_forwarders_on_a_link_hear_each_other_and_only_ad_hoc_faces_repeat() {
    with_network(3, |network| {
        let [asker, middle, last] = [0, 1, 2].map(|host| {
            let folder = Folder::new();
            let config = if host == 1 { "[faces.udp_multicast]\nad_hoc = true\n" } else { "" };
            fs::write(folder.path("f.toml"), config).unwrap();
            let path = folder.path("f.toml").to_str().unwrap().to_owned();
            Node::start(network, host, &["--config", &path])
        });
        produce(&middle.folder, "/middle", |_| b"m".to_vec());
        produce(&last.folder, "/last", answer);
        for remote in [UDP4, ETHER] {
            for prefix in ["/middle", "/last", "/none"] {
                asker.run(&["route", "add", prefix, remote]);
            }
            middle.run(&["route", "add", "/none", remote]);
            let scheme = &remote[..4];
            asker.fetches(&format!("/middle/{scheme}"));
            asker.fetches(&format!("/last/{scheme}"));
            let heard = |node: &Node| node.number(remote, "in-interests");
            assert!(heard(&middle) >= 2 && heard(&last) >= 2, "all hear all");
            let before = middle.number(remote, "out-interests");
            let missed = asker.folder.run(&["peek", &format!("/none/{scheme}"), "-l", "300"]);
            assert!(!missed.status.success());
            let repeated = middle.number(remote, "out-interests") - before;
            assert_eq!(repeated > 0, remote == UDP4, "an ad hoc face repeats: {}", middle.list());
            for prefix in ["/middle", "/last", "/none"] {
                asker.run(&["route", "remove", prefix, remote]);
            }
            middle.run(&["route", "remove", "/none", remote]);
        }
        assert!(middle.faces(&format!("remote={UDP4}"))[0].contains("link=ad-hoc"));
        // Nobody keeps what it only overheard: the middle one has its own packets.
        let store = middle.run(&["cs", "info", "--json"]);
        let entries = store.split("\"entries\":").nth(1).unwrap().trim_start();
        assert!(entries.starts_with("2,") || entries.starts_with("2}"), "{store}");
    });
}

#[test]
fn faces_stay_while_their_interface_is_down() {
    with_network(2, |network| {
        let near = Node::start(network, 0, &["--user", "nobody"]);
        let far = Node::start(network, 1, &[]);
        produce(&far.folder, "/far", |_| b"hello".to_vec());
        let neighbour = near.route_by_all_means();
        let all = |round: u32| ["a", "b", "c"].map(|kind| format!("/far/{kind}/{round}"));
        all(0).iter().for_each(|name| near.fetches(name));
        let ids = || [UDP4, ETHER, &neighbour].map(|remote| near.number(remote, "face"));
        let before = ids();
        let (log, host) = (&near.forwarder.process, &network.hosts[0]);
        namespace::within(host, || namespace::ip("link set lan0 down")).unwrap();
        // One line for each group of UDP, and one for Ethernet.
        log.wait_for("faces down: their interface", 3);
        assert!(!near.folder.run(&["peek", "/far/a/lost", "-l", "200"]).status.success());
        namespace::within(host, || namespace::ip("link set lan0 up")).unwrap();
        log.wait_for("faces up again: their interface is up", 3);
        assert_eq!(ids(), before, "the faces are the same");
        near.reaches(&all(1));
        assert_eq!((log.count("faces down"), log.count("faces closed")), (3, 0));
    });
}

#[test]
fn faces_of_a_removed_interface_are_closed_and_come_back_with_it() {
    with_network(2, |network| {
        // Without privileges, once its sockets are open.
        let near = Node::start(network, 0, &["--user", "nobody"]);
        let far = Node::start(network, 1, &[]);
        produce(&far.folder, "/far", |_| b"hello".to_vec());
        let neighbour = near.route_by_all_means();
        let all = |round: u32| ["a", "b", "c"].map(|kind| format!("/far/{kind}/{round}"));
        all(0).iter().for_each(|name| near.fetches(name));
        let before = near.number(UDP4, "face");
        let log = &near.forwarder.process;
        for round in 1..=2 {
            namespace::within(&network.hosts[0], || namespace::ip("link del lan0")).unwrap();
            // One line for each group of UDP, and one for Ethernet.
            log.wait_for("faces closed: their interface was removed", 3 * round);
            until(|| !near.list().contains("lan0"), || near.list());
            assert!(near.faces("link=multi-access").is_empty(), "{}", near.list());
            let routes = near.run(&["route", "list"]);
            assert!(!routes.contains("prefix=/far"), "{routes}");
            assert!(!near.folder.run(&["peek", "/far/a/lost", "-l", "200"]).status.success());
            network.plug(0).unwrap();
            until(|| near.faces("link=multi-access").len() == 3, || near.list());
            assert!(near.faces(&format!("remote={neighbour}")).is_empty(), "nothing has created it again");
            assert_ne!(near.number(UDP4, "face"), before);
            near.route_by_all_means();
            near.reaches(&all(round as u32));
        }
        assert_eq!(log.count("cannot use an interface"), 0);
    });
}

#[test]
fn interfaces_that_come_and_go_leave_no_faces_and_no_descriptors() {
    with_network(1, |network| {
        let (host, node) = (&network.hosts[0], Node::start(network, 0, &["--udp-multicast", "lan*"]));
        let descriptors = || {
            let folder = format!("/proc/{}/fd", node.forwarder.process.child.id());
            fs::read_dir(folder).unwrap().count()
        };
        let (before, faces) = (descriptors(), node.list().lines().count());
        for _ in 0..2 {
            namespace::within(host, || {
                for number in 1..=12 {
                    namespace::ip(&format!("link add lan{number} type veth peer name other{number}"))
                        .unwrap();
                    namespace::ip(&format!("addr add 10.8.{number}.1/24 dev lan{number}")).unwrap();
                    namespace::ip(&format!("link set other{number} up")).unwrap();
                    namespace::ip(&format!("link set lan{number} up")).unwrap();
                }
            });
            until(|| node.faces("link=multi-access").len() >= 3 + 2 * 12, || node.list());
            namespace::within(host, || {
                (1..=12).for_each(|number| namespace::ip(&format!("link del lan{number}")).unwrap());
            });
            until(|| node.faces("link=multi-access").len() == 3, || node.list());
        }
        assert_eq!(node.list().lines().count(), faces, "{}", node.list());
        // One may belong to a connection that is just closed.
        until(|| descriptors() <= before, || format!("{} descriptors, {before} before", descriptors()));
    });
}

#[test]
fn a_reload_opens_the_face_of_a_group_again_that_a_command_has_closed() {
    with_network(1, |network| {
        let folder = Folder::new();
        fs::write(folder.path("f.toml"), "").unwrap();
        let path = folder.path("f.toml").to_str().unwrap().to_owned();
        let node = Node::start(network, 0, &["--config", &path, "--user", "nobody"]);
        node.destroy_groups();
        // The process has no right to open an Ethernet any more, and needs none.
        node.forwarder.process.signal("-HUP");
        node.forwarder.process.wait_for("configuration read again", 1);
        until(|| node.faces("link=multi-access").len() == 3, || node.list());
    });
}

#[test]
fn a_reload_opens_such_a_face_also_if_its_interface_is_down_then() {
    with_network(1, |network| {
        let folder = Folder::new();
        fs::write(folder.path("f.toml"), "").unwrap();
        let path = folder.path("f.toml").to_str().unwrap().to_owned();
        let node = Node::start(network, 0, &["--config", &path]);
        node.destroy_groups();
        let set = |state: &str| {
            let command = format!("link set {INTERFACE} {state}");
            namespace::within(&network.hosts[0], || namespace::ip(&command).unwrap());
        };
        set("down");
        node.forwarder.process.wait_for("faces down: their interface is down", 3);
        node.forwarder.process.signal("-HUP");
        node.forwarder.process.wait_for("configuration read again", 1);
        set("up");
        until(|| node.faces("link=multi-access").len() == 3, || node.list());
    });
}

#[test]
fn a_host_that_floods_an_ethernet_takes_little_from_its_neighbours() {
    with_network(3, |network| {
        let folder = Folder::new();
        fs::write(folder.path("f.toml"), "[faces.udp]\nreceive_buffer = 65536\n").unwrap();
        let path = folder.path("f.toml").to_str().unwrap().to_owned();
        let [near, far] = [0, 1].map(|host| Node::start(network, host, &["--config", &path]));
        produce(&far.folder, "/far", |_| b"hello".to_vec());
        let neighbour = format!("ether://[{}]", mac(1));
        near.run(&["face", "create", &neighbour, "--local", "dev://lan0"]);
        near.run(&["route", "add", "/far", &near.number(&neighbour, "face").to_string()]);
        near.fetches("/far/before");
        let flooder = network.hosts[2].try_clone().unwrap();
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let flood = std::thread::spawn(move || {
            namespace::enter(&flooder).unwrap();
            let raw = raw_socket();
            let ends = Instant::now() + Duration::from_secs(30);
            let name = parse("/nobody/asks");
            let mut sent = 0_u32;
            while stopped.try_recv().is_err_and(|error| error == TryRecvError::Empty) && Instant::now() < ends
            {
                for nonce in 0..64 {
                    let nonce = Some(sent + nonce);
                    let interest = InterestBuilder { nonce, ..InterestBuilder::new(name.view()) }.build();
                    let head = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 3, 0x86, 0x24];
                    let _ = send(raw.as_raw_fd(), &[&head[..], &interest].concat(), MsgFlags::empty());
                }
                sent += 64;
            }
            sent
        });
        std::thread::sleep(Duration::from_secs(1));
        let asked = 20;
        let answered = (0..asked)
            .filter(|number| {
                near.folder.run(&["peek", &format!("/far/during/{number}"), "-l", "1000"]).status.success()
            })
            .count();
        drop(stop);
        let sent = flood.join().unwrap();
        assert!(
            answered >= 16,
            "{answered} of {asked} answers during a flood of {sent} frames: {}",
            far.run(&["status"])
        );
        near.fetches("/far/after");
    });
}

#[test]
fn a_group_with_faces_on_two_interfaces_is_named_by_the_id() {
    with_network(1, |network| {
        let node = Node::start(network, 0, &[]);
        for change in ["link add lan9 type veth peer name other9", "link set other9 up", "link set lan9 up"] {
            namespace::within(&network.hosts[0], || namespace::ip(change)).unwrap();
        }
        let faces = || node.faces(&format!("remote={ETHER}"));
        until(|| faces().len() == 2, || node.list());
        for command in [&["face", "destroy", ETHER][..], &["route", "add", "/far", ETHER]] {
            let refused = node.folder.run(command);
            let said = String::from_utf8(refused.stderr).unwrap();
            assert!(!refused.status.success() && said.contains("is the remote end of the faces "), "{said}");
            assert!(said.contains("give the id of one"), "{said}");
        }
        assert_eq!(faces().len(), 2);
    });
}

#[test]
fn an_interface_that_is_missing_at_the_start_is_used_once_it_is_there() {
    with_network(2, |network| {
        let folder = Folder::new();
        namespace::within(&network.hosts[0], || namespace::ip("link del lan0")).unwrap();
        let more = ["--udp-multicast", INTERFACE, "--ether", INTERFACE];
        let forwarder = namespace::within(&network.hosts[0], || folder.forwarder(&more));
        forwarder.process.wait_for("no such interface, or it is down", 1);
        network.plug(0).unwrap();
        let near = Node { folder, forwarder };
        until(|| near.faces("link=multi-access").len() == 3, || near.list());
        let far = Node::start(network, 1, &[]);
        produce(&far.folder, "/far", |_| b"hello".to_vec());
        let neighbour = format!("ether://[{}]", mac(1));
        near.run(&["face", "create", &neighbour, "--local", "dev://lan0"]);
        near.run(&["route", "add", "/far", &near.number(&neighbour, "face").to_string()]);
        near.fetches("/far/x");
    });
}

#[test]
fn a_hub_is_discovered_over_multicast_as_ndn_autoconfig_does_it() {
    const HUB: &str = "/localhop/ndn-autoconf/hub";
    with_network(2, |network| {
        let [host, hub] = [0, 1].map(|host| Node::start(network, host, &[]));
        let uri = "udp4://10.9.0.2:6363";
        // The answer of a hub: the URI of its face, as an element of the management protocol.
        let content = [&[114, uri.len() as u8], uri.as_bytes()].concat();
        produce(&hub.folder, HUB, move |_| content.clone());
        let transport = host.folder.transport();
        block_on(async {
            let client = Client::connect(&transport).await.unwrap();
            let multi_access =
                FaceQueryFilter { link_type: Some(LinkType::MultiAccess), ..Default::default() };
            let faces = client.dataset("faces", "query", Some(&multi_access.to_bytes())).await.unwrap();
            let faces = FaceStatus::parse_all(&faces).unwrap();
            assert_eq!(faces.len(), 3);
            let name = Some(parse(HUB));
            for face in faces {
                let face_id = Some(face.face_id);
                let (cost, expiration) = (Some(1), Some(30_000));
                let name = name.clone();
                let route = ControlParameters { name, face_id, cost, expiration, ..Default::default() };
                client.command("rib", "register", &route).await.unwrap();
            }
            let strategy = Some(parse("/localhost/nfd/strategy/multicast"));
            let choice = ControlParameters { name, strategy, ..Default::default() };
            client.command("strategy-choice", "set", &choice).await.unwrap();
            let hub = parse(HUB);
            let interest = InterestBuilder { must_be_fresh: true, ..InterestBuilder::new(hub.view()) };
            let found = client.express(&interest, &Express::default()).await.unwrap();
            assert_eq!(&found.view().content()[2..], uri.as_bytes());
        });
    });
}

/// A socket for whole frames on the interface of this thread's host.
fn raw_socket() -> OwnedFd {
    let all = SockProtocol::EthAll;
    let raw = socket(AddressFamily::Packet, SockType::Raw, SockFlag::SOCK_CLOEXEC, all).unwrap();
    let mut interfaces = getifaddrs().unwrap().filter(|entry| entry.interface_name == INTERFACE);
    let link = interfaces.find_map(|entry| entry.address?.as_link_addr().copied()).unwrap();
    bind(raw.as_raw_fd(), &link).unwrap();
    raw
}

/// Sends frames on the link, from the namespace of a host.
fn send_frames(network: &Network, host: usize, frames: &[Vec<u8>]) {
    namespace::within(&network.hosts[host], || {
        let raw = raw_socket();
        for frame in frames {
            // The kernel may refuse one that is too short itself.
            let _ = send(raw.as_raw_fd(), frame, MsgFlags::empty());
        }
    });
}

#[test]
fn forged_ethernet_addresses_take_no_places_of_udp_peers() {
    with_network(2, |network| {
        let folder = Folder::new();
        fs::write(folder.path("f.toml"), "[faces.udp]\nmax_on_demand = 16\n").unwrap();
        let config = folder.path("f.toml").to_str().unwrap().to_owned();
        let near = Node::start(network, 0, &["--udp", "10.9.0.1:6363", "--config", &config]);
        produce(&near.folder, "/near", |_| b"hello".to_vec());
        let name = parse("/nobody/asks");
        let frame = |number: u8| {
            let interest =
                InterestBuilder { nonce: Some(number.into()), ..InterestBuilder::new(name.view()) };
            let head = [2, 0, 0, 0, 0, 1, 2, 0x66, 0, 0, 0, number, 0x86, 0x24];
            [&head[..], &interest.build()].concat()
        };
        send_frames(network, 1, &(0..100).map(frame).collect::<Vec<_>>());
        let forged = || near.faces("remote=ether://[02:66:").len();
        until(|| forged() >= 4, || near.list());
        for number in 0..8 {
            let answered = namespace::within(&network.hosts[1], || {
                let peer = std::net::UdpSocket::bind("10.9.0.2:0").unwrap();
                peer.connect("10.9.0.1:6363").unwrap();
                peer.set_read_timeout(Some(Duration::from_secs(4))).unwrap();
                let name = parse(&format!("/near/{number}"));
                let interest = InterestBuilder { nonce: Some(number), ..InterestBuilder::new(name.view()) };
                peer.send(&interest.build()).unwrap();
                peer.recv(&mut [0; 1500]).is_ok()
            });
            assert!(answered, "UDP port {number} has no face: {}", near.list());
        }
        assert_eq!(forged(), 4, "{}", near.list());
    });
}

#[test]
fn hostile_frames_are_dropped_and_counted() {
    with_network(2, |network| {
        let [near, far] = [0, 1].map(|host| Node::start(network, host, &[]));
        produce(&far.folder, "/far", |_| b"hello".to_vec());
        near.run(&["route", "add", "/far", ETHER]);
        near.fetches("/far/1");
        let [group, own, liar] = [[1, 0, 0x5e, 0, 0x17, 0xaa], [2, 0, 0, 0, 0, 2], [2, 0, 0, 0, 0, 0x66]];
        let frame = |to: [u8; 6], rest: &[u8]| [&to[..], &liar, rest].concat();
        let ndn = |to, payload: &[u8]| frame(to, &[&[0x86, 0x24][..], payload].concat());
        // The first of two fragments, from many hosts.
        let piece = [&[100, 22, 81, 8][..], &[0; 7], &[1, 82, 1, 0, 83, 1, 2, 80, 4, 5, 2, 7, 0]].concat();
        let mut frames = vec![frame(own, &[0x81, 0, 0, 5, 0x86, 0x24, 5, 0]), frame(own, &[0x86])];
        for to in [group, own] {
            frames.extend(
                [&[][..], &[5], &[5, 253, 255, 255], &[0; 46], &[0xff; 1500]].map(|payload| ndn(to, payload)),
            );
        }
        for host in 0..200 {
            let mut fragment = ndn(group, &piece);
            fragment[11] = host;
            frames.push(fragment);
        }
        let malformed = || {
            let status = far.run(&["status", "--json"]);
            let rest = status.split("\"malformed\":").nth(1).unwrap();
            rest.split(',').next().unwrap().trim().parse::<u64>().unwrap()
        };
        let before = malformed();
        send_frames(network, 0, &frames);
        until(|| malformed() >= before + 10, || far.run(&["status"]));
        assert!(
            far.faces("remote=ether://[02:00:00:00:00:66]").is_empty(),
            "no packet, no face: {}",
            far.list()
        );
        near.fetches("/far/2");
    });
}

#[test]
fn commands_that_make_no_sense_are_refused_with_the_next_step() {
    with_network(1, |network| {
        let node = Node::start(network, 0, &[]);
        let refused = |arguments: &[&str], text: &str| {
            let output = node.folder.run(&[&["face", "create"], arguments].concat());
            let message = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(!output.status.success() && message.contains(text), "{arguments:?}: {message}");
        };
        refused(
            &["ether://[02:00:00:00:00:09]"],
            "requires a LocalUri with dev:// scheme, such as dev://eth0",
        );
        refused(
            &["ether://[02:00:00:00:00:09]", "--local", "dev://eth7"],
            "add it to faces.ether.interfaces",
        );
        refused(
            &["ether://[01:00:00:00:00:09]", "--local", "dev://lan0"],
            "Cannot create multicast Ethernet faces",
        );
        refused(&[&format!("ether://[{}]", mac(0)), "--local", "dev://lan0"], "lan0 itself has this address");
        refused(&["udp4://224.0.23.171:56363"], "Cannot create multicast UDP faces");
        refused(&["udp4://192.0.2.1:6363", "--local", "dev://lan0"], "cannot be created with a LocalUri");
        let exists = node.run(&["face", "create", UDP4]);
        assert!(exists.starts_with("face-exists id="), "{exists}");
        let update = node.folder.run(&["face", "update", UDP4, "--persistency", "persistent"]);
        assert!(!update.status.success());
        // A face of a group that was destroyed stays away until a reload; what it receives is dropped.
        node.run(&["face", "destroy", UDP4]);
        assert!(node.faces(&format!("remote={UDP4}")).is_empty());
    });
}

#[test]
fn without_the_right_to_raw_sockets_the_error_says_what_to_do() {
    if !namespace::is_installed("setpriv", "--version") {
        return;
    }
    with_network(1, |network| {
        let folder = Folder::new();
        fs::set_permissions(&folder.0, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
        let inner = folder.command(&[
            "run", "--unix", "nfd.sock", "--udp", "none", "--tcp", "none", "--ws", "none", "--ether", "*",
        ]);
        let mut command = std::process::Command::new("setpriv");
        command.args(["--bounding-set", "-net_raw", "--inh-caps", "-net_raw"]);
        command.arg(inner.get_program()).args(inner.get_args()).current_dir(&folder.0);
        command.stdin(std::process::Stdio::null());
        let output = namespace::within(&network.hosts[0], || command.output()).unwrap();
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        for text in ["needs the capability CAP_NET_RAW", "setcap cap_net_raw+ep", "faces.ether.interfaces"] {
            assert!(!output.status.success() && message.contains(text), "{message}");
        }
    });
}
