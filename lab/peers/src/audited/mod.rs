//! Hashes of the audit alone, behind the feature `audited`.
//!
//! The audit tries every hash that tables are built on, also those that no study would choose; the studies,
//! which compile their loops once for each hash, do without these. A function that no kept crate holds is
//! written here from its published description, in a module that names the licence of the library that
//! defines it. All are tested against published results. The macro `for_each_audited_hash!` lists them, and
//! [`NOT_AUDITED`] those that are left out.
//!
//! Every hash is a plain function of key and bytes and allocates nothing. Of a function with 128 bits of
//! result, a table takes 64: the scheme's id ends in the half that it gives.

mod a5hash;
mod absl;
mod aes;
mod ahash_aes;
mod farmhash;
mod go;
mod gxhash;
mod missing;
mod museair_v03;
mod strings;
mod t1ha;
#[cfg(test)]
mod tests;
mod words;
mod wyhash;

use core::hash::{BuildHasher, Hasher};

use ::foldhash::SharedSeed;
use ::metrohash::{MetroHash64, MetroHash128};
use ::rapidhash::v1::{RapidSecrets as SecretsV1, rapidhash_v1_seeded};
use ::rapidhash::v2::{RapidSecrets as SecretsV2, rapidhash_v2_2_seeded};
use ::rapidhash::v3::{RapidSecrets, rapidhash_v3_inline, rapidhash_v3_seeded};
use ::rapidhash::v3::{rapidhash_v3_micro_inline, rapidhash_v3_nano_inline};
use ::rapidhash::{fast, quality};
use hashlane_hash::scheme::{Key, Keying, Keying::*};
use highway::{HighwayHash as _, HighwayHasher};
use polymur_hash::PolymurHash;
use words::mix_pair;

use crate::hashes::{AUTHORS_CLAIM_SPEED, FOLDHASH, UNDER_EVERY_SEED};
use crate::hashes::{finish, no_adversary, schemes};
use crate::hashes::{seed_cpp, seed64, seeds_of_foldhash, words_of_ahash};

pub use missing::{Missing, NOT_AUDITED};

const AUTHOR_CLAIMS_SPEED: &str =
    no_adversary!("the seed is not a secret key, its author claims speed and spread.");
const EVERYWHERE: &str = no_adversary!("collisions are computed beforehand and hold everywhere.");
const BEFOREHAND: &str = no_adversary!("collisions are computed beforehand that hold under every seed.");
const UNSEEDED: &str = no_adversary!("collisions of the unseeded function hold under every seed.");
const MINIMAL_RESISTANCE: &str = "Tables that live as long as the process, by its author's claim \
     of minimal resistance to flooding; no analysis is published.";

const OF_GO: &str = "Tables that live as long as the process, by the aim of its authors to make collisions \
     hard to engineer; no analysis is published.";

/// The offset basis of FNV-1a with 64 bits.
const BASIS: u64 = 0xcbf2_9ce4_8422_2325;

