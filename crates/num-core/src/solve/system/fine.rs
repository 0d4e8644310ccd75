//! A Cholesky factor to twice the digits of a float: each number is the sum of a float and of what rounding has cut
//! off.
//!
//! Weights of paths that tie are many decades larger than those of flows that pay high prices, and both are added up on
//! the same links: a float keeps the former alone. O(links³), some ten operations of floats each.

use faer::{Mat, fx128};

use super::Rows;
use crate::error::Result;
use crate::interrupt::Pacer;
use crate::numerics::vectorized;

/// Pivots below this, times the size, are rounding of what was subtracted: such a price, larger by more decades than
/// two floats have, keeps its value, by a diagonal entry that large.
const LEAST_PIVOT: f64 = 1e-31;
const FIXED: f64 = 1e100;

/// The factor of the matrix scaled to a diagonal of ones, over the links that have a row; the others are alone.
pub(super) struct FineFactor {
    scale: Vec<f64>,
    /// The links of its rows.
    links: Vec<u32>,
    /// From the diagonal on: floats, and the rest of each.
    columns: Vec<[Vec<f64>; 2]>,
}

impl FineFactor {
    /// The factor of a matrix of which the lower triangle is given; none where it has an entry that is no number.
    ///
    /// # Errors
    /// [`Error::Stopped`](crate::Error::Stopped).
    pub(super) fn new(matrix: &Mat<fx128>, Rows { scale, links, .. }: Rows) -> Result<Option<Self>> {
        let (size, mut pacer) = (links.len(), Pacer::new());
        let mut columns: Vec<[Vec<f64>; 2]> = Vec::with_capacity(size);
        for row in 0..size {
            let entries = &matrix.col_as_slice(row)[row..];
            let mut column =
                [entries.iter().map(|entry| entry.0).collect(), entries.iter().map(|entry| entry.1).collect()];
            for (before, other) in columns.iter().enumerate() {
                let [floats, rests] = other.each_ref().map(|values| &values[row - before..]);
                subtract((floats[0], rests[0]), [floats, rests], &mut column);
                pacer.did(floats.len())?;
            }
            let pivot = whole(column[0][0], column[1][0]);
            if !pivot.0.is_finite() {
                return Ok(None);
            }
            if pivot.0 < LEAST_PIVOT * size as f64 {
                column[0].fill(0.0);
                column[1].fill(0.0);
                column[0][0] = FIXED;
                columns.push(column);
                continue;
            }
            let inverse = pivot.sqrt().recip();
            let [floats, rests] = &mut column;
            for (float, rest) in floats.iter_mut().zip(rests) {
                let value = whole(*float, *rest) * inverse;
                (*float, *rest) = (value.0, value.1);
            }
            columns.push(column);
        }
        Ok(Some(Self { scale, links, columns }))
    }

    /// Replaces a right-hand side by the solution.
    pub(super) fn solve(&self, right: &mut [fx128]) {
        let Self { scale, links, columns } = self;
        right.iter_mut().zip(scale).for_each(|(value, &scale)| *value *= fx128::from(scale));
        let mut values: Vec<fx128> = links.iter().map(|&link| right[link as usize]).collect();
        let entry = |[floats, rests]: &[Vec<f64>; 2], place: usize| whole(floats[place], rests[place]);
        for (row, column) in columns.iter().enumerate() {
            let value = values[row] / entry(column, 0);
            values[row] = value;
            for (place, later) in values[row + 1..].iter_mut().enumerate() {
                *later -= entry(column, place + 1) * value;
            }
        }
        for (row, column) in columns.iter().enumerate().rev() {
            let later = values[row + 1..].iter().enumerate();
            let rest = later.fold(values[row], |rest, (place, &value)| rest - entry(column, place + 1) * value);
            values[row] = rest / entry(column, 0);
        }
        for (value, &link) in values.into_iter().zip(links) {
            right[link as usize] = value;
        }
        right.iter_mut().zip(scale).for_each(|(value, &scale)| *value *= fx128::from(scale));
    }
}

/// A number of its two parts.
fn whole(float: f64, rest: f64) -> fx128 {
    fx128 { 0: float, 1: rest }
}

/// column ← column − factor · other.
fn subtract(factor: (f64, f64), [floats, rests]: [&[f64]; 2], column: &mut [Vec<f64>; 2]) {
    if factor.0 == 0.0 {
        return;
    }
    let [of_column, rests_of_column] = column;
    let (of_column, rests_of_column) = (&mut of_column[..floats.len()], &mut rests_of_column[..floats.len()]);
    vectorized(
        #[inline(always)]
        || {
            let others = floats.iter().zip(rests);
            for ((float, rest), (&other, &of_other)) in of_column.iter_mut().zip(rests_of_column).zip(others) {
                let product = factor.0 * other;
                let cut_off = factor.0.mul_add(other, -product) + (factor.0 * of_other + factor.1 * other);
                // Knuth's two-sum.
                let sum = *float - product;
                let subtracted = sum - *float;
                let lost = (*float - (sum - subtracted)) - (product + subtracted);
                let low = *rest + (lost - cut_off);
                *float = sum + low;
                *rest = low - (*float - sum);
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::solve::system::ABSENT;

    #[test]
    fn what_is_twenty_decades_below_a_tie_is_solved_for() {
        // ties · (1, −1, 1, −1) (1, −1, 1, −1)ᵀ + a diagonal, at prices that tie.
        let (prices, ties) = ([3.0, 5.0, 7.0, 5.0], 1e22);
        let diagonal = [1.0, 0.25, 64.0, 0.5];
        let sign = |link: usize| if link.is_multiple_of(2) { 1.0 } else { -1.0 };
        let scale: Vec<f64> = diagonal.iter().map(|own| 1.0f64 / f64::sqrt(ties + own)).collect();
        let mut matrix = Mat::<fx128>::zeros(5, 5);
        for column in 0..4 {
            for row in column..4 {
                let own = if row == column { diagonal[row] } else { 0.0 };
                let entry = fx128::from(ties * sign(row) * sign(column)) + fx128::from(own);
                matrix[(row, column)] = entry * fx128::from(scale[row]) * fx128::from(scale[column]);
            }
        }
        // A fifth link that rounding has left nothing of keeps its price.
        matrix[(4, 4)] = fx128::from(-1e-31);
        let rows =
            Rows { scale: [scale, vec![1.0, 0.5]].concat(), of: vec![0, 1, 2, 3, 4, ABSENT], links: (0..5).collect() };
        let factor = FineFactor::new(&matrix, rows).unwrap().unwrap();
        let right = prices.iter().zip(diagonal).map(|(price, own)| price * own).chain([1.0, 8.0]);
        let mut values: Vec<fx128> = right.map(fx128::from).collect();
        factor.solve(&mut values);
        for (value, price) in values.iter().zip(prices) {
            assert!((value.0 / price - 1.0).abs() < 1e-8, "{values:?}");
        }
        let tie = values[0] - values[1] + values[2] - values[3];
        assert!(tie.0.abs() < 1e-20, "{tie:?}");
        assert!(values[4].0.abs() < 1e-90, "{values:?}");
        // A link without a row is alone.
        assert_eq!(values[5].0, 2.0);
    }
}
