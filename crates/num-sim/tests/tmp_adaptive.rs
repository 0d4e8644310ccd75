use netnum_core::Topology;
use netnum_sim::*;
#[test]
fn tmp() {
    let net = Topology::fat_tree(4, 1e9).unwrap();
    let arrivals = Poisson { flows: 400, ..Poisson::new(Sizes::web_search(), 0.7) };
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 11).unwrap();
    let end = *workload.arrivals().last().unwrap();
    for fail in [false, true] {
        let changes = if fail {
            vec![
                Change { time: 0.2 * end, link: 40, capacity: 0.0 },
                Change { time: 0.3 * end, link: 47, capacity: 0.4e9 },
                Change { time: 0.5 * end, link: 40, capacity: 1e9 },
            ]
        } else {
            vec![]
        };
        let began = std::time::Instant::now();
        let r = simulate(
            &net,
            &workload,
            &mut Adaptive::new(),
            &mut MaxMin::new(),
            &Run { changes, ..Run::default() },
            &mut (),
        );
        println!("fail {fail}: {:?} {:?}", r.map(|r| r.mean_completion_time()), began.elapsed());
    }
}
