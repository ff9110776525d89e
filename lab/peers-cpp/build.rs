//! Compiles the adapters of the libraries that are installed: of C++ tables with the feature `tables`, of DNS
//! renderers with the feature `renderers`.

fn main() {
    for library in ["boost", "absl", "dpdk"] {
        println!("cargo::rustc-check-cfg=cfg(has_{library})");
        println!("cargo::rerun-if-changed=cpp/{library}.cc");
    }
    println!("cargo::rerun-if-changed=cpp/table.h");
    for library in ["knot", "bind9"] {
        println!("cargo::rustc-check-cfg=cfg(has_{library})");
        println!("cargo::rerun-if-changed=c/{library}.c");
    }
    println!("cargo::rerun-if-changed=c/renderer.h");
    #[cfg(feature = "tables")]
    tables::build();
    #[cfg(feature = "renderers")]
    renderers::build();
}

#[cfg(feature = "renderers")]
mod renderers {
    use std::process::Stdio;

    /// Compiles what is installed; a library that is missing is left out.
    pub(super) fn build() {
        if let Ok(found) = pkg_config::Config::new().cargo_metadata(false).probe("libknot") {
            compile("knot", "libknot/libknot.h", &found.libs);
        }
        // BIND's libraries have no pkg-config file.
        compile("bind9", "dns/compress.h", &["dns", "isc"].map(str::to_owned));
    }

    fn compile(library: &str, header: &str, libs: &[String]) {
        let mut build = cc::Build::new();
        build.opt_level(3).warnings(false).file(format!("c/{library}.c"));
        // What Debian's build of BIND defines, and its headers ask for.
        build.define("__GNUC_ATOMICS", None);
        let mut probe = build.get_compiler().to_command();
        probe.args(["-fsyntax-only", "-x", "c", "-include", header, "/dev/null"]);
        if !probe.stderr(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success()) {
            return;
        }
        if build.try_compile(&format!("hashlane_{library}")).is_err() {
            println!("cargo::warning={library} is installed, but its adapter does not compile");
            return;
        }
        println!("cargo::rustc-cfg=has_{library}");
        for lib in libs {
            println!("cargo::rustc-link-lib={lib}");
        }
    }
}

#[cfg(feature = "tables")]
mod tables {
    use std::process::{Command, Stdio};

    /// Compiles what is installed; a library that is missing is left out.
    pub(super) fn build() {
        if includes("boost/unordered/unordered_flat_map.hpp") {
            compile("boost", &[], &[]);
        }
        let mut absl = pkg_config::Config::new();
        if let Ok(found) = absl.cargo_metadata(false).probe("absl_hash") {
            let set = pkg_config::Config::new().cargo_metadata(false).probe("absl_raw_hash_set");
            let libs = [found.libs, set.map(|set| set.libs).unwrap_or_default()].concat();
            compile("absl", &[], &libs);
        }
        if let Ok(found) = pkg_config::Config::new().cargo_metadata(false).probe("libdpdk") {
            let mut flags: Vec<String> =
                found.include_paths.iter().map(|path| format!("-I{}", path.display())).collect();
            flags.extend(["-include".to_owned(), "rte_config.h".to_owned()]);
            let libs = ["rte_hash", "rte_ring", "rte_rcu", "rte_eal", "rte_telemetry"];
            compile("dpdk", &flags, &libs.map(str::to_owned));
        }
    }

    /// Returns true if the compiler finds the header.
    fn includes(header: &str) -> bool {
        let compiler = cc::Build::new().cpp(true).std("c++17").get_compiler();
        let mut command: Command = compiler.to_command();
        command.args(["-fsyntax-only", "-x", "c++", "-include", header, "/dev/null"]);
        command.stderr(Stdio::null()).stdout(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }

    fn compile(library: &str, flags: &[String], libs: &[String]) {
        let mut build = cc::Build::new();
        build.cpp(true).std("c++17").opt_level(3).file(format!("cpp/{library}.cc")).warnings(false);
        if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
            // DPDK's least; AVX2 and more are not assumed of any table.
            build.flag("-march=corei7");
        }
        for flag in flags {
            build.flag(flag);
        }
        if build.try_compile(&format!("hashlane_{library}")).is_err() {
            println!("cargo::warning={library} is installed, but its adapter does not compile");
            return;
        }
        println!("cargo::rustc-cfg=has_{library}");
        for lib in libs {
            println!("cargo::rustc-link-lib={lib}");
        }
    }
}
