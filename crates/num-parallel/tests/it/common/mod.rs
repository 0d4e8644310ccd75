//! What several tests need.

use std::collections::BTreeMap;

use netnum_core::METHODS;
use netnum_core::price::Rule;

/// The methods that move prices by a rule.
pub(crate) fn rules() -> impl Iterator<Item = &'static str> {
    let has_rule = |name: &&str| Rule::by_name(name, &BTreeMap::new(), 1.0).is_ok();
    METHODS.iter().map(|method| method.name).filter(has_rule)
}
