//! Studies of kernels, with stand-ins for the tools and for the kernel: lookup of tools, builds, caches,
//! messages, and the end of processes.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

use hashlane_rig::children::start;
use hashlane_rig::command::{Folder, Ran, holds, lines};
use std::fmt::Write as _;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const STUDY: &str = r#"
slug = "mine"
model = "kernel"
metric = "ns"
per = "SYN"
title = "Kernels of one's own"
question = "Does it run?"
source = "nobody"
workloads = ["streams/64", "cycles/independent", "syn/xor"]
schemes = ["{base,flat}", "{base,flat}@{0,64}"]
reference = "base"
control = ["base/again", "base"]
[size]
quick = { items = 4, repetitions = 2 }
full = { items = 4, repetitions = 2 }
"#;

/// Prints the lines of a kernel, with figures that depend on its build. Lines end as on a terminal.
const KERNEL: &str = r#"#!/bin/sh
say() { printf 'hashlane: %s\r\n' "$*"; }
f=1; test "$NAME" = flat && f=2
echo "Linux version of nobody"
left=null entries=16640
cycles='{"independent":['$((13 * f))',14]}'
streams='{"64":['$((15 * f))',16]}'
points='{"0":[8000,8100],"64":['$((80000 / f))']}'
syn='{"points":'"$points"',"longest":'$((96 / f))',"table":[16640,'$entries'],"left":'$left'}'
figures='"cycles":'"$cycles"',"streams":'"$streams"',"floor":[5000],"syn":{"xor":'"$syn"'}'
say '{"Doing":"all"}'
say '{"Done":{"checked":257,'"$figures"'}}'
"#;

/// Configures and builds as far as the command can see, and counts its calls.
const MAKE: &str = r#"#!/bin/sh
test "$1" = -C && cd "$2" || exit 2
echo "$@" >> "$STAND_INS/made"
case "$*" in
*allnoconfig*)
    for word; do case "$word" in KCONFIG_ALLCONFIG=*) cp "${word#*=}" .config ;; esac; done ;;
*)
    name=$(sed -n 's/.*HASHLANE_NAME "\(.*\)"/\1/p' net/ipv6/hashlane_scheme.h)
    echo "  CC      net/ipv6/inet6_hashtables.o"
    sed "s/\$NAME/$name/" "$STAND_INS/kernel" > linux; chmod +x linux ;;
esac
"#;

/// Tools that are only looked up.
const IDLE: [&str; 5] = ["ld", "flex", "bison", "bc", "perl"];

/// Tools of the system's own.
const REAL: [&str; 10] = ["sh", "tar", "xz", "sed", "cp", "chmod", "cat", "sleep", "echo", "kill"];

struct StandIns {
    folder: Folder,
    source: PathBuf,
}

impl StandIns {
    fn new(kernel: &str) -> Self {
        let folder = Folder::new();
        folder.write("mine.toml", STUDY);
        folder.write("kernel", kernel);
        let tools = folder.path("tools");
        fs::create_dir(&tools).unwrap();
        let script = |name: &str, text: &str| {
            let path = folder.write(&format!("tools/{name}"), text);
            fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
        };
        script("make", MAKE);
        script("gcc", "#!/bin/sh\necho gcc of nobody\n");
        IDLE.iter().for_each(|name| script(name, "#!/bin/sh\nexit 1\n"));
        for name in REAL {
            symlink(found(name), tools.join(name)).unwrap();
        }
        let source = source(&folder);
        Self { folder, source }
    }

    fn command(&self) -> Command {
        let source = self.source.to_str().unwrap();
        let mut command =
            self.folder.command(&["study", "run", "mine.toml", "--out", "a", "--linux-source", source]);
        command.env("PATH", self.folder.path("tools"));
        command.env("XDG_CACHE_HOME", self.folder.path("cache")).env("STAND_INS", self.folder.path(""));
        command
    }

    fn run(&self) -> Ran {
        Ran::of(self.command())
    }

    /// Targets that `make` was called with.
    fn made(&self) -> Vec<String> {
        lines(&self.folder.path("made"))
    }
}

