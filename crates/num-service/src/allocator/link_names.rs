//! Links of two networks are the same where their names are, in whatever order they come.

use rustc_hash::FxHashMap;

/// Of each old link its number among the new ones, none for one that is missing there; and what differs, if anything.
pub(super) fn compare(old: &[String], new: &[String]) -> (Vec<Option<u32>>, Option<String>) {
    let mut left: FxHashMap<_, _> = new.iter().zip(0..).collect();
    let places: Vec<_> = old.iter().map(|name| left.remove(name)).collect();
    let missing = old.iter().zip(&places).filter(|(_, place)| place.is_none()).map(|(name, _)| name);
    let added = new.iter().filter(|name| left.contains_key(name));
    let differences: Vec<_> = [some_of("missing", missing), some_of("new", added)].into_iter().flatten().collect();
    (places, (!differences.is_empty()).then(|| differences.join("; ")))
}

/// The first of some links, and how many others there are; none where there is none.
fn some_of<'a>(word: &str, mut links: impl Iterator<Item = &'a String>) -> Option<String> {
    let first: Vec<_> = links.by_ref().take(3).map(String::as_str).collect();
    let others = match links.count() {
        0 => String::new(),
        count => format!(" and {count} more"),
    };
    (!first.is_empty()).then(|| format!("{word}: {}{others}", first.join(", ")))
}
