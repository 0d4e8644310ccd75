//! Links without a limit.

use netnum_core::{AlphaFair, Ask, Error, Linear, LinkAttribute, Paths, Problem, Topology, max_min, solve};

fn log() -> AlphaFair {
    AlphaFair::new(1.0, 1.0).unwrap()
}

#[test]
fn rates_are_those_without_the_link_and_its_price_is_0() {
    let problem = |capacities: Vec<f64>, paths: &[Vec<u32>]| Problem::new(capacities, Paths::from_lists(paths), log());
    let without = problem(vec![2.0, 1.0], &[vec![0], vec![0, 1], vec![1]]).unwrap();
    let with_it = problem(vec![2.0, 1.0, f64::INFINITY], &[vec![2, 0], vec![0, 2, 1], vec![1]]).unwrap();
    let [one, other] = [without, with_it].map(|problem| solve(&problem, &Ask::default()).unwrap());
    for (rate, expected) in other.rates.iter().zip(&one.rates) {
        assert!((rate - expected).abs() <= 1e-4 * expected, "{rate} {expected}");
    }
    assert_eq!(other.prices[2], 0.0);
    assert!((other.loads[2] - other.rates[0] - other.rates[1]).abs() < 1e-12);
}

#[test]
fn a_flow_that_nothing_limits_is_named_by_every_entry() {
    let paths = || Paths::from_lists([vec![1], vec![0]]);
    let problem = Problem::new(vec![f64::INFINITY, 1.0], paths(), Linear::new(1.0).unwrap()).unwrap();
    assert_eq!(problem.check_limits(), Err(Error::Unlimited { flow: 1 }));
    assert_eq!(solve(&problem, &Ask::default()).err(), Some(Error::Unlimited { flow: 1 }));
    let fair = Problem::new(vec![f64::INFINITY, 1.0], paths(), AlphaFair::new(f64::INFINITY, 1.0).unwrap()).unwrap();
    assert_eq!(max_min(&fair), Err(Error::Unlimited { flow: 1 }));
    let capped = fair.with_flow_caps(vec![f64::INFINITY, 3.0]).unwrap();
    assert_eq!(max_min(&capped), Ok(vec![1.0, 3.0]));
}

#[test]
fn json_has_null_for_no_limit() {
    let problem = Problem::new(vec![f64::INFINITY, 1.0], Paths::from_lists([[0, 1]]), log()).unwrap();
    let text = problem.to_json().unwrap();
    assert!(text.contains("\"capacity\":[null,1.0]"), "{text}");
    assert_eq!(Problem::from_json(&text).unwrap().capacities(), problem.capacities());
    let net = Topology::from_edges("a b inf\nb c 2").unwrap();
    let delays = LinkAttribute::Numbers(vec![1.0, 1.0, f64::NAN, f64::NAN]);
    let net = net.with_attribute("delay", delays).unwrap();
    let text = serde_json::to_string(&net).unwrap();
    assert!(text.contains("\"capacity\":null") && text.contains("\"delay\":[1.0,1.0,null,null]"), "{text}");
    assert_eq!(serde_json::from_str::<Topology>(&text).unwrap(), net);
}

#[test]
fn an_attribute_that_no_link_has_is_left_out() {
    let net = Topology::from_edges("a b 1").unwrap();
    let some = net.clone().with_attribute("delay", LinkAttribute::Numbers(vec![1.0, f64::NAN])).unwrap();
    assert_ne!(some, net);
    for none in [LinkAttribute::Numbers(vec![f64::NAN; 2]), LinkAttribute::Texts(vec![String::new(); 2])] {
        assert_eq!(some.clone().with_attribute("delay", none).unwrap(), net);
    }
}

#[test]
fn an_attribute_that_is_no_weight_is_refused() {
    let net = Topology::from_edges("a b 1\nb c 2").unwrap();
    let labels = LinkAttribute::Texts(["x", "", "", ""].map(String::from).to_vec());
    let net = net.with_attribute("label", labels).unwrap();
    let net = net.with_attribute("delay", LinkAttribute::Numbers(vec![1.0, 1.0, 1.0, f64::NAN])).unwrap();
    for (name, message) in [
        ("dealy", "there is no link attribute \"dealy\", did you mean \"delay\"?; known: delay, label"),
        ("label", "link attribute \"label\" is text, expected numbers"),
        ("delay", "link 3 (c -> b) has no \"delay\", expected a number >= 0"),
    ] {
        assert_eq!(net.weight(name).unwrap_err().to_string(), message);
    }
    let short = net.with_attribute("delay", LinkAttribute::Numbers(vec![1.0]));
    assert_eq!(short.unwrap_err().to_string(), "attribute \"delay\" has 1 entries, expected 4, one per link");
}
