#![no_main]

use std::panic;

// The reader of zone files may panic, which its caller turns into an error: only a panic that nobody catches is a finding.
libfuzzer_sys::fuzz_target!(init: panic::set_hook(Box::new(|_| {})), |bytes: &[u8]| fuzz::targets::dns_zone(bytes));
