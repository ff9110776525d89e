//! Certificates of files and folders, read again after a time.

use super::check_validity;
use crate::config::Anchor;
use crate::management::clock::Now;
use hashlane_ndn::security::file::MAX_FILE;
use hashlane_ndn::security::{Certificate, Certificates, certificate_bytes};
use nix::fcntl::OFlag;
use std::fs::OpenOptions;
use std::io::{self, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// Most certificates of all files and folders together.
const MAX_CERTIFICATES: usize = 1024;

/// Most entries of a folder.
const MAX_ENTRIES: usize = 8192;

/// Origin of certificates.
#[derive(Debug)]
pub(super) struct Source {
    origin: Origin,
    /// Time between two readings, in milliseconds.
    refresh: Option<u64>,
    /// Time of the next reading, in milliseconds of the monotonic clock; 0 after the start: how long
    /// ago that was is not known.
    due: u64,
    /// Certificates of the last reading.
    certificates: Vec<Vec<u8>>,
}

#[derive(Debug)]
enum Origin {
    /// A file, or a folder whose files have one certificate each.
    Path(PathBuf),
    /// A certificate in Base64.
    Base64(String),
}

/// Files that an operator must correct before the forwarder starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Strictness {
    /// Named files are certificates that are valid now.
    Anchors,
    /// Named files are certificates.
    Certificates,
}

impl Source {
    /// A file or a folder.
    pub(super) fn path(path: PathBuf, refresh_s: Option<u64>) -> Self {
        let refresh = refresh_s.map(|seconds| seconds.saturating_mul(1000));
        Self { origin: Origin::Path(path), refresh, due: 0, certificates: Vec::new() }
    }

    /// A trust anchor of a checked configuration.
    pub(super) fn anchor(anchor: &Anchor) -> Self {
        let Anchor { file, base64, folder, refresh_s } = anchor;
        match (file.as_ref().or(folder.as_ref()), base64) {
            (Some(path), _) => Self::path(path.clone(), *refresh_s),
            (None, base64) => {
                let origin = Origin::Base64(base64.clone().unwrap_or_default());
                Self { origin, refresh: None, due: 0, certificates: Vec::new() }
            }
        }
    }

    /// Reads the certificates. Of a folder, files that are none are left out; the log says how many.
    fn read(&mut self) -> Result<(), String> {
        self.certificates.clear();
        match &self.origin {
            Origin::Base64(text) => {
                let bytes = certificate_bytes(text.as_bytes()).map_err(|error| error.to_string())?;
                self.certificates.push(checked(bytes.into_owned())?);
            }
            Origin::Path(path) if path.is_dir() => {
                let (certificates, skipped) = read_folder(path).map_err(|error| error.to_string())?;
                self.certificates = certificates;
                if let Some((file, why)) = skipped.first() {
                    let (path, count) = (path.display(), skipped.len());
                    tracing::warn!(%path, count, file, why, "files of a folder of certificates left out");
                }
            }
            Origin::Path(path) => self.certificates.push(read_file(path)?),
        }
        Ok(())
    }
}

/// The certificates of sources.
#[derive(Debug)]
pub(super) struct CertificateFiles {
    /// Role of the certificates, in reports.
    role: &'static str,
    sources: Vec<Source>,
    certificates: Certificates,
}

