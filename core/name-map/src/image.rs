//! Rules as bytes, to be kept in a file.
//!
//! An image is a header, then buckets, filter, groups, lists and inherited rules as they stand in memory,
//! then bytes of the application, and a CRC-32C of all before it. Numbers are in the order of bytes of the
//! machine that wrote it. An image with wrong contents and a right CRC may match wrong names; it does no
//! other harm, as every read of a table is checked against its bounds.

use crate::filter::Filter;
use crate::groups::Groups;
use crate::lists::{Inherited, Lists};
use crate::reversed::MAX_LABELS;
use crate::rules::Rules;
use crate::table::{Bucket, Table};
use alloc::vec;
use alloc::vec::Vec;
use bytemuck::{Pod, Zeroable};
use hashlane_hash::crc32c::Crc32c;
use hashlane_hash::scheme::{BytesHash as _, Key, Scheme as _};
use hashlane_hash::siphash::SipHash13;

/// The first bytes of an image.
const MAGIC: [u8; 8] = *b"hl-names";

/// The version of the format.
const VERSION: u32 = 2;

/// An image that was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ImageError {
    /// The first bytes do not begin an image.
    #[error("these are no compiled rules; compile lists of rules first")]
    Format,
    /// The version differs, or the order of bytes.
    #[error(
        "rules compiled by another version, or on a machine with another order of bytes; compile them again"
    )]
    Version,
    /// The image has another length than its header says.
    #[error(
        "compiled rules of {len} bytes, where {expected} are expected; the file was cut or is being written"
    )]
    Length {
        /// Bytes of the image.
        len: usize,
        /// Bytes that the header asks for.
        expected: u64,
    },
    /// The checksum differs.
    #[error("compiled rules with a wrong checksum; the file was changed, compile the rules again")]
    Checksum,
    /// A number of the header is out of its bounds.
    #[error("compiled rules with impossible numbers; compile the rules again")]
    Bounds,
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    version: u32,
    pivot: u32,
    short: [u64; 2],
    key: [u8; 16],
    names: u64,
    closest_wins: u64,
    /// Number of buckets, of words of the filter, of bytes of the groups, of lists, of inherited rules, and
    /// of bytes of the application.
    lens: [u64; 6],
}

/// Neighbouring buckets that are full, at most; a lookup may read as many. Of 16 million groups, fewer than
/// 100 are.
const MAX_RUN: usize = 1024;

/// Bytes of the checksum.
const CRC_LEN: usize = 4;

impl Rules {
    /// These rules as bytes, for [`from_bytes`](Self::from_bytes), and `about`, which is returned with them.
    ///
    /// The bytes have the secret key of the hash: who reads them can choose names that take long.
    pub fn to_bytes(&self, about: &[u8]) -> Vec<u8> {
        let parts: [&[u8]; 6] = [
            bytemuck::cast_slice(&self.table.buckets),
            bytemuck::cast_slice(&self.filter.0),
            &self.table.groups.0,
            bytemuck::cast_slice(&self.lists),
            bytemuck::cast_slice(&self.inherited),
            about,
        ];
        let lens = [
            self.table.buckets.len(),
            self.filter.0.len(),
            self.table.groups.0.len(),
            self.lists.len(),
            self.inherited.len(),
            about.len(),
        ];
        let header = Header {
            magic: MAGIC,
            version: VERSION,
            // At most 127.
            pivot: self.pivot as u32,
            short: [self.short as u64, (self.short >> 64) as u64],
            key: self.key.to_bytes(),
            names: self.names as u64,
            closest_wins: self.closest_wins,
            lens: lens.map(|len| len as u64),
        };
        let len = parts.iter().map(|part| part.len()).sum::<usize>();
        let mut bytes = Vec::with_capacity(size_of::<Header>() + len + CRC_LEN);
        bytes.extend_from_slice(bytemuck::bytes_of(&header));
        parts.iter().for_each(|part| bytes.extend_from_slice(part));
        let crc = crc(&bytes);
        bytes.extend_from_slice(&crc.to_ne_bytes());
        bytes
    }

    /// The rules of [`to_bytes`](Self::to_bytes), and the bytes that were given to it. Copies all.
    ///
    /// # Errors
    /// The fault of the bytes.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), ImageError> {
        if bytes.get(..MAGIC.len()) != Some(&MAGIC) {
            return Err(ImageError::Format);
        }
        let length = |expected| ImageError::Length { len: bytes.len(), expected };
        let (header, rest) = bytes
            .split_at_checked(size_of::<Header>())
            .ok_or(length((size_of::<Header>() + CRC_LEN) as u64))?;
        let header: Header = bytemuck::pod_read_unaligned(header);
        if header.version != VERSION {
            return Err(ImageError::Version);
        }
        let sizes = [size_of::<Bucket>(), size_of::<u64>(), 1, size_of::<Lists>(), size_of::<Inherited>(), 1];
        let parts = header.lens.iter().zip(sizes).map(|(len, size)| len.checked_mul(size as u64));
        let all = parts
            .clone()
            .try_fold((size_of::<Header>() + CRC_LEN) as u64, |all, part| all.checked_add(part?));
        let expected = all.ok_or(ImageError::Bounds)?;
        if expected != bytes.len() as u64 {
            return Err(length(expected));
        }
        let (sealed, crc_bytes) = bytes.split_last_chunk::<CRC_LEN>().ok_or(ImageError::Format)?;
        if crc(sealed) != u32::from_ne_bytes(*crc_bytes) {
            return Err(ImageError::Checksum);
        }
        let mut rest = rest;
        let mut part = |len: Option<u64>| {
            // The lengths add up to the number of the bytes.
            let (part, after) = rest.split_at_checked(len? as usize)?;
            rest = after;
            Some(part)
        };
        let mut parts = parts.map(|len| part(len).unwrap_or_default());
        let mut next = || parts.next().unwrap_or_default();
        let (buckets, filter, groups, lists) = (next(), next(), next(), next());
        let (inherited, about) = (next(), next());
        let pivot = header.pivot as usize;
        let short = u128::from(header.short[0]) | u128::from(header.short[1]) << 64;
        let names = usize::try_from(header.names).map_err(|_| ImageError::Bounds)?;
        if !(1..=MAX_LABELS).contains(&pivot) || short >> pivot != 0 || short & 1 != 0 {
            return Err(ImageError::Bounds);
        }
        let key = Key::new(header.key);
        let table = Table { buckets: collect(buckets), groups: Groups(groups.to_vec()) };
        if table.longest_run() > MAX_RUN {
            return Err(ImageError::Bounds);
        }
        let (filter, lists, inherited) = (Filter(collect(filter)), collect(lists), collect(inherited));
        let Header { closest_wins, .. } = header;
        let hash = SipHash13::new(&key);
        Ok((Self { hash, key, table, filter, pivot, short, lists, inherited, closest_wins, names }, about))
    }
}

fn crc(bytes: &[u8]) -> u32 {
    // A hash of 32 bits.
    Crc32c::new(&Key::VECTOR).hash(bytes) as u32
}

/// Values as they stand in bytes.
fn collect<T: Pod>(bytes: &[u8]) -> Vec<T> {
    let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>()];
    let len = size_of_val(&*values);
    bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes.get(..len).unwrap_or_default());
    values
}
