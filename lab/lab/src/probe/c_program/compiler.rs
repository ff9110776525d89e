//! The C compiler of this machine.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;
use std::{env, fs};

use tempfile::TempDir;

use crate::probe::child::{self, Ended, Limits};

/// Limits on a run of the compiler.
const LIMITS: Limits = Limits { time: Duration::from_secs(60), output: 1 << 20 };

/// A C compiler that runs, and its version.
#[derive(Clone, Debug)]
pub struct Compiler {
    program: PathBuf,
    /// Arguments before all others, as in `CC="ccache gcc"`.
    first: Vec<OsString>,
    version: String,
}

/// A compiled program, in a temporary folder that goes with it.
#[derive(Debug)]
pub struct Built {
    folder: TempDir,
}

impl Built {
    pub(super) fn path(&self) -> PathBuf {
        self.folder.path().join(PROGRAM)
    }
}

/// Name of a program in its folder.
const PROGRAM: &str = "program";

impl Compiler {
    /// The compiler that `CC` names, or the `cc` of PATH.
    ///
    /// # Errors
    /// No compiler was found, or it does not run; the processor is not x86-64.
    pub fn find() -> Result<Self, String> {
        Self::find_in(env::var_os("CC").as_deref(), &env::var_os("PATH").unwrap_or_default())
    }

    /// The compiler that `cc` names, or the one of the folders of `path`.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn find_in(cc: Option<&OsStr>, path: &OsStr) -> Result<Self, String> {
        if !cfg!(target_arch = "x86_64") {
            return Err("its C code is for x86-64".to_owned());
        }
        let named = cc.and_then(OsStr::to_str).unwrap_or_default();
        let mut words = named.split_whitespace();
        let name = words.next().unwrap_or("cc");
        let first = words.map(OsString::from).collect();
        let program = if name.contains('/') {
            PathBuf::from(name)
        } else {
            let found = env::split_paths(path).filter(|folder| folder.is_absolute());
            found
                .map(|folder| folder.join(name))
                .find(|file| file.is_file())
                .ok_or("no C compiler found; install one (Debian: apt-get install gcc), or name it in CC")?
        };
        let mut compiler = Self { program, first, version: String::new() };
        let printed = compiler.execute(&["--version"], "")?.stdout;
        compiler.version = printed.lines().next().unwrap_or_default().trim().to_owned();
        Ok(compiler)
    }

    /// First line that the compiler prints of its version, as `cc (Debian 12.2.0-14) 12.2.0`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Makes a program of `text`.
    ///
    /// # Errors
    /// There is no temporary folder, or the compiler rejects the text or the flags.
    pub fn program(&self, text: &str, flags: &[&str]) -> Result<Built, String> {
        let built = Built { folder: folder()? };
        self.compile(text, flags, &built.path())?;
        Ok(built)
    }

    /// Makes an object file of `text`: its bytes.
    ///
    /// # Errors
    /// As [`program`](Self::program).
    pub fn object(&self, text: &str, flags: &[&str]) -> Result<Vec<u8>, String> {
        let folder = folder()?;
        let path = folder.path().join("object.o");
        self.compile(text, &[flags, &["-c"]].concat(), &path)?;
        fs::read(&path).map_err(|error| no_folder(&error))
    }

    fn compile(&self, text: &str, flags: &[&str], to: &Path) -> Result<(), String> {
        let to = to.to_str().ok_or_else(|| no_folder(&std::io::ErrorKind::InvalidFilename.into()))?;
        self.execute(&[flags, &["-x", "c", "-", "-o", to]].concat(), text).map(drop)
    }

    fn execute(&self, arguments: &[&str], input: &str) -> Result<Ended, String> {
        let mut command = Command::new(&self.program);
        command.args(&self.first).args(arguments);
        let ended = child::run(&mut command, input, LIMITS)?;
        if ended.status.success() {
            return Ok(ended);
        }
        let line = ended.stderr.lines().find(|line| !line.trim().is_empty());
        let stderr = line.map_or_else(|| ended.status.to_string(), |line| line.trim().to_owned());
        Err(format!("{}: {stderr}", self.program.display()))
    }
}

fn folder() -> Result<TempDir, String> {
    tempfile::Builder::new().prefix("hashlane-c-").tempdir().map_err(|error| no_folder(&error))
}

fn no_folder(error: &std::io::Error) -> String {
    format!("no temporary folder for the C program: {error}; set TMPDIR")
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    use super::*;
    use crate::probe::c_program::{HEADER, Program, compiler_or_skip};

    #[test]
    fn names_the_package_where_there_is_no_compiler() {
        let error = Compiler::find_in(None, OsStr::new("/no/such/folder")).unwrap_err();
        assert_eq!(error, "no C compiler found; install one (Debian: apt-get install gcc), or name it in CC");
        let error = Compiler::find_in(Some(OsStr::new("/no/such/cc -m64")), OsStr::new("")).unwrap_err();
        assert!(error.starts_with("/no/such/cc: "), "{error}");
        let error = Compiler::find_in(Some(OsStr::new("/bin/false")), OsStr::new("")).unwrap_err();
        assert!(error.starts_with("/bin/false: exit status: 1"), "{error}");
    }

    #[test]
    fn states_the_line_that_the_compiler_rejects() {
        let Some(compiler) = compiler_or_skip() else { return };
        assert!(!compiler.version().is_empty());
        let error = compiler.program("int main(void) { return no_such_name; }", &[]).unwrap_err();
        assert!(error.contains("error") || error.contains("main"), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }

    #[test]
    fn a_program_answers_until_it_is_dropped() {
        let Some(compiler) = compiler_or_skip() else { return };
        let text = "int main(void) { for (uint64_t n;;) { probe_read(&n, 8); if (n == 7) _exit(3);\n\
                    uint64_t before = probe_start(); n += 1; if (probe_stop() >= before) probe_write(&n, 8); } }";
        let built = compiler.program(&format!("{HEADER}{text}"), &["-O2"]).unwrap();
        let path = built.path();
        let mut program = Program::start(built).unwrap();
        let mut ask = |number: u64| {
            let mut answer = [0; 8];
            program.ask(&[number], &[], &mut answer);
            match program.failure() {
                None => Ok(u64::from_le_bytes(answer)),
                Some(why) => Err(why.to_owned()),
            }
        };
        assert_eq!((ask(1).unwrap(), ask(41).unwrap()), (2, 42));
        let error = ask(7).unwrap_err();
        assert!(error.starts_with("the C program gives no answer: "), "{error}");
        assert!(ask(1).is_err(), "it has ended");
        assert!(path.exists());
        drop(program);
        assert!(!path.exists(), "the folder goes with the program");
    }
}
