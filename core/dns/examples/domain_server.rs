//! An authoritative server on `domain::net::server` whose responses are compressed by [`Compressing`].
//!
//! It answers over UDP and TCP from a small zone, so that a resolver or `dig` can be pointed at it. See
//! `--help`.

use domain::base::iana::{Opcode, Rcode};
use domain::base::name::ToName;
use domain::base::rdata::RecordData;
use domain::base::{Name, Rtype, Serial, Ttl};
use domain::net::server::buf::VecBufSource;
use domain::net::server::dgram::DgramServer;
use domain::net::server::message::Request;
use domain::net::server::middleware::edns::EdnsMiddlewareSvc;
use domain::net::server::middleware::mandatory::MandatoryMiddlewareSvc;
use domain::net::server::service::{CallResult, ServiceError, ServiceResult};
use domain::net::server::stream::StreamServer;
use domain::net::server::util::{mk_builder_for_target, service_fn};
use domain::rdata::{A, AllRecordData, Cname, Mx, Ns, Soa, Txt};
use hashlane_dns::composer::{Compressed, Compressing};
use std::error::Error;
use std::io;
use std::net::Ipv4Addr;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, UdpSocket};

const HELP: &str = "\
An authoritative name server for example.com whose responses are compressed by hashlane-dns.

Usage: domain_server PORT

  PORT    where to listen on 127.0.0.1, over UDP and TCP; 0 for a free port

It prints the address, then answers until Ctrl-C. Try, with the port that it printed:

  dig -p PORT @127.0.0.1 example.com MX
  dig -p PORT @127.0.0.1 many.example.com A
  dig -p PORT @127.0.0.1 long.example.com TXT";

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let port = match words[..] {
        ["-h" | "--help"] => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
        [port] => port.parse().ok(),
        _ => None,
    };
    let Some(port) = port else {
        eprintln!("error: one port is needed, 0 to 65535; see --help");
        return ExitCode::from(2);
    };
    match serve(port) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn serve(port: u16) -> Result<(), Box<dyn Error>> {
    let zone = Arc::new(Zone::example()?);
    let (udp, tcp) = bind(port).await.map_err(|error| format!("port {port} of 127.0.0.1: {error}"))?;
    println!("listening on {}, UDP and TCP; Ctrl-C stops it", tcp.local_addr()?);

    let service = service_fn(respond, zone);
    let service = EdnsMiddlewareSvc::<Vec<u8>, _, ()>::new(service);
    let service = MandatoryMiddlewareSvc::<Vec<u8>, _, ()>::new(service);
    let udp = Arc::new(DgramServer::new(udp, VecBufSource, service.clone()));
    let tcp = Arc::new(StreamServer::new(tcp, VecBufSource, service));
    let (running_udp, running_tcp) = (udp.clone(), tcp.clone());
    tokio::spawn(async move { running_udp.run().await });
    tokio::spawn(async move { running_tcp.run().await });

    tokio::signal::ctrl_c().await?;
    udp.shutdown().and_then(|()| tcp.shutdown()).map_err(|error| error.to_string())?;
    let patience = Duration::from_secs(2);
    udp.await_shutdown(patience).await;
    tcp.await_shutdown(patience).await;
    println!("stopped");
    Ok(())
}

/// Sockets on the same port. A free one for TCP may be taken for UDP: then another is tried.
async fn bind(port: u16) -> io::Result<(UdpSocket, TcpListener)> {
    let mut tries = 10;
    loop {
        let tcp = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
        match UdpSocket::bind(tcp.local_addr()?).await {
            Ok(udp) => return Ok((udp, tcp)),
            Err(_) if port == 0 && tries > 1 => tries -= 1,
            Err(error) => return Err(error),
        }
    }
}

type Owner = Name<Vec<u8>>;
type Data = AllRecordData<Vec<u8>, Owner>;

/// Records, found by looking at all of them: there are a few dozen.
struct Zone {
    apex: Owner,
    records: Vec<(Owner, Data)>,
}

impl Zone {
    /// Seconds for which a record, or the absence of one, may be cached.
    const TTL: u32 = 300;

