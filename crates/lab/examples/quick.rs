use hash::scheme::Key;
use lab::{probe::clock, registry, workload::shape::Shape};
fn main() {
    let key = Key::VECTOR;
    let w = std::env::args().nth(1).unwrap_or("N(7.3,var=11.7)Bx8".into());
    let names = w.parse::<Shape>().unwrap().generate(8192, 1).unwrap();
    let r = clock::calibrate();
    println!("{r:?}");
    let ids: Vec<String> = std::env::args().skip(2).collect();
    let ids = if ids.is_empty() {
        "one-by-one/crc32c all-at-once/crc32c one-by-one/longest-first/crc32c all-at-once/longest-first/crc32c one-by-one/crc32c-masked one-by-one/crc32c-shifted one-pass/crc32c burst/crc32c one-by-one/siphash-2-4 one-pass/siphash-2-4 one-pass/siphash-1-3 burst/siphash-2-4 burst/siphash-1-3 walk walk/burst".split(' ').map(|s| format!("ndn/{s}")).collect()
    } else {
        ids
    };
    let mut base = (0.0, 0.0);
    for id in &ids {
        let mut s = registry::names(id, &key).unwrap_or_else(|| panic!("{id}"));
        let p = names.packed(id.split('/').next().unwrap()).unwrap();
        let mut samples = Vec::new();
        let mut means = vec![];
        let mut streams = vec![];
        let mut mins = vec![u64::MAX; names.len()];
        let mut smin = vec![u64::MAX; names.len() / 256];
        for _ in 0..40 {
            let mut sum = 0u64;
            let mut st = 0u64;
            for b in (0..names.len()).step_by(256) {
                let v: Vec<&[u8]> = (b..b + 256).map(|i| p.name(i)).collect();
                samples.clear();
                s.each(&v, &mut samples);
                let per = samples.len();
                let blk = b / 256;
                let _ = per;
                for (i, x) in samples.iter().enumerate() {
                    let m = &mut mins[blk * 256 + i];
                    *m = (*m).min(*x as u64);
                }
            }
            for b in (0..names.len()).step_by(256) {
                let v: Vec<&[u8]> = (b..b + 256).map(|i| p.name(i)).collect();
                let x = s.stream(&v);
                st += x;
                let m = &mut smin[b / 256];
                *m = (*m).min(x);
            }
            let _ = &mut sum;
            means.push(sum as f64);
            streams.push(st as f64 / names.len() as f64);
        }
        let tot: u64 = mins.iter().filter(|x| **x != u64::MAX).sum();
        let _ = &means;
        means = vec![tot as f64 / names.len() as f64; 7];
        streams = vec![smin.iter().sum::<u64>() as f64 / names.len() as f64; 7];
        means.sort_by(f64::total_cmp);
        streams.sort_by(f64::total_cmp);
        if base.0 == 0.0 {
            base = (means[3], streams[3]);
        }
        let v: Vec<&[u8]> = (0..256).map(|i| p.name(i)).collect();
        println!(
            "{id:50} each {:8.1} ({:.3})  stream {:8.1} ({:.3})  {:x}",
            means[3],
            means[3] / base.0,
            streams[3],
            streams[3] / base.1,
            s.digest(&v)
        );
    }
}
