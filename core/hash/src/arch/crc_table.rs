//! CRC32C from tables, for CPUs without the instruction.

/// The polynomial 1EDC6F41 with its bits reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// `TABLES[k][b]`: the register that byte `b` leaves after `k` further zero bytes.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = byte as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before: u32 = tables[k - 1][byte];
            tables[k][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        k += 1;
    }
    tables
}

/// Takes the low `bytes` (1, 2, 4 or 8) bytes of `word` into the register.
#[inline]
pub(crate) fn update(crc: u32, word: u64, bytes: usize) -> u64 {
    let mixed = word ^ u64::from(crc);
    let mut next = if bytes < 4 { crc >> (8 * bytes) } else { 0 };
    for i in 0..bytes {
        next ^= TABLES[bytes - 1 - i][(mixed >> (8 * i)) as usize & 0xff];
    }
    u64::from(next)
}
