//! Functions and files that do harm: each ends in its fault, within bounded time.

use crate::support::{CHILD, LIMIT, Object, keys, launcher, run};
use hashlane_audit::library::{Launcher, Library};
use hashlane_audit::subject::{AuditedHash, Fault, Lengths};
use hashlane_hash::scheme::Key;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// Limit of libraries that do not return.
const SHORT: Duration = Duration::from_secs(2);

const MEANT: &str = "uint64_t f(const uint8_t *p, size_t n, uint64_t seed)";

fn hash(library: &mut Library) -> Result<Vec<u64>, Fault> {
    let mut hashes = Vec::new();
    library.hash_all(&Key::VECTOR, &keys(100), &mut hashes).map(|()| hashes)
}

/// The fault of a function with this body.
#[track_caller]
fn fault(body: &str, limit: Duration) -> Fault {
    let object = Object::of(&format!("{MEANT} {{ (void)p; (void)n; (void)seed; {body} }}"));
    hash(&mut object.library(limit).unwrap()).unwrap_err()
}

#[track_caller]
fn says(fault: &Fault, part: &str) {
    assert!(matches!(fault, Fault::Unusable(why) if why.contains(part)), "{fault:?}");
}

#[test]
fn crashes_and_exits_are_named() {
    let crashed = |how: &str| Fault::Crashed(how.to_owned());
    assert_eq!(fault("return *(volatile int *)(n - 28);", LIMIT), crashed("signal 11 (SIGSEGV)"));
    assert_eq!(fault("abort();", LIMIT), crashed("signal 6 (SIGABRT)"));
    assert_eq!(fault("exit(0);", LIMIT), crashed("exit status 0"));
    assert_eq!(fault("_exit(9);", LIMIT), crashed("exit status 9"));
    assert_eq!(fault("raise(SIGKILL); return 0;", LIMIT), crashed("signal 9 (SIGKILL)"));
    // The standard library reports a full stack by another signal than the kernel.
    let full = fault("volatile char a[1 << 20]; a[0] = 1; return f(p, n + a[0], seed) + a[0];", LIMIT);
    assert!(matches!(full, Fault::Crashed(_)), "{full:?}");
}

#[test]
fn a_library_has_neither_a_terminal_nor_descriptors_of_the_command() {
    // Not closed by exec.
    let inherited = rustix::io::dup(std::fs::File::open("/dev/null").unwrap()).unwrap();
    let body = "if (getsid(0) != getpid() || open(\"/dev/tty\", 2) >= 0) _exit(40);
                for (int fd = 4; fd < 1024; fd++) if (fcntl(fd, 1) >= 0) _exit(41); _exit(42);";
    assert_eq!(fault(body, LIMIT), Fault::Crashed("exit status 42".to_owned()));
    drop(inherited);
}

#[test]
fn endless_loops_and_sleeps_reach_the_limit() {
    let start = Instant::now();
    assert_eq!(fault("for (volatile int i = 0;; i++);", SHORT), Fault::Hung(2));
    assert_eq!(
        fault("sigset_t s; sigfillset(&s); sigprocmask(SIG_BLOCK, &s, 0); sleep(999); return 0;", SHORT),
        Fault::Hung(2)
    );
    let object = Object::of(&format!(
        "__attribute__((constructor)) static void delay(void) {{ sleep(999); }}
         {MEANT} {{ return *p + n + seed; }}"
    ));
    says(&object.library(SHORT).unwrap_err(), "loading it has not ended within 2 s");
    // An exit handler that does not return.
    assert_eq!(fault("atexit((void (*)(void))pause); exit(0);", SHORT), Fault::Hung(2));
    assert!(start.elapsed() < LIMIT);
}

