//! The indexes of the PIT between processes: two forwarders in a row, and a malicious neighbour.

use crate::forwarder::{Folder, Forwarder, block_on, fetch, parse, produce};
use hashlane_client::{Client, Express, ExpressError};
use hashlane_ndn::mgmt::ControlParameters;
use hashlane_ndn::mgmt::values::{FACE_NO_INTEREST_DIGESTS, FACE_PIT_TOKENS};
use hashlane_ndn::wire::lp::{DigestField, INTEREST_DIGEST};
use hashlane_ndn::wire::{
    DataBuilder, DigestFunction, Interest, InterestBuilder, LpHeader, LpPacket, NackReason,
};
use hashlane_ndn_fw::pit::TOKEN_LEN;
use std::collections::BTreeMap;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

const INDEXES: [&str; 3] = ["name", "digest", "token"];

/// Flags of a face that gets tokens and digests, and of a face that gets none.
const ALL: u64 = FACE_PIT_TOKENS;
const NOTHING: u64 = FACE_NO_INTEREST_DIGESTS;

/// Makes a face with these flags.
async fn face(client: &Client, to: SocketAddr, flags: u64) -> Option<u64> {
    let mask = Some(FACE_PIT_TOKENS | FACE_NO_INTEREST_DIGESTS);
    let (uri, flags) = (Some(format!("udp4://{to}")), Some(flags));
    let asked = ControlParameters { uri, flags, mask, ..Default::default() };
    client.command("faces", "create", &asked).await.unwrap().face_id
}

/// Makes a face with these flags, and the route of a prefix over it.
async fn lead(client: &Client, prefix: &str, to: SocketAddr, flags: u64) {
    let (name, face_id) = (Some(parse(prefix)), face(client, to, flags).await);
    let route = ControlParameters { name, face_id, ..Default::default() };
    client.command("rib", "register", &route).await.unwrap();
}

/// Sends Interests through two forwarders with these indexes; their faces to each other have these flags.
async fn ask(near: (&Folder, &Forwarder), far: (&Folder, &Forwarder), flags: u64, round: &str) {
    let client = Client::connect(&near.0.transport()).await.unwrap();
    let far_client = Client::connect(&far.0.transport()).await.unwrap();
    face(&far_client, near.1.udp, flags).await.unwrap();
    lead(&client, "/", far.1.udp, flags).await;
    for number in 0..20 {
        assert!(fetch(&client, &format!("/a/{number}")).await, "{round}: {number}");
    }
    // An Interest by prefix, while the other forwarder has sent an Interest itself; then a Nack.
    let name = parse("/a/below");
    let asked = InterestBuilder { can_be_prefix: true, ..InterestBuilder::new(name.view()) };
    let how = Express::default();
    let (one, two) = tokio::join!(client.express(&asked, &how), fetch(&far_client, "/a/beside"));
    assert!(one.is_ok() && two, "{round}: {one:?}");
    let name = parse("/nobody/knows");
    let none = client.express(&InterestBuilder::new(name.view()), &Express::default()).await;
    assert_eq!(none.unwrap_err(), ExpressError::Nack(NackReason::NO_ROUTE), "{round}");
}

#[test]
fn each_pair_of_indexes_in_a_row_answers_with_and_without_headers() {
    for near in INDEXES {
        for far in INDEXES {
            for flags in [ALL, NOTHING] {
                let round = format!("{near} before {far}, flags {flags}");
                let folders = [Folder::new(), Folder::new()];
                let [first, second] = [(&folders[0], near), (&folders[1], far)]
                    .map(|(folder, index)| folder.forwarder(&["--pit-index", index]));
                produce(&folders[1], "/a", |_| b"hello".to_vec());
                block_on(ask((&folders[0], &first), (&folders[1], &second), flags, &round));
                assert_eq!([drops(first), drops(second)], [[0, 0]; 2], "{round}");
            }
        }
    }
}

/// Header fields of an Interest that reached a neighbour.
#[derive(Clone, Debug, Default)]
struct Came {
    token: Vec<u8>,
    digest: Vec<u8>,
    packet: Vec<u8>,
}

