//! Functions that no attack was made for. Each is written here from the description of its kind.

use super::*;
use crate::constants::Constants;

/// A function of a seed of 64 bits and a key.
pub(super) type Hash = fn(u64, &[u8]) -> u64;

pub(super) fn report_of(id: &str, width: u32, hash: Hash) -> Report {
    let info = SubjectInfo { id: id.to_owned(), width, ..info_of_test() };
    let of = |key: &Key, bytes: &[u8], _| Ok(hash(key.halves().0, bytes));
    audit(&mut Broken(info, of, 0), &settings("chained", 1), &[], &mut |_| {})
}

/// The outcome of one attack.
fn outcome<'a>(report: &'a Report, id: &str) -> &'a Outcome {
    let attempt = report.attempts.iter().find(|(about, _)| about.id == id);
    &attempt.unwrap_or_else(|| panic!("no attack {id}")).1
}

/// A one to one mixing of 64 bits.
pub(super) fn mixed(word: u64) -> u64 {
    let word = (word ^ word >> 32).wrapping_mul(0xd6e8_feb8_6659_fd93);
    let word = (word ^ word >> 29).wrapping_mul(0xa076_1d64_78bd_642f);
    word ^ word >> 31
}

/// Little-endian words of a key; the last one is filled with zeros.
pub(super) fn words(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    bytes.chunks(8).map(|word| word.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte)))
}

fn fnv_1a(bytes: &[u8]) -> u64 {
    let step = |state: u64, byte: &u8| (state ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, step)
}

pub(super) fn siphash(seed: u64, bytes: &[u8]) -> u64 {
    let words = [mixed(seed), mixed(!seed)].map(u64::to_le_bytes).concat();
    SipHash24::new(&Key::new(words.try_into().unwrap())).hash(bytes)
}

#[test]
fn a_seed_that_comes_after_the_key_protects_from_nothing() {
    // The first is flooded with the seed, the second by results, and the keys hold for any seed.
    for (id, hash, with) in [
        (
            "FNV-1a, then the seed",
            (|seed, bytes| mixed(fnv_1a(bytes).wrapping_add(seed))) as Hash,
            Knowledge::Seed,
        ),
        ("unkeyed, then the seed", |seed, bytes| siphash(0, bytes) ^ seed, Knowledge::Results),
    ] {
        let report = report_of(id, 64, hash);
        let Verdict::Floodable(Knowledge::Nothing, _, flood) = &report.verdict else {
            panic!("{id}: {}", report.verdict)
        };
        assert_eq!(flood.made_with, Some(with), "{id}");
        // Keys that meet in one state before the seed comes in are second keys for any given one.
        let work = if with == Knowledge::Seed { 0.0 } else { 64.0 };
        assert_eq!(second_key(&report), work, "{id}");
    }
}

#[test]
fn only_a_flood_that_needs_no_more_hides_that_of_biased_buckets() {
    // Each of sixteen bits is hashed under half of the seeds.
    let report = report_of("half of the seeds", 64, |seed, bytes| {
        let ignored = mixed(seed ^ 0x0dd);
        let bits = bytes.iter().enumerate().map(|(place, byte)| byte & !(ignored >> place & 1) as u8);
        let kept = bytes.iter().skip(16).copied();
        siphash(seed, &bits.take(16).chain(kept).collect::<Vec<_>>())
    });
    assert!(matches!(outcome(&report, "terms-learnt"), Outcome::Flood(_)), "{report:?}");
    let Verdict::Floodable(Knowledge::Nothing, "bucket-bias", _) = report.verdict else {
        panic!("{}", report.verdict)
    };
}

#[test]
fn words_above_the_prime_of_a_field_are_smaller_numbers() {
    let report = report_of("polynomial", 64, |seed, bytes| {
        let prime = (1_u128 << 61) - 1;
        let point = u128::from(mixed(seed)) % prime;
        let sum =
            words(bytes).fold(bytes.len() as u128, |sum, word| (sum * point + u128::from(word)) % prime);
        mixed((sum * point % prime) as u64 ^ mixed(seed ^ 1))
    });
    is_flooded_by(&report, "residues", Knowledge::Nothing);
}

