//! Privileges of the command reach no shared object, and no program that it starts.

use hashlane_rig::command::{Folder, NOBODY, Ran, copied_to, holds, is_root};
use rustix::fs::{XattrFlags, setxattr};
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variable with the path of the file that the constructor writes.
const STATUS: &str = "HASHLANE_TEST_STATUS";

/// Writes the rights of its process and of the one that started it.
const CONSTRUCTOR: &str = r#"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void copy(FILE *to, const char *path) {
    char line[1024];
    FILE *from = fopen(path, "r");
    while (fgets(line, sizeof line, from))
        if (strstr(line, "Cap") == line || strstr(line, "NoNewPrivs") == line) fputs(line, to);
    fclose(from);
}
__attribute__((constructor)) static void loaded(void) {
    char parent[64];
    snprintf(parent, sizeof parent, "/proc/%d/status", getppid());
    FILE *to = fopen(getenv("HASHLANE_TEST_STATUS"), "w");
    copy(to, "/proc/self/status");
    copy(to, parent);
    fclose(to);
    _exit(3);
}
"#;

/// The number of CAP_NET_RAW.
const NET_RAW: u32 = 13;

/// A folder with the command and the shared object.
struct Unprivileged {
    folder: Folder,
    program: PathBuf,
}

impl Unprivileged {
    fn new() -> Self {
        let folder = Folder::new();
        let source = folder.write("f.c", CONSTRUCTOR);
        let mut compiler = Command::new("cc");
        compiler.args(["-shared", "-fPIC", "-o"]).arg(folder.path("f.so")).arg(source);
        assert!(compiler.status().unwrap().success());
        // The constructor writes here, as any user.
        fs::create_dir(folder.path("out")).unwrap();
        fs::set_permissions(folder.path("out"), Permissions::from_mode(0o777)).unwrap();
        let program = copied_to(&folder.path(""), "hashlane");
        Self { folder, program }
    }

    /// Rights in the constructor, and rights of the command, by the name of their line, for `--library` and
    /// for `--table`. `None` if the object was not loaded; with the end of the command.
    fn loaded(&self, command: impl Fn() -> Command) -> [(Option<[Rights; 2]>, Ran); 2] {
        let signature = ["--signature", "u64(const u8*, usize)", "--symbol", "f"];
        [&[&["--library", "./f.so"], &signature[..]].concat()[..], &["--table", "./f.so"]].map(|arguments| {
            let file = self.folder.path("out/status");
            let mut command = command();
            command.arg("audit").args(arguments).current_dir(self.folder.path("")).env(STATUS, &file);
            let ran = Ran::of(command);
            assert_eq!(ran.code, Some(2), "{ran:#?}");
            let status = fs::read_to_string(&file).ok();
            let _ = fs::remove_file(file);
            (status.map(|status| [Rights::nth(&status, 0), Rights::nth(&status, 1)]), ran)
        })
    }

    /// Asserts that the object is loaded without capabilities by a command that has CAP_NET_RAW.
    #[track_caller]
    fn loses_capabilities(&self, command: impl Fn() -> Command) {
        for (loaded, ran) in self.loaded(command) {
            let [object, audit] = loaded.unwrap_or_else(|| panic!("not loaded: {ran:#?}"));
            assert!(audit.effective >> NET_RAW & 1 == 1, "the command has no capability here: {audit:?}");
            let none = [object.inheritable, object.permitted, object.effective, object.ambient];
            assert!(none == [0; 4] && object.no_new_privs, "{object:?}");
            // The constructor was the last thing that ran.
            holds(&(ran.out + &ran.err), &["loading it has ended its process: exit status 3"]);
        }
    }
}

/// Rights of a process, from `/proc/PID/status`.
#[derive(Debug)]
struct Rights {
    inheritable: u64,
    permitted: u64,
    effective: u64,
    ambient: u64,
    no_new_privs: bool,
}

impl Rights {
    /// Rights of one of the processes in a text.
    fn nth(status: &str, number: usize) -> Self {
        let value = |name: &str| {
            let mut values = status.lines().filter_map(|line| line.strip_prefix(name));
            u64::from_str_radix(values.nth(number).expect(name).trim(), 16).unwrap()
        };
        Self {
            inheritable: value("CapInh:"),
            permitted: value("CapPrm:"),
            effective: value("CapEff:"),
            ambient: value("CapAmb:"),
            no_new_privs: value("NoNewPrivs:") == 1,
        }
    }
}

/// Tests if programs can have more rights than the process that starts them; with CI=true they must.
fn can_gain() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let gains = status.contains("NoNewPrivs:\t0\n");
    assert!(gains || std::env::var_os("CI").is_none(), "this needs a process without no_new_privs");
    if !gains {
        eprintln!("not tested: no_new_privs is set here");
    }
    gains && is_root()
}

fn nobody(program: &Path) -> Command {
    let mut command = Command::new(program);
    command.uid(NOBODY).gid(NOBODY);
    command
}

/// As `setcap cap_net_raw+ep`: revision 2 with the effective flag, then permitted and inheritable sets.
fn add_capability(program: &Path) {
    let words = [0x0200_0001, 1 << NET_RAW, 0, 0, 0];
    let value: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    setxattr(program, "security.capability", &value, XattrFlags::empty()).unwrap();
}

#[test]
fn a_shared_object_has_no_capability_of_the_file_or_the_user() {
    if !can_gain() {
        return;
    }
    let bench = Unprivileged::new();
    bench.loses_capabilities(|| Command::new(&bench.program));
    bench.loses_capabilities(|| {
        let mut command = Command::new("setpriv");
        let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}")];
        command.args(ids).args(["--clear-groups", "--inh-caps=+net_raw", "--ambient-caps=+net_raw"]);
        command.arg(&bench.program);
        command
    });
    add_capability(&bench.program);
    bench.loses_capabilities(|| nobody(&bench.program));
}

#[test]
fn nothing_runs_setuid_or_setgid() {
    if !can_gain() {
        return;
    }
    let bench = Unprivileged::new();
    for mode in [0o4755, 0o2755] {
        fs::set_permissions(&bench.program, Permissions::from_mode(mode)).unwrap();
        for (loaded, ran) in bench.loaded(|| nobody(&bench.program)) {
            assert!(loaded.is_none(), "{loaded:?}");
            holds(&ran.err, &["hashlane: ", " 65534 with the rights of ", " 0", "chmod ug-s"]);
        }
        let listed = Ran::of(nobody(&bench.program).arg("schemes"));
        assert!(listed.code == Some(2) && listed.out.is_empty(), "{listed:#?}");
    }
}

#[test]
fn a_program_found_by_path_has_no_capability_of_the_file() {
    if !can_gain() {
        return;
    }
    let bench = Unprivileged::new();
    add_capability(&bench.program);
    let mut command = nobody(&bench.program);
    command.args(["lab", "child", "--parent", &std::process::id().to_string(), "--"]);
    let out = Ran::of(command.args(["cat", "/proc/self/status"])).ok();
    let rights = Rights::nth(&out, 0);
    assert_eq!((rights.permitted, rights.effective, rights.ambient), (0, 0, 0), "{rights:?}");
}