    fn example() -> Result<Self, Box<dyn Error>> {
        let name = |labels: &str| format!("{labels}example.com").parse::<Owner>();
        let address = |last| Data::A(A::from_octets(192, 0, 2, last));
        let apex = name("")?;

        let (server, person) = (name("ns1.")?, name("hostmaster.")?);
        let [refresh, retry, expire, minimum] = [7200, 900, 1_209_600, Self::TTL].map(Ttl::from_secs);
        let soa = Soa::new(server, person, Serial(2026), refresh, retry, expire, minimum);
        let mut records = vec![(apex.clone(), Data::Soa(soa))];
        for number in 1..=4 {
            let server = name(&format!("ns{number}."))?;
            records.push((apex.clone(), Data::Ns(Ns::new(server.clone()))));
            records.push((server, address(number)));
        }
        for number in 1..=3 {
            let exchange = name(&format!("mail{number}."))?;
            records.push((apex.clone(), Data::Mx(Mx::new(10 * u16::from(number), exchange.clone()))));
            records.push((exchange, address(10 + number)));
        }
        let many = name("many.")?;
        records.push((name("www.")?, Data::Cname(Cname::new(many.clone()))));
        records.extend((101..=150).map(|last| (many.clone(), address(last))));
        // More than a datagram of this server takes.
        let text = "All this is more than one datagram has room for. ".repeat(50);
        let text = Txt::build_from_slice(text.as_bytes()).map_err(|error| error.to_string())?;
        records.push((name("long.")?, Data::Txt(text)));
        Ok(Self { apex, records })
    }

    fn of(&self, owner: &impl ToName, rtype: Rtype) -> impl Iterator<Item = &(Owner, Data)> {
        self.records.iter().filter(move |(name, data)| data.rtype() == rtype && name.name_eq(owner))
    }

    /// The records that answer a question. No alias of this zone leads to another.
    fn answer(&self, owner: &impl ToName, rtype: Rtype) -> Vec<&(Owner, Data)> {
        let mut records: Vec<_> = self.of(owner, rtype).collect();
        if let Some(alias @ (_, Data::Cname(target))) = self.of(owner, Rtype::CNAME).next()
            && rtype != Rtype::CNAME
        {
            records.push(alias);
            records.extend(self.of(target.cname(), rtype));
        }
        records
    }

    /// True if the name exists, even if only because names below it do.
    fn has(&self, owner: &impl ToName) -> bool {
        self.records.iter().any(|(name, _)| name.ends_with(owner))
    }
}

fn respond(request: Request<Vec<u8>, ()>, zone: Arc<Zone>) -> ServiceResult<Compressing<Vec<u8>>> {
    let query = request.message();
    if query.header().opcode() != Opcode::QUERY {
        return Err(ServiceError::NotImplemented);
    }
    let question = query.sole_question()?;
    let owner = question.qname();
    if !owner.ends_with(&zone.apex) {
        return Err(ServiceError::Refused);
    }
    let rcode = if zone.has(owner) { Rcode::NOERROR } else { Rcode::NXDOMAIN };
    let records = zone.answer(owner, question.qtype());

    let mut answer = mk_builder_for_target().start_answer(query, rcode)?;
    answer.header_mut().set_aa(true);
    for (owner, data) in &records {
        answer.push((owner, Zone::TTL, Compressed(data)))?;
    }
    let mut authority = answer.authority();
    if records.is_empty() {
        for (apex, soa) in zone.of(&zone.apex, Rtype::SOA) {
            authority.push((apex, Zone::TTL, Compressed(soa)))?;
        }
    }
    let mut additional = authority.additional();
    for (_, data) in &records {
        let target = match data {
            Data::Ns(ns) => ns.nsdname(),
            Data::Mx(mx) => mx.exchange(),
            _ => continue,
        };
        for (owner, address) in zone.of(target, Rtype::A) {
            additional.push((owner, Zone::TTL, Compressed(address)))?;
        }
    }
    Ok(CallResult::new(additional))
}
