//! A flow block: some of the flows, their demands and their loads of links.

use std::collections::BTreeMap;

use netnum_core::internal::PowerDemand;
use rustc_hash::FxHashMap;

use super::Place;
use super::bucket::{Bucket, Kind};
use super::partition::{Entry, Partition, Windows};
use super::real::Real;
use super::split::Splits;
use super::tables::Tables;

/// Some of the flows.
#[derive(Debug)]
pub(crate) struct FlowBlock<R> {
    /// The pair tables that its flows ever used, in the order of their numbers.
    tables: Vec<u32>,
    uses: Vec<bool>,
    buckets: Vec<Bucket<R>>,
    /// Numbers of buckets without flows. Such a bucket is in neither of the next two.
    vacant: Vec<u32>,
    /// The buckets by kind and windows, the last window first, so that consecutive buckets share cache lines.
    order: BTreeMap<Box<[u32]>, u32>,
    /// Their numbers, for look-up: among thousands, every branch of a binary search is mispredicted half the time.
    numbers: FxHashMap<Box<[u32]>, u32>,
    /// The key that is looked up: kind and windows, the last one first.
    key: Vec<u32>,
    windows: Windows,
    /// Those with several paths.
    splits: Splits<R>,
}

impl<R: Real> FlowBlock<R> {
    pub(crate) fn new(partition: &Partition) -> Self {
        Self {
            tables: Vec::new(),
            uses: vec![false; partition.tables().len()],
            buckets: Vec::new(),
            vacant: Vec::new(),
            order: BTreeMap::new(),
            numbers: FxHashMap::default(),
            key: Vec::new(),
            windows: partition.windows(),
            splits: Splits::new(partition.entries()),
        }
    }

    pub(crate) fn buckets(&self) -> &[Bucket<R>] {
        &self.buckets
    }

    /// In the order in which they respond, which does not depend on which came first.
    pub(crate) fn in_order(&self) -> impl Iterator<Item = &Bucket<R>> {
        self.order.values().map(|&bucket| &self.buckets[bucket as usize])
    }

    /// Changes them, in this order.
    pub(crate) fn each_in_order(&mut self, mut change: impl FnMut(&mut Bucket<R>)) {
        self.order.values().for_each(|&bucket| change(&mut self.buckets[bucket as usize]));
    }

    pub(crate) fn buckets_mut(&mut self) -> &mut [Bucket<R>] {
        &mut self.buckets
    }

    /// Adds a flow over these entries, and with these coefficients there, if it has any.
    pub(crate) fn add(
        &mut self,
        flow: u32,
        entries: &[Entry],
        coefficients: Option<&[f64]>,
        demand: &PowerDemand,
    ) -> Place {
        let bucket = self.bucket_of(Kind { is_log: demand.is_log, is_weighted: coefficients.is_some() }, entries);
        let numbers = entries.iter().map(|entry| entry.number);
        let place = self.buckets[bucket as usize].push(flow, numbers, coefficients, demand);
        Place { bucket, place }
    }

    /// Notes that a pair table has flows.
    #[inline]
    pub(super) fn use_table(&mut self, table: u32) {
        if !std::mem::replace(&mut self.uses[table as usize], true) {
            let at = self.tables.partition_point(|&other| other < table);
            self.tables.insert(at, table);
        }
    }

    /// The number of the bucket of flows of a kind over these entries, which may be new.
    pub(super) fn bucket_of(&mut self, kind: Kind, entries: &[Entry]) -> u32 {
        entries.iter().filter_map(|entry| entry.table).for_each(|table| self.use_table(table));
        let windows = || self.windows.of(entries);
        write_key(&mut self.key, kind, windows());
        match self.numbers.get(&*self.key) {
            Some(&bucket) => bucket,
            None => {
                let new = Bucket::new(kind, windows().collect());
                let bucket = match self.vacant.pop() {
                    Some(vacant) => {
                        self.buckets[vacant as usize] = new;
                        vacant
                    }
                    None => {
                        self.buckets.push(new);
                        self.buckets.len() as u32 - 1
                    }
                };
                self.order.insert((&*self.key).into(), bucket);
                self.numbers.insert((&*self.key).into(), bucket);
                bucket
            }
        }
    }

