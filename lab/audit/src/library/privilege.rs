//! Privileges of the process, given up before it loads a library.
//!
//! Constructors of a library run with the rights of the process. Without this, a capability of the program's
//! file (`setcap`) would be one of every user who names a library of his own.

use super::foreign::close_inherited;
use nix::sys::prctl;
use nix::unistd::setsid;
use rustix::io::Errno;
use rustix::thread::{CapabilitySet, CapabilitySets, remove_capability_from_bounding_set, set_capabilities};
use std::env;
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::process::Command;

/// Gives up all capabilities of the process, the means to gain others by starting a program, inherited
/// descriptors beyond standard error, and the terminal.
///
/// Capabilities belong to a thread, and only this one can give up its own. So it starts the program anew in
/// its place, with the same arguments: no other thread is left, and no_new_privs keeps the file of the
/// program from adding anything. The new start finds nothing to give up, and returns.
///
/// # Errors
/// One line with the reason and the next step: the process runs setuid or setgid, or the system refuses a
/// step.
pub(super) fn drop_all() -> Result<(), String> {
    attempt().map_err(|why| {
        format!(
            "no library is loaded by a process with privileges, and this one cannot give them up: {why}; run \
             the command without setuid, setgid and capabilities, by a user without privileges"
        )
    })
}

fn attempt() -> Result<(), String> {
    close_inherited().map_err(|error| format!("descriptors of the program that started it: {error}"))?;
    // Without a terminal, into which a library could type commands.
    match setsid() {
        // The process leads its session since its first start.
        Ok(_) | Err(nix::errno::Errno::EPERM) => {}
        Err(error) => return Err(format!("a session of its own: {error}")),
    }
    let own = "/proc/thread-self/status";
    let status = read(own)?;
    has_one_user(&status)?;
    if has_nothing(&status).is_ok() {
        return verify();
    }
    give_up()?;
    has_nothing(&read(own)?)?;
    let program = env::current_exe().map_err(|error| format!("the path of this program: {error}"))?;
    let error = Command::new(&program).args(env::args_os().skip(1)).exec();
    Err(format!("cannot start {} again: {error}", program.display()))
}

fn read(status: &str) -> Result<String, String> {
    fs::read_to_string(status).map_err(|error| format!("{status}: {error}"))
}

/// Gives up the privileges of this thread.
fn give_up() -> Result<(), String> {
    for bit in 0..u64::BITS {
        match remove_capability_from_bounding_set(CapabilitySet::from_bits_retain(1 << bit)) {
            Ok(()) => {}
            // Not permitted, which does no harm under no_new_privs; or beyond the kernel's last capability.
            Err(Errno::PERM | Errno::INVAL) => break,
            Err(error) => return Err(format!("the bounding set: {error}")),
        }
    }
    let none = CapabilitySet::empty();
    // An ambient capability ends with its permitted and inheritable one.
    let sets = CapabilitySets { effective: none, permitted: none, inheritable: none };
    set_capabilities(None, sets).map_err(|error| format!("its capabilities: {error}"))?;
    prctl::set_no_new_privs().map_err(|error| format!("no_new_privs: {error}"))
}

/// Checks that no thread of the process has privileges.
fn verify() -> Result<(), String> {
    let folder = "/proc/self/task";
    let failed = |error| format!("{folder}: {error}");
    for thread in fs::read_dir(folder).map_err(failed)? {
        let path = thread.map_err(failed)?.path().join("status").display().to_string();
        let status = read(&path)?;
        has_one_user(&status).and_then(|()| has_nothing(&status)).map_err(|why| format!("{path}: {why}"))?;
    }
    Ok(())
}

/// Checks that the user and group of a status are the same by all their ids: setuid and setgid make the
/// effective and saved ones differ.
fn has_one_user(status: &str) -> Result<(), String> {
    ["Uid:", "Gid:"].into_iter().try_for_each(|ids| {
        check(status, ids, |ids| {
            let mut ids = ids.split_whitespace();
            let first = ids.next();
            first.is_some() && ids.all(|id| Some(id) == first)
        })
    })
}

/// Checks that a status has no capabilities, and cannot gain any.
fn has_nothing(status: &str) -> Result<(), String> {
    for set in ["CapInh:", "CapPrm:", "CapEff:", "CapAmb:"] {
        check(status, set, |set| u64::from_str_radix(set, 16) == Ok(0))?;
    }
    check(status, "NoNewPrivs:", |value| value == "1")
}

/// Checks a line of the text of `/proc/PID/status`.
///
/// # Errors
/// The line if it is not so, or its name if it is missing.
fn check(status: &str, name: &str, is_so: fn(&str) -> bool) -> Result<(), String> {
    match status.lines().find_map(|line| line.strip_prefix(name)).map(str::trim) {
        Some(value) if is_so(value) => Ok(()),
        Some(value) => Err(format!("{name} {}", value.replace('\t', " "))),
        None => Err(format!("no line {name}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUS: &str = "Name:\tx\nUid:\t7\t7\t7\t7\nGid:\t8\t8\t8\t8\nCapInh:\t0000000000000000\n\
                          CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\nCapBnd:\t000001ffffffffff\n\
                          CapAmb:\t0000000000000000\nNoNewPrivs:\t1\n";

    #[test]
    fn each_privilege_is_seen() {
        let check = |status: &str| has_one_user(status).and_then(|()| has_nothing(status));
        assert_eq!(check(STATUS), Ok(()));
        for (line, privileged) in [
            ("Uid:\t7\t7\t7\t7", "Uid:\t7\t0\t7\t7"),
            ("Uid:\t7\t7\t7\t7", "Uid:\t7\t7\t0\t7"),
            ("Gid:\t8\t8\t8\t8", "Gid:\t8\t9\t9\t9"),
            ("CapInh:\t0000000000000000", "CapInh:\t0000000000002000"),
            ("CapPrm:\t0000000000000000", "CapPrm:\t0000000000002000"),
            ("CapEff:\t0000000000000000", "CapEff:\t0000000000002000"),
            ("CapAmb:\t0000000000000000", "CapAmb:\t0000000000002000"),
            ("NoNewPrivs:\t1", "NoNewPrivs:\t0"),
        ] {
            assert_eq!(check(&STATUS.replace(line, privileged)), Err(privileged.replace('\t', " ")));
            let (name, _) = line.split_once('\t').unwrap();
            assert_eq!(check(&STATUS.replace(line, "")), Err(format!("no line {name}")));
        }
    }
}
