//! Messages of up to 65,535 bytes, legal, made so that a reader that follows every pointer of every name does
//! the most work.

/// The length of the messages: the longest that TCP carries.
const LEN: usize = 65_535;

/// Offset of the first byte after a header.
const START: usize = 12;

/// Offset of the first bytes of the data in [`Writer::stock`], which is written first.
const STOCK: usize = START + 11;

const NULL: u16 = 10;
const MINFO: u16 = 14;
const SOA: u16 = 6;

/// All of them, each with its name.
pub(crate) fn messages() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("long name × records", pointers_to(&long_name(), &[STOCK])),
        ("long name × questions", questions(&long_name())),
        ("label and long name × records", labels_before(&long_name(), STOCK + 2)),
        ("suffixes of a long name", pointers_to(&long_name(), &every(2, 127))),
        ("suffixes of 60 long names", pointers_to(&long_name().repeat(60), &suffixes_of_names(60))),
        ("names that overlap", pointers_to(&overlapping(), &every(1, 15_000))),
        ("chain of 126 pointers", pointers_to(&chains(1), &[STOCK + 1 + 2 * 125])),
        ("chains of pointers that share nothing", pointers_to(&chains(64), &every_from(1, 2, 126 * 64))),
        ("tree of pointers", pointers_to(&tree(&[]), &every_from(1, 2, 8_000))),
        ("tree of labels", pointers_to(&tree(b"\x01x"), &every_from(1, 4, 4_000))),
        ("chain of pointers in each record", fresh_chains()),
        ("MINFO of suffixes of a long name", with_data(&long_name(), &every(2, 127), MINFO, 0)),
        ("SOA of suffixes of a long name", with_data(&long_name(), &every(2, 127), SOA, 20)),
        (
            "MINFO of suffixes of 60 names",
            with_data(&long_name().repeat(60), &suffixes_of_names(60), MINFO, 0),
        ),
        ("MINFO of a tree of pointers", with_data(&tree(&[]), &every_from(1, 2, 8_000), MINFO, 0)),
        ("MINFO of a tree of labels", with_data(&tree(b"\x01x"), &every_from(1, 4, 4_000), MINFO, 0)),
        // Not worth remembering.
        ("questions of 7 labels", questions(&short_name())),
        ("MINFO of 7 labels", with_data(&short_name(), &[STOCK], MINFO, 0)),
    ]
}

/// 127 labels and the root.
fn long_name() -> Vec<u8> {
    [&b"\x01x".repeat(127)[..], b"\0"].concat()
}

fn short_name() -> Vec<u8> {
    [&b"\x01x".repeat(7)[..], b"\0"].concat()
}

/// Bytes that are labels from each offset on, with two roots every 254 bytes.
fn overlapping() -> Vec<u8> {
    [&[1; 252][..], b"\0\0"].concat().repeat(60)
}

/// The root, and `count` chains of 126 pointers that lead to it.
fn chains(count: usize) -> Vec<u8> {
    let mut bytes = vec![0];
    for _ in 0..count {
        let mut target = STOCK;
        for _ in 0..126 {
            let at = STOCK + bytes.len();
            bytes.extend(pointer(target));
            target = at;
        }
    }
    bytes
}

/// The root, and pointers in 16 KiB, each after `label` and to an earlier one: up to 125 in a row.
fn tree(label: &[u8]) -> Vec<u8> {
    let step = label.len() + 2;
    let count = 16_300 / step;
    let columns = count.div_ceil(125);
    let mut bytes = vec![0];
    for number in 0..count {
        let target = number.checked_sub(columns).map_or(STOCK, |number| STOCK + 1 + number * step);
        bytes.extend_from_slice(label);
        bytes.extend(pointer(target));
    }
    bytes
}

/// `count` offsets in the stock from its first byte, `step` apart.
fn every(step: usize, count: usize) -> Vec<usize> {
    every_from(0, step, count)
}

fn every_from(first: usize, step: usize, count: usize) -> Vec<usize> {
    (0..count).map(|number| STOCK + first + step * number).collect()
}

