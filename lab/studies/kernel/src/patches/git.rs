//! Commits in a repository of the changed files alone, from which Git writes a series.

use anyhow::{Context, Result, anyhow, bail};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// Name and address of the author.
#[derive(Clone, Debug)]
pub(super) struct Author {
    name: String,
    address: String,
}

/// A repository that is removed with the value.
pub(super) struct Repository {
    folder: PathBuf,
    author: Author,
}

impl Drop for Repository {
    fn drop(&mut self) {
        // A folder that stays behind does no harm.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Variables with which a Git command that runs this one names its own repository.
const OWN: [&str; 4] = ["GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX"];

/// Git in a folder.
pub(super) fn command(folder: &Path) -> Command {
    let mut git = Command::new("git");
    git.arg("-C").arg(folder).env("LC_ALL", "C");
    for variable in OWN {
        git.env_remove(variable);
    }
    git
}

/// Runs a command to its end.
fn output(git: &mut Command) -> Result<Output> {
    git.output().map_err(|error| {
        anyhow!("cannot run git ({error}): install it (`apt-get install git`), then repeat the command")
    })
}

/// Runs a command, and returns its output. One that fails is an error.
pub(super) fn run(git: &mut Command) -> Result<String> {
    let output = output(git)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words: Vec<_> = git.get_args().map(|word| word.to_string_lossy()).collect();
    bail!("`git {}` failed: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim())
}

/// The user, as configured for the tree.
pub(super) fn author(tree: &Path) -> Result<Author> {
    let mut git = command(tree);
    git.args(["-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"]);
    // Without a name or an address it fails, and states none.
    let output = output(&mut git)?.stdout;
    let said = String::from_utf8_lossy(&output);
    let named = said.split_once(" <").and_then(|(name, rest)| Some((name, rest.split_once('>')?.0)));
    let (name, address) = named.context(
        "git does not know the author of the patches: run `git config --global user.name NAME` and `git config \
         --global user.email ADDRESS`, then repeat the command",
    )?;
    Ok(Author { name: name.to_owned(), address: address.to_owned() })
}

impl Repository {
    /// An empty repository in a new folder.
    pub(super) fn new(folder: PathBuf, author: Author) -> Result<Self> {
        fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
        let repository = Self { folder, author };
        repository.git(&["init", "-q"])?;
        Ok(repository)
    }

    /// Runs Git with the defaults of everybody, not with the user's settings or hooks.
    fn git(&self, arguments: &[&str]) -> Result<String> {
        let mut git = command(&self.folder);
        for variable in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
            git.env(variable, "/dev/null");
        }
        for role in ["AUTHOR", "COMMITTER"] {
            git.env(format!("GIT_{role}_NAME"), &self.author.name);
            git.env(format!("GIT_{role}_EMAIL"), &self.author.address);
        }
        run(git.args(arguments))
    }

    /// Commits files: the path of each, and its text. Those that end in `.sh` are executable.
    pub(super) fn commit(&self, message: &str, files: &[(&str, String)]) -> Result<()> {
        for (file, text) in files {
            let path = self.folder.join(file);
            let failed = || format!("cannot write {}", path.display());
            fs::create_dir_all(path.parent().unwrap_or(&self.folder)).with_context(failed)?;
            fs::write(&path, text).with_context(failed)?;
            if path.extension().is_some_and(|end| end == "sh") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).with_context(failed)?;
            }
        }
        self.git(&["add", "--all", "--force"])?;
        self.git(&["commit", "-q", "--no-verify", "-m", message])?;
        Ok(())
    }

    /// Writes all commits but the first into a folder, with a letter before them. Returns the paths.
    pub(super) fn format(&self, out: &Path, subject: &str, letter: &str) -> Result<Vec<PathBuf>> {
        let absolute = std::path::absolute(out).with_context(|| format!("cannot make {}", out.display()))?;
        let first = self.git(&["rev-list", "--max-parents=0", "HEAD"])?;
        let (folder, range) = (absolute.to_string_lossy(), format!("{}..HEAD", first.trim()));
        let options = ["--cover-letter", "--subject-prefix=PATCH net-next", "--no-renames", "-o", &folder];
        let said = self.git(&[&["format-patch"][..], &options, &[&range]].concat())?;
        let paths: Vec<PathBuf> = said.lines().map(|name| out.join(file_name(name))).collect();
        if let Some(cover) = paths.first() {
            let failed = || format!("cannot write {}", cover.display());
            let text = fs::read_to_string(cover).with_context(failed)?;
            let text = text.replace("*** SUBJECT HERE ***", subject).replace("*** BLURB HERE ***", letter);
            fs::write(cover, text).with_context(failed)?;
        }
        Ok(paths)
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
