//! Compression of names for messages that are built with the crate [`domain`] (feature `domain`).
//!
//! A [`Compressing`] is a target for its `MessageBuilder`, in place of `StaticCompressor`, `TreeCompressor`
//! or `HashCompressor`. It works inside a [`StreamTarget`](domain::base::StreamTarget), around one, or alone.
//! It has a `Default` and so may be the `Target` of a `Service` of that crate's server.
//!
//! ```
//! use hashlane_dns::composer::{Compressed, Compressing};
//! use domain::base::{MessageBuilder, Name, Rtype, StreamTarget};
//! use domain::rdata::Ns;
//!
//! # fn main() -> Result<(), Box<dyn core::error::Error>> {
//! let zone: Name<Vec<u8>> = "example.com".parse()?;
//! let server: Name<Vec<u8>> = "ns.example.com".parse()?;
//!
//! let target = StreamTarget::new(Compressing::<Vec<u8>>::default())?;
//! let mut message = MessageBuilder::from_target(target)?.question();
//! message.push((&zone, Rtype::NS))?;
//! let mut message = message.answer();
//! message.push((&zone, 3600, Compressed(Ns::new(&server))))?;
//!
//! let target = message.finish();
//! assert!(target.as_dgram_slice().ends_with(b"\x02ns\xc0\x0c"));
//! assert_eq!(target.as_stream_slice()[..2], [0, 46]);
//! # Ok(())
//! # }
//! ```
//!
//! # Names in the data of records
//!
//! `domain` compresses these if the target's `can_compress` returns true. A `StreamTarget` returns false,
//! whatever is inside it (release 0.12.3). Inside one, owners and questions are compressed, and of the names
//! in data those wrapped in [`Compressed`]. The server of that crate builds all its messages this way.
//!
//! # Start of the message
//!
//! Pointers count from the header, but a `StreamTarget` puts two bytes of length before it. A `Compressing`
//! around one does not see them. Inside one, they are the first bytes appended to the empty target: so **two
//! bytes that are appended alone to an empty target are not part of the message, and everything else is**.
//! `MessageBuilder` appends the 12 bytes of a header at once. A message that is written by hand must start
//! the same way, or with any append that is not two bytes long.

mod pool;

pub use pool::PooledTable;

use crate::render::Compressor;
use domain::base::Rtype;
use domain::base::name::ToName;
use domain::base::rdata::{ComposeRecordData, RecordData};
use domain::base::wire::Composer;
use domain::dep::octseq::{FreezeBuilder, OctetsBuilder, Truncate};
use hashlane_hash::scheme::Key;
use hashlane_name::dns::{Case, Name, NameBuf};

/// Bytes of length that a `StreamTarget` puts before a message (RFC 1035 §4.2.2).
const PREFIX: usize = 2;

/// A target that compresses the names appended to it, and passes everything else to `Target`.
///
/// A name that does not fit leaves the target unchanged. No pointer leads to a name that
/// [`truncate`](Truncate::truncate) cut, even in part, nor into the 12 bytes of the header; do not change the
/// bytes of earlier names through [`as_mut`](AsMut::as_mut). After a cut to nothing another message may
/// follow; a reused target allocates nothing for messages like its earlier ones. Builders move their target,
/// so a large compressor should be in a [`Box`](alloc::boxed::Box).
#[derive(Clone, Debug)]
pub struct Compressing<Target, C = PooledTable> {
    target: Target,
    compressor: C,
    case: Case,
    /// Bytes of the target before the message.
    base: usize,
}

impl<Target> Compressing<Target> {
    /// Wraps `target`, with a new table of suffixes under `key`, a secret random key. The message begins with
    /// the present content of `target`.
    pub fn new(target: Target, key: &Key) -> Self {
        Self::with(target, PooledTable::new(key))
    }

    /// Wraps `target`, with a table of the process, as [`default`](Self::default) has it. The message begins
    /// with the present content of `target`.
    pub fn pooled(target: Target) -> Self {
        Self::with(target, PooledTable::default())
    }
}

/// Has a table of suffixes of the process: a used one, or a new one under a random key.
impl<Target: Default> Default for Compressing<Target> {
    fn default() -> Self {
        Self::pooled(Target::default())
    }
}

impl<Target, C: Compressor> Compressing<Target, C> {
    /// Wraps `target`, with this compressor. The message begins with the present content of `target`.
    pub fn with(target: Target, mut compressor: C) -> Self {
        compressor.start(Case::Ignored);
        Self { target, compressor, case: Case::Ignored, base: 0 }
    }

    /// The same, but that a name is compressed against one that differs in the case of letters or not, as
    /// `case` says, in place of [`Case::Ignored`]. No name written before is pointed to any more.
    #[must_use]
    pub fn case(mut self, case: Case) -> Self {
        self.case = case;
        self.compressor.start(case);
        self
    }
}

impl<Target, C> Compressing<Target, C> {
    /// The wrapped target.
    pub const fn as_target(&self) -> &Target {
        &self.target
    }

    /// Returns the wrapped target.
    pub fn into_target(self) -> Target {
        self.target
    }
}