/// Offsets of the suffixes of long names, the same suffix of each name before the next suffix.
fn suffixes_of_names(count: usize) -> Vec<usize> {
    (0..127).flat_map(|label| (0..count).map(move |name| STOCK + 255 * name + 2 * label)).collect()
}

/// Records without data whose owners are pointers to the targets in turn, from the last on: long ones first.
fn pointers_to(stock: &[u8], targets: &[usize]) -> Vec<u8> {
    let mut writer = Writer::stock(stock);
    for target in targets.iter().rev().cycle() {
        if !writer.record(&pointer(*target), NULL, &[]) {
            break;
        }
    }
    writer.finish()
}

/// Records whose owners are a label of their own before a pointer.
fn labels_before(stock: &[u8], target: usize) -> Vec<u8> {
    let mut writer = Writer::stock(stock);
    while writer.record(&[&b"\x01y"[..], &pointer(target)].concat(), NULL, &[]) {}
    writer.finish()
}

/// Records of a type with two names in its data, and `after` bytes after them: all three names are pointers.
fn with_data(stock: &[u8], targets: &[usize], rtype: u16, after: usize) -> Vec<u8> {
    let mut writer = Writer::stock(stock);
    let mut targets = targets.iter().rev().cycle().map(|target| pointer(*target));
    let mut next = || targets.next().unwrap();
    loop {
        let data = [&next()[..], &next(), &vec![0; after]].concat();
        if !writer.record(&next(), rtype, &data) {
            return writer.finish();
        }
    }
}

/// Records whose data are a chain of pointers, to which the owner of the next record points. Beyond the reach
/// of pointers, records without data, whose owners point to the last chain within it.
fn fresh_chains() -> Vec<u8> {
    let mut writer = Writer::stock(&[0]);
    let mut last = STOCK;
    loop {
        let (mut target, first) = (STOCK, writer.bytes.len() + 12);
        let mut data = Vec::new();
        let reached = first + 2 * 125 < 0x4000;
        for number in (0..126).filter(|_| reached) {
            data.extend(pointer(target));
            target = first + 2 * number;
        }
        if !writer.record(&pointer(last), NULL, &data) {
            return writer.finish();
        }
        if reached {
            last = target;
        }
    }
}

/// A question for `name`, and questions whose names are pointers to it.
fn questions(name: &[u8]) -> Vec<u8> {
    let mut bytes = [&[0; START][..], name, b"\0\x01\0\x01"].concat();
    let mut count = 1_u16;
    while bytes.len() + 6 <= LEN {
        bytes.extend(pointer(START));
        bytes.extend(b"\0\x01\0\x01");
        count += 1;
    }
    bytes[4..6].copy_from_slice(&count.to_be_bytes());
    bytes
}

fn pointer(target: usize) -> [u8; 2] {
    assert!(target < 0x4000, "beyond the reach of pointers");
    (0xc000 | target as u16).to_be_bytes()
}

/// A message in the making.
struct Writer {
    bytes: Vec<u8>,
    records: u16,
}

impl Writer {
    /// A message whose first record has these data, of a type without names.
    fn stock(data: &[u8]) -> Self {
        let mut writer = Self { bytes: vec![0; START], records: 0 };
        assert!(writer.record(&[0], NULL, data));
        writer
    }

    /// Appends a record; returns false if the message has no room for it.
    fn record(&mut self, owner: &[u8], rtype: u16, data: &[u8]) -> bool {
        if self.bytes.len() + owner.len() + 10 + data.len() > LEN {
            return false;
        }
        self.bytes.extend_from_slice(owner);
        self.bytes.extend(rtype.to_be_bytes());
        self.bytes.extend([0, 1, 0, 0, 0, 0]);
        self.bytes.extend(u16::try_from(data.len()).unwrap().to_be_bytes());
        self.bytes.extend_from_slice(data);
        self.records += 1;
        true
    }

    fn finish(mut self) -> Vec<u8> {
        self.bytes[6..8].copy_from_slice(&self.records.to_be_bytes());
        self.bytes
    }
}
