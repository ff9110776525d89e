#![no_main]

use flow::packet::Packet;

// Whatever the octets are, reading them ends; what is read of a packet is the same when more of the frame was captured, and
// its two ends are each other's reverse.
libfuzzer_sys::fuzz_target!(|octets: &[u8]| {
    if let Ok(packet) = Packet::ethernet(octets) {
        assert_eq!(packet.received().reversed(), packet.sent());
        let longer = [octets, &[0xa5; 40]].concat();
        assert_eq!(Packet::ethernet(&longer), Ok(packet));
    }
    if let Ok(packet) = Packet::ip(octets) {
        assert_eq!(packet.received().foreign(), packet.source.0);
    }
});
