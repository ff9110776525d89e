//! Suppression of retransmissions, with exponential backoff.

use super::algorithm::positive;

/// Backoff of retransmissions: an Interest that follows the last one of its entry within an interval is
/// suppressed; the interval grows with each one that is forwarded.
///
/// Source: NFD Developer's Guide, Retransmission Suppression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Suppression {
    /// First interval, in milliseconds. Valid: 1 and more.
    pub initial: u32,
    /// Longest interval, in milliseconds. Valid: 1 and more.
    pub max: u32,
    /// Growth of the interval. Valid: 1 to 1000.
    pub multiplier: f32,
}

impl Default for Suppression {
    /// NFD's values: 10 ms, doubled each time, up to 250 ms.
    fn default() -> Self {
        Self { initial: 10, max: 250, multiplier: 2.0 }
    }
}

impl Suppression {
    /// Names of the parameters, each with its valid values.
    pub const PARAMETERS: &'static [&'static str] = &[
        "retx-suppression-initial (1 or more)",
        "retx-suppression-max (1 or more)",
        "retx-suppression-multiplier (1 to 1000)",
    ];

    /// Sets a parameter; `None` if the name is unknown or the value is not valid.
    pub(super) fn set_parameter(&mut self, name: &str, value: &str) -> Option<()> {
        match name {
            "retx-suppression-initial" => self.initial = positive(value)?,
            "retx-suppression-max" => self.max = positive(value)?,
            "retx-suppression-multiplier" => {
                self.multiplier = value.parse().ok().filter(|factor| (1.0..=1000.0).contains(factor))?;
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns true if an Interest may be forwarded `since_last` milliseconds after the last one. Updates
    /// `interval`, the current interval of the entry, which is 0 before its first use.
    #[inline]
    pub(super) fn allows(&self, interval: &mut u32, since_last: u128) -> bool {
        let current = if *interval == 0 { self.initial } else { *interval };
        if since_last < u128::from(current) {
            *interval = current;
            return false;
        }
        *interval = ((current as f32 * self.multiplier) as u32).min(self.max).max(1);
        true
    }
}
