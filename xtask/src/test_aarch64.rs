//! `cargo xtask test-aarch64`

use crate::run::{self, Outcome};
use clap::Args;

/// Run the tests of the hashes and the names for AArch64, emulated
///
/// For Debian on x86-64, with the packaged compiler, whose standard library is packaged for both
/// architectures. Links statically, so that the emulator needs no shared libraries.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct TestAarch64 {}

const EXAMPLES: &str = "\
Examples:
  cargo xtask test-aarch64     run the tests, or print the packages to install";

const INSTALL: &str = "dpkg --add-architecture arm64 && apt-get update && apt-get install --no-install-recommends \
                       rustc-web libstd-rust-web-dev:arm64 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user";
const RUSTC: &str = "/usr/bin/rustc";
const LINKER: &str = "aarch64-linux-gnu-gcc";
const EMULATOR: &str = "qemu-aarch64";
const TARGET: &str = "aarch64-unknown-linux-gnu";

impl TestAarch64 {
    pub(crate) fn run(&self) -> Outcome {
        let libdir = [RUSTC, "--target", TARGET, "--print", "target-libdir"];
        let has_std = run::command(&libdir).output().is_ok_and(|output| {
            std::fs::exists(String::from_utf8_lossy(&output.stdout).trim()).unwrap_or(false)
        });
        if !(has_std && run::works(&[LINKER, "--version"]) && run::works(&[EMULATOR, "--version"])) {
            return Outcome::Failed(format!("install the packages: {INSTALL}"));
        }
        // Two compilers in one target directory would rebuild each other's crates.
        let dir = match run::target_dir() {
            Ok(dir) => dir.join("aarch64"),
            Err(why) => return Outcome::Failed(why),
        };
        let mut test =
            run::command(&["cargo", "test", "--lib", "--tests", "--no-fail-fast", "--target", TARGET]);
        test.args(["--package", "hashlane-hash", "--package", "hashlane-name"]);
        test.env("CARGO_TARGET_DIR", dir)
            .env("RUSTC", RUSTC)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_LINKER", LINKER)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUNNER", EMULATOR)
            .env("CARGO_TARGET_AARCH64_UNKNOWN_LINUX_GNU_RUSTFLAGS", "-Ctarget-feature=+crt-static");
        run::show(&mut test).into()
    }
}
