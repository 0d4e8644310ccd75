//! The Python interface of netnum: conversions only. A formula here is in the wrong crate.
//!
//! | file | conversions |
//! |---|---|
//! | `error.rs` | core errors → Python exceptions |
//! | `numbers.rs` | array-likes → `Vec`, `Vec` → NumPy arrays without a copy |
//! | `detach.rs` | long calls without the GIL, with Ctrl-C and the exceptions of callbacks |
//! | `plain.rs` | options of policies, routings and methods as Python objects, and back |
//! | `progress_bar.rs` | the bar of `progress=True` |
//! | `by_name.rs` | dicts by the names of nodes → one number per link, flow or path |
//! | `path_forms.rs` | lists, matrices and names of nodes as paths |
//! | `paths.rs`, `problem.rs`, `certificate.rs`, `normalize.rs`, `max_min.rs` | the core's items of those names |
//! | `concurrent_flow.rs` | demands that are carried: the common fraction and the least utilization |
//! | `sensitivity.rs` | derivatives of the optimum |
//! | `ranks.rs` | solves over the ranks of a communicator |
//! | `topology/` | `Topology`, its nodes and links by name, ready-made networks |
//! | `allocator.rs` | the online allocator |
//! | `endpoint.rs` | the endpoint of the service, in builds with the feature `service` |
//! | `utility/` | a class for each family; `user.rs` makes a utility of a Python object |
//! | `sim/` | flow-level simulation: workloads, `simulate` and its report |
//! | `solve/` | `solve`, `solve_many`, `Solver` and their results |

mod all_paths;
mod allocator;
mod by_name;
mod certificate;
mod concurrent_flow;
mod detach;
#[cfg(all(feature = "service", target_os = "linux"))]
mod endpoint;
mod error;
mod hints;
mod max_min;
mod normalize;
mod numbers;
mod own_paths;
mod path_forms;
mod paths;
mod plain;
mod problem;
mod progress_bar;
mod ranks;
mod sensitivity;
mod sim;
mod solve;
mod topology;
mod utility;

/// Reuses the memory of a solve for the next one: arrays of a megabyte that come from the system each time take a fifth
/// of the time of a large solve.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// The part of netnum that is written in Rust. Use it as `netnum`.
#[pyo3::pymodule(gil_used = false)]
mod _core {
    use pyo3::prelude::*;

    #[pymodule_export]
    #[allow(non_upper_case_globals)]
    const __version__: &str = env!("CARGO_PKG_VERSION");

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        crate::numbers::load_numpy(module.py())?;
        crate::utility::add_classes(module)?;
        // `from ._core import *` takes the classes of `netnum`, and none of those of `netnum.sim`.
        let module_of = |thing: &Bound<'_, PyAny>| thing.getattr("__module__")?.extract::<String>();
        let all = module.dict().iter().filter(|(_, thing)| module_of(thing).is_ok_and(|of| of == "netnum"));
        module.setattr("__all__", all.map(|(name, _)| name).collect::<Vec<_>>())
    }

    #[pymodule_export]
    use crate::allocator::Allocator;
    #[pymodule_export]
    use crate::certificate::{Certificate, certify};
    #[pymodule_export]
    use crate::concurrent_flow::{concurrent_flow, min_utilization};
    #[cfg(all(feature = "service", target_os = "linux"))]
    #[pymodule_export]
    use crate::endpoint::Endpoint;
    #[pymodule_export]
    use crate::error::{MethodError, NumError, ProblemError, SensitivityError, UtilityError};
    #[pymodule_export]
    use crate::max_min::max_min;
    #[pymodule_export]
    use crate::normalize::{f_norm, fill, u_norm};
    #[pymodule_export]
    use crate::paths::Paths;
    #[pymodule_export]
    use crate::problem::Problem;
    #[pymodule_export]
    use crate::ranks::solve_part;
    #[pymodule_export]
    use crate::sensitivity::Sensitivity;
    #[pymodule_export]
    use crate::sim::{
        EndedFlows, Flows, Network, Packets, Policy, Report, Routing, Sizes, Split, Timeline, UpdateTraffic, Workload,
    };
    #[pymodule_export]
    use crate::sim::{all_to_all, incast, log_normal, permutation, policies, routings, simulate};
    #[pymodule_export]
    use crate::solve::{
        Infeasibility, PriorityClass, Progress, Solution, Solutions, Solver, Trace, methods, solve, solve_chunk,
        solve_many,
    };
    #[pymodule_export]
    use crate::topology::{Topology, fat_tree, from_edges, leaf_spine, parking_lot, single_link, star};
    #[pymodule_export]
    use crate::utility::{Utility, check_utility};
}
