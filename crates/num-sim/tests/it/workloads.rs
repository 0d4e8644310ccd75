//! Sizes, arrivals and pairs have the stated distributions.

use netnum_core::{Link, Topology};
use netnum_sim::{Pairs, Poisson, Production, Sizes, Workload};
use proptest::prelude::*;

fn fabric() -> Topology {
    Topology::leaf_spine(3, 4, 2, 10e9, 40e9).unwrap()
}

fn poisson(flows: usize, load: f64, pairs: &Pairs, seed: u64) -> Workload {
    let arrivals = Poisson::new(Sizes::web_search(), load).with_flows(flows);
    Workload::poisson(&fabric(), &arrivals, pairs, seed).unwrap()
}

/// The sizes of some flows.
fn drawn(sizes: &Sizes, flows: usize, seed: u64) -> Vec<f64> {
    let arrivals = Poisson::new(sizes.clone(), 0.5).with_flows(flows);
    Workload::poisson(&fabric(), &arrivals, &Pairs::Uniform, seed).unwrap().sizes().to_vec()
}

#[test]
fn what_is_drawn_has_the_mean_and_the_quantiles_that_are_said() {
    for name in Sizes::measured() {
        let sizes = Sizes::named(name).unwrap();
        let mut drawn = drawn(&sizes, 400_000, 1);
        drawn.sort_by(f64::total_cmp);
        for fraction in [0.1, 0.5, 0.9, 0.99] {
            let below = drawn.partition_point(|&size| size <= sizes.quantile(fraction)) as f64 / drawn.len() as f64;
            // A jump of the distribution passes the fraction.
            let jump = drawn.partition_point(|&size| size < sizes.quantile(fraction)) as f64 / drawn.len() as f64;
            assert!(below >= fraction - 0.005 && jump <= fraction + 0.005, "{name}: {jump}..{below} at {fraction}");
        }
        let (count, mean) = (drawn.len() as f64, drawn.iter().sum::<f64>() / drawn.len() as f64);
        let deviation = (drawn.iter().map(|size| (size - mean).powi(2)).sum::<f64>() / count / count).sqrt();
        let expected = sizes.mean();
        assert!((mean - expected).abs() < 4.0 * deviation, "{name}: mean {mean} ± {deviation}, expected {expected}");
    }
}

#[test]
fn named_sizes_are_those_of_the_papers() {
    // Web search: 1.7 MB in the mean; data mining: 3.6 % of the flows, above 35 MB, have 95 % of the bytes.
    assert!((Sizes::web_search().mean() / 1e6 - 1.7).abs() < 0.1);
    let mining = Sizes::named("data_mining").unwrap();
    let steps = 1_000_000;
    let (mut all, mut large, mut count) = (0.0, 0.0, 0);
    for step in 0..steps {
        let size = mining.quantile((f64::from(step) + 0.5) / f64::from(steps));
        all += size;
        if size > 35e6 {
            (large, count) = (large + size, count + 1);
        }
    }
    assert!((f64::from(count) / f64::from(steps) - 0.036).abs() < 0.001);
    assert!((large / all - 0.95).abs() < 0.005);
    assert!((all / f64::from(steps) / mining.mean() - 1.0).abs() < 1e-4);
}

#[test]
fn the_load_is_what_the_servers_own_links_carry() {
    let net = fabric();
    let rate = |workload: &Workload| {
        let bits = 8.0 * workload.sizes().iter().sum::<f64>();
        bits / workload.arrivals().last().unwrap()
    };
    let everybody = poisson(200_000, 0.4, &Pairs::Uniform, 1);
    assert!((rate(&everybody) / (12.0 * 10e9) - 0.4).abs() < 0.01);
    // One receiver's link is the least of what the pairs cross.
    let incast = Pairs::incast(&net, 3, 5, 1).unwrap();
    assert!((rate(&poisson(200_000, 0.4, &incast, 1)) / 10e9 - 0.4).abs() < 0.01);
    // Or any other links: here those from the racks to the spines.
    let tier = |node: u32| net.tiers()[node as usize];
    let goes_up = |link: &Link| tier(link.from) == 1 && tier(link.to) == 2;
    let uplinks: Vec<u32> =
        (0..).zip(net.links()).filter(|(_, link)| goes_up(link)).map(|(number, _)| number).collect();
    assert_eq!(uplinks.len(), 6);
    let arrivals = Poisson::new(Sizes::web_search(), 0.5).with_flows(200_000).with_links(Some(uplinks));
    let workload = Workload::poisson(&net, &arrivals, &Pairs::Uniform, 1).unwrap();
    assert!((rate(&workload) / (6.0 * 40e9) - 0.5).abs() < 0.01);
}

#[test]
fn a_longer_workload_begins_with_the_shorter_one() {
    let (short, long) = (poisson(100, 0.5, &Pairs::Uniform, 4), poisson(1000, 0.5, &Pairs::Uniform, 4));
    assert_eq!(short.arrivals(), &long.arrivals()[..100]);
    assert_eq!(short.sources(), &long.sources()[..100]);
    assert_eq!(short.destinations(), &long.destinations()[..100]);
    assert_eq!(short.sizes(), &long.sizes()[..100]);
    assert_ne!(short, poisson(100, 0.5, &Pairs::Uniform, 5));
    // Another load is the same flows at another pace.
    let faster = poisson(100, 1.0, &Pairs::Uniform, 4);
    assert_eq!(short.sizes(), faster.sizes());
    for (slow, fast) in short.arrivals().iter().zip(faster.arrivals()) {
        assert!((slow - 2.0 * fast).abs() <= 1e-12 * slow);
    }
}

