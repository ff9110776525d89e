#![no_main]

libfuzzer_sys::fuzz_target!(|line: &[u8]| fuzz::check_line(line));
