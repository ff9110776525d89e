//! The program that the kernel runs for each received frame (eBPF, RFC 9669).
//!
//! It gives a frame to the socket of its receive queue if the frame is addressed to this interface and holds
//! a UDP datagram to one of the given addresses and ports: in IPv4 without options and fragments, or IPv6
//! without extension headers, behind at most one tag of a virtual LAN. All other frames go to the kernel, as
//! do all frames of a queue without a socket. The program of a [tap](super::XdpTap) gives away all frames.

use std::net::{IpAddr, SocketAddr};

/// Longest IP packet that fits the memory of a frame behind the room that the kernel keeps before it (256
/// bytes) and a tagged Ethernet header, in bytes. Longer ones go to the kernel.
pub(super) const LONGEST: u16 = 2048 - 256 - 18;

/// Addresses of one virtual LAN of an interface, or of the interface itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Lan {
    /// Number in the tag of its frames; 0: none.
    pub(super) tag: u16,
    /// Addresses and ports on which datagrams are received.
    pub(super) local: Vec<SocketAddr>,
}

/// An instruction (RFC 9669 §3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Instruction {
    code: u8,
    /// Destination in the low half on little-endian machines, source in the other.
    registers: u8,
    offset: i16,
    immediate: i32,
}

/// Verdict that passes a frame to the kernel (`XDP_PASS`).
const PASS: i32 = 2;

// Opcodes.
const LOAD8: u8 = 0x71;
const LOAD16: u8 = 0x69;
const LOAD32: u8 = 0x61;
const LOAD_WIDE: u8 = 0x18;
const MOVE: u8 = 0xbf;
const MOVE_VALUE: u8 = 0xb7;
const ADD_VALUE: u8 = 0x07;
const AND_VALUE: u8 = 0x57;
const TO_BIG_ENDIAN: u8 = 0xdc;
const JUMP: u8 = 0x05;
const JUMP_IF_GREATER: u8 = 0x2d;
// These compare the low 32 bits.
const JUMP_IF_EQUAL_VALUE: u8 = 0x16;
const JUMP_UNLESS_EQUAL_VALUE: u8 = 0x56;
const JUMP_IF_GREATER_VALUE: u8 = 0x26;
const CALL: u8 = 0x85;
const EXIT: u8 = 0x95;

/// Helper that redirects a frame to the entry of a map (`bpf_redirect_map`).
const REDIRECT_MAP: i32 = 51;

/// Source of a wide load whose value is a map.
const PSEUDO_MAP: u8 = 1;

// Registers. The helper's arguments and results are in `R0` to `R5`.
const R0: u8 = 0;
const R1: u8 = 1;
/// Start of the frame, past a tag.
const DATA: u8 = 2;
const END: u8 = 3;
const LIMIT: u8 = 4;
const FIELD: u8 = 5;
const CONTEXT: u8 = 6;
const TAG: u8 = 7;
const PORT: u8 = 8;
const R9: u8 = 9;

/// A place in the code.
#[derive(Clone, Copy, Debug)]
struct Label(usize);

/// Code whose jumps go forward to labels.
#[derive(Debug, Default)]
struct Assembler {
    code: Vec<Instruction>,
    /// Instructions whose offset is a label's.
    jumps: Vec<(usize, Label)>,
    /// Places of the labels, once they are known.
    labels: Vec<Option<usize>>,
}

impl Assembler {
    fn push(&mut self, code: u8, to: u8, from: u8, offset: i16, immediate: i32) {
        let registers = if cfg!(target_endian = "little") { from << 4 | to } else { to << 4 | from };
        self.code.push(Instruction { code, registers, offset, immediate });
    }

    fn label(&mut self) -> Label {
        self.labels.push(None);
        Label(self.labels.len() - 1)
    }

    /// Puts a label before the next instruction.
    fn place(&mut self, label: Label) {
        let place = self.code.len();
        if let Some(entry) = self.labels.get_mut(label.0) {
            *entry = Some(place);
        }
    }

