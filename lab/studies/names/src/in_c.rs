//! The source's algorithms as a C program, timed block by block among the other schemes.
//!
//! A difference between the source and our code may be the compiler's. So the source's claims are judged on
//! its algorithms as it wrote them, in C and by a C compiler. The program is a separate process, which gets
//! the names of a workload once; it takes its turns as the other schemes do, over the same blocks and with
//! the same barriers.

use crate::blocks::{Block, Part};
use crate::packed::{COMPARED, Names};
use hashlane_lab::definition::subject;
use hashlane_lab::probe::c_program::{Compiler, HEADER, Program};
use std::cell::RefCell;
use std::rc::Rc;

/// Last part of the ids of these schemes, in place of the hash.
pub(crate) const HASH: &str = "crc32c-in-c";

/// The methods of the source's program, in its order.
const METHODS: [&str; 4] =
    ["one-by-one", "all-at-once", "one-by-one/longest-first", "all-at-once/longest-first"];

/// Place of the program's loop around no work, after the loops of its methods.
const NOTHING: usize = METHODS.len();

/// The optimisation that the source states, and the instruction that it uses.
pub(crate) const FLAGS: [&str; 2] = ["-O3", "-msse4.2"];

const TEXT: &str = include_str!("source.c");

// Requests, as `source.c` numbers them.
const LOAD: u64 = 0;
const EACH: u64 = 1;
const STREAM: u64 = 2;
const SUM: u64 = 3;

/// `true` for the id of a scheme of the source's program.
pub(crate) fn is_in_c(id: &str) -> bool {
    method(id).is_some()
}

/// The places of a scheme's encoding and method.
fn method(id: &str) -> Option<(usize, usize)> {
    let (encoding, rest) = subject(id).split_once('/')?;
    let method = rest.strip_suffix(HASH)?.strip_suffix('/')?;
    let encoding = COMPARED.iter().position(|id| *id == encoding)?;
    Some((encoding, METHODS.iter().position(|id| *id == method)?))
}

/// The running program.
pub(crate) struct Source {
    program: Rc<RefCell<Program>>,
    /// The compiler's words of itself.
    pub(crate) compiler: String,
}

impl Source {
    /// Compiles the program and starts it.
    ///
    /// # Errors
    /// There is no C compiler, or the program does not run; the CPU lacks the instruction.
    pub(crate) fn start() -> Result<Self, String> {
        #[cfg(target_arch = "x86_64")]
        if !std::arch::is_x86_feature_detected!("sse4.2") {
            return Err("this CPU has no CRC32C instruction".to_owned());
        }
        let compiler = Compiler::find()?;
        let program = Program::start(compiler.program(&format!("{HEADER}{TEXT}"), &FLAGS)?)?;
        let program = Rc::new(RefCell::new(program));
        Ok(Self { program, compiler: compiler.version().to_owned() })
    }

    /// Gives the program the names of a workload. A failure counts for all its methods.
    pub(crate) fn load(&self, names: &Names) {
        for (at, encoding) in COMPARED.iter().enumerate() {
            if let Some(packed) = names.packed(encoding) {
                let (ends, bytes) = packed.parts();
                let ends: Vec<u8> = ends.iter().flat_map(|end| end.to_ne_bytes()).collect();
                let mut words = [0; WORDS];
                (words[0], words[1], words[4], words[7]) =
                    (LOAD, at as u64, packed.len() as u64, bytes.len() as u64);
                self.program.borrow_mut().ask(&words, &[&ends, bytes], &mut [0; 8]);
            }
        }
    }

    /// The timed method of a scheme; `None` if it is not one of the program's.
    pub(crate) fn method(&self, id: &str) -> Option<InC> {
        let (encoding, method) = method(id)?;
        Some(self.timed(encoding, method))
    }

    fn timed(&self, encoding: usize, method: usize) -> InC {
        InC { program: self.program.clone(), encoding, method }
    }

    /// The program's loop around no work, over the names of the study's `ndn`.
    pub(crate) fn empty(&self) -> InC {
        self.timed(COMPARED.iter().position(|id| *id == "ndn").unwrap_or_default(), NOTHING)
    }
}

/// Words of a request, as `source.c` names them: what, encoding, way, first, count, warm_first, warm_count,
/// units.
const WORDS: usize = 8;

/// A method over an encoding, by the source's program.
pub(crate) struct InC {
    program: Rc<RefCell<Program>>,
    encoding: usize,
    method: usize,
}

impl InC {
    fn ask(&self, what: u64, names: &Part<'_>, warm: &Part<'_>, units: usize, answer: &mut [u8]) {
        let [encoding, method, first, count, warm_first, warm_count, units] =
            [self.encoding, self.method, names.first, names.names.len(), warm.first, warm.names.len(), units]
                .map(|number| number as u64);
        let words = [what, encoding, method, first, count, warm_first, warm_count, units];
        self.program.borrow_mut().ask(&words, &[], answer);
    }

    pub(crate) fn each(&self, block: &Block<'_>, units: usize, samples: &mut Vec<u32>) {
        let mut answer = vec![0; 4 * block.names.names.len().div_ceil(units)];
        self.ask(EACH, &block.names, &block.warm, units, &mut answer);
        samples.extend(answer.as_chunks().0.iter().map(|count| u32::from_ne_bytes(*count)));
    }

    pub(crate) fn stream(&self, block: &Block<'_>, units: usize) -> u64 {
        let mut answer = [0; 8];
        self.ask(STREAM, &block.names, &block.warm, units, &mut answer);
        u64::from_ne_bytes(answer)
    }

    pub(crate) fn digest(&self, names: &Part<'_>) -> u64 {
        let mut answer = [0; 8];
        self.ask(SUM, names, names, 1, &mut answer);
        u64::from_ne_bytes(answer)
    }

    pub(crate) fn failure(&self) -> Option<String> {
        self.program.borrow().failure().map(str::to_owned)
    }
}
