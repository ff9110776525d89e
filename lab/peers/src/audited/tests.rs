//! Results that others published, and the streamed forms of the crates.

use super::*;
use hashlane_hash::scheme::{BytesHash, Scheme};
use proptest::prelude::*;

/// The hash `H` under a key of 128 bits, its seed first.
fn keyed<H: Scheme>(key: u128, bytes: &[u8]) -> u64 {
    H::new(&Key::new(key.to_le_bytes())).hash(bytes)
}

/// The result of `H` in little-endian order.
fn le<H: Scheme>(seed: u64, bytes: &[u8]) -> Vec<u8> {
    keyed::<H>(seed.into(), bytes).to_le_bytes()[..H::INFO.width as usize / 8].to_vec()
}

fn be<H: Scheme>(seed: u64, bytes: &[u8]) -> Vec<u8> {
    le::<H>(seed, bytes).into_iter().rev().collect()
}

/// The result of `H` under the public first seed of CityHash64WithSeed, and `seed`.
fn after_k2<H: Scheme>(seed: u64, bytes: &[u8]) -> Vec<u8> {
    keyed::<H>(u128::from(seed) << 64 | u128::from(farmhash::K2), bytes).to_le_bytes().to_vec()
}

fn whole<H: Scheme>(seed: u64, bytes: &[u8], (low, high): (u64, u64)) -> Vec<u8> {
    assert_eq!(keyed::<H>(u128::from(seed) << 64 | u128::from(seed), bytes), low);
    [low, high].map(u64::to_le_bytes).concat()
}

/// The header's protected form also protects the product that stirs the seed, which the crate does not: there
/// the crate gives the header's results under other seeds.
fn protected(seed: u64, bytes: &[u8]) -> Vec<u8> {
    let mut secrets = RapidSecrets::seed_cpp(seed);
    secrets.seed ^= seed ^ secrets.secrets[2] ^ secrets.secrets[1];
    Protected(secrets).hash(bytes).to_le_bytes().to_vec()
}

