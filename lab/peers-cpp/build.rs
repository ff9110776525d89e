//! Compiles the adapters of the libraries that are installed: of C++ tables with the feature `tables`, of DNS
//! renderers and readers with the feature `renderers`.

fn main() {
    for library in ["boost", "absl", "dpdk"] {
        println!("cargo::rustc-check-cfg=cfg(has_{library})");
        println!("cargo::rerun-if-changed=cpp/{library}.cc");
    }
    println!("cargo::rerun-if-changed=cpp/table.h");
    for library in ["knot", "ldns", "bind9", "bind9_message", "cares"] {
        println!("cargo::rustc-check-cfg=cfg(has_{library})");
        println!("cargo::rerun-if-changed=c/{library}.c");
    }
    println!("cargo::rerun-if-changed=c/renderer.h");
    #[cfg(feature = "tables")]
    tables();
    #[cfg(feature = "renderers")]
    renderers();
}

/// Compiles the adapter of a library that is installed, and links what it needs.
#[cfg(any(feature = "renderers", feature = "tables"))]
fn compile(build: &mut cc::Build, folder: &str, library: &str, libs: &[String]) {
    let extension = if folder == "cpp" { "cc" } else { folder };
    build.opt_level(3).warnings(false).file(format!("{folder}/{library}.{extension}"));
    if build.try_compile(&format!("hashlane_{library}")).is_err() {
        println!("cargo::warning={library} is installed, but its adapter does not compile");
        return;
    }
    println!("cargo::rustc-cfg=has_{library}");
    for lib in libs {
        println!("cargo::rustc-link-lib={lib}");
    }
}

/// Returns true if the compiler finds the header.
#[cfg(any(feature = "renderers", feature = "tables"))]
fn includes(build: &cc::Build, language: &str, header: &str) -> bool {
    use std::process::Stdio;
    let mut probe = build.get_compiler().to_command();
    probe.args(["-fsyntax-only", "-x", language, "-include", header, "/dev/null"]);
    probe.stderr(Stdio::null()).stdout(Stdio::null()).status().is_ok_and(|status| status.success())
}

#[cfg(feature = "renderers")]
fn renderers() {
    let renderer = |library: &str, header: &str, libs: &[String]| {
        let mut build = cc::Build::new();
        // What Debian's build of BIND defines, and its headers ask for.
        build.define("__GNUC_ATOMICS", None);
        if includes(&build, "c", header) {
            compile(&mut build, "c", library, libs);
        }
    };
    if let Ok(found) = pkg_config::Config::new().cargo_metadata(false).probe("libknot") {
        renderer("knot", "libknot/libknot.h", &found.libs);
    }
    if let Ok(found) = pkg_config::Config::new().cargo_metadata(false).probe("ldns") {
        renderer("ldns", "ldns/ldns.h", &found.libs);
    }
    if let Ok(found) = pkg_config::Config::new().cargo_metadata(false).probe("libcares") {
        renderer("cares", "ares.h", &found.libs);
    }
    // BIND's libraries have no pkg-config file.
    let libs = ["dns", "isc"].map(str::to_owned);
    renderer("bind9", "dns/compress.h", &libs);
    renderer("bind9_message", "dns/message.h", &libs);
}

#[cfg(feature = "tables")]
fn tables() {
    let mut build = cc::Build::new();
    build.cpp(true).std("c++17");
    if std::env::var("CARGO_CFG_TARGET_ARCH").as_deref() == Ok("x86_64") {
        // DPDK's least; AVX2 and more are not assumed of any table.
        build.flag("-march=corei7");
    }
    let probe = |library: &str| pkg_config::Config::new().cargo_metadata(false).probe(library);
    if includes(&build, "c++", "boost/unordered/unordered_flat_map.hpp") {
        compile(&mut build.clone(), "cpp", "boost", &[]);
    }
    if let Ok(found) = probe("absl_hash") {
        let set = probe("absl_raw_hash_set").map(|set| set.libs).unwrap_or_default();
        compile(&mut build.clone(), "cpp", "absl", &[found.libs, set].concat());
    }
    if let Ok(found) = probe("libdpdk") {
        build.includes(found.include_paths).flag("-include").flag("rte_config.h");
        let libs = ["rte_hash", "rte_ring", "rte_rcu", "rte_eal", "rte_telemetry"];
        compile(&mut build, "cpp", "dpdk", &libs.map(str::to_owned));
    }
}
