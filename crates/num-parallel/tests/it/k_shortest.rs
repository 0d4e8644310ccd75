//! Short paths for many pairs: the same on any number of threads, errors and all.

use std::num::NonZeroUsize;
use std::thread;
use std::time::Duration;

use netnum_core::{Error, KShortest, StopToken, Topology};
use netnum_parallel::Threads;

fn threads(count: usize) -> Threads {
    Threads::new(NonZeroUsize::new(count).unwrap())
}

#[test]
fn threads_do_not_change_the_paths() {
    let net = Topology::fat_tree(8, 1.0).unwrap();
    let (sources, destinations) = net.random_pairs(3000, 1).unwrap();
    let weight: Vec<f64> = (0..net.links().len()).map(|link| 1.0 + (link % 7) as f64).collect();
    for what in [
        KShortest::new(5),
        KShortest::new(5).with_weight(&weight[..]).with_max_stretch(1.5),
        KShortest::new(5).with_disjoint(true),
    ] {
        let alone = net.k_shortest_paths(&sources, &destinations, &what);
        assert!(alone.is_ok());
        for count in [1, 2, 7] {
            assert_eq!(net.k_shortest_paths(&sources, &destinations, &what.with_workers(&threads(count))), alone);
        }
    }
}

#[test]
fn the_first_pair_without_a_path_is_named_by_any_number_of_threads() {
    let net = Topology::parking_lot(300, 1.0).unwrap();
    // From node i to node i + 1; the two that go back are in the middle, in different jobs.
    let mut destinations: Vec<usize> = (1..=300).collect();
    destinations[200] = 3;
    destinations[100] = 7;
    let sources: Vec<usize> = (0..300).collect();
    for count in [1, 2, 7] {
        let found = net.k_shortest_paths(&sources, &destinations, &KShortest::new(2).with_workers(&threads(count)));
        assert_eq!(found.unwrap_err().to_string(), "pair 100 from node 100 to node 7: there is no route");
    }
    let none = net.k_shortest_paths(&[0; 0], &[0; 0], &KShortest::new(2).with_workers(&threads(4))).unwrap();
    assert_eq!((none.0.len(), none.1.len()), (0, 0));
}

#[test]
fn a_token_of_the_caller_stops_all_threads() {
    let net = Topology::fat_tree(8, 1.0).unwrap();
    let (sources, destinations) = net.random_pairs(200_000, 1).unwrap();
    let token = StopToken::new();
    let from_elsewhere = token.clone();
    let stopper = thread::spawn(move || {
        thread::sleep(Duration::from_millis(30));
        from_elsewhere.stop();
    });
    let found = token
        .scope(|| net.k_shortest_paths(&sources, &destinations, &KShortest::new(100_000).with_workers(&threads(3))));
    assert_eq!(found, Err(Error::Stopped));
    stopper.join().unwrap();
}
