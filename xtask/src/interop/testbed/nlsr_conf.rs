//! Configuration and keys of NLSR.

use super::mesh::Mesh;
use super::node::Node;
use super::topology::{Site, Topology};
use crate::interop::program::Program;
use std::fs;
use std::thread;
use std::time::Duration;

/// Timeout of ndnsec.
const TIMEOUT: Duration = Duration::from_secs(20);
/// Time until a new certificate is valid: ndnsec rounds the begin of its validity up to a whole second.
const VALID_AFTER: Duration = Duration::from_secs(1);

/// Certificates that a router publishes, below the folder of its node.
const PUBLISHED: [&str; 3] = ["site.cert", "operator.cert", "router.cert"];

/// Makes the keys of all nodes, as on the testbed: the network signs for its sites, a site for its operator,
/// the operator for the router. The network's certificate is the trust anchor; the others are fetched over
/// NDN. Returns when all certificates are valid: after hello Data that NLSR cannot validate, it asks again
/// only after its hello interval.
///
/// # Errors
/// ndnsec failed.
pub(super) fn make_keys(mesh: &Mesh<'_>, topology: &Topology) -> Result<(), String> {
    let root = mesh.nodes.first().ok_or("no nodes")?;
    let anchor = ndnsec(root, &["key-gen", "/ndn"], b"")?;
    for (node, site) in mesh.nodes.iter().zip(&topology.sites) {
        let site_name = format!("/ndn{}", site.site);
        write_file(node, "anchor.cert", &anchor)?;
        let request = ndnsec(node, &["key-gen", &site_name], b"")?;
        // The first node has the keys of the network.
        install(node, PUBLISHED[0], &ndnsec(root, &["cert-gen", "-s", "/ndn", "-"], &request)?)?;
        let operator = format!("{site_name}/%C1.Operator/op");
        let request = ndnsec(node, &["key-gen", &operator], b"")?;
        install(node, PUBLISHED[1], &ndnsec(node, &["cert-gen", "-s", &site_name, "-"], &request)?)?;
        // Not the default identity: that is the operator, who signs the commands of nlsrc.
        let request = ndnsec(node, &["key-gen", "-n", &site.name()], b"")?;
        install(node, PUBLISHED[2], &ndnsec(node, &["cert-gen", "-s", &operator, "-"], &request)?)?;
    }
    ndnsec(root, &["set-default", &format!("/ndn{}/%C1.Operator/op", topology.sites[0].site)], b"")?;
    thread::sleep(VALID_AFTER);
    Ok(())
}

/// Keeps a certificate, and makes it the one of its key.
fn install(node: &Node<'_>, file: &str, certificate: &[u8]) -> Result<(), String> {
    write_file(node, file, certificate)?;
    ndnsec(node, &["cert-install", "-K", file], b"").map(drop)
}

fn ndnsec(node: &Node<'_>, words: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    let mut command = node.command("ndnsec")?;
    let name = format!("ndnsec {} on {}", words.join(" "), node.name);
    let mut program = Program::start(&name, command.args(words))?;
    program.feed(input)?;
    program.finish(TIMEOUT)
}

fn write_file(node: &Node<'_>, name: &str, content: &[u8]) -> Result<(), String> {
    let path = node.dir.join(name);
    fs::write(&path, content).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes `nlsr.conf` of a node. Intervals are the testbed's, except for hello Interests: they are sent twice
/// as often, so that a failed link is found in half the time.
///
/// # Errors
/// The file cannot be written.
pub(super) fn write(mesh: &Mesh<'_>, topology: &Topology, index: usize) -> Result<(), String> {
    let (node, site) = (&mesh.nodes[index], &topology.sites[index]);
    let mut neighbours = String::new();
    for (other, cost) in &site.neighbours {
        let (name, uri) = (topology.sites[*other].name(), mesh.uri(topology, index, *other)?);
        neighbours += &format!("  neighbor {{ name {name}\n    face-uri {uri}\n    link-cost {cost} }}\n");
    }
    let state = node.dir.join("nlsr-state");
    fs::create_dir_all(&state).map_err(|error| format!("{}: {error}", state.display()))?;
    // Releases up to 24.08 have prefixes without costs.
    let version = node.output(&["nlsr", "-V"])?;
    let has_costs = !["0.", "22.", "24.08"].iter().any(|old| version.trim().starts_with(old));
    let text = conf(site, &neighbours, &node.dir.display().to_string(), has_costs);
    write_file(node, "nlsr.conf", text.as_bytes())
}

/// `has_costs` if a prefix is followed by its cost.
fn conf(site: &Site, neighbours: &str, dir: &str, has_costs: bool) -> String {
    let prefix = |prefix: &String| match has_costs {
        true => format!("  {prefix} 0\n"),
        false => format!("  prefix {prefix}\n"),
    };
    let prefixes: String = site.prefixes.iter().map(prefix).collect();
    let certificates: String =
        PUBLISHED.iter().map(|file| format!("  cert-to-publish \"{dir}/{file}\"\n")).collect();
    let anchor = format!("trust-anchor {{ type file\n    file-name \"{dir}/anchor.cert\" }}");
    format!(
        "general
{{
  network /ndn
  site {}
  router /%C1.Router/{}
  lsa-refresh-time 1800
  lsa-interest-lifetime 4
  sync-protocol psync
  sync-interest-lifetime 60000
  state-dir {dir}/nlsr-state
}}
neighbors
{{
  hello-retries 3
  hello-timeout 1
  hello-interval 30
  adj-lsa-build-interval 5
  first-hello-interval 10
  face-dataset-fetch-tries 3
  face-dataset-fetch-interval 3600
{neighbours}}}
hyperbolic
{{
  state off
  radius 1
  angle 1
}}
fib
{{
  max-faces-per-prefix 10
  routing-calc-interval 15
}}
advertising
{{
{prefixes}}}
security
{{
  validator
  {{
    {}
    {anchor}
  }}
  prefix-update-validator
  {{
    {}
    {}
    {anchor}
  }}
{certificates}}}
",
        site.site,
        site.router,
        rule("data"),
        rule("interest"),
        rule("data"),
    )
}

/// A rule for all packets of a kind: signed by a key with a certificate, up to the anchor.
fn rule(kind: &str) -> String {
    format!(
        "rule
    {{
      id \"every {kind}\"
      for {kind}
      checker
      {{
        type customized
        sig-type ecdsa-sha256
        key-locator
        {{
          type name
          regex ^<>*<KEY><>{{1,3}}$
        }}
      }}
    }}"
    )
}
