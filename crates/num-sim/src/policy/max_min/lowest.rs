//! The lowest of some numbers, one of which changes at a time: a tournament. O(log n) for each change and question.

/// Numbers by place.
#[derive(Debug, Default)]
pub(super) struct Lowest {
    /// The winner of every match: that of place i of n is at n + i, that of matches i and i + 1, i even, at i/2. n is a
    /// power of two.
    won: Vec<f64>,
}

fn lower(one: f64, other: f64) -> f64 {
    if one < other { one } else { other }
}

impl Lowest {
    /// Takes other numbers, none of them NaN.
    pub(super) fn start(&mut self, numbers: impl ExactSizeIterator<Item = f64>) {
        let places = numbers.len().next_power_of_two();
        self.won.clear();
        self.won.resize(places, f64::INFINITY);
        self.won.extend(numbers);
        self.won.resize(2 * places, f64::INFINITY);
        for place in (1..places).rev() {
            self.won[place] = lower(self.won[2 * place], self.won[2 * place + 1]);
        }
    }

    /// Sets one.
    pub(super) fn set(&mut self, place: usize, number: f64) {
        let mut at = self.won.len() / 2 + place;
        self.won[at] = number;
        while at > 1 {
            at /= 2;
            let winner = lower(self.won[2 * at], self.won[2 * at + 1]);
            if std::mem::replace(&mut self.won[at], winner) == winner {
                return;
            }
        }
    }

    /// The lowest, and where it is; none if all are ∞.
    pub(super) fn first(&self) -> Option<(usize, f64)> {
        let lowest = self.won.get(1).copied().filter(|&lowest| lowest < f64::INFINITY)?;
        let mut at = 1;
        while at < self.won.len() / 2 {
            at = 2 * at + usize::from(self.won[2 * at] != lowest);
        }
        Some((at - self.won.len() / 2, lowest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_is_the_lowest_of_what_was_set_last() {
        for count in [0, 1, 2, 5, 64, 200] {
            let mut numbers: Vec<f64> = (0..count).map(|place| f64::from(place * 7 % 11)).collect();
            let mut lowest = Lowest::default();
            lowest.start(numbers.iter().copied());
            for step in 0..20 * count {
                let expected = numbers.iter().copied().fold(f64::INFINITY, f64::min);
                match lowest.first() {
                    Some((place, number)) => assert!(number == expected && numbers[place] == expected, "{step}"),
                    None => assert_eq!(expected, f64::INFINITY),
                }
                let place = (step * 31 % count) as usize;
                numbers[place] = if step % 3 == 0 { f64::INFINITY } else { f64::from(step * 17 % 23) };
                lowest.set(place, numbers[place]);
            }
        }
    }
}