impl<Target: OctetsBuilder + AsRef<[u8]>, C: Compressor> Compressing<Target, C> {
    /// Appends a name; on an error, a part of it may be there.
    #[inline(always)]
    fn append(&mut self, name: Name<'_>) -> Result<(), Target::AppendError> {
        let message = self.target.as_ref().get(self.base..).unwrap_or_default();
        let place = self.compressor.place(message, name);
        let literal = place.literal();
        if literal > 0 {
            self.target.append_slice(name.as_bytes().get(..literal).unwrap_or_default())?;
        }
        place.pointer().map_or(Ok(()), |at| self.target.append_slice(&(0xc000 | at).to_be_bytes()))
    }
}

impl<Target: AsRef<[u8]>, C> AsRef<[u8]> for Compressing<Target, C> {
    fn as_ref(&self) -> &[u8] {
        self.target.as_ref()
    }
}

impl<Target: AsMut<[u8]>, C> AsMut<[u8]> for Compressing<Target, C> {
    fn as_mut(&mut self) -> &mut [u8] {
        self.target.as_mut()
    }
}

impl<Target: OctetsBuilder + AsRef<[u8]>, C> OctetsBuilder for Compressing<Target, C> {
    type AppendError = Target::AppendError;

    #[inline]
    fn append_slice(&mut self, slice: &[u8]) -> Result<(), Self::AppendError> {
        let first = self.target.as_ref().is_empty();
        self.target.append_slice(slice)?;
        if first && slice.len() == PREFIX {
            self.base = PREFIX;
        }
        Ok(())
    }
}

impl<Target: Truncate + AsRef<[u8]>, C: Compressor> Truncate for Compressing<Target, C> {
    fn truncate(&mut self, len: usize) {
        if len > self.target.as_ref().len() {
            return;
        }
        self.target.truncate(len);
        if len < self.base {
            self.base = 0;
        }
        match len - self.base {
            0 => self.compressor.start(self.case),
            message => self.compressor.truncate(message),
        }
    }
}

impl<Target: Composer, C: Compressor> Composer for Compressing<Target, C> {
    fn append_compressed_name<N: ToName + ?Sized>(&mut self, name: &N) -> Result<(), Self::AppendError> {
        let start = self.target.as_ref().len();
        let flat;
        let bytes = match name.as_flat_slice() {
            Some(bytes) => Name::parse(bytes).ok(),
            None => {
                flat = flatten(name);
                flat.as_ref().map(NameBuf::view)
            }
        };
        let appended = match bytes {
            Some(bytes) => self.append(bytes),
            // An invalid name is written as its own type writes it.
            None => name.compose(&mut self.target),
        };
        if appended.is_err() {
            self.truncate(start);
        }
        appended
    }

    fn can_compress(&self) -> bool {
        true
    }
}

impl<Target: FreezeBuilder, C> FreezeBuilder for Compressing<Target, C> {
    type Octets = Target::Octets;

    fn freeze(self) -> Self::Octets {
        self.target.freeze()
    }
}

/// Data of a record, with its names compressed even inside a `StreamTarget`, which keeps `domain` from
/// compressing them.
///
/// Only the types of RFC 1035 have such names (RFC 3597 §4). The data of all others, and in a target that
/// does not compress, are written as they are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Compressed<D>(pub D);

impl<D: RecordData> RecordData for Compressed<D> {
    fn rtype(&self) -> Rtype {
        self.0.rtype()
    }
}

impl<D: ComposeRecordData> ComposeRecordData for Compressed<D> {
    fn rdlen(&self, _: bool) -> Option<u16> {
        self.0.rdlen(true)
    }

    fn compose_rdata<Target: Composer + ?Sized>(
        &self,
        target: &mut Target,
    ) -> Result<(), Target::AppendError> {
        self.0.compose_rdata(&mut Able(target))
    }

    fn compose_canonical_rdata<Target: Composer + ?Sized>(
        &self,
        target: &mut Target,
    ) -> Result<(), Target::AppendError> {
        self.0.compose_canonical_rdata(target)
    }
}

/// A target whose `can_compress` returns true, and which passes everything to the other one.
struct Able<'a, Target: ?Sized>(&'a mut Target);

impl<Target: AsRef<[u8]> + ?Sized> AsRef<[u8]> for Able<'_, Target> {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl<Target: AsMut<[u8]> + ?Sized> AsMut<[u8]> for Able<'_, Target> {
    fn as_mut(&mut self) -> &mut [u8] {
        (*self.0).as_mut()
    }
}

impl<Target: OctetsBuilder + ?Sized> OctetsBuilder for Able<'_, Target> {
    type AppendError = Target::AppendError;

    fn append_slice(&mut self, slice: &[u8]) -> Result<(), Self::AppendError> {
        self.0.append_slice(slice)
    }
}

impl<Target: Truncate + ?Sized> Truncate for Able<'_, Target> {
    fn truncate(&mut self, len: usize) {
        self.0.truncate(len);
    }
}

impl<Target: Composer + ?Sized> Composer for Able<'_, Target> {
    fn append_compressed_name<N: ToName + ?Sized>(&mut self, name: &N) -> Result<(), Self::AppendError> {
        self.0.append_compressed_name(name)
    }

    fn can_compress(&self) -> bool {
        true
    }
}

/// Copies a name whose labels are not in one piece, such as a chain of names or one read from a message.
fn flatten<N: ToName + ?Sized>(name: &N) -> Option<NameBuf> {
    let mut flat = NameBuf::ROOT;
    name.iter_labels()
        .filter(|label| !label.is_root())
        .try_for_each(|label| flat.push(label.as_ref()))
        .ok()?;
    Some(flat)
}
