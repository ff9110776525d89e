//! Counters over HTTP, in the text format of Prometheus.

use crate::error::context;
use std::collections::VecDeque;
use std::io::{self, Read, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
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
        let thread = thread::Builder::new().name("metrics".into());
        thread
            .spawn(move || listen(&self.listener, &Arc::new(metrics)))
            .map_err(context("cannot start the thread of the metrics"))?;
        Ok(())
    }
}

/// Answers requests.
fn listen<M: Fn() -> String + Send + Sync + 'static>(listener: &TcpListener, metrics: &Arc<M>) {
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
        match stream.and_then(|stream| Client::start(stream, Arc::clone(metrics))) {
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
        metrics: Arc<impl Fn() -> String + Send + Sync + 'static>,
    ) -> io::Result<Self> {
        let served = stream.try_clone()?;
        let thread = thread::Builder::new().name("metrics client".into());
        let thread = thread.spawn(move || {
            // A client that fails hurts only itself.
            let _ = answer(&served, &*metrics);
            // The listener has the socket, too, until it notices.
            let _ = served.shutdown(Shutdown::Both);
        })?;
        Ok(Self { stream, thread })
    }
}

fn answer(mut stream: &TcpStream, metrics: &impl Fn() -> String) -> io::Result<()> {
    let deadline = Instant::now() + PATIENCE;
    stream.set_write_timeout(Some(PATIENCE))?;
    let request = read(stream, deadline)?;
    let (status, body) = respond(&request, metrics);
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {TYPE}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
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

/// Status and body of the response to a request.
fn respond(request: &[u8], metrics: impl FnOnce() -> String) -> (&'static str, String) {
    let head = String::from_utf8_lossy(request);
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    let (method, target) = (words.next(), words.next());
    let is_http = words.next().is_some_and(|version| version.starts_with("HTTP/1."));
    let path = target.map(|target| target.split('?').next().unwrap_or(target));
    match (method, path) {
        _ if !head.contains("\r\n\r\n") || !is_http => ("400 Bad Request", "not an HTTP/1 request\n".into()),
        (Some("GET" | "HEAD"), Some("/metrics")) => ("200 OK", metrics()),
        (Some("GET" | "HEAD"), _) => ("404 Not Found", "the counters are at /metrics\n".into()),
        _ => ("405 Method Not Allowed", "use GET\n".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_metrics_are_served() {
        let status = |request: &str| respond(request.as_bytes(), || "counters".into());
        assert_eq!(status("GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"), ("200 OK", "counters".into()));
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
