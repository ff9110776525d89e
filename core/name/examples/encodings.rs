//! Prints a name in every encoding, and the hashes of its prefixes.
//!
//! ```sh
//! cargo run -p hashlane-name --example encodings -- ndn:/example/video/seg=7
//! ```

use hashlane_hash::scheme::{Key, Scheme};
use hashlane_hash::siphash::SipHash13;
use hashlane_name::build::OwnedName;
use hashlane_name::layout::Layout;
use hashlane_name::prefix::OnePass;
use hashlane_name::uri::parse_line;
use std::error::Error;

fn print<E: Layout>(text: &str, key: &Key) -> Result<(), Box<dyn Error>> {
    let name: OwnedName<E> = parse_line(text.as_bytes())?;
    let hex: String = name.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
    println!("{}, {} bytes: {hex}", E::ID, name.as_bytes().len());
    let mut prefixes = OnePass::<E, _>::new(SipHash13::new(key));
    for (components, hash) in (1..).zip(prefixes.name(name.as_bytes())?) {
        println!("  first {components}: {hash:016x}");
    }
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let text = std::env::args().nth(1).unwrap_or_else(|| "ndn:/example/video/seg=7".into());
    let key = Key::random()?;
    println!("{text}");
    macro_rules! print_all {
        ($($id:ident: $encoding:ty),* $(,)?) => { $(print::<$encoding>(&text, &key)?;)* };
    }
    hashlane_name::for_each_encoding!(print_all);
    Ok(())
}
