//! Our name server beside NSD and BIND, and a DNS server with our renderer, queried by dig.

use super::readme;
use crate::need::{self, Need};
use crate::run::{self, Outcome};
use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

const NEEDS: [Need; 10] = [
    Need {
        name: "dig",
        probe: &["dig", "-v"],
        install: "apt-get update && apt-get install --yes bind9-dnsutils",
    },
    Need {
        name: "nsd",
        probe: &["/usr/sbin/nsd", "-v"],
        install: "apt-get update && apt-get install --yes nsd",
    },
    need::NAMED,
    Need {
        name: "dnssec-signzone",
        probe: &["dnssec-signzone", "-V"],
        install: "apt-get update && apt-get install --yes bind9-utils",
    },
    Need {
        name: "ldns-signzone",
        probe: &["ldns-signzone", "-v"],
        install: "apt-get update && apt-get install --yes ldnsutils",
    },
    need::UNBOUND,
    Need {
        name: "knotd",
        probe: &["/usr/sbin/knotd", "-V"],
        install: "apt-get update && apt-get install --yes knot",
    },
    Need {
        name: "pdns_server",
        // Its option for the version ends with an error.
        probe: &["test", "-x", "/usr/sbin/pdns_server"],
        install: "apt-get update && apt-get install --yes pdns-server pdns-backend-bind",
    },
    Need {
        name: "pdns-backend-sqlite3",
        probe: &["test", "-e", "/usr/share/pdns-backend-sqlite3/schema/schema.sqlite3.sql"],
        install: "apt-get update && apt-get install --yes pdns-backend-sqlite3",
    },
    Need {
        name: "sqlite3",
        probe: &["sqlite3", "-version"],
        install: "apt-get update && apt-get install --yes sqlite3",
    },
];

/// The comparison, a separate package, so that the other tasks need none of its dependencies.
const COMPARE: &str = "hashlane-dns-compare";

/// The pairs of servers that transfer a zone, a separate package for the same reason.
const TRANSFERS: &str = "hashlane-transfer-proof";

/// Timeout for a server to stop after a signal.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Queries through a validating resolver for each server. Two thirds are for signed zones: all that there
/// are.
const WHOLE: &str = "100000";

pub(crate) fn run(whole: bool) -> Outcome {
    match need::meet(&NEEDS) {
        Ok(()) => domain_server()
            .and_then(|()| compare(whole))
            .and_then(|()| transfers(whole))
            .and_then(|()| readme::name_server())
            .into(),
        Err(outcome) => outcome,
    }
}

/// Builds our command and the comparison with NSD and BIND, and runs the latter.
fn compare(whole: bool) -> Result<(), String> {
    // With the features of the tests, to share their build.
    run::show(run::build(&run::LIKE_TESTS).args(["--bin", COMPARE]))?;
    let target = run::target_dir()?;
    let folder = target.join("interop/dns");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    let mut command = run::command(&[target.join("debug").join(COMPARE)]);
    command.arg("--hashlane").arg(target.join("debug/hashlane")).arg("--folder").arg(folder);
    if whole {
        command.args(["--validated", WHOLE]);
    }
    run::show(command.arg("--document").arg(run::root().join("docs/dns-compare.md")))
}

/// Builds our server and the pairs of servers that transfer a zone, and runs the latter.
fn transfers(whole: bool) -> Result<(), String> {
    run::show(run::build(&run::LIKE_TESTS).args(["--bin", TRANSFERS, "--bin", "hashlane-dns"]))?;
    let target = run::target_dir()?;
    let folder = target.join("interop/transfers");
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    }
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut command = run::command(&[target.join("debug").join(TRANSFERS)]);
    command.arg("--hashlane").arg(target.join("debug/hashlane-dns")).arg("--folder").arg(folder);
    if whole {
        command.args(["--changes", "1000", "--kills", "1000", "--fault-ms", "20000", "--members", "1000"]);
    }
    run::show(&mut command)
}

