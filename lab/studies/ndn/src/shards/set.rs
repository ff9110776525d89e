//! The forwarders of a scheme on a workload, with their tables filled and their buckets balanced.

use super::clock::Clock;
use super::ends::{Ends, PAIRS, Plan};
use super::names::{self, Names};
use super::path::{Alone, Counts, Nothing, Shard};
use super::post::Post;
use super::threads::{self, Reading};
use super::work::{PREFIXES, Scheme, Work};
use hashlane_forwarder::shards::{Exchange, part};
use hashlane_hash::scheme::Key;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::Ndn;
use hashlane_ndn::wire::LpHeader;
use hashlane_ndn_fw::cs;
use hashlane_ndn_fw::face::{Face, FaceId, LinkType, Scope};
use hashlane_ndn_fw::fib::NextHop;
use hashlane_ndn_fw::forward::{Config, Forwarder, MAX_LIFETIME, Output};
use hashlane_ndn_fw::hashed::NameHasher;
use hashlane_ndn_fw::shard::{Balance, Dispatch, Load};
use std::sync::Arc;
use std::time::Duration;

/// Intervals of the balance before anything is timed, at most.
const BALANCES: usize = 100;

/// Names of an interval of the balance. Their number is above the threshold of a forwarder.
const SAMPLE: u64 = 1 << 16;

/// Time after which no former owner of a bucket is visited: the lifetime of dead nonces and of Interests.
const SETTLED: Duration = Duration::from_secs(20);

/// The threads of a scheme on a workload, between turns.
pub(super) struct Set {
    threads: Threads,
    ends: Vec<Ends>,
    clock: Clock,
}

enum Threads {
    Apart(Vec<Alone>),
    Shards(Vec<Shard>),
    Load([Nothing; 1]),
}

impl Set {
    /// The threads with empty content stores, and the other tables filled.
    ///
    /// # Errors
    /// The balance does not give each shard a part of the names.
    pub(super) fn new(work: Work, scheme: Scheme, key: &Key, seed: u64) -> Result<Self, String> {
        let threads = scheme.threads();
        let names = Names::new(work, None).ok_or("no packets have names of this shape")?;
        let mut clock = Clock::start();
        let config = Config {
            pit_entries: Config::default().pit_entries.max(4 * work.tables.pending),
            cs: cs::Config { packets: work.tables.packets, ..cs::Config::default() },
            ..Config::default()
        };
        let config = part(&config, threads);
        let draws = names::draws(seed);
        let forwarder = |number: usize| Forwarder::new(config.clone(), key, seed + number as u64);
        let (made, plans) = match scheme {
            Scheme::Load => (Threads::Load([Nothing]), vec![Arc::new(Plan::new(FaceId(0), 1, &draws))]),
            Scheme::Apart(_) => {
                let (mut made, mut plans) = (Vec::new(), Vec::new());
                for number in 0..threads {
                    let mut forwarder = forwarder(number);
                    // Ends number their Interests by thread, but each thread has only its own ends.
                    let plan = Arc::new(Plan::new(add_faces(&mut forwarder, 1)?, 1, &draws));
                    add_routes(&mut forwarder, &names, &plan)?;
                    add_pending(&mut forwarder, work, clock, 0..work.tables.pending / threads, |_| true)?;
                    made.push(Alone(forwarder));
                    plans.push(plan);
                }
                (Threads::Apart(made), plans)
            }
            Scheme::Shards(_) | Scheme::HandBack(_) => {
                let mut forwarders: Vec<_> = (0..threads).map(forwarder).collect();
                let first: Result<Vec<_>, String> =
                    forwarders.iter_mut().map(|forwarder| add_faces(forwarder, threads)).collect();
                let first = first?.first().copied().ok_or("no shards")?;
                let plan = Arc::new(Plan::new(first, threads, &draws));
                let dispatch = Arc::new(Dispatch::new(threads));
                let mut hasher = NameHasher::new(key);
                balance(&dispatch, &plan, names.clone(), &mut hasher, &mut clock)?;
                let mut posts = Post::of_all(threads, &plan).into_iter();
                let mut ends = Exchange::of_all(threads, None).into_iter();
                let mut made = Vec::new();
                for (own, mut forwarder) in forwarders.into_iter().enumerate() {
                    add_routes(&mut forwarder, &names, &plan)?;
                    let mut load = Load::default();
                    let is_own = |packet: &[u8]| {
                        dispatch.route(packet, &mut hasher, clock.now(), &mut load).shard() == own
                    };
                    add_pending(&mut forwarder, work, clock, 0..work.tables.pending, is_own)?;
                    let exchange = ends.next().ok_or("each shard has its queues")?;
                    let (dispatch, plan, load) = (dispatch.clone(), plan.clone(), Load::default());
                    let post = posts.next().filter(|_| matches!(scheme, Scheme::Shards(_)));
                    let counts = Counts::default();
                    made.push(Shard { own, forwarder, dispatch, plan, load, exchange, post, counts });
                }
                (Threads::Shards(made), vec![plan; threads])
            }
        };
        let number =
            |at: usize| if matches!(scheme, Scheme::Shards(_) | Scheme::HandBack(_)) { at } else { 0 };
        let ends = plans.iter().enumerate().map(|(at, plan)| Ends::new(number(at), plan, work));
        let ends = ends.collect::<Option<_>>().ok_or("no packets have names of this shape")?;
        Ok(Self { threads: made, ends, clock })
    }

