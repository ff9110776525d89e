//! Filter that drops datagrams or frames of some sources before they take room in the receive queue.
//!
//! The queue of a socket is shared by all peers, in order of arrival. A peer that sends faster than the
//! process reads fills it, and the datagrams of all others are lost. The kernel runs the filter before a
//! datagram is queued, on the CPU that received it.
//!
//! The filter is a classic BPF program: a search tree over the addresses, and a random choice for each. It
//! needs no privileges.

use socket2::SockFilter;

/// Sender of datagrams or frames: an IPv4 address, a network of IPv6, or an Ethernet address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Sender {
    /// IPv4 address.
    Ipv4(u32),
    /// The upper 64 bits of an IPv6 address.
    Ipv6(u64),
    /// The lower 64 bits of a link-local IPv6 address.
    LinkLocal(u64),
    /// Ethernet address, of the sender of a frame.
    Ethernet([u8; 6]),
}

/// Headers in which a filter finds the source of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Header {
    Ipv4,
    Ipv6,
    Ethernet,
}

/// A source, and the part of its datagrams that is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limited {
    /// The source.
    pub source: Sender,
    /// One in 2^`halvings` datagrams is kept, chosen at random. Valid: 1..=[`MAX_HALVINGS`], others are
    /// clamped.
    pub halvings: u8,
}

/// Most halvings of a source.
pub const MAX_HALVINGS: u8 = 16;

/// Most sources that a filter limits: as many as fit into a program of the kernel's length.
pub const MAX_LIMITED: usize = 1024;

/// Keys that are compared one after the other at a leaf of the tree.
const LEAF: usize = 16;

const ACCEPT: u32 = u32::MAX;
const DROP: u32 = 0;

// Operations, as in `linux/bpf_common.h`.
const LD_ABS: u16 = 0x20;
const LD_ABS_HALF: u16 = 0x28;
const AND: u16 = 0x54;
const ADD: u16 = 0x04;
const MUL: u16 = 0x24;
const SHIFT_RIGHT: u16 = 0x74;
const ADD_X: u16 = 0x0c;
const XOR_X: u16 = 0xac;
const TO_X: u16 = 0x07;
const JUMP: u16 = 0x05;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_AT_LEAST: u16 = 0x35;
const RETURN: u16 = 0x06;

/// Offset of byte `at` of the network header.
const fn network(at: i32) -> u32 {
    (libc::SKF_NET_OFF + at) as u32
}

/// Offset of byte `at` of the Ethernet header.
pub(crate) const fn ethernet(at: i32) -> u32 {
    (libc::SKF_LL_OFF + at) as u32
}

const RANDOM: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_RANDOM) as u32;

#[derive(Clone, Copy, Debug)]
struct Instruction {
    code: u16,
    if_true: u8,
    if_false: u8,
    value: u32,
}

/// Function from the 64 bits of an IPv6 or Ethernet source to a key of 32. Secret, so that no peer can choose
/// a network with the key of another one.
#[derive(Clone, Copy, Debug)]
struct Fold {
    start: u32,
    factors: [u32; 2],
}

impl Fold {
    fn new(salt: u64) -> Self {
        let (high, low) = ((salt >> 32) as u32, salt as u32);
        Self { start: high.rotate_left(16) ^ low, factors: [high | 1, low | 1] }
    }

    fn key(self, source: u64) -> u32 {
        let [first, second] = self.factors;
        let fold = |x: u32| x ^ x >> 15;
        let upper = fold(((source >> 32) as u32).wrapping_add(self.start).wrapping_mul(first));
        fold(upper.wrapping_add(source as u32).wrapping_mul(second))
    }
}

/// An Ethernet address as [`Fold::key`] takes it: its first four bytes, and its last two.
fn halves([a, b, c, d, e, f]: [u8; 6]) -> u64 {
    u64::from_be_bytes([a, b, c, d, 0, 0, e, f])
}

/// Program that limits sources.
pub(crate) struct Filter {
    program: Vec<Instruction>,
    /// Jumps to the random choice of a number of halvings.
    choices: Vec<(usize, u8)>,
}

