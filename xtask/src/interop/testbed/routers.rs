//! NLSR on the nodes of a topology.

use super::lab::Lab;
use super::mesh::Mesh;
use super::nlsr_conf;
use super::node::{Forwarder, Node, Setup};
use super::topology::Topology;
use crate::interop::program::Program;
use std::time::Instant;

/// Starts the forwarders of a topology, makes faces and keys, and then starts NLSR on all nodes. Returns the
/// time of the first of these starts.
///
/// # Errors
/// A step failed.
pub(super) fn start<'l>(
    lab: &'l Lab,
    topology: &Topology,
    forwarder: Forwarder,
    setup: &Setup,
) -> Result<(Mesh<'l>, Vec<Program>, Instant), String> {
    let mesh = prepare(lab, topology, forwarder, setup)?;
    let start = Instant::now();
    let routers = mesh.nodes.iter().map(router).collect::<Result<_, _>>()?;
    Ok((mesh, routers, start))
}

/// Forwarders of a topology with faces and keys, and configurations of NLSR.
///
/// # Errors
/// A step failed.
pub(super) fn prepare<'l>(
    lab: &'l Lab,
    topology: &Topology,
    forwarder: Forwarder,
    setup: &Setup,
) -> Result<Mesh<'l>, String> {
    let mesh = Mesh::start_with(lab, topology, forwarder, setup)?;
    mesh.connect(topology)?;
    nlsr_conf::make_keys(&mesh, topology)?;
    (0..topology.sites.len()).try_for_each(|index| nlsr_conf::write(&mesh, topology, index))?;
    Ok(mesh)
}

/// Starts NLSR on a node.
///
/// # Errors
/// It is missing.
pub(super) fn router(node: &Node<'_>) -> Result<Program, String> {
    node.spawn(&["nlsr", "-f", "nlsr.conf"])
}
