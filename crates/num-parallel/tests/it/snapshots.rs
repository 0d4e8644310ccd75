//! Snapshots: what was damaged is refused by the name of its part, or gives an allocator that works.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use crate::common::rules;
use netnum_core::*;
use netnum_parallel::{Allocator, AllocatorSettings, FlowId, FlowPaths, Precision};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};

fn one() -> NonZeroUsize {
    NonZeroUsize::MIN
}

/// An allocator in the middle of its life: flows have come, changed and gone, links have failed, a layout was made.
fn in_use(method: &str, precision: Precision, normalization: Normalization, seed: u64) -> Allocator {
    let net = Topology::leaf_spine(3, 4, 2, 10.0, 20.0).unwrap();
    let settings = AllocatorSettings::default().with_normalizer(Some(normalization)).with_headroom(0.1);
    let capacities = net.capacities().to_vec();
    let mut allocator =
        Allocator::by_name(capacities, method, &BTreeMap::new(), settings.with_precision(precision), one()).unwrap();
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let (sources, destinations) = net.random_pairs(90, seed).unwrap();
    let paths = net.ecmp(&sources, &destinations, seed).unwrap();
    // Every other path uses a half or twice.
    let of = |path: usize, hop: usize| if path.is_multiple_of(2) { 1.0 } else { [0.5, 2.0, 1.0][hop % 3] };
    let coefficients = (0..paths.len()).flat_map(|path| (0..paths.links(path).len()).map(move |hop| of(path, hop)));
    let (indptr, indices) = (paths.indptr().to_vec(), paths.indices().to_vec());
    let paths = Paths::with_coefficients(indptr, indices, coefficients.collect()).unwrap();
    let utility = |flow: usize| PowerLaw {
        weight: 1.0 + flow as f64,
        alpha: if method == "rcp" { 1.0 } else { [1.0, 2.0][flow % 2] },
        cap: [f64::INFINITY, 3.0][flow % 3 / 2],
        floor: [0.0, 0.05][flow % 4 / 3],
    };
    let utilities: Vec<PowerLaw> = (0..90).map(utility).collect();
    let ids = allocator.start_all(&paths, &utilities).unwrap();
    let two = KShortest::new(2);
    let (two, group) = net.k_shortest_paths(&sources[..12], &destinations[..12], &two).unwrap();
    let caps: Vec<f64> = (0..two.len()).map(|path| [f64::INFINITY, 4.0][path % 5 / 4]).collect();
    let flows = FlowPaths::grouped(&two, &group).unwrap().with_rate_caps(&caps).unwrap();
    let laws: Vec<PowerLaw> = (0..12).map(|flow| utility(flow).with_floor(0.0)).collect();
    allocator.start_all(flows, &laws).unwrap();
    (0..3).for_each(|_| allocator.tick().unwrap());
    allocator.end_all(&ids[..rng.random_range(1..80)]).unwrap();
    allocator.set_capacities(&[0, 3], &[0.0, 5.0]).unwrap();
    allocator.tick().unwrap();
    let _ = allocator.updates();
    allocator.start(paths.links(3), utility(3)).unwrap();
    allocator
}

/// Every value inside, by the steps that lead there.
fn places(value: &Value, here: &mut Vec<String>, found: &mut Vec<Vec<String>>) {
    found.push(here.clone());
    let mut inside = |step: String, value: &Value| {
        here.push(step);
        places(value, here, found);
        here.pop();
    };
    match value {
        Value::Array(list) => list.iter().enumerate().for_each(|(place, value)| inside(place.to_string(), value)),
        Value::Object(fields) => fields.iter().for_each(|(name, value)| inside(name.clone(), value)),
        _ => {}
    }
}

fn at<'a>(value: &'a mut Value, place: &[String]) -> &'a mut Value {
    place.iter().fold(value, |value, step| match value {
        Value::Array(list) => &mut list[step.parse::<usize>().unwrap()],
        Value::Object(fields) => fields.get_mut(step).unwrap(),
        _ => panic!("nothing inside"),
    })
}

