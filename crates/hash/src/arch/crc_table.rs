//! CRC32C from tables, for CPUs without the instruction.

/// The polynomial 1EDC6F41 with its bits reflected.
const POLYNOMIAL: u32 = 0x82f6_3b78;

/// `TABLES[k][b]`: the register that octet `b` leaves after `k` further zero octets.
static TABLES: [[u32; 256]; 8] = tables();

const fn tables() -> [[u32; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut octet = 0;
    while octet < 256 {
        let mut crc = octet as u32;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][octet] = crc;
        octet += 1;
    }
    let mut k = 1;
    while k < 8 {
        let mut octet = 0;
        while octet < 256 {
            let before: u32 = tables[k - 1][octet];
            tables[k][octet] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            octet += 1;
        }
        k += 1;
    }
    tables
}

/// Takes the low `octets` (1, 2, 4 or 8) octets of `word` into the register.
#[inline]
pub(crate) fn update(crc: u32, word: u64, octets: usize) -> u64 {
    let mixed = word ^ u64::from(crc);
    let mut next = if octets < 4 { crc >> (8 * octets) } else { 0 };
    for i in 0..octets {
        next ^= TABLES[octets - 1 - i][(mixed >> (8 * i)) as usize & 0xff];
    }
    u64::from(next)
}
