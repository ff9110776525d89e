//! Names of every encoding, hashed in a burst.
#![no_main]

use libfuzzer_sys::fuzz_target;
use name::ccnx::Ccnx;
use name::ndn::Ndn;
use name::offset::Offset;

fuzz_target!(|octets: &[u8]| {
    fuzz::check_burst::<Ndn>(octets);
    fuzz::check_burst::<Ccnx>(octets);
    fuzz::check_burst::<Offset>(octets);
});