    /// Exchanges of all threads.
    ///
    /// # Errors
    /// An Interest was not answered exactly once, or a packet was lost.
    pub(super) fn turn(&mut self, exchanges: u64) -> Result<Reading, String> {
        let Self { threads, ends, clock } = self;
        match threads {
            Threads::Apart(paths) => threads::turn(paths, ends, exchanges, *clock),
            Threads::Shards(paths) => threads::turn(paths, ends, exchanges, *clock),
            Threads::Load(paths) => threads::turn(paths, ends, exchanges, *clock),
        }
    }
}

impl Plan {
    /// The ends of `threads` threads. Each prefix has its producer at the thread whose producers have least.
    pub(super) fn new(first: FaceId, threads: usize, draws: &[u16]) -> Self {
        let mut loads = vec![0.0_f64; threads];
        let producer = |(prefix, weight): (usize, f64)| {
            let least = loads.iter_mut().enumerate().min_by(|a, b| f64::total_cmp(a.1, b.1));
            let thread = least.map_or(0, |(thread, load)| {
                *load += weight;
                thread
            });
            (thread * 2 * PAIRS + PAIRS + prefix % PAIRS) as u16
        };
        let producers = names::weights().into_iter().enumerate().map(producer).collect();
        Self { first, producers, draws: draws.to_vec() }
    }
}

/// Adds the faces of all ends. Returns the first of them.
fn add_faces(forwarder: &mut Forwarder, threads: usize) -> Result<FaceId, String> {
    let mut add = || forwarder.add_face(Face::new(Scope::Local, LinkType::PointToPoint));
    let ids: Option<Vec<_>> = (0..threads * 2 * PAIRS).map(|_| add()).collect();
    let ids = ids.ok_or("too many faces")?;
    let first = ids.first().copied().ok_or("no faces")?;
    if ids.iter().enumerate().any(|(at, id)| id.0 != first.0 + at as u32) {
        return Err("faces are not numbered one after another".into());
    }
    Ok(first)
}

/// Adds a route to the producer of each prefix.
fn add_routes(forwarder: &mut Forwarder, names: &Names, plan: &Plan) -> Result<(), String> {
    for prefix in 0..PREFIXES {
        let name: OwnedName<Ndn> = names.prefix(prefix).ok_or("no such prefix")?;
        let face = plan.producer(prefix as u16);
        forwarder.add_route(&name.view(), NextHop { face, cost: 0 });
    }
    Ok(())
}

/// Adds Interests that are never answered: those with these numbers that the forwarder is to have.
fn add_pending(
    forwarder: &mut Forwarder,
    work: Work,
    clock: Clock,
    numbers: std::ops::Range<usize>,
    mut is_own: impl FnMut(&[u8]) -> bool,
) -> Result<(), String> {
    /// Counts packets.
    struct Sink;
    impl Output for Sink {
        fn send(&mut self, _: FaceId, _: &LpHeader<'_>, _: &[u8]) {}
    }
    let mut names = Names::new(work, Some(MAX_LIFETIME)).ok_or("no packets have names of this shape")?;
    let faces: Vec<FaceId> = forwarder.faces().iter().map(|(id, _)| id).collect();
    for number in numbers {
        // Numbers that no consumer uses, and prefixes in turn.
        let packet = names.interest((number % PREFIXES) as u16, u64::MAX - number as u64);
        if is_own(packet) {
            let face = faces.get(number % PAIRS).copied().ok_or("no faces")?;
            forwarder
                .receive_bytes(face, packet, clock.now(), &mut Sink)
                .map_err(|why| format!("a pending Interest is dropped: {}", why.name()))?;
        }
    }
    Ok(())
}

/// Balances the buckets by the load of the workload, as the first thread does each second, until nothing
/// moves and no former owner is visited.
fn balance(
    dispatch: &Dispatch,
    plan: &Plan,
    mut names: Names,
    hasher: &mut NameHasher,
    clock: &mut Clock,
) -> Result<(), String> {
    let (mut balance, mut load) = (Balance::default(), Load::default());
    let mut settled = 0;
    for _ in 0..BALANCES {
        let mut shares = vec![0_u64; dispatch.shards()];
        for (number, prefix) in (0..SAMPLE).zip(plan.draws.iter().cycle()) {
            let interest = dispatch.route(names.interest(*prefix, number), hasher, clock.now(), &mut load);
            let data = dispatch.route(names.data(*prefix, number), hasher, clock.now(), &mut load);
            if settled > 0 && (!interest.is_last() || interest != data) {
                return Err("former owners are visited for longer than their Interests last".into());
            }
            shares.get_mut(interest.shard()).into_iter().for_each(|share| *share += 1);
        }
        balance.gather(&mut load);
        let changes = balance.balance(dispatch, &[], clock.now());
        clock.advance(SETTLED);
        settled = if changes == 0 { settled + 1 } else { 0 };
        if settled == 3 {
            let least = SAMPLE / shares.len() as u64 / 2;
            return match shares.iter().any(|share| *share < least) {
                false => Ok(()),
                true => Err(format!("the balance gives the shards {shares:?} of {SAMPLE} names")),
            };
        }
    }
    Err("the balance finds no end".into())
}
