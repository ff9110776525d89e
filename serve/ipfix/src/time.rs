//! Times of IPFIX, RFC 7011 section 6.1.7 to 6.1.10.

/// Nanoseconds in a second.
pub const SECOND: u64 = 1_000_000_000;

/// Seconds from 1900, where NTP begins, to 1970.
const NTP_EPOCH: u64 = 2_208_988_800;

/// Nanoseconds since 1970 as dateTimeNanoseconds: seconds since 1900 modulo 2³², and their fraction.
///
/// The fraction is rounded up, so that a reader that rounds down gets the same nanoseconds.
pub const fn to_ntp(time: u64) -> u64 {
    let (seconds, nanoseconds) = (time / SECOND + NTP_EPOCH, time % SECOND);
    let fraction = (nanoseconds << 32).div_ceil(SECOND);
    (seconds << 32) | fraction
}

/// Nanoseconds since 1970 of a dateTimeNanoseconds or dateTimeMicroseconds between 1970 and 2106.
pub const fn from_ntp(ntp: u64) -> u64 {
    let (seconds, fraction) = (ntp >> 32, ntp & 0xffff_ffff);
    let seconds = if seconds >= NTP_EPOCH { seconds } else { seconds + (1 << 32) };
    (seconds - NTP_EPOCH) * SECOND + ((fraction * SECOND) >> 32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ntp_begins_again_in_2036() {
        // 2036-02-07 06:28:16 UTC.
        assert_eq!(to_ntp(2_085_978_496 * SECOND), 0);
        assert_eq!(from_ntp(0), 2_085_978_496 * SECOND);
    }

    proptest! {
        #[test]
        fn nanoseconds_survive(time in 0..4_294_967_296 * SECOND) {
            prop_assert_eq!(from_ntp(to_ntp(time)), time);
        }
    }
}
