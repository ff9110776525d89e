//! Messages that cost their reader most, made from the words of published reports.

/// Length of the messages in bytes, as in the report of c-ares.
const LEN: usize = 65_529;

/// A record without data: a type that nobody knows (private use), class IN.
const REST: [u8; 10] = [0xff, 0, 0, 1, 0, 0, 0, 0, 0, 0];

/// c-ares pull request 1164, first form, within the limit of a name: one name of 255 bytes in 127 labels, and
/// records that point to it.
pub(super) fn long_name() -> Vec<u8> {
    let labels: Vec<u8> = (0..127).flat_map(|at| [1, b'a' + at % 26]).chain([0]).collect();
    message(&[&labels[..], &[0, 1, 0, 1]].concat(), |_| 12)
}

/// The same with a name that is too long for a name: 16 labels of 63 bytes.
pub(super) fn overlong_name() -> Vec<u8> {
    let labels: Vec<u8> = (0..16).flat_map(|at| [&[63][..], &[b'a' + at; 63]].concat()).chain([0]).collect();
    message(&[&labels[..], &[0, 1, 0, 1]].concat(), |_| 12)
}

/// As [`long_name`], with each suffix of the name as the target of records by turns.
pub(super) fn long_suffixes() -> Vec<u8> {
    let labels: Vec<u8> = (0..127).flat_map(|at| [1, b'a' + at % 26]).chain([0]).collect();
    message(&[&labels[..], &[0, 1, 0, 1]].concat(), |record| 12 + 2 * (record % 64))
}

/// c-ares pull request 1164, second form, and systemd pull request 43777: a descending chain of 8,000
/// pointers in the data of the first record, and records that point to its top.
pub(super) fn pointer_chain() -> Vec<u8> {
    staircase(8_000)
}

/// The same with as many pointers as a name may have for most readers: 120.
pub(super) fn short_chain() -> Vec<u8> {
    staircase(120)
}

/// A question for the root, a record with a chain of pointers in its data, and records that point to its top.
fn staircase(pointers: usize) -> Vec<u8> {
    let start = 12 + 5 + 1 + REST.len();
    // The first pointer leads to the question's name, each further one to the one before it.
    let targets = std::iter::once(12).chain((0..pointers - 1).map(|at| start + 2 * at));
    let chain: Vec<u8> = targets.flat_map(pointer).collect();
    let mut first = REST;
    first[8..].copy_from_slice(&(chain.len() as u16).to_be_bytes());
    let head = [&[0, 0, 1, 0, 1, 0][..], &first, &chain].concat();
    let top = start + 2 * (pointers - 1);
    let mut bytes = message(&head, |_| top);
    // One record more than those that were added.
    let count = u16::from_be_bytes([bytes[6], bytes[7]]) + 1;
    bytes[6..8].copy_from_slice(&count.to_be_bytes());
    bytes
}

fn pointer(target: usize) -> [u8; 2] {
    (0xc000 | target as u16).to_be_bytes()
}

/// A response that begins so after its header, and then has records whose owners are pointers, up to
/// [`LEN`] bytes.
fn message(head: &[u8], target: impl Fn(usize) -> usize) -> Vec<u8> {
    let records = (LEN - 12 - head.len()) / (2 + REST.len());
    let header = [0x16, 3, 0x84, 0, 0, 1, (records >> 8) as u8, records as u8, 0, 0, 0, 0];
    let mut bytes = [&header[..], head].concat();
    for record in 0..records {
        bytes.extend_from_slice(&pointer(target(record)));
        bytes.extend_from_slice(&REST);
    }
    bytes
}
