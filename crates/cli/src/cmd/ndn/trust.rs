//! Certificates that the user trusts.

use anyhow::{Context, Result, bail};
use base64ct::{Base64, Encoding};
use clap::Args;
use client::{Validate, intact, trusted};
use ndn::security::{Certificate, TrustAnchors};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What Data is accepted.
#[derive(Debug, Args)]
pub(super) struct Trust {
    /// Accept only Data signed with the key of the certificate in this file, in octets or in Base64 as ndnsec prints it (may be given
    /// again); without it, any Data whose digest, where it is signed with one, is right
    #[arg(long, value_name = "FILE")]
    trust: Vec<PathBuf>,
}

/// Octets of a file with a certificate at the most.
const MOST_OCTETS: u64 = 1 << 16;

impl Trust {
    pub(super) fn validator(&self) -> Result<Arc<Validate<'static>>> {
        if self.trust.is_empty() {
            return Ok(Arc::new(intact));
        }
        let mut anchors = TrustAnchors::new();
        for path in &self.trust {
            add(&mut anchors, path).with_context(|| path.display().to_string())?;
        }
        Ok(Arc::new(trusted(anchors)))
    }
}

fn add(anchors: &mut TrustAnchors, path: &Path) -> Result<()> {
    if fs::metadata(path)?.len() > MOST_OCTETS {
        bail!("no certificate: it has more than {MOST_OCTETS} octets");
    }
    let read = fs::read(path)?;
    let octets = if read.first() == Some(&(ndn::wire::DATA as u8)) { read } else { decode(&read)? };
    let certificate = Certificate::parse(&octets).context("no certificate")?;
    anchors.add(&certificate).context("no certificate that can be trusted")?;
    Ok(())
}

/// The octets of Base64 in lines, between the lines of a PEM file where there are such.
fn decode(text: &[u8]) -> Result<Vec<u8>> {
    let text = str::from_utf8(text).ok().context("no certificate: neither Data nor Base64")?;
    let digits = text.lines().map(str::trim).filter(|line| !line.starts_with("-----") && !line.contains(':'));
    let octets = Base64::decode_vec(&digits.collect::<String>());
    octets.ok().context("no certificate: neither Data nor Base64")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read_in_lines_and_as_pem() {
        for text in
            ["BgMH\nAQA=\n", "-----BEGIN NDN CERT-----\nName: /a\n\nBgMHAQA=\n-----END NDN CERT-----\n"]
        {
            assert_eq!(decode(text.as_bytes()).unwrap(), [6, 3, 7, 1, 0]);
        }
        assert!(decode(b"not*base64").is_err() && decode(&[0xff]).is_err());
    }
}
