//! Regular expressions as programs that run in time linear in the input, over names and over texts alike.
//!
//! A program is a list of steps. All threads of a run advance together, at most one for each step, in the
//! order of their preference (R. Cox, Regular Expression Matching: the Virtual Machine Approach, 2009). So a
//! run takes at most steps × elements visits, for every pattern and every input.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

/// Most visits of parts while a program is built: repetitions of repetitions multiply.
const MAX_WORK: usize = 16_384;

/// Part of an expression. An element of the input is tested by number.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// One element that passes this test.
    Element(usize),
    /// All parts in order.
    Sequence(Vec<Part>),
    /// One of these parts; an earlier one is preferred.
    Choice(Vec<Part>),
    /// At least `least` times, and at most `most` times; as often as possible.
    Repeat { part: Box<Part>, least: u32, most: Option<u32> },
    /// A part whose last match is kept, by number from 0.
    Group { part: Box<Part>, number: usize },
}

#[derive(Clone, Copy, Debug)]
enum Step {
    /// Takes an element that passes this test.
    Element(usize),
    /// Goes on at both steps, the first one preferred.
    Split(usize, usize),
    /// Goes on at another step.
    Jump(usize),
    /// Keeps the position in this slot.
    Save(usize),
    /// The end of the expression.
    End,
}

/// A compiled expression.
#[derive(Clone, Debug)]
pub(super) struct Program {
    steps: Vec<Step>,
    groups: usize,
}

/// The expression has more steps than are allowed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLong;

/// First and last position of each group, the last one exclusive; `None` for a group that matched nothing.
pub(super) type Spans = Vec<Option<(usize, usize)>>;

impl Program {
    /// Compiles an expression with this number of groups to at most `limit` steps.
    pub(super) fn new(part: &Part, groups: usize, limit: usize) -> Result<Self, TooLong> {
        let mut compiler = Compiler { steps: Vec::new(), work: 0, limit };
        compiler.part(part)?;
        compiler.push(Step::End)?;
        Ok(Self { steps: compiler.steps, groups })
    }

    /// Matches all `len` elements; `passes` tests the element at a position. Returns the spans of the
    /// preferred match.
    pub(super) fn run(&self, len: usize, mut passes: impl FnMut(usize, usize) -> bool) -> Option<Spans> {
        let width = 2 * self.groups;
        let mut now = Threads::new(self.steps.len(), width);
        let mut next = Threads::new(self.steps.len(), width);
        now.add(&self.steps, 0, 0, &vec![None; width]);
        for position in 0..len {
            for at in 0..now.steps.len() {
                let Some(&step) = now.steps.get(at) else { break };
                if let Some(Step::Element(test)) = self.steps.get(step)
                    && passes(*test, position)
                {
                    next.add(&self.steps, step + 1, position + 1, now.slots_of(at));
                }
            }
            core::mem::swap(&mut now, &mut next);
            next.clear();
            if now.steps.is_empty() {
                return None;
            }
        }
        let ended = |step: &usize| matches!(self.steps.get(*step), Some(Step::End));
        let slots = now.slots_of(now.steps.iter().position(ended)?);
        Some(slots.chunks(2).map(|pair| pair.first().copied().flatten().zip(*pair.get(1)?)).collect())
    }
}

/// Threads of a run at one position, in order of preference.
struct Threads {
    steps: Vec<usize>,
    /// Slots of all threads, one after the other.
    slots: Vec<Option<usize>>,
    width: usize,
    /// Steps that have a thread, or led to one.
    visited: Vec<bool>,
}

/// Work that is left while a thread is added.
enum Left {
    Visit(usize),
    Restore(usize, Option<usize>),
}

impl Threads {
    fn new(steps: usize, width: usize) -> Self {
        Self { steps: Vec::new(), slots: Vec::new(), width, visited: vec![false; steps] }
    }

    fn clear(&mut self) {
        self.steps.clear();
        self.slots.clear();
        self.visited.fill(false);
    }

