//! Headers of WebSocket requests: origins of pages, and traces of proxies.
//!
//! A browser lets any page open a WebSocket to the loopback address, and states the origin of the page in the
//! header `Origin`; other programs send none. A page of another host does not act for the user of the
//! browser, and may not give the commands of that user.
//!
//! A proxy in front of the WebSocket connects from this host for anybody. Most say so, by the header
//! `Forwarded`, `Via`, `X-Real-IP`, or one that begins with `X-Forwarded-`.
//!
//! Source: RFC 6455, section 10.2; RFC 6454, section 7; RFC 7239, section 4; RFC 9110, section 7.6.3.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response};
use tungstenite::http::header::ORIGIN;

/// Characters of an origin that are kept for error texts.
const MAX_SHOWN: usize = 100;

/// Headers of a request that limit the rights of its connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Headers(Rc<RefCell<Noted>>);

#[derive(Debug, Default)]
struct Noted {
    /// Values of the `Origin` headers. Browsers send at most one.
    origins: Vec<Vec<u8>>,
    /// True if a header shows that a proxy has forwarded the request.
    forwarded: bool,
}

impl Headers {
    /// Callback of the handshake that records the headers.
    pub(super) fn note(&self) -> NoteHeaders {
        NoteHeaders(self.clone())
    }

    /// True if a proxy has forwarded the request.
    pub(super) fn is_forwarded(&self) -> bool {
        self.0.borrow().forwarded
    }

    /// The first origin that is neither on this host nor listed, escaped and shortened for error texts.
    pub(super) fn stranger(&self, listed: &[String]) -> Option<Box<str>> {
        let noted = self.0.borrow();
        let stranger = noted.origins.iter().find(|origin| {
            !std::str::from_utf8(origin)
                .is_ok_and(|origin| is_of_this_host(origin) || listed.iter().any(|listed| listed == origin))
        })?;
        Some(stranger.escape_ascii().take(MAX_SHOWN).map(char::from).collect::<String>().into())
    }
}

/// True if an origin such as `http://localhost:8080` has a host that browsers resolve to the loopback.
fn is_of_this_host(origin: &str) -> bool {
    let Some((_, authority)) = origin.split_once("://") else { return false };
    let host = match authority.strip_prefix('[') {
        Some(rest) => rest.split_once(']').map_or("", |(host, _)| host),
        None => authority.split_once(':').map_or(authority, |(host, _)| host),
    };
    match host.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// True for a header that proxies add. Names of parsed headers are in lower case.
fn is_of_proxy(header: &str) -> bool {
    matches!(header, "forwarded" | "via" | "x-real-ip") || header.starts_with("x-forwarded-")
}

/// Records the headers of a request, and accepts it.
#[derive(Debug)]
pub(super) struct NoteHeaders(Headers);

impl Callback for NoteHeaders {
    #[allow(clippy::result_large_err, reason = "the signature of the trait")]
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        let values = request.headers().get_all(ORIGIN).iter();
        let origins = values.map(|value| value.as_bytes().to_vec()).collect();
        let forwarded = request.headers().keys().any(|name| is_of_proxy(name.as_str()));
        *self.0.0.borrow_mut() = Noted { origins, forwarded };
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(values: &[&[u8]]) -> Headers {
        let origins = values.iter().map(|value| value.to_vec()).collect();
        Headers(Rc::new(RefCell::new(Noted { origins, forwarded: false })))
    }

    #[test]
    fn proxies_are_known_by_their_headers() {
        let proxies = ["forwarded", "via", "x-real-ip", "x-forwarded-for", "x-forwarded-host"];
        assert!(proxies.into_iter().all(is_of_proxy));
        assert!(!["host", "origin", "x-forwarded", "user-agent"].into_iter().any(is_of_proxy));
    }

    #[test]
    fn strangers_are_all_pages_of_other_hosts_that_are_not_listed() {
        let listed = ["https://app.example".to_owned()];
        let stranger = |origin: &str| origins(&[origin.as_bytes()]).stranger(&listed);
        for origin in [
            "http://localhost",
            "http://localhost:8080",
            "https://dev.localhost:1",
            "http://127.0.0.1:9",
            "http://127.9.9.9",
            "http://[::1]:80",
            "http://[::1]",
            "https://app.example",
        ] {
            assert_eq!(stranger(origin), None, "{origin}");
        }
        for origin in [
            "https://elsewhere.example",
            "https://app.example:8443",
            "http://app.example",
            "https://app.example.elsewhere.example",
            "http://localhost.elsewhere.example",
            "http://notlocalhost",
            "http://127.0.0.1.elsewhere.example",
            "http://[2001:db8::1]",
            "http://192.0.2.1",
            "null",
            "",
            "localhost",
            "http://localhost@elsewhere.example",
        ] {
            assert_eq!(stranger(origin).as_deref(), Some(origin), "{origin}");
        }
        assert_eq!(origins(&[]).stranger(&listed), None, "no browser");
    }

    #[test]
    fn of_several_origins_each_must_be_known_and_what_is_told_is_short_and_plain() {
        let both = origins(&[b"http://localhost", b"https://elsewhere.example"]);
        assert_eq!(both.stranger(&[]).as_deref(), Some("https://elsewhere.example"));
        assert_eq!(origins(&[b"\xff\n"]).stranger(&[]).as_deref(), Some("\\xff\\n"));
        assert_eq!(origins(&[&[b'a'; 5000]]).stranger(&[]).map(|told| told.len()), Some(MAX_SHOWN));
    }
}
