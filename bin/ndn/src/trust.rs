//! Certificates that the user trusts.

use anyhow::{Context, Result};
use clap::Args;
use hashlane_client::{Validate, intact, trusted};
use hashlane_ndn::security::file::MAX_FILE;
use hashlane_ndn::security::{Certificate, TrustAnchors, certificate_bytes};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The rule by which Data is accepted.
#[derive(Debug, Args)]
pub(super) struct Trust {
    /// Accept only Data signed with the key of the certificate in this file, binary or Base64 as ndnsec
    /// prints it (repeatable). By default all Data is accepted except Data with a wrong DigestSha256
    #[arg(long, value_name = "FILE")]
    trust: Vec<PathBuf>,
}

impl Trust {
    pub(super) fn validator(&self) -> Result<Arc<Validate<'static>>> {
        if self.trust.is_empty() {
            return Ok(Arc::new(intact));
        }
        let mut anchors = TrustAnchors::new();
        for path in &self.trust {
            add(&mut anchors, path).with_context(|| format!("--trust {}", path.display()))?;
        }
        Ok(Arc::new(trusted(anchors)))
    }
}

fn add(anchors: &mut TrustAnchors, path: &Path) -> Result<()> {
    let mut read = Vec::new();
    let file = File::open(path).context("cannot read the certificate")?;
    file.take(MAX_FILE as u64 + 1).read_to_end(&mut read).context("cannot read the certificate")?;
    let octets = certificate_bytes(&read)?;
    let certificate = Certificate::parse(&octets).context("not a certificate")?;
    anchors.add(&certificate).context("not a certificate that can be trusted")?;
    Ok(())
}
