//! A name server under way, and a TCP connection to it.

use super::Program;
use hashlane_dns::wire::{Class, Content, Flags, Header, Question, Rcode, RecordType};
use hashlane_lab::study::{Child, Session, Start, TurnError, empty_folder};
use hashlane_name::dns::NameBuf;
use hashlane_rig::nameservers::{Served, unbound};
use hashlane_rig::program::words;
use hashlane_rig::{ports, proc};
use std::ffi::OsString;
use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::time::Duration;

/// Longest time until the first answer from the zone, and time between two attempts.
const START: (Duration, Duration) = (Duration::from_secs(10), Duration::from_millis(10));

/// Longest time for an answer.
const ANSWER: Duration = Duration::from_secs(10);

/// A server that has answered from the zone.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    address: SocketAddr,
    connection: Option<TcpStream>,
    /// The last answer.
    answer: Vec<u8>,
    /// The server that a cache asks.
    upstream: Option<Box<Running>>,
}

impl Running {
    /// Starts a server with a zone on a core, in the empty folder `folder`, and waits until it has the zone.
    pub(crate) fn start(
        session: &Session<'_>,
        program: Program,
        core: Option<usize>,
        (apex, zone): (&NameBuf, &Path),
        folder: &Path,
    ) -> Result<Self, TurnError> {
        empty_folder(folder)?;
        let upstream = match program {
            Program::Unbound => {
                let folder = folder.join("upstream");
                Some(Box::new(Self::start(session, Program::Ours, core, (apex, zone), &folder)?))
            }
            Program::Ours | Program::Named => None,
        };
        let port = ports::free().map_err(TurnError::io("no port is free"))?;
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let name = apex.to_string();
        let served = Served { address, folder, apex: &name, zone };
        let command = &session.settings.command;
        let (text, mut words): (String, Vec<OsString>) = match (program, &upstream) {
            (Program::Unbound, Some(upstream)) => {
                (unbound(address, folder, upstream.address), words("unbound", &["-d", "-c"]))
            }
            // By default it takes 100 records of a name and a type.
            (Program::Named, _) => {
                let options = "max-records-per-type 0;";
                (served.named(options), words("named", &["-f", "-n", "1", "-U", "1", "-c"]))
            }
            _ => {
                let ours = ["dns", "serve", "--config"].map(OsString::from);
                (served.ours(), std::iter::once(command.into()).chain(ours).collect())
            }
        };
        let config = folder.join("settings");
        fs::write(&config, text).map_err(TurnError::io("cannot write the settings of a server"))?;
        words.push(config.into());
        let start = Start { core, ..Start::child(command) };
        let child = start.spawn(&words, folder.join("output"))?;
        let mut server = Self { child, address, connection: None, answer: Vec::new(), upstream };
        server.wait(&query(apex, RecordType::SOA)?, session)?;
        Ok(server)
    }

    /// Waits for an answer without an error.
    fn wait(&mut self, query: &[u8], session: &Session<'_>) -> Result<(), TurnError> {
        let Self { child, address, connection, answer, .. } = self;
        child.until(START, session.stop, "did not serve the zone", || {
            // Until it listens, there is no connection.
            let asked = exchange(*address, connection, query, answer);
            let content = asked.ok().and_then(|()| Content::parse(answer).ok());
            Ok(content.filter(|content| content.header.flags.rcode() == Rcode::NO_ERROR).map(drop))
        })
    }

    /// Asks a query of [`query`], and returns the answer.
    ///
    /// # Errors
    /// The server has ended or did not answer in time.
    pub(crate) fn ask(&mut self, query: &[u8]) -> Result<&[u8], TurnError> {
        let Self { address, connection, answer, .. } = self;
        // A server may close a connection between two queries.
        let asked = exchange(*address, connection, query, answer)
            .or_else(|_| exchange(*address, connection, query, answer));
        match asked {
            Ok(()) => Ok(&self.answer),
            Err(error) => {
                self.child.check()?;
                Err(self.child.failed(&format!("it did not answer: {error}")))
            }
        }
    }

    /// Ends the server that a cache asks: further answers are from the cache.
    pub(crate) fn end_upstream(&mut self) {
        self.upstream = None;
    }

    /// CPU time of all its processes, in user space and in the kernel, since they began.
    pub(crate) fn cpu(&self) -> Result<Duration, TurnError> {
        let members = proc::members(self.child.program.id());
        let members = members.map_err(TurnError::io("cannot list the processes of a server"))?;
        members
            .into_iter()
            .map(|pid| proc::cpu(pid).map_err(TurnError::io("cannot read the CPU time of a server")))
            .sum()
    }
}

/// A query for a name and type, with the length that TCP takes (RFC 1035 §4.2.2).
///
/// # Errors
/// None of valid names.
pub(crate) fn query(name: &NameBuf, rtype: RecordType) -> Result<Vec<u8>, TurnError> {
    let header = Header { id: 0x1603, flags: Flags::default().with(Flags::RECURSION_DESIRED) };
    let question = Question { name: *name, rtype, class: Class::IN };
    let content = Content { header, questions: vec![question], records: Vec::new() };
    let message = content.uncompressed().and_then(|bytes| Some((u16::try_from(bytes.len()).ok()?, bytes)));
    let (length, bytes) = message.ok_or_else(|| TurnError::Failed("a query is too long".to_owned()))?;
    Ok([&length.to_be_bytes()[..], &bytes].concat())
}

/// Sends a query over the connection, which is made when first needed, and reads the answer. After an error
/// there is no connection.
fn exchange(
    address: SocketAddr,
    connection: &mut Option<TcpStream>,
    query: &[u8],
    answer: &mut Vec<u8>,
) -> io::Result<()> {
    let mut stream = match connection.take() {
        Some(stream) => stream,
        None => {
            let stream = TcpStream::connect_timeout(&address, ANSWER)?;
            stream.set_nodelay(true)?;
            stream.set_read_timeout(Some(ANSWER))?;
            stream.set_write_timeout(Some(ANSWER))?;
            stream
        }
    };
    stream.write_all(query)?;
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    answer.resize(usize::from(u16::from_be_bytes(length)), 0);
    stream.read_exact(answer)?;
    *connection = Some(stream);
    Ok(())
}