#[test]
fn words_of_four_bytes_reach_above_the_primes_of_contests() {
    fn polynomial(prime: u64, seed: u64, bytes: &[u8]) -> u64 {
        let (point, start) = (65_537 + (seed as u32 as u64) % (prime - 65_537), seed >> 32);
        let words = bytes.chunks(4).map(|bytes| words(bytes).next().unwrap_or(0));
        let start = (start % prime * point + bytes.len() as u64) % prime;
        mixed(words.fold(start, |sum, word| (sum * point + word) % prime) * point % prime) >> 32
    }
    let functions: [(&str, Hash); 2] = [
        ("10^9 + 7", |seed, bytes| polynomial(1_000_000_007, seed, bytes)),
        ("998244353", |seed, bytes| polynomial(998_244_353, seed, bytes)),
    ];
    for (id, hash) in functions {
        is_flooded_by(&report_of(id, 32, hash), "residues", Knowledge::Nothing);
    }
}

/// Work for a second key with the hash of a given one, without the seed.
pub(super) fn second_key(report: &Report) -> f64 {
    let mut claims = report.identity.iter().flat_map(|identity| &identity.claims);
    let is_second = |claim: &&identity::Claim| {
        claim.goal == identity::Goal::SecondKey && claim.needs == Knowledge::Nothing
    };
    claims.find(is_second).unwrap().log2_work
}

/// Checks that an attack floods the table, and what it needs.
pub(super) fn is_flooded_by(report: &Report, id: &str, needs: Knowledge) {
    assert!(
        matches!(&report.verdict, Verdict::Floodable(knowledge, attack, flood)
            if *knowledge == needs && *attack == id && flood.seeds == flood.tried),
        "{}: {}",
        report.info.id,
        report.verdict
    );
}

/// Four lanes that are multiplied, each word rotated into the next lane, too.
fn lanes<const ROTATED: u32>(seed: u64, bytes: &[u8]) -> u64 {
    let mut lanes = [1, 2, 3, 4].map(|lane| mixed(seed ^ lane));
    for (number, word) in words(bytes).enumerate() {
        lanes[number % 4] = (lanes[number % 4] ^ word).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        lanes[(number + 1) % 4] ^= word.rotate_left(ROTATED);
    }
    siphash(seed, &lanes.map(u64::to_le_bytes).concat()) ^ mixed(bytes.len() as u64)
}

#[test]
fn rotated_copies_of_the_highest_bit_cancel() {
    // The bit is back at its place after 8 words, and after 64.
    for (id, hash) in [("8 words", lanes::<40> as Hash), ("64 words", lanes::<27>)] {
        let report = report_of(id, 64, hash);
        is_flooded_by(&report, "rotated-bits", Knowledge::Nothing);
        assert_eq!(second_key(&report), 0.0, "{id}");
    }
    // The same with words of 32 bits.
    let narrow = report_of("32 bits", 32, |seed, bytes| {
        let mut lanes = [1, 2].map(|lane| mixed(seed ^ lane) as u32);
        for (number, word) in words(bytes).flat_map(|word| [word as u32, (word >> 32) as u32]).enumerate() {
            lanes[number % 2] = (lanes[number % 2] ^ word).wrapping_mul(0x85eb_ca6b);
            lanes[(number + 1) % 2] ^= word.rotate_left(20);
        }
        siphash(seed, &lanes.map(u32::to_le_bytes).concat()) & u64::from(u32::MAX)
    });
    is_flooded_by(&narrow, "rotated-bits", Knowledge::Nothing);
}

#[test]
fn bytes_that_are_rotated_alike_change_places() {
    let report = report_of("cyclic polynomial", 64, |seed, bytes| {
        let term = |byte: &u8| mixed(seed.wrapping_add(mixed(u64::from(*byte) + 1)));
        bytes.iter().fold(0, |state: u64, byte| state.rotate_left(1) ^ term(byte))
    });
    is_flooded_by(&report, "swapped-words", Knowledge::Nothing);
    assert_eq!(second_key(&report), 0.0);
}

