#![no_main]

use fuzz::capture::read_from;

// A capture of any octets is read to its end, or says where it breaks off; what is kept stays within its bounds.
libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    if let Ok(capture) = read_from(octets, 100) {
        assert!(capture.tuples.len() <= 100 && capture.packets.len() <= 800);
        assert!(capture.packets.iter().all(|place| (*place as usize) < capture.tuples.len()));
        let passed_over: u64 = capture.passed_over.values().sum();
        assert!(capture.full || capture.seen == capture.packets.len() as u64 + passed_over);
    }
});
