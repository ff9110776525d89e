#![no_main]

libfuzzer_sys::fuzz_target!(|text: &[u8]| fuzz::check_zone(text));
