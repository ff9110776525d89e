//! Constants in the machine code of a function: the file that holds it shows them to everyone.
//!
//! Instructions are found by their first bytes at every offset, without a full decoder: a few numbers too
//! many cost a search some time and change no result.

use crate::constants::Constants;
use std::collections::{BTreeMap, VecDeque};
use std::path::Path;

/// Largest file that is read, in bytes.
const LARGEST_FILE: u64 = 64 << 20;

/// Bytes of all functions up to which all are searched, not only the one and those that it calls.
const SMALL: usize = 8 << 10;

/// Functions that are searched, at most, and bytes of each.
const FUNCTIONS: usize = 8;
const FUNCTION_BYTES: usize = 16 << 10;

/// Bytes of a table that code refers to by its address.
const TABLE_BYTES: usize = 128;

/// Bytes of a function whose size the file does not state.
const UNKNOWN_BYTES: usize = 512;

/// Constants of the function `symbol` in the shared object at `path`; `None` if the file is no ELF file for
/// x86-64, or has no such function.
pub(super) fn constants(path: &Path, symbol: &str) -> Option<Constants> {
    if path.metadata().ok()?.len() > LARGEST_FILE {
        return None;
    }
    File::new(&std::fs::read(path).ok()?)?.constants(symbol)
}

/// Part of the file that is loaded to an address.
#[derive(Clone, Copy)]
struct Section {
    kind: u32,
    is_code: bool,
    address: u64,
    offset: usize,
    size: usize,
    link: usize,
}

/// An ELF file for x86-64.
struct File<'a> {
    bytes: &'a [u8],
    sections: Vec<Section>,
    /// Address and size of each function, by its name.
    functions: BTreeMap<&'a [u8], (u64, usize)>,
}

impl<'a> File<'a> {
    /// Source: System V ABI, chapters 4 and 5, and its supplement for AMD64.
    fn new(bytes: &'a [u8]) -> Option<Self> {
        const X86_64: u64 = 62;
        if !bytes.starts_with(b"\x7fELF\x02\x01") || number(bytes, 18, 2)? != X86_64 {
            return None;
        }
        let (start, size, count) =
            (number(bytes, 40, 8)? as usize, number(bytes, 58, 2)? as usize, number(bytes, 60, 2)? as usize);
        let section = |place: usize| {
            let at = start.checked_add(place.checked_mul(size)?)?;
            let of = |from: usize, width: usize| number(bytes, at.checked_add(from)?, width);
            Some(Section {
                kind: of(4, 4)? as u32,
                is_code: of(8, 8)? & 4 != 0,
                address: of(16, 8)?,
                offset: of(24, 8)? as usize,
                size: of(32, 8)? as usize,
                link: of(40, 4)? as usize,
            })
        };
        let sections: Vec<Section> = (0..count).map_while(section).collect();
        let mut file = Self { bytes, sections, functions: BTreeMap::new() };
        file.functions = file.named_functions();
        Some(file)
    }

