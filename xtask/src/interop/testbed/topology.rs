//! Topologies of routers: a ring, and the testbed's from its host files.

use std::fs;
use std::path::Path;

/// A router, its prefixes, and its neighbours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Site {
    /// Name of the namespace.
    pub(super) id: String,
    /// Below the network's name: `/edu/example`.
    pub(super) site: String,
    pub(super) router: String,
    /// Prefixes that it announces.
    pub(super) prefixes: Vec<String>,
    /// Index of each neighbour, and the cost of the link to it.
    pub(super) neighbours: Vec<(usize, u32)>,
}

impl Site {
    /// Name of the router.
    pub(super) fn name(&self) -> String {
        format!("/ndn{}/%C1.Router/{}", self.site, self.router)
    }
}

/// Sites, and the links between them.
#[derive(Clone, Debug)]
pub(super) struct Topology {
    pub(super) name: &'static str,
    pub(super) sites: Vec<Site>,
}

impl Topology {
    /// Routers in a ring. Costs differ, so that one direction is shorter.
    pub(super) fn ring(count: usize) -> Self {
        let cost = |link: usize| 10 + link as u32;
        let site = |index: usize| Site {
            id: format!("ring{index}"),
            site: format!("/ring/site{index}"),
            router: format!("router{index}"),
            prefixes: vec![format!("/ndn/ring/site{index}")],
            neighbours: vec![
                ((index + count - 1) % count, cost((index + count - 1) % count)),
                ((index + 1) % count, cost(index)),
            ],
        };
        Self { name: "ring", sites: (0..count).map(site).collect() }
    }

    /// The testbed, from the folder of its host files.
    ///
    /// # Errors
    /// A file cannot be read, or lacks a key.
    pub(super) fn testbed(folder: &Path) -> Result<Self, String> {
        let failed = |error: std::io::Error| format!("{}: {error}", folder.display());
        let mut paths: Vec<_> =
            fs::read_dir(folder).map_err(failed)?.filter_map(|entry| Some(entry.ok()?.path())).collect();
        paths.sort();
        let mut hosts = Vec::new();
        for path in paths.iter().filter(|path| path.is_file()) {
            let text = fs::read_to_string(path).map_err(failed)?;
            let id = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            hosts.push(host(id, &text).ok_or_else(|| format!("{}: no site or router_name", path.display()))?);
        }
        let index = |name: &str| hosts.iter().position(|(site, _)| site.id == name);
        let sites = hosts
            .iter()
            .map(|(site, neighbours)| {
                let neighbours = neighbours.iter().filter_map(|(name, cost)| Some((index(name)?, *cost)));
                Site { neighbours: neighbours.collect(), ..site.clone() }
            })
            .collect();
        Ok(Self { name: "testbed", sites })
    }

    /// Links by the indices of their ends, the smaller first; each once.
    pub(super) fn links(&self) -> Vec<[usize; 2]> {
        let ends = |(index, site): (usize, &Site)| {
            site.neighbours
                .iter()
                .map(move |(other, _)| [index.min(*other), index.max(*other)])
                .collect::<Vec<_>>()
        };
        let mut links: Vec<[usize; 2]> = self.sites.iter().enumerate().flat_map(ends).collect();
        links.sort_unstable();
        links.dedup();
        links
    }

    /// The first link without which all sites can still reach each other.
    pub(super) fn spare_link(&self) -> Option<usize> {
        let links = self.links();
        (0..links.len()).find(|&down| {
            let mut reached = vec![0];
            let mut next = 0;
            while next < reached.len() {
                let here = reached[next];
                next += 1;
                for (_, [a, b]) in links.iter().enumerate().filter(|(link, _)| *link != down) {
                    let there = if *a == here {
                        *b
                    } else if *b == here {
                        *a
                    } else {
                        continue;
                    };
                    if !reached.contains(&there) {
                        reached.push(there);
                    }
                }
            }
            reached.len() == self.sites.len()
        })
    }
}

/// A site and the names and costs of its neighbours. The host files are YAML of a simple form: keys at the
/// start of a line, lists of `- value`, and `neighbors` with a name and a `link_cost` for each.
fn host(id: String, text: &str) -> Option<(Site, Vec<(String, u32)>)> {
    let mut site = Site { id, ..Site::default() };
    let (mut section, mut neighbours, mut neighbour) = ("", Vec::new(), "");
    for line in text.lines() {
        if let Some(item) = line.strip_prefix("- ") {
            if section == "advertised_prefixes" {
                site.prefixes.push(item.trim().to_owned());
            }
            continue;
        }
        let Some((key, value)) = line.split_once(':') else { continue };
        let value = value.trim();
        match (line.starts_with(' '), key.trim()) {
            (false, key) => {
                section = key;
                match key {
                    "site" => value.clone_into(&mut site.site),
                    "router_name" => value.clone_into(&mut site.router),
                    _ => {}
                }
            }
            (true, "link_cost") if section == "neighbors" => {
                neighbours.push((neighbour.to_owned(), value.parse().ok()?));
            }
            (true, key) => neighbour = key,
        }
    }
    let is_whole = !site.site.is_empty() && !site.router.is_empty();
    is_whole.then_some((site, neighbours))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ring_has_a_link_for_each_router_and_any_can_fail() {
        let ring = Topology::ring(4);
        assert_eq!(ring.links(), [[0, 1], [0, 3], [1, 2], [2, 3]]);
        assert_eq!(ring.spare_link(), Some(0));
        for (index, site) in ring.sites.iter().enumerate() {
            for (other, cost) in &site.neighbours {
                assert!(ring.sites[*other].neighbours.contains(&(index, *cost)), "costs are symmetric");
            }
        }
    }

    #[test]
    fn a_host_file_is_read() {
        let text = "site: /edu/x\nadvertised_prefixes:\n- /ndn/edu/x\n- /ndn/CA\nnetwork_regions:\n- /r\n\
                    router_name: hub\nneighbors:\n  A:\n    link_cost: 28\n  B:\n    link_cost: 3\nposition:\n- 1.0\n";
        let (site, neighbours) = host("X".to_owned(), text).unwrap();
        assert_eq!(site.name(), "/ndn/edu/x/%C1.Router/hub");
        assert_eq!(site.prefixes, ["/ndn/edu/x", "/ndn/CA"]);
        assert_eq!(neighbours, [("A".to_owned(), 28), ("B".to_owned(), 3)]);
        assert!(host("X".to_owned(), "site: /x\n").is_none());
    }
}