impl Filter {
    /// A filter of at most [`MAX_LIMITED`] sources, for packets with this header. `salt` should be random,
    /// and is secret.
    pub(crate) fn new(limited: &[Limited], header: Header, salt: u64) -> Self {
        let fold = Fold::new(salt);
        let key = |source| match (source, header) {
            (Sender::Ipv4(address), Header::Ipv4) => Some(address),
            (Sender::Ipv6(bits) | Sender::LinkLocal(bits), Header::Ipv6) => Some(fold.key(bits)),
            (Sender::Ethernet(address), Header::Ethernet) => Some(fold.key(halves(address))),
            _ => None,
        };
        let entry = |limited: &Limited| Some((key(limited.source)?, limited.halvings.clamp(1, MAX_HALVINGS)));
        let mut keys: Vec<(u32, u8)> = limited.iter().take(MAX_LIMITED).filter_map(entry).collect();
        keys.sort_unstable();
        keys.dedup_by_key(|(key, _)| *key);
        let mut filter = Self { program: Vec::new(), choices: Vec::new() };
        match header {
            Header::Ipv4 => filter.add(LD_ABS, network(12)),
            Header::Ipv6 => filter.load_ipv6(fold),
            Header::Ethernet => filter.load_folded(fold, ethernet(6), (LD_ABS_HALF, ethernet(10))),
        }
        let leaves: Vec<&[(u32, u8)]> = keys.chunks(LEAF).collect();
        filter.add_tree(&leaves);
        filter.add_choices();
        filter
    }

    /// The program for the kernel.
    pub(crate) fn program(&self) -> Vec<SockFilter> {
        let instruction = |i: &Instruction| SockFilter::new(i.code, i.if_true, i.if_false, i.value);
        self.program.iter().map(instruction).collect()
    }

    fn add(&mut self, code: u16, value: u32) {
        self.add_jump(code, value, 0, 0);
    }

    fn add_jump(&mut self, code: u16, value: u32, if_true: usize, if_false: usize) {
        debug_assert!(if_true < 256 && if_false < 256, "a conditional jump is short");
        let (if_true, if_false) = (if_true as u8, if_false as u8);
        self.program.push(Instruction { code, if_true, if_false, value });
    }

    /// Loads the key of a source: of the 32 bits at one place, and those that a load from another one has.
    fn load_folded(&mut self, fold: Fold, upper: u32, (load, lower): (u16, u32)) {
        self.add(LD_ABS, upper);
        self.add(ADD, fold.start);
        self.add(MUL, fold.factors[0]);
        self.add_fold();
        self.add(TO_X, 0);
        self.add(load, lower);
        self.add(ADD_X, 0);
        self.add(MUL, fold.factors[1]);
        self.add_fold();
    }

    /// Loads the key of an IPv6 source.
    fn load_ipv6(&mut self, fold: Fold) {
        let part =
            |filter: &mut Self, at: i32| filter.load_folded(fold, network(at), (LD_ABS, network(at + 4)));
        let mut one = Self { program: Vec::new(), choices: Vec::new() };
        part(&mut one, 8);
        let length = one.program.len();
        self.add(LD_ABS, network(8));
        self.add(AND, 0xffc0_0000);
        self.add_jump(JUMP_EQUAL, 0xfe80_0000, 0, length + 1);
        part(self, 16);
        self.add(JUMP, length as u32);
        part(self, 8);
    }

    /// A ^= A >> 15.
    fn add_fold(&mut self) {
        self.add(TO_X, 0);
        self.add(SHIFT_RIGHT, 15);
        self.add(XOR_X, 0);
    }

    fn add_tree(&mut self, leaves: &[&[(u32, u8)]]) {
        let (left, right) = leaves.split_at(leaves.len() / 2);
        match right {
            [] => self.add(RETURN, ACCEPT),
            [leaf] if left.is_empty() => self.add_leaf(leaf),
            [first, ..] => {
                let least = first.first().map_or(0, |(key, _)| *key);
                self.add_jump(JUMP_AT_LEAST, least, 0, 1);
                let to_right = self.program.len();
                self.add(JUMP, 0);
                self.add_tree(left);
                self.aim(to_right);
                self.add_tree(right);
            }
        }
    }

    /// Lets a jump lead to the next instruction.
    fn aim(&mut self, jump: usize) {
        let next = self.program.len();
        if let Some(instruction) = self.program.get_mut(jump) {
            instruction.value = (next - jump - 1) as u32;
        }
    }

    fn add_leaf(&mut self, keys: &[(u32, u8)]) {
        let mut halvings: Vec<u8> = keys.iter().map(|(_, halvings)| *halvings).collect();
        halvings.sort_unstable();
        halvings.dedup();
        for (at, (key, of_key)) in keys.iter().enumerate() {
            // The comparisons that follow, the return, and the jumps before this one.
            let jumps = halvings.iter().position(|halvings| halvings == of_key).unwrap_or(0);
            self.add_jump(JUMP_EQUAL, *key, keys.len() - at + jumps, 0);
        }
        self.add(RETURN, ACCEPT);
        for halvings in halvings {
            self.choices.push((self.program.len(), halvings));
            self.add(JUMP, 0);
        }
    }

