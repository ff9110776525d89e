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
