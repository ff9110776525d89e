//! Publication of objects as segments.

use crate::by_name::name_value;
use crate::fetch::METADATA;
use crate::register::Registration;
use hashlane_name::build::OwnedName;
use hashlane_name::component::{Component, KEYWORD, SEGMENT, VERSION};
use hashlane_name::error::BuildError;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::segment::{number, with_number};
use hashlane_ndn::security::Signer;
use hashlane_ndn::tlv::{Elements, integer_len};
use hashlane_ndn::wire::{DataBuilder, Interest, KeyLocator, SignatureInfo};
use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Bytes of content in a segment.
pub const SEGMENT_SIZE: usize = 8000;

/// Longest name of an object, in bytes. With it, a segment fits in a packet that all forwarders accept.
pub const MAX_OBJECT_NAME: usize = 500;

/// FreshnessPeriod of metadata.
const METADATA_FRESHNESS: Duration = Duration::from_millis(10);

/// An object to publish: bytes, or a file that is read as its segments are requested.
#[derive(Debug)]
pub struct Publication {
    /// Name without and with the version.
    name: OwnedName<Ndn>,
    versioned: OwnedName<Ndn>,
    source: Source,
    len: u64,
    freshness: Duration,
    signer: Signer,
    /// Name of the key, for the signatures; `None` for digests.
    key: Option<OwnedName<Ndn>>,
}

#[derive(Debug)]
enum Source {
    Bytes(Vec<u8>),
    File(File),
}

impl Publication {
    /// An object of bytes. If `name` does not end with a version, the time now is the version.
    ///
    /// # Errors
    /// The name is too long.
    pub fn new(name: NdnName<'_>, bytes: Vec<u8>) -> Result<Self, PublishError> {
        let len = bytes.len() as u64;
        Self::of(name, SystemTime::now(), Source::Bytes(bytes), len)
    }

    /// An object of a file. If `name` does not end with a version, the time of the last change is the
    /// version.
    ///
    /// # Errors
    /// The name is too long, or the file cannot be read.
    pub fn file(name: NdnName<'_>, path: &Path) -> Result<Self, PublishError> {
        let file = File::open(path).map_err(PublishError::File)?;
        let facts = file.metadata().map_err(PublishError::File)?;
        if !facts.is_file() {
            return Err(PublishError::File(io::Error::new(
                io::ErrorKind::InvalidInput,
                "not a regular file",
            )));
        }
        let changed = facts.modified().unwrap_or_else(|_| SystemTime::now());
        Self::of(name, changed, Source::File(file), facts.len())
    }

    fn of(name: NdnName<'_>, time: SystemTime, source: Source, len: u64) -> Result<Self, PublishError> {
        if name.as_bytes().len() > MAX_OBJECT_NAME {
            return Err(PublishError::NameTooLong { len: name.as_bytes().len() });
        }
        let has_version = name.components().last().is_some_and(|last| number(last, VERSION).is_some());
        let (name, versioned) = if has_version {
            let before = name.components().take(name.len() - 1);
            (OwnedName::from_components(before).map_err(PublishError::Name)?, OwnedName::from(&name))
        } else {
            (OwnedName::from(&name), with_number(name, VERSION, micros(time)).map_err(PublishError::Name)?)
        };
        let freshness = Duration::from_secs(10);
        Ok(Self { name, versioned, source, len, freshness, signer: Signer::DigestSha256, key: None })
    }

    /// Sets the FreshnessPeriod of the segments; by default 10 s.
    pub fn with_freshness(self, freshness: Duration) -> Self {
        Self { freshness, ..self }
    }

    /// Signs the segments with `signer`, whose key or certificate has the name `key`. By default they have
    /// digests.
    ///
    /// # Errors
    /// The names of the object and the key, which are both in each segment, are too long.
    pub fn signed(self, signer: Signer, key: NdnName<'_>) -> Result<Self, PublishError> {
        let len = key.as_bytes().len();
        if self.name.as_bytes().len() + len > MAX_OBJECT_NAME {
            return Err(PublishError::NameTooLong { len: self.name.as_bytes().len() + len });
        }
        Ok(Self { signer, key: Some(OwnedName::from(&key)), ..self })
    }

