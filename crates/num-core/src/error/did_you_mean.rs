//! The known name that a misspelled one is nearest to.

/// `, did you mean …?` when a known name, all of which are lower case, is near; else nothing.
pub fn did_you_mean(name: &str, known: &[&str]) -> String {
    let name = name.to_lowercase();
    // Two letters that changed places leave a short name, such as "nde", without common ones at their places.
    let slips = |other: &str| other.len() > 2 && strsim::osa_distance(&name, other) <= 1;
    let score = |other| strsim::jaro_winkler(&name, other).max(if slips(other) { 0.9 } else { 0.0 });
    let scored = known.iter().map(|&other| (score(other), other));
    match scored.max_by(|one, other| one.0.total_cmp(&other.0)) {
        Some((score, other)) if score > 0.7 => format!(", did you mean {other:?}?"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_is_near_in_short_names_too_and_other_words_are_not() {
        let known = ["auto", "ned", "fast-ned", "rcp", "f-norm", "u-norm"];
        let slips = [("nde", "ned"), ("NED", "ned"), ("rpc", "rcp"), ("fastned", "fast-ned"), ("F-NORM", "f-norm")];
        for (name, near) in slips {
            assert_eq!(did_you_mean(name, &known), format!(", did you mean {near:?}?"));
        }
        for far in ["zzz", "", "d"] {
            assert_eq!(did_you_mean(far, &known), "");
        }
    }
}
