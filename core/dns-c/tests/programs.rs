//! Programs in C, linked to the static library: their messages are read here, and wrong uses end in errors.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use data_encoding::HEXLOWER;
use hashlane_dns::render::{Edns, Options, Renderer};
use hashlane_dns::wire::{Class, Content, Flags, Header, Rcode, Rdata, RecordType, Section};
use hashlane_name::dns::{NameBuf, message};
use hashlane_rig::{long, namespace};
use serde_json::Value;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;
use tempfile::TempDir;

const FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// Libraries of the system that a static library of Rust needs.
const SYSTEM: [&str; 3] = ["-lpthread", "-ldl", "-lm"];

/// The static library of this build, with its checks. Cargo makes it with the first call: a test has no
/// dependency that is a static library.
fn library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        // The folder for temporary files of tests is in the folder of the build.
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
        cargo.args(["build", "--locked", "--lib", "--message-format", "json-render-diagnostics"]);
        cargo.arg("--target-dir").arg(target).current_dir(FOLDER);
        let messages = String::from_utf8(output(&mut cargo).stdout).unwrap();
        let mut files = messages.lines().flat_map(|line| {
            let message: Value = serde_json::from_str(line).unwrap();
            let files = message["filenames"].as_array().cloned().unwrap_or_default();
            files.into_iter().map(|file| PathBuf::from(file.as_str().unwrap()))
        });
        files.find(|file| file.ends_with("libhashlane_dns_c.a")).unwrap()
    })
}

/// Runs a command to its end, which must be a success.
#[track_caller]
fn output(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let texts = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text));
    assert!(output.status.success(), "{command:?}: {}{}", texts[0], texts[1]);
    output
}

/// The command that compiles a program, without the libraries.
fn compiler(compiler: &str, language: &[&str], program: &str) -> Command {
    let mut command = Command::new(compiler);
    command.args(language).args(["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-g", "-I"]);
    command.arg(Path::new(FOLDER).join("include"));
    command.arg(Path::new(FOLDER).join("tests/c").join(program));
    command
}

/// A program of `tests/c`, removed when dropped.
struct Program(TempDir);

impl Program {
    #[track_caller]
    fn compile(program: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let mut command = compiler("cc", &["-std=c99"], program);
        output(command.arg("-o").arg(folder.path().join("program")).arg(library()).args(SYSTEM));
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("program")
    }

    /// The bytes that it prints.
    #[track_caller]
    fn bytes(&self) -> Vec<u8> {
        HEXLOWER.decode(&output(&mut Command::new(self.path())).stdout).unwrap()
    }
}

fn name(text: &str) -> NameBuf {
    text.parse().unwrap()
}

#[test]
fn the_example_of_the_readme_writes_a_response() {
    let program = include_str!("c/example.c");
    assert!(include_str!("../README.md").contains(program), "README.md has another program");
    let bytes = Program::compile("example.c").bytes();
    assert_eq!(bytes.len(), 12 + 17 + 17 + 16);
    let content = Content::parse(&bytes).unwrap();
    assert_eq!(content.header, Header { id: 0x1234, flags: Flags::RESPONSE.with(Flags::AUTHORITATIVE) });
    assert_eq!(content.questions[0].name, name("example.com"));
    let [server, address] = &content.records[..] else { panic!("{content:?}") };
    assert_eq!((server.section, server.owner), (Section::Answer, name("example.com")));
    assert_eq!(server.data, name("ns.example.com").as_bytes());
    assert_eq!((address.section, address.owner), (Section::Additional, name("ns.example.com")));
    assert_eq!((&address.data[..], address.ttl), (&[192, 0, 2, 1][..], 300));
}

#[test]
fn names_of_a_writer_in_c_are_read_back() {
    let bytes = Program::compile("compressor.c").bytes();
    let mut at = 12;
    for expected in ["example.com", "www.example.com", "ns.www.example.com", "example.com", "late.other", "."]
    {
        let (read, end) = message::read(&bytes, at).unwrap();
        assert!(read.view().eq_ignore_case(name(expected).view()), "{read} in place of {expected}");
        at = end;
    }
    assert_eq!((at, bytes.len()), (bytes.len(), 12 + 13 + 6 + 5 + 2 + 12 + 1));
}

#[test]
fn the_renderer_in_c_writes_the_message_of_the_renderer() {
    let mut renderer = Renderer::with_random_key().unwrap();
    let header = Header { id: 0xbeef, flags: Flags::RESPONSE.with(Flags::RECURSION_DESIRED) };
    let mut message = renderer.start(header, Options { limit: 300, ..Options::stream() });
    let (zone, other) = (name("example.com"), name("late.other"));
    message.question(zone.view(), RecordType::MX, Class::IN).unwrap();
    for (section, owner, rtype, ttl, data) in [
        (
            Section::Answer,
            name("EXAMPLE.com"),
            RecordType::MX,
            300,
            &b"\0\x0a\x04mail\x07example\x03com\0"[..],
        ),
        (
            Section::Answer,
            name("_sip.example.com"),
            RecordType::SRV,
            300,
            b"\0\x01\0\x02\0\x35\x04mail\x07example\x03com\0",
        ),
        (
            Section::Authority,
            other,
            RecordType::SOA,
            300,
            b"\x02ns\x04late\x05other\0\x04host\x05other\0aaaabbbbccccddddeee\0",
        ),
        (Section::Authority, NameBuf::ROOT, RecordType::NULL, 0, b""),
    ] {
        let rdata = Rdata::parse(rtype, data).unwrap();
        message.record(section, owner.view(), rtype, Class::IN, ttl, &rdata).unwrap();
    }
    let options = &[0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8];
    let edns = Edns { payload: 1232, rcode: Rcode::BAD_VERSION, version: 0, dnssec_ok: true, options };
    message.edns(&edns).unwrap();
    let expected = message.finish();
    let bytes = Program::compile("renderer.c").bytes();
    assert_eq!(bytes, expected);
    assert_eq!(Content::parse(&bytes[2..]).unwrap().records.len(), 5);
}

#[test]
fn wrong_uses_end_in_errors() {
    let program = Program::compile("hostile.c");
    let rounds = long::pick("100000", "5000000");
    output(Command::new(program.path()).arg(rounds));
}

#[test]
fn wrong_uses_touch_no_memory_of_others() {
    let program = Program::compile("hostile.c");
    if Command::new("valgrind").arg("--version").output().is_err() {
        return namespace::skip("valgrind is not installed");
    }
    let mut valgrind = Command::new("valgrind");
    valgrind.args(["--quiet", "--error-exitcode=9", "--leak-check=full", "--errors-for-leak-kinds=all"]);
    output(valgrind.arg(program.path()).arg(long::pick("2000", "100000")));
}

#[test]
fn the_header_is_one_of_cpp_too() {
    if Command::new("c++").arg("--version").output().is_err() {
        return namespace::skip("c++ is not installed");
    }
    output(&mut compiler("c++", &["-x", "c++", "-std=c++11", "-fsyntax-only"], "example.c"));
}