    /// Name without the version.
    pub fn name(&self) -> NdnName<'_> {
        self.name.view()
    }

    /// Name with the version.
    pub fn versioned_name(&self) -> NdnName<'_> {
        self.versioned.view()
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// True if it has no bytes. It is one segment then.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Number of segments, at least one.
    pub fn segments(&self) -> u64 {
        self.len.div_ceil(SEGMENT_SIZE as u64).max(1)
    }

    /// The signed Data for an Interest: a segment, the first segment for a prefix of the name, or metadata.
    /// Returns `None` if the Interest is for nothing of the object.
    ///
    /// # Errors
    /// The file cannot be read, or has become shorter.
    pub fn answer(&self, interest: &Interest<'_>) -> Result<Option<Vec<u8>>, PublishError> {
        let asked = name_value(interest.name_bytes());
        let versioned = name_value(self.versioned.as_bytes());
        if let Some(rest) = asked.strip_prefix(versioned).filter(|rest| !rest.is_empty()) {
            let mut rest = Elements::new(rest);
            let (first, second) = (rest.next().ok().flatten(), rest.next().ok().flatten());
            let segment = first.filter(|first| first.typ == u32::from(SEGMENT) && second.is_none());
            let segment = segment.and_then(|segment| segment.number().ok());
            return match segment.filter(|&segment| segment < self.segments()) {
                Some(segment) => self.segment(segment).map(Some),
                None => Ok(None),
            };
        }
        if !interest.can_be_prefix() {
            return Ok(None);
        }
        if versioned.starts_with(asked) {
            return self.segment(0).map(Some);
        }
        let metadata = Component { typ: KEYWORD, value: METADATA };
        let metadata = OwnedName::<Ndn>::from_components(self.name.view().components().chain([metadata]));
        let metadata = metadata.map_err(PublishError::Name)?;
        if asked == name_value(metadata.as_bytes()) {
            self.metadata(metadata.view()).map(Some)
        } else {
            Ok(None)
        }
    }

    fn segment(&self, segment: u64) -> Result<Vec<u8>, PublishError> {
        let start = segment * SEGMENT_SIZE as u64;
        let len = self.len.saturating_sub(start).min(SEGMENT_SIZE as u64) as usize;
        let mut read = Vec::new();
        let content = match &self.source {
            Source::Bytes(bytes) => bytes.get(start as usize..start as usize + len).unwrap_or_default(),
            Source::File(file) => {
                read.resize(len, 0);
                file.read_exact_at(&mut read, start).map_err(PublishError::File)?;
                &read
            }
        };
        self.data(self.versioned.view(), segment, self.segments() - 1, content, self.freshness)
    }

    fn metadata(&self, name: NdnName<'_>) -> Result<Vec<u8>, PublishError> {
        let name = with_number(name, VERSION, micros(SystemTime::now())).map_err(PublishError::Name)?;
        self.data(name.view(), 0, 0, self.versioned.as_bytes(), METADATA_FRESHNESS)
    }

    fn data(
        &self,
        versioned: NdnName<'_>,
        segment: u64,
        last: u64,
        content: &[u8],
        freshness: Duration,
    ) -> Result<Vec<u8>, PublishError> {
        let name = with_number(versioned, SEGMENT, segment).map_err(PublishError::Name)?;
        let bytes = last.to_be_bytes();
        let last = bytes.get(8 - integer_len(last)..).unwrap_or_default();
        let data = DataBuilder {
            freshness: Some(freshness.as_millis() as u64),
            final_block: Some(Component { typ: SEGMENT, value: last }),
            ..DataBuilder::new(name.view(), content)
        };
        let key_locator = self.key.as_ref().map(|key| KeyLocator::Name(key.view()));
        let info = SignatureInfo { key_locator, ..SignatureInfo::of(self.signer.signature_type()) };
        Ok(self.signer.data(&data, info))
    }
}

fn micros(time: SystemTime) -> u64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros() as u64)
}

/// Objects by name.
#[derive(Debug, Default)]
pub struct Library {
    objects: HashMap<Vec<u8>, Publication>,
}

impl Library {
    /// An empty library.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds an object. Returns the one of the same name that it replaces.
    pub fn insert(&mut self, publication: Publication) -> Option<Publication> {
        self.objects.insert(name_value(publication.name.as_bytes()).to_vec(), publication)
    }