/// Builds the example server on `domain`, sends it [`QUERIES`], and stops it.
fn domain_server() -> Result<(), String> {
    // With the features of the tests, to share their build.
    let build = ["cargo", "build", "--workspace", "--all-features", "--example", "domain_server"];
    run::show(&mut run::command(&build))?;
    let program = run::target_dir()?.join("debug/examples/domain_server");
    let server = Server::start(run::command(&[program]).arg("0"))?;
    let broken: Vec<String> = QUERIES.iter().filter_map(|query| query.check(server.port).err()).collect();
    server.stop()?;
    if broken.is_empty() {
        println!("{} queries answered as expected", QUERIES.len());
        return Ok(());
    }
    Err(broken.join("\n"))
}

/// A server that runs until it is stopped, or is dropped.
struct Server {
    child: Child,
    /// Kept open, as the server writes to it until it ends.
    _output: Option<BufReader<ChildStdout>>,
    port: u16,
}

impl Server {
    /// Starts a server that prints `127.0.0.1:PORT` in its first line.
    fn start(command: &mut Command) -> Result<Self, String> {
        let mut child =
            command.stdout(Stdio::piped()).spawn().map_err(|error| format!("the server: {error}"))?;
        let output = child.stdout.take();
        let mut server = Self { child, _output: None, port: 0 };
        let mut output = BufReader::new(output.ok_or("the server has no output")?);
        let (to, read) = channel();
        thread::spawn(move || {
            let mut line = String::new();
            let read = output.read_line(&mut line);
            // The receiver is gone once the time is over.
            let _ = to.send(read.map(|_| (line, output)));
        });
        let read = read.recv_timeout(TIMEOUT).map_err(|_| "the server has not printed a line".to_owned())?;
        let (line, output) = read.map_err(|error| format!("the output of the server: {error}"))?;
        server._output = Some(output);
        let digits =
            line.split("127.0.0.1:").nth(1).and_then(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        server.port = digits
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| format!("the server names no port in its first line, {line:?}"))?;
        Ok(server)
    }