/// A program of the system.
fn found(name: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    let found = std::env::split_paths(&path).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.unwrap_or_else(|| panic!("this test needs `{name}`"))
}

/// An archive with the files that the study changes.
fn source(folder: &Folder) -> PathBuf {
    for path in ["linux/net/ipv6", "linux/arch/x86/um"] {
        fs::create_dir_all(folder.path(path)).unwrap();
    }
    folder.write("linux/Makefile", "VERSION = 6\nPATCHLEVEL = 1\nSUBLEVEL = 192\n");
    folder.write("linux/arch/x86/um/user-offsets.c", "DEFINE_LONGS(HOST_FP_SIZE, 2696);\n");
    let text = "\nu32 inet6_ehashfn(void)\n{\n}\nEXPORT_SYMBOL_GPL(inet6_ehashfn);\n";
    folder.write("linux/net/ipv6/inet6_hashtables.c", text);
    let archive = folder.path("linux-source-6.1.tar.xz");
    let tar =
        Command::new("tar").arg("-cJf").arg(&archive).arg("-C").arg(folder.path("")).arg("linux").status();
    assert!(tar.unwrap().success());
    archive
}

#[test]
fn kernels_are_built_once_and_booted_again_and_again() {
    let stand_ins = StandIns::new(KERNEL);
    let out = stand_ins.run().ok();
    holds(
        &out,
        &[
            "super_netperf",
            "A/B and A/A",
            "inet6_ehashfn: cycles per call, independent calls",
            "syn/xor: ns per SYN",
            "Attack syn/xor, 64 hostile flows: slowed: base ",
            "note: Linux 6.1.192 as User Mode Linux, of linux-source-6.1.tar.xz, by gcc of nobody",
            "note: 1542 hashes of the kernels equal those of our crates",
        ],
    );
    let records = fs::read_to_string(stand_ins.folder.path("a/records.csv")).unwrap();
    holds(
        &records,
        &[
            "\nmine,kernel-streams,streams/64,base,boots,mbit_per_second,Mbit/s,15.5,",
            "\nmine,kernel-streams,streams/64,flat,boots,again,boots,1.0,",
            "\nmine,kernel-syn,syn/xor,base@64,boots,ns,ns,",
            "\nmine,kernel-syn,syn/xor,flat@64,count,longest_chain,entries,48.0,",
            // The A/A control, of both kinds of figures.
            "\nmine,kernel-streams,streams/64,base/again,boots,ratio,base,1.0,",
            "\nmine,kernel-syn,syn/xor,base/again,boots,ratio,base,1.0,",
        ],
    );
    let first = stand_ins.made();
    assert_eq!(first.len(), 3, "one configuration, two kernels: {first:?}");
    let tree = stand_ins.folder.path("cache/hashlane/flow-kernel/linux/net/ipv6/inet6_hashtables.c");
    holds(&fs::read_to_string(tree).unwrap(), &["hashlane_ehash.h", "hashlane_probe.h"]);

    stand_ins.run().ok();
    assert_eq!(stand_ins.made(), first, "what is there is taken");
    assert!(!stand_ins.folder.path("cache/hashlane/flow-kernel/run").exists());
}

#[test]
fn a_kernel_that_fails_says_why() {
    let stand_ins = StandIns::new("#!/bin/sh\nprintf 'hashlane: {\"Failed\":\"no /proc/hashlane\"}\\r\\n'\n");
    holds(&stand_ins.run().failed(), &["study mine: the kernel with base: no /proc/hashlane"]);
    stand_ins.folder.write("kernel", "#!/bin/sh\necho Kernel panic; exit 1\n");
    fs::remove_dir_all(stand_ins.folder.path("cache")).unwrap();
    holds(&stand_ins.run().failed(), &["it ended early (exit status: 1)", "Kernel panic"]);
}

