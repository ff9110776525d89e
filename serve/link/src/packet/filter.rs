//! Filter of a packet socket: frames to its own address and to one group, and of some senders only a part.
//! The kernel runs it before a frame takes room in the receive queue.

use crate::limit::{Filter, Header, Limited, ethernet};
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

/// The program for a group, which keeps a part only of the frames of `limited` sources. `salt` should be
/// random, and is secret.
pub(super) fn program(group: [u8; 6], limited: &[Limited], salt: u64) -> Vec<SockFilter> {
    let [a, b, c, d, e, f] = group;
    let (first, rest) = (u32::from_be_bytes([a, b, c, d]), u16::from_be_bytes([e, f]));
    let mut program = vec![
        SockFilter::new(LD_ABS, 0, 0, KIND),
        SockFilter::new(JUMP_EQUAL, 6, 0, TO_HOST.into()),
        SockFilter::new(JUMP_EQUAL, 0, 4, TO_GROUP.into()),
        SockFilter::new(LD_ABS, 0, 0, ethernet(0)),
        SockFilter::new(JUMP_EQUAL, 0, 2, first),
        SockFilter::new(LD_ABS_HALF, 0, 0, ethernet(4)),
        SockFilter::new(JUMP_EQUAL, 1, 0, rest.into()),
        SockFilter::new(RETURN, 0, 0, 0),
    ];
    match limited {
        [] => program.push(SockFilter::new(RETURN, 0, 0, u32::MAX)),
        limited => program.extend(Filter::new(limited, Header::Ethernet, salt).program()),
    }
    program
}