impl Came {
    fn header(&self) -> LpHeader<'_> {
        let digest = DigestField::new(INTEREST_DIGEST, &self.digest);
        LpHeader { pit_token: &self.token, digest, ..LpHeader::default() }
    }
}

/// A forwarder with one index, and a neighbour on a socket, by which the test answers for `/n`.
struct Setup {
    folder: Folder,
    forwarder: Forwarder,
    neighbour: UdpSocket,
}

impl Setup {
    fn new(index: &str) -> Self {
        let folder = Folder::new();
        let forwarder = folder.forwarder(&["--pit-index", index]);
        let neighbour = socket();
        block_on(async {
            let client = Client::connect(&folder.transport()).await.unwrap();
            lead(&client, "/n", neighbour.local_addr().unwrap(), ALL).await;
        });
        Self { folder, forwarder, neighbour }
    }

    /// A consumer that waits for the Data of a name.
    fn waiting(&self, uri: &str) -> JoinHandle<bool> {
        let (transport, uri) = (self.folder.transport(), uri.to_owned());
        thread::spawn(move || {
            block_on(async {
                let client = Client::connect(&transport).await.unwrap();
                let name = parse(&uri);
                let asked = InterestBuilder { lifetime: 60_000, ..InterestBuilder::new(name.view()) };
                client.express(&asked, &Express::default()).await.is_ok()
            })
        })
    }

    /// Receives this number of Interests, by name.
    fn come(&self, count: usize) -> BTreeMap<String, Came> {
        let mut came = BTreeMap::new();
        let mut octets = [0; 9000];
        while came.len() < count {
            let len = self.neighbour.recv(&mut octets).unwrap();
            let packet = LpPacket::parse(&octets[..len]).unwrap();
            let (header, fragment) = (packet.header, packet.fragment);
            let name = Interest::parse(fragment).unwrap().name().to_string();
            let digest = header.digest.of(INTEREST_DIGEST).to_vec();
            came.insert(name, Came { token: header.pit_token.to_vec(), digest, packet: fragment.to_vec() });
        }
        came
    }

    fn send(&self, from: &UdpSocket, header: &LpHeader<'_>, packet: &[u8]) {
        let octets = [header.frame(packet.len()).as_bytes(), packet].concat();
        from.send_to(&octets, self.forwarder.udp).unwrap();
    }

    /// Sends Data of a name with the header fields of an Interest.
    fn answer(&self, from: &UdpSocket, uri: &str, with: &Came) {
        let name = parse(uri);
        self.send(from, &with.header(), &DataBuilder::new(name.view(), b"hello").build());
    }

    /// Waits until the forwarder has handled all earlier packets of a socket.
    fn settle(&self, from: &UdpSocket) {
        let name = parse("/nobody/knows");
        let packet = InterestBuilder { nonce: Some(7), ..InterestBuilder::new(name.view()) }.build();
        self.send(from, &LpHeader::default(), &packet);
        let mut octets = [0; 9000];
        let len = from.recv(&mut octets).unwrap();
        let answer = LpPacket::parse(&octets[..len]).unwrap();
        assert_eq!(answer.header.nack, Some(NackReason::NO_ROUTE));
    }

    /// Stops the forwarder. Returns the numbers of packets dropped as unsolicited and for their digests.
    fn drops(self) -> [usize; 2] {
        drops(self.forwarder)
    }
}

/// Stops a forwarder. Returns the numbers of packets dropped as unsolicited and for their digests; there are
/// no others.
fn drops(forwarder: Forwarder) -> [usize; 2] {
    let process = forwarder.process;
    let lines = Arc::clone(&process.lines);
    process.signal("-TERM");
    assert_eq!(process.end(), Some(0));
    let lines = lines.lock().unwrap();
    // There is a line only after a drop; the last line has the sums.
    let message =
        lines.iter().rev().find_map(|line| line.split_once("reasons=")).map_or("", |(_, message)| message);
    let mut counts = [0; 2];
    for reason in message.trim_matches('"').split(", ").filter(|reason| !reason.is_empty()) {
        let (name, count) = reason.split_once(' ').unwrap();
        let at = ["unsolicited", "digest"].iter().position(|known| *known == name);
        counts[at.unwrap_or_else(|| panic!("{message}"))] = count.parse::<usize>().unwrap();
    }
    counts
}

