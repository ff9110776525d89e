//! One round of AES on a block of 16 octets.

/// A round of AES as x86's `aesenc` does it: SubBytes, ShiftRows, MixColumns, then the round key (FIPS 197 §5.1).
pub(crate) trait AesStep: Copy {
    /// A block.
    type Block: Copy;

    fn load(self, octets: &[u8; 16]) -> Self::Block;
    fn xor(self, a: Self::Block, b: Self::Block) -> Self::Block;
    fn round(self, state: Self::Block, key: Self::Block) -> Self::Block;
    /// The first eight octets, little-endian.
    fn low(self, block: Self::Block) -> u64;
}

/// Work that is generic over the round. `run` must be `#[inline(always)]`.
pub(crate) trait AesKernel {
    type Output;
    fn run<S: AesStep>(self, step: S) -> Self::Output;
}

/// Which instructions to use, decided once.
#[derive(Clone, Copy, Debug)]
pub(crate) enum AesUnit {
    Portable(Portable),
    #[cfg(target_arch = "x86_64")]
    AesNi(super::x86_64::AesNi),
    #[cfg(target_arch = "aarch64")]
    Armv8(super::aarch64::Aes),
}

impl AesUnit {
    /// The CPU's own round where it has one.
    pub(crate) fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if let Some(token) = super::x86_64::AesNi::detect() {
            return Self::AesNi(token);
        }
        #[cfg(target_arch = "aarch64")]
        if let Some(token) = super::aarch64::Aes::detect() {
            return Self::Armv8(token);
        }
        Self::Portable(Portable)
    }

    /// Runs `kernel`, compiled with the chosen instructions.
    #[inline(always)]
    pub(crate) fn run<K: AesKernel>(self, kernel: K) -> K::Output {
        match self {
            Self::Portable(step) => kernel.run(step),
            #[cfg(target_arch = "x86_64")]
            Self::AesNi(token) => token.run(kernel),
            #[cfg(target_arch = "aarch64")]
            Self::Armv8(token) => token.run(kernel),
        }
    }
}

/// The fallback: the substitution from a table, the rest by words. It is slow, and its time depends on the octets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Portable;

impl AesStep for Portable {
    /// Octet 4c + r is row r of column c.
    type Block = [u8; 16];

    fn load(self, octets: &[u8; 16]) -> [u8; 16] {
        *octets
    }

    fn xor(self, a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
        (u128::from_ne_bytes(a) ^ u128::from_ne_bytes(b)).to_ne_bytes()
    }

    fn round(self, state: [u8; 16], key: [u8; 16]) -> [u8; 16] {
        let mut next = [0; 16];
        for (c, column) in next.as_chunks_mut::<4>().0.iter_mut().enumerate() {
            // Row r comes from r columns further on.
            let [a, b, c, d] = [0, 1, 2, 3].map(|r| SUBSTITUTES[usize::from(state[(4 * (c + r) + r) % 16])]);
            let all = a ^ b ^ c ^ d;
            *column = [
                a ^ all ^ doubled(a ^ b),
                b ^ all ^ doubled(b ^ c),
                c ^ all ^ doubled(c ^ d),
                d ^ all ^ doubled(d ^ a),
            ];
        }
        self.xor(next, key)
    }

    fn low(self, block: [u8; 16]) -> u64 {
        u128::from_le_bytes(block) as u64
    }
}

/// The product with x modulo x⁸ + x⁴ + x³ + x + 1 (FIPS 197 §4.2.1).
const fn doubled(x: u8) -> u8 {
    (x << 1) ^ if x >= 0x80 { 0x1b } else { 0 }
}

/// SubBytes (FIPS 197 §5.1.1): the inverse, then an affine map.
static SUBSTITUTES: [u8; 256] = {
    let mut table = [0; 256];
    // p runs over the powers of 3, q over those of its inverse f6, which is p's inverse each time.
    let (mut p, mut q) = (1u8, 1u8);
    loop {
        table[p as usize] =
            q ^ q.rotate_left(1) ^ q.rotate_left(2) ^ q.rotate_left(3) ^ q.rotate_left(4) ^ 0x63;
        p ^= doubled(p);
        q ^= q << 1;
        q ^= q << 2;
        q ^= q << 4;
        if q >= 0x80 {
            q ^= 0x09;
        }
        if p == 1 {
            break;
        }
    }
    table[0] = 0x63;
    table
};

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    struct Round([u8; 16], [u8; 16]);

    impl AesKernel for Round {
        type Output = u64;
        fn run<S: AesStep>(self, step: S) -> u64 {
            step.low(step.round(step.load(&self.0), step.load(&self.1)))
        }
    }

    /// FIPS 197 appendix B, round 1.
    #[test]
    fn does_the_standard_s_round() {
        let block = |digits: u128| digits.to_be_bytes();
        let state = block(0x193d_e3be_a0f4_e22b_9ac6_8d2a_e9f8_4808);
        let key = block(0xa0fa_fe17_8854_2cb1_23a3_3939_2a6c_7605);
        assert_eq!(Portable.round(state, key), block(0xa49c_7ff2_689f_352b_6b5b_ea43_026a_5049));
    }

    proptest! {
        #[test]
        fn every_unit_does_the_same_round(state: [u8; 16], key: [u8; 16]) {
            let expected = AesUnit::Portable(Portable).run(Round(state, key));
            prop_assert_eq!(AesUnit::detect().run(Round(state, key)), expected);
            // The other half, which `low` does not show, by a state whose halves are swapped.
            let swapped = |octets: [u8; 16]| u128::from_ne_bytes(octets).rotate_left(64).to_ne_bytes();
            let expected = AesUnit::Portable(Portable).run(Round(swapped(state), swapped(key)));
            prop_assert_eq!(AesUnit::detect().run(Round(swapped(state), swapped(key))), expected);
        }
    }
}
