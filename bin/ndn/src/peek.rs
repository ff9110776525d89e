//! `hashlane ndn peek`

use super::connection::{Connection, millis, name};
use super::trust::Trust;
use anyhow::{Context, Result};
use clap::Args;
use hashlane_client::Express;
use hashlane_command::terminal;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::InterestBuilder;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Send one Interest and write the content of the Data to standard output.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane ndn peek /example/hello
  hashlane ndn peek -Pf /example                fresh Data of any name below /example
  hashlane ndn peek -Pf /localhost/nfd/status/general --raw | xxd
  hashlane ndn peek /example/hello -v -w 500")]
pub(super) struct Peek {
    /// Name of the Interest
    #[arg(value_parser = name)]
    name: OwnedName<Ndn>,
    /// Accept Data with a longer name (CanBePrefix)
    #[arg(short = 'P', short_alias = 'p', long)]
    prefix: bool,
    /// Accept only fresh Data from caches (MustBeFresh)
    #[arg(short, long)]
    fresh: bool,
    /// Lifetime of the Interest in milliseconds
    #[arg(short, long, value_name = "MS", default_value = "4000", value_parser = millis)]
    lifetime: Duration,
    /// Milliseconds to wait [default: the lifetime]
    #[arg(short = 'w', long, value_name = "MS", value_parser = millis)]
    timeout: Option<Duration>,
    /// Name of a forwarding hint (repeatable)
    #[arg(short = 'L', long, value_name = "NAME", value_parser = name)]
    link: Vec<OwnedName<Ndn>>,
    /// Write the whole packet, not only the content
    #[arg(long)]
    raw: bool,
    /// Print the Interest and the fields of the Data to standard error
    #[arg(short, long)]
    verbose: bool,
    #[command(flatten)]
    trust: Trust,
    #[command(flatten)]
    connection: Connection,
}

impl Peek {
    pub(super) async fn run(self) -> Result<ExitCode> {
        let validate = self.trust.validator()?;
        let client = self.connection.open().await?;
        let interest = InterestBuilder {
            can_be_prefix: self.prefix,
            must_be_fresh: self.fresh,
            hints: self.link.iter().map(OwnedName::view).collect(),
            lifetime: self.lifetime.as_millis() as u64,
            ..InterestBuilder::new(self.name.view())
        };
        if self.verbose {
            terminal::tell(&format!("Interest {}", self.name));
        }
        let begun = Instant::now();
        let how = Express { wait: self.timeout, validate: &*validate, retries: 0 };
        let data = client.express(&interest, &how).await.with_context(|| self.name.to_string())?;
        let view = data.view();
        if self.verbose {
            let freshness = view.freshness().map_or("none".into(), |millis| format!("{millis} ms"));
            terminal::tell(&format!(
                "Data {}\n  after {:.3} ms, {} bytes of content, content type {}, freshness {freshness}, {}",
                view.name(),
                begun.elapsed().as_secs_f64() * 1e3,
                view.content().len(),
                view.content_type(),
                view.signature_info().signature_type
            ));
        }
        terminal::write(if self.raw { data.as_bytes() } else { view.content() })?;
        Ok(ExitCode::SUCCESS)
    }
}