#[test]
fn collisions_at_different_places_of_a_sum_of_terms_combine() {
    fn term(seed: u64, place: usize, value: u64) -> u64 {
        siphash(seed, &[place as u64, value].map(u64::to_le_bytes).concat())
    }
    for (id, hash) in [
        (
            "tabulation",
            (|seed, bytes| {
                let terms = bytes.iter().enumerate().map(|(place, byte)| term(seed, place, u64::from(*byte)));
                terms.fold(term(seed, bytes.len(), 1 << 32), |sum, term| sum ^ term)
            }) as Hash,
        ),
        ("added terms of words", |seed, bytes| {
            let terms = words(bytes).enumerate().map(|(place, word)| term(seed, place, word));
            terms.fold(term(seed, bytes.len(), 1 << 32), u64::wrapping_add)
        }),
    ] {
        let report = report_of(id, 64, hash);
        is_flooded_by(&report, "terms-learnt", Knowledge::Results);
        assert!(second_key(&report) > 63.0, "{id}");
    }
}

#[test]
fn long_seeds_that_give_few_functions_are_guessed() {
    for (id, hash, bits) in [
        (
            "16 bits",
            (|seed, bytes| siphash(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48, bytes)) as Hash,
            16.0,
        ),
        ("24 bits", |seed, bytes| siphash(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40, bytes), 24.0),
    ] {
        let report = report_of(id, 64, hash);
        is_flooded_by(&report, "few-functions", Knowledge::Results);
        let note = report.verdict.flood().unwrap().note.clone().unwrap();
        let stated: f64 = note["about 2^".len()..].split(' ').next().unwrap().parse().unwrap();
        assert!((stated - bits).abs() < 0.5, "{note}");
    }
}

/// Eight lanes of one byte that go through one public table, after Pearson.
fn pearson(seed: u64, bytes: &[u8]) -> u64 {
    static TABLE: std::sync::LazyLock<[u8; 256]> = std::sync::LazyLock::new(|| {
        let mut table: [u8; 256] = core::array::from_fn(|place| place as u8);
        (1..256).rev().for_each(|place| table.swap(place, mixed(place as u64) as usize % (place + 1)));
        table
    });
    let table = *TABLE;
    let step = |lanes: [u8; 8], byte: &u8| lanes.map(|lane| table[usize::from(lane ^ byte)]);
    u64::from_le_bytes(bytes.iter().fold(seed.to_le_bytes(), step))
}

#[test]
fn a_repeated_word_leaves_the_states_of_a_table_as_they_were() {
    let report = report_of("steps by a table", 64, pearson);
    is_flooded_by(&report, "repeated-words", Knowledge::Nothing);
}

#[test]
fn a_public_multiplier_is_read_from_differences() {
    for multiplier in [65_599, 1_000_003, 0x100_0000_01b3] {
        let of = move |key: &Key, bytes: &[u8], _| {
            let step = |state: u64, byte: &u8| state.wrapping_mul(multiplier).wrapping_add(u64::from(*byte));
            Ok(bytes.iter().fold(key.halves().0, step))
        };
        let report = audit(&mut Broken(info_of_test(), of, 0), &settings("chained", 1), &[], &mut |_| {});
        assert!(matches!(report.verdict, Verdict::Floodable(Knowledge::Nothing, ..)), "{}", report.verdict);
        let Outcome::Flood(flood) = outcome(&report, "additive-lattice") else {
            panic!("{multiplier}: {:?}", outcome(&report, "additive-lattice"))
        };
        assert_eq!(flood.deepest, flood.keys.len());
        assert!(second_key(&report) < 1.0, "{multiplier}");
    }
}

/// A function whose constants are known.
struct Shown<F>(Broken<F>, Constants);

impl<F: FnMut(&Key, &[u8], u64) -> Result<u64, Fault>> AuditedHash for Shown<F> {
    fn info(&self) -> &SubjectInfo {
        self.0.info()
    }

    fn hash_all(&mut self, key: &Key, keys: &Keys, hashes: &mut Vec<u64>) -> Result<(), Fault> {
        self.0.hash_all(key, keys, hashes)
    }

