//! Prints the hash of its argument under every scheme, ours and other projects'.
//!
//! ```sh
//! cargo run -p hashlane-peers --example hashes -- hello
//! ```

use hashlane_hash::scheme::{Key, Scheme};

fn print<H: Scheme>(key: &Key, input: &[u8]) {
    println!("{:16}  {:016x}  {}", H::INFO.id, H::new(key).hash(input), H::INFO.source);
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let input = std::env::args().nth(1).unwrap_or_else(|| "hello".into());
    let key = Key::random()?;
    macro_rules! print_all {
        ($($group:ident: $($hash:ty),*;)*) => { $($(print::<$hash>(&key, input.as_bytes());)*)* };
    }
    hashlane_hash::for_each_hash!(print_all);
    hashlane_peers::for_each_hash!(print_all);
    Ok(())
}
