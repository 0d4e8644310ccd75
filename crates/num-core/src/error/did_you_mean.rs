//! The known name that a misspelled one is nearest to.

/// `, did you mean …?` when a known name, all of which are lower case, is near; else nothing.
pub fn did_you_mean(name: &str, known: &[&str]) -> String {
    let name = name.to_lowercase();
    let scored = known.iter().map(|&other| (strsim::jaro_winkler(&name, other), other));
    match scored.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((score, other)) if score > 0.7 => format!(", did you mean {other:?}?"),
        _ => String::new(),
    }
}
