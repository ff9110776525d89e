//! Commits in a repository of the changed files alone, from which Git writes a series.

use super::error::{PatchError, io};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

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

/// Runs a command to its end. Returns its output.
pub(super) fn run(git: &mut Command) -> Result<String, PatchError> {
    let output = git.output().map_err(PatchError::NoGit)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let words: Vec<_> = git.get_args().map(|word| word.to_string_lossy()).collect();
    let said = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(PatchError::Git(format!("git {}", words.join(" ")), said))
}

/// The user, as configured for the tree.
pub(super) fn author(tree: &Path) -> Result<Author, PatchError> {
    let mut git = command(tree);
    git.args(["-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"]);
    let said = match run(&mut git) {
        Err(PatchError::Git(..)) => return Err(PatchError::NoAuthor),
        other => other?,
    };
    let named = said.split_once(" <").and_then(|(name, rest)| Some((name, rest.split_once('>')?.0)));
    let (name, address) = named.ok_or(PatchError::NoAuthor)?;
    Ok(Author { name: name.to_owned(), address: address.to_owned() })
}

impl Repository {
    /// An empty repository in a new folder.
    pub(super) fn new(folder: PathBuf, author: Author) -> Result<Self, PatchError> {
        fs::create_dir_all(&folder).map_err(io(format!("cannot make {}", folder.display())))?;
        let repository = Self { folder, author };
        repository.git(&["init", "-q"])?;
        Ok(repository)
    }

    /// Runs Git with the defaults of everybody, not with the user's settings or hooks.
    fn git(&self, arguments: &[&str]) -> Result<String, PatchError> {
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
    pub(super) fn commit(&self, message: &str, files: &[(&str, String)]) -> Result<(), PatchError> {
        for (file, text) in files {
            let path = self.folder.join(file);
            let failed = || format!("cannot write {}", path.display());
            fs::create_dir_all(path.parent().unwrap_or(&self.folder)).map_err(io(failed()))?;
            fs::write(&path, text).map_err(io(failed()))?;
            if path.extension().is_some_and(|end| end == "sh") {
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).map_err(io(failed()))?;
            }
        }
        self.git(&["add", "--all", "--force"])?;
        self.git(&["commit", "-q", "--no-verify", "-m", message])?;
        Ok(())
    }

    /// Writes all commits but the first into a folder, with a letter before them. Returns the paths.
    pub(super) fn format(&self, out: &Path, subject: &str, letter: &str) -> Result<Vec<PathBuf>, PatchError> {
        let absolute = std::path::absolute(out).map_err(io(format!("cannot make {}", out.display())))?;
        let first = self.git(&["rev-list", "--max-parents=0", "HEAD"])?;
        let (folder, range) = (absolute.to_string_lossy(), format!("{}..HEAD", first.trim()));
        let options = ["--cover-letter", "--subject-prefix=PATCH net-next", "--no-renames", "-o", &folder];
        let said = self.git(&[&["format-patch"][..], &options, &[&range]].concat())?;
        let paths: Vec<PathBuf> = said.lines().map(|name| out.join(file_name(name))).collect();
        if let Some(cover) = paths.first() {
            let failed = || format!("cannot write {}", cover.display());
            let text = fs::read_to_string(cover).map_err(io(failed()))?;
            let text = text.replace("*** SUBJECT HERE ***", subject).replace("*** BLURB HERE ***", letter);
            fs::write(cover, text).map_err(io(failed()))?;
        }
        Ok(paths)
    }
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}
