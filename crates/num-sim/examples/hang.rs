use netnum_core::{Link, Topology};
use netnum_sim::*;
use std::ops::ControlFlow;
fn main() {
    let names = ["server 0", "server 1", "edge 0", "edge 1", "aggregation 0", "aggregation 1", "core 0"];
    let links: Vec<Link> =
        [[0, 2], [1, 3], [2, 0], [3, 1], [2, 4], [3, 5], [4, 2], [5, 3], [4, 6], [5, 6], [6, 4], [6, 5]]
            .iter()
            .map(|&[from, to]| Link { from, to, capacity: 1e10 })
            .collect();
    let net = Topology::new("t", names.map(String::from).to_vec(), 2, vec![0; 7], links).unwrap();
    let w = Workload::new(
        vec![0.0; 15],
        vec![0, 0, 1, 0, 1, 1, 0, 1, 0, 0, 1, 1, 1, 1, 0],
        vec![1, 1, 0, 1, 0, 0, 1, 0, 1, 1, 0, 0, 0, 0, 1],
        vec![
            485000.0, 967000.0, 653000.0, 872000.0, 111000.0, 370000.0, 1240000.0, 1090000.0, 3480.0, 28800.0, 6080.0,
            167000.0, 407000.0, 20200.0, 2880.0,
        ],
    )
    .unwrap();
    let w = w
        .with_production(
            Production::new(
                vec![
                    1300000000.0,
                    36000000000.0,
                    557000000.0,
                    17400000000.0,
                    124000000.0,
                    7770000000.0,
                    2090000000.0,
                    1290000000.0,
                    1130000000.0,
                    2200000000.0,
                    4750000000.0,
                    76900000000.0,
                    1020000000.0,
                    4710000000.0,
                    14900000000.0,
                ],
                12500.0,
            )
            .unwrap(),
        )
        .unwrap();
    let ch = |time, link, capacity| Change { time, link, capacity };
    let run = Run {
        until: 0.067500001,
        changes: vec![
            ch(0.0, 1, 0.0),
            ch(0.000135, 4, 20000000000.0),
            ch(0.001485, 1, 10000000000.0),
            ch(0.001485, 4, 10000000000.0),
        ],
        ..Run::default()
    };
    let mut p = Ticking::new(TickingOptions { interval: None, ..TickingOptions::default() }).unwrap();
    struct O(u64);
    impl Observer for O {
        fn pause(&self) -> std::time::Duration {
            std::time::Duration::ZERO
        }
        fn observe(&mut self, p: &Progress) -> ControlFlow<()> {
            self.0 += 1;
            if self.0 % 100 == 0 && self.0 < 2000 || self.0 < 30 || (self.0 > 99980) {
                println!("{} {:e} {:?}", self.0, p.time, p);
            }
            if self.0 > 100000 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }
    let r = simulate(&net, &w, &mut Ecmp::new(1613042686824526171), &mut p, &run, &mut O(0)).unwrap();
    println!("{r} {}", r.events);
}
