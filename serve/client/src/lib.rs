//! Consumers and producers of Named Data Networking, over one connection to a forwarder.
//!
//! - [`Client`] connects by a [`Transport`] and [expresses](Client::express) Interests; it connects again by
//!   itself.
//! - [`Fetch`] retrieves an object of many segments in order, under congestion control.
//! - [`Registration`] receives the Interests below a prefix; a [`Library`] of [`Publication`]s answers them.
//! - [`dump`]: the packets of captured frames as lines.
//! - [`intact`] and [`trusted`] validate Data.
//! - [`Client::command`] and [`Client::dataset`] speak NFD's management protocol.
//!
//! ```no_run
//! use hashlane_client::{Client, Express, Transport};
//! use hashlane_ndn::wire::InterestBuilder;
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::connect(&Transport::from_environment()?).await?;
//! let name = hashlane_name::uri::parse_uri(b"/example/hello")?;
//! let data = client.express(&InterestBuilder::new(name.view()), &Express::default()).await?;
//! println!("{} bytes", data.view().content().len());
//! # Ok(())
//! # }
//! ```
//!
//! A producer of one object, which may be larger than a packet:
//!
//! ```no_run
//! use hashlane_client::{Client, Library, Publication, Transport};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let client = Client::connect(&Transport::from_environment()?).await?;
//! let name = hashlane_name::uri::parse_uri(b"/example/hello")?;
//! let mut library = Library::new();
//! library.insert(Publication::new(name.view(), vec![b'a'; 100_000])?);
//!
//! // Interests below the prefix are answered until the connection is closed.
//! let mut registration = client.register(name.view()).await?;
//! library.serve(&mut registration, |_| {}).await?;
//! # Ok(())
//! # }
//! ```
#![forbid(unsafe_code)]

mod by_name;
mod client;
mod driver;
pub mod dump;
mod fetch;
mod link;
mod management;
mod message;
mod nonce;
mod packet;
mod publication;
mod register;
mod tables;
mod transport;
mod trust;
mod window;

pub use client::{Client, Express};
pub use fetch::{Discovery, Fetch, FetchError, FetchOptions, METADATA, Progress};
pub use hashlane_ndn::wire::MAX_PACKET;
pub use management::CommandError;
pub use message::{Incoming, SendError};
pub use packet::{ExpressError, OwnedData, Validate, intact, is_application_nack};
pub use publication::{Library, MAX_OBJECT_NAME, Publication, PublishError, SEGMENT_SIZE};
pub use register::{RegisterError, Registration};
pub use transport::{ConnectError, DEFAULT_PORT, Transport, TransportError, VARIABLE};
pub use trust::trusted;