    /// Loads a field of the frame, in the order of its bytes.
    fn load(&mut self, code: u8, to: u8, offset: i16) {
        self.push(code, to, DATA, offset, 0);
    }

    fn jump(&mut self, code: u8, to: u8, from: u8, value: i32, label: Label) {
        self.jumps.push((self.code.len(), label));
        self.push(code, to, from, 0, value);
    }

    /// Jumps if the frame has fewer bytes than this.
    fn need(&mut self, bytes: i32, otherwise: Label) {
        self.push(MOVE, LIMIT, DATA, 0, 0);
        self.push(ADD_VALUE, LIMIT, 0, 0, bytes);
        self.jump(JUMP_IF_GREATER, LIMIT, END, 0, otherwise);
    }

    /// Gives the frame to the socket of its receive queue, by the context in [`CONTEXT`].
    fn redirect(&mut self, map: i32) {
        self.push(LOAD_WIDE, R1, PSEUDO_MAP, 0, map);
        self.push(0, 0, 0, 0, 0);
        // The number of the receive queue; the verdict for a queue without a socket.
        self.push(LOAD32, 2, CONTEXT, 16, 0);
        self.push(MOVE_VALUE, 3, 0, 0, PASS);
        self.push(CALL, 0, 0, 0, REDIRECT_MAP);
        self.push(EXIT, 0, 0, 0, 0);
    }

    /// The code with its jumps; `None` if one is too far.
    fn finish(mut self) -> Option<Vec<Instruction>> {
        for (at, label) in self.jumps {
            let place = (*self.labels.get(label.0)?)?;
            self.code.get_mut(at)?.offset = i16::try_from(place.checked_sub(at + 1)?).ok()?;
        }
        Some(self.code)
    }
}

/// A number of two bytes as a 16-bit load reads it.
fn half(value: u16) -> i32 {
    u16::from_ne_bytes(value.to_be_bytes()).into()
}

/// Four bytes as a 32-bit load reads them.
fn word(bytes: [u8; 4]) -> i32 {
    i32::from_ne_bytes(bytes)
}

