//! The call graph, and the shortest path in it between two sets of functions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The direct calls of a binary, and the jumps out of functions. Functions are their addresses.
///
/// A call through a pointer that the code computes, such as one of a `dyn` method, is no edge.
#[derive(Debug, Default)]
pub(super) struct Calls {
    callees: BTreeMap<u64, BTreeSet<u64>>,
}

impl FromIterator<(u64, BTreeSet<u64>)> for Calls {
    fn from_iter<T: IntoIterator<Item = (u64, BTreeSet<u64>)>>(functions: T) -> Self {
        Self { callees: functions.into_iter().collect() }
    }
}

impl Calls {
    /// The shortest path from any of `from` to any of `to`, both ends included; one function if it is in
    /// both.
    pub(super) fn path(&self, from: &[u64], to: &[u64]) -> Option<Vec<u64>> {
        // The caller of each function reached; the functions of `from` are their own.
        let mut callers: BTreeMap<u64, u64> = from.iter().map(|function| (*function, *function)).collect();
        let mut next: VecDeque<u64> = from.iter().copied().collect();
        while let Some(function) = next.pop_front() {
            if to.contains(&function) {
                return Some(back(&callers, function));
            }
            for callee in self.callees.get(&function).into_iter().flatten() {
                callers.entry(*callee).or_insert_with(|| {
                    next.push_back(*callee);
                    function
                });
            }
        }
        None
    }

    /// Callers of the functions in `of`, without members of `of`.
    pub(super) fn callers(&self, of: &[u64]) -> Vec<u64> {
        let calls = |callees: &BTreeSet<u64>| of.iter().any(|function| callees.contains(function));
        let callers = self.callees.iter().filter(|(caller, callees)| !of.contains(caller) && calls(callees));
        callers.map(|(caller, _)| *caller).collect()
    }
}

/// The path that ends at `function`, from its start.
fn back(callers: &BTreeMap<u64, u64>, function: u64) -> Vec<u64> {
    let mut path = vec![function];
    let mut at = function;
    while let Some(caller) = callers.get(&at).filter(|caller| **caller != at) {
        path.push(*caller);
        at = *caller;
    }
    path.reverse();
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 1 calls 2 and 3, 2 calls 1 and 4, 3 calls itself, 4 calls 5; 6 calls 5.
    fn calls() -> Calls {
        let edges: [(u64, &[u64]); 5] = [(1, &[2, 3]), (2, &[1, 4]), (3, &[3]), (4, &[5]), (6, &[5])];
        edges.into_iter().map(|(caller, callees)| (caller, callees.iter().copied().collect())).collect()
    }

    #[test]
    fn finds_the_shortest_path_through_other_functions() {
        assert_eq!(calls().path(&[1], &[5]), Some(vec![1, 2, 4, 5]));
        assert_eq!(calls().path(&[1, 4], &[5]), Some(vec![4, 5]));
        assert_eq!(calls().path(&[1], &[5, 2]), Some(vec![1, 2]));
    }

    #[test]
    fn a_function_is_a_path_to_itself() {
        assert_eq!(calls().path(&[5], &[5]), Some(vec![5]));
    }

    #[test]
    fn finds_no_path_against_the_calls_or_out_of_a_loop() {
        assert_eq!(calls().path(&[5], &[1]), None);
        assert_eq!(calls().path(&[3], &[5]), None);
        assert_eq!(calls().path(&[], &[5]), None);
        assert_eq!(calls().path(&[1], &[]), None);
    }

    #[test]
    fn names_the_callers_of_a_function_but_itself() {
        assert_eq!(calls().callers(&[5]), [4, 6]);
        assert_eq!(calls().callers(&[3]), [1]);
    }
}
