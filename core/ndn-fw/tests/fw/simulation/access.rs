//! Model of the strategy `access`: routes, last working next hops and timeouts, in plain lists.
//!
//! With several shards each has its own measurements, and the model does not know which shard has which name.
//! It then checks that an Interest goes to one face only if that face has returned Data of the group lately.

use super::model::Part;
use hashlane_ndn::time::Time;
use hashlane_ndn_fw::face::FaceId;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Smoothed round-trip time and its variation.
type Estimate = (Duration, Duration);

fn with_sample(estimate: Option<Estimate>, sample: Duration) -> Estimate {
    match estimate {
        None => (sample, sample / 2),
        Some((smoothed, variation)) => {
            ((smoothed * 7 + sample) / 8, (variation * 3 + smoothed.abs_diff(sample)) / 4)
        }
    }
}

fn timeout((smoothed, variation): Estimate) -> Duration {
    (smoothed + 4 * variation).clamp(Duration::from_millis(200), Duration::from_secs(60))
}

/// Group of names.
#[derive(Debug)]
struct Group {
    face: FaceId,
    estimate: Estimate,
    expires: Time,
    /// Faces that have returned Data, and the time until which a shard may remember it.
    faces: BTreeMap<FaceId, Time>,
    /// True if the model does not know the estimate; see [`Choice::vague`].
    is_vague: bool,
}

/// A prefix with its strategy.
#[derive(Debug)]
struct Choice {
    prefix: Vec<Part>,
    is_access: bool,
    groups: BTreeMap<Vec<Part>, Group>,
    faces: BTreeMap<FaceId, Estimate>,
    /// Faces with unknown estimates: one Data packet had several samples, in an order that the model does not
    /// know.
    vague: BTreeSet<FaceId>,
}

/// Expected handling of a new Interest.
#[derive(Debug, PartialEq, Eq)]
pub enum Plan {
    /// To one face; the time of the retry, if there are other faces and the model knows the estimate.
    One(FaceId, Option<Time>),
    All,
}

#[derive(Debug, Default)]
pub struct Access {
    choices: Vec<Choice>,
    routes: BTreeSet<(Vec<Part>, FaceId)>,
    pub shards: usize,
    /// Interests that went to one of several faces, and retries.
    pub singles: usize,
    pub retries: usize,
    /// Timeouts whose time the model has predicted, and after which Interests went out.
    pub predicted: usize,
}

impl Access {
    /// Sets the strategy of a prefix.
    pub fn choose(&mut self, prefix: Vec<Part>, strategy: &str) {
        let is_access = strategy == "access";
        let (groups, faces, vague) = Default::default();
        self.choices.push(Choice { prefix, is_access, groups, faces, vague });
    }

    pub fn add_route(&mut self, prefix: Vec<Part>, face: FaceId) {
        self.routes.insert((prefix, face));
    }

    pub fn remove_route(&mut self, prefix: Vec<Part>, face: FaceId) {
        self.routes.remove(&(prefix, face));
    }

    fn choice(&mut self, name: &[Part]) -> Option<&mut Choice> {
        let choices = self.choices.iter_mut().filter(|choice| name.starts_with(&choice.prefix));
        choices.max_by_key(|choice| choice.prefix.len()).filter(|choice| choice.is_access)
    }

    /// True if the strategy of a name is access.
    pub fn has(&mut self, name: &[Part]) -> bool {
        self.choice(name).is_some()
    }

    /// Next hops of a name, without the face that asks.
    pub fn eligible(&self, name: &[Part], from: FaceId) -> BTreeSet<FaceId> {
        let covers = self.routes.iter().filter(|(prefix, _)| name.starts_with(prefix));
        let longest = covers.clone().map(|(prefix, _)| prefix.len()).max();
        let hops = covers.filter(|(prefix, _)| Some(prefix.len()) == longest).map(|(_, face)| *face);
        hops.filter(|face| *face != from).collect()
    }

    /// Plan for a new Interest with these eligible next hops.
    pub fn plan(&mut self, name: &[Part], eligible: &BTreeSet<FaceId>, now: Time) -> Plan {
        let Some(choice) = self.choice(name) else { return Plan::All };
        let groups =
            choice.groups.iter().filter(|(prefix, group)| name.starts_with(prefix) && group.expires > now);
        let longest = groups.max_by_key(|(prefix, _)| prefix.len());
        match longest.filter(|(_, group)| eligible.contains(&group.face)) {
            Some((_, group)) => {
                let is_known = eligible.len() > 1 && !group.is_vague;
                Plan::One(group.face, is_known.then(|| now + timeout(group.estimate)))
            }
            None => Plan::All,
        }
    }

    /// True if some shard may still know a face as the last working one of a name.
    pub fn may_know(&mut self, name: &[Part], face: FaceId, now: Time) -> bool {
        let groups = self.choice(name).map(|choice| &choice.groups);
        groups.is_some_and(|groups| {
            let mut covers = groups.iter().filter(|(prefix, _)| name.starts_with(prefix));
            covers.any(|(_, group)| group.faces.get(&face).is_some_and(|until| *until > now))
        })
    }

    /// Notes the round-trip times of Data that satisfied entries with these names.
    pub fn measure(&mut self, data: &[Part], entries: &[(Vec<Part>, Duration)], face: FaceId, now: Time) {
        let until = now.after_millis(8000);
        let mut samples = BTreeMap::<Vec<Part>, BTreeSet<Duration>>::new();
        for (name, sample) in entries {
            let Some(choice) = self.choice(name) else { continue };
            let samples = samples.entry(choice.prefix.clone()).or_default();
            samples.insert(*sample);
            if samples.len() > 1 {
                choice.vague.insert(face);
            }
            let estimate = with_sample(choice.faces.get(&face).copied(), *sample);
            choice.faces.insert(face, estimate);
            let len = (data.len().max(1) - 1).max(choice.prefix.len()).min(data.len());
            let is_vague = choice.vague.contains(&face);
            let group = choice.groups.entry(data[..len].to_vec()).or_insert_with(|| Group {
                face: FaceId::NONE,
                estimate,
                expires: until,
                faces: BTreeMap::new(),
                is_vague,
            });
            if group.face == face && group.expires > now {
                group.estimate = with_sample(Some(group.estimate), *sample);
                group.is_vague |= samples.len() > 1;
            } else {
                (group.estimate, group.is_vague) = (estimate, is_vague);
            }
            (group.face, group.expires) = (face, until);
            group.faces.insert(face, until);
        }
    }
}
