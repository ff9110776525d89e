//! The user that the name server runs as.

use crate::config::Config;
use hashlane_daemon::privileges::Account;
use nix::unistd::Uid;
use std::io;

/// The account of a configuration; `None` if the process keeps its own.
///
/// # Errors
/// No such user or group; the process runs as root and serves others than this host, and the configuration
/// does not say as whom to go on.
pub(crate) fn choose(config: &Config) -> io::Result<Option<Account>> {
    let Config { server, tls, metrics, .. } = config;
    if server.user.is_empty() && Uid::effective().is_root() {
        let mut addresses = server.listen.iter().chain(&tls.listen).chain(&metrics.listen);
        if addresses.all(|address| address.ip().is_loopback()) {
            tracing::warn!("runs as root, for this host alone; name another user by --user");
        } else {
            let why = "started as root: name the user to run as in `server.user` or with --user, such as nobody; \
                       --user root stays root";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
    }
    Account::of(&server.user, &server.group)
}

/// Checks the user and the group of a configuration, and returns them if it names them. A different user than
/// this process's may start the server with it, so root is only warned.
///
/// # Errors
/// No such user or group.
pub(crate) fn check(config: &Config) -> io::Result<Option<Account>> {
    if config.server.user.is_empty() && config.server.group.is_empty() && Uid::effective().is_root() {
        tracing::warn!("root needs to name the user to run as in `server.user` or with --user");
        return Ok(None);
    }
    Account::of(&config.server.user, &config.server.group)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Server;

    #[test]
    fn root_says_as_whom_to_serve_other_hosts() {
        match choose(&Config::default()) {
            Ok(None) => assert!(!Uid::effective().is_root()),
            Ok(Some(account)) => panic!("{account:?}"),
            Err(error) => {
                assert!(Uid::effective().is_root() && error.to_string().contains("--user"), "{error}");
            }
        }
        let listen = vec!["127.0.0.1:53".parse().unwrap(), "[::1]:53".parse().unwrap()];
        let config = Config { server: Server { listen, ..Server::default() }, ..Config::default() };
        assert_eq!(choose(&config).unwrap(), None);
    }
}