/// The program of an interface that has this address. Its map is an open file descriptor. `None` if there are
/// too many addresses.
pub(super) fn assemble(mac: [u8; 6], lans: &[Lan], map: i32) -> Option<Vec<Instruction>> {
    const ETHERNET: i16 = 14;
    const IPV4: i16 = 20;
    const IPV6: i16 = 40;
    const UDP: i32 = 17;
    let mut code = Assembler::default();
    let [untagged, ipv4, ipv6, redirect, pass] = std::array::from_fn(|_| code.label());

    // Fields of the context: `xdp_md` of Linux.
    code.push(MOVE, CONTEXT, R1, 0, 0);
    code.push(LOAD32, DATA, R1, 0, 0);
    code.push(LOAD32, END, R1, 4, 0);
    code.need((ETHERNET + IPV4 + 8).into(), pass);
    let [a, b, c, d, e, f] = mac;
    code.load(LOAD32, FIELD, 0);
    code.jump(JUMP_UNLESS_EQUAL_VALUE, FIELD, 0, word([a, b, c, d]), pass);
    code.load(LOAD16, FIELD, 4);
    code.jump(JUMP_UNLESS_EQUAL_VALUE, FIELD, 0, half(u16::from_be_bytes([e, f])), pass);
    code.push(MOVE_VALUE, TAG, 0, 0, 0);
    code.load(LOAD16, FIELD, 12);
    code.jump(JUMP_UNLESS_EQUAL_VALUE, FIELD, 0, half(0x8100), untagged);
    code.load(LOAD16, TAG, 14);
    code.push(AND_VALUE, TAG, 0, 0, half(0x0fff));
    code.load(LOAD16, FIELD, 16);
    code.push(ADD_VALUE, DATA, 0, 0, 4);

    code.place(untagged);
    code.jump(JUMP_IF_EQUAL_VALUE, FIELD, 0, half(0x0800), ipv4);
    code.jump(JUMP_IF_EQUAL_VALUE, FIELD, 0, half(0x86dd), ipv6);
    code.jump(JUMP, 0, 0, 0, pass);

    code.place(ipv4);
    code.need((ETHERNET + IPV4 + 8).into(), pass);
    code.load(LOAD8, FIELD, ETHERNET);
    code.jump(JUMP_UNLESS_EQUAL_VALUE, FIELD, 0, 0x45, pass);
    code.load(LOAD8, FIELD, ETHERNET + 9);
    code.jump(JUMP_UNLESS_EQUAL_VALUE, FIELD, 0, UDP, pass);
    // All bits but "don't fragment".
    code.load(LOAD16, FIELD, ETHERNET + 6);
    code.push(AND_VALUE, FIELD, 0, 0, half(0xbfff));
    code.jump(JUMP_UNLESS_EQUAL_VALUE, FIELD, 0, 0, pass);
    code.load(LOAD16, FIELD, ETHERNET + 2);
    code.push(TO_BIG_ENDIAN, FIELD, 0, 0, 16);
    code.jump(JUMP_IF_GREATER_VALUE, FIELD, 0, LONGEST.into(), pass);
    code.load(LOAD32, FIELD, ETHERNET + 16);
    code.load(LOAD16, PORT, ETHERNET + IPV4 + 2);
    for lan in lans {
        let next = code.label();
        code.jump(JUMP_UNLESS_EQUAL_VALUE, TAG, 0, half(lan.tag), next);
        for address in &lan.local {
            let IpAddr::V4(ip) = address.ip() else { continue };
            let other = code.label();
            code.jump(JUMP_UNLESS_EQUAL_VALUE, FIELD, 0, word(ip.octets()), other);
            code.jump(JUMP_IF_EQUAL_VALUE, PORT, 0, half(address.port()), redirect);
            code.place(other);
        }
        code.place(next);
    }
    code.jump(JUMP, 0, 0, 0, pass);

    code.place(ipv6);
    code.need((ETHERNET + IPV6 + 8).into(), pass);
    code.load(LOAD8, FIELD, ETHERNET);
    code.push(AND_VALUE, FIELD, 0, 0, 0xf0);
    code.jump(JUMP_UNLESS_EQUAL_VALUE, FIELD, 0, 0x60, pass);
    code.load(LOAD8, FIELD, ETHERNET + 6);
    code.jump(JUMP_UNLESS_EQUAL_VALUE, FIELD, 0, UDP, pass);
    code.load(LOAD16, FIELD, ETHERNET + 4);
    code.push(TO_BIG_ENDIAN, FIELD, 0, 0, 16);
    code.jump(JUMP_IF_GREATER_VALUE, FIELD, 0, i32::from(LONGEST) - i32::from(IPV6), pass);
    let words = [FIELD, R0, R1, R9];
    for (register, offset) in words.into_iter().zip([24, 28, 32, 36]) {
        code.load(LOAD32, register, ETHERNET + offset);
    }
    code.load(LOAD16, PORT, ETHERNET + IPV6 + 2);
    for lan in lans {
        let next = code.label();
        code.jump(JUMP_UNLESS_EQUAL_VALUE, TAG, 0, half(lan.tag), next);
        for address in &lan.local {
            let IpAddr::V6(ip) = address.ip() else { continue };
            let other = code.label();
            for (register, bytes) in words.into_iter().zip(ip.octets().as_chunks().0) {
                code.jump(JUMP_UNLESS_EQUAL_VALUE, register, 0, word(*bytes), other);
            }
            code.jump(JUMP_IF_EQUAL_VALUE, PORT, 0, half(address.port()), redirect);
            code.place(other);
        }
        code.place(next);
    }

    code.place(pass);
    code.push(MOVE_VALUE, R0, 0, 0, PASS);
    code.push(EXIT, 0, 0, 0, 0);

    code.place(redirect);
    code.redirect(map);
    code.finish()
}

/// The program that gives all frames to the sockets of their receive queues.
pub(super) fn assemble_all(map: i32) -> Vec<Instruction> {
    let mut code = Assembler::default();
    code.push(MOVE, CONTEXT, R1, 0, 0);
    code.redirect(map);
    code.code
}
