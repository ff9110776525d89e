//! The source's hashes in C: timed among the others, and simulated as gcc compiles them.
//!
//! The source compiled Linux's C by gcc. A difference between it and our code may be the compiler's, so its
//! claims are judged on C. The program is a separate process, which gets the tuples once and takes its
//! turns as the other schemes do.

use crate::timed_hash::TimedHash;
use hashlane_baseline::ehash::Secrets;
use hashlane_flow::tuple::Tuple;
use hashlane_hash::scheme::Key;
use hashlane_lab::definition::subject;
use hashlane_lab::probe::c_program::{Compiler, HEADER, Program};
use hashlane_lab::probe::mca::Function;
use std::cell::RefCell;
use std::rc::Rc;

/// Manner of calling in the ids of these schemes: `jhash2/in-c`.
pub(crate) const MANNER: &str = "in-c";

/// The hashes, in the order of `timing.c`.
pub(crate) const HASHES: [&str; 5] = ["base", "v1", "jhash2", "hsiphash", "siphash"];

/// The flags of the source's Makefile.
pub(crate) const FLAGS: [&str; 2] = ["-O2", "-march=x86-64-v2"];

const SOURCE: &str = include_str!("source.c");
const TIMING: &str = include_str!("timing.c");

/// Before the source's text where it is simulated: the key is the source's, a constant of the code.
const SIMULATED: &str = "#include <stdint.h>\n#include <stdlib.h>\n#define SOURCE_KEY\n";

// Requests, as `timing.c` numbers them.
const THROUGHPUT: u64 = 0;
const LATENCY: u64 = 1;
const SUM: u64 = 2;
const LOAD: u64 = 3;

/// `true` for the id of a scheme in C.
pub(crate) fn is_in_c(id: &str) -> bool {
    place(id).is_some()
}

fn place(id: &str) -> Option<u64> {
    let (hash, manner) = subject(id).split_once('/')?;
    let place = HASHES.iter().position(|id| *id == hash).filter(|_| manner == MANNER)?;
    Some(place as u64)
}

/// The running program.
pub(crate) struct Source {
    state: Rc<RefCell<State>>,
    /// The compiler's words of itself.
    pub(crate) compiler: String,
}

struct State {
    program: Program,
    secrets: Secrets,
    /// The tuples that the program has.
    tuples: Vec<Tuple>,
}

impl Source {
    /// Compiles the program and starts it, for hashes under `key`.
    ///
    /// # Errors
    /// There is no C compiler, or the program does not run.
    pub(crate) fn start(key: &Key) -> Result<Self, String> {
        let compiler = Compiler::find()?;
        let built = compiler.program(&[HEADER, SOURCE, TIMING].concat(), &FLAGS)?;
        let program = Program::start(built)?;
        let state = State { program, secrets: Secrets::new(key), tuples: Vec::new() };
        Ok(Self { state: Rc::new(RefCell::new(state)), compiler: compiler.version().to_owned() })
    }

    /// The timed hash of a scheme; `None` if it is not in C.
    pub(crate) fn hash(&self, id: &str) -> Option<InC> {
        Some(InC { state: self.state.clone(), hash: place(id)? })
    }
}

/// The machine code of the hashes of `ids` as the C compiler makes it, and the compiler's words of itself.
///
/// # Errors
/// There is no C compiler, or its object file is not one for x86-64; the reason in words.
pub(crate) fn functions(ids: &[String]) -> Result<(Vec<(String, Function)>, String), String> {
    let compiler = Compiler::find()?;
    let object = compiler.object(&[SIMULATED, SOURCE].concat(), &FLAGS)?;
    let function = |id: &String| {
        let function = Function::in_object(&object, id).map_err(|error| format!("{id}: {error}"))?;
        Ok((id.clone(), function))
    };
    let functions = ids.iter().map(function).collect::<Result<_, String>>()?;
    Ok((functions, compiler.version().to_owned()))
}

