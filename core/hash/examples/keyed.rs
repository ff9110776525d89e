//! Hashes its arguments by several schemes, under a key that is drawn anew in each run.
//!
//! Run it twice: the values of the keyed schemes change, the values of the unkeyed ones do not.
//!
//! ```sh
//! cargo run -p hashlane-hash --example keyed -- 192.0.2.1:443 192.0.2.2:443
//! ```

use hashlane_hash::scheme::{Key, Scheme};

fn print<H: Scheme>(key: &Key, inputs: &[String]) {
    let hash = H::new(key);
    println!("{}: {:?}", H::INFO.id, H::INFO.keying);
    for input in inputs {
        println!("  {:016x}  {input}", hash.hash(input.as_bytes()));
    }
}

fn main() -> Result<(), getrandom::Error> {
    let mut inputs: Vec<String> = std::env::args().skip(1).collect();
    if inputs.is_empty() {
        inputs = vec!["192.0.2.1:443".into(), "192.0.2.2:443".into()];
    }
    let key = Key::random()?;
    macro_rules! print_all {
        ($($group:ident: $($hash:ty),*;)*) => { $($(print::<$hash>(&key, &inputs);)*)* };
    }
    hashlane_hash::for_each_hash!(print_all);
    Ok(())
}
