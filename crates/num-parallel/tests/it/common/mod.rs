//! What several tests need.

use std::collections::BTreeMap;

use netnum_core::METHODS;
use netnum_core::price::Rule;
use netnum_core::price::RuleSetup;

/// The methods that move prices by a rule.
pub(crate) fn rules() -> impl Iterator<Item = &'static str> {
    let has_rule = |name: &&str| Rule::by_name(name, &BTreeMap::new(), &RuleSetup::default()).is_ok();
    METHODS.iter().map(|method| method.name).filter(has_rule)
}
