//! A function of the running program, or of an object file: its symbol and its machine code, as assembly.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hint::black_box;

use iced_x86::{
    Decoder, DecoderOptions, FlowControl, Formatter, GasFormatter, Instruction, OpKind, SymbolResolver,
    SymbolResult,
};
use object::{Architecture, Object, ObjectSection, ObjectSymbol, SymbolKind};

/// A function of the running program or of an object file, on x86-64 and out of an ELF file that still has
/// its symbols.
#[derive(Clone, Debug)]
pub struct Function {
    symbol: String,
    instructions: usize,
    assembly: String,
    calls: usize,
    loops: bool,
}

/// Error of another processor or file.
const UNSUPPORTED: &str = "machine code is read only from ELF files for x86-64";

fn no_code(symbol: &str, offset: u64) -> String {
    format!("{symbol}: invalid machine code at byte {offset}")
}

fn unparsed(error: object::Error) -> String {
    format!("the program's own file cannot be parsed: {error}")
}

impl Function {
    /// The function that begins at `address` in this process: `f as fn(…) -> … as usize`.
    ///
    /// Reads and parses the whole executable; not for use within anything that is timed. A function that the
    /// compiler found equal to another may share its address; its symbol is then the first of theirs.
    ///
    /// # Errors
    /// The processor is not x86-64 or the file not ELF; the executable is gone or has no symbols; or no
    /// function begins at the address, as in a shared library.
    pub fn at(address: usize) -> Result<Self, String> {
        if !cfg!(target_arch = "x86_64") {
            return Err(UNSUPPORTED.to_owned());
        }
        let executable = std::env::current_exe()
            .and_then(fs::read)
            .map_err(|error| format!("the program's own file cannot be read: {error}"))?;
        if !executable.starts_with(&object::elf::ELFMAG) {
            return Err(UNSUPPORTED.to_owned());
        }
        let file = object::File::parse(executable.as_slice()).map_err(unparsed)?;
        if file.architecture() != Architecture::X86_64 {
            return Err(UNSUPPORTED.to_owned());
        }
        let symbols = Symbols::of(&file);
        let bias = load_bias(&symbols).ok_or("the program's own file has no symbols; it was stripped")?;
        let at = (address as u64).wrapping_sub(bias);
        let symbol = symbols.0.get(&at);
        let symbol = symbol.ok_or_else(|| format!("no function of the program begins at {address:#x}"))?;
        let code = file.sections().find_map(|section| section.data_range(at, symbol.len).ok().flatten());
        Self::disassemble(&symbols, symbol, at, code.ok_or_else(|| no_code(&symbol.demangled(), 0))?)
    }

    /// The function `name` of an object file for x86-64, before it is linked: the targets of its calls and
    /// the addresses of its data are not final.
    ///
    /// # Errors
    /// The bytes are no such file, or it has no such function.
    pub fn in_object(bytes: &[u8], name: &str) -> Result<Self, String> {
        let file = object::File::parse(bytes).map_err(unparsed)?;
        if file.architecture() != Architecture::X86_64 || !bytes.starts_with(&object::elf::ELFMAG) {
            return Err(UNSUPPORTED.to_owned());
        }
        let no_code = || no_code(name, 0);
        let found = file.symbols().find(|s| s.kind() == SymbolKind::Text && s.name() == Ok(name));
        let found = found.ok_or_else(no_code)?;
        let section = found.section_index().and_then(|index| file.section_by_index(index).ok());
        let code =
            section.and_then(|section| section.data_range(found.address(), found.size()).ok().flatten());
        let symbol = Symbol { name: name.to_owned(), len: found.size() };
        Self::disassemble(&Symbols(BTreeMap::new()), &symbol, found.address(), code.ok_or_else(no_code)?)
    }

    fn disassemble(symbols: &Symbols, symbol: &Symbol, at: u64, bytes: &[u8]) -> Result<Self, String> {
        let instructions: Vec<_> = Decoder::with_ip(64, bytes, at, DecoderOptions::NONE).iter().collect();
        if let Some(wrong) = instructions.iter().find(|instruction| instruction.is_invalid()) {
            return Err(no_code(&symbol.demangled(), wrong.ip() - at));
        }
        let code = Code { start: at, end: at + symbol.len, symbols };
        Ok(Self {
            symbol: symbol.demangled(),
            instructions: instructions.len(),
            assembly: code.print(&instructions),
            calls: instructions.iter().filter(|i| code.leaves(i)).count(),
            loops: instructions.iter().any(|i| code.jump(i).is_some_and(|to| to <= i.ip())),
        })
    }