    /// Takes a flow out; returns the number of the one that is in its place now, if any. A bucket that has lost its
    /// last flow goes: there are more combinations of windows than flows ever live at a time.
    pub(crate) fn remove(&mut self, spot: Place) -> Option<u32> {
        let bucket = &mut self.buckets[spot.bucket as usize];
        let moved = bucket.swap_remove(spot.place as usize);
        if bucket.flows().is_empty() {
            write_key(&mut self.key, bucket.kind(), bucket.windows().iter().copied());
            self.order.remove(&*self.key);
            self.numbers.remove(&*self.key);
            *bucket = Bucket::new(bucket.kind(), Vec::new());
            self.vacant.push(spot.bucket);
        }
        moved
    }

    /// Those with several paths.
    pub(crate) fn splits(&self) -> &Splits<R> {
        &self.splits
    }

    /// Those with several paths, to be changed.
    pub(crate) fn splits_mut(&mut self) -> &mut Splits<R> {
        &mut self.splits
    }

    /// The response of its flows to the prices that were read into the tables, which then have their sums on links.
    pub(crate) fn respond(&mut self, partition: &Partition, tables: &mut Tables<R>) {
        tables.add_up(partition, &self.tables);
        let (view, counts_priced, sums) = tables.of_flows();
        for &bucket in self.order.values() {
            let bucket = &mut self.buckets[bucket as usize];
            match counts_priced {
                true => bucket.respond::<true>(view, sums),
                false => bucket.respond::<false>(view, sums),
            }
        }
        self.splits.respond(view, counts_priced, sums);
        tables.gather(partition, &self.tables);
    }

    /// F-NORM: every flow gets the smallest fraction on its path of the rate that it demands, given those that were
    /// read into the tables.
    pub(crate) fn normalize(&mut self, partition: &Partition, tables: &mut Tables<R>) {
        let fractions = tables.least_fractions(partition, &self.tables);
        for &bucket in self.order.values() {
            self.buckets[bucket as usize].normalize(fractions);
        }
        self.splits.normalize(fractions);
    }
}

