//! The functions of an executable, by demangled name: instructions and calls.

use super::calls::Calls;
use iced_x86::{
    Code, Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind, Register,
};
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget, SymbolKind};
use std::cell::OnceCell;
use std::collections::BTreeMap;

/// An executable for x86-64.
pub(super) struct Binary<'a> {
    file: object::File<'a>,
    /// Sorted by address.
    functions: BTreeMap<u64, Function>,
    /// Functions whose addresses the loader writes, by the place that it writes to.
    slots: BTreeMap<u64, Callee>,
    /// Computed on first use, by disassembling the whole binary.
    call_graph: OnceCell<Calls>,
}

/// Target of a call.
#[derive(Clone)]
enum Callee {
    /// An address in the executable.
    At(u64),
    /// A function elsewhere, or a description of an unknown one.
    Named(String),
}

/// A function of the executable.
pub(super) struct Function {
    /// The demangled symbol, without its hash.
    pub(super) name: String,
    pub(super) at: u64,
    len: u64,
}

/// One instruction.
pub(super) struct Line {
    /// Bytes from the start of the function.
    pub(super) offset: u64,
    /// The mnemonic in lower case, with the operand width as a suffix if it has several: `crc32q`.
    pub(super) mnemonic: String,
    /// The instruction as text.
    pub(super) text: String,
    /// The target of a call or of a tail call.
    pub(super) calls: Option<String>,
}

impl<'a> Binary<'a> {
    /// Reads the symbols of an ELF file.
    ///
    /// # Errors
    /// The bytes are not an ELF file that this program can read.
    pub(super) fn parse(octets: &'a [u8]) -> object::Result<Self> {
        let file = object::File::parse(octets)?;
        let functions: BTreeMap<u64, Function> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.size() > 0)
            .filter_map(|symbol| {
                let name = format!("{:#}", rustc_demangle::demangle(symbol.name().ok()?));
                Some((symbol.address(), Function { name, at: symbol.address(), len: symbol.size() }))
            })
            .collect();
        let slots = slots(&file);
        Ok(Self { file, functions, slots, call_graph: OnceCell::new() })
    }

    /// Functions whose names contain all of `parts`.
    pub(super) fn find(&self, parts: &[String]) -> Vec<&Function> {
        self.functions.values().filter(|f| parts.iter().all(|part| f.name.contains(part.as_str()))).collect()
    }

    /// The instructions of a function.
    pub(super) fn disassemble(&self, function: &Function) -> Vec<Line> {
        let mut formatter = IntelFormatter::new();
        self.decoder(function)
            .iter()
            .map(|instruction| {
                let mut text = String::new();
                formatter.format(&instruction, &mut text);
                let calls = self.callee(function, &instruction).map(|callee| match callee {
                    Callee::At(at) => self.name_of(at),
                    Callee::Named(name) => name,
                });
                let mnemonic = mnemonic(&instruction);
                Line { offset: instruction.ip() - function.at, mnemonic, text, calls }
            })
            .collect()
    }

    /// The calls between all functions, by their addresses.
    pub(super) fn call_graph(&self) -> &Calls {
        self.call_graph.get_or_init(|| {
            let callees = |function: &Function| {
                let to = |instruction| match self.callee(function, &instruction)? {
                    Callee::At(at) => self.function_at(at).map(|function| function.at),
                    Callee::Named(_) => None,
                };
                self.decoder(function).iter().filter_map(to).collect()
            };
            self.functions.iter().map(|(at, function)| (*at, callees(function))).collect()
        })
    }

    fn decoder(&self, function: &Function) -> Decoder<'a> {
        let mut octets = self
            .file
            .sections()
            .filter_map(|section| section.data_range(function.at, function.len).ok().flatten());
        Decoder::with_ip(64, octets.next().unwrap_or_default(), function.at, DecoderOptions::NONE)
    }

    /// The target of an instruction that leaves the function.
    fn callee(&self, function: &Function, instruction: &Instruction) -> Option<Callee> {
        let is_call = instruction.mnemonic() == Mnemonic::Call;
        match instruction.op0_kind() {
            OpKind::NearBranch64 => {
                let to = instruction.near_branch_target();
                let inside = (function.at..function.at + function.len).contains(&to);
                (is_call || !inside).then_some(Callee::At(to))
            }
            OpKind::Memory if is_call || instruction.mnemonic() == Mnemonic::Jmp => {
                if instruction.memory_base() != Register::RIP {
                    return Some(Callee::Named("a function whose address is in memory".to_owned()));
                }
                let slot = instruction.memory_displacement64();
                let unknown = || Callee::Named(format!("the function in slot {slot:#x}"));
                Some(self.slots.get(&slot).cloned().unwrap_or_else(unknown))
            }
            // A jump to a register is a jump table of the same function.
            _ if is_call => Some(Callee::Named("a function whose address is in a register".to_owned())),
            _ => None,
        }
    }

    /// The function that contains an address.
    pub(super) fn function_at(&self, at: u64) -> Option<&Function> {
        let (_, function) = self.functions.range(..=at).next_back()?;
        (at < function.at + function.len).then_some(function)
    }

    /// The name of the function at an address, or the address itself.
    pub(super) fn name_of(&self, at: u64) -> String {
        self.function_at(at).map_or_else(|| format!("{at:#x}"), |function| function.name.clone())
    }
}

/// Functions whose addresses the loader writes, by the place that it writes to.
fn slots(file: &object::File<'_>) -> BTreeMap<u64, Callee> {
    let symbols = file.dynamic_symbol_table();
    let relocations = file.dynamic_relocations().into_iter().flatten();
    relocations
        .filter_map(|(at, relocation)| {
            let callee = match relocation.target() {
                RelocationTarget::Symbol(index) => {
                    Callee::Named(symbols.as_ref()?.symbol_by_index(index).ok()?.name().ok()?.to_owned())
                }
                _ => Callee::At(relocation.addend() as u64),
            };
            Some((at, callee))
        })
        .collect()
}

fn mnemonic(instruction: &Instruction) -> String {
    match instruction.code() {
        Code::Crc32_r32_rm8 | Code::Crc32_r64_rm8 => "crc32b".to_owned(),
        Code::Crc32_r32_rm16 => "crc32w".to_owned(),
        Code::Crc32_r32_rm32 => "crc32l".to_owned(),
        Code::Crc32_r64_rm64 => "crc32q".to_owned(),
        _ => format!("{:?}", instruction.mnemonic()).to_lowercase(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tells_the_widths_of_the_crc_step_apart() {
        // crc32 eax, bl; eax, bx; eax, ebx; rax, rbx
        let octets =
            b"\xf2\x0f\x38\xf0\xc3\x66\xf2\x0f\x38\xf1\xc3\xf2\x0f\x38\xf1\xc3\xf2\x48\x0f\x38\xf1\xc3";
        let found = Decoder::new(64, octets, DecoderOptions::NONE)
            .into_iter()
            .map(|instruction| mnemonic(&instruction));
        assert!(found.eq(["crc32b", "crc32w", "crc32l", "crc32q"]));
    }
}
