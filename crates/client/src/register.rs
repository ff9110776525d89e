//! Prefixes that Interests are wanted for.

use crate::client::{Client, Incoming};
use crate::driver::name_value;
use crate::management::CommandError;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::ControlParameters;
use std::error::Error;
use std::fmt;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

/// Interests that wait for the producer at the most; more are lost.
const QUEUE: usize = 1024;

/// The first pause before a prefix that was refused is registered again, and the longest.
const PAUSE: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(10)];

/// How long the answer to the end of a registration is waited for: it says that what was sent before has come, and a forwarder that ends in the
/// same moment never gives it.
const FAREWELL: Duration = Duration::from_millis(500);

/// A prefix that is registered with the forwarder, and the Interests that come for it.
///
/// Over a new connection it is registered again. When this is dropped, it is unregistered; [`close`](Self::close) waits for that.
pub struct Registration {
    prefix: OwnedName<Ndn>,
    incoming: mpsc::Receiver<Incoming>,
    /// Tells the task that keeps the prefix registered to end, by the sender or by its loss.
    end: oneshot::Sender<oneshot::Sender<()>>,
}

impl Client {
    /// Registers a prefix: Interests with names that begin so are brought here.
    ///
    /// # Errors
    /// The forwarder refused it or did not answer, or this client has registered it before.
    pub async fn register(&self, prefix: NdnName<'_>) -> Result<Registration, RegisterError> {
        let prefix = OwnedName::from(&prefix);
        let key = name_value(prefix.as_bytes());
        // A connection that is made from now on is a new one, be it while the command is on its way.
        let mut connections = self.connections();
        connections.mark_unchanged();
        let incoming = self.listen(key, QUEUE).await.ok_or(RegisterError::AlreadyRegistered)?;
        let parameters = ControlParameters { name: Some(prefix.clone()), ..Default::default() };
        if let Err(error) = self.command("rib", "register", &parameters).await {
            self.ignore(key).await;
            return Err(RegisterError::Command(error));
        }
        let (end, ended) = oneshot::channel();
        tokio::spawn(keep(self.clone(), connections, parameters, ended));
        Ok(Registration { prefix, incoming, end })
    }
}

impl Registration {
    /// The prefix.
    pub fn prefix(&self) -> NdnName<'_> {
        self.prefix.view()
    }

    /// The next Interest; `None` when the connection was closed.
    pub async fn next(&mut self) -> Option<Incoming> {
        self.incoming.recv().await
    }

    /// Unregisters the prefix, and waits until the forwarder has done so, for half a second at the most. What was sent before has then reached it,
    /// where it answers.
    pub async fn close(self) {
        let (sender, done) = oneshot::channel();
        if self.end.send(sender).is_ok() {
            // The task may be gone with the connection, and so is the registration.
            let _ = done.await;
        }
    }
}

impl fmt::Debug for Registration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Registration({})", self.prefix)
    }
}

/// Registers the prefix again over each new connection, and unregisters it in the end.
async fn keep(
    client: Client,
    mut connections: tokio::sync::watch::Receiver<crate::driver::Connection>,
    parameters: ControlParameters,
    mut ended: oneshot::Receiver<oneshot::Sender<()>>,
) {
    let done = loop {
        tokio::select! {
            done = &mut ended => break done,
            changed = connections.changed() => if changed.is_err() {
                return;
            },
        }
        let register = async {
            let mut pause = PAUSE[0];
            while client.command("rib", "register", &parameters).await.is_err() {
                sleep(pause).await;
                pause = (pause * 2).min(PAUSE[1]);
            }
        };
        tokio::select! {
            done = &mut ended => break done,
            () = register => {}
        }
    };
    let farewell = async {
        if let Some(name) = &parameters.name {
            client.ignore(name_value(name.as_bytes())).await;
        }
        // A forwarder that does not answer has lost the route with the connection.
        drop(client.command("rib", "unregister", &parameters).await);
    };
    let _ = timeout(FAREWELL, farewell).await;
    if let Ok(done) = done {
        let _ = done.send(());
    }
}

/// Why a prefix was not registered.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RegisterError {
    /// The forwarder did not do it.
    Command(CommandError),
    /// This client has registered the prefix before, or its connection was closed.
    AlreadyRegistered,
}

impl fmt::Display for RegisterError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(error) => error.fmt(f),
            Self::AlreadyRegistered => f.write_str("the prefix is registered already by this client"),
        }
    }
}

impl Error for RegisterError {}
