//! Consumers and producers on the two sides of a forwarder.
#![allow(clippy::unwrap_used, reason = "a helper that cannot do its work fails the test")]

use hashlane_client::{
    Client, CommandError, Discovery, Express, ExpressError, FetchError, FetchOptions, Library, OwnedData,
    Publication, RegisterError, Transport,
};
use hashlane_client_testing::Forwarder;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::Ndn;
use hashlane_name::uri::parse_uri;
use hashlane_ndn::mgmt::{ControlParameters, ControlResponse, Record};
use hashlane_ndn::wire::lp::INTEREST_DIGEST;
use hashlane_ndn::wire::{DataBuilder, DigestFunction, Interest, InterestBuilder, LpPacket, NackReason};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

fn name(uri: &str) -> OwnedName<Ndn> {
    parse_uri(uri.as_bytes()).unwrap()
}

/// A path that nobody else uses.
fn socket() -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    std::env::temp_dir().join(format!("hashlane-client-{}-{number}.sock", std::process::id()))
}

async fn connect(path: &std::path::Path) -> Client {
    Client::connect(&Transport::Unix(path.into())).await.unwrap()
}

/// Answers each Interest below `prefix` with Data of its name, or of that with `/more`, until the client
/// ends.
async fn echo(client: &Client, prefix: &str, more: bool) {
    let mut registration = client.register(name(prefix).view()).await.unwrap();
    tokio::spawn(async move {
        while let Some(incoming) = registration.next().await {
            let asked = incoming.interest().name();
            let more = more.then_some(Component::generic(b"more"));
            let name = OwnedName::<Ndn>::from_components(asked.components().chain(more).collect::<Vec<_>>());
            let data = DataBuilder::new(name.unwrap().view(), b"hello").build();
            incoming.reply(&data).await.unwrap();
        }
    });
}

async fn ask(client: &Client, interest: InterestBuilder<'_>) -> Result<OwnedData, ExpressError> {
    let how = Express { wait: Some(Duration::from_millis(300)), ..Express::default() };
    client.express(&interest, &how).await
}

#[tokio::test]
async fn data_comes_for_its_name() {
    let path = socket();
    let _forwarder = Forwarder::start(&path);
    let (producer, consumer) = (connect(&path).await, connect(&path).await);
    echo(&producer, "/a", false).await;
    let asked = name("/a/b");
    let data = ask(&consumer, InterestBuilder::new(asked.view())).await.unwrap();
    assert_eq!((data.view().name(), data.view().content()), (asked.view(), &b"hello"[..]));
}

#[tokio::test]
async fn a_digest_goes_with_an_interest_and_comes_back_with_its_data() {
    let path = socket();
    let forwarder = Forwarder::start(&path);
    let (producer, consumer) = (connect(&path).await, connect(&path).await);
    echo(&producer, "/a", false).await;
    let asked = name("/a/b");
    let interest = InterestBuilder::new(asked.view());
    ask(&consumer, interest.clone()).await.unwrap();
    assert_eq!(forwarder.digests(), [("interest", vec![]), ("data", vec![])]);
    let function = DigestFunction::Sha256;
    consumer.digest_interests(function, INTEREST_DIGEST).await.unwrap();
    ask(&consumer, interest.clone()).await.unwrap();
    let packet = interest.build();
    let digest = function.digest(&Interest::parse(&packet).unwrap()).as_bytes().to_vec();
    assert_eq!(forwarder.digests()[2..], [("interest", digest.clone()), ("data", digest)]);
}

#[tokio::test]
async fn data_with_a_longer_name_comes_where_it_may() {
    let path = socket();
    let _forwarder = Forwarder::start(&path);
    let (producer, consumer) = (connect(&path).await, connect(&path).await);
    echo(&producer, "/a", true).await;
    let asked = name("/a/b");
    let exact = InterestBuilder::new(asked.view());
    let prefix = InterestBuilder { can_be_prefix: true, ..exact.clone() };
    let data = ask(&consumer, prefix).await.unwrap();
    assert_eq!(data.view().name(), name("/a/b/more").view());
    assert!(matches!(ask(&consumer, exact).await, Err(ExpressError::Timeout { sent: 1, .. })));
}

