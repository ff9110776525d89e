//! The README's example with names.

use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::SipHash24;
use hashlane_name::prefix::{BurstHashes, OnePass};
use hashlane_name::{ndn::Ndn, uri::parse_uri};

fn hash_every_prefix() -> Result<(), Box<dyn std::error::Error>> {
    let name = parse_uri::<Ndn>(b"ndn:/hello/world/v=3")?;
    // A secret key, drawn once when the program starts.
    let mut one_pass = OnePass::<Ndn, _>::new(SipHash24::new(&Key::random()?));

    // The hashes of /hello, of /hello/world and of /hello/world/v=3.
    assert_eq!(one_pass.name(name.as_bytes())?.len(), 3);

    // The names of a burst are hashed together; a broken one gives its error and stops no other.
    let mut hashes = BurstHashes::new();
    one_pass.burst([name.as_bytes(), b"broken"], &mut hashes);
    assert_eq!(hashes.name(0)?.len(), 3);
    assert!(hashes.name(1).is_err());
    Ok(())
}

#[test]
fn the_example_with_names_runs() {
    hash_every_prefix().unwrap();
}