    /// Interrupts the server as Ctrl-C would.
    ///
    /// # Errors
    /// The server does not stop, or exits with an error.
    fn stop(mut self) -> Result<(), String> {
        run::show(run::command(&["kill", "-INT"]).arg(self.child.id().to_string()))?;
        let start = Instant::now();
        while start.elapsed() < TIMEOUT {
            match self.child.try_wait().map_err(|error| format!("the server: {error}"))? {
                Some(status) if status.success() => return Ok(()),
                Some(status) => return Err(format!("the server: {status}")),
                None => thread::sleep(Duration::from_millis(20)),
            }
        }
        Err(format!("the server was interrupted and still runs after {} s", TIMEOUT.as_secs()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Fails if the server has ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A query, and the expected response.
struct Query {
    /// For dig: name, type and options.
    words: &'static str,
    status: &'static str,
    flags: &'static str,
    /// Names, types and the start of the data of all records, as dig prints them, in any order.
    records: fn() -> Vec<String>,
    /// Length of the compressed message, in bytes.
    size: usize,
}

/// Bytes of a header, and of a question for a name of `name` bytes.
const fn asked(name: usize) -> usize {
    12 + name + 4
}

/// Bytes of a record and its data. The owner is a pointer, or a label of `label` bytes before one.
const fn record(label: usize, data: usize) -> usize {
    let label = if label > 0 { 1 + label } else { 0 };
    label + 2 + 10 + data
}

/// Bytes of the name example.com.
const APEX: usize = 13;
/// Bytes of the SOA record's data: two labels before pointers, five numbers.
const SOA: usize = (4 + 2) + (11 + 2) + 20;

const QUERIES: [Query; 9] = [
    Query {
        words: "example.com MX +noedns",
        status: "NOERROR",
        flags: "qr aa rd",
        records: exchanges,
        size: asked(APEX) + 3 * record(0, 2 + 6 + 2) + 3 * 16,
    },
    Query {
        words: "example.com MX +noedns +tcp",
        status: "NOERROR",
        flags: "qr aa rd",
        records: exchanges,
        size: asked(APEX) + 3 * record(0, 2 + 6 + 2) + 3 * 16,
    },
    Query {
        words: "example.com NS",
        status: "NOERROR",
        flags: "qr aa rd",
        records: servers,
        // And the OPT record.
        size: asked(APEX) + 4 * record(0, 4 + 2) + 4 * 16 + 11,
    },
    Query {
        words: "example.com SOA +noedns",
        status: "NOERROR",
        flags: "qr aa rd",
        records: soa,
        size: asked(APEX) + record(0, SOA),
    },
    Query {
        words: "nobody.example.com A +noedns",
        status: "NXDOMAIN",
        flags: "qr aa rd",
        records: soa,
        size: asked(7 + APEX) + record(0, SOA),
    },
    Query {
        words: "many.example.com A",
        status: "NOERROR",
        flags: "qr aa rd",
        records: || many(Vec::new()),
        size: asked(5 + APEX) + 50 * 16 + 11,
    },
    Query {
        words: "www.example.com A +noedns +tcp",
        status: "NOERROR",
        flags: "qr aa rd",
        records: || many(vec!["www.example.com. CNAME many.example.com.".to_owned()]),
        // The target of the alias is a label before a pointer; the owners that follow point to it.
        size: asked(4 + APEX) + record(0, 5 + 2) + 50 * 16,
    },
    Query {
        words: "long.example.com TXT +noedns +ignore",
        status: "NOERROR",
        flags: "qr aa tc rd",
        records: Vec::new,
        size: asked(5 + APEX),
    },
    Query {
        words: "long.example.com TXT +noedns",
        status: "NOERROR",
        flags: "qr aa rd",
        records: || vec!["long.example.com. TXT \"All".to_owned()],
        // 50 times 49 bytes, in strings of at most 255 bytes with a length byte each; retried over TCP.
        size: asked(5 + APEX) + record(0, 50 * 49 + 10),
    },
];

fn soa() -> Vec<String> {
    vec!["example.com. SOA ns1.example.com. hostmaster.example.com. 2026 7200 900 1209600 300".to_owned()]
}

fn exchanges() -> Vec<String> {
    let records = |number| {
        [
            format!("example.com. MX {number}0 mail{number}.example.com."),
            format!("mail{number}.example.com. A 192.0.2.1{number}"),
        ]
    };
    (1..=3).flat_map(records).collect()
}

fn servers() -> Vec<String> {
    let records = |number| {
        [
            format!("example.com. NS ns{number}.example.com."),
            format!("ns{number}.example.com. A 192.0.2.{number}"),
        ]
    };
    (1..=4).flat_map(records).collect()
}

fn many(mut records: Vec<String>) -> Vec<String> {
    records.extend((101..=150).map(|last| format!("many.example.com. A 192.0.2.{last}")));
    records
}

impl Query {
    /// Sends the query to the server at `port`.
    ///
    /// # Errors
    /// A description of the first difference.
    fn check(&self, port: u16) -> Result<(), String> {
        let mut dig = run::command(&["dig", "@127.0.0.1", "-p"]);
        dig.arg(port.to_string()).args(["+tries=1", "+noall", "+answer", "+authority", "+additional"]);
        dig.args(["+comments", "+stats"]).args(self.words.split(' '));
        let output = dig.output().map_err(|error| format!("dig: {error}"))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let broken = |what: &str| format!("dig {}: not {what}:\n{said}", self.words);
        // dig warns of a message that it cannot parse completely.
        if !output.status.success() || said.contains("malformed") || said.contains("extra bytes") {
            return Err(broken("a message"));
        }
        if !said.contains(&format!("status: {},", self.status)) {
            return Err(broken(self.status));
        }
        if !said.contains(&format!(";; flags: {};", self.flags)) {
            return Err(broken(self.flags));
        }
        let records: BTreeSet<String> = said.lines().filter_map(record_of).collect();
        let expected: BTreeSet<String> = (self.records)().into_iter().collect();
        let same = |(said, expected): (&String, &String)| said.starts_with(expected.as_str());
        if records.len() != expected.len() || !records.iter().zip(&expected).all(same) {
            return Err(broken(&format!("{expected:#?}")));
        }
        if !said.lines().any(|line| line == format!(";; MSG SIZE  rcvd: {}", self.size)) {
            return Err(broken(&format!("{} bytes", self.size)));
        }
        Ok(())
    }
}

/// Owner, type and data of a line that is a record.
fn record_of(line: &str) -> Option<String> {
    let mut words = line.split_whitespace();
    let owner = words.next().filter(|word| !word.starts_with(';'))?;
    let (_ttl, _class) = (words.next()?, words.next()?);
    Some([owner].into_iter().chain(words).collect::<Vec<_>>().join(" "))
}
