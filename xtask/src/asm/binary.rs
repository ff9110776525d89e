//! The functions of an executable, by their demangled names, and what they are made of.

use iced_x86::{
    Code, Decoder, DecoderOptions, Formatter, Instruction, IntelFormatter, Mnemonic, OpKind, Register,
};
use object::{Object, ObjectSection, ObjectSymbol, ObjectSymbolTable, RelocationTarget, SymbolKind};
use std::collections::BTreeMap;

/// An executable for x86-64.
pub(super) struct Binary<'a> {
    file: object::File<'a>,
    /// By address.
    functions: BTreeMap<u64, Function>,
    /// What the loader writes at an address: the address or the name of a function.
    slots: BTreeMap<u64, String>,
}

/// A function of the executable.
pub(super) struct Function {
    /// The demangled symbol, without its hash.
    pub(super) name: String,
    at: u64,
    len: u64,
}

/// One instruction.
pub(super) struct Line {
    /// Octets from the start of the function.
    pub(super) offset: u64,
    /// The mnemonic in lower case, the width of its operand at the end where one mnemonic has many: `crc32q`.
    pub(super) mnemonic: String,
    /// The instruction as text.
    pub(super) text: String,
    /// The function that it calls, or jumps to and never comes back.
    pub(super) calls: Option<String>,
}

impl<'a> Binary<'a> {
    /// Reads the symbols of an ELF file.
    ///
    /// # Errors
    /// Where it is none that this program can read.
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
        let mut binary = Self { file, functions, slots: BTreeMap::new() };
        binary.slots = binary.slots();
        Ok(binary)
    }

    fn slots(&self) -> BTreeMap<u64, String> {
        let symbols = self.file.dynamic_symbol_table();
        let relocations = self.file.dynamic_relocations().into_iter().flatten();
        relocations
            .filter_map(|(at, relocation)| {
                let name = match relocation.target() {
                    RelocationTarget::Symbol(index) => {
                        symbols.as_ref()?.symbol_by_index(index).ok()?.name().ok()?.to_owned()
                    }
                    _ => self.name_of(relocation.addend() as u64),
                };
                Some((at, name))
            })
            .collect()
    }

    /// The functions in whose names all of `parts` occur.
    pub(super) fn find(&self, parts: &[String]) -> Vec<&Function> {
        self.functions.values().filter(|f| parts.iter().all(|part| f.name.contains(part.as_str()))).collect()
    }

    /// The instructions of a function.
    pub(super) fn disassemble(&self, function: &Function) -> Vec<Line> {
        let octets = self
            .file
            .sections()
            .find_map(|section| section.data_range(function.at, function.len).ok().flatten())
            .unwrap_or_default();
        let mut formatter = IntelFormatter::new();
        Decoder::with_ip(64, octets, function.at, DecoderOptions::NONE)
            .iter()
            .map(|instruction| {
                let mut text = String::new();
                formatter.format(&instruction, &mut text);
                let calls = self.calls(function, &instruction);
                let mnemonic = mnemonic(&instruction);
                Line { offset: instruction.ip() - function.at, mnemonic, text, calls }
            })
            .collect()
    }

    /// Where an instruction goes, if that is out of the function.
    fn calls(&self, function: &Function, instruction: &Instruction) -> Option<String> {
        let is_call = instruction.mnemonic() == Mnemonic::Call;
        match instruction.op0_kind() {
            OpKind::NearBranch64 => {
                let to = instruction.near_branch_target();
                let inside = (function.at..function.at + function.len).contains(&to);
                (is_call || !inside).then(|| self.name_of(to))
            }
            OpKind::Memory if is_call || instruction.mnemonic() == Mnemonic::Jmp => {
                if instruction.memory_base() != Register::RIP {
                    return Some("a function whose address stands in memory".to_owned());
                }
                let slot = instruction.memory_displacement64();
                Some(
                    self.slots
                        .get(&slot)
                        .cloned()
                        .unwrap_or_else(|| format!("the function in slot {slot:#x}")),
                )
            }
            // A jump to a register is a table of jumps inside the function.
            _ if is_call => Some("a function whose address stands in a register".to_owned()),
            _ => None,
        }
    }

    fn name_of(&self, at: u64) -> String {
        let function = self.functions.range(..=at).next_back().map(|(_, function)| function);
        match function.filter(|function| at < function.at + function.len) {
            Some(function) => function.name.clone(),
            None => format!("{at:#x}"),
        }
    }
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
