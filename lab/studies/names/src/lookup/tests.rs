use super::suffix::SCHEMES;
use super::*;
use crate::metric;
use hashlane_lab::definition::{Definition, Size};
use hashlane_lab::study::testing::records;
use hashlane_lab::study::{Settings, Studies, run};
use std::sync::atomic::AtomicBool;

/// Slug of the study of these tests.
const SLUG: &str = "tiny";

/// The study with other workloads and schemes, of a few lookups.
fn definition(workloads: &[&str], schemes: &[&str], reference: &str) -> Definition {
    let list = |ids: &[&str]| format!("{ids:?}");
    let text = format!(
        "slug = {SLUG:?}\nmodel = \"lookup\"\nmetric = \"ns\"\nper = \"lookup\"\ntitle = \"t\"\n\
         question = \"q\"\nsource = \"s\"\nworkloads = {}\nschemes = {}\nreference = {reference:?}\n\
         [size]\nquick = {{ items = 64, repetitions = 2 }}\nfull = {{ items = 64, repetitions = 2 }}\n",
        list(workloads),
        list(schemes)
    );
    Studies(&[&Lookups]).parse(&text, "study.toml").unwrap()
}

const SIZE: Size = Size { items: 300, repetitions: 2 };

#[test]
fn a_quick_run_measures_every_scheme_of_suffixes() {
    let workloads = [
        "hosts/300/hit-0",
        "hosts/300/hit-3",
        "hosts/300/miss",
        "hosts/300/zipf-0.8",
        "hosts/300/reload",
        "deep/300/hostile",
    ];
    let schemes: Vec<&str> = SCHEMES.iter().map(|(id, _)| *id).collect();
    let records = records(&Lookups, &definition(&workloads, &schemes, "std/single"), false, SIZE);
    for workload in workloads {
        for scheme in &schemes {
            let figure = |metric| records.metric(SLUG, workload, scheme, metric).map(|figure| figure.value);
            assert!(figure(metric::NS).is_some_and(|ns| ns > 0.0), "{workload}, {scheme}");
            assert!(figure(metric::BUILD_NS).is_some_and(|ns| ns > 0.0), "{workload}, {scheme}");
        }
        assert!(records.ratio(SLUG, workload, "hashlane/burst", "std/single").is_some());
    }
}

#[test]
fn a_quick_run_measures_every_design_of_prefixes() {
    let workloads = [
        "paths/300/hit",
        "paths/300/miss",
        "paths-11/300/zipf-1.0",
        "backtrack/300/miss",
        "backtrack/300/hostile",
    ];
    let schemes: Vec<&str> = prefix::DESIGNS.iter().map(|(id, _)| *id).collect();
    let all = records(&Lookups, &definition(&workloads, &schemes, "lengths"), false, SIZE);
    for workload in workloads {
        for scheme in &schemes {
            let figure = |metric| all.metric(SLUG, workload, scheme, metric).map(|figure| figure.value);
            assert!(figure(metric::NS).is_some_and(|ns| ns > 0.0), "{workload}, {scheme}");
            assert_eq!(figure(metric::BYTES_BEYOND).is_some(), *scheme != prefix::HASHING);
        }
    }
    let schemes = ["lengths", "binary", "fingerprints"];
    let updates = records(&Lookups, &definition(&["paths/300/update"], &schemes, "lengths"), false, SIZE);
    assert!(schemes.iter().all(|id| updates.metric(SLUG, "paths/300/update", id, metric::NS).is_some()));
}

/// Half of the names that collide under FxHash are rules; the others cost a comparison with each of them.
#[test]
fn names_chosen_against_an_unkeyed_hash_match_nothing() {
    let workloads = ["chosen/300/miss", "chosen/300/hostile"];
    let schemes = ["hashlane/burst", "fxhash/single", "std/single"];
    let records = records(&Lookups, &definition(&workloads, &schemes, "std/single"), false, SIZE);
    assert!(records.metric(SLUG, "chosen/300/hostile", "fxhash/single", metric::NS).is_some());
}

/// The study's own file; its templates are checked, too.
#[test]
fn the_study_names_known_workloads_and_schemes() {
    let studies = Studies(&[&Lookups]);
    let file = Lookups.files()[0];
    let definition = studies.parse(file.text, file.slug).unwrap();
    let settings = Settings::new(&definition, false, "hashlane".into());
    let outcome = run(&Lookups, &definition, &settings, &AtomicBool::new(true), &mut |_| ());
    assert!(outcome.failed.is_none(), "{:?}", outcome.failed);
}

#[test]
fn unknown_workloads_and_schemes_are_refused_before_anything_is_built() {
    for (workload, scheme, expected) in [
        ("hosts/1x/miss", "std/single", "no workload \"hosts/1x/miss\""),
        ("hosts/20M/miss", "stdd/single", "unknown scheme \"stdd/single\": known: hashlane/burst"),
    ] {
        let definition = definition(&[workload], &[scheme], scheme);
        let settings = Settings::new(&definition, true, "hashlane".into());
        let failed = run(&Lookups, &definition, &settings, &AtomicBool::new(false), &mut |_| ()).failed;
        let message = failed.map(|error| error.to_string()).unwrap_or_default();
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn the_users_own_rules_and_names_are_measured() {
    let folder = std::env::temp_dir().join(format!("hashlane-name-lookup-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let (rules, names) = (folder.join("rules.txt"), folder.join("names.txt"));
    std::fs::write(&rules, "Example.com\nads.example.net # why\nexample.com\na..b\n").unwrap();
    std::fs::write(&names, "www.example.com\nexample.org\n").unwrap();
    let mut paths = Paths::from([("rules", rules)]);
    let schemes = ["hashlane/burst", "std/single", "lengths"];
    let definition = definition(&["hosts/300/miss"], &schemes, "std/single");
    for workloads in
        [&["rules:rules.txt/hit-1", "rules:rules.txt/miss"][..], &["rules:rules.txt,names:names.txt"]]
    {
        let own = Lookups.load(&paths).unwrap().unwrap();
        assert!(own.notes[0].contains("3 rules from 4 lines; 1 line skipped"), "{:?}", own.notes);
        let settings =
            Settings { size: SIZE, own: Some(&own), ..Settings::new(&definition, false, "hashlane".into()) };
        let outcome = run(&Lookups, &definition, &settings, &AtomicBool::new(false), &mut |_| ());
        assert!(outcome.failed.is_none(), "{:?}", outcome.failed);
        for workload in workloads {
            let ns = outcome.records.metric(SLUG, workload, "hashlane/burst", metric::NS);
            assert!(ns.is_some_and(|ns| ns.value > 0.0), "{workload}");
            assert!(outcome.records.metric(SLUG, workload, "lengths", metric::NS).is_none());
        }
        paths.insert("names", names.clone());
    }
    assert!(Lookups.load(&Paths::from([("rules", folder.join("none.txt"))])).is_err());
    assert!(Lookups.load(&Paths::new()).unwrap().is_none());
    std::fs::remove_dir_all(&folder).unwrap();
}
