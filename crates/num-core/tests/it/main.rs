//! Tests of the mathematics through the public face, one program: every file is a module.

mod any_problem;
mod auto;
mod bad_input;
mod cases;
mod certificates;
mod changed_problems;
mod closed_forms;
mod common;
mod concurrent_flow;
mod flow_caps;
mod interior_point;
mod k_shortest;
#[cfg(feature = "ndarray")]
mod matrices;
mod max_min;
mod max_min_again;
mod max_min_prices;
mod max_min_random;
mod max_min_several_paths;
mod mixed_alpha;
mod newton;
mod normalizers;
mod path_split;
mod price_rules;
mod prices;
mod ranks;
mod sensitivity;
mod shared_links;
mod solver;
mod stopped;
mod topology;
mod units;
mod unlimited;
mod updates;
mod utility_laws;
mod xwi;
