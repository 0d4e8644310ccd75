//! What several tests need.

use std::collections::BTreeMap;

use netnum_core::METHODS;
use netnum_core::price::Rule;

/// Events of a long churn: those of `NETNUM_EVENTS`.
pub(crate) fn long_churn() -> usize {
    std::env::var("NETNUM_EVENTS").map_or(100_000, |number| number.parse().expect("NETNUM_EVENTS is a number"))
}

/// The methods that move prices by a rule.
pub(crate) fn rules() -> impl Iterator<Item = &'static str> {
    let has_rule = |name: &&str| Rule::by_name(name, &BTreeMap::new(), 1.0).is_ok();
    METHODS.iter().map(|method| method.name).filter(has_rule)
}