    fn add_choices(&mut self) {
        let mut choices = std::mem::take(&mut self.choices);
        choices.sort_unstable_by_key(|(_, halvings)| *halvings);
        for of_one in choices.chunk_by(|(_, a), (_, b)| a == b) {
            for (jump, _) in of_one {
                self.aim(*jump);
            }
            let halvings = of_one.first().map_or(1, |(_, halvings)| *halvings);
            self.add(LD_ABS, RANDOM);
            self.add_jump(JUMP_AT_LEAST, 1 << (32 - u32::from(halvings)), 0, 1);
            self.add(RETURN, DROP);
            self.add(RETURN, ACCEPT);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a program on a packet with this source, and these random numbers. Returns true if it is kept.
    fn keeps(filter: &Filter, header: &[u8], random: u32) -> bool {
        let (mut at, mut a, mut x, mut steps) = (0, 0_u32, 0_u32, 0);
        loop {
            let Instruction { code, if_true, if_false, value } = filter.program[at];
            at += 1;
            steps += 1;
            assert!(steps < 100, "a search takes few steps");
            let jump = |holds: bool| usize::from(if holds { if_true } else { if_false });
            match code {
                LD_ABS if value == RANDOM => a = random,
                LD_ABS | LD_ABS_HALF => {
                    let value = value as i32;
                    let start = if value < libc::SKF_NET_OFF { libc::SKF_LL_OFF } else { libc::SKF_NET_OFF };
                    let bytes = &header[(value - start) as usize..];
                    a = match code {
                        LD_ABS => u32::from_be_bytes(bytes[..4].try_into().unwrap()),
                        _ => u16::from_be_bytes(bytes[..2].try_into().unwrap()).into(),
                    };
                }
                AND => a &= value,
                ADD => a = a.wrapping_add(value),
                MUL => a = a.wrapping_mul(value),
                SHIFT_RIGHT => a >>= value,
                ADD_X => a = a.wrapping_add(x),
                XOR_X => a ^= x,
                TO_X => x = a,
                JUMP => at += value as usize,
                JUMP_EQUAL => at += jump(a == value),
                JUMP_AT_LEAST => at += jump(a >= value),
                RETURN => return value == ACCEPT,
                _ => panic!("operation {code:#x}"),
            }
        }
    }

    #[test]
    fn each_source_has_its_own_part_and_others_pass() {
        for count in [0, 1, 2, 15, 16, 17, 100, MAX_LIMITED] {
            let halvings = |at: u32| (at % u32::from(MAX_HALVINGS)) as u8 + 1;
            let sources = |at: u32| {
                [
                    Sender::Ipv4(at.wrapping_mul(0x0101_6203)),
                    Sender::Ipv6(0x2001_0db8_0000_0000 | u64::from(at)),
                    Sender::LinkLocal(u64::from(at) << 31),
                    Sender::Ethernet([2, 0, 7, (at >> 8) as u8, at as u8, 9]),
                ]
            };
            let header = |source: Sender| {
                let mut bytes = [0; 40];
                match source {
                    Sender::Ipv4(address) => bytes[12..16].copy_from_slice(&address.to_be_bytes()),
                    Sender::Ipv6(network) => bytes[8..16].copy_from_slice(&network.to_be_bytes()),
                    Sender::LinkLocal(interface) => {
                        bytes[8] = 0xfe;
                        bytes[9] = 0x80;
                        bytes[16..24].copy_from_slice(&interface.to_be_bytes());
                    }
                    Sender::Ethernet(address) => bytes[6..12].copy_from_slice(&address),
                }
                bytes
            };
            let headers = [Header::Ipv4, Header::Ipv6, Header::Ipv6, Header::Ethernet];
            for (kind, in_header) in headers.into_iter().enumerate() {
                let limited: Vec<Limited> = (0..count as u32)
                    .map(|at| Limited { source: sources(at)[kind], halvings: halvings(at) })
                    .collect();
                let filter = Filter::new(&limited, in_header, 0x1234_5678_9abc_def0);
                assert!(filter.program.len() <= 4096, "{}", filter.program.len());
                for at in 0..2 * count as u32 + 2 {
                    let header = header(sources(at)[kind]);
                    let least = 1_u32 << (32 - u32::from(halvings(at)));
                    assert!(keeps(&filter, &header, least - 1));
                    assert_eq!(keeps(&filter, &header, least), at >= count as u32, "{at} of {count}");
                }
            }
        }
    }
}
