//! Properties of sketches that are read from bytes of strangers.

use hashlane_sketch::datasketches::{Hll, HllType, Theta};
use hashlane_sketch::{
    Distinct, Error, Grouped, Groups, HeavyHitters, Imbalance, Keys, Prefixes, PrefixesResult, ReadError,
    Sketch, SketchKind, Spread,
};

/// Two sketches, the first as long as the two bytes before it say: each that is accepted has a result and
/// gives back its bytes; if both are, they merge, or the difference is named.
pub fn check_sketches(octets: &[u8]) {
    let Some((one, other)) = two_parts(octets) else { return };
    match SketchKind::of(one) {
        Ok(SketchKind::Spread) => check(one, other, true, |sketch: &Spread| {
            let result = sketch.result();
            assert!((0.0..=1.0).contains(&result.p_value) && result.chi_squared >= 0.0);
            assert_eq!(result.loads.iter().map(|(_, buckets)| buckets).sum::<u64>(), result.buckets);
            assert_eq!(result.quantile(1.0), result.longest);
        }),
        Ok(SketchKind::Imbalance) => check(one, other, true, |sketch: &Imbalance| {
            let result = sketch.result();
            assert!(result.best.packets >= 1.0 && result.best.packets <= result.current.packets);
        }),
        Ok(SketchKind::Prefixes) => {
            check(one, other, true, |sketch: &Prefixes| check_prefixes(&sketch.result()))
        }
        Ok(SketchKind::Distinct) => check(one, other, true, |sketch: &Distinct| {
            let keys = sketch.result().keys;
            assert!(keys.is_finite() && keys >= 0.0);
        }),
        Ok(SketchKind::HeavyHitters) => check(one, other, false, |sketch: &HeavyHitters| {
            let result = sketch.result();
            assert!(u128::from(result.error) * (sketch.counters() as u128 + 1) <= u128::from(result.total));
            assert!(result.hitters.len() <= 2 * sketch.counters());
        }),
        Ok(SketchKind::Groups) => {
            check_groups::<Distinct>(one, other, true);
            check_groups::<Spread>(one, other, true);
            check_groups::<Imbalance>(one, other, true);
            check_groups::<HeavyHitters>(one, other, false);
        }
        Ok(_) => {}
        Err(error) => check_error(error),
    }
}

fn check_groups<S: Grouped>(one: &[u8], other: &[u8], commutes: bool) {
    check(one, other, commutes, |groups: &Groups<S>| {
        assert_eq!(groups.iter().count(), groups.len());
        assert!(groups.iter().all(|(name, sketch)| {
            groups.get(name).is_some_and(|found| found.to_bytes() == sketch.to_bytes())
        }));
    });
}

/// Two HLL sketches of Apache DataSketches, the first as long as the two bytes before it say: each that is
/// accepted is written and read again, in every form of the registers; if both are, they merge either way to
/// the same estimate.
pub fn check_hll(octets: &[u8]) {
    let Some((one, other)) = two_parts(octets) else { return };
    let read = |bytes: &[u8]| match Hll::from_bytes(bytes) {
        Ok(sketch) => {
            let result = sketch.result();
            assert!(result.keys.is_finite() && result.keys >= 0.0);
            for kind in [HllType::Hll4, HllType::Hll6, HllType::Hll8] {
                let written = sketch.clone().with_kind(kind).to_bytes();
                let again = Hll::from_bytes(&written).expect("bytes of ours");
                assert_eq!((again.to_bytes(), again.result()), (written, result));
            }
            Some(sketch)
        }
        Err(error) => {
            check_error(error);
            None
        }
    };
    let (Some(mut one), Some(mut other)) = (read(one), read(other)) else { return };
    let unmerged = [one.clone(), other.clone()];
    one.merge(&unmerged[1]);
    other.merge(&unmerged[0]);
    let (ours, theirs) = (one.result().keys, other.result().keys);
    // A sketch without keys leaves the other its form and its estimate.
    let has_keys = unmerged.iter().all(|sketch| sketch.result().keys > 0.0);
    assert!((ours - theirs).abs() <= 1e-9 * ours || !has_keys, "{ours} and {theirs}");
    one.update(&Keys::slices(&[b"a", b"b"]));
    assert!(one.result().keys.is_finite());
}

