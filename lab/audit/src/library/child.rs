//! The process that loads a library and calls its functions.

use super::foreign::{Guarded, HashFunction, TableFunctions};
use super::fork;
use super::measure;
use super::privilege;
use super::wire::{self, Guard, HEAD, Reply, Request};
use crate::keys::Keys;
use nix::errno::Errno;
use nix::sys::prctl;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use nix::sys::signal::Signal;
use nix::sys::wait::{WaitPidFlag, waitpid};
use nix::unistd::{dup2_stdin, getppid};
use std::fs::File;
use std::io::{self, Read, Write};
use std::mem::ManuallyDrop;
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

/// Exit status of a process whose connection was closed.
pub(super) const CONNECTION_LOST: i32 = 71;

/// Most memory of the process in bytes, with what is only reserved: runtimes such as Go's reserve much.
const MOST_MEMORY: u64 = 16 << 30;

/// Readable bytes after the last key, so that a function that reads a little too far reads zeros.
const PADDING: usize = 64;

/// Loads a library and answers requests about it, until the connection on standard input is closed.
///
/// For a program that a [`Launcher`](super::Launcher) starts, and for no other use. Libraries may do anything
/// in this process, which ends with the thread that has started it, but with the rights of its user alone: it
/// gives up all capabilities first, and starts its program anew to do so. A library that starts a process
/// ends this one by SIGSYS.
pub fn child_main() -> ! {
    let may_load = privilege::drop_all();
    // Without a filter, processes are seen after each request: an orphan of the library's is not.
    let _ = fork::forbid();
    let result = connect().and_then(|stream| serve(&mut ManuallyDrop::new(stream), &may_load));
    std::process::exit(if result.is_ok() { 0 } else { CONNECTION_LOST })
}

/// Limits the process, and takes the connection from standard input, which is then empty.
fn connect() -> io::Result<UnixStream> {
    prctl::set_pdeathsig(Signal::SIGKILL)?;
    // A core dump that is piped to a program is not subject to the limit.
    prctl::set_dumpable(false)?;
    setrlimit(Resource::RLIMIT_CORE, 0, 0)?;
    let (_, most) = getrlimit(Resource::RLIMIT_AS)?;
    let most = most.min(MOST_MEMORY);
    setrlimit(Resource::RLIMIT_AS, most, most)?;
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    dup2_stdin(File::open("/dev/null")?)?;
    Ok(stream)
}

/// The library of this process.
enum Loaded {
    Nothing,
    Hash(HashFunction),
    Table(TableFunctions),
}

/// A stream that the library has closed must not be closed again, which aborts the process: see `child_main`.
fn serve(stream: &mut UnixStream, may_load: &Result<(), String>) -> io::Result<()> {
    let mut loaded = Loaded::Nothing;
    let mut measured = Keys::default();
    loop {
        let mut head = [0; HEAD];
        match stream.read_exact(&mut head) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(()),
            read => read?,
        }
        let invalid = || io::Error::from(io::ErrorKind::InvalidData);
        let (number, len) = wire::parse_head(head).ok_or_else(invalid)?;
        let mut body = vec![0; len];
        stream.read_exact(&mut body)?;
        let process = std::process::id();
        let reply = match (Request::decode(&body).ok_or_else(invalid)?, &loaded) {
            (Request::LoadHash { parent, path, symbol, signature }, _) => {
                check_parent(parent)?;
                let function = may_load.clone().and_then(|()| {
                    let signature = signature.parse().map_err(|error| format!("{error}"))?;
                    HashFunction::load(&path, &symbol, signature)
                });
                settle(function.map(Loaded::Hash), &mut loaded)
            }
            (Request::LoadTable { parent, path }, _) => {
                check_parent(parent)?;
                let functions = may_load.clone().and_then(|()| TableFunctions::load(&path));
                settle(functions.map(Loaded::Table), &mut loaded)
            }
            (Request::Hash { seed, guard, keys }, Loaded::Hash(function)) => {
                hash_all(function, &seed, guard, &keys)
            }
            (Request::HashUnderAll { seeds, keys }, Loaded::Hash(function)) => {
                let all = seeds.iter().map(|seed| hash_all(function, seed, Guard::Nothing, &keys));
                let mut hashes = Vec::with_capacity(seeds.len() * keys.len());
                let refused = all.into_iter().find_map(|reply| match reply {
                    Reply::Hashes(some) => {
                        hashes.extend(some);
                        None
                    }
                    other => Some(other),
                });
                refused.unwrap_or(Reply::Hashes(hashes))
            }
            (Request::Keys(keys), Loaded::Table(_)) => {
                measured.extend(keys.iter());
                Reply::Ready
            }
            (Request::Measure { seed, capacity, batch }, Loaded::Table(functions)) => {
                let keys = std::mem::take(&mut measured);
                let mut report = |sample| {
                    end_if_copied(process);
                    reply_to(stream, number, &Reply::Sample(sample))
                };
                match measure::fill(functions, &seed, capacity, batch, &keys, &mut report)? {
                    Ok(()) => Reply::Ready,
                    Err(why) => Reply::Refused(why),
                }
            }
            _ => Reply::Refused("nothing fit for this request is loaded".to_owned()),
        };
        end_if_copied(process);
        let reply = if has_children() { Reply::Refused(FORKED.to_owned()) } else { reply };
        reply_to(stream, number, &reply)?;
    }
}

