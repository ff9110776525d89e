//! URIs of names, strategies and faces in the configuration.

use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::mgmt::FaceUri;

/// The name of a URI; `None` if it is malformed.
pub(crate) fn parse_name(uri: &str) -> Option<OwnedName<Ndn>> {
    hashlane_name::uri::parse_uri(uri.as_bytes()).ok()
}

/// The name of a strategy; a text without a slash at the start is one below NFD's prefix.
pub(crate) fn strategy_name(uri: &str) -> Option<OwnedName<Ndn>> {
    match uri.starts_with('/') {
        true => parse_name(uri),
        false => parse_name(&format!("/localhost/nfd/strategy/{uri}")),
    }
}

/// The face URI of a neighbour. The error is the rule that it breaks.
pub(crate) fn face_uri(uri: &str) -> Result<FaceUri, String> {
    let parsed = uri.parse::<FaceUri>().map_err(|error| format!("has {uri:?}: {error}"))?;
    if matches!(parsed, FaceUri::Ip { port: Some(0), .. }) {
        let why = "port 0 is the port of no forwarder; give the one on which the neighbour listens";
        return Err(format!("has {uri:?}: {why}"));
    }
    match parsed.is_canonical() {
        true => Ok(parsed),
        false => {
            Err(format!("has {uri:?}, but needs an address and a port, such as \"udp4://192.0.2.1:6363\""))
        }
    }
}
