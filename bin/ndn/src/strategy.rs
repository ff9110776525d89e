//! `hashlane ndn strategy`

use super::connection::{Connection, name, records};
use super::rows::{self, Row};
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use hashlane_command::terminal;
use hashlane_name::build::OwnedName;
use hashlane_name::component::Component;
use hashlane_name::ndn::{Ndn, NdnName};
use hashlane_ndn::mgmt::ControlParameters;
use hashlane_ndn::mgmt::dataset::StrategyChoice;
use std::process::ExitCode;

/// List, set and unset the strategies of prefixes, which choose among next hops.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  hashlane ndn strategy list
  hashlane ndn strategy set /example multicast
  hashlane ndn strategy unset /example")]
pub(super) struct Strategy {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// List prefixes that have their own strategy
    #[command(after_help = "\
Examples:
  hashlane ndn strategy list --json")]
    List(List),
    /// Show the effective strategy of a name
    #[command(after_help = "\
Examples:
  hashlane ndn strategy show /example/hello")]
    Show(Of),
    /// Set the strategy of a prefix
    #[command(after_help = "\
A STRATEGY without a leading slash is completed with /localhost/nfd/strategy/. Parameters follow
its name; the version may be left out.

Examples:
  hashlane ndn strategy set /example multicast
  hashlane ndn strategy set /example asf/probing-interval~5000
  hashlane ndn strategy set /site access
  hashlane ndn strategy set /site self-learning
  hashlane ndn strategy set /example /localhost/nfd/strategy/best-route/v=5")]
    Set(Set),
    /// Unset the strategy of a prefix; it inherits from the next shorter prefix
    #[command(after_help = "\
Examples:
  hashlane ndn strategy unset /example")]
    Unset(Of),
}

#[derive(Debug, Args)]
struct List {
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Args)]
struct Of {
    /// Prefix or name
    #[arg(value_parser = name)]
    prefix: OwnedName<Ndn>,
    #[command(flatten)]
    connection: Connection,
}

#[derive(Debug, Args)]
struct Set {
    /// Prefix or name
    #[arg(value_parser = name)]
    prefix: OwnedName<Ndn>,
    /// Name of the strategy, whole or without /localhost/nfd/strategy/
    #[arg(value_parser = strategy)]
    strategy: OwnedName<Ndn>,
    #[command(flatten)]
    connection: Connection,
}

/// Prefix of all strategy names.
const STRATEGIES: &str = "/localhost/nfd/strategy";

fn strategy(text: &str) -> Result<OwnedName<Ndn>, String> {
    if text.starts_with('/') || text.starts_with("ndn:") {
        return name(text);
    }
    let (program, parameters) = text.split_once('/').unwrap_or((text, ""));
    let short = name(&format!("{STRATEGIES}/{text}"))?;
    // Parameters follow the version.
    match hashlane_ndn_fw::strategy::Strategy::from_name(short.view()) {
        Ok(strategy) if !parameters.is_empty() && !parameters.starts_with("v=") => {
            name(&format!("{STRATEGIES}/{program}/v={}/{parameters}", strategy.version()))
        }
        _ => Ok(short),
    }
}

impl Strategy {
    pub(super) async fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::List(list) => {
                let client = list.connection.open().await?;
                let choices: Vec<StrategyChoice> = records(&client, "strategy-choice", "list").await?;
                rows::print(&choices.iter().map(row).collect::<Vec<_>>(), list.json)?;
            }
            Command::Show(of) => {
                let client = of.connection.open().await?;
                let choices: Vec<StrategyChoice> = records(&client, "strategy-choice", "list").await?;
                let above = choices.iter().filter(|choice| is_prefix(choice.name.view(), of.prefix.view()));
                let used = above.max_by_key(|choice| choice.name.view().len());
                let used = used.context("the forwarder lists no strategy for this name, and none for /")?;
                rows::print_one(&row(used), false)?;
            }
            Command::Set(set) => {
                let client = set.connection.open().await?;
                let parameters = ControlParameters {
                    name: Some(set.prefix.clone()),
                    strategy: Some(set.strategy.clone()),
                    ..Default::default()
                };
                let done = client.command("strategy-choice", "set", &parameters).await?;
                let strategy = done.strategy.unwrap_or(set.strategy);
                terminal::print(&format!("strategy-set prefix={} strategy={strategy}\n", set.prefix))?;
            }
            Command::Unset(of) => {
                let client = of.connection.open().await?;
                let parameters = ControlParameters { name: Some(of.prefix.clone()), ..Default::default() };
                client.command("strategy-choice", "unset", &parameters).await?;
                terminal::print(&format!("strategy-unset prefix={}\n", of.prefix))?;
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

fn row(choice: &StrategyChoice) -> Row {
    Row::new().text("prefix", &choice.name).text("strategy", &choice.strategy)
}

/// Tests if `prefix` is a prefix of `name`.
fn is_prefix(prefix: NdnName<'_>, name: NdnName<'_>) -> bool {
    let first: Vec<Component<'_>> = name.components().take(prefix.len()).collect();
    prefix.components().eq(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_strategy_may_be_written_short() {
        for (short, full) in [
            ("multicast", "multicast"),
            ("asf/probing-interval~1000", "asf/v=5/probing-interval~1000"),
            (
                "random/retx-suppression-max~200/retx-suppression-initial~9",
                "random/v=1/retx-suppression-max~200/retx-suppression-initial~9",
            ),
            ("asf/v=4/max-timeouts~2", "asf/v=4/max-timeouts~2"),
            // The forwarder accepts or rejects these.
            ("self-learning/v=1", "self-learning/v=1"),
            ("asf/x", "asf/x"),
        ] {
            assert_eq!(strategy(short), name(&format!("/localhost/nfd/strategy/{full}")), "{short}");
        }
        for name in ["/localhost/nfd/strategy/asf", "ndn:/localhost/nfd/strategy/asf"] {
            assert_eq!(strategy(name), super::name("/localhost/nfd/strategy/asf"));
        }
    }

    #[test]
    fn a_prefix_begins_a_name_by_whole_components() {
        let is_prefix = |a, b| is_prefix(name(a).unwrap().view(), name(b).unwrap().view());
        assert!(is_prefix("/", "/a") && is_prefix("/a", "/a") && is_prefix("/a", "/a/b"));
        assert!(!is_prefix("/a/b", "/a") && !is_prefix("/a", "/ab"));
    }
}