    fn constants(&self) -> Option<Constants> {
        Some(self.1.clone())
    }
}

fn report_with_constants(id: &str, hash: Hash) -> Report {
    let constants = Constants {
        numbers: vec![0xd6e8_feb8_6659_fd93, 0xa076_1d64_78bd_642f, 0x9fb2_1c65_1e98_df25],
        right: vec![32, 29, 31],
        rotations: vec![13, 17, 21, 24, 32],
        ..Constants::default()
    };
    report_with(constants, id, hash)
}

/// Report of a function whose constants everyone sees.
pub(super) fn report_with(constants: Constants, id: &str, hash: Hash) -> Report {
    let info = SubjectInfo { id: id.to_owned(), ..info_of_test() };
    let of = |key: &Key, bytes: &[u8], _| Ok(hash(key.halves().0, bytes));
    let mut subject = Shown(Broken(info, of, 0), constants);
    audit(&mut subject, &settings("chained", 1), &[], &mut |_| {})
}

#[test]
fn words_change_behind_a_public_mixing() {
    const ODD: u64 = 0x9fb2_1c65_1e98_df25;
    let functions: [(&str, Hash); 3] = [
        ("exclusive or", |seed, bytes| {
            let start = mixed(seed ^ bytes.len() as u64);
            mixed(words(bytes).fold(start, |state, word| (state ^ mixed(word)).wrapping_mul(ODD)))
        }),
        ("sum, and a rotation behind the product", |seed, bytes| {
            let start = mixed(seed ^ bytes.len() as u64);
            let step = |state: u64, word| state.wrapping_add(mixed(word)).wrapping_mul(ODD).rotate_left(24);
            siphash(seed, &words(bytes).fold(start, step).to_le_bytes())
        }),
        ("four lanes", |seed, bytes| {
            let mut lanes = [1, 2, 3, 4].map(|lane| mixed(seed ^ lane));
            for (number, word) in words(bytes).enumerate() {
                let lane = &mut lanes[number % 4];
                *lane = (*lane ^ mixed(word)).rotate_left(17).wrapping_mul(ODD);
            }
            siphash(seed, &lanes.map(u64::to_le_bytes).concat()) ^ mixed(bytes.len() as u64)
        }),
    ];
    for (id, hash) in functions {
        let report = report_with_constants(id, hash);
        is_flooded_by(&report, "mixed-words", Knowledge::Nothing);
        // The carries of a sum take one half.
        assert!(second_key(&report) < 1.7, "{id}");
        let note = report.verdict.flood().unwrap().note.clone().unwrap();
        assert!(note.starts_with("each word of 64 bits is mixed by x ^= x >> 32, x *= 0xd6e8"), "{note}");
    }
}

#[test]
fn no_alarm_on_words_that_are_mixed_with_the_seed() {
    let functions: [(&str, Hash); 2] = [
        ("the seed before the mixing", |seed, bytes| {
            let step = |state: u64, word| mixed(mixed(state) ^ mixed(word ^ seed) ^ seed.rotate_left(24));
            mixed(words(bytes).fold(mixed(seed ^ bytes.len() as u64), step))
        }),
        ("a keyed function", siphash),
    ];
    for (id, hash) in functions {
        let verdict = report_with_constants(id, hash).verdict;
        assert!(!verdict.is_floodable() && !verdict.is_faulty(), "{id}: {verdict}");
    }
}

#[test]
fn a_few_keys_in_one_bucket_of_a_small_table_are_no_flood() {
    // The last byte changes the lowest bits alone: 16 keys meet in one of 16 buckets, and nowhere else.
    let report = report_of("polynomial with a secret point", 32, |seed, bytes| {
        const PRIME: u64 = 16_777_213;
        let point = 256 + mixed(seed) % (PRIME - 256);
        bytes.iter().fold(bytes.len() as u64, |sum, byte| (sum * point + u64::from(*byte) + 1) % PRIME)
    });
    let bias = report.bias.as_ref().unwrap();
    assert!(bias.is_biased(), "{bias}");
    let effect = bias.effect.as_ref().unwrap();
    assert_eq!(effect.seeds, 0, "{bias}: {:?}", effect.note);
    assert!(bias.constant.is_some_and(|constant| constant.bits == 8), "{:?}", bias.constant);
    is_flooded_by(&report, "terms-learnt", Knowledge::Results);
}