/// Changes one thing.
fn damage(value: &mut Value, rng: &mut ChaCha8Rng) {
    let mut found = Vec::new();
    places(value, &mut Vec::new(), &mut found);
    let place = &found[rng.random_range(0..found.len())];
    let other = found[rng.random_range(0..found.len())].clone();
    let numbers = [
        json!(-1),
        json!(0),
        json!(1),
        json!(2),
        json!(7),
        json!(0.5),
        json!(-0.5),
        json!(1e300),
        json!(-1e300),
        json!(1e-300),
        json!(5e-324),
        json!(1e100),
        json!(u32::MAX),
        json!(1u64 << 32),
        json!(u64::MAX),
        json!(1 << 31),
        json!(40_000),
        json!(1_000_000),
        json!(null),
        json!(true),
        json!("x"),
        json!([]),
        json!({}),
    ];
    match (rng.random_range(0..8), at(value, place)) {
        (0, Value::Array(list)) if !list.is_empty() => drop(list.remove(rng.random_range(0..list.len()))),
        (1, Value::Array(list)) if !list.is_empty() => list.push(list[rng.random_range(0..list.len())].clone()),
        (2, Value::Array(list)) if !list.is_empty() => {
            let (one, other) = (rng.random_range(0..list.len()), rng.random_range(0..list.len()));
            list.swap(one, other);
        }
        (0 | 1, Value::Object(fields)) => {
            let name = fields.keys().nth(rng.random_range(0..fields.len().max(1))).cloned();
            name.map(|name| fields.remove(&name));
        }
        (2, Value::Object(fields)) => drop(fields.insert("another".into(), json!(1))),
        (3, Value::Array(list)) => list.truncate(list.len() / 2),
        (4, Value::Number(number)) => {
            let changed = number.as_f64().unwrap() * [-1.0, 0.5, 1.5, 1e3, 1e-3][rng.random_range(0..5)];
            *at(value, place) = if changed.fract() == 0.0 { json!(changed as i64) } else { json!(changed) };
        }
        (5, _) => {
            let copy = at(value, &other).clone();
            *at(value, place) = copy;
        }
        (_, value) => *value = numbers[rng.random_range(0..numbers.len())].clone(),
    }
}

/// Everything that one can do with an allocator; after a tick no link is over its capacity, to a tolerance.
fn use_it(allocator: &mut Allocator, tolerance: Option<f64>) {
    for _ in 0..2 {
        allocator.tick().unwrap();
        let mut loads = vec![0.0; allocator.capacities().len()];
        for (id, rate) in allocator.rates() {
            assert!(rate.is_finite() && rate >= 0.0, "{rate}");
            let (paths, rates) = (allocator.paths(id).unwrap(), allocator.path_rates(id).unwrap());
            assert!((rates.iter().sum::<f64>() - rate).abs() <= 1e-6 * rate);
            for (path, rate) in rates.into_iter().enumerate() {
                paths.entries(path).for_each(|(link, a)| loads[link as usize] += a * rate);
            }
        }
        for (load, capacity) in loads.iter().zip(allocator.capacities()) {
            let fits = tolerance.is_none_or(|tolerance| *load <= capacity * (1.0 + tolerance));
            assert!(fits, "{load:e} of {capacity}");
        }
    }
    let _ = allocator.updates();
    let ids: Vec<FlowId> = allocator.rates().into_iter().map(|(id, _)| id).collect();
    if allocator.capacities().len() > 1 {
        let _ = allocator.start(&[0, 1], PowerLaw::log(1.0));
        let _ = allocator.set_capacities(&[0, 1], &[3.0, 0.0]);
        allocator.respond().unwrap();
    }
    if let Some(&id) = ids.first() {
        let worth = allocator.utility(id).unwrap();
        let _ = allocator.change(id, None, Some(PowerLaw { weight: 1.25 * worth.weight, ..worth }));
    }
    allocator.end_all(&ids).unwrap();
    allocator.tick().unwrap();
    allocator.to_json().unwrap();
}