/// The verification value of SMHasher3 (`lib/Hashinfo.cpp`): the keys are 00 01 .. n−1 for n in 0..256, each
/// under the seed 256 − n; the value is the low half of the hash under seed 0 of all the results. The values
/// stand in its `hashes/*.cpp`, MuseAir v2's in the test `stability_v2` of its crate.
#[test]
fn give_the_verification_values_of_smhasher3() {
    type Hash = fn(u64, &[u8]) -> Vec<u8>;
    let values: [(Hash, u32); 38] = [
        (le::<crate::hashes::RapidHash>, 0x1fdc_65ee),
        // The canonical form of xxHash is big-endian.
        (be::<Xxh32>, 0x6fd7_8385),
        (be::<Xxh64>, 0x8f82_24c4),
        (|seed, bytes| [be::<Xxh3High>(seed, bytes), be::<Xxh3Low>(seed, bytes)].concat(), 0x288d_aa94),
        (le::<WyHash>, 0x9dae_7dd3),
        // Of `hashes/rapidhash.cpp` before its update to the third version.
        (le::<RapidHashV1>, 0xaf40_4c4b),
        (le::<Micro>, 0x6f18_3d61),
        (le::<Nano>, 0x2c20_0dc7),
        (protected, 0x72c9_270a),
        // The hashers of tables in memory, under the header's secrets.
        (|seed, bytes| Fast(RapidSecrets::seed_cpp(seed)).hash(bytes).to_le_bytes().to_vec(), 0xb891_f260),
        (|seed, bytes| Quality(RapidSecrets::seed_cpp(seed)).hash(bytes).to_le_bytes().to_vec(), 0x562e_f848),
        // A slice is hashed: the length goes first.
        (
            |seed, bytes| {
                let mut state = ahash_aes::State::with_seeds([seed; 4]);
                state.take(bytes.len() as u128);
                state.write(bytes);
                state.finish().to_le_bytes().to_vec()
            },
            0x3bf4_383b,
        ),
        (|seed, bytes| gxhash::gxhash(seed, bytes).to_le_bytes().to_vec(), 0x64a7_7b47),
        (le::<GxHash>, 0x48f8_4240),
        (le::<MuseAirV03>, 0xf89f_1683),
        (le::<MuseAir>, 0x7140_cabc),
        (le::<MuseAirFast>, 0xa4bf_d093),
        (
            |seed, bytes| {
                let both = museair::hash128(bytes, seed, seed);
                whole::<MuseAir128>(seed, bytes, (both as u64, (both >> 64) as u64))
            },
            0x3802_8c88,
        ),
        (le::<KomiHash>, 0x8157_ff6d),
        (le::<A5Hash>, 0xadde_79b3),
        (le::<A5Hash128>, 0x14ad_402c),
        (le::<Murmur2>, 0x2786_4c1e),
        (le::<Murmur64A>, 0x1f0d_3804),
        (le::<Murmur3X86>, 0xb0f5_7ee3),
        (
            |seed, bytes| whole::<Murmur3X64>(seed, bytes, mur3::murmurhash3_x64_128(bytes, seed as u32)),
            0x6384_ba69,
        ),
        (le::<City64>, 0x5fab_c5c5),
        (after_k2::<City64Seeds>, 0x5fab_c5c5),
        (le::<Na64>, 0xebc4_a679),
        (after_k2::<Na64Seeds>, 0xebc4_a679),
        (le::<T1ha1>, 0xd683_6381),
        (le::<T1ha2>, 0x8f16_c948),
        (le::<Metro64>, 0x6fa8_28c9),
        (|seed, bytes| whole::<Metro128>(seed, bytes, metro128(seed, bytes)), 0x4a66_73e7),
        // The seed is combined with the first word; results are in big-endian order.
        (
            |seed, bytes| {
                let words = [
                    0x16f1_1fe8_9b0d_677c,
                    0xb480_a793_d8e6_c86c,
                    0x6fe2_e5aa_f078_ebc9,
                    0x14f9_94a4_c525_9381,
                ];
                let [first, rest @ ..] = words;
                let [b, c, d] = rest;
                SeaHashSeeded([seed ^ first, b, c, d]).hash(bytes).to_be_bytes().to_vec()
            },
            0xf037_4078,
        ),
        (le::<RustcHash>, 0x8f17_7350),
        (le::<Fnv1aOffset>, 0x1034_55fc),
        // The length is added to the seed.
        (|seed, bytes| le::<Djb2Seeded>(seed + bytes.len() as u64, bytes), 0x4962_cbab),
        // Of SMHasher (`main.cpp`), by the same rule.
        (le::<OneAtATime>, 0xee05_869b),
    ];
    let bytes: Vec<u8> = (0..=255).collect();
    for (hash, value) in values {
        let results: Vec<u8> = (0..256).flat_map(|n| hash(256 - n, &bytes[..n as usize])).collect();
        let last = u32::from_le_bytes(*hash(0, &results).first_chunk().unwrap());
        assert_eq!(last, value, "{last:#x}, expected {value:#x}");
    }
}

/// FNV: RFC 9923, appendix C. djb2: Oracle, "ELF: symbol lookup via DT_HASH / DT_GNU_HASH". one-at-a-time:
/// Wikipedia, "Jenkins hash function". PHP: the hash of the key `x` in notes on its arrays. The others: the
/// examples of their crates and ports.
#[test]
fn without_a_key_give_the_published_results() {
    type Hash = fn(u128, &[u8]) -> u64;
    let results: [(Hash, &[u8], u64); 12] = [
        (keyed::<Fnv1a>, b"", 0xcbf2_9ce4_8422_2325),
        (keyed::<Fnv1a>, b"a", 0xaf63_dc4c_8601_ec8c),
        (keyed::<Fnv1a>, b"foobar", 0x8594_4171_f739_67e8),
        (keyed::<Djb2>, b"", 0x0000_1505),
        (keyed::<Djb2>, b"printf", 0x156b_2bb8),
        (keyed::<Djb2>, b"flapenguin.me", 0x8ae9_f18e),
        (keyed::<PhpString>, b"x", 9_223_372_036_854_953_501),
        (keyed::<OneAtATime>, b"a", 0xca2e_9442),
        (keyed::<OneAtATime>, b"The quick brown fox jumps over the lazy dog", 0x519e_91f5),
        (keyed::<City32>, b"hello", 2_039_911_270),
        (keyed::<Fingerprint64>, b"hello world", 6_381_520_714_923_946_011),
        (keyed::<SeaHash>, b"to be or not to be", 1_988_685_042_348_123_509),
    ];
    for (hash, bytes, result) in results {
        assert_eq!(hash(0, bytes), result, "{}", bytes.escape_ascii());
    }
}