schemes! { $
    /// Calls the macro `$callback` with every hash of this crate that is there for the audit alone, in the
    /// form of [`hashlane_hash::for_each_hash!`]. All of them hash bytes and nothing more.
    for_each_audited_hash in audited;

    Xxh32(u32 = seed32): Seed(32), 32, 0x0b58_a5b0, "xxh32", "crate xxhash-rust 0.8.19",
        no_adversary!("collisions are known that hold under nearly every seed."),
        |&seed, bytes| u64::from(xxhash_rust::xxh32::xxh32(bytes, seed));
    Xxh64(u64 = seed64): Seed(64), 64, 0xc651_9e2b_b348_97a0, "xxh64", "crate xxhash-rust 0.8.19",
        AUTHORS_CLAIM_SPEED, |&seed, bytes| xxhash_rust::xxh64::xxh64(bytes, seed);
    // Bytes 8–15 of the canonical form, and bytes 0–7: a collision of both is one of the whole.
    Xxh3Low(u64 = seed64): Seed(64), 64, 0xcb4d_7bd1_9a60_957a,
        "xxh3-128-low", "crate xxhash-rust 0.8.19, low half", AUTHORS_CLAIM_SPEED,
        |&seed, bytes| xxhash_rust::xxh3::xxh3_128_with_seed(bytes, seed) as u64;
    Xxh3High(u64 = seed64): Seed(64), 64, 0xd18e_168a_b840_b09a,
        "xxh3-128-high", "crate xxhash-rust 0.8.19, high half", AUTHORS_CLAIM_SPEED,
        |&seed, bytes| (xxhash_rust::xxh3::xxh3_128_with_seed(bytes, seed) >> 64) as u64;

    WyHash(u64 = seed64): Seed(64), 64, 0x83e6_dbe1_e71e_966e,
        "wyhash", "wyhash.h final version 4.3 (Wang Yi), as 4.2, default secrets", UNDER_EVERY_SEED,
        |&seed, bytes| wyhash::wyhash(seed, bytes);

    // Under the header's own secrets. V8 takes 30 bits of the first release.
    RapidHashV1(SecretsV1 = |key| SecretsV1::seed_cpp(seed64(key))): Seed(64), 64, 0x9471_5857_b747_dea9,
        "rapidhash-v1", "crate rapidhash 4.5.1, V1 as in rapidhash.h", UNDER_EVERY_SEED,
        |secrets, bytes| rapidhash_v1_seeded(bytes, secrets);
    RapidHashV2(SecretsV2 = |key| SecretsV2::seed_cpp(seed64(key))): Seed(64), 64, 0x9e56_076b_5f55_b9d2,
        "rapidhash-v2", "crate rapidhash 4.5.1, V2.2 as in rapidhash.h", UNDER_EVERY_SEED,
        |secrets, bytes| rapidhash_v2_2_seeded(bytes, secrets);

    // Functions of `rapidhash.h` under its own secrets, the same on every machine; the protected one, whose
    // products are combined with their factors, under other seeds than in the header.
    Micro(RapidSecrets = seed_cpp): Seed(64), 64, 0xeb4f_c04f_bc68_353d,
        "rapidhash-micro", "crate rapidhash 4.5.1, V3 micro as in rapidhash.h", UNDER_EVERY_SEED,
        |secrets, bytes| rapidhash_v3_micro_inline::<true, false>(bytes, secrets);
    Nano(RapidSecrets = seed_cpp): Seed(64), 64, 0xeb4f_c04f_bc68_353d,
        "rapidhash-nano", "crate rapidhash 4.5.1, V3 nano as in rapidhash.h", UNDER_EVERY_SEED,
        |secrets, bytes| rapidhash_v3_nano_inline::<true, false>(bytes, secrets);
    Protected(RapidSecrets = seed_cpp): Seed(64), 64, 0x5800_2a1c_1b24_6f34, "rapidhash-protected",
        "crate rapidhash 4.5.1, V3 protected; the seed is stirred as in the unprotected form",
        no_adversary!("the secrets are public."),
        |secrets, bytes| rapidhash_v3_inline::<true, false, true>(bytes, secrets);
    // Secrets derived from the seed, as the crate recommends; `fast` and `quality` are its hashers for tables
    // in memory, which promise nothing from one release to the next.
    Secrets(RapidSecrets = derived_secrets): Seed(64), 64, 0xaeb3_2deb_09f4_8dea,
        "rapidhash-secrets", "crate rapidhash 4.5.1, V3 with secrets derived from the seed",
        MINIMAL_RESISTANCE, |secrets, bytes| rapidhash_v3_seeded(bytes, secrets);
    Fast(RapidSecrets = derived_secrets): Seed(64), 64, 0x9f16_da8d_da7b_1112,
        "rapidhash-fast", "crate rapidhash 4.5.1, fast hasher with secrets derived from the seed",
        MINIMAL_RESISTANCE,
        |key, bytes| finish(fast::SeedableState::custom(key.seed, &key.secrets).build_hasher(), bytes);
    Quality(RapidSecrets = derived_secrets): Seed(64), 64, 0xd07d_4306_0408_e3ca,
        "rapidhash-quality", "crate rapidhash 4.5.1, quality hasher with secrets derived from the seed",
        MINIMAL_RESISTANCE,
        |key, bytes| finish(quality::SeedableState::custom(key.seed, &key.secrets).build_hasher(), bytes);

    FoldHashQuality((u64, SharedSeed) = seeds_of_foldhash): Seed(128), 64, 0x53f8_62d5_382b_b4e9,
        "foldhash-quality", "crate foldhash 0.2.0, quality", FOLDHASH,
        |(seed, shared), bytes| finish(::foldhash::quality::FoldHasher::with_seed(*seed, shared), bytes);

    // In a build with AES instructions, this is the function of `AHash`.
    AHashAes(ahash_aes::State = |key| ahash_aes::State::with_seeds(words_of_ahash(key))): Secret(128), 64,
        0x4015_7620_b94b_d1ae, "ahash-aes", "aHash 0.8.12, AES rounds with SSSE3, by crate aes 0.8.4",
        "To be studied: its authors claim resistance in tables that live as long as the process; a \
         pair is published that collides far more often than by chance.",
        |&state, bytes| {
            let mut state = state;
            state.write(bytes);
            state.finish()
        };

    GxHash(u64 = seed64): Seed(64), 64, 0xb90e_0a10_be53_9be5,
        "gxhash", "GxHash 3.5.0 (Giniaux), by crate aes 0.8.4",
        no_adversary!("the bytes are compressed without the seed, so collisions hold under every seed."),
        |&seed, bytes| gxhash::gxhash(seed, bytes) as u64;

    MuseAirV03(u64 = seed64): Seed(64), 64, 0x9562_7e2c_d30e_a36f,
        "museair-v0.3", "MuseAir v0.3 (eternal-io), 64 bits", UNDER_EVERY_SEED,
        |&seed, bytes| museair_v03::museair_v03(seed, bytes);
    MuseAir(u64 = seed64): Seed(64), 64, 0x019e_143d_55af_1bfe,
        "museair", "crate museair 0.6.0, algorithm v2",
        no_adversary!("pairs are published that collide far more often than by chance."),
        |&seed, bytes| museair::hash(bytes, seed);
    MuseAirFast(u64 = seed64): Seed(64), 64, 0xd5b9_b319_2080_9c95,
        "museair-bfast", "crate museair 0.6.0, algorithm v2, BFast",
        no_adversary!("for some prefixes of 8 bytes, it ignores the bytes after them."),
        |&seed, bytes| museair::bfast::hash(bytes, seed);
    MuseAir128((u64, u64) = Key::halves): Seed(128), 64, 0xf7a7_1850_4588_5b73,
        "museair-128-low", "crate museair 0.6.0, algorithm v2, low half of 128 bits",
        no_adversary!("its authors claim no resistance to attackers."),
        |&(a, b), bytes| museair::hash128(bytes, a, b) as u64;

    KomiHash(u64 = seed64): Seed(64), 64, 0x6a97_c6b7_6d70_49e2,
        "komihash", "crate komihash 0.5.0, v5",
        no_adversary!("a pair of 64 bytes is published that collides under 91 % of all seeds."),
        |&seed, bytes| komihash::v5::komihash(bytes, seed);

    // Of its first seed, the lowest bits are dropped.
    Polymur(PolymurHash = polymur_of): Seed(128), 64, 0x0990_131a_d81d_01c2,
        "polymur", "crate polymur-hash 0.2.3, PolymurHash 2.0, two seeds drawn from the key",
        "Tables that remote parties fill, while results stay inside: its author proves a bound of the share \
         of seeds for which two keys collide that were chosen without results.",
        |hash, bytes| hash.hash(bytes);

    A5Hash(u64 = seed64): Seed(64), 64, 0x325b_f517_0fa6_7da0, "a5hash", "a5hash.h 5.21 (Vaneev)",
        no_adversary!("pairs are published that collide under a class of weak seeds."),
        |&seed, bytes| a5hash::a5hash(seed, bytes);
    A5Hash128(u64 = seed64): Seed(64), 64, 0x3667_e674_4489_1419,
        "a5hash128-low", "a5hash.h 5.21 (Vaneev), low half of the 128-bit form", UNDER_EVERY_SEED,
        |&seed, bytes| a5hash::a5hash128_low(seed, bytes);

    AbslHash(u64 = seed64): Seed(64), 64, 0x5627_c4e3_2335_f0b1,
        "absl-hash", "Abseil LTS 20260817.0, default build for 64 bits", UNDER_EVERY_SEED,
        |&seed, bytes| absl::absl(seed, bytes);

    // For reads in little-endian order, so that they are the same on every machine.
    Murmur2(u32 = seed32): Seed(32), 32, 0x5c08_c2b8, "murmurhash2-32", "crate murmur2 0.1.0", BEFOREHAND,
        |&seed, bytes| u64::from(murmur2::murmur2(bytes, seed));
    Murmur64A(u64 = seed64): Seed(64), 64, 0x6fdf_bb6a_b328_445e,
        "murmurhash2-64a", "crate murmur2 0.1.0", BEFOREHAND,
        |&seed, bytes| murmur2::murmur64a(bytes, seed);
    Murmur3X86(u32 = seed32): Seed(32), 32, 0x4978_d608, "murmurhash3-x86-32", "crate mur3 0.1.0", BEFOREHAND,
        |&seed, bytes| u64::from(mur3::murmurhash3_x86_32(bytes, seed));
    Murmur3X64(u32 = seed32): Seed(32), 64, 0xbb1b_f83c_8f91_9303,
        "murmurhash3-x64-128-low", "crate mur3 0.1.0, first word", BEFOREHAND,
        |&seed, bytes| mur3::murmurhash3_x64_128(bytes, seed).0;

    City32(() = no_part): Keying::None, 32, 0xf88e_ca50,
        "cityhash32", "crate cityhasher 0.1.0, CityHash32", EVERYWHERE,
        |(), bytes| u64::from(cityhasher::hash::<u32>(bytes));
    City64(u64 = seed64): Seed(64), 64, 0xd3c7_e92e_471b_99fa,
        "cityhash64-seed", "crate cityhasher 0.1.0, CityHash64WithSeed", UNSEEDED,
        |&seed, bytes| cityhasher::hash_with_seed::<u64>(bytes, seed);
    City64Seeds((u64, u64) = Key::halves): Seed(128), 64, 0xe30a_eadd_e266_5a1c, "cityhash64-seeds",
        "crate cityhasher 0.1.0; the seeds enter as in CityHash64WithSeeds (city.cc 1.1)", UNSEEDED,
        |&(seed0, seed1), bytes| mix_pair(cityhasher::hash::<u64>(bytes).wrapping_sub(seed0), seed1);

    Fingerprint64(() = no_part): Keying::None, 64, 0x6290_b5b9_9f49_dc6a,
        "farmhash-fingerprint64", "FarmHash 1.1 (farmhash.cc), Fingerprint64", EVERYWHERE,
        |(), bytes| farmhash::fingerprint(bytes);
    Na64(u64 = seed64): Seed(64), 64, 0xd3c7_e92e_471b_99fa,
        "farmhash64-na-seed", "FarmHash 1.1 (farmhash.cc), farmhashna::Hash64WithSeed", UNSEEDED,
        |&seed, bytes| mix_pair(farmhash::fingerprint(bytes).wrapping_sub(farmhash::K2), seed);
    Na64Seeds((u64, u64) = Key::halves): Seed(128), 64, 0xe30a_eadd_e266_5a1c,
        "farmhash64-na-seeds", "FarmHash 1.1 (farmhash.cc), farmhashna::Hash64WithSeeds", UNSEEDED,
        |&(seed0, seed1), bytes| mix_pair(farmhash::fingerprint(bytes).wrapping_sub(seed0), seed1);

    T1ha1(u64 = seed64): Seed(64), 64, 0x04b4_e1b1_957b_9db0,
        "t1ha1-le", "t1ha1.c 2.1 (Yuriev), little-endian", AUTHOR_CLAIMS_SPEED,
        |&seed, bytes| t1ha::t1ha1(seed, bytes);
    T1ha2(u64 = seed64): Seed(64), 64, 0xadcf_465d_ac34_5dc9,
        "t1ha2-atonce", "t1ha2.c 2.1 (Yuriev), t1ha2_atonce", AUTHOR_CLAIMS_SPEED,
        |&seed, bytes| t1ha::t1ha2(seed, bytes);

    // The base variant of the first release, without CRC instructions.
    Metro64(u64 = seed64): Seed(64), 64, 0x3de2_a5a5_4ea7_68d5,
        "metrohash64", "crate metrohash 1.0.7", AUTHOR_CLAIMS_SPEED,
        |&seed, bytes| finish(MetroHash64::with_seed(seed), bytes);
    Metro128(u64 = seed64): Seed(64), 64, 0x852e_3865_6eeb_aec6,
        "metrohash128-low", "crate metrohash 1.0.7, first word", AUTHOR_CLAIMS_SPEED,
        |&seed, bytes| metro128(seed, bytes).0;

    SeaHash(() = no_part): Keying::None, 64, 0xb902_0583_efde_7ff9, "seahash", "crate seahash 4.1.0",
        EVERYWHERE, |(), bytes| seahash::hash(bytes);
    SeaHashSeeded([u64; 4] = drawn_words): Seed(128), 64, 0xadad_6fd1_b34b_982f,
        "seahash-seeded", "crate seahash 4.1.0, four words drawn from the key",
        no_adversary!("its author warns that the words are computed from results."),
        |&[a, b, c, d], bytes| seahash::hash_seeded(bytes, a, b, c, d);

    // The function of rustc and Firefox, and its successor: for a `usize` of 64 bits.
    FxHash(() = no_part): Keying::None, 64, 0x8980_204c_4b0a_c4d4, "fxhash", "crate rustc-hash 1.1.0",
        no_adversary!("each step is undone by hand, so collisions hold everywhere."),
        |(), bytes| finish(rustc_hash_1::FxHasher::default(), bytes);
    RustcHash(u64 = seed64): Seed(64), 64, 0xfe02_090c_4624_d5ad, "rustc-hash", "crate rustc-hash 2.1.3",
        no_adversary!("the seed does not enter the folding, so collisions hold under every seed."),
        |&seed, bytes| finish(rustc_hash::FxHasher::with_seed(seed as usize), bytes);

    // FNV has no seed. Tables that want one start it from another offset basis.
    Fnv1a(() = no_part): Keying::None, 64, 0x06d5_5739_23c6_cdfc, "fnv-1a", "crate fnv 1.0.7", EVERYWHERE,
        |(), bytes| finish(fnv::FnvHasher::with_key(BASIS), bytes);
    Fnv1aOffset(u64 = seed64): Seed(64), 64, 0xe65a_9004_d5aa_bafc,
        "fnv-1a-offset", "crate fnv 1.0.7, seed xor offset basis",
        no_adversary!("one who learns results computes the seed from them."),
        |&seed, bytes| finish(fnv::FnvHasher::with_key(seed ^ BASIS), bytes);

    Djb2(() = no_part): Keying::None, 32, 0x35cd_bb82,
        "djb2", "Bernstein, comp.lang.c, 1991; as DT_GNU_HASH",
        no_adversary!("collisions are found by hand and hold everywhere."),
        |(), bytes| u64::from(djb2(5381, bytes));
    Djb2Seeded(u32 = seed32): Seed(32), 32, 0xd384_51dd, "djb2-seeded", "djb2, started from the seed",
        no_adversary!("collisions are found by hand and hold under every seed."),
        |&seed, bytes| u64::from(djb2(seed, bytes));

    // Strings of languages and interpreters.
    JavaString(() = no_part): Keying::None, 32, 0x90b2_8087,
        "java-string", "Java SE API, String.hashCode of Latin-1 bytes, spread as by HashMap", EVERYWHERE,
        |(), bytes| u64::from(strings::java(bytes));
    PhpString(() = no_part): Keying::None, 64, 0x8377_8210_35cd_bb82,
        "php-djbx33a", "PHP, Zend/zend_string.h (DJBX33A), 64 bits", EVERYWHERE,
        |(), bytes| strings::php(bytes);
    OneAtATime(u32 = seed32): Seed(32), 32, 0x5148_3c4b,
        "one-at-a-time", "Jenkins, Dr. Dobb's Journal, 1997, started from the seed",
        no_adversary!("the mixing is invertible and the seed has 32 bits."),
        |&seed, bytes| u64::from(strings::one_at_a_time(seed, bytes));
    V8OneAtATime(u32 = seed32): Seed(32), 30, 0x1148_3c4b, "v8-one-at-a-time",
        "V8 11.3 (Node.js 20), strings of Latin-1 bytes that are no numbers",
        no_adversary!("the mixing is invertible and 32 bits of the seed enter."),
        |&seed, bytes| u64::from(strings::v8_one_at_a_time(seed, bytes));
    LuaString(u32 = seed32): Seed(32), 32, 0x5d4e_4599,
        "lua-string", "Lua 5.4, luaS_hash (lstring.c)", no_adversary!("the seed has 32 bits."),
        |&seed, bytes| u64::from(strings::lua(seed, bytes));
    ErlangPhash2(() = no_part): Keying::None, 32, 0xf4d8_fba6,
        "erlang-phash2", "Erlang/OTP, erlang:phash2/2 of binaries in the range 2^32", EVERYWHERE,
        |(), bytes| u64::from(strings::erlang_phash2(bytes));
    // Maps of Go: where the CPU has no AES rounds, and where it has.
    GoMemhash(([u64; 4], u64) = |key| (drawn_words(key), go_seed(key))): Secret(128), 64,
        0x732b_92cc_2414_3729, "go-memhash",
        "Go 1.26, memhashFallback (runtime/hash64.go), five words drawn from the key",
        OF_GO, |&(words, seed), bytes| go::memhash(words, seed, bytes);
    GoAesHash(([u128; 8], u64) = |key| (go_schedule(key), go_seed(key))): Secret(128), 64,
        0x8749_81c4_afcf_d31c, "go-aeshash",
        "Go 1.26, aeshashbody (runtime/asm_amd64.s), by crate aes 0.8.4; 17 words drawn from the key",
        OF_GO, |(schedule, seed), bytes| go::aes_hash(schedule, *seed, bytes);

    HighwayHash(highway::Key = |key| highway::Key(drawn_words(key))): Secret(128), 64, 0x5b84_150b_d92e_80d1,
        "highwayhash64", "crate highway 1.3.0, four words drawn from the key",
        "Tables and short messages against adversaries, by its authors' claim of a pseudorandom function.",
        |&key, bytes| HighwayHasher::new(key).hash64(bytes);
    Blake3Keyed([u8; blake3::KEY_LEN] = drawn_bytes): Secret(128), 64, 0xe597_0fb4_5a85_206e, "blake3-keyed",
        "crate blake3 1.8.7, keyed mode, first 8 bytes; key drawn from the 128-bit key",
        "Everything that 64 bits suffice for: a cryptographic hash, claimed to be a pseudorandom function.",
        |key, bytes| first_word(&blake3::keyed_hash(key, bytes));
}