/// Refused, or an allocator that works; returns whether it is one.
fn is_refused_or_works(text: &str, tolerance: f64) -> bool {
    match Allocator::from_json(text, one()) {
        Ok(mut allocator) => {
            let value: Value = serde_json::from_str(text).unwrap();
            // Damage may leave an allocator without a normalizer, whose rates are as demanded.
            let is_normalized = !value["settings"]["normalizer"].is_null();
            use_it(&mut allocator, Some(tolerance).filter(|_| is_normalized));
            true
        }
        Err(Error::Snapshot(what)) => {
            assert!(!what.is_empty());
            false
        }
        Err(other) => panic!("{other}: {text}"),
    }
}

fn damaged_by_the_thousand(times: usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(20);
    let (mut works, mut refused) = (0, 0);
    for (number, method) in rules().enumerate() {
        for precision in [Precision::F64, Precision::F32] {
            let normalization = NORMALIZERS[number % NORMALIZERS.len()].make;
            let tolerance = if precision == Precision::F32 { 1e-4 } else { 1e-12 };
            let text = in_use(method, precision, normalization, number as u64).to_json().unwrap();
            assert!(is_refused_or_works(&text, tolerance));
            let whole: Value = serde_json::from_str(&text).unwrap();
            for _ in 0..times {
                let mut value = whole.clone();
                (0..rng.random_range(1..3)).for_each(|_| damage(&mut value, &mut rng));
                *(if is_refused_or_works(&value.to_string(), tolerance) { &mut works } else { &mut refused }) += 1;
            }
            for _ in 0..times / 4 {
                let mut bytes = text.clone().into_bytes();
                match rng.random_range(0..3) {
                    0 => bytes.truncate(rng.random_range(0..bytes.len())),
                    1 => drop(bytes.remove(rng.random_range(0..bytes.len()))),
                    _ => {
                        let place = rng.random_range(0..bytes.len());
                        bytes[place] = b"0123456789-.,[]{}\"e"[rng.random_range(0..19)];
                    }
                }
                is_refused_or_works(&String::from_utf8(bytes).unwrap(), tolerance);
            }
        }
    }
    assert!(
        works > times && refused > times,
        "{works} work and {refused} are refused: what is damaged is not drawn well"
    );
}

#[test]
fn a_damaged_snapshot_is_refused_or_gives_an_allocator_that_works() {
    damaged_by_the_thousand(150);
}

#[test]
#[ignore = "slow"]
fn none_of_a_hundred_thousand_damaged_snapshots_panics() {
    damaged_by_the_thousand(8000);
}

