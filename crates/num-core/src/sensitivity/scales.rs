//! With what changes of rates and prices are compared.

/// The point of linearization, with which changes are compared: a change of 1 in a price may be nothing for one link
/// and all for another.
pub(super) struct Scales {
    /// U' of every flow; what it pays, where it is at its floor and pays more.
    pub(super) marginals: Vec<f64>,
    /// Per path: the rate of its flow.
    pub(super) rates: Vec<f64>,
    /// Per link: the least that a path through it pays.
    pub(super) prices: Vec<f64>,
}

impl Scales {
    /// The largest change of the rate of a path, relative to that of its flow.
    pub(super) fn of_rates(&self, change: impl Fn(usize) -> f64) -> f64 {
        relative(&self.rates, change)
    }

    /// The largest change of a price, relative.
    pub(super) fn of_prices(&self, change: impl Fn(usize) -> f64) -> f64 {
        relative(&self.prices, change)
    }

    /// Both, of lists.
    pub(super) fn of(&self, rates: &[f64], prices: &[f64]) -> [f64; 2] {
        [self.of_rates(|path| rates[path]), self.of_prices(|link| prices[link])]
    }
}

/// The largest change, each relative to its scale.
fn relative(scales: &[f64], change: impl Fn(usize) -> f64) -> f64 {
    scales.iter().enumerate().fold(0.0, |most, (place, scale)| {
        let size = change(place).abs() / scale;
        if size > most { size } else { most }
    })
}
