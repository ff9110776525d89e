//! The structure of the page, with hostile names.

use super::*;
use crate::management::AdvertisedCounts;
use crate::observe::snapshot::Neighbour;
use std::collections::BTreeMap;

/// A page whose names are as hostile as they come.
fn hostile() -> String {
    let hostile = "/<script>alert(1)</script>\"'\u{202e}\n";
    let neighbour = Neighbour {
        face: 300,
        remote: hostile.to_owned(),
        local: "udp4://192.0.2.1:6363".to_owned(),
        received: 1e6,
        sent: 12.0,
        interests: 1234.0,
        data: 0.3,
        drops: 7,
    };
    let snapshot = Snapshot {
        since: Duration::from_secs(4000),
        faces: BTreeMap::from([(("udp4", "non-local"), 40), (("fd", "local"), 2)]),
        neighbours: vec![neighbour],
        prefixes: Shares { heaviest: vec![(hostile.to_owned(), 512), ("x".repeat(600), 256)], total: 1024 },
        peers: Shares { heaviest: vec![("192.0.2.7".to_owned(), 1 << 30)], total: 1 << 30 },
        drops: vec![("loop", 3)],
        advertised: vec![("gateway", AdvertisedCounts { advertised: 4, ..AdvertisedCounts::default() })],
        ..Snapshot::default()
    };
    let counters = Totals::default();
    counters.first().drops.count(hashlane_ndn_fw::forward::DropReason::Loop);
    counters.first().cs_entries.set(1);
    counters.first().cs_bytes.set(10_000);
    counters.first().cs_age.set(300_000);
    counters.first().latency.add(Duration::from_millis(3));
    page(&counters, &snapshot).body
}

/// Start tags of a document: names, and their attributes.
fn tags(html: &str) -> Vec<(String, String)> {
    let body = html.replace(STYLE, "");
    let tags = body.split('<').skip(1).map(|rest| rest.split('>').next().expect("a tag").to_owned());
    tags.filter(|tag| !tag.starts_with(['/', '!']))
        .map(|tag| {
            tag.split_once(' ')
                .map_or((tag.clone(), String::new()), |(name, rest)| (name.to_owned(), rest.to_owned()))
        })
        .collect()
}

#[test]
fn the_page_has_no_script_and_nothing_from_elsewhere() {
    let html = hostile();
    let known = [
        "html",
        "head",
        "meta",
        "title",
        "style",
        "body",
        "header",
        "main",
        "h1",
        "h2",
        "p",
        "a",
        "dl",
        "div",
        "dt",
        "dd",
        "small",
        "figure",
        "figcaption",
        "span",
        "svg",
        "path",
        "text",
        "rect",
        "b",
        "section",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
    ];
    for (name, attributes) in tags(&html) {
        assert!(known.contains(&name.as_str()), "{name}");
        assert!(
            !attributes.contains("style=") && !attributes.contains(" on") && !attributes.contains("src=")
        );
        assert!(!attributes.contains("href=") || attributes == "href=\"/metrics\"", "{attributes}");
    }
    assert!(!STYLE.contains("url(") && !STYLE.contains("@import"));
    assert!(html.contains("/&lt;script&gt;alert(1)&lt;/script&gt;&quot;&#39;\u{fffd}\u{fffd}"));
    for (tag, end) in
        [("<div", "</div>"), ("<table", "</table>"), ("<svg", "</svg>"), ("<section", "</section>")]
    {
        assert_eq!(html.matches(tag).count(), html.matches(end).count(), "{tag}");
    }
}

#[test]
fn the_policy_names_the_style_sheet_by_its_digest() {
    let html = hostile();
    let style =
        html.split("<style>").nth(1).and_then(|rest| rest.split("</style>").next()).expect("a style sheet");
    let digest = data_encoding::BASE64.encode(&Sha256::digest(style));
    assert!(
        policy().starts_with("default-src 'none'; ")
            && policy().contains(&format!("style-src 'sha256-{digest}'"))
    );
}

#[test]
fn sizes_have_units() {
    let sizes = [0.0, 1023.0, 1024.0, 10_000.0, 9_751_159.0, 1e15].map(bytes);
    assert_eq!(sizes, ["0 B", "1,023 B", "1.00 KiB", "9.77 KiB", "9.30 MiB", "909 TiB"]);
}

#[test]
fn what_is_known_is_shown() {
    let html = hostile();
    for part in [
        "<td>udp4://192.0.2.1:6363</td>",
        "39 more, with less traffic",
        "<th scope=\"row\">192.0.2.7</th>",
        "<th scope=\"row\">loop</th><td class=\"n\">3</td><td class=\"n\">1</td>",
        "≤ 5 ms",
        "up 66 min",
        "9.77 KiB, oldest 5 min",
        "<th scope=\"row\">gateway</th><td class=\"n\">4</td>",
        "class=\"quiet\">all others</span>",
    ] {
        assert!(html.contains(part), "{part}");
    }
    let empty = page(&Totals::default(), &Snapshot::default()).body;
    assert!(empty.contains("nothing was dropped") && empty.contains("no faces to other hosts"));
}
