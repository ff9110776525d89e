//! Targets of rules, sets of lists, and the verdict on a name.

use bytemuck::{Pod, Zeroable};

/// Lists that rules may belong to.
pub const MAX_LISTS: usize = 64;

/// The names that a rule covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Target {
    /// The name of the rule alone.
    Exact,
    /// All names below the name of the rule.
    Below,
    /// The name of the rule and all names below it.
    Subtree,
    /// Names one label below the name of the rule: `*.` of the public suffix list.
    OneBelow,
}

/// Sets of lists, a bit for each, by the target of their rules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Targets {
    pub(crate) exact: u64,
    pub(crate) below: u64,
    pub(crate) one_below: u64,
}

impl Targets {
    /// The lists of rules that cover a name which has `labels` labels more than the rules.
    #[inline(always)]
    const fn covering(&self, labels: usize) -> u64 {
        match labels {
            0 => self.exact,
            1 => self.below | self.one_below,
            _ => self.below,
        }
    }

    fn add(&mut self, target: Target, list: u64) {
        match target {
            Target::Exact => self.exact |= list,
            Target::Below => self.below |= list,
            Target::Subtree => {
                self.exact |= list;
                self.below |= list;
            }
            Target::OneBelow => self.one_below |= list,
        }
    }

    /// The target of the rule of a list which covers a name that has `labels` labels more. Of one list,
    /// [`Target::Exact`] and [`Target::Below`] are [`Target::Subtree`].
    fn target(&self, list: usize, labels: usize) -> Option<Target> {
        let has = |lists: u64| lists >> (list % MAX_LISTS) & 1 == 1;
        match (has(self.exact), has(self.below)) {
            (true, true) => Some(Target::Subtree),
            (true, false) if labels == 0 => Some(Target::Exact),
            (false, true) if labels > 0 => Some(Target::Below),
            _ => (labels == 1 && has(self.one_below)).then_some(Target::OneBelow),
        }
    }

    const fn union(self, other: Self) -> Self {
        Self {
            exact: self.exact | other.exact,
            below: self.below | other.below,
            one_below: self.one_below | other.one_below,
        }
    }
}

/// The rules of one name: the lists that they belong to, and the lists that they are exceptions from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub struct Lists {
    pub(crate) rules: Targets,
    pub(crate) exceptions: Targets,
}

impl Lists {
    /// One rule of list number `list`, below [`MAX_LISTS`].
    pub(crate) fn one(list: usize, target: Target, exception: bool) -> Self {
        let mut lists = Self::default();
        let targets = if exception { &mut lists.exceptions } else { &mut lists.rules };
        targets.add(target, 1 << (list % MAX_LISTS));
        lists
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self { rules: self.rules.union(other.rules), exceptions: self.exceptions.union(other.exceptions) }
    }
}

/// The rules that cover a name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    matched: u64,
    excepted: u64,
    /// Labels of the longest rule that covers the name, exceptions included; 0 without any.
    depth: u8,
    is_exception: bool,
}

impl Verdict {
    /// The lists that have a rule which covers the name, and no exception that does: a bit for each, the
    /// lowest for list 0.
    #[inline(always)]
    pub const fn lists(&self) -> u64 {
        self.matched & !self.excepted
    }

    /// The lists that have an exception which covers the name.
    #[inline(always)]
    pub const fn excepted(&self) -> u64 {
        self.excepted
    }

    /// Labels of the longest rule or exception that covers the name.
    #[inline(always)]
    pub fn depth(&self) -> Option<usize> {
        (self.depth > 0).then_some(self.depth.into())
    }

    /// True if the longest of them is an exception.
    #[inline(always)]
    pub const fn is_exception(&self) -> bool {
        self.is_exception
    }

    /// Takes the rules of the name's last `depth` labels, of `labels`. Longer ones come after shorter ones.
    #[inline(always)]
    pub(crate) fn add(&mut self, lists: &Lists, depth: usize, labels: usize) {
        let (matched, excepted) =
            (lists.rules.covering(labels - depth), lists.exceptions.covering(labels - depth));
        if matched | excepted != 0 {
            (self.depth, self.is_exception) = (depth as u8, excepted != 0);
        }
        self.matched |= matched;
        self.excepted |= excepted;
    }
}

/// The rules of one suffix of a name that cover the name.
#[derive(Clone, Copy, Debug)]
pub struct Covering<'a> {
    lists: &'a Lists,
    /// Labels of the suffix.
    depth: usize,
    /// Labels of the name before the suffix.
    more: usize,
}

impl<'a> Covering<'a> {
    /// The rules of the last `depth` labels of a name with `labels`. `None` if no rule covers the name.
    #[inline]
    pub(crate) fn new(lists: &'a Lists, depth: usize, labels: usize) -> Option<Self> {
        let covering = Self { lists, depth, more: labels.checked_sub(depth)? };
        (covering.lists() | covering.excepted() != 0).then_some(covering)
    }

    /// Labels of the suffix.
    pub const fn depth(&self) -> usize {
        self.depth
    }

    /// The lists with a rule that covers the name: a bit for each, the lowest for list 0.
    pub const fn lists(&self) -> u64 {
        self.lists.rules.covering(self.more)
    }

    /// The lists with an exception that covers the name.
    pub const fn excepted(&self) -> u64 {
        self.lists.exceptions.covering(self.more)
    }

    /// The target of the rule of one list. `None` if that list has no rule here which covers the name. Of
    /// one list, [`Target::Exact`] and [`Target::Below`] are [`Target::Subtree`].
    pub fn target(&self, list: usize) -> Option<Target> {
        self.lists.rules.target(list, self.more)
    }
}
