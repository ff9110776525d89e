//! The loss table: pings between neighbours over a link that loses datagrams.

use super::lab::Lab;
use super::network::Loss;
use super::node::Forwarder::{self, Hashlane, Nfd};
use super::pair::Pair;
use super::report::Report;
use std::time::Duration;

/// Neighbours, the pinging one first.
const NEIGHBOURS: [[Forwarder; 2]; 4] = [[Nfd, Nfd], [Nfd, Hashlane], [Hashlane, Nfd], [Hashlane, Hashlane]];
/// Lost datagrams in each direction, in thousandths.
const LOSSES: [u32; 3] = [0, 10, 100];
/// Pings of a cell, their interval in milliseconds, and the bytes of an answer: three fragments.
const PINGS: &str = "400";
const INTERVAL_MS: &str = "5";
const BYTES: &str = "3000";

/// Programs that the table needs.
pub(super) const NEEDS: [&str; 3] = ["nfdc", "ndnping", "ndnpingserver"];

/// Runs all cells, and adds the table. Returns the cells that failed.
pub(super) fn run(lab: &Lab, report: &mut Report) -> Vec<String> {
    let mut rows = vec![["neighbours", "reliability", "0 %", "1 %", "10 %"].map(str::to_owned).to_vec()];
    let (mut failed, mut way) = (Vec::new(), None);
    for neighbours in NEIGHBOURS {
        let name = neighbours.map(Forwarder::name).join(" – ");
        println!("loss between {name}");
        if neighbours.contains(&Nfd) && lab.programs.get("nfd").is_err() {
            rows.push(vec![name, String::new(), "not run: nfd is missing".to_owned()]);
            continue;
        }
        match cells(lab, neighbours, &mut failed, &mut way) {
            Ok(more) => rows.extend(more.into_iter().map(|row| [vec![name.clone()], row].concat())),
            Err(why) => failed.push(format!("loss, {name}: {why}")),
        }
    }
    report.table("Loss", &rows);
    report.text(&format!(
        "Answered of {PINGS} pings, one each {INTERVAL_MS} ms, and their mean round-trip time. Answers have {BYTES} \
         bytes, three fragments with the MTU 1450. Each direction loses this share of the datagrams, by {}. \
         ndnping does not repeat an Interest.",
        way.map_or("nothing", Loss::name)
    ));
    failed
}

/// The rows of two neighbours: without reliability, and with it.
fn cells(
    lab: &Lab,
    neighbours: [Forwarder; 2],
    failed: &mut Vec<String>,
    way: &mut Option<Loss>,
) -> Result<Vec<Vec<String>>, String> {
    let pair = Pair::start(lab, neighbours)?;
    let loss = Loss::find(&pair.link)?;
    *way = Some(loss);
    let mut server = pair.b.spawn(&["ndnpingserver", "-s", BYTES, "/app"])?;
    let mut rows = Vec::new();
    for reliability in ["off", "on"] {
        pair.connect("/app", reliability)?;
        let mut row = vec![reliability.to_owned()];
        for thousandths in LOSSES {
            loss.set(&pair.link, thousandths)?;
            server.wait_until(|| true, Duration::from_secs(1))?;
            let words = ["ndnping", "-i", INTERVAL_MS, "-c", PINGS, "/app"];
            // The exit code says that pings were lost.
            let said = pair.a.run(&words, Duration::from_secs(60))?.text();
            let Some(answered) = answered(&said) else {
                failed.push(format!("loss: ndnping printed {said:?}"));
                row.push("failed".to_owned());
                continue;
            };
            let lost_by_ours = !neighbours.contains(&Nfd) && reliability == "on" && answered.0 < 0.99;
            if lost_by_ours || (thousandths == 0 && answered.0 < 1.0) {
                let names = neighbours.map(Forwarder::name).join(" – ");
                failed.push(format!(
                    "loss, {names}, reliability {reliability}, {} %: {:.1} % of the pings were answered",
                    thousandths / 10,
                    100.0 * answered.0
                ));
            }
            row.push(format!("{:.1} %, {:.1} ms", 100.0 * answered.0, answered.1));
        }
        rows.push(row);
    }
    loss.set(&pair.link, 0)?;
    drop(server);
    pair.stop()?;
    Ok(rows)
}

/// Share of answered pings and mean round-trip time in milliseconds, in the summary of ndnping.
fn answered(said: &str) -> Option<(f64, f64)> {
    let number = |text: &str| text.split_whitespace().next()?.parse::<f64>().ok();
    let line = said.lines().find(|line| line.contains("packets transmitted"))?;
    let mut parts = line.split(", ");
    let (sent, received) = (number(parts.next()?)?, number(parts.next()?)?);
    let times = said.lines().find_map(|line| line.strip_prefix("rtt min/avg/max/mdev = "));
    let mean = times.and_then(|times| times.split('/').nth(1)?.parse().ok()).unwrap_or(0.0);
    (sent > 0.0).then(|| (received / sent, mean))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_summary_of_ndnping_is_read() {
        let said = "\n--- /app ping statistics ---\n400 packets transmitted, 300 received, 0 nacked, 25% lost, \
                    0% nacked, time 900 ms\nrtt min/avg/max/mdev = 1.5/3.25/9/0.1 ms\n";
        assert_eq!(answered(said), Some((0.75, 3.25)));
        assert_eq!(answered("400 packets transmitted, 0 received"), Some((0.0, 0.0)));
        assert_eq!(answered("ERROR"), None);
    }
}
