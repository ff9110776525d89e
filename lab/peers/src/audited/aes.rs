//! Single AES rounds over 128-bit words in little-endian order, through the crate `aes`.
//!
//! That crate chooses when the program runs: AES instructions where the CPU has them, the same function in
//! software where it has none.

use ::aes::Block;
use ::aes::hazmat::{cipher_round, equiv_inv_cipher_round, inv_mix_columns};

/// A round of encryption (`AESENC`): SubBytes, ShiftRows, MixColumns, AddRoundKey.
#[inline]
pub(super) fn encrypt(state: u128, key: u128) -> u128 {
    on_block(state, |block| cipher_round(block, &key.to_le_bytes().into()))
}

/// A round of decryption (`AESDEC`): InvShiftRows, InvSubBytes, InvMixColumns, AddRoundKey.
#[inline]
pub(super) fn decrypt(state: u128, key: u128) -> u128 {
    on_block(state, |block| equiv_inv_cipher_round(block, &key.to_le_bytes().into()))
}

/// The last round of encryption (`AESENCLAST`): a round without MixColumns.
#[inline]
pub(super) fn encrypt_last(state: u128, key: u128) -> u128 {
    on_block(encrypt(state, 0), inv_mix_columns) ^ key
}

#[inline]
fn on_block(state: u128, round: impl FnOnce(&mut Block)) -> u128 {
    let mut block = state.to_le_bytes().into();
    round(&mut block);
    u128::from_le_bytes(block.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// FIPS 197, appendix B: the start of round 1 and of the last round, their keys, and their results.
    #[test]
    fn gives_the_rounds_of_fips_197() {
        let word = |bytes: u128| bytes.swap_bytes();
        let start = word(0x193d_e3be_a0f4_e22b_9ac6_8d2a_e9f8_4808);
        let key = word(0xa0fa_fe17_8854_2cb1_23a3_3939_2a6c_7605);
        assert_eq!(encrypt(start, key), word(0xa49c_7ff2_689f_352b_6b5b_ea43_026a_5049));
        let last = word(0xeb40_f21e_592e_3884_8ba1_13e7_1bc3_42d2);
        let key = word(0xd014_f9a8_c9ee_2589_e13f_0cc8_b663_0ca6);
        assert_eq!(encrypt_last(last, key), word(0x3925_841d_02dc_09fb_dc11_8597_196a_0b32));
    }

    /// A round of decryption undoes the start of the next round of encryption.
    #[test]
    fn decryption_undoes_encryption() {
        let start = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f;
        let mut mixed = encrypt_last(start, 0).to_le_bytes().into();
        ::aes::hazmat::mix_columns(&mut mixed);
        assert_eq!(u128::from_le_bytes(mixed.into()), encrypt(start, 0));
        let mut undone = decrypt(encrypt_last(start, 0), 0).to_le_bytes().into();
        ::aes::hazmat::mix_columns(&mut undone);
        assert_eq!(u128::from_le_bytes(undone.into()), start);
    }
}
