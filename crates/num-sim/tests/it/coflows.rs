//! Flows that wait for others, and coflows: schedules computed by hand, and what is refused.

use netnum_core::Topology;
use netnum_sim::{
    AllReduce, Coflow, Dependencies, Ecmp, Error, MaxMinFair, Policy, Report, RunSettings, RunStatus, Workload,
    simulate,
};

fn run(net: &Topology, workload: &Workload, policy: &mut dyn Policy) -> Report {
    simulate(net, workload, &mut Ecmp::new(1), policy, &RunSettings::default(), &mut ()).unwrap()
}

fn assert_close(found: &[f64], expected: &[f64]) {
    let near = |(found, expected): (&f64, &f64)| (found - expected).abs() <= 1e-9 * expected.abs();
    assert!(found.len() == expected.len() && found.iter().zip(expected).all(near), "{found:?}, not {expected:?}");
}

/// Flows at time 0 on a link of one byte per second each way, which wait.
fn chain(after: &[&[u32]], delays: &[f64]) -> Result<Workload, Error> {
    let flows = after.len();
    let indptr = std::iter::once(0).chain(after.iter().scan(0, |sum, own| {
        *sum += own.len();
        Some(*sum)
    }));
    let dependencies = Dependencies::new(indptr.collect(), after.concat(), delays.to_vec())?;
    Workload::new(vec![0.0; flows], vec![0; flows], vec![1; flows], vec![1.0; flows])?.with_dependencies(dependencies)
}

#[test]
fn a_flow_starts_its_delay_after_the_last_that_it_waits_for() {
    let net = Topology::single_link(8.0).unwrap();
    let workload = chain(&[&[], &[0], &[0, 1], &[]], &[9.0, 0.5, 0.0, 9.0]).unwrap();
    let report = run(&net, &workload, &mut MaxMinFair::new());
    // Flows 0 and 3 share the link until 2 s.
    assert_close(&report.starts, &[0.0, 2.5, 3.5, 0.0]);
    assert_close(&report.completion_times, &[2.0, 1.0, 1.0, 2.0]);
    // An arrival is the earliest start.
    let late = Workload::new(vec![0.0, 7.0], vec![0; 2], vec![1; 2], vec![1.0; 2]).unwrap();
    let late = late.with_dependencies(Dependencies::new(vec![0, 0, 1], vec![0], vec![0.0; 2]).unwrap()).unwrap();
    assert_close(&run(&net, &late, &mut MaxMinFair::new()).starts, &[0.0, 7.0]);
}

#[test]
fn what_never_starts_is_refused_by_name() {
    let message = |after: &[&[u32]]| chain(after, &vec![0.0; after.len()]).unwrap_err().to_string();
    assert_eq!(message(&[&[0]]), "flow 0 has after 0, expected another flow than itself");
    assert_eq!(message(&[&[], &[7]]), "flow 1 has after 7, expected a flow from 0 to 1");
    let circle = "flows 1, 3, 2 wait for each other in a circle, expected flows that can start";
    assert_eq!(message(&[&[], &[3, 0], &[1], &[2], &[1]]), circle);
    let many: Vec<Vec<u32>> = (0..9).map(|flow| vec![(flow + 1) % 9]).collect();
    let many: Vec<&[u32]> = many.iter().map(Vec::as_slice).collect();
    assert!(message(&many).starts_with("flows 0, 1, 2, 3, 4, 5, … (9 in all) wait for each other"));
    for (delay, shown) in [(-1.0, "-1"), (f64::NAN, "NaN"), (f64::INFINITY, "inf")] {
        let message = chain(&[&[], &[0]], &[0.0, delay]).unwrap_err().to_string();
        assert_eq!(message, format!("flow 1 has delay {shown}, expected a finite number >= 0"));
    }
    let endless = Workload::new(vec![0.0; 2], vec![0; 2], vec![1; 2], vec![f64::INFINITY, 1.0]).unwrap();
    let dependencies = Dependencies::new(vec![0, 0, 1], vec![0], vec![0.0; 2]).unwrap();
    let message = endless.clone().with_dependencies(dependencies.clone()).unwrap_err().to_string();
    assert_eq!(message, "flow 1 has after 0, expected a flow that ends: flow 0 has size inf");
    let message = endless.with_coflows(vec![Some(1), None]).unwrap_err().to_string();
    assert_eq!(message, "coflow is without 0, expected numbers from 0 on without gaps");
    let one = Workload::new(vec![0.0], vec![0], vec![1], vec![1.0]).unwrap();
    assert_eq!(
        one.with_dependencies(dependencies).unwrap_err().to_string(),
        "after has 2 entries, expected 1, one per flow"
    );
}

