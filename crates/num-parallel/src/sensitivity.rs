//! Derivatives of many optima at once: independent, each by one thread.

use std::num::NonZeroUsize;

use netnum_core::internal::interrupt::Tokens;
use netnum_core::sensitivity::{AtKink, OutcomeChange, ParameterChange, Sensitivity};
use netnum_core::{Problem, Result, Solution};
use rayon::prelude::*;

use crate::threads::pool;

/// The derivative in every parameter of one function of each optimum, which is given by its own derivatives in rates,
/// prices and objective: [`Sensitivity::reverse`] of every problem, on `threads` threads. Answers come in the order of
/// the problems, one that has none with its error, and do not depend on `threads`.
///
/// # Errors
/// [`Error::Threads`](netnum_core::Error::Threads). What is wrong with a problem, a solution or a function is in its
/// own result: see [`Sensitivity::new`] and [`Sensitivity::reverse`].
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use netnum_core::sensitivity::{AtKink, OutcomeChange};
/// use netnum_core::{AlphaFair, Ask, Paths, Problem, solve};
///
/// // The rate of the first of two flows on links of capacity 1, 2 and 3: half of the capacity.
/// let (two, first) = (NonZeroUsize::new(2).unwrap(), OutcomeChange { rates: vec![1.0, 0.0], ..Default::default() });
/// let problem = |capacity| Problem::new(vec![capacity], Paths::from_lists([[0], [0]]), AlphaFair::proportional());
/// let problems = [problem(1.0)?, problem(2.0)?, problem(3.0)?];
/// let solutions = problems.iter().map(|problem| solve(problem, &Ask::default())).collect::<Result<Vec<_>, _>>()?;
/// let of: Vec<_> = problems.iter().zip(&solutions).map(|(problem, solution)| (problem, solution, &first)).collect();
/// for gradient in netnum_parallel::reverse_many(&of, AtKink::Refuse, two)? {
///     assert!((gradient?.capacities[0] - 0.5).abs() < 1e-12);
/// }
/// # Ok::<(), netnum_core::Error>(())
/// ```
pub fn reverse_many(
    of: &[(&Problem, &Solution, &OutcomeChange)],
    at_kink: AtKink,
    threads: NonZeroUsize,
) -> Result<Vec<Result<ParameterChange>>> {
    let (pool, tokens) = (pool(threads, of.len())?, Tokens::in_force());
    let reverse = |&(problem, solution, outcome): &(&Problem, &Solution, &OutcomeChange)| {
        tokens.clone().scope(|| {
            let mut found = Sensitivity::new(problem, solution)?.reverse(std::slice::from_ref(outcome), at_kink)?;
            Ok(found.swap_remove(0))
        })
    };
    // One at a time: the times of problems are independent.
    Ok(pool.install(|| of.par_iter().with_max_len(1).map(reverse).collect()))
}
