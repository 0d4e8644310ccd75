//! The laws of utilities, for every family and for a user's own.

use std::borrow::Cow;

use crate::common::{Logarithmic, bandwidth_function, decades};
use netnum_core::FAMILIES;
use netnum_core::internal::Spec;
use netnum_core::*;
use proptest::prelude::*;

proptest! {
    #[test]
    fn alpha_fair_keeps_the_laws(alpha in prop_oneof![Just(1.0), 0.05f64..12.0], weight in decades(-6, 6)) {
        let utility = AlphaFair::new(alpha, weight).unwrap();
        prop_assert_eq!(utility_laws(&utility, 0, weight), Ok(()));
    }

    #[test]
    fn min_fct_keeps_the_laws(size in decades(-6, 6), epsilon in 0.05f64..0.95) {
        prop_assert_eq!(utility_laws(&MinFct::new(size, epsilon).unwrap(), 0, 1.0), Ok(()));
    }

    #[test]
    fn linear_keeps_the_laws(weight in decades(-6, 6)) {
        prop_assert_eq!(utility_laws(&Linear::new(weight).unwrap(), 0, 1.0), Ok(()));
    }

    #[test]
    fn bandwidth_functions_keep_the_laws(utility in bandwidth_function(), scale in decades(-2, 2)) {
        prop_assert_eq!(utility_laws(&utility, 0, scale), Ok(()));
    }

    #[test]
    fn every_kind_that_a_file_may_name_keeps_the_laws_wherever_it_takes_its_parameters(
        which in 0usize..100, values in prop::collection::vec(prop_oneof![0.05f64..0.95, 0.05f64..12.0], 4),
    ) {
        let families: Vec<_> = FAMILIES.iter().collect();
        let family = families[which % families.len()];
        let parameters = (family.options)().into_iter().filter(|parameter| parameter.name != "scale").zip(values);
        let spec = parameters.fold(Spec::of_kind(family.name), |spec, (parameter, value)| match parameter.name {
            Cow::Borrowed("breakpoints") => spec.with_breakpoints(vec![[0.0, 0.0], [1.0, value]]),
            Cow::Borrowed(name) => spec.with(name, value),
            Cow::Owned(name) => panic!("{name} of {}", family.name),
        });
        match (family.make)(&[spec]) {
            Ok(utility) => prop_assert_eq!(utility_laws(&*utility, 0, 1.0), Ok(()), "{}", family.name),
            Err(Error::Parameter { .. }) => return Err(TestCaseError::reject("out of range")),
            Err(error) => prop_assert!(false, "{}: {error}", family.name),
        }
    }

    #[test]
    fn a_users_own_keeps_the_laws(weight in decades(-6, 6), scale in decades(-6, 6)) {
        prop_assert_eq!(utility_laws(&Logarithmic { weight, scale }, 0, scale), Ok(()));
    }

    #[test]
    fn a_gain_is_the_difference_of_two_values(
        alpha in prop_oneof![Just(1.0), 0.05f64..5.0], from in decades(-2, 2), to in decades(-2, 2),
    ) {
        let utility = AlphaFair::new(alpha, 1.3).unwrap();
        let (gain, low, high) = (utility.gain(0, from, to), utility.value(0, from), utility.value(0, to));
        prop_assert!((gain - (high - low)).abs() <= 1e-9 * (low.abs() + high.abs()), "{gain} against {}", high - low);
    }

    #[test]
    fn a_gain_along_a_bandwidth_function_adds_up(
        utility in bandwidth_function(), low in decades(-2, 1), middle in decades(-2, 1), high in decades(-2, 1),
    ) {
        let [one, two, three] = { let mut rates = [low, middle, high]; rates.sort_by(f64::total_cmp); rates };
        let whole = utility.gain(0, one, three);
        let parts = utility.gain(0, one, two) + utility.gain(0, two, three);
        prop_assert!((whole - parts).abs() <= 1e-9 * (1e-300 + whole.abs()), "{whole} against {parts}");
    }
}

#[test]
fn every_kind_that_a_file_may_name_keeps_the_laws_and_is_written_as_it_was_read() {
    let written = |spec: &Spec| (FAMILIES.get(&spec.kind).unwrap().make)(std::slice::from_ref(spec)).unwrap();
    for family in FAMILIES {
        let spec = (family.options)().into_iter().fold(Spec::of_kind(family.name), |spec, parameter| {
            match parameter.name {
                // It is given in place of the weight.
                Cow::Borrowed("scale") => spec,
                Cow::Borrowed("breakpoints") => spec.with_breakpoints(vec![[0.0, 0.0], [1.0, 2.0]]),
                Cow::Borrowed(name) => spec.with(name, 0.5),
                Cow::Owned(name) => panic!("{name} of {}", family.name),
            }
        });
        let utility = written(&spec);
        assert_eq!(utility.spec(0), Some(spec));
        if utility.curvature() != Curvature::MaxMin {
            assert_eq!(utility_laws(&*utility, 0, 1.0), Ok(()), "{}", family.name);
        }
    }
    let scaled = AlphaFair::with_scale(2.0, 1.5).unwrap().spec(0).unwrap();
    assert_eq!(written(&scaled).spec(0), Some(scaled));
}

