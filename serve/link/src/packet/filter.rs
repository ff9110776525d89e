//! Filter of a packet socket: frames to its own address and to one group. The kernel runs it before a frame
//! takes room in the receive queue.

use socket2::SockFilter;

/// Kind of a frame to the address of the interface.
pub(super) const TO_HOST: u8 = 0;
/// Kind of a frame to a group.
pub(super) const TO_GROUP: u8 = 2;

// Operations, as in `linux/bpf_common.h`.
const LD_ABS: u16 = 0x20;
const LD_ABS_HALF: u16 = 0x28;
const JUMP_EQUAL: u16 = 0x15;
const RETURN: u16 = 0x06;

const KIND: u32 = (libc::SKF_AD_OFF + libc::SKF_AD_PKTTYPE) as u32;

/// Offset of byte `at` of the Ethernet header.
const fn header(at: i32) -> u32 {
    (libc::SKF_LL_OFF + at) as u32
}

/// The program for a group.
pub(super) fn program(group: [u8; 6]) -> [SockFilter; 9] {
    let [a, b, c, d, e, f] = group;
    let (first, rest) = (u32::from_be_bytes([a, b, c, d]), u16::from_be_bytes([e, f]));
    [
        SockFilter::new(LD_ABS, 0, 0, KIND),
        SockFilter::new(JUMP_EQUAL, 5, 0, TO_HOST.into()),
        SockFilter::new(JUMP_EQUAL, 0, 5, TO_GROUP.into()),
        SockFilter::new(LD_ABS, 0, 0, header(0)),
        SockFilter::new(JUMP_EQUAL, 0, 3, first),
        SockFilter::new(LD_ABS_HALF, 0, 0, header(4)),
        SockFilter::new(JUMP_EQUAL, 0, 1, rest.into()),
        SockFilter::new(RETURN, 0, 0, u32::MAX),
        SockFilter::new(RETURN, 0, 0, 0),
    ]
}
