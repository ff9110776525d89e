//! Versions that other servers are told of (NOTIFY).

use super::Catalog;
use super::configured::Configured;
use super::unknown_zone;
use crate::config::Config;
use crate::transfers::notifier::News;
use hashlane_name::dns::Name;
use std::io;

impl Catalog {
    /// Versions that secondaries were not told of yet.
    pub(crate) fn news(&mut self, config: &Config) -> Vec<News> {
        let keys = &self.keys;
        self.zones.iter_mut().filter_map(|zone| zone.news(config, keys, false)).collect()
    }

    /// The news of one zone, told or not.
    ///
    /// # Errors
    /// The zone is unknown, has no data, or nobody is to be told.
    pub(crate) fn news_of(&mut self, apex: Name<'_>, config: &Config) -> io::Result<News> {
        let keys = &self.keys;
        let is = |zone: &&mut Configured| zone.apex.view().eq_ignore_case(apex);
        let zone = self.zones.iter_mut().find(is).ok_or_else(|| unknown_zone(apex))?;
        let name = zone.file.name.clone();
        zone.news(config, keys, true).ok_or_else(|| {
            let why = format!(
                "nobody to tell about {name}: it has no data, or neither it nor `transfer` has `notify`"
            );
            io::Error::new(io::ErrorKind::NotFound, why)
        })
    }
}