#[tokio::test]
async fn data_is_found_by_its_digest() {
    let path = socket();
    let _forwarder = Forwarder::start(&path);
    let (producer, consumer) = (connect(&path).await, connect(&path).await);
    let packet = DataBuilder::new(name("/a/b").view(), b"content").build();
    let digest = hashlane_ndn::wire::Data::parse(&packet).unwrap().implicit_digest();
    let of = |digest: &[u8]| {
        let last = Component { typ: hashlane_name::component::IMPLICIT_SHA256_DIGEST, value: digest };
        OwnedName::<Ndn>::from_components(name("/a/b").view().components().chain([last])).unwrap()
    };
    let (right, wrong) = (of(&digest), of(&[0; 32]));
    // The forwarder of these tests knows no digests: it has this Data as that to an Interest for all below
    // /a/b.
    let mut registration = producer.register(name("/a").view()).await.unwrap();
    tokio::spawn(async move {
        while let Some(incoming) = registration.next().await {
            incoming.reply(&packet).await.unwrap();
        }
    });
    let prefix = name("/a/b");
    let all = InterestBuilder { can_be_prefix: true, ..InterestBuilder::new(prefix.view()) };
    let (by_right, by_wrong, by_prefix) = tokio::join!(
        ask(&consumer, InterestBuilder::new(right.view())),
        ask(&consumer, InterestBuilder::new(wrong.view())),
        ask(&consumer, all),
    );
    assert_eq!(by_right.unwrap().view().content(), b"content");
    assert!(matches!(by_wrong, Err(ExpressError::Timeout { .. })));
    assert_eq!(by_prefix.unwrap().view().content(), b"content");
}

#[tokio::test]
async fn an_interest_without_a_route_comes_back() {
    let path = socket();
    let _forwarder = Forwarder::start(&path);
    let consumer = connect(&path).await;
    let outcome = ask(&consumer, InterestBuilder::new(name("/nobody").view())).await;
    assert_eq!(outcome, Err(ExpressError::Nack(NackReason::NO_ROUTE)));
}

#[tokio::test]
async fn what_the_validator_refuses_is_not_delivered() {
    let path = socket();
    let _forwarder = Forwarder::start(&path);
    let (producer, consumer) = (connect(&path).await, connect(&path).await);
    let mut registration = producer.register(name("/a").view()).await.unwrap();
    tokio::spawn(async move {
        while let Some(incoming) = registration.next().await {
            let mut packet = DataBuilder::new(incoming.interest().name(), b"content").build();
            *packet.last_mut().unwrap() ^= 1;
            incoming.reply(&packet).await.unwrap();
        }
    });
    let outcome = ask(&consumer, InterestBuilder::new(name("/a/b").view())).await;
    assert!(matches!(outcome, Err(ExpressError::Invalid(_))), "{outcome:?}");
}

#[tokio::test]
async fn an_interest_is_sent_again_with_another_nonce() {
    let path = socket();
    let _forwarder = Forwarder::start(&path);
    let (producer, consumer) = (connect(&path).await, connect(&path).await);
    let mut registration = producer.register(name("/a").view()).await.unwrap();
    let asking = tokio::spawn(async move {
        let how = Express { retries: 2, wait: Some(Duration::from_millis(50)), ..Express::default() };
        consumer.express(&InterestBuilder::new(name("/a/b").view()), &how).await
    });
    let mut nonces = Vec::new();
    for _ in 0..3 {
        nonces.push(registration.next().await.unwrap().interest().nonce().unwrap());
    }
    assert!(nonces[0] != nonces[1] && nonces[1] != nonces[2]);
    let waited = Duration::from_millis(50);
    assert_eq!(asking.await.unwrap(), Err(ExpressError::Timeout { waited, sent: 3 }));
}