#[test]
fn output_does_not_disturb() {
    let object = Object::of(&format!(
        "__attribute__((constructor)) static void hello(void) {{ puts(\"loaded\"); fflush(stdout); }}
         {MEANT} {{
            puts(\"hello\"); fflush(stdout); fputs(\"err\", stderr); write(1, p, n);
            return getchar() == EOF ? seed : 1;
        }}"
    ));
    let (low, _) = Key::VECTOR.halves();
    assert_eq!(hash(&mut object.library(LIMIT).unwrap()), Ok(vec![low; 100]));
}

#[test]
fn foreign_writes_and_closed_descriptors_are_faults() {
    says(
        &fault(
            "for (int d = 3; d < 99; d++) if (write(d, \"garbage garbage!\", 16) < 0) seed++; return seed;",
            LIMIT,
        ),
        "not opened",
    );
    says(&fault("for (int d = 0; d < 999; d++) close(d); return 0;", LIMIT), "closed a descriptor");
    // A closed connection, and no end.
    says(&fault("for (int d = 0; d < 999; d++) close(d); for (;;) pause();", LIMIT), "closed a descriptor");
    // A reply of the right form, of fewer hashes than keys.
    says(
        &fault(
            "uint32_t head[] = {2, 1};
             for (int d = 3; d < 99; d++) { write(d, head, 8); write(d, \"\\2\", 1); }
             return seed;",
            LIMIT,
        ),
        "not opened",
    );
}

#[test]
fn processes_of_a_function_are_faults_and_end_with_it() {
    for start in [
        "static int once; if (!once++) fork(); return seed;",
        "if (!fork()) { setsid(); sleep(20); _exit(0); } return seed;",
        "if (!fork()) for (;;) pause(); _exit(3);",
        // An orphan that has left the group and the session: a daemon.
        "if (!fork()) { if (!fork()) { setsid(); sleep(20); } _exit(0); } wait(0); return seed;",
        "if (!vfork()) _exit(0); wait(0); return seed;",
        "return seed + system(\"true\");",
        "for (int i = 0; i < 50; i++) if (!fork()) { sleep(20); _exit(0); } return seed;",
    ] {
        says(&fault(start, LIMIT), "started a process");
    }
    says(
        &fault(
            "pthread_t t; pthread_create(&t, 0, (void *(*)(void *))fork, 0); pthread_join(t, 0); return seed;",
            LIMIT,
        ),
        "started a process",
    );
}

#[test]
fn a_daemon_of_a_library_does_not_outlive_it() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("pid");
    let path = file.display();
    let daemon = format!(
        "if (fork() <= 0) {{
            if (fork() <= 0) {{
                setsid(); FILE *file = fopen(\"{path}\", \"w\"); fprintf(file, \"%d\", getpid()); fclose(file);
                sleep(20);
            }}
            _exit(0);
        }}
        sleep(1); return seed;"
    );
    says(&fault(&daemon, LIMIT), "started a process");
    std::thread::sleep(Duration::from_millis(200));
    assert!(!file.exists(), "the daemon has run");
}

#[test]
fn threads_of_a_library_are_no_processes() {
    let object = Object::of(&format!(
        "static void *run(void *seed) {{ ++*(uint64_t *)seed; return 0; }}
         {MEANT} {{
            pthread_t t; if (pthread_create(&t, 0, run, &seed)) abort();
            pthread_join(t, 0); return seed + 0 * (*p + n);
        }}"
    ));
    let (low, _) = Key::VECTOR.halves();
    assert_eq!(hash(&mut object.library(LIMIT).unwrap()), Ok(vec![low.wrapping_add(1); 100]));
}

#[test]
fn a_process_starts_anew_after_a_crash_a_few_times() {
    let object = Object::of(&format!("{MEANT} {{ if (n == 1) abort(); return *p + seed; }}"));
    let mut library = object.library(LIMIT).unwrap();
    let crash = |library: &mut Library| {
        let mut hashes = Vec::new();
        library.hash_all(&Key::VECTOR, &["x"].into_iter().collect(), &mut hashes)
    };
    let crashed = Fault::Crashed("signal 6 (SIGABRT)".into());
    for _ in 0..3 {
        assert_eq!(crash(&mut library), Err(crashed.clone()));
        assert_eq!(hash(&mut library).map(|hashes| hashes.len()), Ok(100));
    }
    assert_eq!(crash(&mut library), Err(crashed.clone()));
    assert_eq!(hash(&mut library), Err(crashed), "the fourth process was the last");
}

/// Waits until a process is gone, or, if `zombie`, until it waits to be reaped.
#[track_caller]
fn ends(pid: u64, zombie: bool) {
    let start = Instant::now();
    let is_there = || match std::fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => !(zombie && stat.contains(") Z ")),
        Err(_) => false,
    };
    while is_there() {
        assert!(start.elapsed() < LIMIT, "process {pid} has not ended");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn nothing_is_loaded_by_a_process_that_cannot_give_up_its_privileges() {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    if ["NoNewPrivs:\t1\n", "CapPrm:\t0000000000000000\n"].iter().all(|line| status.contains(line)) {
        eprintln!("not tested: this process has no privileges, and can gain none");
        return;
    }
    let object = Object::of(&format!("{MEANT} {{ return *p + n + seed; }}"));
    let signature = "u64(const u8*, usize, u64 seed)".parse().unwrap();
    // Its file is gone once it runs, so that it cannot be started again.
    let copy = object.path().with_file_name("child");
    run(Command::new("cp").arg(std::env::current_exe().unwrap()).arg(&copy));
    let script = "exec 9<\"$0\"; rm \"$0\"; exec /proc/self/fd/9 \"$@\"";
    let arguments = ["-c", script, copy.to_str().unwrap()].into_iter().chain(CHILD);
    let launcher = Launcher::program("sh".into(), arguments);
    let loaded = Library::load(launcher, &object.path(), "f", &signature, Lengths::Any, LIMIT);
    says(&loaded.unwrap_err(), "cannot give them up: cannot start ");
}

#[test]
fn the_process_is_reaped_when_the_library_is_dropped() {
    let object = Object::of(&format!("{MEANT} {{ return getpid(); }}"));
    let mut library = object.library(LIMIT).unwrap();
    let pid = hash(&mut library).unwrap()[0];
    drop(library);
    assert!(!Path::new(&format!("/proc/{pid}")).exists());
}

/// Variable with the path of the library that [`wait_in_library`] loads.
const WAITING: &str = "HASHLANE_TEST_LIBRARY";

/// Calls a function that does not return.
pub(crate) fn wait_in_library() {
    let path = std::env::var_os(WAITING).unwrap();
    let signature = "u64(const u8*, usize)".parse().unwrap();
    let mut library =
        Library::load(launcher(), Path::new(&path), "f", &signature, Lengths::Any, LIMIT * 10).unwrap();
    let _ = hash(&mut library);
}

#[test]
fn the_process_ends_with_the_one_that_started_it() {
    let folder = TempDir::new().unwrap();
    let file = folder.path().join("pid");
    // The file appears with its content.
    let (path, part) = (file.display(), folder.path().join("part").display().to_string());
    let object = Object::of(&format!(
        "uint64_t f(const uint8_t *p, size_t n) {{
            FILE *file = fopen(\"{part}\", \"w\");
            fprintf(file, \"%d\", getpid()); fclose(file); rename(\"{part}\", \"{path}\");
            for (;;) pause();
        }}"
    ));
    let mut parent = Command::new(std::env::current_exe().unwrap());
    parent.args(["--exact", "parent", "--ignored"]).env(WAITING, object.path());
    let mut parent = parent.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let start = Instant::now();
    while !file.exists() {
        assert!(start.elapsed() < LIMIT, "the library was not called");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = std::fs::read_to_string(&file).unwrap().parse().unwrap();
    parent.kill().unwrap();
    parent.wait().unwrap();
    // Its new parent may not reap it.
    ends(pid, true);
}

#[test]
fn an_end_between_two_requests_is_no_fault_of_the_next() {
    let object = Object::of(&format!(
        "{MEANT} {{ if (n == 1 && *p == 'x') alarm(1); return getpid() + 0 * (*p + seed); }}"
    ));
    let mut library = object.library(LIMIT).unwrap();
    let mut pids = Vec::new();
    assert_eq!(library.hash_all(&Key::VECTOR, &["x"].into_iter().collect(), &mut pids), Ok(()));
    ends(pids[0], true);
    let after = hash(&mut library).unwrap();
    assert!(after.len() == 100 && after[0] != pids[0], "{after:?} {pids:?}");
}

#[test]
fn files_that_cannot_be_loaded_are_named_with_the_next_step() {
    let folder = TempDir::new().unwrap();
    let load = |path: &Path, symbol: &str| {
        let signature = "u64(const u8*, usize)".parse().unwrap();
        Library::load(launcher(), path, symbol, &signature, Lengths::Any, LIMIT).unwrap_err()
    };
    let written = |name: &str, content: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    says(&load(folder.path(), "f"), "not a file");
    says(&load(&folder.path().join("none.so"), "f"), "No such file");
    says(&load(&written("empty.so", b""), "f"), "-shared -fPIC");
    says(
        &load(&written("text.so", b"no shared object, but more than a header of one has: 64 bytes"), "f"),
        "-shared -fPIC",
    );
    let object = Object::of(&format!("{MEANT} {{ return *p + n + seed; }}"));
    says(&load(&object.path(), "g"), "nm -D");
    says(&load(&object.path(), "a\0b"), "no symbol");
    let unresolved =
        Object::of("extern int nowhere(void); uint64_t f(void *p) { return nowhere() + (p == 0); }");
    says(&load(&unresolved.path(), "f"), "nowhere");
    let crashing = Object::of("__attribute__((constructor)) static void crash(void) { abort(); }");
    says(&load(&crashing.path(), "f"), "loading it has ended its process: signal 6 (SIGABRT)");
}
