//! Copies of a name into the buffer of the kernels.

/// Bytes set aside for each name.
pub(crate) const STRIDE: usize = 512;

/// Copies of a length that cannot be predicted.
pub(crate) trait Stage: Copy {
    /// Copies `bytes`, which must fit `place`, to the start of `place`. The bytes of `place` after them are
    /// unspecified.
    ///
    /// Copies overlap and have a fixed size: all names of one class of lengths take the same branches.
    #[inline(always)]
    fn stage(self, place: &mut [u8; STRIDE], bytes: &[u8]) {
        if bytes.len() > 128 {
            place[..bytes.len()].copy_from_slice(bytes);
        } else if !(overlapping::<64>(place, bytes)
            || overlapping::<32>(place, bytes)
            || overlapping::<16>(place, bytes))
        {
            for (to, from) in place.iter_mut().zip(bytes) {
                *to = *from;
            }
        }
    }
}

/// Copies `N` to `2 * N` bytes; returns false, and copies nothing, if there are fewer.
#[inline(always)]
fn overlapping<const N: usize>(place: &mut [u8; STRIDE], bytes: &[u8]) -> bool {
    let (Some(first), Some(last)) = (bytes.first_chunk::<N>(), bytes.last_chunk::<N>()) else { return false };
    place[..N].copy_from_slice(first);
    match place.get_mut(bytes.len() - N..bytes.len()) {
        Some(end) => end.copy_from_slice(last),
        None => return false,
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arch::crc::{CrcKernel, CrcStep};
    use crate::arch::lanes::{LaneKernel, Lanes};
    use crate::arch::unit::CrcUnit;
    use crate::arch::unit::LaneUnit;

    struct Copies;

    fn copies(stage: impl Stage) {
        let bytes: std::vec::Vec<u8> = (0..STRIDE).map(|i| i as u8 ^ 0x5a).collect();
        for len in 0..=STRIDE {
            let mut place = [0; STRIDE];
            stage.stage(&mut place, &bytes[..len]);
            assert_eq!(place[..len], bytes[..len], "{len}");
        }
    }

    impl CrcKernel for Copies {
        type Output = ();
        fn run<S: CrcStep>(self, step: S) {
            copies(step);
        }
    }

    impl LaneKernel for Copies {
        type Output = ();
        fn run<L: Lanes>(self, lanes: L) {
            copies(lanes);
        }
    }

    #[test]
    fn copies_every_length() {
        CrcUnit::all().into_iter().for_each(|unit| unit.run(Copies));
        LaneUnit::all().into_iter().for_each(|unit| unit.run(Copies));
    }
}