#[tokio::test]
async fn a_prefix_is_registered_once_and_unregistered_in_the_end() {
    let path = socket();
    let forwarder = Forwarder::start(&path);
    let producer = connect(&path).await;
    let registration = producer.register(name("/a").view()).await.unwrap();
    let again = producer.register(name("/a").view()).await.unwrap_err();
    assert_eq!(again, RegisterError::AlreadyRegistered);
    registration.close().await;
    assert_eq!(forwarder.commands(), ["rib/register", "rib/unregister"]);
    let _registration = producer.register(name("/a").view()).await.unwrap();
}

#[tokio::test]
async fn all_goes_on_when_the_forwarder_is_started_again() {
    let path = socket();
    let forwarder = Forwarder::start(&path);
    let (producer, consumer) = (connect(&path).await, connect(&path).await);
    let mut registration = producer.register(name("/a").view()).await.unwrap();
    let waiting = tokio::spawn({
        let consumer = consumer.clone();
        async move {
            let asked = name("/a/waits");
            let interest = InterestBuilder { lifetime: 20_000, ..InterestBuilder::new(asked.view()) };
            consumer.express(&interest, &Express::default()).await
        }
    });
    // It was on its way when the forwarder went, and comes again by the new one, unless the route comes after
    // it.
    let lost = registration.next().await.unwrap();
    drop(forwarder);
    let forwarder = Forwarder::start(&path);
    while !forwarder.commands().contains(&"rib/register".into()) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    drop(lost);
    tokio::spawn(async move {
        while let Some(incoming) = registration.next().await {
            let data = DataBuilder::new(incoming.interest().name(), b"hello").build();
            incoming.reply(&data).await.unwrap();
        }
    });
    let waited = waiting.await.unwrap();
    assert!(waited.is_ok() || waited == Err(ExpressError::Nack(NackReason::NO_ROUTE)), "{waited:?}");
    let data = ask(&consumer, InterestBuilder::new(name("/a/new").view())).await.unwrap();
    assert_eq!(data.view().content(), b"hello");
}

/// Publishes `bytes` under /object and fetches what is asked for as `uri`.
async fn fetch(bytes: Vec<u8>, uri: &str, loss: usize, discovery: Discovery) -> Result<Vec<u8>, FetchError> {
    let path = socket();
    let forwarder = Forwarder::start(&path);
    let (producer, consumer) = (connect(&path).await, connect(&path).await);
    let object = Publication::new(name("/object/v=7").view(), bytes).unwrap();
    let mut library = Library::new();
    library.insert(object);
    let mut registration = producer.register(name("/object").view()).await.unwrap();
    tokio::spawn(async move { library.serve(&mut registration, |_| {}).await });
    forwarder.lose_one_of(loss);
    let options = FetchOptions { discovery, lifetime: 500, ..FetchOptions::default() };
    let mut fetch = consumer.fetch(name(uri).view(), options).await?;
    let mut fetched = Vec::new();
    while let Some(data) = fetch.next().await? {
        fetched.extend_from_slice(data.view().content());
    }
    let progress = fetch.progress();
    assert_eq!(progress.bytes, fetched.len() as u64);
    assert_eq!(progress.total, Some(progress.segments));
    assert_eq!(progress.cuts > 0, loss > 0, "{progress:?}");
    Ok(fetched)
}

fn bytes(len: usize) -> Vec<u8> {
    (0..len).map(|at| (at * 31 / 7) as u8).collect()
}

#[tokio::test]
async fn an_object_is_fetched_however_its_version_is_found() {
    let sent = bytes(300_000);
    for (uri, discovery) in [
        ("/object", Discovery::Auto),
        ("/object", Discovery::Metadata),
        ("/object", Discovery::Prefix),
        ("/object/v=7", Discovery::Auto),
        ("/object/v=7", Discovery::None),
    ] {
        assert_eq!(fetch(sent.clone(), uri, 0, discovery).await.unwrap(), sent, "{uri} {discovery:?}");
    }
}