#[inline]
fn no_part(_: &Key) {}

/// Bytes 0–3 of a key.
#[inline]
fn seed32(key: &Key) -> u32 {
    seed64(key) as u32
}

fn derived_secrets(key: &Key) -> RapidSecrets {
    RapidSecrets::seed(seed64(key))
}

/// Four words that all 16 bytes reach: for functions whose words must not depend on one another.
fn drawn_words(key: &Key) -> [u64; 4] {
    let ((k0, k1), (k2, k3)) = (key.derive(b"4 words.", 0).halves(), key.derive(b"4 words.", 1).halves());
    [k0, k1, k2, k3]
}

/// The seed of a map of Go.
fn go_seed(key: &Key) -> u64 {
    key.derive(b"go seed.", 0).halves().0
}

/// The words of a process of Go on CPUs with AES rounds.
fn go_schedule(key: &Key) -> [u128; 8] {
    [0, 1, 2, 3, 4, 5, 6, 7].map(|number| u128::from_le_bytes(key.derive(b"go words", number).to_bytes()))
}

fn polymur_of(key: &Key) -> PolymurHash {
    let [k_seed, s_seed, ..] = drawn_words(key);
    PolymurHash::from_u64x2_seed(k_seed, s_seed)
}

fn drawn_bytes(key: &Key) -> [u8; blake3::KEY_LEN] {
    let mut bytes = [0; blake3::KEY_LEN];
    bytes[..16].copy_from_slice(&key.derive(b"32 bytes", 0).to_bytes());
    bytes[16..].copy_from_slice(&key.derive(b"32 bytes", 1).to_bytes());
    bytes
}

/// The first eight bytes of a result in little-endian order.
#[inline]
fn first_word(hash: &blake3::Hash) -> u64 {
    words::le64(hash.as_bytes(), 0)
}

/// The hash times 33 plus the next byte, from `seed`.
#[inline(always)]
fn djb2(seed: u32, bytes: &[u8]) -> u32 {
    bytes.iter().fold(seed, |hash, byte| hash.wrapping_mul(33).wrapping_add(u32::from(*byte)))
}

#[inline(always)]
fn metro128(seed: u64, bytes: &[u8]) -> (u64, u64) {
    let mut hasher = MetroHash128::with_seed(seed);
    hasher.write(bytes);
    hasher.finish128()
}