#[test]
fn two_bytes_that_add_the_same_meet_at_every_place() {
    // Sixteen times a byte and its upper half: not linear, but 16 of the next byte make up for one of this.
    let report = report_of("halves of bytes", 32, |seed, bytes| {
        let step = |sum: u64, byte: &u8| {
            let byte = u64::from(*byte);
            sum.wrapping_add(byte << 4).wrapping_add(byte >> 4).wrapping_mul(11)
        };
        bytes.iter().fold(seed, step).wrapping_mul(0x61c8_8646_80b5_83eb) >> 32
    });
    is_flooded_by(&report, "colliding-words", Knowledge::Nothing);
    assert_eq!(report.verdict.flood().unwrap().deepest, 4096);
    let Epsilon::Broken { log2, .. } = report.epsilon else { panic!("{:?}", report.epsilon) };
    assert_eq!((log2, second_key(&report) < 64.0), (0.0, true));
    let two = &report.identity.as_ref().unwrap().claims[0];
    assert_eq!((two.goal, two.needs, two.log2_work), (identity::Goal::TwoKeys, Knowledge::Nothing, 0.0));
}

#[test]
fn a_pair_that_collides_under_every_seed_is_repeated_for_a_flood() {
    // Blocks of 16 bytes: of one with zeros in its first half, the rest of the highest bit is not hashed.
    let report = report_of("mine", 64, |seed, bytes| {
        bytes.chunks(16).fold(mixed(seed ^ bytes.len() as u64), |state, block| {
            let mut block = block.to_vec();
            if block.len() > 1 && block[1..].iter().all(|byte| *byte == 0) {
                block[0] &= 0x7f;
            }
            siphash(state, &block)
        })
    });
    is_flooded_by(&report, "repeated-pair", Knowledge::Nothing);
    assert_eq!(report.verdict.flood().unwrap().keys.len(), 4096);
}

/// Product in the field of 2^64 elements with the polynomial x^64 + x^4 + x^3 + x + 1.
fn field_product(one: u64, other: u64) -> u64 {
    (0..64).rev().fold(0, |product: u64, bit| {
        let doubled = product << 1 ^ if product >> 63 == 1 { 0x1b } else { 0 };
        doubled ^ if other >> bit & 1 == 1 { one } else { 0 }
    })
}

/// Work for a goal with some knowledge.
fn work(report: &Report, goal: identity::Goal, needs: Knowledge) -> f64 {
    let mut claims = report.identity.iter().flat_map(|identity| &identity.claims);
    claims.find(|claim| claim.goal == goal && claim.needs == needs).unwrap().log2_work
}

#[test]
fn keys_of_one_hash_that_results_give_are_two_keys_and_second_ones() {
    // A polynomial over a field of characteristic 2: collisions under a secret point add up.
    let report = report_of("polynomial over a field of 2^64", 64, |seed, bytes| {
        let point = mixed(seed ^ 0x5ec2e7);
        words(bytes).fold(mixed(!seed), |sum, word| field_product(sum ^ word, point))
    });
    is_flooded_by(&report, "linear-learnt", Knowledge::Results);
    for (goal, chance) in [(identity::Goal::TwoKeys, 32.0), (identity::Goal::SecondKey, 64.0)] {
        let of = [Knowledge::Nothing, Knowledge::Results, Knowledge::Seed];
        assert_eq!(of.map(|needs| work(&report, goal, needs)), [chance, 0.0, 0.0], "{goal}");
    }
}

