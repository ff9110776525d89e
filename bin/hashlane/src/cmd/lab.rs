//! `hashlane lab`: processes that studies start, for no other use.

use crate::output;
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use hashlane_daemon::signals::on_stop;
use hashlane_study_flows::hostile::Attack;
use hashlane_study_kernel::guest::{self, Tasks};
use hashlane_study_meter::usage;
use hashlane_study_nameserver::echo;
use hashlane_study_ndn::load::{child, relay};
use hashlane_study_ndn::model::memory;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;

/// Processes that studies start.
#[derive(Debug, Args)]
pub(crate) struct Lab {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Become another program, on one core, until the parent ends
    Child(Child),
    /// Run another program, and print the CPU time and memory that it used
    Usage(Usage),
    /// Send each datagram back to its sender
    Echo(Echo),
    /// Send datagrams from each of two addresses to the other
    Relay(Relay),
    /// Fill a table of the forwarder, and print its memory
    Memory(Memory),
    /// Be the first process of a kernel, and measure it
    KernelInit(KernelInit),
}

#[derive(Debug, Args)]
struct Child {
    /// Core to run on [default: any]
    #[arg(long)]
    core: Option<usize>,
    /// File of a network namespace to enter
    #[arg(long)]
    namespace: Option<PathBuf>,
    /// Process id of the parent
    #[arg(long)]
    parent: i32,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

#[derive(Debug, Args)]
struct Usage {
    /// Process id of the parent
    #[arg(long)]
    parent: i32,
    /// The program and its arguments
    #[arg(last = true, required = true)]
    program: Vec<OsString>,
}

#[derive(Debug, Args)]
struct Echo {
    /// Address to receive on
    address: SocketAddr,
    /// Interface with this address, to receive by XDP
    #[arg(long, value_name = "NAME")]
    interface: Option<String>,
}

#[derive(Debug, Args)]
struct Relay {
    /// Address to receive on
    address: SocketAddr,
    /// Two addresses, as 127.0.0.1:4000=127.0.0.1:4001
    pairs: Vec<Pair>,
}

#[derive(Clone, Copy, Debug)]
struct Pair(SocketAddr, SocketAddr);

impl FromStr for Pair {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Self> {
        let Some((a, b)) = text.split_once('=') else { bail!("expected ADDRESS=ADDRESS") };
        Ok(Self(a.parse().context("the first address")?, b.parse().context("the second address")?))
    }
}

#[derive(Debug, Args)]
struct Memory {
    /// The table: pit, fib or cs
    table: String,
    /// Number of entries
    entries: u32,
}

#[derive(Debug, Args)]
struct KernelInit {
    /// Bytes of a message, for each measurement of throughput
    #[arg(long, value_delimiter = ',')]
    sizes: Vec<u32>,
    /// Concurrent streams
    #[arg(long)]
    streams: u32,
    /// Slices of a measurement of throughput
    #[arg(long)]
    slices: u32,
    /// Milliseconds of a slice
    #[arg(long)]
    slice: u32,
    /// Sets of hostile SYNs
    #[arg(long, value_delimiter = ',')]
    attacks: Vec<Attack>,
    /// Numbers of hostile SYNs before each measurement of one
    #[arg(long, value_delimiter = ',')]
    before: Vec<u32>,
    /// The seed of the sets
    #[arg(long)]
    seed: u64,
}

impl Lab {
    pub(crate) fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Child(Child { core, namespace, parent, program }) => {
                Err(child::become_program(core, namespace.as_deref(), parent, &program))
                    .context("cannot become another program")
            }
            Command::Usage(Usage { parent, program }) => {
                on_stop(move || usage::on_signal(parent))?;
                usage::end_with(parent)?;
                let used = usage::run(&program).context("cannot run the program")?;
                output::print(&format!("{used}\n"))?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Echo(Echo { address, interface }) => {
                echo::serve(address, interface.as_deref())?;
                Ok(ExitCode::SUCCESS)
            }
            Command::Relay(Relay { address, pairs }) => {
                let pairs: Vec<_> = pairs.iter().map(|Pair(a, b)| (*a, *b)).collect();
                relay::serve(address, &pairs)?;
                Ok(ExitCode::SUCCESS)
            }
            Command::KernelInit(KernelInit { sizes, streams, slices, slice, attacks, before, seed }) => {
                let tasks = Tasks { sizes, streams, slices, slice, attacks, before, seed };
                match guest::run(&tasks)? {}
            }
            Command::Memory(Memory { table, entries }) => {
                let Some(table) = memory::Table::of(&table) else {
                    bail!("no table {table:?}; the tables are pit, fib and cs")
                };
                output::print(&format!("{}\n", memory::fill(table, entries)?))?;
                Ok(ExitCode::SUCCESS)
            }
        }
    }
}
