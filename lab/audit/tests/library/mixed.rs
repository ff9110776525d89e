//! Words that are mixed by public constants, which the machine code shows.

use crate::support::{LIMIT, Object};
use hashlane_audit::attack::{Miss, Target, attacks};
use hashlane_audit::draw::Draw;
use hashlane_audit::flood::flood;
use hashlane_audit::keys::Keys;
use hashlane_audit::library::Library;
use hashlane_audit::subject::Lengths;
use hashlane_audit::table::Geometry;
use hashlane_hash::scheme::Key;

const U64: &str = "u64(const u8*, usize, u64 seed)";

/// A function that mixes each word `x` by `mix`, and the state `h` with a word `w` by `round`.
fn of(mix: &str, round: &str) -> String {
    format!(
        "static uint64_t rotl(uint64_t x, int r) {{ return x << r | x >> (64 - r); }}
        static uint64_t mix(uint64_t x) {{ {mix} return x; }}
        uint64_t f(const uint8_t *p, size_t n, uint64_t seed) {{
            uint64_t h = seed ^ n * 0x9ddfea08eb382d69u, w;
            for (; n >= 8; n -= 8, p += 8) {{ memcpy(&w, p, 8); {round} }}
            w = 0; memcpy(&w, p, n); {round}
            h ^= h >> 37; h *= 0xc4ceb9fe1a85ec53u; h ^= h >> 28; return h;
        }}"
    )
}

/// Keys of the attack on mixed words, and the note beside them.
fn attack(library: &mut Library) -> Result<(Keys, String), Miss> {
    attack_of("mixed-words", library)
}

fn attack_of(id: &str, library: &mut Library) -> Result<(Keys, String), Miss> {
    let geometry = Geometry::named().into_iter().find(|named| named.name == "chained").unwrap();
    let attack = attacks().into_iter().find(|attack| attack.about().id == id).unwrap();
    let mut draw = Draw::new(7);
    let key = draw.key();
    let mut target = Target {
        subject: library,
        key,
        geometry: &geometry,
        length: None,
        count: 4096,
        draw: &mut draw,
        note: None,
        pair: None,
    };
    let keys = attack.keys(&mut target)?;
    let note = target.note.clone().unwrap();
    Ok((keys, note))
}

/// Least keys in one bucket of a table under five fresh seeds.
fn deepest(library: &mut Library, keys: &Keys) -> usize {
    let geometry = Geometry::named().into_iter().find(|named| named.name == "chained").unwrap();
    let mut draw = Draw::new(8);
    let each = (0..5).map(|_| {
        let seeds: [Key; 1] = [draw.key()];
        flood(library, &geometry, keys.clone(), &seeds, &mut draw).unwrap().map_or(0, |flood| flood.deepest)
    });
    each.min().unwrap()
}

#[test]
fn words_that_are_mixed_before_the_state_takes_them_flood_a_table() {
    // The mixing, the round, and the least keys of 4,096 that meet under each seed.
    let functions = [
        (
            "x ^= x >> 21; x *= 0xd1b54a32d192ed03u; x ^= x >> 43;",
            "h ^= mix(w); h *= 0x8bb84b93962eacc9u;",
            4096,
        ),
        (
            "x *= 0xd1b54a32d192ed03u; x = rotl(x, 29);",
            "h = rotl(h ^ mix(w), 23) * 0x8bb84b93962eacc9u + 0x1234567;",
            4096,
        ),
        // Two products, as the finalizers of random number generators have them.
        (
            "x ^= x >> 30; x *= 0xbf58476d1ce4e5b9u; x ^= x >> 27; x *= 0x94d049bb133111ebu; x ^= x >> 31;",
            "h += mix(w); h *= 0x8bb84b93962eacc9u;",
            4096,
        ),
        (
            "x += 0x9e3779b97f4a7c15u; x ^= x >> 32; x *= 0xe9846af9b1a615du; x ^= x >> 32;",
            "h = (h ^ mix(w)) * 0x8bb84b93962eacc9u; h = rotl(h, 33);",
            4096,
        ),
        // The state is mixed by a shift before its product.
        (
            "x ^= x << 13; x ^= x >> 7; x *= 0xd1b54a32d192ed03u;",
            "h ^= mix(w); h ^= h >> 32; h *= 0x8bb84b93962eacc9u;",
            4096,
        ),
        // Carries keep the pairs for one half of the states each.
        ("x *= 0xd1b54a32d192ed03u; x ^= x >> 43;", "h = rotl(h + mix(w), 31) * 0x8bb84b93962eacc9u;", 64),
    ];
    for (mix, round, least) in functions {
        let object = Object::of(&of(mix, round));
        let mut library = object.load(U64, Lengths::Any, LIMIT).unwrap();
        let (keys, note) = attack(&mut library).unwrap_or_else(|miss| panic!("{mix} {round}: {miss:?}"));
        assert_eq!(keys.len(), 4096, "{note}");
        let deepest = deepest(&mut library, &keys);
        assert!(deepest >= least, "{note}: {deepest}");
    }
}