    fn named_functions(&self) -> BTreeMap<&'a [u8], (u64, usize)> {
        const TABLES: [u32; 2] = [2, 11];
        const SYMBOL: usize = 24;
        const FUNCTION: u8 = 2;
        let mut functions = BTreeMap::new();
        for table in self.sections.iter().filter(|section| TABLES.contains(&section.kind)) {
            let names = self.sections.get(table.link).map_or(&[][..], |names| self.bytes_of(names));
            for symbol in self.bytes_of(table).as_chunks::<SYMBOL>().0 {
                let of = |from: usize, width: usize| number(symbol, from, width).unwrap_or(0);
                let name = names.get(of(0, 4) as usize..).unwrap_or_default();
                let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
                if symbol[4] & 15 == FUNCTION && of(8, 8) != 0 {
                    functions.insert(name, (of(8, 8), of(16, 8) as usize));
                }
            }
        }
        functions
    }

    fn bytes_of(&self, section: &Section) -> &'a [u8] {
        let end = section.offset.saturating_add(section.size);
        self.bytes.get(section.offset..end).unwrap_or_default()
    }

    /// Up to `size` bytes at an address, of code or of data.
    fn at(&self, address: u64, size: usize, is_code: bool) -> &'a [u8] {
        const NO_BYTES: u32 = 8;
        let of = |section: &Section| {
            let from = usize::try_from(address.checked_sub(section.address)?).ok()?;
            let bytes = self.bytes_of(section).get(from..)?;
            (!bytes.is_empty()).then(|| &bytes[..size.min(bytes.len())])
        };
        let mut sections = self
            .sections
            .iter()
            .filter(|section| section.address != 0 && section.is_code == is_code && section.kind != NO_BYTES);
        sections.find_map(of).unwrap_or_default()
    }

    fn constants(&self, symbol: &str) -> Option<Constants> {
        let (start, _) = *self.functions.get(symbol.as_bytes())?;
        let mut found = Constants::default();
        let mut seen = vec![start];
        let mut waiting = VecDeque::from([start]);
        // The function first: only so many constants are kept.
        while let Some(address) = waiting.pop_front() {
            let size = self.functions.values().find(|(of, size)| *of == address && *size > 0);
            let size = size.map_or(UNKNOWN_BYTES, |(_, size)| *size);
            let bytes = self.at(address, size.min(FUNCTION_BYTES), true);
            for called in self.search(bytes, address, &mut found) {
                if seen.len() < FUNCTIONS && !seen.contains(&called) {
                    seen.push(called);
                    waiting.push_back(called);
                }
            }
        }
        // Functions that are called through a table of addresses.
        let others = self.functions.values().filter(|(_, size)| *size > 0);
        if others.clone().map(|(_, size)| *size).sum::<usize>() <= SMALL {
            for (address, size) in others {
                self.search(self.at(*address, *size, true), *address, &mut found);
            }
        }
        Some(found)
    }

    /// Adds the words of up to `size` bytes of data at an address.
    fn add_words(&self, address: u64, size: usize, found: &mut Constants) {
        let words = self.at(address, size, false).as_chunks::<8>().0;
        words.iter().for_each(|word| found.add_word(u64::from_le_bytes(*word)));
    }

    /// Adds the constants of instructions that begin anywhere in `code`, and returns the addresses that it
    /// calls or jumps to.
    ///
    /// Source: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, chapter 2 and
    /// appendix A.
    fn search(&self, code: &[u8], address: u64, found: &mut Constants) -> Vec<u64> {
        let mut called = Vec::new();
        let mut from = 0;
        while from < code.len() {
            let at = from;
            from += 1;
            // Operands of 64 bits have a prefix.
            let is_wide = at > 0 && code[at - 1] & 0xf8 == 0x48;
            let of = |place: usize, width: usize| number(code, at + place, width);
            let extended = |low: u64| if is_wide { i64::from(low as u32 as i32) as u64 } else { low };
            let byte = |place: usize| code.get(at + place).copied().unwrap_or(0);
            let relative = |place: usize| {
                let by = i64::from(of(place, 4)? as u32 as i32);
                Some(address.wrapping_add((at + place + 4) as u64).wrapping_add(by as u64))
            };
            match byte(0) {
                // mov of an immediate number
                0xb8..=0xbf => {
                    // The prefix of the one operand has no bits of others.
                    let is_wide = is_wide && code[at - 1] & 6 == 0;
                    let width = if is_wide { 8 } else { 4 };
                    of(1, width).into_iter().for_each(|number| found.add_number(number));
                    // Bytes of a long number look like instructions.
                    from += if is_wide { width } else { 0 };
                }
                // imul of an immediate number, and arithmetic with one
                0x69 | 0x81 => {
                    let number = of(1 + operand_bytes(byte(1), byte(2)), 4);
                    number.into_iter().for_each(|number| found.add_number(extended(number)));
                }
                // add and xor of an immediate number
                0x05 | 0x35 => of(1, 4).into_iter().for_each(|number| found.add_number(extended(number))),
                // Operands in memory behind the instruction: mov, xor, add; imul has two bytes.
                0x8b | 0x33 | 0x03 | 0xaf if byte(1) & 0xc7 == 5 => {
                    if let Some(data) = relative(2).and_then(|from| number(self.at(from, 8, false), 0, 8)) {
                        found.add_number(if is_wide || byte(0) == 0xaf { data } else { data & 0xffff_ffff });
                    }
                }
                // The address of data behind the instruction: lea. Tables of constants are read through it.
                0x8d if byte(1) & 0xc7 == 5 => {
                    relative(2).into_iter().for_each(|from| self.add_words(from, TABLE_BYTES, found));
                }
                // Two words of data behind the instruction: movups, movaps, movdqa, movdqu
                0x10 | 0x28 | 0x6f if at > 0 && code[at - 1] == 0x0f && byte(1) & 0xc7 == 5 => {
                    relative(2).into_iter().for_each(|from| self.add_words(from, 16, found));
                }
                // Shifts and rotations by an immediate number, or by one
                kind @ (0xc1 | 0xd1) if byte(1) >= 0xc0 => {
                    let bits = if kind == 0xd1 { 1 } else { u32::from(byte(2)) };
                    let all = if is_wide { 64 } else { 32 };
                    match byte(1) >> 3 & 7 {
                        0 => found.add_rotation(bits),
                        1 => found.add_rotation(all - bits.min(all)),
                        4 | 6 => found.add_left(bits),
                        5 => found.add_right(bits),
                        _ => {}
                    }
                }
                // rorx
                0xf0 if at >= 4 && code[at - 3] == 0xc4 && code[at - 1] & 0x7f == 0x7b => {
                    let all = if code[at - 1] & 0x80 == 0 { 32 } else { 64 };
                    let bits = byte(1 + operand_bytes(byte(1), byte(2)));
                    found.add_rotation(all - u32::from(bits).min(all));
                }
                // shld of a register with itself
                0xa4 if at > 0 && code[at - 1] == 0x0f && byte(1) >= 0xc0 => {
                    found.add_rotation(u32::from(byte(2)));
                }
                // bswap
                0xc8..=0xcf if at > 0 && code[at - 1] == 0x0f => found.swaps_bytes = true,
                0xe8 | 0xe9 => called.extend(relative(1).filter(|to| !self.at(*to, 1, true).is_empty())),
                _ => {}
            }
        }
        called
    }
}