    /// The object with the longest name that is a prefix of the Interest's.
    pub fn find(&self, interest: &Interest<'_>) -> Option<&Publication> {
        let asked = name_value(interest.name_bytes());
        let mut found = self.objects.get(&[][..]);
        let mut elements = Elements::new(asked);
        while let Ok(Some(element)) = elements.next() {
            found = self.objects.get(asked.get(..element.end()).unwrap_or_default()).or(found);
        }
        found
    }

    /// Answers Interests until the connection is closed. Calls `answered` with each Data packet that was
    /// sent.
    ///
    /// # Errors
    /// A file cannot be read. The Interest is not answered; call again to go on.
    pub async fn serve(
        &self,
        registration: &mut Registration,
        mut answered: impl FnMut(&[u8]),
    ) -> Result<(), PublishError> {
        while let Some(incoming) = registration.next().await {
            let interest = incoming.interest();
            let data = self.find(&interest).map(|object| object.answer(&interest)).transpose()?.flatten();
            if let Some(data) = data
                && incoming.reply(&data).await.is_ok()
            {
                answered(&data);
            }
        }
        Ok(())
    }
}

/// Error of a publication.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The names of the object and its key are together longer than [`MAX_OBJECT_NAME`].
    #[error("the names of the object and its key have {len} bytes, more than {MAX_OBJECT_NAME}")]
    NameTooLong {
        /// Length of the names in bytes.
        len: usize,
    },
    /// The name has no room for the version or the segment.
    #[error("{0}")]
    Name(BuildError),
    /// The file cannot be read.
    #[error("cannot read the file: {0}")]
    File(io::Error),
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashlane_name::uri::parse_uri;
    use hashlane_ndn::wire::{Data, InterestBuilder};

    fn answer(object: &Publication, uri: &str, can_be_prefix: bool) -> Option<(String, Vec<u8>)> {
        let name: OwnedName<Ndn> = parse_uri(uri.as_bytes()).unwrap();
        let packet = InterestBuilder { can_be_prefix, ..InterestBuilder::new(name.view()) }.build();
        let data = object.answer(&Interest::parse(&packet).unwrap()).unwrap()?;
        let data = Data::parse(&data).unwrap();
        assert!(data.as_bytes().len() <= crate::MAX_PACKET);
        Some((data.name().to_string(), data.content().to_vec()))
    }

    #[test]
    fn answers_with_what_was_asked_for_and_nothing_else() {
        let name: OwnedName<Ndn> = parse_uri(b"/a/v=7").unwrap();
        let object = Publication::new(name.view(), vec![9; SEGMENT_SIZE + 1]).unwrap();
        assert_eq!((object.segments(), object.name().to_string()), (2, "/a".into()));
        assert_eq!(answer(&object, "/a/v=7/seg=1", false), Some(("/a/v=7/seg=1".into(), vec![9])));
        for prefix in ["/a", "/a/v=7"] {
            assert_eq!(answer(&object, prefix, true).unwrap().0, "/a/v=7/seg=0");
            assert_eq!(answer(&object, prefix, false), None);
        }
        for other in ["/a/v=7/seg=2", "/a/v=7/seg=1/x", "/a/v=8/seg=0", "/b", "/a/x"] {
            assert_eq!(answer(&object, other, true), None, "{other}");
        }
        let (name, content) = answer(&object, "/a/32=metadata", true).unwrap();
        assert!(name.starts_with("/a/32=metadata/v="), "{name}");
        assert_eq!(content, object.versioned_name().as_bytes());
    }

    #[test]
    fn the_longest_packet_is_within_the_limit() {
        let long = format!("/{}", "n".repeat(MAX_OBJECT_NAME - 8));
        let name: OwnedName<Ndn> = parse_uri(long.as_bytes()).unwrap();
        let object = Publication::new(name.view(), vec![0; SEGMENT_SIZE]).unwrap();
        assert!(answer(&object, &long, true).is_some());
        let longer: OwnedName<Ndn> = parse_uri(format!("{long}nnn").as_bytes()).unwrap();
        assert!(matches!(Publication::new(longer.view(), Vec::new()), Err(PublishError::NameTooLong { .. })));
    }

    #[test]
    fn an_empty_object_is_one_segment() {
        let name: OwnedName<Ndn> = parse_uri(b"/e").unwrap();
        let object = Publication::new(name.view(), Vec::new()).unwrap();
        assert!(object.is_empty());
        assert_eq!(answer(&object, "/e", true).unwrap().1, b"");
    }
}