/// Answers of a real family, one of them bent.
#[derive(Debug)]
struct Broken(AlphaFair, &'static str);

impl Utility for Broken {
    fn value(&self, flow: usize, rate: f64) -> f64 {
        if self.1 == "value" { 2.0 * self.0.value(flow, rate) } else { self.0.value(flow, rate) }
    }
    fn marginal(&self, flow: usize, rate: f64) -> f64 {
        match self.1 {
            "negative" => -1.0,
            "convex" => rate,
            _ => self.0.marginal(flow, rate),
        }
    }
    fn demand(&self, flow: usize, price: f64) -> f64 {
        if self.1 == "demand" { 1.1 * self.0.demand(flow, price) } else { self.0.demand(flow, price) }
    }
    fn gain(&self, flow: usize, from: f64, to: f64) -> f64 {
        if self.1 == "gain" { 0.0 } else { self.0.gain(flow, from, to) }
    }
    fn saturation(&self, _flow: usize) -> f64 {
        if self.1 == "saturation" { 10.0 } else { f64::INFINITY }
    }
    fn demand_slope(&self, flow: usize, price: f64) -> f64 {
        match self.1 {
            "sign" => -self.0.demand_slope(flow, price),
            "slope" => 2.0 * self.0.demand_slope(flow, price),
            _ => self.0.demand_slope(flow, price),
        }
    }
}

#[test]
fn a_broken_law_is_named() {
    let cases = [
        ("value", "the value rises by"),
        ("negative", "expected a number >= 0"),
        ("convex", "the marginal rises from"),
        ("demand", "the demand at price"),
        ("gain", "the gain from rate"),
        ("saturation", "it is saturated at rate"),
        ("sign", "expected a number <= 0"),
        ("slope", "the demand slope at price"),
    ];
    for (what, message) in cases {
        let utility = Broken(AlphaFair::new(2.0, 1.0).unwrap(), what);
        let error = utility_laws(&utility, 0, 1.0).unwrap_err().to_string();
        assert!(error.starts_with("the utility of flow 0 is broken: ") && error.contains(message), "{what}: {error}");
    }
    assert_eq!(utility_laws(&Broken(AlphaFair::new(2.0, 1.0).unwrap(), "nothing"), 0, 1.0), Ok(()));
    let error = utility_laws(&AlphaFair::proportional(), 0, 0.0).unwrap_err().to_string();
    assert_eq!(error, "scale is 0, expected a finite number > 0");
}

/// −(x − s)²/2: worth most at the rate s, and less beyond, where U' is below 0. By how much is a factor.
#[derive(Debug)]
struct Peak(f64, f64);

impl Utility for Peak {
    fn value(&self, _flow: usize, rate: f64) -> f64 {
        -(rate - self.0).powi(2) / 2.0
    }
    fn marginal(&self, _flow: usize, rate: f64) -> f64 {
        if rate > self.0 { self.1 * (self.0 - rate) } else { self.0 - rate }
    }
    fn saturation(&self, _flow: usize) -> f64 {
        self.0
    }
}

#[test]
fn beyond_the_saturation_a_marginal_may_be_below_zero_for_the_laws_and_for_a_solve() {
    for beyond in [0.0, 1.0, 1e6] {
        assert_eq!(utility_laws(&Peak(5.0, beyond), 0, 1.0), Ok(()), "{beyond}");
        let rates = |capacity: f64| {
            let problem = Problem::new(vec![capacity], Paths::from_lists([[0], [0]]), Peak(5.0, beyond)).unwrap();
            let solution = solve(&problem, &Ask::default()).unwrap();
            assert_eq!(solution.status, Status::Optimal, "{beyond}: {solution}");
            solution.flow_rates
        };
        for (capacity, expected) in [(100.0, 5.0), (4.0, 2.0)] {
            assert!(rates(capacity).iter().all(|rate| (rate - expected).abs() < 1e-2), "{:?}", rates(capacity));
        }
    }
    let error = utility_laws(&Peak(5.0, -1.0), 0, 1.0).unwrap_err().to_string();
    assert!(error.contains("it is saturated at rate 5e0, but the marginal at"), "{error}");
}
