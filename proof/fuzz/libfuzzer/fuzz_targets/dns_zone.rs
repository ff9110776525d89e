#![no_main]

use std::panic;

// The reader of zone files may panic, and its caller turns the panic into an error. Only an uncaught panic is
// a finding.
libfuzzer_sys::fuzz_target!(init: panic::set_hook(Box::new(|_| {})), |bytes: &[u8]| fuzz::targets::dns_zone(bytes));