impl CertificateFiles {
    /// Reads all sources. `now` is in seconds since 1970.
    ///
    /// # Errors
    /// A named file that is not a certificate, or as an anchor not valid now; a folder that cannot be read;
    /// too many certificates.
    pub(super) fn open(
        role: &'static str,
        mut sources: Vec<Source>,
        now: u64,
        strictness: Strictness,
    ) -> io::Result<Self> {
        for source in &mut sources {
            let mut opened = source.read();
            let is_folder = matches!(&source.origin, Origin::Path(path) if path.is_dir());
            if strictness == Strictness::Anchors && !is_folder {
                let parsed = source.certificates.iter().filter_map(|bytes| Certificate::parse(bytes).ok());
                for certificate in parsed {
                    opened = opened.and_then(|()| check_validity(&certificate, now));
                }
            }
            opened.map_err(|why| io::Error::other(format!("{role} {}: {why}", source.name())))?;
        }
        let mut files = Self { role, sources, certificates: Certificates::new() };
        let count: usize = files.sources.iter().map(|source| source.certificates.len()).sum();
        if count > MAX_CERTIFICATES {
            let why = format!("{count} {role}s, more than {MAX_CERTIFICATES}; name fewer");
            return Err(io::Error::other(why));
        }
        files.collect();
        Ok(files)
    }

    /// The certificates, of sources that are due read again. Certificates of a source that cannot be read are
    /// no longer trusted; the log says so.
    pub(super) fn refreshed(&mut self, now: Now) -> &Certificates {
        let mut has_changed = false;
        for source in &mut self.sources {
            let Some(refresh) = source.refresh else { continue };
            if now.monotonic < source.due {
                continue;
            }
            source.due = now.monotonic.saturating_add(refresh);
            has_changed = true;
            if let Err(why) = source.read() {
                let (role, path) = (self.role, source.name());
                tracing::warn!(role, path, why, "cannot read certificates again; they are not in use now");
            }
        }
        if has_changed {
            self.collect();
        }
        &self.certificates
    }

    /// Puts the certificates of all sources together.
    fn collect(&mut self) {
        self.certificates = Certificates::new();
        let all = self.sources.iter().flat_map(|source| &source.certificates);
        for bytes in all.take(MAX_CERTIFICATES) {
            let added = Certificate::parse(bytes).and_then(|certificate| self.certificates.add(&certificate));
            debug_assert!(added.is_ok(), "certificates are checked when they are read");
        }
    }
}

impl Source {
    /// The source in reports.
    fn name(&self) -> String {
        match &self.origin {
            Origin::Path(path) => path.display().to_string(),
            Origin::Base64(_) => "in base64".to_owned(),
        }
    }
}

/// The bytes of the certificate of a file, checked.
fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    checked(read_certificate(path).map_err(|error| error.to_string())?)
}

/// The bytes, if they are a certificate with a usable key.
fn checked(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    let certificate = Certificate::parse(&bytes).map_err(|error| error.to_string())?;
    Certificates::new().add(&certificate).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Files of a folder that are left out, with the reasons.
type Skipped = Vec<(String, String)>;

/// The certificates of a folder, in the order of their names.
fn read_folder(folder: &Path) -> io::Result<(Vec<Vec<u8>>, Skipped)> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)?.take(MAX_ENTRIES) {
        paths.push(entry?.path());
    }
    paths.sort();
    let (mut certificates, mut skipped) = (Vec::new(), Vec::new());
    for path in paths {
        let certificate = match certificates.len() < MAX_CERTIFICATES {
            true => read_file(&path),
            false => Err(format!("more than {MAX_CERTIFICATES} certificates")),
        };
        match certificate {
            Ok(bytes) => certificates.push(bytes),
            Err(why) => skipped.push((path.display().to_string(), why)),
        }
    }
    Ok((certificates, skipped))
}

/// The packet of a certificate file.
pub(super) fn read_certificate(file: &Path) -> io::Result<Vec<u8>> {
    let bytes = read_regular(file)?;
    Ok(certificate_bytes(&bytes).map_err(io::Error::other)?.into_owned())
}

/// The bytes of a file of a certificate, a key or a passphrase; one byte more than [`MAX_FILE`] if it is too
/// long. Other kinds of files are refused: a pipe would wait for its writer.
pub(crate) fn read_regular(file: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let file = OpenOptions::new().read(true).custom_flags(OFlag::O_NONBLOCK.bits()).open(file)?;
    if !file.metadata()?.is_file() {
        let why = "not a regular file; name a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
    }
    file.take(MAX_FILE as u64 + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