/// Klink and Wälde, Efficient denial of service attacks on web application platforms, 28C3, 2011, have the
/// pairs; the hash of `Aa` is 2,112 in the explanations of CVE-2011-4858.
#[test]
fn strings_of_java_and_php_have_the_published_collisions() {
    assert_eq!([&b"Aa"[..], b"BB", b"hello"].map(strings::java_hash_code), [2112, 2112, 99_162_322]);
    assert_eq!(keyed::<JavaString>(0, b"AaAa"), keyed::<JavaString>(0, b"BBBB"));
    assert_eq!(keyed::<PhpString>(0, b"EzEz"), keyed::<PhpString>(0, b"FYFY"));
}

#[test]
fn absl_gives_the_published_results() {
    let unhex = |text: &str| -> Vec<u8> {
        let digits = text.as_bytes().chunks(2).map(|pair| std::str::from_utf8(pair).unwrap());
        digits.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
    };
    let file = include_str!("../../../../vectors/absl-hash.txt");
    let rows: Vec<_> = file.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(rows.len(), 8);
    for row in rows {
        let columns: Vec<&str> = row.split_whitespace().collect();
        let [seed, result] = [1, 2].map(|at| u64::from_str_radix(columns[at], 16).unwrap());
        assert_eq!(AbslHash(seed).hash(&unhex(columns[0])), result, "{row}");
    }
}

/// Results of the C++ of that release, compiled by g++ 12 at -O2 without -m options, for the bytes 0, 1, ..
/// 250, 0, ..
#[test]
fn absl_gives_the_results_of_the_release() {
    let bytes: Vec<u8> = (0..=250).cycle().take(2100).collect();
    let results = [
        (0, 0xdcee_2959_7715_2514),
        (1, 0x566a_ad21_82af_fa2e),
        (2, 0x99b8_2744_cbc2_23a9),
        (3, 0xc04e_3059_6a70_8f46),
        (4, 0xbe6f_b68e_973e_9481),
        (7, 0xe45f_3761_cbd6_2df8),
        (8, 0xa191_cb05_7e82_c984),
        (9, 0x4d22_a8d0_a4d5_fd9c),
        (16, 0x0196_2ab7_8587_5707),
        (17, 0x50c2_2c1f_fb57_487a),
        (32, 0xa24e_5741_074d_f70c),
        (33, 0xbcb6_d8fe_2dcc_bb73),
        (64, 0x8096_f244_3173_d68d),
        (65, 0x3379_bc67_e783_b7ca),
        (1024, 0xcf77_3c88_aa98_e42f),
        (1025, 0x3b54_6c03_9bef_3312),
        (1056, 0x5a9b_d122_31c2_86d3),
        (1057, 0x9d5d_ea0f_6c34_ae88),
        (2048, 0xa45e_0c3f_43d2_df0f),
        (2100, 0x2d68_6d34_938d_2198),
    ];
    for (len, result) in results {
        assert_eq!(AbslHash(0x0706_0504_0302_0100).hash(&bytes[..len]), result, "{len}");
    }
}

