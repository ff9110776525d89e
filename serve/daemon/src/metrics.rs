//! Counters over HTTP, in the text format of Prometheus, and pages for people beside them.

use crate::error::context;
use std::collections::VecDeque;
use std::io::{self, Read, Write as _};
use std::net::{Ipv4Addr, Ipv6Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Time that a request and its response may take.
const PATIENCE: Duration = Duration::from_secs(2);

/// Clients that are served at one time, each on a thread. One more takes the place of the one that has been
/// there for the longest time.
const MAX_CLIENTS: usize = 32;

/// Bytes of a request at most.
const LONGEST: usize = 8 << 10;

/// Content type of the text format.
const TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// A page for people, at a path other than `/metrics`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// Content type of the body.
    pub content_type: &'static str,
    /// Value of the header Content-Security-Policy.
    pub policy: String,
    /// The body.
    pub body: String,
}

/// A listener for requests, which are not answered yet.
pub struct Http {
    listener: TcpListener,
    address: SocketAddr,
}

impl Http {
    /// Listens at an address. `setting` is the name of the flag or key that has it.
    ///
    /// # Errors
    /// The address cannot be bound.
    pub fn bind(address: SocketAddr, setting: &str) -> io::Result<Self> {
        let cannot = |error: io::Error| {
            let why =
                format!("cannot serve metrics at {address}: {error}; name another address with {setting}");
            io::Error::new(error.kind(), why)
        };
        let listener = TcpListener::bind(address).map_err(cannot)?;
        let address = listener.local_addr().map_err(cannot)?;
        Ok(Self { listener, address })
    }

    /// Listens at each of these addresses, as [`bind`](Self::bind).
    ///
    /// # Errors
    /// One of them cannot be bound.
    pub fn bind_all(addresses: &[SocketAddr], setting: &str) -> io::Result<Vec<Self>> {
        addresses.iter().map(|address| Self::bind(*address, setting)).collect()
    }

    /// URL of the counters.
    pub fn url(&self) -> String {
        format!("http://{}/metrics", self.address)
    }

    /// Answers requests with the text of `metrics`, on a new thread, until the process ends.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn serve(self, metrics: impl Fn() -> String + Send + Sync + 'static) -> io::Result<()> {
        self.serve_pages(metrics, |_| None)
    }

    /// Acts as [`serve`](Self::serve), with the pages that `page` returns for a path. On a loopback address,
    /// a request for a page must name the host by its address or as `localhost`: another name is a page of
    /// another site whose name leads here (DNS rebinding).
    ///
    /// # Errors
    /// The thread cannot be started.
    pub fn serve_pages(
        self,
        metrics: impl Fn() -> String + Send + Sync + 'static,
        page: impl Fn(&str) -> Option<Page> + Send + Sync + 'static,
    ) -> io::Result<()> {
        let is_loopback = self.address.ip().is_loopback();
        let answer = move |request: &[u8]| respond(request, &metrics, &page, is_loopback);
        let thread = thread::Builder::new().name("metrics".into());
        thread
            .spawn(move || listen(&self.listener, &Arc::new(answer)))
            .map_err(context("cannot start the thread of the metrics"))?;
        Ok(())
    }
}

/// Response to a request.
#[derive(Debug, PartialEq, Eq)]
struct Response {
    status: &'static str,
    content_type: &'static str,
    /// Further lines of the head.
    head: String,
    body: String,
}

impl Response {
    fn text(status: &'static str, body: impl Into<String>) -> Self {
        Self { status, content_type: TYPE, head: String::new(), body: body.into() }
    }
}

/// Answers requests.
fn listen<M: Fn(&[u8]) -> Response + Send + Sync + 'static>(listener: &TcpListener, respond: &Arc<M>) {
    let mut clients: VecDeque<Client> = VecDeque::new();
    for stream in listener.incoming() {
        clients.retain(|client| !client.thread.is_finished());
        if clients.len() == MAX_CLIENTS
            && let Some(Client { stream, thread }) = clients.pop_front()
        {
            // Its thread then fails to read or to write, and ends.
            let _ = stream.shutdown(Shutdown::Both);
            drop(stream);
            let _ = thread.join();
        }
        match stream.and_then(|stream| Client::start(stream, Arc::clone(respond))) {
            Ok(client) => clients.push_back(client),
            // No descriptor is free; the next one may come when others are closed.
            Err(_) => thread::sleep(Duration::from_millis(100)),
        }
    }
}

