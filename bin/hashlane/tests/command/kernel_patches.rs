//! Patches of Linux, on trees in outline that are ours, and the selftest.
#![cfg(target_os = "linux")]

use hashlane_rig::command::{Folder, Ran, holds};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The functions of the hash as in 6.1, whose secrets are their own, and as in 6.12.
const OWN_SECRETS: &str = "\tstatic u32 own_secret __read_mostly;\n\n\treturn mix(own_secret);\n";
const SHARED_SECRETS: &str = "\tif (!secret)\n\t{\n\t\tdraw(&secret);\n\t}\n\n\treturn mix(secret);\n";

/// Tree of a version, in a repository if there is one to be.
fn tree(folder: &Folder, name: &str, patchlevel: u32, body: &str) -> PathBuf {
    let write = |file: &str, text: &str| {
        let path = folder.path(name).join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    write("Makefile", &format!("VERSION = 6\nPATCHLEVEL = {patchlevel}\nSUBLEVEL = 7\nEXTRAVERSION =\n"));
    for (file, name, types) in [
        ("net/ipv6/inet6_hashtables.c", "inet6_ehashfn", "const struct in6_addr *"),
        ("net/ipv4/inet_hashtables.c", "inet_ehashfn", "const __be32 "),
    ] {
        let text = format!(
            "#include <linux/module.h>\n\n#include <net/inet_hashtables.h>\n#include <net/ip.h>\n\n\
             u32 {name}(const struct net *net,\n\t{types}laddr, const u16 lport,\n\t{types}faddr, \
             const __be16 fport)\n{{\n{body}}}\nEXPORT_SYMBOL_GPL({name});\n\n\
             void user(void)\n{{\n\tu32 hash = {name}(net, 1, 2, 3, 4);\n}}\n"
        );
        write(file, &text);
    }
    write("net/ipv4/Makefile", "obj-y := first.o \\\n\tsecond.o\n");
    write("net/ipv4/Kconfig", "config FIRST\n\tbool \"First\"\n");
    write("tools/testing/selftests/net/Makefile", "# programs\n\nTEST_PROGS := first.sh \\\n\tsecond.sh\n");
    folder.path(name)
}

/// Git as a user of this name, without the settings of the machine.
fn as_user(command: &mut Command) -> &mut Command {
    for role in ["AUTHOR", "COMMITTER"] {
        command.env(format!("GIT_{role}_NAME"), "A Maintainer");
        command.env(format!("GIT_{role}_EMAIL"), "maintainer@example.org");
    }
    command.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null")
}

fn git(tree: &Path, arguments: &[&str]) -> String {
    let output = as_user(Command::new("git").arg("-C").arg(tree).args(arguments)).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn commit_all(tree: &Path) {
    git(tree, &["init", "-q"]);
    git(tree, &["add", "-A"]);
    git(tree, &["commit", "-q", "-m", "the tree"]);
}

fn write(folder: &Folder, tree: &str) -> Ran {
    let mut command = folder.command(&["study", "kernel-patches", tree, "--out", "out"]);
    Ran::of(as_user(&mut command))
}

/// Applies each series of `out` to the tree, on a separate branch.
fn apply(folder: &Folder, tree: &Path) {
    let first = git(tree, &["rev-parse", "HEAD"]);
    for series in ["siphash", "jhash"] {
        let mut patches: Vec<PathBuf> = fs::read_dir(folder.path("out").join(series))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        patches.sort();
        assert_eq!(patches.len(), 4, "{patches:?}");
        let letter = fs::read_to_string(&patches[0]).unwrap();
        holds(
            &letter,
            &["Subject: [PATCH net-next 0/3] inet: ", "From: A Maintainer <maintainer@example.org>"],
        );
        holds(&letter, &["Linux 6.1.192 as User Mode Linux", "Cycles a call", "A Maintainer (3):"]);
        assert!(!letter.contains("***"), "{letter}");
        let mut arguments = vec!["am", "-q"];
        arguments.extend(patches[1..].iter().map(|path| path.to_str().unwrap()));
        git(tree, &["checkout", "-q", first.trim()]);
        git(tree, &arguments);
        assert_eq!(git(tree, &["status", "--porcelain"]), "");
    }
}

#[test]
fn both_series_apply_to_trees_of_both_kinds() {
    for (patchlevel, body) in [(1, OWN_SECRETS), (12, SHARED_SECRETS)] {
        let folder = Folder::new();
        let tree = tree(&folder, "linux", patchlevel, body);
        commit_all(&tree);
        let out = write(&folder, "linux").ok();
        holds(&out, &[&format!("Linux 6.{patchlevel}.7\n"), "siphash: 3 patches and a letter", "jhash: 3"]);
        assert!(!out.contains("note:"), "{out}");
        assert_eq!(git(&tree, &["status", "--porcelain"]), "", "the tree is not changed");
        assert_eq!(fs::read_dir(folder.path("out")).unwrap().count(), 2, "nothing else stays");
        apply(&folder, &tree);
        let text = fs::read_to_string(tree.join("net/ipv6/inet6_hashtables.c")).unwrap();
        holds(
            &text,
            &["return lport + (inet6_ehash(laddr, faddr, fport, &key)", "u32 hash = inet6_ehashfn("],
        );
        holds(&text, &["#include <net/inet_ehash.h>\n#include <net/inet_hashtables.h>\n"]);
        assert!(!text.contains("secret"), "{text}");
        let tests = fs::read_to_string(tree.join("net/ipv4/Makefile")).unwrap();
        holds(&tests, &["\tsecond.o\nobj-$(CONFIG_INET_EHASH_KUNIT_TEST) += inet_ehash_test.o\n"]);
        let programs = fs::read_to_string(tree.join("tools/testing/selftests/net/Makefile")).unwrap();
        holds(&programs, &["inet_ehash_flood.sh"]);
        let modes = git(&tree, &["ls-tree", "-r", "HEAD", "tools/testing/selftests/net"]);
        holds(&modes, &["100755 blob"]);
        // The tree has the patches now.
        fs::remove_dir_all(folder.path("out")).unwrap();
        holds(&write(&folder, "linux").failed(), &["net/ipv6/inet6_hashtables.c has no", "unchanged tree"]);
        assert!(!folder.path("out").exists(), "nothing was written");
    }
}

/// Trees of Debian's packages, named by the variable `HASHLANE_LINUX` with colons between them.
#[test]
fn both_series_apply_to_the_trees_of_debian() {
    let Some(trees) = std::env::var_os("HASHLANE_LINUX") else {
        eprintln!("not tested: HASHLANE_LINUX names no source trees of Linux");
        return;
    };
    const FILES: [&str; 5] = [
        "Makefile",
        "net/ipv6/inet6_hashtables.c",
        "net/ipv4/inet_hashtables.c",
        "net/ipv4/Makefile",
        "net/ipv4/Kconfig",
    ];
    for from in std::env::split_paths(&trees) {
        let folder = Folder::new();
        let tree = folder.path("linux");
        for file in FILES {
            let path = tree.join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(from.join(file), path).unwrap();
        }
        commit_all(&tree);
        holds(&write(&folder, "linux").ok(), &["note: the tree has no tools/testing/selftests/net"]);
        apply(&folder, &tree);
    }
}

#[test]
fn a_tree_that_is_none_is_refused_with_the_next_step() {
    let folder = Folder::new();
    holds(&write(&folder, "nothing").failed(), &["nothing is not a source tree of Linux", "top Makefile"]);
    let path = tree(&folder, "linux", 1, OWN_SECRETS);
    for (patchlevel, says) in [("", "states none"), ("PATCHLEVEL = 0", "states 6.0.7")] {
        fs::write(path.join("Makefile"), format!("VERSION = 6\n{patchlevel}\nSUBLEVEL = 7\n")).unwrap();
        holds(&write(&folder, "linux").failed(), &["unknown version of Linux", says, "6.1"]);
    }
    let path = tree(&folder, "linux", 12, OWN_SECRETS);
    commit_all(&path);
    let file = path.join("net/ipv4/Kconfig");
    fs::write(&file, "config OTHER\n").unwrap();
    holds(&write(&folder, "linux").failed(), &["uncommitted changes", "commit or stash net/ipv4/Kconfig"]);
    fs::remove_file(&file).unwrap();
    holds(&write(&folder, "linux").failed(), &["has no net/ipv4/Kconfig"]);
}

#[test]
fn a_series_is_never_overwritten_and_has_an_author() {
    let folder = Folder::new();
    tree(&folder, "linux", 12, SHARED_SECRETS);
    let mut nobody = folder.command(&["study", "kernel-patches", "linux", "--out", "out"]);
    nobody.env("GIT_CONFIG_GLOBAL", "/dev/null").env("GIT_CONFIG_SYSTEM", "/dev/null").env_remove("EMAIL");
    for role in ["AUTHOR", "COMMITTER"] {
        nobody.env_remove(format!("GIT_{role}_NAME")).env_remove(format!("GIT_{role}_EMAIL"));
    }
    let said = Ran::of(nobody).failed();
    holds(&said, &["git config --global user.name", "repeat the command"]);
    let mut no_git = folder.command(&["study", "kernel-patches", "linux", "--out", "out"]);
    let said = Ran::of(no_git.env("PATH", folder.path(""))).failed();
    holds(&said, &["cannot run git", "apt-get install git"]);
    // A tree without a repository, as of Debian's package.
    write(&folder, "linux").ok();
    holds(&write(&folder, "linux").failed(), &["out/siphash exists", "--out"]);
}

#[test]
fn the_selftest_exits_by_the_conventions_of_selftests() {
    let folder = Folder::new();
    let script = folder.run(&["study", "kernel-selftest"]).ok();
    let path = folder.write("flood.sh", &script);
    let checked = Command::new("bash").arg("-n").arg(&path).output().unwrap();
    assert!(checked.status.success(), "{checked:?}");
    let refused = Command::new("bash").arg(&path).arg("1").output().unwrap();
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    // The verdict is the running kernel's: pass, fail, or skip where the namespace cannot be set up.
    let output = Command::new("bash").arg(&path).arg("4096").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(0) => holds(&said, &["IPv6: hostile SYNs do not share a bucket", "[ OK ]"]),
        Some(1) => holds(&said, &["requests), ", "[FAIL]"]),
        code => {
            assert!(code == Some(4) && (said.contains("SKIP: ") || said.contains("not measured")), "{said}")
        }
    }
}
