use super::*;
use std::os::unix::net as std_unix;

/// A directory that goes with the test.
struct Directory(tempfile::TempDir);

impl Directory {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn socket(&self) -> PathBuf {
        self.0.path().join("s.sock")
    }
}

#[test]
fn accepts_and_knows_the_peer() {
    let directory = Directory::new();
    let listener = Listener::bind(directory.socket(), 0o600).unwrap();
    assert!(listener.accept().unwrap().is_none());
    let client = std_unix::UnixStream::connect(directory.socket()).unwrap();
    let stream = listener.accept().unwrap().unwrap();
    let me = fs::metadata(directory.0.path()).unwrap();
    let expected = Credentials { pid: std::process::id() as i32, uid: me.uid(), gid: me.gid() };
    assert_eq!(peer_credentials(&stream).unwrap(), expected);
    assert_eq!(peer_credentials(&client).unwrap(), expected);
}

#[test]
fn what_has_no_peer_has_no_credentials() {
    let socket = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    assert_eq!(peer_credentials(&socket).unwrap_err().kind(), ErrorKind::NotConnected);
}

#[test]
fn the_file_has_the_mode_that_was_asked_for() {
    let directory = Directory::new();
    for mode in [0o600, 0o660, 0o666] {
        let _listener = Listener::bind(directory.socket(), mode).unwrap();
        assert_eq!(fs::metadata(directory.socket()).unwrap().mode() & 0o777, mode);
    }
}

#[test]
fn the_file_goes_with_the_listener() {
    let directory = Directory::new();
    drop(Listener::bind(directory.socket(), 0o600).unwrap());
    assert!(!directory.socket().exists());
}

#[test]
fn a_stale_file_is_replaced() {
    let directory = Directory::new();
    drop(std_unix::UnixListener::bind(directory.socket()).unwrap());
    assert!(directory.socket().exists());
    let listener = Listener::bind(directory.socket(), 0o600).unwrap();
    let _client = std_unix::UnixStream::connect(directory.socket()).unwrap();
    assert!(listener.accept().unwrap().is_some());
}

#[test]
fn a_live_file_is_left_alone() {
    let directory = Directory::new();
    let first = Listener::bind(directory.socket(), 0o600).unwrap();
    let error = Listener::bind(directory.socket(), 0o600).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
    let expected = format!(
        "cannot listen on {}: another program listens there; end it, or choose another path",
        directory.socket().display()
    );
    assert_eq!(error.to_string(), expected);
    // The probe was a connection; the next one is a client's.
    assert!(first.accept().unwrap().is_some());
    let _client = std_unix::UnixStream::connect(directory.socket()).unwrap();
    assert!(first.accept().unwrap().is_some());
}

#[test]
fn a_listener_with_a_full_backlog_is_alive() {
    let directory = Directory::new();
    let address = SockAddr::unix(directory.socket()).unwrap();
    let busy = Socket::new(Domain::UNIX, Type::STREAM, None).unwrap();
    busy.bind(&address).unwrap();
    busy.listen(0).unwrap();
    let _waiting = std_unix::UnixStream::connect(directory.socket()).unwrap();
    let error = Listener::bind(directory.socket(), 0o600).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::AddrInUse);
}

#[test]
fn a_file_of_another_kind_is_left_alone() {
    let directory = Directory::new();
    fs::write(directory.socket(), "precious").unwrap();
    let error = Listener::bind(directory.socket(), 0o600).unwrap_err();
    assert!(
        error.to_string().ends_with("the file there is not a socket; remove it, or choose another path"),
        "{error}"
    );
    assert_eq!(fs::read(directory.socket()).unwrap(), b"precious");
}

#[test]
fn a_missing_directory_is_named() {
    let directory = Directory::new();
    let error = Listener::bind(directory.0.path().join("none/s.sock"), 0o600).unwrap_err();
    let expected = format!("the directory {} does not exist", directory.0.path().join("none").display());
    assert!(error.to_string().ends_with(&expected), "{error}");
}

#[test]
fn a_path_that_is_too_long_is_refused() {
    let directory = Directory::new();
    let path = directory.0.path().join("x".repeat(120));
    let error = Listener::bind(&path, 0o600).unwrap_err();
    assert!(error.to_string().starts_with(&format!("cannot listen on {}", path.display())), "{error}");
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
}

#[test]
fn the_file_of_another_listener_is_left_alone() {
    let directory = Directory::new();
    let first = Listener::bind(directory.socket(), 0o600).unwrap();
    // Kept under another name, so that its inode is not given to the next.
    fs::rename(directory.socket(), directory.0.path().join("old.sock")).unwrap();
    let _second = Listener::bind(directory.socket(), 0o600).unwrap();
    drop(first);
    assert!(std_unix::UnixStream::connect(directory.socket()).is_ok());
}

#[test]
fn a_directory_in_which_others_can_replace_the_socket_is_refused() {
    let directory = Directory::new();
    let set = |mode| fs::set_permissions(directory.0.path(), Permissions::from_mode(mode)).unwrap();
    for mode in [0o777, 0o775, 0o757, 0o2777] {
        set(mode);
        let error = Listener::bind(directory.socket(), 0o600).unwrap_err().to_string();
        let shown = directory.0.path().display();
        let expected = format!(
            "the folder {shown} has mode {mode:04o}, so other users can replace the socket; run chmod go-w {shown}, \
             or choose another folder"
        );
        assert!(error.ends_with(&expected), "{error}");
        assert_eq!(check(&directory.socket()).unwrap_err().to_string(), error);
        assert!(!directory.socket().exists());
    }
    for mode in [0o700, 0o755, 0o1777] {
        set(mode);
        drop(Listener::bind(directory.socket(), 0o600).unwrap());
    }
    // Only root can give a directory away.
    if Uid::effective().is_root() {
        nix::unistd::chown(directory.0.path(), Some(4711.into()), None).unwrap();
        let error = Listener::bind(directory.socket(), 0o600).unwrap_err().to_string();
        assert!(
            error.contains("belongs to user 4711, who can replace the socket; choose a folder"),
            "{error}"
        );
    }
}