    /// The function without the instructions that call another: only for a simulation.
    #[must_use]
    pub fn without_calls(&self) -> Self {
        let is_call = |line: &&str| line.starts_with("\tcall");
        let removed = self.assembly.lines().filter(is_call).count();
        let assembly = self.assembly.lines().filter(|line| !is_call(line)).map(|line| format!("{line}\n"));
        Self {
            assembly: assembly.collect(),
            instructions: self.instructions.saturating_sub(removed),
            calls: self.calls.saturating_sub(removed),
            ..self.clone()
        }
    }

    /// The demangled symbol, without its hash.
    pub fn symbol(&self) -> &str {
        &self.symbol
    }

    /// Number of instructions, each counted once.
    pub fn instructions(&self) -> usize {
        self.instructions
    }

    /// The instructions in AT&T syntax, one a line; targets of jumps are labels, data and other functions
    /// symbols.
    pub fn assembly(&self) -> &str {
        &self.assembly
    }

    /// Number of instructions that call another function or jump into it.
    pub fn calls(&self) -> usize {
        self.calls
    }

    /// `true` if an instruction jumps back. Jumps through a table are not followed and do not count.
    pub fn loops(&self) -> bool {
        self.loops
    }
}

/// Anchor of the load bias, which is its address in the process less its address in the file.
///
/// A unique return value keeps the compiler from merging it with another function.
#[inline(never)]
fn anchor(x: u64) -> u64 {
    black_box(x ^ 0x6d63_615f_616e_6368)
}

/// `None` if the anchor is not among the symbols.
fn load_bias(symbols: &Symbols) -> Option<u64> {
    let wanted = concat!(module_path!(), "::anchor");
    let (at, _) = symbols.0.iter().find(|(_, symbol)| symbol.demangled() == wanted)?;
    let address = black_box(anchor as fn(u64) -> u64) as usize;
    Some((address as u64).wrapping_sub(*at))
}

/// The functions of a file by their addresses in it.
struct Symbols(BTreeMap<u64, Symbol>);

struct Symbol {
    name: String,
    len: u64,
}

impl Symbols {
    fn of(file: &object::File<'_>) -> Self {
        let mut functions: BTreeMap<u64, Symbol> = BTreeMap::new();
        for symbol in file.symbols().filter(|s| s.kind() == SymbolKind::Text && s.size() > 0) {
            let Ok(name) = symbol.name() else { continue };
            let first = functions.get(&symbol.address()).is_none_or(|other| name < other.name.as_str());
            if first {
                functions.insert(symbol.address(), Symbol { name: name.to_owned(), len: symbol.size() });
            }
        }
        Self(functions)
    }
}

impl Symbol {
    fn demangled(&self) -> String {
        format!("{:#}", rustc_demangle::demangle(&self.name))
    }
}

/// Position of a function in the file, and the bytes around it.
struct Code<'a> {
    start: u64,
    end: u64,
    symbols: &'a Symbols,
}

impl Code<'_> {
    fn print(&self, instructions: &[Instruction]) -> String {
        let labels: BTreeSet<u64> = instructions.iter().filter_map(|i| self.jump(i)).collect();
        let mut formatter = GasFormatter::with_options(Some(Box::new(self.names())), None);
        formatter.options_mut().set_rip_relative_addresses(true);
        formatter.options_mut().set_uppercase_hex(false);
        let mut assembly = String::new();
        for instruction in instructions {
            if labels.contains(&instruction.ip()) {
                assembly.push_str(&label(instruction.ip() - self.start));
                assembly.push_str(":\n");
            }
            assembly.push('\t');
            formatter.format(instruction, &mut assembly);
            assembly.push('\n');
        }
        assembly
    }

    /// The names of everything that the instructions may refer to; the formatter keeps them.
    fn names(&self) -> Names {
        let functions = self.symbols.0.iter().map(|(&at, symbol)| (at, identifier(&symbol.name))).collect();
        Names { start: self.start, end: self.end, functions }
    }

    /// Target of a jump within the function.
    fn jump(&self, instruction: &Instruction) -> Option<u64> {
        let jumps = matches!(
            instruction.flow_control(),
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch
        );
        let to = instruction.near_branch_target();
        (jumps && (self.start..self.end).contains(&to)).then_some(to)
    }

    /// `true` if an instruction calls a function or jumps into another.
    fn leaves(&self, instruction: &Instruction) -> bool {
        match instruction.flow_control() {
            FlowControl::Call | FlowControl::IndirectCall => true,
            FlowControl::UnconditionalBranch | FlowControl::ConditionalBranch => {
                self.jump(instruction).is_none()
            }
            // By way of the table of addresses that the loader fills; a table of jumps is read into a
            // register first.
            FlowControl::IndirectBranch => instruction.is_ip_rel_memory_operand(),
            _ => false,
        }
    }
}

