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

    #[inline(always)]
    const fn all(&self) -> u64 {
        self.exact | self.below | self.one_below
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
    /// Lists that have the name without a rule, or one below it.
    pub(crate) above: u64,
}

impl Lists {
    /// One rule of list number `list`, below [`MAX_LISTS`].
    pub(crate) fn one(list: usize, target: Target, exception: bool) -> Self {
        let mut lists = Self::default();
        let targets = if exception { &mut lists.exceptions } else { &mut lists.rules };
        targets.add(target, 1 << (list % MAX_LISTS));
        lists
    }

    /// A name of list number `list` without a rule, or above those of rules.
    pub(crate) fn above(list: usize) -> Self {
        Self { above: 1 << (list % MAX_LISTS), ..Self::default() }
    }

    pub(crate) const fn union(self, other: Self) -> Self {
        Self {
            rules: self.rules.union(other.rules),
            exceptions: self.exceptions.union(other.exceptions),
            above: self.above | other.above,
        }
    }

    /// True if they are not only of a name above others.
    pub(crate) const fn has_rules(&self) -> bool {
        self.rules.all() | self.exceptions.all() != 0
    }

    /// The lists that have the name: for a rule, for an exception, or above one.
    #[inline(always)]
    pub(crate) const fn having(&self) -> u64 {
        self.rules.all() | self.exceptions.all() | self.above
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

    /// The lists that have an exception which covers the name, except the lists of
    /// [`closest_wins`](crate::Builder::closest_wins).
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

    /// Takes the rules of the name's last `depth` labels, of `labels`. Longer ones come after shorter ones;
    /// in the lists `closest`, the last that have the name decide.
    #[inline(always)]
    pub(crate) fn add(&mut self, lists: &Lists, depth: usize, labels: usize, closest: u64) {
        let (matched, excepted) =
            (lists.rules.covering(labels - depth), lists.exceptions.covering(labels - depth));
        if matched | excepted != 0 {
            (self.depth, self.is_exception) = (depth as u8, excepted != 0);
        }
        self.matched = self.matched & !(lists.having() & closest) | matched & !(excepted & closest);
        self.excepted |= excepted & !closest;
    }
}

/// The rules that cover all names more than one label below a suffix: the rules of the suffixes above it, as
/// they change a verdict.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
#[repr(C)]
pub(crate) struct Inherited {
    matched: u64,
    excepted: u64,
    /// Lists whose earlier rules no longer decide.
    decided: u64,
    /// Labels of the longest of the rules and exceptions; 0 without any.
    depth: u32,
    is_exception: u32,
}

impl Inherited {
    /// The lists that match or are excepted.
    pub(crate) const fn lists(&self) -> u64 {
        self.matched | self.excepted
    }

    /// Adds the rules of the suffix with `depth` labels, which is longer than those before.
    pub(crate) fn with(mut self, lists: &Lists, depth: usize, closest: u64) -> Self {
        let (matched, excepted) = (lists.rules.below, lists.exceptions.below);
        if matched | excepted != 0 {
            (self.depth, self.is_exception) = (depth as u32, (excepted != 0).into());
        }
        let decided = lists.having() & closest;
        self.matched = self.matched & !decided | matched & !(excepted & closest);
        self.excepted |= excepted & !closest;
        self.decided |= decided;
        self
    }
}

impl Verdict {
    /// Takes the rules of all suffixes above one, which are longer than those before or among them.
    #[inline(always)]
    pub(crate) fn inherit(&mut self, inherited: &Inherited) {
        if inherited.depth != 0 {
            (self.depth, self.is_exception) = (inherited.depth as u8, inherited.is_exception != 0);
        }
        self.matched = self.matched & !inherited.decided | inherited.matched;
        self.excepted |= inherited.excepted;
    }
}

/// A rule that covers a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Match {
    /// Number of its list.
    pub list: usize,
    /// Labels of its name.
    pub depth: usize,
    /// Its target. Two rules of one list with the targets [`Exact`](Target::Exact) and
    /// [`Below`](Target::Below) are one with [`Subtree`](Target::Subtree).
    pub target: Target,
}

impl Lists {
    /// The rules of `lists` among these, which are `labels` labels shorter than the name.
    pub(crate) fn matches(&self, mut lists: u64, depth: usize, labels: usize) -> impl Iterator<Item = Match> {
        lists &= self.rules.covering(labels);
        core::iter::from_fn(move || {
            while lists != 0 {
                let list = lists.trailing_zeros() as usize;
                lists &= lists - 1;
                if let Some(target) = self.rules.target(list, labels) {
                    return Some(Match { list, depth, target });
                }
            }
            None
        })
    }
}