fn write_key(key: &mut Vec<u32>, kind: Kind, windows: impl DoubleEndedIterator<Item = u32>) {
    key.clear();
    key.push(u32::from(!kind.is_log) + 2 * u32::from(kind.is_weighted));
    key.extend(windows.rev());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow_blocks::partition::Sample;
    use netnum_core::{Paths, PowerLaw};

    /// There are more combinations of windows than memory holds: an empty bucket goes, and its number is used again.
    #[test]
    fn there_are_never_more_buckets_than_flows() {
        let links = 1_000_000;
        let sample = Sample { paths: Paths::from_lists([[0; 0]; 0]), of: 0, is_weighted: false };
        let partition = Partition::new(links, &sample).unwrap();
        let mut block = FlowBlock::<f64>::new(&partition);
        let (mut entries, mut spots) = (Vec::new(), Vec::<Place>::new());
        let mut random = 1u64;
        for flow in 0..20_000u32 {
            let path: Vec<u32> = (0..4)
                .map(|_| {
                    random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                    ((random >> 33) % links as u64) as u32
                })
                .collect();
            let (alpha, is_weighted) = ([1.0, 2.0][flow as usize % 2], flow % 3 == 0);
            partition.entries_of(&path, is_weighted, &mut entries);
            let coefficients = is_weighted.then_some(&[0.5, 1.0, 2.0, 3.0][..]);
            spots.push(block.add(flow, &entries, coefficients, &PowerLaw::new(1.0, alpha).over(1.0)));
            if spots.len() > 100 {
                // The flow that is in its place now was the bucket's last.
                let spot = spots.swap_remove((random >> 40) as usize % spots.len());
                if block.remove(spot).is_some() {
                    let last = block.buckets()[spot.bucket as usize].flows().len() as u32;
                    *spots.iter_mut().find(|other| **other == Place { place: last, ..spot }).unwrap() = spot;
                }
            }
            assert!(block.order.len() <= spots.len() && block.numbers.len() == block.order.len());
            assert!(block.buckets.len() <= 101 && block.vacant.len() + block.order.len() == block.buckets.len());
        }
        assert_eq!(block.in_order().map(|bucket| bucket.flows().len()).sum::<usize>(), spots.len());
        spots.sort_unstable_by_key(|spot| (spot.bucket, std::cmp::Reverse(spot.place)));
        for spot in spots {
            assert_eq!(block.remove(spot), None, "the last of its bucket");
        }
        assert!(block.order.is_empty() && block.numbers.is_empty());
    }

    const LINKS: usize = 24;

    /// A flow: its links and coefficients, and its law.
    struct Flow {
        path: Vec<u32>,
        coefficients: Option<Vec<f64>>,
        law: PowerLaw,
    }

    /// Flows of one to ten links, with coefficients every other one, of both laws.
    fn flows() -> Vec<Flow> {
        let flow = |flow: u32| {
            let length = 1 + flow % 10;
            let path: Vec<u32> = (0..length).map(|hop| (flow * 7 + hop * (1 + flow % 2)) % LINKS as u32).collect();
            let own = path.iter().map(|link| 0.25 + f64::from((flow * 3 + link * 5) % 11) / 4.0).collect();
            let law = PowerLaw::new(1.0 + f64::from(flow % 3), [1.0, 2.0][(flow / 2 % 2) as usize]);
            Flow { path, coefficients: flow.is_multiple_of(2).then_some(own), law }
        };
        (0..300).map(flow).collect()
    }

    /// Rate of every flow, and the sums of the links: by the definition.
    fn by_definition(flows: &[&Flow], prices: &[f64], priced: Option<&[f64]>) -> (Vec<f64>, Vec<[f64; 2]>) {
        let (mut rates, mut sums) = (Vec::new(), vec![[0.0; 2]; LINKS]);
        for Flow { path, coefficients, law } in flows {
            let own = || path.iter().zip(coefficients.clone().unwrap_or_else(|| vec![1.0; path.len()]));
            let price: f64 = own().map(|(&link, a)| a * prices[link as usize]).sum();
            let rate = law.weight * price.powf(-1.0 / law.alpha);
            let slope = rate / (law.alpha * price);
            let counted = priced.map_or(0.0, |priced| own().map(|(&link, a)| a * priced[link as usize]).sum());
            for (&link, a) in own() {
                let sum = &mut sums[link as usize];
                (sum[0], sum[1]) = (sum[0] + a * rate, sum[1] + a * counted.max(a) * slope);
            }
            rates.push(rate);
        }
        (rates, sums)
    }

    #[test]
    fn flows_with_coefficients_and_without_respond_side_by_side() {
        let all = flows();
        let typical = Paths::from_lists(all.iter().map(|flow| &flow.path));
        let partition = Partition::new(LINKS, &Sample::of(LINKS, &typical).unwrap()).unwrap();
        let (mut block, mut tables) = (FlowBlock::<f64>::new(&partition), Tables::new(&partition));
        let (mut entries, mut live) = (Vec::new(), Vec::new());
        let mut spots: Vec<Place> = Vec::new();
        for (number, flow) in (0..).zip(&all) {
            partition.entries_of(&flow.path, flow.coefficients.is_some(), &mut entries);
            spots.push(block.add(number, &entries, flow.coefficients.as_deref(), &flow.law.over(1e9)));
            live.push(number);
        }
        for round in 0..4 {
            let prices: Vec<f64> = (0..LINKS).map(|link| ((link + round) % 5) as f64 + 0.1).collect();
            let priced: Vec<f64> = (0..LINKS).map(|link| if (link + round) % 3 > 0 { 1.0 } else { 0.0 }).collect();
            for priced in [None, Some(&*priced)] {
                let own: Vec<&Flow> = live.iter().map(|&flow: &u32| &all[flow as usize]).collect();
                let (rates, expected) = by_definition(&own, &prices, priced);
                let mut sums = vec![[0.0; 2]; LINKS];
                tables.read_prices(&prices, priced);
                block.respond(&partition, &mut tables);
                tables.take(&mut sums, |sum, found| *sum = found);
                for (found, expected) in sums.as_flattened().iter().zip(expected.as_flattened()) {
                    assert!((found - expected).abs() <= 1e-12 * expected, "{found}, expected {expected}");
                }
                for (&flow, rate) in live.iter().zip(rates) {
                    let Place { bucket, place } = spots[flow as usize];
                    let (bucket, place) = (&block.buckets()[bucket as usize], place as usize);
                    assert!((bucket.rates(place)[0] - rate).abs() <= 1e-12 * rate, "flow {flow}");
                    let coefficients: Option<Vec<f64>> = bucket.coefficients(place).map(Iterator::collect);
                    assert_eq!(coefficients, all[flow as usize].coefficients);
                }
            }
            // Every third flow leaves; the last of its bucket comes into its place.
            let gone: Vec<u32> = live.extract_if(.., |flow| (*flow as usize + round).is_multiple_of(3)).collect();
            for flow in gone {
                let spot = spots[flow as usize];
                if let Some(moved) = block.remove(spot) {
                    spots[moved as usize] = spot;
                }
            }
        }
    }
}