/// Bytes of an operand: its description, an index, and a displacement.
fn operand_bytes(description: u8, index: u8) -> usize {
    let has_index = description < 0xc0 && description & 7 == 4;
    let displacement = match description >> 6 {
        0 if description & 7 == 5 || has_index && index & 7 == 5 => 4,
        1 => 1,
        2 => 4,
        _ => 0,
    };
    1 + usize::from(has_index) + displacement
}

/// Little-endian number of `width` bytes.
fn number(bytes: &[u8], at: usize, width: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(width)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(code: &[u8]) -> Constants {
        let mut found = Constants::default();
        File { bytes: &[], sections: Vec::new(), functions: BTreeMap::new() }.search(code, 0, &mut found);
        found
    }

    #[test]
    fn instructions_show_their_constants() {
        // movabs rax, 0x2127599bf4325c37; shr rdx, 23; imul rax, rdx; ror rcx, 37; shr eax, 15
        let found = search(&[
            0x48, 0xb8, 0x37, 0x5c, 0x32, 0xf4, 0x9b, 0x59, 0x27, 0x21, 0x48, 0xc1, 0xea, 0x17, 0x48, 0x0f,
            0xaf, 0xc2, 0x48, 0xc1, 0xc9, 0x25, 0xc1, 0xe8, 0x0f,
        ]);
        assert_eq!(found.numbers, [0x2127_599b_f432_5c37]);
        assert_eq!((found.right, found.rotations), (vec![23, 15], vec![27]));
        // imul eax, [rdi], 0xcc9e2d51; rol eax, 15; imul rax, rdx, 0x9e3779b1, extended by its sign
        let found = search(&[
            0x69, 0x07, 0x51, 0x2d, 0x9e, 0xcc, 0xc1, 0xc0, 0x0f, 0x48, 0x69, 0xc2, 0xb1, 0x79, 0x37, 0x9e,
        ]);
        assert_eq!(found.numbers, [0xcc9e_2d51, 0xffff_ffff_9e37_79b1]);
        assert_eq!(found.rotations, [15]);
        // rorx rax, rdi, 24; bswap rax
        let found = search(&[0x90, 0xc4, 0xe3, 0xfb, 0xf0, 0xc7, 0x18, 0x48, 0x0f, 0xc8]);
        assert_eq!((found.rotations, found.swaps_bytes), (vec![40], true));
    }

    #[test]
    fn files_that_lie_about_their_parts_show_nothing() {
        assert!(File::new(b"").is_none() && File::new(b"\x7fELF\x02\x01").is_none());
        let mut bytes = vec![0xff; 4096];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18..20].copy_from_slice(&62_u16.to_le_bytes());
        assert!(File::new(&bytes).is_some_and(|file| file.constants("f").is_none()));
        bytes[40..48].copy_from_slice(&64_u64.to_le_bytes());
        bytes[58..60].copy_from_slice(&64_u16.to_le_bytes());
        assert!(File::new(&bytes).is_some_and(|file| file.constants("f").is_none()));
    }
}