#[test]
fn lost_syns_are_counted_recorded_and_noted() {
    let lost = "left=300 entries=$((16640 - 7588 * (f - 1)))";
    let stand_ins = StandIns::new(&KERNEL.replace("left=null entries=16640", lost));
    let note = "flat lost requests in 2 of 2 boots; at worst the table had 9052 entries after 16640 SYNs";
    let out = stand_ins.run().ok();
    holds(&out, &[&format!("note: syn/xor: {note}"), "300 requests stayed in the table of base"]);
    let records = fs::read_to_string(stand_ins.folder.path("a/records.csv")).unwrap();
    holds(
        &records,
        &[
            "\nmine,kernel-syn,syn/xor,base@64,count,lost_entries,entries,0.0,",
            "\nmine,kernel-syn,syn/xor,flat@64,count,lost_entries,entries,7588.0,",
            "\nmine,kernel-syn,syn/xor,flat@64,boots,ns,ns,",
        ],
    );
    holds(&fs::read_to_string(stand_ins.folder.path("a/report.html")).unwrap(), &[note]);
}

#[test]
fn records_are_kept_as_each_boot_ends() {
    // The second kernel says nothing: the run is killed while it waits.
    let silent = KERNEL.replace("f=1;", "test \"$NAME\" = flat && exec sleep 1000; f=1;");
    let stand_ins = StandIns::new(&silent);
    let mut child = start(stand_ins.command().stdout(Stdio::null()).stderr(Stdio::null()));
    let path = stand_ins.folder.path("a/records.csv");
    let begun = Instant::now();
    while !path.exists() && begun.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let records = fs::read_to_string(&path).unwrap();
    holds(
        &records,
        &["\nmine,kernel-streams,streams/64,base,boots,mbit_per_second,Mbit/s,15.5,15.5,15.5,1,1\n"],
    );
    assert!(!records.contains("flat"), "{records}");
}

#[test]
fn a_boot_that_fails_costs_no_other_boot() {
    let says = "test \"$NAME\" = flat && { say '{\"Failed\":\"no luck\"}'; exit; }; f=1;";
    let fails = KERNEL.replace("f=1;", says);
    let stand_ins = StandIns::new(&fails);
    let ran = stand_ins.run();
    assert_eq!(ran.code, Some(1), "{ran:#?}");
    holds(&ran.err, &["hashlane: study mine: the kernel with flat: no luck"]);
    let records = fs::read_to_string(stand_ins.folder.path("a/records.csv")).unwrap();
    holds(&records, &["\nmine,kernel-syn,syn/xor,base@64,boots,ns,ns,"]);
    let machine = fs::read_to_string(stand_ins.folder.path("a/machine.toml")).unwrap();
    holds(&machine, &["partial = true", "study mine failed: the kernel with flat: no luck"]);
}

#[test]
fn a_study_may_leave_out_streams_or_syns() {
    // The kernel divides its command line at spaces, and hands what stands behind the dashes to its first
    // process.
    let asks = KERNEL.replace(
        "echo \"Linux",
        "all=\"$*\"; for word in $all; do case \"$word\" in init=*) init=${word#init=} ;; esac; done\n\
         $init ${all#*-- } 2> /dev/null; test $? -eq 1 || { say '{\"Failed\":\"wrong usage\"}'; exit; }\n\
         echo \"Linux",
    );
    for left_out in ["\"streams/64\", ", ", \"syn/xor\""] {
        let stand_ins = StandIns::new(&asks);
        let mut study = STUDY.replace(left_out, "");
        if left_out.contains("syn") {
            study = study
                .replace(", \"{base,flat}@{0,64}\"", "")
                .replace("metric = \"ns\"", "metric = \"cycles_min_mean\"");
        }
        stand_ins.folder.write("mine.toml", study);
        stand_ins.run().ok();
        let records = fs::read_to_string(stand_ins.folder.path("a/records.csv")).unwrap();
        holds(&records, &["\nmine,kernel,cycles/independent,flat,boots,cycles_min_mean,cycles,"]);
    }
}

