//! Laws of utilities.

use crate::error::{Error, Result};
use crate::utility::{Curvature, Utility};

/// Checks the laws that every method relies on, for one flow, at rates over twelve decades around `scale`:
///
/// 1. U' is not negative, and does not increase with the rate (U is concave);
/// 2. U rises by between U'(x') and U'(x) times the step from x to x' (value and marginal fit together);
/// 3. [`gain`](Utility::gain) is the difference of two values, and beyond the [saturation](Utility::saturation) U' is 0
///    or less;
/// 4. the demand at price U'(x) is x (demand inverts marginal), lies within 0 … saturation at any price, and does not
///    increase with the price;
/// 5. the demand slope is not positive, and agrees with finite differences of the demand.
///
/// Laws 4 and 5 do not hold for linear utilities, whose demand is not a single number, and none of max-min fairness,
/// which has no values.
///
/// # Errors
/// [`Error::Utility`] naming the law that is broken, with the numbers that show it; [`Error::Setting`] for a scale that
/// is not a finite number > 0.
pub fn utility_laws(utility: &dyn Utility, flow: usize, scale: f64) -> Result<()> {
    let broken = |what: String| Err(Error::Utility { flow, what });
    if !(scale.is_finite() && scale > 0.0) {
        return Err(Error::setting("scale", scale, "a finite number > 0"));
    }
    if utility.curvature() == Curvature::MaxMin {
        return Ok(());
    }
    let saturation = utility.saturation(flow);
    let rates: Vec<f64> =
        (-24..=24).map(|k| scale * 10f64.powf(f64::from(k) / 4.0)).take_while(|&x| x < saturation).collect();
    for &rate in &rates {
        let marginal = utility.marginal(flow, rate);
        if marginal.is_nan() || marginal < 0.0 {
            return broken(format!("the marginal at rate {rate:e} is {marginal:e}, expected a number >= 0"));
        }
    }
    for pair in rates.windows(2) {
        let (one, other) = (pair[0], pair[1]);
        let (steep, flat) = (utility.marginal(flow, one), utility.marginal(flow, other));
        if flat > steep * (1.0 + 1e-9) {
            return broken(format!("the marginal rises from {steep:e} at rate {one:e} to {flat:e} at {other:e}"));
        }
        let rise = utility.value(flow, other) - utility.value(flow, one);
        let (most, least) = (steep * (other - one), flat * (other - one));
        let rounding = 1e-9 * most + 1e-12 * (utility.value(flow, one).abs() + utility.value(flow, other).abs());
        if !(rise <= most + rounding && rise >= least - rounding) {
            return broken(format!(
                "from rate {one:e} to {other:e} the value rises by {rise:e}, but its marginals {steep:e} and {flat:e} \
                 allow {least:e} to {most:e}"
            ));
        }
        let gain = utility.gain(flow, one, other);
        if (gain - rise).abs() > rounding {
            return broken(format!(
                "the gain from rate {one:e} to {other:e} is {gain:e}, but the value rises by {rise:e}"
            ));
        }
    }
    if saturation.is_finite() {
        // More is never given: that it would be worth less, and not just nothing, does no harm.
        let (rate, end) = (1.01 * saturation, utility.marginal(flow, 1.01 * saturation));
        if end.is_nan() || end > 0.0 {
            return broken(format!("it is saturated at rate {saturation:e}, but the marginal at {rate:e} is {end:e}"));
        }
    }
    if utility.curvature() != Curvature::Strict {
        return Ok(());
    }
    for &rate in &rates {
        demand_laws(utility, flow, rate)?;
    }
    let dearest = rates.iter().map(|&rate| utility.marginal(flow, rate)).fold(1e-280, f64::max);
    for price in [dearest.min(1e280), (10.0 * dearest).min(1e280), (1e6 * dearest).min(1e280)] {
        let demand = utility.demand(flow, price);
        if !(0.0..=saturation * (1.0 + 1e-9)).contains(&demand) {
            return broken(format!("the demand at price {price:e} is {demand:e}, expected 0 to {saturation:e}"));
        }
    }
    Ok(())
}

/// Laws 4 and 5 at the price U'(x).
fn demand_laws(utility: &dyn Utility, flow: usize, rate: f64) -> Result<()> {
    let broken = |what: String| Err(Error::Utility { flow, what });
    let price = utility.marginal(flow, rate);
    if !(price > 1e-280 && price < 1e280) {
        return Ok(());
    }
    let demand = utility.demand(flow, price);
    // Where U' hardly changes the demand cannot be told apart: there U' at the demand must be the price instead.
    let back = utility.marginal(flow, demand);
    if !((demand - rate).abs() <= 1e-6 * rate || (back - price).abs() <= 1e-9 * price) {
        return broken(format!(
            "the demand at price {price:e} is {demand:e}, but the marginal is {price:e} at rate {rate:e} (and {back:e} \
             there)"
        ));
    }
    let slope = utility.demand_slope(flow, price);
    if slope.is_nan() || slope > 0.0 {
        return broken(format!("the demand slope at price {price:e} is {slope:e}, expected a number <= 0"));
    }
    let step = 1e-4 * price;
    let (below, above) = (utility.demand(flow, price - step), utility.demand(flow, price + step));
    if above > below * (1.0 + 1e-9) {
        return broken(format!("the demand rises with the price near {price:e}: from {below:e} to {above:e}"));
    }
    // Two one-sided differences: at a breakpoint of the demand the slope may be that of either side, or between them.
    let (left, right) = ((demand - below) / step, (above - demand) / step);
    let (least, most) = (left.min(right), left.max(right));
    let margin = 1e-2 * (most.abs() + least.abs()) + 1e-6 * demand / step * 1e-4;
    if !(slope >= least - margin && slope <= most + margin) {
        return broken(format!(
            "the demand slope at price {price:e} is {slope:e}, but the demand changes by {least:e} to {most:e} per unit"
        ));
    }
    Ok(())
}
