//! Byte strings one after the other, each with its owner: no allocation for each, and freed space is used
//! again.
//!
//! A string has a header of 4 bytes and is padded to a multiple of 4 bytes. Strings stand in blocks of at
//! most 256 KiB, so that growth copies no block that is full. Removed strings stay where they were until half
//! of all bytes are theirs. From then on, each removal takes a step of cleaning: it moves strings out of the
//! block that has most removed ones, and frees the block once it is empty. So the blocks take at most about
//! twice the bytes of their strings, and a step looks at a few times the bytes of the string removed and at
//! one more string.

use alloc::vec::Vec;
use core::num::NonZero;

/// Bytes of a unit. Strings start and end at multiples of it.
const UNIT: usize = 4;

/// Most bytes of a block.
const BLOCK: usize = 1 << 18;

/// Bits of a position that are the number of a unit in its block.
const UNIT_BITS: u32 = (BLOCK / UNIT).ilog2();

/// Most blocks: 16 GiB.
const BLOCKS: usize = 1 << (u32::BITS - UNIT_BITS);

/// Units of a block of removed strings that are worth cleaning.
const WORTHWHILE: u32 = 256;

/// Units that a removal of a unit cleans. At least half of them are of removed strings.
const PACE: u32 = 4;

/// Owner in the header of a removed string. The unit after it is the number of its units.
const REMOVED: u32 = u32::MAX;

/// Position of a string, valid until the string is moved or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position(NonZero<u32>);

impl Position {
    fn new(block: usize, unit: usize) -> Option<Self> {
        NonZero::new((block << UNIT_BITS | unit) as u32).map(Self)
    }

    /// The position as bytes.
    #[inline]
    pub(crate) fn to_bytes(self) -> [u8; 4] {
        self.0.get().to_le_bytes()
    }

    /// The position of [`to_bytes`](Self::to_bytes).
    #[inline(always)]
    pub(crate) fn from_bytes(bytes: [u8; 4]) -> Option<Self> {
        NonZero::new(u32::from_le_bytes(bytes)).map(Self)
    }

    /// Number of its block, and of its first byte there.
    #[inline(always)]
    fn split(self) -> (usize, usize) {
        let position = self.0.get() as usize;
        (position >> UNIT_BITS, UNIT * (position & (BLOCK / UNIT - 1)))
    }
}

/// The owners of strings.
pub trait Owners {
    /// Length of the string of an owner, in bytes.
    fn len_of(&self, owner: u32) -> Option<usize>;

    /// Called when the string of an owner has moved to another position.
    fn moved(&mut self, owner: u32, to: Position);
}

/// A block. Its first unit is free, so that no position is 0.
#[derive(Clone, Debug, Default)]
struct Block {
    bytes: Vec<u8>,
    /// Units of removed strings.
    removed: u32,
}

impl Block {
    /// An empty block that grows when strings are added, with memory for `bytes`.
    fn with_capacity(bytes: usize) -> Self {
        let mut block = Self { bytes: Vec::with_capacity(bytes), removed: 0 };
        block.bytes.extend_from_slice(&[0; UNIT]);
        block
    }

    /// Units of all strings, removed ones included.
    fn units(&self) -> u32 {
        (self.bytes.len() / UNIT).saturating_sub(1) as u32
    }

    fn word(&self, at: usize) -> u32 {
        self.bytes.get(at..).and_then(<[u8]>::first_chunk).map_or(REMOVED, |word| u32::from_le_bytes(*word))
    }

    fn set_word(&mut self, at: usize, word: u32) {
        if let Some(place) = self.bytes.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
            *place = word.to_le_bytes();
        }
    }

    /// True if half of the strings are removed, and enough of them to move the others.
    fn is_sparse(&self) -> bool {
        self.removed >= WORTHWHILE && 2 * self.removed >= self.units()
    }
}

/// Units of a string of `len` bytes. A removed one needs two.
const fn units(len: usize) -> u32 {
    let units = len.div_ceil(UNIT);
    1 + if units == 0 { 1 } else { units as u32 }
}

/// A block that is being emptied.
#[derive(Clone, Copy, Debug)]
struct Cleaning {
    block: usize,
    /// The next byte to look at. No string before it is in use.
    at: usize,
}

/// Strings.
#[derive(Clone, Debug)]
pub struct Names {
    blocks: Vec<Block>,
    /// The block that takes new strings.
    current: usize,
    /// Numbers of blocks without memory.
    vacant: Vec<u32>,
    cleaning: Option<Cleaning>,
    /// Units of all strings, removed ones included, and of removed ones.
    units: u64,
    removed: u64,
}

impl Default for Names {
    fn default() -> Self {
        Self::new()
    }
}

impl Names {
    /// Most bytes of a string.
    pub const MAX_LEN: usize = 0xffff;

    /// Creates an empty arena.
    pub fn new() -> Self {
        let blocks = Vec::from([Block::with_capacity(UNIT)]);
        Self { blocks, current: 0, vacant: Vec::new(), cleaning: None, units: 0, removed: 0 }
    }