#[test]
fn flows_after_one_that_starves_do_not_start() {
    let net = Topology::single_link(8.0).unwrap();
    let changes = vec![netnum_sim::CapacityChange { time: 0.5, link: 0, capacity: 0.0 }];
    let (workload, run) = (chain(&[&[], &[0]], &[0.0; 2]).unwrap(), RunSettings::default().with_changes(changes));
    let report = simulate(&net, &workload, &mut Ecmp::new(1), &mut MaxMinFair::new(), &run, &mut ()).unwrap();
    assert_eq!(report.status, RunStatus::Starved);
    assert!(report.starts[1].is_nan() && report.completion_times[1].is_nan());
}

/// Three ends of a switch of 1 Gbit/s, two coflows of 1 Gbit each flow: 0→0, 1→0 and 1→1, 2→2, as 0→3, 1→3, 1→4, 2→5.
#[test]
fn fifo_gives_a_later_coflow_what_remains() {
    let net = Topology::star(6, 1e9).unwrap();
    let workload = Workload::new(vec![0.0; 4], vec![0, 1, 1, 2], vec![3, 3, 4, 5], vec![1e9 / 8.0; 4]).unwrap();
    let workload = workload.with_coflows(vec![Some(0), Some(0), Some(1), Some(1)]).unwrap();
    let report = run(&net, &workload, &mut Coflow::fifo());
    assert_close(&report.completion_times, &[2.0, 2.0, 2.0, 1.0]);
    assert_close(&report.coflow_times(), &[2.0, 2.0]);
    assert!(report.peak_loads.iter().all(|load| *load <= 1e9 * (1.0 + 1e-9)));
    // The second has the smaller bottleneck: its flows take a second, and then the first has all.
    let report = run(&net, &workload, &mut Coflow::smallest_bottleneck());
    assert_close(&report.completion_times, &[1.0, 2.0, 1.0, 1.0]);
    assert_close(&report.coflow_times(), &[2.0, 1.0]);
}

/// 100 MB on eight workers with 50 GB/s each take 3.5 ms, directly and in a ring; by halving and doubling as well. Up
/// and down a binary tree whole messages go.
#[test]
fn an_all_reduce_takes_what_its_steps_take() {
    let net = Topology::star(8, 400e9).unwrap();
    let workers: Vec<usize> = (0..8).collect();
    let time = |algorithm| {
        let workload = Workload::all_reduce(&net, 100e6, &workers, algorithm).unwrap();
        let report = run(&net, &workload, &mut MaxMinFair::new());
        (workload.len(), report.coflow_times()[0])
    };
    for (algorithm, flows) in [(AllReduce::Ring, 112), (AllReduce::Direct, 112), (AllReduce::HalvingDoubling, 48)] {
        let (found, seconds) = time(algorithm);
        assert_eq!(found, flows);
        assert_close(&[seconds], &[3.5e-3]);
    }
    let (flows, seconds) = time(AllReduce::Tree);
    assert_eq!(flows, 14);
    // A message alone takes 2 ms, two to or from one worker take 4. Up: 4 to 1 beside 7 to 3 and then 3 to 1, beside 5
    // and 6 to 2 (4), then 1 and 2 to 0 (8). Down: 0 to 1 and 2 (12), these to 3, 4, 5 and 6 (16), then 3 to 7 (18).
    assert_close(&[seconds], &[18e-3]);
}