#[test]
fn what_is_wrong_is_named() {
    let mut allocator =
        Allocator::by_name(vec![10.0, 10.0], "ned", &BTreeMap::new(), Default::default(), one()).unwrap();
    allocator.start(&[0, 1], PowerLaw::log(1.0)).unwrap();
    allocator.tick().unwrap();
    let json = allocator.to_json().unwrap();
    let refusal = |text: &str| match Allocator::from_json(text, one()) {
        Ok(_) => panic!("{text} passed"),
        Err(error) => error.to_string(),
    };
    let broken = |from: &str, to: &str| {
        assert!(json.contains(from), "{from} is not in {json}");
        refusal(&json.replacen(from, to, 1))
    };
    for (from, to, named) in [
        ("{", "[", ""),
        ("\"format\":\"netnum-allocator\"", "\"format\":\"x\"", "its format is \"x\", expected \"netnum-allocator\""),
        ("\"format\":\"netnum-allocator\",", "", "no format and version: it is of an earlier netnum"),
        ("\"version\":8", "\"version\":7", "its version is 7, and this netnum reads version 8"),
        ("\"rule\":{\"ned\":", "\"rule\":{\"newton\":", "unknown variant `newton`"),
        ("\"rule\":{\"ned\":", "\"rule\":{\"fgm\":", "missing field"),
        ("\"precision\":\"f64\"", "\"precision\":\"f16\"", "unknown variant `f16`, expected `f64` or `f32`"),
        ("\"gamma\":0.4", "\"gamma\":-0.4", "rule: gamma is -0.4, expected a finite number > 0"),
        ("\"headroom\":0.0", "\"headroom\":1.0", "settings: headroom is 1, expected"),
        ("\"headroom\":0.0", "\"headroom\":0.5", "capacities: link 0 has 10, and its settings do not leave 9.9"),
        ("\"slot\":0", "\"slot\":7", "flows: slot 7"),
        ("\"path\":[0,1]", "\"path\":[0,9]", "names link 9"),
        ("\"path\":[0,1]", "\"path\":[0,1],\"coefficients\":[2.0]", "has 1 coefficients, expected 2, one per link"),
        ("\"path\":[0,1]", "\"path\":[0,1],\"coefficients\":[2.0,-1]", "has coefficient -1 at link 1"),
        ("\"weight\":1.0", "\"weight\":-1.0", "flows: flow 4294967296 has weight -1"),
        ("\"sent\":[", "\"sent\":[]},{\"", ""),
        ("\"generation\":1", "\"generation\":2", "flows: slot 0 cannot be of generation 2"),
        ("\"free\":[]", "\"free\":[[1,1]]", "free: slot 1 cannot be of generation 1"),
        ("\"free\":[]", "\"free\":[[1,2]]", "sent has 1 entries, expected 2, one per slot"),
        ("\"sent\":[0.0]", "\"sent\":[]", "sent has 0 entries"),
        ("\"sent\":[0.0]", "\"sent\":[-1.0]", "sent: slot 0 has -1"),
        ("\"sampled_of\":0", "\"sampled_of\":40000", "sample and sampled_of: 0 paths, of 40000, and 1 slots"),
        ("\"fresh\":[]", "\"fresh\":[[1,0.0],[0,0.0]]", "fresh: its links are not there"),
        ("\"fresh\":[]", "\"fresh\":[[1,-1e300]]", "fresh: link 1 has price -1e300"),
        ("\"nominal\":[9.9", "\"nominal\":[3.0", "nominal: link 0 has capacity 9.9 and nominal 3"),
    ] {
        let refused = broken(from, to);
        assert!(refused.starts_with("not a snapshot: ") && refused.contains(named), "{refused}, expected {named}");
    }
    // Of netnum 0.1.0, before formats had numbers.
    let old = "{\"engine\":{\"bits\":64,\"rule\":{\"gamma\":0.4}},\"settings\":{},\"capacities\":[1.0]}";
    assert!(refusal(old).contains("earlier netnum"), "{}", refusal(old));
    let fields: Value = serde_json::from_str(&json).unwrap();
    assert!(Allocator::from_json(&fields.to_string(), one()).is_ok(), "fields in another order");
    let mut idle = Allocator::by_name(
        vec![],
        "gradient",
        &BTreeMap::new(),
        AllocatorSettings::default().with_precision(Precision::F32),
        one(),
    );
    let idle = idle.as_mut().unwrap();
    idle.tick().unwrap();
    let restored = Allocator::from_json(&idle.to_json().unwrap(), one()).unwrap();
    assert_eq!((restored.method(), restored.settings().precision, restored.flows()), ("gradient", Precision::F32, 0));
}

/// Gives up nothing to a rule that cannot be.
#[test]
fn a_rule_with_parameters_out_of_range_is_refused() {
    use netnum_core::price::{FastNed, Gradient, Ned, NewtonLike, Rcp, Rule};
    fn refusal(rule: impl Into<Rule>) -> String {
        let refused = Allocator::new(vec![1.0], rule, Default::default(), one());
        refused.map(|_| ()).unwrap_err().to_string()
    }
    for gamma in [f64::NAN, f64::INFINITY, 0.0, -1.0] {
        let expected = format!("gamma is {gamma}, expected a finite number > 0");
        assert_eq!(refusal(Ned::new(gamma)), expected);
        assert_eq!(refusal(FastNed::new(gamma)), expected);
        assert_eq!(refusal(NewtonLike::new(gamma, 0.5)), expected);
        assert_eq!(refusal(Gradient::new(gamma, 0.0)), expected);
        assert_eq!(refusal(Rcp::new(gamma, 1.0)), expected.replace("gamma", "a"));
    }
    assert_eq!(refusal(NewtonLike::new(0.5, f64::NAN)), "smoothing is NaN, expected a number >= 0 and < 1");
    assert_eq!(refusal(Gradient::new(1.0, f64::NAN)), "queue is NaN, expected a finite number >= 0");
    assert!(refusal(Gradient::new(1.0, 0.0).with_step(f64::NAN)).starts_with("step is NaN"));
}