#[test]
fn give_the_results_of_the_programs_that_use_them() {
    let bytes: Vec<u8> = (0..=250).cycle().take(2000).collect();
    let of_program = |at: u64| 0x0706_0504_0302_0100 + at * 0x0808_0808_0808_0808;
    let words = [0, 1, 2, 3].map(of_program);
    let schedule = [0, 2, 4, 6, 8, 10, 12, 14]
        .map(|at| u128::from(of_program(at + 1)) << 64 | u128::from(of_program(at)));
    let file = include_str!("../../../../vectors/runtimes.txt");
    let mut rows = 0;
    for row in file.lines().filter(|line| !line.starts_with('#')) {
        let columns: Vec<&str> = row.split_whitespace().collect();
        let [function, seed, length, result] = columns[..] else { panic!("{row}") };
        let seed = u64::from_str_radix(seed, 16).unwrap_or(0);
        let bytes = &bytes[..length.parse().unwrap()];
        let hash = match function {
            "lua-string" => LuaString(seed as u32).hash(bytes),
            "v8-one-at-a-time" => V8OneAtATime(seed as u32).hash(bytes),
            "erlang-phash2" => ErlangPhash2(()).hash(bytes),
            "go-memhash" => GoMemhash((words, seed)).hash(bytes),
            "go-aeshash" => GoAesHash((schedule, seed)).hash(bytes),
            "wyhash" => WyHash(seed).hash(bytes),
            other => panic!("{other}"),
        };
        assert_eq!(hash, u64::from_str_radix(result, 16).unwrap(), "{row}");
        rows += 1;
    }
    assert_eq!(rows, 258);
    // erlang:phash2/1 gives 27 bits, as in OTP 25 for <<"hello">>.
    assert_eq!(ErlangPhash2(()).hash(b"hello") & 0x7ff_ffff, 47_480_723);
}

/// The verification value of SMHasher3 of `rapidhash.h` at the tag rapidhash_v2.2, compiled by gcc 12.
#[test]
fn the_second_rapidhash_gives_the_results_of_its_header() {
    let bytes: Vec<u8> = (0..=255).collect();
    let results: Vec<u8> = (0..256).flat_map(|n| le::<RapidHashV2>(256 - n, &bytes[..n as usize])).collect();
    assert_eq!(le::<RapidHashV2>(0, &results)[..4], 0x9420_5ecc_u32.to_le_bytes());
}

/// `test.c` of orlp/polymur-hash: results under a tweak, which is 0 in the scheme.
#[test]
fn polymur_gives_the_published_results() {
    let hash = Polymur(PolymurHash::from_u64_seed(0xfedb_ca98_7654_3210));
    for (bytes, result) in [
        (&b""[..], 0x1a6e_f9f9_d6c5_76fb),
        (b"i", 0xd16d_0597_71c6_5e13),
        (b"es", 0x5ee4_e0c0_9f56_2f87),
        (b"vca", 0x535b_5311_db00_7b0b),
        (
            b"oo70ed77jci4bgodhnyf37axrx4f8gf8qs94f4l9xi9h0jkdl2ozoi2p7q7qu1945l21dzj6rhvqearzrmblfo3ljjldj0m9fue",
            0x194f_a4f6_8aab_8e27,
        ),
    ] {
        assert_eq!(hash.0.hash_with_tweak(bytes, 0xabcd_ef01_2345_6789), result, "{}", bytes.escape_ascii());
        assert_eq!(hash.hash(bytes), hash.0.hash_with_tweak(bytes, 0));
    }
}

/// `kExpected64` of google/highwayhash (`c/highwayhash_test.c`), and `keyed_hash` of BLAKE3's
/// `test_vectors.json`, whose bytes are 0, 1, .. 250, 0, ..
#[test]
fn under_longer_keys_give_the_published_results() {
    let bytes: Vec<u8> = (0..=250).cycle().take(1024).collect();
    let key = [0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908, 0x1716_1514_1312_1110, 0x1f1e_1d1c_1b1a_1918];
    let highway = HighwayHash(highway::Key(key));
    for (len, result) in [(0, 0x907a_56de_22c2_6e53), (1, 0x7eab_43aa_c7cd_dd78), (9, 0x32d2_644e_c77a_1584)]
    {
        assert_eq!(highway.hash(&bytes[..len]), result, "{len}");
    }
    let blake3 = Blake3Keyed(*b"whats the Elvish word for friend");
    for (len, result) in
        [(0, 0x92b2_b756_04ed_3c76_u64), (64, 0xba8c_ed36_f327_700d), (1024, 0x75c4_6f6f_3d9e_b4f5)]
    {
        assert_eq!(blake3.hash(&bytes[..len]), result.swap_bytes(), "{len}");
    }
}

