//! Outages of collectors.

use super::*;
use crate::outputs::Target;
use std::net::{Ipv4Addr, TcpListener, UdpSocket};
use std::sync::{Arc, Mutex};
use std::thread::sleep;

/// An export to a collector, at a time that the test sets.
struct Export {
    exporters: Exporters,
    notes: Arc<Mutex<Vec<String>>>,
    now: u64,
}

impl Export {
    fn to(target: &str) -> Self {
        let output = OutputConfig { to: Target::parse(target).unwrap(), ..OutputConfig::default() };
        let notes = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&notes);
        let note = move |note: &str| noted.lock().unwrap().push(note.to_owned());
        let exporters = Exporters::open(&[output], &RunFacts::default(), note).unwrap();
        Self { exporters, notes, now: 1_767_323_045_000_000_000 }
    }

    /// Exports a flow in a separate message.
    fn export(&mut self) {
        self.exporters.flows(&[FlowRecord::EMPTY], self.now).unwrap();
        self.tick();
    }

    fn tick(&mut self) {
        self.now += 2_000_000_000;
        self.exporters.tick(&[], self.now).unwrap();
    }

    fn notes(&self) -> Vec<String> {
        self.notes.lock().unwrap().clone()
    }

    fn status(&self) -> OutputStatus {
        self.exporters.status().remove(0)
    }
}

#[test]
fn refused_datagrams_are_lost_and_an_outage_is_noted_twice() {
    let address = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let mut export = Export::to(&format!("udp:{address}"));
    assert_eq!(export.status().error, None);
    (0..10).for_each(|_| export.export());
    let begun = format!(
        "udp:{address} is unreachable: Connection refused (os error 111); start the collector, or check its \
         address; until then flows are lost"
    );
    assert_eq!(export.notes(), [&begun[..]]);
    let OutputStatus { flows, bytes, flows_lost, blocks_lost, error, .. } = export.status();
    assert_eq!((flows, bytes, flows_lost, blocks_lost), (0, 0, 10, 10));
    assert!(error.unwrap().contains("Connection refused"));

    let _collector = UdpSocket::bind(address).unwrap();
    (0..5).for_each(|_| export.export());
    let ended = format!("udp:{address} is reachable again; lost meanwhile: 10 flows in 10 messages");
    assert_eq!(export.notes(), [begun, ended]);
    let OutputStatus { flows, flows_lost, error, .. } = export.status();
    assert_eq!((flows, flows_lost, error), (5, 10, None));
}

#[test]
fn an_outage_of_a_connection_is_noted_twice_and_its_flows_wait() {
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap().local_addr().unwrap();
    let mut export = Export::to(&format!("tcp:{address}"));
    let until = |export: &mut Export, notes: usize| {
        let begun = Instant::now();
        while export.notes().len() < notes {
            assert!(begun.elapsed() < Duration::from_secs(15), "{:?}", export.status());
            sleep(Duration::from_millis(1));
            export.tick();
        }
    };
    export.export();
    until(&mut export, 1);
    (0..20).for_each(|_| export.tick());
    assert!(export.status().error.unwrap().contains("Connection refused"));
    let _collector = TcpListener::bind(address).unwrap();
    until(&mut export, 2);
    let notes = export.notes();
    assert!(
        notes[0].contains(" is unreachable: ")
            && notes[0].ends_with("until then flows wait, up to 16 MiB of them")
    );
    assert!(notes[1].ends_with("is reachable again; lost meanwhile: 0 flows in 0 messages"), "{notes:?}");
    let OutputStatus { flows, flows_lost, error, .. } = export.status();
    assert_eq!((flows, flows_lost, error), (1, 0, None));
}

#[test]
fn a_file_keeps_its_content_if_another_output_does_not_open() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("flows.csv");
    std::fs::write(&path, "of yesterday").unwrap();
    let csv = |path: std::path::PathBuf| OutputConfig {
        format: Format::Csv,
        to: Target::File(path),
        overwrite: true,
        ..OutputConfig::default()
    };
    let outputs = [csv(path.clone()), csv(dir.path().join("nowhere/flows.csv"))];
    assert!(Exporters::open(&outputs, &RunFacts::default(), |_| {}).is_err());
    assert_eq!(std::fs::read(&path).unwrap(), b"of yesterday");
}
