//! Double-double sums: cancellation of large terms leaves the small ones exact. Weighted sums need it where heavy flows
//! are subtracted and light ones remain.

/// The sum of a high and a low part.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct DoubleDouble {
    high: f64,
    low: f64,
}

impl DoubleDouble {
    pub(crate) fn new(value: f64) -> Self {
        Self { high: value, low: 0.0 }
    }

    /// Adds a number: Knuth's two-sum.
    pub(crate) fn add(&mut self, value: f64) {
        let sum = self.high + value;
        let added = sum - self.high;
        self.low += (self.high - (sum - added)) + (value - added);
        self.high = sum;
    }

    /// Adds a product.
    pub(crate) fn add_product(&mut self, one: f64, other: f64) {
        let product = one * other;
        self.add(product);
        // Exact by a factor of 1, as most are; the rest takes long where processors have no instruction for it.
        if one.abs() != 1.0 {
            self.low += one.mul_add(other, -product);
        }
    }

    /// Adds a multiple of another one.
    pub(crate) fn add_multiple(&mut self, times: f64, other: Self) {
        self.add_product(times, other.high);
        self.low += times * other.low;
    }

    /// The nearest float, and what is left.
    pub(crate) fn parts(self) -> (f64, f64) {
        let high = self.high + self.low;
        (high, self.low - (high - self.high))
    }

    pub(crate) fn value(self) -> f64 {
        self.high + self.low
    }
}