proptest! {
    /// The crate's own seeded state multiplies its seed and stirs it with constants.
    #[test]
    fn foldhash_agrees_with_its_fixed_state(
        seed: u64,
        bytes in proptest::collection::vec(any::<u8>(), 0..=600),
    ) {
        let stirred = words::fold(seed, words::PI[1]) ^ words::PI[4];
        let adapter = FoldHashQuality((stirred, SharedSeed::global_fixed().clone()));
        let direct = ::foldhash::quality::FixedState::with_seed(seed).build_hasher();
        prop_assert_eq!(adapter.hash(&bytes), finish(direct, &bytes));
    }

    /// The first FxHash of whole words is a fold that anyone can write down.
    #[test]
    fn the_first_fxhash_is_a_fold_over_words(words in proptest::collection::vec(any::<u64>(), 0..=75)) {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let step = |hash: u64, word: u64| (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95);
        prop_assert_eq!(FxHash(()).hash(&bytes), words.into_iter().fold(0, step));
    }

    #[test]
    fn agree_with_the_streamed_forms(
        key: [u8; 16],
        bytes in proptest::collection::vec(any::<u8>(), 0..=600),
        cut: prop::sample::Index,
    ) {
        let (head, tail) = bytes.split_at(cut.index(bytes.len() + 1));
        let key = Key::new(key);
        let (seed, second) = key.halves();
        let [a, b, c, d] = drawn_words(&key);
        let secrets = RapidSecrets::seed(seed);
        macro_rules! agree {
            ($($hash:ident, $new:expr, $write:ident, |$stream:ident| $finish:expr;)*) => {$(
                let mut $stream = $new;
                $stream.$write(head);
                $stream.$write(tail);
                let streamed: u64 = $finish;
                prop_assert_eq!($hash::new(&key).hash(&bytes), streamed, "{}", $hash::INFO.id);
            )*};
        }
        agree! {
            Xxh32, xxhash_rust::xxh32::Xxh32::new(seed as u32), update, |stream| stream.digest().into();
            Xxh64, xxhash_rust::xxh64::Xxh64::new(seed), update, |stream| stream.digest();
            Xxh3Low, xxhash_rust::xxh3::Xxh3::with_seed(seed), update, |stream| stream.digest128() as u64;
            Secrets, ::rapidhash::v3::RapidStreamHasherV3::new(&secrets), write,
                |stream| stream.finish();
            MuseAir, museair::Hasher::with_seed(seed), write, |stream| stream.finish();
            MuseAirFast, museair::bfast::Hasher::with_seed(seed), write, |stream| stream.finish();
            MuseAir128, museair::Hasher128::with_seed(seed, second), write,
                |stream| stream.finish128() as u64;
            KomiHash, komihash::v5::StreamedKomihash::new_with_seed(seed), write, |stream| stream.finish();
            Murmur3X86, mur3::Hasher32::with_seed(seed as u32), write, |stream| stream.finish();
            Murmur3X64, mur3::Hasher128::with_seed(seed as u32), write, |stream| stream.finish();
            Metro64, MetroHash64::with_seed(seed), write, |stream| stream.finish();
            Metro128, MetroHash128::with_seed(seed), write, |stream| stream.finish128().0;
            SeaHashSeeded, seahash::SeaHasher::with_seeds(a, b, c, d), write, |stream| stream.finish();
            Fnv1aOffset, fnv::FnvHasher::with_key(seed ^ BASIS), write, |stream| stream.finish();
            HighwayHash, HighwayHasher::new(highway::Key([a, b, c, d])), append, |stream| stream.finalize64();
            HighwayHash, highway::PortableHash::new(highway::Key([a, b, c, d])), append,
                |stream| stream.finalize64();
        }
        let mut stream = blake3::Hasher::new_keyed(&drawn_bytes(&key));
        stream.update(head).update(tail);
        prop_assert_eq!(Blake3Keyed::new(&key).hash(&bytes), first_word(&stream.finalize()));
    }
}
