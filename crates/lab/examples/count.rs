use hash::scheme::Key;
use lab::{registry, workload::shape::Shape};
fn main() {
    let names = "N(7.3,var=11.7)Bx8".parse::<Shape>().unwrap().generate(4096, 1).unwrap();
    let id = std::env::args().nth(1).unwrap();
    let n: usize = std::env::args().nth(2).unwrap().parse().unwrap();
    let mut s = registry::names(&id, &Key::VECTOR).unwrap();
    let p = names.packed(id.split('/').next().unwrap()).unwrap();
    let v: Vec<&[u8]> = (0..4096).map(|i| p.name(i)).collect();
    for _ in 0..n {
        std::hint::black_box(s.stream(&v));
    }
}