    /// The bytes of a string of `len` bytes.
    #[inline(always)]
    pub fn get(&self, position: Position, len: usize) -> &[u8] {
        let (block, at) = position.split();
        let bytes = self.blocks.get(block).and_then(|block| block.bytes.get(at + UNIT..at + UNIT + len));
        debug_assert!(bytes.is_some(), "a position is valid until its string is moved or removed");
        bytes.unwrap_or_default()
    }

    /// Adds a string of at most [`MAX_LEN`](Self::MAX_LEN) bytes. `None` if it is longer, or all strings would
    /// take more than 16 GiB.
    pub fn push(&mut self, owner: u32, bytes: &[u8]) -> Option<Position> {
        if bytes.len() > Self::MAX_LEN || owner == REMOVED {
            return None;
        }
        let units = units(bytes.len());
        let taken = UNIT * units as usize;
        let block = self.blocks.get(self.current)?;
        if block.bytes.len() + taken > BLOCK {
            self.open()?;
        }
        let block = self.blocks.get_mut(self.current)?;
        let at = block.bytes.len();
        block.bytes.extend_from_slice(&owner.to_le_bytes());
        block.bytes.extend_from_slice(bytes);
        block.bytes.resize(at + taken, 0);
        self.units += u64::from(units);
        Position::new(self.current, at / UNIT)
    }

    /// Makes another block the current one.
    fn open(&mut self) -> Option<()> {
        // A small arena begins with a small block, which grows.
        let is_large = self.units - self.removed > (BLOCK / UNIT / 2) as u64;
        let block = Block::with_capacity(if is_large { BLOCK } else { UNIT });
        match self.vacant.pop() {
            Some(vacant) => {
                *self.blocks.get_mut(vacant as usize)? = block;
                self.current = vacant as usize;
            }
            None if self.blocks.len() == BLOCKS => return None,
            None => {
                self.blocks.push(block);
                self.current = self.blocks.len() - 1;
            }
        }
        Some(())
    }

    /// Removes a string of `len` bytes, and takes a step of cleaning if it is due. `owners` no longer has its
    /// owner.
    pub fn remove(&mut self, position: Position, len: usize, owners: &mut impl Owners) {
        let (number, at) = position.split();
        let units = units(len);
        let Some(block) = self.blocks.get_mut(number) else { return };
        block.set_word(at, REMOVED);
        block.set_word(at + UNIT, units);
        block.removed += units;
        self.removed += u64::from(units);
        if block.removed == block.units() {
            self.free(number);
        }
        self.clean(PACE * units, owners);
    }

    /// Frees a block without strings.
    fn free(&mut self, number: usize) {
        let Some(block) = self.blocks.get_mut(number) else { return };
        self.units -= u64::from(block.units());
        self.removed -= u64::from(block.removed);
        *block = Block::default();
        if number == self.current {
            *block = Block::with_capacity(UNIT);
        } else {
            self.vacant.push(number as u32);
        }
        self.cleaning = self.cleaning.filter(|cleaning| cleaning.block != number);
    }

    /// Looks at about `budget` units of a sparse block, and moves the strings there.
    fn clean(&mut self, budget: u32, owners: &mut impl Owners) {
        if self.cleaning.is_none() && 2 * self.removed < self.units {
            return;
        }
        let Some(Cleaning { block: number, mut at }) = self.cleaning.or_else(|| self.choose()) else {
            return;
        };
        let Some(block) = self.blocks.get_mut(number) else { return };
        let mut block = core::mem::take(block);
        let end = at + UNIT * budget as usize;
        while at < end && at < block.bytes.len() && block.removed < block.units() {
            let owner = block.word(at);
            if owner == REMOVED {
                at += UNIT * block.word(at + UNIT).max(2) as usize;
                continue;
            }
            let len = owners.len_of(owner);
            debug_assert!(len.is_some(), "a string that is not removed has an owner");
            let Some(len) = len else { break };
            let bytes = block.bytes.get(at + UNIT..at + UNIT + len).unwrap_or_default();
            let Some(to) = self.push(owner, bytes) else { break };
            owners.moved(owner, to);
            block.removed += units(len);
            self.removed += u64::from(units(len));
            at += UNIT * units(len) as usize;
        }
        let is_empty = block.removed == block.units();
        if let Some(place) = self.blocks.get_mut(number) {
            *place = block;
        }
        self.cleaning = Some(Cleaning { block: number, at });
        if is_empty {
            self.free(number);
        }
    }

    /// Chooses the block with most removed strings, if it is worth cleaning. The current block is replaced
    /// first.
    fn choose(&mut self) -> Option<Cleaning> {
        let blocks = self.blocks.iter().enumerate().filter(|(_, block)| block.is_sparse());
        let (block, _) = blocks.max_by_key(|(_, block)| block.removed)?;
        if block == self.current {
            self.open()?;
        }
        Some(Cleaning { block, at: UNIT })
    }

    /// Bytes of memory on the heap.
    pub fn memory(&self) -> usize {
        let blocks: usize = self.blocks.iter().map(|block| block.bytes.capacity()).sum();
        blocks + size_of::<Block>() * self.blocks.capacity() + size_of::<u32>() * self.vacant.capacity()
    }
}

#[cfg(test)]
mod tests;
