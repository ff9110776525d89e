//! The README's example, compiled, run, and held against the README.

use hash::scheme::{Key, Scheme};
use hash::siphash::SipHash24;
use name::{ndn::Ndn, prefix::OnePass, uri::parse_uri};

/// `key`: drawn at random when the process starts, and told to nobody.
fn hash_every_prefix(key: &Key) -> Result<(), Box<dyn std::error::Error>> {
    let name = parse_uri::<Ndn>(b"ndn:/hello/world/v=3")?;
    let mut one_pass = OnePass::<Ndn, _>::new(SipHash24::new(key));

    // The hashes of /hello, of /hello/world and of /hello/world/v=3.
    assert_eq!(one_pass.name(name.as_bytes())?.len(), 3);

    // Names that come together are hashed side by side; a broken one gives its error and stops no other.
    let mut hashes = Vec::new();
    one_pass.burst([name.as_bytes(), b"broken"], |_, prefixes| hashes.push(prefixes.map(|it| it.len())));
    assert!(matches!(hashes[..], [Ok(3), Err(_)]));
    Ok(())
}

#[test]
fn the_example_runs() {
    hash_every_prefix(&Key::VECTOR).unwrap();
}

#[test]
fn the_readme_shows_this_very_example() {
    let readme = include_str!("../../../README.md");
    let examples: Vec<&str> =
        readme.split("```rust\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    assert_eq!(examples.len(), 1);
    assert!(include_str!("readme.rs").contains(examples[0]), "{}", examples[0]);
}
