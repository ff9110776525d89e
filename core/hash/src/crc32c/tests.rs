use super::*;
use crate::scheme::CHECK_INPUT;
use proptest::prelude::*;
use std::vec::Vec;

/// RFC 3720 appendix B.4, the register's bytes read in little-endian order.
#[test]
fn gives_the_results_of_the_rfc() {
    let ascending: Vec<u8> = (0..32).collect();
    let descending: Vec<u8> = (0..32).rev().collect();
    let mut read_command = [0u8; 48];
    read_command[0] = 0x01;
    read_command[1] = 0xc0;
    read_command[16] = 0x14;
    read_command[22] = 0x04;
    read_command[27] = 0x14;
    read_command[31] = 0x18;
    read_command[32] = 0x28;
    read_command[40] = 0x02;
    for unit in CrcUnit::all() {
        let crc = Crc::<Ladder>::on(unit);
        assert_eq!(crc.hash(&[0; 32]), 0x8a91_36aa, "{unit:?}");
        assert_eq!(crc.hash(&[0xff; 32]), 0x62a8_ab43, "{unit:?}");
        assert_eq!(crc.hash(&ascending), 0x46dd_794e, "{unit:?}");
        assert_eq!(crc.hash(&descending), 0x113f_db5c, "{unit:?}");
        assert_eq!(crc.hash(&read_command), 0xd996_3a56, "{unit:?}");
    }
}

fn check_value_holds_for<T: Tail>() {
    for unit in CrcUnit::all() {
        assert_eq!(Crc::<T>::on(unit).hash(CHECK_INPUT), T::INFO.check, "{} {unit:?}", T::INFO.id);
    }
}

#[test]
fn check_values_hold() {
    check_value_holds_for::<Ladder>();
    check_value_holds_for::<Shifted>();
    check_value_holds_for::<Masked>();
}

/// The definition of [`Masked`]: CRC32C of the bytes and of zeros up to the next multiple of eight.
fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len() / 8 * 8 + 8, 0);
    padded
}

proptest! {
    #[test]
    fn agrees_with_an_independent_implementation(bytes: Vec<u8>) {
        let expected = u64::from(::crc32c::crc32c(&bytes));
        for unit in CrcUnit::all() {
            prop_assert_eq!(Crc::<Ladder>::on(unit).hash(&bytes), expected);
            prop_assert_eq!(Crc::<Shifted>::on(unit).hash(&bytes), expected);
            let expected = u64::from(::crc32c::crc32c(&padded(&bytes)));
            prop_assert_eq!(Crc::<Masked>::on(unit).hash(&bytes), expected);
        }
    }

    #[test]
    fn components_extend_to_the_hash_of_all(components: Vec<Vec<u8>>) {
        for unit in CrcUnit::all() {
            let (ladder, shifted) = (Crc::<Ladder>::on(unit), Crc::<Shifted>::on(unit));
            let masked = Crc::<Masked>::on(unit);
            let (mut l, mut s, mut m) = (ladder.start(), shifted.start(), masked.start());
            let (mut all, mut all_padded) = (Vec::new(), Vec::new());
            for component in &components {
                let from = all.len();
                all.extend_from_slice(component);
                all_padded.extend(padded(component));
                ladder.extend(&mut l, component);
                shifted.extend_within(&mut s, &all, from, all.len());
                masked.extend(&mut m, component);
                let expected = u64::from(::crc32c::crc32c(&all));
                prop_assert_eq!(ladder.finish(&l), expected);
                prop_assert_eq!(shifted.finish(&s), expected);
                prop_assert_eq!(masked.finish(&m), u64::from(::crc32c::crc32c(&all_padded)));
            }
        }
    }

    /// Inside a kernel the range may be followed by bytes that must not reach the result.
    #[test]
    fn bytes_after_the_range_do_not_matter(bytes: Vec<u8>, from: usize, to: usize) {
        struct Within<'a>(&'a [u8], usize, usize);
        impl PrefixKernel for Within<'_> {
            type Output = u64;
            fn run<H: PrefixHash>(self, hash: &H) -> u64 {
                let mut state = hash.start();
                hash.extend_within(&mut state, self.0, self.1, self.2);
                hash.finish(&state)
            }
        }
        let (from, to) = (from % (bytes.len() + 2), to % (bytes.len() + 2));
        let end = to.min(bytes.len());
        let range = &bytes[from.min(end)..end];
        for unit in CrcUnit::all() {
            let expected = u64::from(::crc32c::crc32c(range));
            prop_assert_eq!(Crc::<Ladder>::on(unit).run_prefix(Within(&bytes, from, to)), expected);
            prop_assert_eq!(Crc::<Shifted>::on(unit).run_prefix(Within(&bytes, from, to)), expected);
            let expected = u64::from(::crc32c::crc32c(&padded(range)));
            prop_assert_eq!(Crc::<Masked>::on(unit).run_prefix(Within(&bytes, from, to)), expected);
        }
    }

    /// The reason that CRC32C stops no attacker: the difference of two keys alone determines the difference
    /// of their hashes.
    #[test]
    fn is_linear(a: [u8; 40], b: [u8; 40], difference: [u8; 40]) {
        let crc = Crc::<Ladder>::detect();
        let changed = |x: [u8; 40]| core::array::from_fn::<u8, 40, _>(|i| x[i] ^ difference[i]);
        prop_assert_eq!(crc.hash(&a) ^ crc.hash(&changed(a)), crc.hash(&b) ^ crc.hash(&changed(b)));
    }
}