#[test]
fn words_of_32_bits_and_big_endian_words_are_searched_too() {
    let narrow = "uint32_t f(const uint8_t *p, size_t n, uint32_t seed) {
        uint32_t h = seed, w;
        for (; n >= 4; n -= 4, p += 4) {
            memcpy(&w, p, 4);
            w = (w ^ w >> 15) * 0x2c1b3c6du; w ^= w >> 12;
            h = (h ^ w) * 0x297a2d39u; h = h << 19 | h >> 13;
        }
        h ^= h >> 16; h *= 0x85ebca6bu; h ^= h >> 13; h *= 0xc2b2ae35u; return h ^ h >> 16;
    }";
    let reversed = of(
        "x = __builtin_bswap64(x); x ^= x >> 21; x *= 0xd1b54a32d192ed03u; x ^= x >> 43;",
        "h ^= mix(w); h *= 0x8bb84b93962eacc9u;",
    );
    for (text, signature, mixing) in [
        (narrow, "u32(const u8*, usize, u32 seed)", "32 bits is mixed by x ^= x >> 15, x *= 0x2c1b3c6d, "),
        (&reversed, U64, "64 bits is mixed by x ^= x >> 21, x *= 0xd1b54a32d192ed03, "),
    ] {
        let object = Object::of(text);
        let mut library = object.load(signature, Lengths::Any, LIMIT).unwrap();
        let (keys, note) = attack(&mut library).unwrap_or_else(|miss| panic!("{text}: {miss:?}"));
        assert!(note.contains(mixing), "{note}");
        assert_eq!(deepest(&mut library, &keys), 4096, "{note}");
    }
}

#[test]
fn a_seed_that_comes_in_before_the_mixing_or_a_strong_round_gives_no_keys() {
    for (mix, round) in [
        // The mixed words depend on the seed.
        (
            "x ^= x >> 21; x *= 0xd1b54a32d192ed03u; x ^= x >> 43;",
            "h ^= mix(w ^ seed); h *= 0x8bb84b93962eacc9u; h ^= h >> 31; h *= 0xa0761d6478bd642fu;",
        ),
        // A product of 128 bits, folded.
        (
            "x ^= x >> 21; x *= 0xd1b54a32d192ed03u;",
            "__uint128_t m = (__uint128_t)(h ^ mix(w)) * (0x8bb84b93962eacc9u ^ seed); h = m ^ m >> 64;",
        ),
    ] {
        let object = Object::of(&of(mix, round));
        let mut library = object.load(U64, Lengths::Any, LIMIT).unwrap();
        let Err(Miss::NotApplicable(why)) = attack(&mut library) else { panic!("{round}") };
        assert_eq!(why, "no mixing by its constants explains its words");
    }
}

/// A function that adds a value of each word to its state: a product with a constant of a table, folded.
fn folded(fold: &str, step: &str) -> String {
    format!(
        "static const uint64_t T[4] = {{ 0xd6e8feb86659fd93u, 0x4cf5ad432745937fu, 0x2545f4914f6cdd1du,
            0x8ebc6af09c88c6e3u }};
        static uint64_t fold(uint64_t a, uint64_t b) {{
            __uint128_t m = (__uint128_t)a * b; uint64_t h = m >> 64, l = m; return {fold};
        }}
        uint64_t f(const uint8_t *p, size_t n, uint64_t seed) {{
            uint64_t h = (seed ^ n) * 0x9ddfea08eb382d69u, w; size_t i = 0;
            for (; n >= 8; n -= 8, p += 8, i++) {{ memcpy(&w, p, 8); {step} }}
            w = 0; memcpy(&w, p, n); h ^= w * 0xa0761d6478bd642fu;
            h ^= h >> 37; h *= 0xc4ceb9fe1a85ec53u; h ^= h >> 28; return h * (seed | 1);
        }}"
    )
}

#[test]
fn folded_products_with_constants_of_a_table_are_inverted() {
    for (fold, step, note) in [
        (
            "h + l",
            "h ^= fold(w + T[i % 4], T[i % 4]);",
            "x = (x + 0xd6e8feb86659fd93) * 0xd6e8feb86659fd93 in",
        ),
        ("h + l", "h ^= fold(w, T[i % 4]);", "x *= 0xd6e8feb86659fd93 in 128 bits, high + low"),
        ("h ^ l", "h += fold(w ^ T[(i + 1) % 4], T[i % 4]);", "x = (x ^ 0x4cf5ad432745937f) * 0xd6e8"),
    ] {
        let object = Object::of(&folded(fold, step));
        let mut library = object.load(U64, Lengths::Any, LIMIT).unwrap();
        let outcome = attack_of("folded-products", &mut library);
        let (keys, found) = outcome.unwrap_or_else(|miss| panic!("{fold} {step}: {miss:?}"));
        assert!(found.contains(note), "{found}");
        assert_eq!((keys.len(), deepest(&mut library, &keys)), (4096, 4096), "{found}");
    }
}

#[test]
fn folded_products_that_a_seed_enters_give_no_keys() {
    for step in
        ["h ^= fold(w + T[i % 4] + seed, T[i % 4]);", "h = fold(h ^ w, T[i % 4]);", "h ^= fold(w, seed | 1);"]
    {
        for fold in ["h + l", "h ^ l"] {
            let object = Object::of(&folded(fold, step));
            let mut library = object.load(U64, Lengths::Any, LIMIT).unwrap();
            let Err(Miss::NotApplicable(why)) = attack_of("folded-products", &mut library) else {
                panic!("{step}")
            };
            assert_eq!(why, "no product with its constants explains its words");
        }
    }
}
