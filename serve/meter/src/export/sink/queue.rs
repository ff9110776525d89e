//! Blocks that wait for a socket, limited in bytes.

use super::Totals;
use std::collections::VecDeque;
use std::thread;
use std::time::{Duration, Instant};

/// Default limit of a queue, in bytes.
pub(super) const QUEUE_LIMIT: usize = 16 << 20;

/// Memory of a block beside its bytes, so that many small blocks count, too.
const OVERHEAD: usize = 64;

/// Time that the end of an export waits for a collector.
const LINGER: Duration = Duration::from_secs(5);

/// Bytes that are delivered whole, and the flows in them.
#[derive(Debug)]
pub(super) struct Block {
    pub(super) bytes: Box<[u8]>,
    pub(super) flows: u64,
}

impl Block {
    pub(super) fn new(bytes: &[u8], flows: u64) -> Self {
        Self { bytes: bytes.into(), flows }
    }

    const fn cost(&self) -> usize {
        self.bytes.len() + OVERHEAD
    }
}

/// Blocks in order, the oldest first.
#[derive(Debug)]
pub(super) struct Queue {
    blocks: VecDeque<Block>,
    /// Bytes of the blocks and their overhead.
    held: usize,
    pub(super) limit: usize,
}

impl Queue {
    pub(super) const fn new() -> Self {
        Self { blocks: VecDeque::new(), held: 0, limit: QUEUE_LIMIT }
    }

    /// Adds a block, or loses it and returns false if the queue is full.
    pub(super) fn push(&mut self, block: Block, totals: &mut Totals) -> bool {
        if self.held + block.cost() > self.limit {
            totals.lose(&block);
            return false;
        }
        self.held += block.cost();
        self.blocks.push_back(block);
        true
    }

    pub(super) fn front(&self) -> Option<&Block> {
        self.blocks.front()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.blocks.is_empty()
    }

    /// Removes the oldest block, delivered.
    pub(super) fn delivered(&mut self, totals: &mut Totals) -> Option<Block> {
        let block = self.pop()?;
        totals.flows += block.flows;
        totals.bytes += block.bytes.len() as u64;
        totals.blocks += 1;
        Some(block)
    }

    /// Removes the oldest block, lost.
    pub(super) fn lost(&mut self, totals: &mut Totals) {
        if let Some(block) = self.pop() {
            totals.lose(&block);
        }
    }

    /// Loses all blocks.
    pub(super) fn abandon(&mut self, totals: &mut Totals) {
        while !self.is_empty() {
            self.lost(totals);
        }
    }

    fn pop(&mut self) -> Option<Block> {
        let block = self.blocks.pop_front()?;
        self.held -= block.cost();
        Some(block)
    }
}

impl Totals {
    const fn lose(&mut self, block: &Block) {
        self.flows_lost += block.flows;
        self.blocks_lost += 1;
    }

    /// Counts a block that was delivered as lost.
    pub(super) fn refuse(&mut self, block: &Block) {
        self.flows -= block.flows;
        self.bytes -= block.bytes.len() as u64;
        self.blocks -= 1;
        self.lose(block);
    }
}

/// Calls `done` with the time, which starts at `now`, until it is true or [`LINGER`] has passed.
pub(super) fn drain(now: u64, mut done: impl FnMut(u64) -> bool) {
    let start = Instant::now();
    loop {
        let passed = start.elapsed();
        if done(now.saturating_add(u64::try_from(passed.as_nanos()).unwrap_or(u64::MAX))) || passed > LINGER {
            return;
        }
        thread::sleep(Duration::from_millis(2));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_queue_loses_the_newest_block() {
        let (mut queue, mut totals) = (Queue::new(), Totals::default());
        queue.limit = 2 * (10 + OVERHEAD);
        for flows in [1, 2, 4] {
            queue.push(Block::new(&[0; 10], flows), &mut totals);
        }
        assert_eq!((totals.flows_lost, totals.blocks_lost), (4, 1));
        queue.delivered(&mut totals);
        assert_eq!((totals.flows, totals.bytes, totals.blocks), (1, 10, 1));
        queue.push(Block::new(&[0; 10], 8), &mut totals);
        assert_eq!(totals.flows_lost, 4);
        queue.abandon(&mut totals);
        assert_eq!((totals.flows_lost, queue.held), (4 + 2 + 8, 0));
    }
}
