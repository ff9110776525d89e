//! Patches for the kernel's maintainers: another hash of connections, its tests, and a selftest that floods.
//!
//! [`write()`] reads a source tree that the user names and writes two series of `git format-patch`, one for
//! each [`struct@Hash`]; only one of them can be applied. The text around a change comes from the tree of the
//! user: no line of Linux is kept here. The files that the patches add are in `text/`.

mod change;
mod cover;
mod git;
mod hash;
mod tree;

pub use hash::Hash;

use self::git::Repository;
use self::hash::HASHES;
use self::tree::Tree;
use anyhow::{Context, Result, ensure};
use std::fs;
use std::path::{Path, PathBuf};

/// The selftest: a script that makes a namespace and floods it with SYNs.
pub const SELFTEST: &str = include_str!("text/inet_ehash_flood.sh");

const TEST: &str = include_str!("text/inet_ehash_test.c");
const TEST_FILE: &str = "net/ipv4/inet_ehash_test.c";
const TEST_CONFIG: &str = include_str!("text/Kconfig");
const TEST_OBJECT: &str = "obj-$(CONFIG_INET_EHASH_KUNIT_TEST) += inet_ehash_test.o\n";
const CONFIG: &str = "net/ipv4/Kconfig";
const MAKEFILE: &str = "net/ipv4/Makefile";
const SCRIPT: &str = "inet_ehash_flood.sh";
const SELFTESTS: &str = "tools/testing/selftests/net";
const PROGRAMS: &str = "tools/testing/selftests/net/Makefile";

/// Patches that were written.
#[derive(Clone, Debug)]
pub struct Written {
    /// Version of the tree.
    pub version: String,
    /// Paths of the letter and the patches of each series.
    pub series: Vec<(&'static Hash, Vec<PathBuf>)>,
    /// Remarks needed to use them.
    pub notes: Vec<String>,
}

/// Writes the series of each hash into a separate folder in `out`.
///
/// # Errors
/// The tree is not Linux, is too old, or is not as expected; `out` has such a series; Git failed.
pub fn write(tree: &Path, out: &Path) -> Result<Written> {
    let tree = Tree::open(tree)?;
    let changes = Changes::of(&tree)?;
    let author = git::author(&tree.folder)?;
    for hash in &HASHES {
        let folder = out.join(hash.id);
        let (taken, folder) = (folder.exists(), folder.display());
        ensure!(!taken, "{folder} exists: name another folder with --out, or remove it");
    }
    let mut series = Vec::new();
    for hash in &HASHES {
        let work = out.join(format!(".{}-{}", hash.id, std::process::id()));
        let repository = Repository::new(work, author.clone())?;
        repository.commit("The tree", &changes.before)?;
        let mut files = changes.functions.clone();
        files.push((change::HEADER, hash.header.to_owned()));
        repository.commit(hash.message, &files)?;
        repository.commit(include_str!("text/test.txt"), &changes.test)?;
        repository.commit(include_str!("text/selftest.txt"), &changes.selftest)?;
        let folder = out.join(hash.id);
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let (subject, letter) = cover::letter(hash)?;
        series.push((hash, repository.format(&folder, &subject, &letter)?));
    }
    Ok(Written { version: tree.version, series, notes: changes.notes })
}

/// Files before and after the changes, each with its text.
struct Changes {
    before: Vec<(&'static str, String)>,
    functions: Vec<(&'static str, String)>,
    test: Vec<(&'static str, String)>,
    selftest: Vec<(&'static str, String)>,
    notes: Vec<String>,
}

impl Changes {
    fn of(tree: &Tree) -> Result<Self> {
        let (mut before, mut functions, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for function in &change::FUNCTIONS {
            let text = tree.text(function.file)?;
            functions.push((function.file, change::replace_body(&text, function)?));
            before.push((function.file, text));
        }
        let mut test = vec![(TEST_FILE, TEST.to_owned())];
        for (file, lines) in [(CONFIG, TEST_CONFIG), (MAKEFILE, TEST_OBJECT)] {
            let text = tree.text(file)?;
            test.push((file, change::append(&text, lines)));
            before.push((file, text));
        }
        let mut selftest = vec![("tools/testing/selftests/net/inet_ehash_flood.sh", SELFTEST.to_owned())];
        match tree.optional(PROGRAMS)? {
            Some(text) => {
                selftest.push((PROGRAMS, change::add_program(PROGRAMS, &text, SCRIPT)?));
                before.push((PROGRAMS, text));
            }
            None => notes.push(format!(
                "the tree has no {SELFTESTS} (Debian's package leaves it out): the patch adds {SCRIPT} \
                 alone; add it to TEST_PROGS before you send the series"
            )),
        }
        let files: Vec<&str> = before.iter().map(|(file, _)| *file).collect();
        tree.committed(&files)?;
        for added in [change::HEADER, TEST_FILE] {
            ensure!(tree.optional(added)?.is_none(), change::unknown(added, "place: it exists"));
        }
        Ok(Self { before, functions, test, selftest, notes })
    }
}
