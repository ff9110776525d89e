use super::*;
use hashlane_flow::rss;
use hashlane_hash::toeplitz::Rss;
use proptest::collection::vec;
use proptest::prelude::*;

/// Loads of each queue, by the functions of the flow crate, key by key.
fn naive(sketch: &Imbalance, rows: &[(Tuple, Load)]) -> Vec<Load> {
    let mut loads = vec![Load::default(); sketch.loads.len()];
    for (number, loads) in (0..).zip(loads.chunks_mut(sketch.queues)) {
        let queue: Box<dyn Fn(&Tuple) -> usize> = match sketch.function {
            Function::Keyed => {
                let shards =
                    Shards::<SipHash13>::new::<Tuple>(&sketch.hash_key(number).unwrap(), sketch.queues);
                Box::new(move |tuple| shards.shard(tuple))
            }
            _ => {
                let card = Rss::new(&sketch.card_key(number).unwrap());
                let queues = sketch.queues;
                Box::new(move |tuple| rss::queue(&card, &tuple.reversed(), queues))
            }
        };
        for (tuple, load) in rows {
            loads[queue(tuple)].add(*load);
        }
    }
    loads
}

fn function() -> impl Strategy<Value = Function> {
    let card = vec(any::<u8>(), 40).prop_map(|bytes| Function::Rss(*bytes.first_chunk().unwrap()));
    prop_oneof![card, Just(Function::SymmetricRss), Just(Function::Keyed)]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn loads_are_those_of_each_key_by_itself(
        function in function(),
        queues in 1..=128_usize,
        candidates in 0..140_usize,
        key: [u8; 16],
        rows in vec(any::<([u8; 36], bool, u32, u32)>(), 0..12),
    ) {
        let mut sketch = Imbalance::new(function, queues, candidates, &Key::new(key)).unwrap();
        let (mut short, mut offsets, mut bytes) = (Vec::new(), vec![0], Vec::new());
        for (row, v4, packets, sizes) in &rows {
            let row = if *v4 { &row[..12] } else { &row[..] };
            bytes.extend_from_slice(row);
            offsets.push(bytes.len() as i32);
            short.push((tuple(row), Load { packets: (*packets).into(), bytes: (*sizes).into() }));
        }
        let packets: Vec<u64> = short.iter().map(|(_, load)| load.packets).collect();
        let sizes: Vec<u64> = short.iter().map(|(_, load)| load.bytes).collect();
        let keys = Keys::offsets32(&offsets, &bytes).unwrap();
        sketch.update(&keys, Some(&packets), Some(&sizes)).unwrap();
        prop_assert_eq!(&sketch.loads, &naive(&sketch, &short));
        let result = sketch.result();
        prop_assert_eq!(result.total.packets, packets.iter().sum::<u64>());
        prop_assert!(result.keys.iter().all(|key| key.packets >= result.best.packets));
        prop_assert_eq!(result.keys.len(), candidates + 1);
    }
}

#[test]
fn symmetric_candidates_have_both_directions_on_one_queue() {
    let key = Key::VECTOR;
    let (mut there, mut back) =
        [(); 2].map(|()| Imbalance::new(Function::SymmetricRss, 8, 99, &key).unwrap()).into();
    for port in 1..50 {
        let tuple = Tuple::v4([192, 0, 2, 1].into(), port, [198, 51, 100, 7].into(), 443);
        there.update(&Keys::rows(tuple.as_bytes(), 36).unwrap(), None, None).unwrap();
        back.update(&Keys::rows(tuple.reversed().as_bytes(), 36).unwrap(), None, None).unwrap();
    }
    assert_eq!(there.to_bytes(), back.to_bytes());
}

#[test]
fn one_flow_is_in_one_queue_and_no_flow_in_none() {
    let mut sketch = Imbalance::new(Function::Keyed, 5, 2, &Key::VECTOR).unwrap();
    assert_eq!(sketch.result().current, KeyImbalance { number: 0, packets: 1.0, bytes: 1.0 });
    sketch.update(&Keys::rows(Tuple::CHECK.as_bytes(), 36).unwrap(), Some(&[7]), Some(&[700])).unwrap();
    assert_eq!(sketch.result().current, KeyImbalance { number: 0, packets: 5.0, bytes: 5.0 });
    assert_eq!(sketch.result().total, Load { packets: 7, bytes: 700 });
    assert_eq!(sketch.loads(3), []);
}

#[test]
fn rows_of_other_widths_and_columns_of_other_lengths_change_nothing() {
    let mut sketch = Imbalance::new(Function::SymmetricRss, 4, 1, &Key::VECTOR).unwrap();
    let before = sketch.to_bytes();
    let wide = Keys::rows(&[0; 40], 20).unwrap();
    let error = sketch.update(&wide, None, None).unwrap_err();
    assert_eq!(error, Error::Width { width: 20, expected: 36 });
    let rows = Keys::rows(&[0; 72], 36).unwrap();
    let error = sketch.update(&rows, None, Some(&[1])).unwrap_err();
    assert_eq!(error, Error::Rows { column: "bytes", rows: 1, keys: 2 });
    assert_eq!(sketch.to_bytes(), before);
}