#[tokio::test]
async fn one_segment_is_fetched_by_its_name() {
    let sent = bytes(20_000);
    let fetched = fetch(sent.clone(), "/object/v=7/seg=2", 0, Discovery::Auto).await.unwrap();
    assert_eq!(fetched, sent[2 * hashlane_client::SEGMENT_SIZE..]);
}

#[tokio::test]
async fn an_object_comes_whole_over_a_link_that_loses_packets() {
    let sent = bytes(1_000_000);
    assert_eq!(fetch(sent.clone(), "/object/v=7", 20, Discovery::Auto).await.unwrap(), sent);
}

#[tokio::test]
async fn a_fetch_ends_where_nobody_answers() {
    let outcome = fetch(Vec::new(), "/object/v=8", 0, Discovery::Metadata).await;
    assert!(matches!(outcome, Err(FetchError::Express(ExpressError::Timeout { .. }))), "{outcome:?}");
}

#[tokio::test]
async fn a_connection_that_cannot_be_made_says_what_to_do() {
    let error = Client::connect(&Transport::Unix(socket())).await.unwrap_err().to_string();
    assert!(error.contains("no such file") && error.contains("hashlane ndn run"), "{error}");
}

#[tokio::test]
async fn over_udp_only_what_goes_to_other_hosts_is_asked() {
    let forwarder = tokio::net::UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let port = forwarder.local_addr().unwrap().port();
    let client = Client::connect(&Transport::Udp { host: "127.0.0.1".into(), port }).await.unwrap();
    assert!(!client.is_local());
    let error = client.command("faces", "create", &ControlParameters::default()).await.unwrap_err();
    assert_eq!(error, CommandError::NotLocal { module: "faces".into() });
    let (error, other) =
        (error.to_string(), client.dataset("fib", "list", None).await.unwrap_err().to_string());
    assert!(
        error.contains("unix:///PATH") && other.contains("answers for fib on its own host"),
        "{error}; {other}"
    );
    // A prefix is registered as with a neighbour.
    let asking = client.clone();
    tokio::spawn(async move { asking.register(name("/a").view()).await });
    let mut bytes = [0; 9000];
    let len = forwarder.recv(&mut bytes).await.unwrap();
    let packet = LpPacket::parse(&bytes[..len]).unwrap();
    let interest = Interest::parse(packet.fragment).unwrap();
    assert!(interest.name().to_string().starts_with("/localhop/nfd/rib/register/"), "{}", interest.name());
}

#[tokio::test]
async fn the_end_of_a_registration_is_not_waited_for_for_long() {
    let path = socket();
    let listener = tokio::net::UnixListener::bind(&path).unwrap();
    // A forwarder that ends: it answers the first command, and no more.
    let forwarder = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut bytes = [0; 9000];
        let len = stream.read(&mut bytes).await.unwrap();
        let packet = LpPacket::parse(&bytes[..len]).unwrap();
        let interest = Interest::parse(packet.fragment).unwrap();
        let response = ControlResponse::with(200, "OK", &ControlParameters::default());
        let data = DataBuilder::new(interest.name(), &response.to_bytes()).build();
        stream.write_all(&data).await.unwrap();
        stream
    });
    let client = connect(&path).await;
    let registration = client.register(name("/a").view()).await.unwrap();
    let _stream = forwarder.await.unwrap();
    // From here the clock goes on when nothing is left to do but to wait.
    tokio::time::pause();
    let before = tokio::time::Instant::now();
    registration.close().await;
    assert!(before.elapsed() < Duration::from_secs(1), "{:?}", before.elapsed());
    std::fs::remove_file(&path).unwrap();
}