#[test]
fn a_pair_of_one_hash_counts_though_the_first_two_keys_of_a_flood_differ() {
    // Zeros have a hash of their own, in the same bucket as all others.
    let chosen: Keys = (0..64_u64).map(u64::to_le_bytes).collect();
    let of = |key: &Key, bytes: &[u8], _| {
        let hash = match words(bytes).next().unwrap_or(0) {
            0 => mixed(key.halves().0) & !0xfff,
            1..64 => mixed(key.halves().1) & !0xfff,
            word => mixed(key.halves().0 ^ mixed(word)),
        };
        Ok(hash)
    };
    let mut subject = Broken(info_of_test(), of, 0);
    let settings = settings("chained", 1);
    let flood = flood::flood(&mut subject, &settings.geometry, chosen, &[Key::VECTOR], &mut Draw::new(1));
    let [one, other] = flood.unwrap().unwrap().equal.unwrap();
    assert!(one != other && one != [0; 8] && other != [0; 8], "{one:?} {other:?}");
}

#[test]
fn the_verdict_has_the_keys_that_meet_in_the_largest_table() {
    // The lowest 16 bits depend on 16 bits of the key alone; a seed comes in after them.
    let narrow = report_of("narrow below", 64, |seed, bytes| {
        let sum =
            words(bytes).fold(7, |sum: u64, word| (sum ^ mixed(word ^ word >> 3) & 0xffff) * 3 % 65_537);
        mixed(sum.wrapping_add(seed))
    });
    let Verdict::Floodable(Knowledge::Nothing, _, flood) = &narrow.verdict else {
        panic!("{}", narrow.verdict)
    };
    let floods = narrow.attempts.iter().filter_map(|(about, outcome)| match outcome {
        Outcome::Flood(flood) if about.knowledge == Knowledge::Nothing => Some(flood.reach()),
        _ => None,
    });
    assert_eq!(floods.max(), Some(flood.reach()));
    // Random keys of one bucket meet in no table that is much larger; keys of one hash do in any.
    let leaked = report_of("keyed", 64, siphash);
    let flood = leaked.verdict.flood().unwrap();
    assert!((1024..4096).contains(&flood.buckets) && flood.equal.is_none(), "{}", leaked.verdict);
    assert!(leaked.verdict.to_string().contains(", in tables of up to "), "{}", leaked.verdict);
    let crc = report("crc32c", &settings("chained", 1)).verdict;
    assert!(crc.to_string().ends_with(", in a table of any size"), "{crc}");
    assert_eq!(crc.flood().unwrap().buckets, crate::table::MAX_BUCKETS);
}

#[test]
fn learnt_collisions_combine_in_sums_modulo_a_prime_under_a_secret_multiplier() {
    // A polynomial in a secret point modulo 2^61 - 1, of words of four bytes, and a secret number.
    let report = report_of("polynomial in a secret point", 64, |seed, bytes| {
        let prime = (1_u128 << 61) - 1;
        let point = u128::from(mixed(seed)) % prime;
        let words = bytes.chunks(4).map(|bytes| u128::from(words(bytes).next().unwrap_or(0)));
        let sum = words.fold(bytes.len() as u128, |sum, word| (sum + word) * point % prime);
        (sum as u64).wrapping_add(mixed(seed ^ 0x77))
    });
    is_flooded_by(&report, "terms-learnt", Knowledge::Results);
    let flood = report.verdict.flood().unwrap();
    assert!(flood.deepest >= 64 && flood.equal.is_none(), "{}", report.verdict);
}

#[test]
fn a_secret_key_leaves_out_the_attacks_that_need_it_and_says_so() {
    let info = SubjectInfo { keying: Keying::Secret(64), ..info_of_test() };
    let of = |key: &Key, bytes: &[u8], _| Ok(siphash(key.halves().0, bytes));
    let report = audit(&mut Broken(info, of, 0), &settings("chained", 1), &[], &mut |_| {});
    let of_seed = report.attempts.iter().filter(|(about, _)| about.knowledge == Knowledge::Seed);
    assert!(of_seed.clone().count() > 1);
    assert!(of_seed.clone().all(|(_, outcome)| matches!(outcome, Outcome::NotTried)), "{report:?}");
    let bias = report.bias.as_ref().unwrap();
    assert!(bias.to_string().contains(&format!("of keys of {} bytes that", bias.keys[0].len())), "{bias}");
}
