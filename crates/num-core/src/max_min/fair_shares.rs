//! The fair shares of a problem's flows: weights where all have one, curves otherwise.

use crate::error::{Error, Result};
use crate::interrupt::{self, Pacer};
use crate::problem::Problem;
use crate::utility::FairShare;
use crate::water_fill::SLICE;

/// Who asks for fair shares, in errors.
pub(super) const METHOD: &str = "max-min";
pub(super) const CERTIFICATE: &str = "certify";

/// The weight of every path, if each flow has one path, a weight and no floor.
///
/// # Errors
/// [`Error::Unsupported`] for a utility without a fair share, [`Error::Utility`] for a bad weight, [`Error::Stopped`].
pub(super) fn path_weights(problem: &Problem, caller: &str) -> Result<Option<Vec<f64>>> {
    let of_flow = flow_weights(problem, caller)?;
    Ok(match problem.pairs_flows_with_paths() {
        true => of_flow,
        false => of_flow.map(|of_flow| problem.group().iter().map(|&flow| of_flow[flow as usize]).collect()),
    })
}

/// The weight of every flow, if each has one and no floor.
fn flow_weights(problem: &Problem, caller: &str) -> Result<Option<Vec<f64>>> {
    if problem.has_flow_floors() {
        each_share(problem, caller, |_, _| ())?;
        return Ok(None);
    }
    let (mut weights, mut of_block) = (vec![0.0; problem.flows()], Vec::new());
    for block in problem.blocks() {
        let flows = block.flows.len();
        // Flows are in order: a block of all of them has flow f at place f.
        let out = if flows == weights.len() { &mut weights } else { &mut of_block };
        out.resize(flows, 0.0);
        for (start, out) in (0..).step_by(SLICE).zip(out.chunks_mut(SLICE)) {
            interrupt::check()?;
            if !block.utility.fair_weights_into(start..start + out.len(), out) {
                // One has a curve, or none has a fair share, which is an error.
                each_share(problem, caller, |_, _| ())?;
                return Ok(None);
            }
            // All of them first, in a loop that is vectorized.
            if !out.iter().fold(true, |all, &weight| all & is_weight(weight)) {
                let place = out.iter().position(|&weight| !is_weight(weight)).expect("one is not");
                return Err(wrong_weight(block.flows[start + place] as usize, out[place]));
            }
        }
        if flows < weights.len() {
            block.flows.iter().zip(&of_block).for_each(|(&flow, &weight)| weights[flow as usize] = weight);
        }
    }
    Ok(Some(weights))
}

fn is_weight(weight: f64) -> bool {
    (weight > 0.0) & (weight < f64::INFINITY)
}

fn wrong_weight(flow: usize, weight: f64) -> Error {
    Error::Utility { flow, what: format!("the weight of its fair share is {weight}, expected a finite number > 0") }
}

/// The fair share of every flow, at least its floor and at most its cap.
///
/// # Errors
/// Those of [`path_weights`].
pub(super) fn flow_shares<'a>(problem: &'a Problem, caller: &str) -> Result<Vec<FairShare<'a>>> {
    let mut of_flow = vec![FairShare::weight(1.0); problem.flows()];
    each_share(problem, caller, |flow, share| {
        of_flow[flow] = share.at_most(problem.flow_cap(flow)).at_least(problem.flow_floor(flow));
    })?;
    Ok(of_flow)
}

/// Calls `take` with every flow and its fair share.
fn each_share<'a>(problem: &'a Problem, caller: &str, mut take: impl FnMut(usize, FairShare<'a>)) -> Result<()> {
    let mut pacer = Pacer::new();
    for block in problem.blocks() {
        for (place, &flow) in block.flows.iter().enumerate() {
            pacer.did(1)?;
            let flow = flow as usize;
            let share = block.utility.fair_share(place).ok_or_else(|| {
                let kind = block.utility.spec(place).map_or("user-defined".into(), |spec| spec.kind);
                let what = format!("flow {flow}, whose {kind} utility has no fair share");
                let instead = "use solve(), or AlphaFair or BandwidthFunction for every flow";
                Error::Unsupported { method: caller.into(), what, instead }
            })?;
            if let Some(weight) = share.as_weight().filter(|&weight| !is_weight(weight)) {
                return Err(wrong_weight(flow, weight));
            }
            take(flow, share);
        }
    }
    Ok(())
}