/// A hash of the program.
pub(crate) struct InC {
    state: Rc<RefCell<State>>,
    hash: u64,
}

impl InC {
    fn ask(&self, what: u64, tuples: &[Tuple], passes: usize) -> u64 {
        let mut state = self.state.borrow_mut();
        if state.tuples != tuples {
            state.load(tuples);
        }
        state.ask([what, self.hash, passes as u64, 0, 0, 0, 0, 0, 0], &[])
    }
}

impl State {
    fn load(&mut self, tuples: &[Tuple]) {
        self.tuples = tuples.to_vec();
        let Secrets { ehash, ipv6, mix, key } = self.secrets;
        let [ehash, ipv6, mix] = [ehash, ipv6, mix].map(u64::from);
        let key = u128::from_le_bytes(key.to_bytes());
        let (key_0, key_1) = (key as u64, (key >> 64) as u64);
        let bytes: Vec<u8> = tuples.iter().flat_map(|tuple| *tuple.as_bytes()).collect();
        self.ask([LOAD, 0, 0, tuples.len() as u64, ehash, ipv6, mix, key_0, key_1], &bytes);
    }

    fn ask(&mut self, words: [u64; 9], bytes: &[u8]) -> u64 {
        let mut answer = [0; 8];
        self.program.ask(&words, &[bytes], &mut answer);
        u64::from_ne_bytes(answer)
    }
}

impl TimedHash for InC {
    fn throughput(&mut self, tuples: &[Tuple]) -> u64 {
        self.throughputs(tuples, 1)
    }

    fn latency(&mut self, tuples: &[Tuple]) -> Option<u64> {
        self.latencies(tuples, 1)
    }

    fn throughputs(&mut self, tuples: &[Tuple], passes: usize) -> u64 {
        self.ask(THROUGHPUT, tuples, passes)
    }

    fn latencies(&mut self, tuples: &[Tuple], passes: usize) -> Option<u64> {
        Some(self.ask(LATENCY, tuples, passes))
    }

    fn sum(&mut self, tuples: &[Tuple]) -> u64 {
        self.ask(SUM, tuples, 1)
    }

    fn failure(&self) -> Option<String> {
        self.state.borrow().program.failure().map(str::to_owned)
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::hashes;
    use crate::tuples::TupleSet;
    use hashlane_lab::probe::c_program::compiler_or_skip;

    #[test]
    fn the_program_gives_our_hashes_of_every_set() {
        if compiler_or_skip().is_none() {
            return;
        }
        for key in [Key::VECTOR, Key::new([0x5a; 16])] {
            let source = Source::start(&key).unwrap();
            for set in TupleSet::ALL {
                let tuples = set.generate(512, 2015, u64::MAX).unwrap();
                for hash in HASHES {
                    let mut subject = source.hash(&format!("{hash}/in-c")).unwrap();
                    let mut ours = hashes::tuples(&format!("{hash}/single"), &key).unwrap();
                    for tuples in [&tuples[..], &tuples[..1], &tuples[..0]] {
                        assert_eq!(subject.sum(tuples), ours.sum(tuples), "{hash}, {set}");
                    }
                    assert!(subject.throughputs(&tuples, 2) > 0 && subject.latencies(&tuples, 2) > Some(0));
                    assert_eq!(subject.failure(), None);
                }
            }
        }
    }

    #[test]
    fn the_simulated_code_has_the_two_cold_calls() {
        if compiler_or_skip().is_none() {
            return;
        }
        let (functions, compiler) = functions(&HASHES.map(str::to_owned)).unwrap();
        assert!(!compiler.is_empty());
        for (id, function) in functions {
            assert_eq!((function.calls(), function.loops()), (2, true), "{id}: back from the cold arm");
            let alone = function.without_calls();
            assert_eq!((alone.calls(), alone.instructions()), (0, function.instructions() - 2), "{id}");
            assert!(!alone.assembly().contains("call"), "{}", alone.assembly());
        }
    }
}
