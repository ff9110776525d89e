//! A second implementation of the hashes of connections, from their definitions: byte strings in, and the
//! mixing as tables.

use hashlane_baseline::ehash::Secrets;

/// The bytes of a tuple: addresses of 16, ports of 2, in network order.
pub(super) type Bytes = [u8; 36];

pub(super) fn base(bytes: &Bytes, secrets: &Secrets) -> u32 {
    let mut foreign = [0; 12];
    foreign.copy_from_slice(&bytes[20..32]);
    for i in 0..4 {
        foreign[i] ^= bytes[16 + i];
    }
    joined(bytes, jhash(&foreign, secrets.ipv6), secrets)
}

pub(super) fn v1(bytes: &Bytes, secrets: &Secrets) -> u32 {
    let local = jhash(&[&bytes[12..16], &ports(bytes), &bytes[16..20]].concat(), secrets.ipv6);
    let foreign = jhash(&bytes[20..32], secrets.ipv6);
    let words = [local.to_le_bytes(), foreign.to_le_bytes(), ports(bytes)];
    jhash(words.as_flattened(), secrets.ehash.wrapping_add(secrets.mix))
}

pub(super) fn jhash2(bytes: &Bytes, secrets: &Secrets) -> u32 {
    joined(bytes, jhash(&bytes[16..32], secrets.ipv6), secrets)
}

pub(super) fn hsiphash(bytes: &Bytes, secrets: &Secrets) -> u32 {
    joined(bytes, siphash(1, 3, &bytes[16..32], secrets.key.to_bytes()) as u32, secrets)
}

pub(super) fn siphash2u64(bytes: &Bytes, secrets: &Secrets) -> u32 {
    joined(bytes, siphash(2, 4, &bytes[16..32], secrets.key.to_bytes()) as u32, secrets)
}

pub(super) fn lport(bytes: &Bytes, secrets: &Secrets) -> u32 {
    let mut without = *bytes;
    without[32..34].fill(0);
    let hash = joined(&without, jhash(&bytes[16..32], secrets.ipv6), secrets);
    hash.wrapping_add(local_port(bytes))
}

pub(super) fn flat(bytes: &Bytes, secrets: &Secrets) -> u32 {
    let mut input = [0; 36];
    input[..32].copy_from_slice(&bytes[..32]);
    input[32..34].copy_from_slice(&bytes[34..]);
    for (byte, mix) in input.iter_mut().zip(secrets.mix.to_le_bytes()) {
        *byte ^= mix;
    }
    lookup3(&input, secrets.ipv6).wrapping_add(local_port(bytes))
}

pub(super) fn v4(bytes: &Bytes, secrets: &Secrets) -> u32 {
    let input = [&bytes[12..16], &bytes[28..32], &ports(bytes)].concat();
    jhash(&input, secrets.ehash.wrapping_add(secrets.mix))
}

pub(super) fn v4_lport(bytes: &Bytes, secrets: &Secrets) -> u32 {
    let mut without = *bytes;
    without[32..34].fill(0);
    v4(&without, secrets).wrapping_add(local_port(bytes))
}

/// `__inet6_ehashfn`.
fn joined(bytes: &Bytes, foreign: u32, secrets: &Secrets) -> u32 {
    let input = [&bytes[12..16], &foreign.to_le_bytes(), &ports(bytes)].concat();
    jhash(&input, secrets.ehash.wrapping_add(secrets.mix))
}

/// `(u32)lport << 16 | fport` in the memory of a little-endian machine: the foreign port's bytes in network
/// order, then the local port's in reverse.
fn ports(bytes: &Bytes) -> [u8; 4] {
    [bytes[34], bytes[35], bytes[33], bytes[32]]
}

fn local_port(bytes: &Bytes) -> u32 {
    256 * u32::from(bytes[32]) + u32::from(bytes[33])
}

/// The kernel's jhash, which starts from the constant, the length and the initial value.
fn jhash(input: &[u8], initval: u32) -> u32 {
    lookup3(input, 0xdead_beef_u32.wrapping_add(input.len() as u32).wrapping_add(initval))
}

/// lookup3 with lanes that start from `start`; the input is not empty. Each row is a step on (lane changed,
/// lane read): the difference, the exclusive or with the rotated lane, and, while mixing, the sum into the
/// lane read.
fn lookup3(input: &[u8], start: u32) -> u32 {
    const MIX: [([usize; 3], u32); 6] =
        [([0, 2, 1], 4), ([1, 0, 2], 6), ([2, 1, 0], 8), ([0, 2, 1], 16), ([1, 0, 2], 19), ([2, 1, 0], 4)];
    const FINAL: [([usize; 2], u32); 7] =
        [([2, 1], 14), ([0, 2], 11), ([1, 0], 25), ([2, 1], 16), ([0, 2], 4), ([1, 0], 14), ([2, 1], 24)];
    let mut lanes = [start; 3];
    let blocks = input.chunks(12);
    let last = blocks.len() - 1;
    for (number, block) in blocks.enumerate() {
        for (i, byte) in block.iter().enumerate() {
            lanes[i / 4] = lanes[i / 4].wrapping_add(u32::from(*byte) << (8 * (i % 4)));
        }
        if number == last {
            for ([to, from], bits) in FINAL {
                lanes[to] = (lanes[to] ^ lanes[from]).wrapping_sub(lanes[from].rotate_left(bits));
            }
        } else {
            for ([to, from, other], bits) in MIX {
                lanes[to] = lanes[to].wrapping_sub(lanes[from]) ^ lanes[from].rotate_left(bits);
                lanes[from] = lanes[from].wrapping_add(lanes[other]);
            }
        }
    }
    lanes[2]
}

/// SipHash of whole 64-bit words with `c` rounds a word and `d` at the end. A row of the round adds one word
/// to another, rotates the first and exclusive-ors it with the sum, and rotates the sum.
pub(super) fn siphash(c: usize, d: usize, input: &[u8], key: [u8; 16]) -> u64 {
    const ROUND: [([usize; 2], u32, u32); 4] =
        [([0, 1], 13, 32), ([2, 3], 16, 0), ([0, 3], 21, 0), ([2, 1], 17, 32)];
    fn rounds(v: &mut [u64; 4], number: usize) {
        for ([sum, by], left, turn) in ROUND.repeat(number) {
            v[sum] = v[sum].wrapping_add(v[by]);
            v[by] = v[by].rotate_left(left) ^ v[sum];
            v[sum] = v[sum].rotate_left(turn);
        }
    }
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let mut v = [0; 4];
    for (i, constant) in b"somepseudorandomlygeneratedbytes".chunks(8).enumerate() {
        v[i] = constant.iter().fold(0, |word, byte| word << 8 | u64::from(*byte))
            ^ word(&key[8 * (i % 2)..][..8]);
    }
    let length = [0, 0, 0, 0, 0, 0, 0, input.len() as u8];
    for block in input.chunks(8).chain([&length[..]]) {
        v[3] ^= word(block);
        rounds(&mut v, c);
        v[0] ^= word(block);
    }
    v[2] ^= 0xff;
    rounds(&mut v, d);
    v[0] ^ v[1] ^ v[2] ^ v[3]
}