#[test]
fn what_others_do_in_steps_is_right_by_hand() {
    let net = Topology::star(4, 8.0).unwrap();
    let fair = |workload: &Workload| run(&net, workload, &mut MaxMinFair::new());
    let steps = Workload::all_to_all_in_steps(&net, 1.0, &[0, 1, 2, 3]).unwrap();
    assert_close(&fair(&steps).coflow_times(), &[3.0]);
    // Three batches over two hops, a second of computing before each send: the first hop sends at 0, 2 and 4, the
    // second a second after it has received.
    let pipeline = Workload::pipeline(&net, 1.0, &[0, 1, 2], 3, 1.0).unwrap();
    assert_close(&fair(&pipeline).starts, &[0.0, 2.0, 2.0, 4.0, 4.0, 6.0]);
    let shuffle = Workload::shuffle(&net, 1.0, &[0, 1], &[1, 2]).unwrap();
    assert_eq!((shuffle.sources(), shuffle.destinations()), (&[0, 0, 1][..], &[1, 2, 2][..]));
    assert_close(&fair(&shuffle).coflow_times(), &[2.0]);
    // An answer of two bytes, half a second after the request of one byte.
    let request = Workload::new(vec![0.0], vec![0], vec![1], vec![1.0]).unwrap();
    let answered = request.with_answers(&[2.0], 0.5).unwrap();
    assert_close(&fair(&answered).starts, &[0.0, 1.5]);
    assert_close(&fair(&answered).completion_times, &[1.0, 2.0]);
    // Two all-to-alls with a second of computing between them.
    let both = steps.then(&steps, 1.0).unwrap();
    assert_eq!(both.coflows(), 2);
    assert_close(&fair(&both).coflow_times(), &[3.0, 3.0]);
    assert_close(&[fair(&both).time], &[7.0]);
}

#[test]
fn jobs_that_are_none_are_refused() {
    let net = Topology::star(4, 8.0).unwrap();
    let all_reduce = |size, workers: &[usize], how| Workload::all_reduce(&net, size, workers, how);
    let message = |made: Result<Workload, Error>| made.unwrap_err().to_string();
    assert_eq!(message(all_reduce(1.0, &[2], AllReduce::Ring)), "workers is [2], expected at least 2 ends");
    assert_eq!(message(all_reduce(1.0, &[2, 4], AllReduce::Ring)), "workers[1] is 4, expected an end from 0 to 3");
    assert_eq!(
        message(all_reduce(1.0, &[2, 2], AllReduce::Tree)),
        "workers[1] is 2, expected ends that are all different"
    );
    assert_eq!(message(all_reduce(0.0, &[0, 1], AllReduce::Tree)), "size is 0, expected a finite number > 0");
    let halving = message(all_reduce(1.0, &[0, 1, 2], AllReduce::HalvingDoubling));
    assert_eq!(halving, "workers is 3, expected a power of two of them for halving-doubling; a ring takes any number");
    assert_eq!(message(Workload::pipeline(&net, 1.0, &[0, 1], 0, 0.0)), "batches is 0, expected at least 1");
    let seconds = message(Workload::pipeline(&net, 1.0, &[0, 1], 1, -1.0));
    assert_eq!(seconds, "seconds is -1, expected a finite number >= 0");
    let own = message(Workload::shuffle(&net, 1.0, &[1], &[1]));
    assert_eq!(own, "reducers is [1], expected another end than the mapper");
}

#[test]
fn what_waits_is_kept_by_all_that_makes_other_workloads_of_it() {
    let net = Topology::star(8, 8e9).unwrap();
    let workers: Vec<usize> = (0..8).collect();
    let ring = Workload::all_reduce(&net, 1e6, &workers, AllReduce::Ring).unwrap();
    let text = ring.to_csv().unwrap();
    assert!(text.starts_with("arrival,source,destination,size,after,delay,coflow\n0.0,0,1,125000.0,,0.0,0\n"));
    assert_eq!(Workload::from_csv(&text).unwrap(), ring);
    let json = serde_json::to_string(&ring).unwrap();
    assert_eq!(serde_json::from_str::<Workload>(&json).unwrap(), ring);
    // Others that arrive in between change numbers, and no answer on a network that has room for both.
    let burst = Workload::incast(&Topology::star(8, 8e9).unwrap(), 0, 3, &netnum_sim::Sizes::fixed(1e3).unwrap(), 1);
    let both = ring.clone().shifted(0.5).unwrap().merged(&burst.unwrap()).unwrap();
    assert_eq!(both.dependencies().unwrap().after(3 + 8), [3, 3 + 7]);
    assert_eq!((both.coflows(), both.coflow(0), both.coflow(3)), (1, None, Some(0)));
    let alone = run(&net, &ring, &mut MaxMinFair::new()).coflow_times();
    assert_close(&run(&net, &both, &mut MaxMinFair::new()).coflow_times(), &alone);
}