fn socket() -> UdpSocket {
    let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
    socket
}

#[test]
fn a_digest_that_lies_costs_its_packet_alone() {
    let bench = Setup::new("digest");
    let waiting = ["/n/1", "/n/2", "/n/3"].map(|name| bench.waiting(name));
    let came = bench.come(3);
    let liar = socket();
    for one in came.values() {
        let right = DigestFunction::Sha1.digest(&Interest::parse(&one.packet).unwrap());
        assert_eq!((&one.digest[..], one.token.len()), (right.as_bytes(), 0));
    }
    // The digest of another pending Interest, with Data and with an Interest; an unknown digest; and a digest
    // of another length.
    bench.answer(&bench.neighbour, "/n/1", &came["/n/2"]);
    let crossed = Came { digest: came["/n/2"].digest.clone(), ..came["/n/1"].clone() };
    bench.send(&liar, &crossed.header(), &came["/n/1"].packet);
    bench.settle(&liar);
    bench.settle(&bench.neighbour);
    bench.answer(&bench.neighbour, "/n/1", &came["/n/1"]);
    bench.answer(&bench.neighbour, "/n/2", &Came { digest: vec![9; 20], ..Came::default() });
    bench.answer(&bench.neighbour, "/n/3", &Came { digest: vec![9; 8], ..Came::default() });
    assert!(waiting.into_iter().all(|asked| asked.join().unwrap()), "nobody else is hurt");
    let [unsolicited, digest] = bench.drops();
    // With several shards, the digest of an Interest in another one is no digest that is known.
    let crossed = usize::from(std::env::var_os("HASHLANE_NDN_SHARDS").is_some() && unsolicited == 1);
    assert_eq!([unsolicited, digest], [crossed, 2 - crossed]);
}

#[test]
fn a_token_of_another_or_used_up_finds_nothing_that_the_name_does_not() {
    let bench = Setup::new("token");
    let waiting = ["/n/1", "/n/2", "/n/3"].map(|name| bench.waiting(name));
    let came = bench.come(3);
    let [one, two, three] = ["/n/1", "/n/2", "/n/3"].map(|name| came[name].clone());
    assert!(came.values().all(|came| came.token.len() == TOKEN_LEN && came.digest.is_empty()));
    assert!(one.token != two.token && two.token != three.token && one.token != three.token);
    // From a neighbour that got no Interest; and for a name without an Interest.
    let liar = socket();
    bench.answer(&liar, "/n/1", &one);
    bench.settle(&liar);
    bench.answer(&bench.neighbour, "/n/other", &one);
    bench.answer(&bench.neighbour, "/n/1", &one);
    // Again, and for another name, after the token was used.
    bench.answer(&bench.neighbour, "/n/1", &one);
    bench.answer(&bench.neighbour, "/n/other", &one);
    bench.settle(&bench.neighbour);
    // With the token of another Interest, with an invalid token, and without one: the name decides.
    bench.answer(&bench.neighbour, "/n/2", &three);
    bench.answer(&bench.neighbour, "/n/3", &Came { token: vec![9; TOKEN_LEN], ..Came::default() });
    assert!(waiting.into_iter().all(|asked| asked.join().unwrap()), "nobody else is hurt");
    assert_eq!(bench.drops(), [4, 0]);
}

#[test]
fn by_name_neighbours_get_no_headers_and_theirs_say_nothing() {
    let bench = Setup::new("name");
    let waiting = ["/n/1", "/n/2"].map(|name| bench.waiting(name));
    let came = bench.come(2);
    assert!(came.values().all(|came| came.token.is_empty() && came.digest.is_empty()));
    bench.answer(&bench.neighbour, "/n/1", &Came { digest: vec![9; 20], ..Came::default() });
    bench.answer(&bench.neighbour, "/n/2", &Came { token: vec![9; TOKEN_LEN], ..Came::default() });
    bench.answer(&bench.neighbour, "/n/2", &Came { token: vec![9; TOKEN_LEN], ..Came::default() });
    bench.settle(&bench.neighbour);
    assert!(waiting.into_iter().all(|asked| asked.join().unwrap()));
    assert_eq!(bench.drops(), [1, 0]);
}
