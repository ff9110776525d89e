//! Origins of the pages that open WebSockets.
//!
//! A browser lets any page open a WebSocket to the loopback address, and states the origin of the page in the
//! header `Origin`; other programs send none. A page of another host does not act for the user of the
//! browser, and may not give the commands of that user.
//!
//! Source: RFC 6455, section 10.2; RFC 6454, section 7.

use std::cell::RefCell;
use std::net::IpAddr;
use std::rc::Rc;
use tungstenite::handshake::server::{Callback, ErrorResponse, Request, Response};
use tungstenite::http::header::ORIGIN;

/// Characters of an origin that are kept for error texts.
const MAX_SHOWN: usize = 100;

/// Values of the `Origin` headers of a request. Browsers send at most one.
#[derive(Clone, Debug, Default)]
pub(super) struct Origins(Rc<RefCell<Vec<Vec<u8>>>>);

impl Origins {
    /// Callback of the handshake that records the headers.
    pub(super) fn note(&self) -> NoteOrigin {
        NoteOrigin(self.clone())
    }

    /// The first origin that is neither on this host nor listed, escaped and shortened for error texts.
    pub(super) fn stranger(&self, listed: &[String]) -> Option<Box<str>> {
        let origins = self.0.borrow();
        let stranger = origins.iter().find(|origin| {
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

/// Records the origins of a request, and accepts it.
#[derive(Debug)]
pub(super) struct NoteOrigin(Origins);

impl Callback for NoteOrigin {
    #[allow(clippy::result_large_err, reason = "the signature of the trait")]
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        let values = request.headers().get_all(ORIGIN).iter();
        self.0.0.borrow_mut().extend(values.map(|value| value.as_bytes().to_vec()));
        Ok(response)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn origins(values: &[&[u8]]) -> Origins {
        Origins(Rc::new(RefCell::new(values.iter().map(|value| value.to_vec()).collect())))
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