#[test]
fn a_duration_ends_the_arrivals() {
    let arrivals = Poisson::new(Sizes::web_search(), 0.5).with_duration(0.01);
    let workload = Workload::poisson(&fabric(), &arrivals, &Pairs::Uniform, 1).unwrap();
    assert!(!workload.is_empty());
    assert!(workload.arrivals().iter().all(|&arrival| arrival <= 0.01));
    let longer = arrivals.with_duration(f64::INFINITY).with_flows(workload.len() + 1);
    let longer = Workload::poisson(&fabric(), &longer, &Pairs::Uniform, 1).unwrap();
    assert!(*longer.arrivals().last().unwrap() > 0.01);
}

#[test]
fn patterns_join_whom_they_should() {
    let net = fabric();
    for seed in 0..20 {
        let Pairs::Listed(pairs) = Pairs::permutation(&net, seed) else { panic!("listed") };
        let (mut from, mut to): (Vec<usize>, Vec<usize>) = pairs.iter().copied().unzip();
        assert!(pairs.iter().all(|pair| pair.0 != pair.1));
        from.sort_unstable();
        to.sort_unstable();
        assert!(from.iter().copied().eq(0..12) && to.iter().copied().eq(0..12));
        let Pairs::Listed(pairs) = Pairs::incast(&net, 7, 5, seed).unwrap() else { panic!("listed") };
        let mut senders: Vec<usize> = pairs.iter().map(|pair| pair.0).collect();
        senders.sort_unstable();
        senders.dedup();
        assert_eq!((senders.len(), senders.contains(&7)), (5, false));
        assert!(pairs.iter().all(|pair| pair.1 == 7));
    }
    let Pairs::Listed(pairs) = Pairs::all_to_all(&net).unwrap() else { panic!("listed") };
    assert_eq!(pairs.len(), 12 * 11);
    let drawn = poisson(20_000, 0.5, &Pairs::Uniform, 2);
    let mut counts = [[0; 12]; 12];
    drawn.sources().iter().zip(drawn.destinations()).for_each(|(&from, &to)| counts[from][to] += 1);
    for (from, row) in counts.iter().enumerate() {
        for (to, &count) in row.iter().enumerate() {
            // 151 ± 12 of each pair.
            assert!(if from == to { count == 0 } else { (95..215).contains(&count) }, "{from} to {to}: {count}");
        }
    }
}

#[test]
fn workloads_and_sizes_are_written_down_and_read_back() {
    let workload = poisson(500, 0.5, &Pairs::Uniform, 3);
    assert_eq!(Workload::from_csv(&workload.to_csv().unwrap()).unwrap(), workload);
    assert_eq!(serde_json::from_str::<Workload>(&serde_json::to_string(&workload).unwrap()).unwrap(), workload);
    for sizes in [Sizes::web_search(), Sizes::exponential(1e5).unwrap()] {
        assert_eq!(serde_json::from_str::<Sizes>(&serde_json::to_string(&sizes).unwrap()).unwrap(), sizes);
    }
    let backwards = r#"{"arrivals":[1.0,0.5],"sources":[0,0],"destinations":[1,1],"sizes":[1.0,1.0]}"#;
    assert!(serde_json::from_str::<Workload>(backwards).is_err());
    let other_order = "flow,size,destination,arrival,source\nf0,1460,1,0,0\nf1,2e4,0,1.5e-6,3";
    assert_eq!(Workload::from_csv(other_order), Workload::from_csv("0,0,1,1460\n1.5e-6,3,0,20000"));
    let produced = Workload::from_csv("production,size,destination,arrival,source\n1e9,1460,1,0,0").unwrap();
    assert_eq!(produced, Workload::from_csv("0,0,1,1460,1e9").unwrap());
    let two = Workload::from_csv("0,0,1,1460\n1,1,0,2").unwrap();
    for buffer in [3e3, f64::INFINITY] {
        let produced = two.clone().with_production(Production::new(vec![1e9, 0.1], buffer).unwrap()).unwrap();
        assert_eq!(Workload::from_csv(&produced.to_csv().unwrap()).unwrap(), produced);
        let weighted = produced.with_weights(vec![0.3, 2.0]).unwrap();
        assert_eq!(Workload::from_csv(&weighted.to_csv().unwrap()).unwrap(), weighted);
    }
    let alone = Workload::from_csv("arrival,source,destination,size,buffer\n0,0,1,1460,3").unwrap_err();
    assert!(alone.to_string().ends_with("with a buffer and no production, expected both"), "{alone}");
    let text = "# a trace\n\n0,0,1,1460\n 1.5e-6 , 3, 0,20000\n";
    let trace = Workload::from_csv(text).unwrap();
    assert_eq!(
        (trace.arrivals(), trace.sources(), trace.sizes()),
        (&[0.0, 1.5e-6][..], &[0, 3][..], &[1460.0, 2e4][..])
    );
}

proptest! {
    #[test]
    fn any_points_give_sizes_between_the_first_and_the_last(
        steps in prop::collection::vec((1.0..1e6f64, 0.0..1.0f64), 1..8), seed in 0u64..1000,
    ) {
        let total: f64 = steps.iter().map(|step| step.1).sum();
        prop_assume!(total > 0.0);
        let (mut bytes, mut fraction) = (0.0, 0.0);
        let mut points: Vec<(f64, f64)> = steps.iter().map(|step| {
            bytes += step.0;
            fraction = f64::min(1.0, fraction + step.1 / total);
            (bytes, fraction)
        }).collect();
        points.last_mut().unwrap().1 = 1.0;
        let sizes = Sizes::new("any", points.clone()).unwrap();
        for size in drawn(&sizes, 100, seed) {
            prop_assert!(size >= points[0].0 && size <= points[points.len() - 1].0);
        }
        prop_assert!(sizes.mean() >= points[0].0 && sizes.mean() <= points[points.len() - 1].0);
    }
}