    fn slots_of(&self, thread: usize) -> &[Option<usize>] {
        self.slots.get(thread * self.width..(thread + 1) * self.width).unwrap_or_default()
    }

    /// Adds the threads that `start` leads to without an element.
    fn add(&mut self, program: &[Step], start: usize, position: usize, slots: &[Option<usize>]) {
        let mut slots = slots.to_vec();
        let mut left = vec![Left::Visit(start)];
        while let Some(work) = left.pop() {
            let at = match work {
                Left::Restore(slot, old) => {
                    slots.iter_mut().skip(slot).take(1).for_each(|kept| *kept = old);
                    continue;
                }
                Left::Visit(at) => at,
            };
            let Some(visited) = self.visited.get_mut(at) else { continue };
            if core::mem::replace(visited, true) {
                continue;
            }
            match program.get(at) {
                Some(Step::Jump(to)) => left.push(Left::Visit(*to)),
                Some(Step::Split(first, second)) => {
                    left.push(Left::Visit(*second));
                    left.push(Left::Visit(*first));
                }
                Some(&Step::Save(slot)) => {
                    if let Some(kept) = slots.get_mut(slot) {
                        left.push(Left::Restore(slot, kept.replace(position)));
                    }
                    left.push(Left::Visit(at + 1));
                }
                Some(Step::Element(_) | Step::End) => {
                    self.steps.push(at);
                    self.slots.extend_from_slice(&slots);
                }
                None => {}
            }
        }
    }
}

struct Compiler {
    steps: Vec<Step>,
    work: usize,
    limit: usize,
}

impl Compiler {
    fn push(&mut self, step: Step) -> Result<usize, TooLong> {
        if self.steps.len() >= self.limit {
            return Err(TooLong);
        }
        self.steps.push(step);
        Ok(self.steps.len() - 1)
    }

    fn set(&mut self, at: usize, step: Step) {
        self.steps.iter_mut().skip(at).take(1).for_each(|old| *old = step);
    }

    /// Compiles a part. Its depth is bounded by the parser.
    fn part(&mut self, part: &Part) -> Result<(), TooLong> {
        self.work += 1;
        if self.work > MAX_WORK {
            return Err(TooLong);
        }
        match part {
            Part::Element(test) => self.push(Step::Element(*test)).map(drop),
            Part::Sequence(parts) => parts.iter().try_for_each(|part| self.part(part)),
            Part::Choice(parts) => self.choice(parts),
            Part::Group { part, number } => {
                self.push(Step::Save(2 * number))?;
                self.part(part)?;
                self.push(Step::Save(2 * number + 1)).map(drop)
            }
            Part::Repeat { part, least, most } => {
                for _ in 0..*least {
                    self.part(part)?;
                }
                match most {
                    None => self.star(part),
                    Some(most) => self.up_to(part, most.saturating_sub(*least)),
                }
            }
        }
    }

    fn choice(&mut self, parts: &[Part]) -> Result<(), TooLong> {
        let Some((last, before)) = parts.split_last() else { return Ok(()) };
        let mut ends = Vec::new();
        for part in before {
            let split = self.push(Step::End)?;
            self.part(part)?;
            ends.push(self.push(Step::End)?);
            self.set(split, Step::Split(split + 1, self.steps.len()));
        }
        self.part(last)?;
        let end = self.steps.len();
        ends.into_iter().for_each(|at| self.set(at, Step::Jump(end)));
        Ok(())
    }

    fn star(&mut self, part: &Part) -> Result<(), TooLong> {
        let split = self.push(Step::End)?;
        self.part(part)?;
        self.push(Step::Jump(split))?;
        self.set(split, Step::Split(split + 1, self.steps.len()));
        Ok(())
    }

    fn up_to(&mut self, part: &Part, times: u32) -> Result<(), TooLong> {
        let mut splits = Vec::new();
        for _ in 0..times {
            splits.push(self.push(Step::End)?);
            self.part(part)?;
        }
        let end = self.steps.len();
        splits.into_iter().for_each(|split| self.set(split, Step::Split(split + 1, end)));
        Ok(())
    }
}