/// Ends a copy of the process that the library has made.
fn end_if_copied(process: u32) {
    if std::process::id() != process {
        std::process::abort();
    }
}

/// Fault of a library that starts processes.
pub(super) const FORKED: &str =
    "the library has started a process, or tried to; a hash function or a table must start none";

/// True if this process has children, ended or not.
fn has_children() -> bool {
    !matches!(waitpid(None, Some(WaitPidFlag::WNOHANG)), Err(Errno::ECHILD))
}

/// # Errors
/// The process that has sent the request is gone: the death signal was set too late.
fn check_parent(parent: u32) -> io::Result<()> {
    if u32::try_from(getppid().as_raw()) == Ok(parent) {
        Ok(())
    } else {
        Err(io::ErrorKind::NotConnected.into())
    }
}

fn settle(result: Result<Loaded, String>, loaded: &mut Loaded) -> Reply {
    match result {
        Ok(now) => {
            *loaded = now;
            Reply::Ready
        }
        Err(why) => Reply::Refused(why),
    }
}

fn reply_to(stream: &mut UnixStream, number: u32, reply: &Reply) -> io::Result<()> {
    let body = reply.encode();
    stream.write_all(&wire::head(number, &body))?;
    stream.write_all(&body)
}

fn hash_all(function: &HashFunction, seed: &[u8; 16], guard: Guard, keys: &Keys) -> Reply {
    let mut memory;
    let seed = match guard {
        Guard::Nothing => seed,
        Guard::Keys => return hash_guarded(function, seed, keys),
        Guard::Seed => {
            memory = match Guarded::new(seed.len()) {
                Ok(memory) => memory,
                Err(error) => return Reply::Refused(format!("no memory for a seed: {error}")),
            };
            match memory.place(seed).map(TryFrom::try_from) {
                Some(Ok(seed)) => seed,
                _ => return Reply::Refused("no room for a seed".to_owned()),
            }
        }
    };
    // The keys lie in one piece of memory, one after the other.
    let mut bytes: Vec<u8> = keys.iter().flatten().copied().collect();
    bytes.extend([0; PADDING]);
    let mut rest = bytes.as_slice();
    let mut hashes = Vec::with_capacity(keys.len());
    for key in keys.iter() {
        let (key, after) = rest.split_at(key.len().min(rest.len()));
        hashes.push(function.hash(seed, key));
        rest = after;
    }
    Reply::Hashes(hashes)
}

/// Hashes each key at the end of readable memory.
fn hash_guarded(function: &HashFunction, seed: &[u8; 16], keys: &Keys) -> Reply {
    let longest = keys.iter().map(<[u8]>::len).max().unwrap_or(0);
    let mut memory = match Guarded::new(longest) {
        Ok(memory) => memory,
        Err(error) => return Reply::Refused(format!("no memory for keys of {longest} bytes: {error}")),
    };
    match keys.iter().map(|key| Some(function.hash(seed, memory.place(key)?))).collect() {
        Some(hashes) => Reply::Hashes(hashes),
        None => Reply::Refused(format!("no room for keys of {longest} bytes")),
    }
}
