use super::*;
use hashlane_hash::fixed::siphash_1u64;
use hashlane_hash::scheme::Key;

/// Hash `number` of a sequence of hashes.
fn hash(sequence: u64, number: u64) -> u64 {
    siphash_1u64(number, &Key::VECTOR.derive(b"sequence", sequence))
}

/// Registers with the first hashes of a sequence.
fn filled(precision: u8, sequence: u64, number: u64) -> Registers {
    let key = Key::VECTOR.derive(b"sequence", sequence);
    let mut registers = Registers::new(precision);
    (0..number).for_each(|number| registers.add(siphash_1u64(number, &key)));
    registers
}

fn bytes(registers: &Registers) -> Vec<u8> {
    let mut to = Writer::new(crate::SketchKind::Distinct);
    registers.write(&mut to);
    to.finish().split_off(6)
}

/// Every number of a few, and a sample of large ones, within four standard errors.
#[test]
fn estimates_are_within_their_error_at_every_size() {
    for precision in [4, 10, 12, 14, 18] {
        let mut registers = Registers::new(precision);
        for number in 0..200_000_u64 {
            registers.add(hash(0, number));
            let counted = (number + 1) as f64;
            if (number + 1).is_power_of_two() || number % 20_000 == 19_999 {
                let error = (registers.estimate() - counted).abs() / counted;
                let limit = 4.0 * standard_error(precision);
                assert!(error < limit + 0.5 / counted, "{precision}: {error} at {counted}");
            }
        }
    }
}

/// Bias and root mean square error over many sequences, relative to the number of hashes.
fn errors(precision: u8, sequences: u64, number: u64) -> (f64, f64) {
    let errors =
        (0..sequences).map(|sequence| filled(precision, sequence, number).estimate() / number as f64 - 1.0);
    let (sum, squares) =
        errors.fold((0.0, 0.0), |(sum, squares), error| (sum + error, squares + error * error));
    (sum / sequences as f64, (squares / sequences as f64).sqrt())
}

/// HyperLogLog with the martingale estimator of one stream, which a merge loses, has 0.836 / √registers. The
/// root mean square of 400 errors is within 14 % of the standard error (four times its own).
#[test]
fn the_error_over_many_sequences_is_ultraloglogs() {
    for (precision, number, least) in
        [(10, 300, 0.35), (10, 1000, 0.45), (10, 100_000, 0.65), (6, 10_000, 0.65), (4, 1000, 0.65)]
    {
        let (bias, error) = errors(precision, 400, number);
        let scale = f64::from(1_u32 << precision).sqrt();
        assert!(error < 0.836 / scale, "{precision}, {number}: {}", error * scale);
        assert!((least..0.761 * 1.14).contains(&(error * scale)), "{precision}, {number}: {}", error * scale);
        assert!(bias.abs() < 4.0 * error / 20.0, "{precision}, {number}: bias {bias} of {error}");
    }
}

#[test]
fn few_hashes_are_counted_exactly() {
    for precision in [4, 7, 12, 14] {
        let most = most_exact(precision);
        let key = Key::VECTOR.derive(b"sequence", 7);
        let mut registers = Registers::new(precision);
        for number in 0..most {
            for again in [number, 0, number / 2] {
                registers.add(siphash_1u64(again, &key));
            }
            assert_eq!((registers.estimate(), registers.is_exact()), ((number + 1) as f64, true));
        }
        registers.add(siphash_1u64(most, &key));
        assert!(!registers.is_exact());
        let memory = exact::most(precision).next_power_of_two() * 8;
        assert!(memory <= 1 << precision, "{precision}: {memory}");
    }
    assert_eq!((most_exact(4), most_exact(12), most_exact(14)), (2, 448, 1792));
}

#[test]
fn all_forms_merge_to_the_registers_of_the_whole() {
    let numbers = [0, 1, 5, 14, 15, 28, 29, 2000];
    for (one, other) in numbers.into_iter().flat_map(|one| numbers.map(|other| (one, other))) {
        // Half of the smaller set is in the other.
        let key = Key::VECTOR.derive(b"sequence", 1);
        let shared = one.min(other) / 2;
        let part = |from: u64, number: u64| {
            let mut registers = Registers::new(8);
            (from..from + number).for_each(|number| registers.add(siphash_1u64(number, &key)));
            registers
        };
        let (first, second) = (part(0, one), part(one - shared, other));
        let whole = bytes(&filled(8, 1, one + other - shared));
        for (mut into, from) in [(first.clone(), &second), (second.clone(), &first)] {
            into.merge(from);
            assert_eq!(bytes(&into), whole, "{one} and {other}");
        }
    }
}

#[test]
fn no_hashes_are_none_and_full_registers_are_finite() {
    assert_eq!(Registers::new(12).estimate(), 0.0);
    for precision in [4_u8, 18] {
        let most = 4 * (65 - precision) + 3;
        let full = [&[DENSE], vec![most; 1 << precision].as_slice()].concat();
        let estimate = Registers::read(&mut Reader::new(&full), precision).unwrap().estimate();
        assert!(estimate.is_finite() && estimate > 1e18, "{precision}: {estimate}");
        let damaged = [&[DENSE], vec![most + 1; 1 << precision].as_slice()].concat();
        let error = Registers::read(&mut Reader::new(&damaged), precision).unwrap_err();
        assert_eq!(error, ReadError::Field { field: "register", at: 1 });
    }
}

#[test]
fn rejects_what_no_hashes_lead_to() {
    let dense = |register: u8| [&[DENSE, 9][..], &[register; 15]].concat();
    let exact = |hashes: &[u64]| {
        let words = hashes.iter().flat_map(|hash| hash.to_le_bytes());
        [EXACT, hashes.len() as u8].into_iter().chain(words).collect::<Vec<u8>>()
    };
    let read = |bytes: &[u8]| Registers::read(&mut Reader::new(bytes), 4).map(|read| self::bytes(&read));
    for good in [dense(0), dense(6), dense(9), dense(11), dense(12), exact(&[]), exact(&[1, 2])] {
        assert_eq!(read(&good), Ok(good));
    }
    for register in [1, 2, 3, 4, 5, 7, 8, 10, 248] {
        assert_eq!(read(&dense(register)), Err(ReadError::Field { field: "register", at: 2 }), "{register}");
    }
    assert_eq!(read(&[&[DENSE][..], &[0; 16]].concat()), Err(ReadError::Field { field: "register", at: 1 }));
    assert_eq!(read(&exact(&[0])), Err(ReadError::Field { field: "hash", at: 2 }));
    assert_eq!(read(&exact(&[2, 1])), Err(ReadError::Field { field: "hash", at: 10 }));
    assert_eq!(read(&exact(&[1, 2, 3])), Err(ReadError::Field { field: "number of hashes", at: 1 }));
    assert_eq!(read(&[2]), Err(ReadError::Field { field: "form of the registers", at: 0 }));
    assert_eq!(read(&exact(&[1])[..9]), Err(ReadError::Truncated { at: 2 }));
}

/// Hashes that differ in their first bits alone, or in their last ones, have no slower set: 20,000 of them
/// take far below a second.
#[test]
fn chosen_hashes_do_not_meet_in_one_place() {
    for shift in [0, 49] {
        let mut registers = Registers::new(18);
        for round in 0..20 {
            (1..20_000_u64).for_each(|number| registers.add(number << shift));
            assert_eq!(registers.estimate(), 19_999.0, "{round}");
        }
    }
}
