//! Registered prefixes, and their Interests.

use crate::by_name::name_value;
use crate::client::Client;
use crate::management::CommandError;
use crate::message::Incoming;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::ControlParameters;
use std::fmt;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};
use tokio::time::{sleep, timeout};

/// Most Interests that wait for the producer. Further ones are lost.
const QUEUE: usize = 1024;

/// The first pause before a prefix that was refused is registered again, and the longest.
const PAUSE: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(10)];

/// Time to wait for the answer to the unregistration. It confirms that the packets before it have arrived; a
/// forwarder that ends at the same moment never sends it.
const FAREWELL: Duration = Duration::from_millis(500);

/// A registered prefix, and the Interests below it.
///
/// It is registered again over each new connection, and unregistered on drop; [`close`](Self::close) waits
/// for that.
pub struct Registration {
    prefix: OwnedName<Ndn>,
    incoming: mpsc::Receiver<Incoming>,
    /// Ends the task that keeps the prefix registered, by a message or by its drop.
    end: oneshot::Sender<oneshot::Sender<()>>,
}

impl Client {
    /// Registers a prefix, to receive the Interests below it.
    ///
    /// # Errors
    /// The forwarder refused it or did not answer, or this client has registered it already.
    pub async fn register(&self, prefix: NdnName<'_>) -> Result<Registration, RegisterError> {
        let prefix = OwnedName::from(&prefix);
        let key = name_value(prefix.as_bytes());
        // A connection from now on is a new one, also if it is made while the command is in flight.
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

    /// Unregisters the prefix, and waits for the answer for at most half a second. The answer confirms that
    /// all packets sent before have arrived.
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
        // A forwarder that does not answer removes the route with the connection.
        drop(client.command("rib", "unregister", &parameters).await);
    };
    let _ = timeout(FAREWELL, farewell).await;
    if let Ok(done) = done {
        let _ = done.send(());
    }
}

/// Error of a registration.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegisterError {
    /// The command failed.
    #[error("{0}")]
    Command(CommandError),
    /// This client has registered the prefix already, or its connection was closed.
    #[error("the prefix is registered already by this client")]
    AlreadyRegistered,
}
