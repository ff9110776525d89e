//! Network namespaces of threads.
//!
//! A namespace has no name: it lasts as long as a thread or process in it, or an open file of it, and so is
//! gone whatever ends the run. Links are made by the command `ip`; all of it needs the rights of root.

use nix::sched::{CloneFlags, setns, unshare};
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::process::{Command, Stdio};
use std::thread;

/// The network namespace of this thread.
///
/// # Errors
/// `/proc` cannot be read.
pub fn current() -> io::Result<File> {
    File::open("/proc/thread-self/ns/net")
}

/// Moves this thread into a new network namespace without an interface that is up.
///
/// # Errors
/// This process may make none.
pub fn create() -> io::Result<File> {
    unshare(CloneFlags::CLONE_NEWNET)
        .map_err(|error| io::Error::other(format!("no new network namespace: {error}")))?;
    current()
}

/// Moves this thread into a network namespace.
///
/// # Errors
/// This process may not enter it.
pub fn enter(namespace: &File) -> io::Result<()> {
    Ok(setns(namespace, CloneFlags::CLONE_NEWNET)?)
}

/// Runs `ip` in the namespace of this thread. `line` is a command, such as `link set lo up`.
///
/// # Errors
/// There is no `ip`, or it fails; with its output.
pub fn ip(line: &str) -> io::Result<()> {
    shown(line).map(drop)
}

/// Runs `ip` as [`ip`] does, and returns its output.
///
/// # Errors
/// As there.
pub fn shown(line: &str) -> io::Result<String> {
    let output = Command::new("ip").args(line.split(' ')).stdin(Stdio::null()).output();
    let output = output.map_err(|error| {
        io::Error::new(error.kind(), format!("cannot start ip (package iproute2): {error}"))
    })?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(io::Error::other(format!("ip {line}: {}", said.trim())))
}

/// Moves this thread into a new namespace with the interfaces `lo`, `near` and `far`, all up. The latter two
/// are the ends of one cable; the kernel itself sends nothing on it.
///
/// # Errors
/// This process may make no namespace, or there is no `ip`.
pub fn create_pair(near: &str, far: &str) -> io::Result<()> {
    create()?;
    // The kernel itself should send nothing. Where this file is read-only, having no address does most of it.
    let _ = fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    ip("link set lo up")?;
    ip(&format!("link add {near} type veth peer name {far}"))?;
    for link in [near, far] {
        ip(&format!("link set {link} addrgenmode none"))?;
        ip(&format!("link set {link} up"))?;
    }
    Ok(())
}

/// Moves this thread into a new namespace with the interface `near`, whose cable leads to `far` in another
/// new namespace. Returns that one. Both interfaces are up, and have the addresses given with them, each with
/// its prefix length.
///
/// # Errors
/// This process may make no namespaces, or there is no `ip`.
pub fn create_cable(
    (near, near_addresses): (&str, &[&str]),
    (far, far_addresses): (&str, &[&str]),
) -> io::Result<File> {
    let there = create()?;
    create()?;
    connect((near, near_addresses), (far, far_addresses), &there)?;
    Ok(there)
}

/// Connects the namespace of this thread to another one by a new cable, as of [`create_cable`].
///
/// # Errors
/// One of the interfaces is there already, or there is no `ip`.
pub fn connect(
    (near, near_addresses): (&str, &[&str]),
    (far, far_addresses): (&str, &[&str]),
    there: &File,
) -> io::Result<()> {
    let here = current()?;
    let path = format!("/proc/{}/fd/{}", std::process::id(), there.as_raw_fd());
    ip(&format!("link add {near} type veth peer name {far} netns {path}"))?;
    for (link, addresses, namespace) in [(far, far_addresses, there), (near, near_addresses, &here)] {
        enter(namespace)?;
        ip("link set lo up")?;
        // IPv6 addresses are then valid at once.
        let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{link}/accept_dad"), "0");
        for address in addresses {
            let at_once = if address.contains(':') { " nodad" } else { "" };
            ip(&format!("addr add {address} dev {link}{at_once}"))?;
        }
        ip(&format!("link set {link} up"))?;
    }
    Ok(())
}

/// Frames that an interface in the namespace of this thread did not send. A virtual one has no room for more
/// where the thread that receives for its other end has to wait for the processor.
///
/// # Errors
/// `/proc` cannot be read, or there is no such interface.
pub fn unsent(interface: &str) -> io::Result<u64> {
    let table = fs::read_to_string("/proc/thread-self/net/dev")?;
    let of = |line: &str| {
        let (name, numbers) = line.split_once(':')?;
        // Eight numbers of what was received, then bytes, packets, errors and drops.
        (name.trim() == interface).then(|| numbers.split_whitespace().nth(11)?.parse().ok())?
    };
    table
        .lines()
        .find_map(of)
        .ok_or_else(|| io::Error::other(format!("no counters of interface {interface}")))
}

/// Runs `work` in a namespace, and returns this thread to its own.
///
/// # Panics
/// This process may not enter the namespace.
pub fn within<T>(namespace: &File, work: impl FnOnce() -> T) -> T {
    let enter = |namespace: &File| enter(namespace).unwrap_or_else(|error| panic!("cannot enter: {error}"));
    let home = current().unwrap_or_else(|error| panic!("no namespace of this thread: {error}"));
    enter(namespace);
    let done = work();
    enter(&home);
    done
}

/// Runs `work` on a new thread, whose namespaces end with it.
///
/// # Panics
/// `work` panics.
pub fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    thread::scope(|scope| scope.spawn(work).join()).unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// Runs a test on a new thread, after `prepare` has moved it into a namespace. Without the rights the test is
/// skipped, see [`skip`].
///
/// # Panics
/// The test panics.
pub fn with(prepare: impl FnOnce() -> io::Result<()> + Send, test: impl FnOnce() + Send) {
    let prepared = apart(|| {
        prepare()?;
        test();
        Ok::<_, io::Error>(())
    });
    if let Err(reason) = prepared {
        skip(&reason.to_string());
    }
}

/// Notes on standard error that a test is skipped.
///
/// # Panics
/// The environment has `CI=true`, with which nothing may be skipped.
pub fn skip(reason: &str) {
    let required = std::env::var("CI").is_ok_and(|value| value == "true" || value == "1");
    assert!(!required, "{reason}, and CI=true asks for it");
    eprintln!("not tested: {reason}");
}

/// True if a program is installed, found by its argument that prints a version; else the test is skipped.
///
/// # Panics
/// As [`skip`].
pub fn is_installed(program: &str, version: &str) -> bool {
    let found = Command::new(program).arg(version).output().is_ok_and(|output| output.status.success());
    if !found {
        skip(&format!("{program} is not installed"));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::UdpSocket;

    #[test]
    fn a_thread_has_a_namespace_of_its_own() {
        let taken = UdpSocket::bind("127.0.0.1:0").unwrap();
        let address = taken.local_addr().unwrap();
        assert!(UdpSocket::bind(address).is_err());
        with(
            || create_pair("near", "far"),
            || {
                UdpSocket::bind(address).unwrap();
                let said = ip("link set missing up").unwrap_err().to_string();
                assert!(said.starts_with("ip link set missing up: "), "{said}");
            },
        );
    }
}