/// A client that is being served.
struct Client {
    stream: TcpStream,
    thread: JoinHandle<()>,
}

impl Client {
    fn start(
        stream: TcpStream,
        respond: Arc<impl Fn(&[u8]) -> Response + Send + Sync + 'static>,
    ) -> io::Result<Self> {
        let served = stream.try_clone()?;
        let thread = thread::Builder::new().name("metrics client".into());
        let thread = thread.spawn(move || {
            // A client that fails hurts only itself.
            let _ = answer(&served, &*respond);
            // The listener has the socket, too, until it notices.
            let _ = served.shutdown(Shutdown::Both);
        })?;
        Ok(Self { stream, thread })
    }
}

fn answer(mut stream: &TcpStream, respond: &impl Fn(&[u8]) -> Response) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = read(stream, deadline)?;
    let Response { status, content_type, head, body } = respond(&request);
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\
         X-Content-Type-Options: nosniff\r\n{head}Connection: close\r\n\r\n"
    );
    let body = if request.starts_with(b"HEAD ") { "" } else { &body };
    stream.write_all((head + body).as_bytes())
}

/// Reads the head of a request.
fn read(mut stream: &TcpStream, deadline: Instant) -> io::Result<Vec<u8>> {
    let mut request = Vec::new();
    let mut part = [0; 1024];
    // Only the end is new.
    let ends = |request: &[u8], from: usize| {
        request.get(from..).is_some_and(|new| new.windows(4).any(|end| end == b"\r\n\r\n"))
    };
    let mut seen = 0;
    while !ends(&request, seen) && request.len() < LONGEST {
        seen = request.len().saturating_sub(3);
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(&mut part) {
            Ok(0) => break,
            Ok(length) => request.extend_from_slice(part.get(..length).unwrap_or_default()),
            // A change of the user interrupts all threads; sockets with a timeout do not restart (signal(7)).
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(request)
}

/// The response to a request.
fn respond(
    request: &[u8],
    metrics: &impl Fn() -> String,
    page: &impl Fn(&str) -> Option<Page>,
    is_loopback: bool,
) -> Response {
    let head = String::from_utf8_lossy(request);
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    let (method, target) = (words.next(), words.next());
    let is_http = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    let path = target.map(|target| target.split('?').next().unwrap_or(target));
    match (method, path) {
        _ if !head.contains("\r\n\r\n") || !is_http => {
            Response::text("400 Bad Request", "not an HTTP/1 request\n")
        }
        (Some("GET" | "HEAD"), Some("/metrics")) => Response::text("200 OK", metrics()),
        (Some("GET" | "HEAD"), Some(path)) => match page(path) {
            None => Response::text("404 Not Found", "the counters are at /metrics\n"),
            Some(_) if is_loopback && !names_this_host(&head) => {
                Response::text("421 Misdirected Request", "use the address of this host, such as 127.0.0.1\n")
            }
            Some(Page { content_type, policy, body }) => {
                let head = format!(
                    "Content-Security-Policy: {policy}\r\nCache-Control: no-store\r\n\
                     Referrer-Policy: no-referrer\r\nX-Frame-Options: DENY\r\n\
                     Cross-Origin-Resource-Policy: same-origin\r\n"
                );
                Response { status: "200 OK", content_type, head, body }
            }
        },
        _ => Response::text("405 Method Not Allowed", "use GET\n"),
    }
}

/// True if the host in the head of a request is an IP address or `localhost`, or absent as in HTTP/1.0.
fn names_this_host(head: &str) -> bool {
    let hosts = head.lines().skip(1).filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("host").then(|| value.trim())
    });
    hosts.fold(true, |is_this, host| {
        let is_address = host.parse::<SocketAddr>().is_ok() || host.parse::<Ipv4Addr>().is_ok();
        let is_bracketed = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
        let is_host = is_address
            || is_bracketed.is_some_and(|host| host.parse::<Ipv6Addr>().is_ok())
            || name.eq_ignore_ascii_case("localhost");
        is_this && is_host
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_metrics_are_served() {
        let status = |request: &str| {
            let response = respond(request.as_bytes(), &|| "counters".into(), &|_| None, true);
            (response.status, response.body)
        };
        assert_eq!(status("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), ("200 OK", "counters".to_owned()));
        assert_eq!(status("GET /metrics?a=b HTTP/1.0\r\n\r\n").0, "200 OK");
        assert_eq!(status("GET / HTTP/1.1\r\n\r\n").0, "404 Not Found");
        assert_eq!(status("POST /metrics HTTP/1.1\r\n\r\n").0, "405 Method Not Allowed");
        for bad in
            ["", "GET", "GET /metrics\r\n\r\n", "GET /metrics HTTP/1.1\r\n", "\r\n\r\n", "GET  HTTP/1.1"]
        {
            assert_eq!(status(bad).0, "400 Bad Request", "{bad:?}");
        }
    }

    #[test]
    fn pages_are_for_those_who_name_this_host() {
        let page = |path: &str| {
            let page =
                Page { content_type: "text/html", policy: "default-src 'none'".into(), body: "b".into() };
            (path == "/").then_some(page)
        };
        let respond = |request: &str, is_loopback| {
            respond(request.as_bytes(), &|| "counters".into(), &page, is_loopback)
        };
        for host in ["127.0.0.1:9100", "127.0.0.1", "[::1]:9100", "[::1]", "localhost:9100", "LocalHost"] {
            let response = respond(&format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n"), true);
            assert_eq!((response.status, response.content_type), ("200 OK", "text/html"), "{host}");
            assert!(response.head.starts_with("Content-Security-Policy: default-src 'none'\r\n"));
        }
        assert_eq!(respond("GET / HTTP/1.0\r\n\r\n", true).status, "200 OK");
        for host in ["evil.example:9100", "127.0.0.1.evil.example", "localhost.evil.example:9100", ""] {
            let request = format!("GET / HTTP/1.1\r\nhOST: {host}\r\n\r\n");
            assert_eq!(respond(&request, true).status, "421 Misdirected Request", "{host}");
            assert_eq!(
                respond(&request, false).status,
                "200 OK",
                "on other addresses any name may be this one's"
            );
        }
        let scrape = "GET /metrics HTTP/1.1\r\nHost: router.example:9100\r\n\r\n";
        assert_eq!(respond(scrape, true).body, "counters");
        assert_eq!(respond("GET /x HTTP/1.1\r\n\r\n", true).status, "404 Not Found");
    }

    #[test]
    fn a_client_without_a_whole_request_is_closed() {
        let http = Http::bind("127.0.0.1:0".parse().unwrap(), "--metrics").unwrap();
        let mut client = TcpStream::connect(http.address).unwrap();
        http.serve(|| "counter 5\n".to_owned()).unwrap();
        client.set_read_timeout(Some(Duration::from_secs(15))).unwrap();
        client.write_all(b"GET /metrics").unwrap();
        let mut response = String::new();
        // No other client comes, which the listener would notice.
        assert_eq!(client.read_to_string(&mut response).unwrap(), 0);
    }

    #[test]
    fn clients_that_say_nothing_do_not_stop_the_next_one() {
        let http = Http::bind("127.0.0.1:0".parse().unwrap(), "--metrics").unwrap();
        let address = http.address;
        http.serve(|| "counter 5\n".to_owned()).unwrap();
        // More than are served at one time, and no wait for any of them.
        let silent: Vec<TcpStream> =
            (0..3 * MAX_CLIENTS).map(|_| TcpStream::connect(address).unwrap()).collect();
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(b"GET /metrics HTTP/1.1\r\n\r\n").unwrap();
        let mut response = String::new();
        client.read_to_string(&mut response).unwrap();
        assert!(
            response.starts_with("HTTP/1.1 200 OK\r\n") && response.ends_with("counter 5\n"),
            "{response}"
        );
        drop(silent);
    }
}