/// Symbols in place of addresses.
struct Names {
    start: u64,
    end: u64,
    functions: BTreeMap<u64, String>,
}

impl SymbolResolver for Names {
    fn symbol(
        &mut self,
        instruction: &Instruction,
        _operand: u32,
        instruction_operand: Option<u32>,
        address: u64,
        _address_size: u32,
    ) -> Option<SymbolResult<'_>> {
        // Else it is a constant or an offset, which may look like an address.
        match instruction.op_kind(instruction_operand?) {
            OpKind::NearBranch64 => {}
            OpKind::Memory if instruction.is_ip_rel_memory_operand() => {}
            _ => return None,
        }
        let inside = (self.start..self.end).contains(&address);
        let name = match self.functions.get(&address) {
            _ if inside && instruction.flow_control() != FlowControl::Call => label(address - self.start),
            Some(name) => name.clone(),
            None => format!("at_{address:x}"),
        };
        Some(SymbolResult::with_string(address, name))
    }
}

/// The label of an instruction, by its offset.
fn label(offset: u64) -> String {
    format!(".L{offset:x}")
}

/// A symbol as every assembler takes it: no version, no punctuation.
fn identifier(symbol: &str) -> String {
    symbol.chars().map(|c| if c.is_ascii_alphanumeric() || c == '.' { c } else { '_' }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    static STEP: u64 = 7;

    // Bit operations alone: they have the same calls and loops with and without optimisation.

    #[inline(never)]
    fn straight(x: u64) -> u64 {
        x ^ 0x9e37_79b9_7f4a_7c15
    }

    #[inline(never)]
    fn looping(x: u64) -> (u64, &'static u64) {
        let (mut sum, mut left) = (0, x);
        while left != 0 {
            sum ^= left;
            left >>= 1;
        }
        (sum, &STEP)
    }

    #[inline(never)]
    fn calling(x: u64) -> u64 {
        straight(x) ^ 3
    }

    fn read(address: usize) -> Function {
        Function::at(address).unwrap()
    }

    #[test]
    #[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), ignore = "another processor or system")]
    fn reads_a_function_of_this_program() {
        let function = read(straight as fn(u64) -> u64 as usize);
        assert_eq!(function.symbol(), "hashlane_lab::probe::mca::function::tests::straight");
        assert_eq!((function.calls(), function.loops()), (0, false));
        assert_eq!(function.assembly().lines().count(), function.instructions());
        assert!(function.assembly().contains("$0x9e3779b97f4a7c15,"), "{}", function.assembly());
        assert!(function.assembly().ends_with("\tret\n"), "{}", function.assembly());
    }

    #[test]
    #[cfg_attr(not(all(target_arch = "x86_64", target_os = "linux")), ignore = "another processor or system")]
    fn detects_loops_and_calls() {
        let function = read(looping as fn(u64) -> (u64, &'static u64) as usize);
        assert!(function.loops());
        assert_eq!(function.calls(), 0);
        let labels: Vec<_> = function.assembly().lines().filter_map(|line| line.strip_suffix(':')).collect();
        assert!(!labels.is_empty());
        for label in labels {
            assert!(function.assembly().contains(&format!("\t{label}\n").replace('\t', " ")), "{label}");
        }
        assert!(function.assembly().contains("(%rip)"), "{}", function.assembly());

        let function = read(calling as fn(u64) -> u64 as usize);
        assert_eq!((function.calls(), function.loops()), (1, false));
        assert!(function.assembly().contains("straight"), "{}", function.assembly());
    }

    #[test]
    fn refuses_an_address_that_no_function_begins_at() {
        let error = Function::at(straight as fn(u64) -> u64 as usize + 1).unwrap_err();
        let is_read = cfg!(all(target_arch = "x86_64", target_os = "linux"));
        assert!(
            error.starts_with(if is_read { "no function of the program" } else { UNSUPPORTED }),
            "{error}"
        );
    }
}
