//! Writes the vectors of `vectors/dns/compression` into a folder: `compression_vectors FOLDER`.

use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let folder: PathBuf = std::env::args_os().nth(1).ok_or("usage: compression_vectors FOLDER")?.into();
    std::fs::create_dir_all(&folder)?;
    for (name, bytes) in hashlane_study_dns::compression_vectors() {
        std::fs::write(folder.join(&name), &bytes)?;
        println!("{name}: {} bytes", bytes.len());
    }
    Ok(())
}
