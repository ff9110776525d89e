//! The status page of a forwarder, and its metrics.

use crate::browser::{self, Browser};
use crate::forwarder::{Folder, Forwarder, block_on, fetch, produce, until};
use hashlane_client::Client;
use serde_json::json;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

/// Address of the metrics, as the log has it.
fn address(forwarder: &Forwarder) -> String {
    forwarder.process.wait_for("metrics url=http://", 1);
    let lines = forwarder.process.lines.lock().unwrap();
    let line = lines.iter().find_map(|line| line.split_once("metrics url=http://")).unwrap().1;
    line.trim_end().trim_end_matches("/metrics").to_owned()
}

/// Response to a GET request.
fn get(address: &str, path: &str, host: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
    let mut response = String::new();
    stream.read_to_string(&mut response).unwrap();
    response
}

/// A forwarder with traffic, below a name that is hostile to pages.
fn busy(folder: &Folder, shards: &str) -> Forwarder {
    let forwarder = folder.forwarder(&["--metrics", "127.0.0.1:0", "--shards", shards]);
    produce(folder, "/a", |_| b"hello".to_vec());
    block_on(async {
        let client = Client::connect(&folder.transport()).await.unwrap();
        for number in 0..1500 {
            assert!(fetch(&client, &format!("/a/%3Cscript%3Ealert(1)%3C/{number}")).await);
        }
        assert!(!fetch(&client, "/no/route").await);
    });
    forwarder
}

/// Waits for a snapshot with the traffic. Returns the page.
fn page(address: &str) -> String {
    let mut page = String::new();
    until(
        || {
            page = get(address, "/", address);
            page.contains("alert")
        },
        || "the prefix on the page".to_owned(),
    );
    page
}

fn serves_metrics_and_a_page(shards: &str) {
    let folder = Folder::new();
    let forwarder = busy(&folder, shards);
    let address = address(&forwarder);
    let page = page(&address);
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    let (head, body) = page.split_once("\r\n\r\n").unwrap();
    assert!(head.contains("Content-Security-Policy: default-src 'none'; style-src 'sha256-"), "{head}");
    assert!(!body.contains("<script") && !body.contains("style=") && !body.contains("//"), "{body}");
    assert_eq!(body.matches("<figure>").count(), 6);
    assert!(get(&address, "/", "rebound.example").starts_with("HTTP/1.1 421 "));
    assert!(get(&address, "/x", &address).starts_with("HTTP/1.1 404 "));
    let metrics = get(&address, "/metrics", &address);
    for part in [
        "hashlane_ndn_satisfaction_seconds_count 150",
        "hashlane_ndn_strategy_decisions_total{strategy=\"best-route\",decision=\"forward\"} 15",
        "hashlane_ndn_strategy_decisions_total{strategy=\"best-route\",decision=\"reject\"} 1\n",
        "hashlane_ndn_faces{scheme=\"fd\",scope=\"local\"} ",
        "hashlane_ndn_prefix_packets{prefix=\"/a/%3Cscript%3Ealert%281%29%3C\"} ",
        "hashlane_ndn_peer_bytes{peer=\"local\"} ",
        "hashlane_ndn_table_bytes{table=\"cs\"} ",
        "hashlane_ndn_entries{table=\"fib\"} 3\n",
    ] {
        assert!(metrics.contains(part), "{part}\n{metrics}");
    }
}

#[test]
fn the_metrics_and_the_page_show_traffic() {
    serves_metrics_and_a_page("1");
}

#[test]
fn the_metrics_and_the_page_show_the_traffic_of_all_shards() {
    serves_metrics_and_a_page("3");
}

#[test]
fn the_page_fits_wide_and_narrow_screens_in_light_and_dark() {
    let Some(program) = browser::installed() else { return };
    let folder = Folder::new();
    let forwarder = busy(&folder, "1");
    let address = address(&forwarder);
    page(&address);
    let mut browser = Browser::start(&program, &folder.0);
    for (width, is_dark) in [(1280, false), (1280, true), (400, false), (400, true)] {
        browser.open(&format!("http://{address}/"), width, is_dark);
        let case = format!("{width} pixels, dark: {is_dark}");
        // Tables scroll inside of their boxes.
        assert_eq!(browser.evaluate("innerWidth"), json!(width), "{case}");
        assert_eq!(
            browser.evaluate("document.documentElement.scrollWidth <= innerWidth"),
            json!(true),
            "{case}"
        );
        let cut = "[...document.querySelectorAll('h1, h2, figcaption, dd, dt, .legend span')]\
                   .filter(e => e.scrollWidth > e.clientWidth + 1 && e.clientWidth > 0).length";
        assert_eq!(browser.evaluate(cut), json!(0), "{case}");
        // The style sheet is applied, in the colours of the scheme.
        let back = browser.evaluate("getComputedStyle(document.body).backgroundColor");
        assert_eq!(back, json!(if is_dark { "rgb(21, 23, 26)" } else { "rgb(251, 251, 250)" }), "{case}");
        let columns = browser.evaluate(
            "getComputedStyle(document.querySelector('.charts')).gridTemplateColumns.split(' ').length",
        );
        assert_eq!(columns, json!(if width == 1280 { 3 } else { 1 }), "{case}");
        assert_eq!(
            browser.evaluate("document.querySelectorAll('figure path.line').length > 11"),
            json!(true),
            "{case}"
        );
        assert_eq!(browser.evaluate("document.scripts.length"), json!(0), "{case}");
        let prefix = browser.evaluate("document.querySelector('section tbody th').textContent");
        assert_eq!(prefix, json!("/a/%3Cscript%3Ealert%281%29%3C"), "{case}");
        let requests = browser.evaluate(
            "performance.getEntriesByType('resource').filter(e => !e.name.endsWith('favicon.ico')).length",
        );
        assert_eq!(requests, json!(0), "{case}: all of the page is in one document");
    }
    assert!(browser.console().is_empty(), "{:?}", browser.console());
}