/// Two Theta sketches of Apache DataSketches, the first as long as the two bytes before it say: each that is
/// accepted is written and read again; if both are, they merge either way to the same bytes.
pub fn check_theta(octets: &[u8]) {
    let Some((one, other)) = two_parts(octets) else { return };
    let read = |bytes: &[u8]| match Theta::from_bytes(bytes) {
        Ok(sketch) => {
            let result = sketch.result();
            assert!(result.keys.is_finite() && result.keys >= 0.0 && result.standard_error <= 1.0);
            let written = sketch.to_bytes();
            // Ordered, and in the shortest preamble.
            assert!(written.len() <= bytes.len());
            let again = Theta::from_bytes(&written).expect("bytes of ours");
            assert_eq!((again.to_bytes(), again.result()), (written, result));
            Some(sketch)
        }
        Err(error) => {
            check_error(error);
            None
        }
    };
    let (Some(mut one), Some(mut other)) = (read(one), read(other)) else { return };
    let unmerged = [one.clone(), other.clone()];
    one.merge(&unmerged[1]);
    other.merge(&unmerged[0]);
    assert_eq!(one.to_bytes(), other.to_bytes());
    let before = one.result().keys;
    one.update(&Keys::slices(&[b"a", b"b"]));
    assert!(one.result().keys >= before && one.result().keys.is_finite());
}

/// The bytes of two sketches, the first as long as the two bytes before it say. If there are not so many,
/// both are all of them.
fn two_parts(octets: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, octets) = octets.split_first_chunk()?;
    let length = usize::from(u16::from_be_bytes(*length));
    Some(octets.split_at_checked(length).unwrap_or((octets, octets)))
}

fn check_prefixes(result: &PrefixesResult) {
    let finite = |number: f64| number.is_finite() && number >= 0.0;
    assert!(finite(result.distinct_names) && finite(result.mean_name_len));
    assert!(result.depths.iter().all(|depth| finite(depth.distinct) && finite(depth.mean_len)));
    let memory = [result.fib(1..=result.depths.len()), result.pit()];
    assert!(memory.iter().all(|memory| memory.bytes >= memory.entries || memory.entries > 1 << 48));
}

fn check<S: Sketch>(one: &[u8], other: &[u8], commutes: bool, result: impl Fn(&S)) {
    let Some(read) = accepted::<S>(one) else { return };
    result(&read);
    let Some(other) = accepted::<S>(other) else { return };
    let mut merged = read.clone();
    match merged.merge(&other) {
        Ok(()) => {
            result(&merged);
            let bytes = merged.to_bytes();
            accepted::<S>(&bytes).expect("a merged sketch");
            let mut turned = other;
            turned.merge(&read).expect("a merge the other way round");
            assert!(!commutes || turned.to_bytes() == bytes);
        }
        Err(error) => {
            assert!(matches!(error, Error::Unlike { .. } | Error::Full), "{error}");
            assert!(!error.to_string().is_empty());
            assert_eq!(merged.to_bytes(), one, "a merge that failed has left its mark");
        }
    }
}

/// The sketch of these bytes, which it gives back.
fn accepted<S: Sketch>(bytes: &[u8]) -> Option<S> {
    match S::from_bytes(bytes) {
        Ok(sketch) => {
            assert_eq!(sketch.to_bytes(), bytes);
            Some(sketch)
        }
        Err(error) => {
            check_error(error);
            None
        }
    }
}

fn check_error(error: ReadError) {
    assert!((1..200).contains(&error.to_string().len()));
}