#[test]
fn what_is_missing_is_named_by_its_package() {
    let stand_ins = StandIns::new(KERNEL);
    for name in ["flex", "xz"] {
        fs::remove_file(stand_ins.folder.path("tools").join(name)).unwrap();
    }
    holds(
        &stand_ins.run().failed(),
        &["some are missing: run `apt-get install flex xz-utils`, then repeat the command"],
    );
    assert!(!stand_ins.folder.path("cache").exists(), "nothing was begun");
}

#[test]
fn a_source_of_another_kind_is_refused() {
    let stand_ins = StandIns::new(KERNEL);
    stand_ins.folder.write("linux/net/ipv6/inet6_hashtables.c", "int other;\n");
    let again = Command::new("tar")
        .arg("-cJf")
        .arg(&stand_ins.source)
        .arg("-C")
        .arg(stand_ins.folder.path(""))
        .arg("linux")
        .status();
    assert!(again.unwrap().success());
    holds(&stand_ins.run().failed(), &["inet6_hashtables.c has no function inet6_ehashfn", "--linux-source"]);
    fs::write(&stand_ins.source, "no archive").unwrap();
    holds(&stand_ins.run().failed(), &["`tar -xJf ", "failed; last output"]);
    fs::remove_file(&stand_ins.source).unwrap();
    holds(&stand_ins.run().failed(), &["no source of Linux at"]);
}

#[test]
fn ctrl_c_ends_a_kernel_and_all_that_it_started() {
    let endless = "#!/bin/sh\nsleep 1000 &\necho $! > \"$STAND_INS/inside\"; wait\n";
    let stand_ins = StandIns::new(endless);
    let child = start(stand_ins.command().stdout(Stdio::piped()).stderr(Stdio::piped()));
    let inside = until(&stand_ins.folder.path("inside"));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
    let ran = Ran::finish(child);
    assert_eq!(ran.code, Some(130), "{ran:#?}");
    holds(&ran.out, &["stopped by Ctrl-C"]);
    // A zombie that its new parent has not fetched yet is at its end too.
    let state = fs::read_to_string(format!("/proc/{inside}/stat")).unwrap_or_default();
    assert!(state.is_empty() || state.contains(") Z "), "{state}");
}

/// Content of a file, once it is complete.
fn until(path: &Path) -> String {
    let begun = Instant::now();
    loop {
        match fs::read_to_string(path) {
            Ok(text) if text.ends_with('\n') => return text.trim().to_owned(),
            _ => assert!(begun.elapsed() < Duration::from_secs(60), "{} was not written", path.display()),
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn a_source_without_a_study_of_kernels_is_of_no_use() {
    let folder = Folder::new();
    let message = folder.run(&["study", "run", "flow-hash", "--linux-source", "x"]).failed();
    holds(&message, &["--linux-source is for flow-kernel"]);
}

#[test]
fn the_first_process_of_a_kernel_does_nothing_elsewhere() {
    let mut arguments = String::from("lab kernel-init");
    for (name, value) in [
        ("sizes", "64"),
        ("streams", "1"),
        ("slices", "1"),
        ("slice", "1"),
        ("attacks", "xor"),
        ("before", "0"),
        ("seed", "1"),
    ] {
        write!(arguments, " --{name} {value}").unwrap();
    }
    let arguments: Vec<&str> = arguments.split(' ').collect();
    holds(&Folder::new().run(&arguments).failed(), &["first process of a kernel", "flow-kernel"]);
}

#[test]
fn ids_that_are_not_known_are_refused_before_anything_is_built() {
    let folder = Folder::new();
    for (from, to, says) in [
        ("syn/xor", "syn/flood", "known: streams/BYTES"),
        ("streams/64", "streams/0", "unknown workload \"streams/0\""),
        ("cycles/independent", "cycles/all", "cycles/{independent,dependent,miss,hit}"),
        ("{0,64}", "{0,65537}", "a number of hostile SYNs before it, 0 to 65536"),
        ("{base,flat}@", "{base,curly}@", "known: base, v1, jhash2, hsiphash, siphash, flat, siphash-1-3"),
    ] {
        folder.write("mine.toml", STUDY.replace(from, to));
        holds(&folder.run(&["study", "run", "mine.toml"]).failed(), &[says]);
    }
}
