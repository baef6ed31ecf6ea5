//! Randomness keyed by (seed, stream, index).
//!
//! Every quantity of the data set is drawn from a stream of its own at an index of its own, so that
//! any message can be made without the ones before it, in any order, by any number of threads. All
//! draws are integer arithmetic: nothing depends on the platform's floating-point library. Where a
//! spec holds a decimal, it becomes a [`Rate`] or a [`Weighted`] once, by exact operations.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What is drawn. The number of a stream is part of the generator's version: never reuse one.
#[derive(Clone, Copy, Debug)]
#[repr(u64)]
pub(crate) enum Stream {
    PoolNames = 1,
    PoolStaff = 2,
    PoolText = 3,
    LogWeight = 4,
    LogVolume = 5,
    SecondFeed = 6,
    LogChoice = 7,
    SlotKind = 8,
    SlotParent = 9,
    LanePhase = 10,
    LaneRuns = 11,
    BlockOrder = 12,
    Patient = 13,
    PatientPair = 14,
    Version = 15,
    Study = 16,
    Message = 17,
    ReportTime = 18,
    Identity = 19,
    Faults = 20,
    FaultDetail = 21,
    LogFault = 22,
    HeaderFraction = 23,
    Person = 24,
    LogForm = 25,
}

/// One well-mixed number for (seed, stream, index).
pub(crate) fn hash(seed: u64, stream: Stream, index: u64) -> u64 {
    mix(mix(seed ^ (stream as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(index))
}

/// The finaliser of SplitMix64 (public domain, Sebastiano Vigna): a bijection on 64 bits.
fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A sequence of draws for one (seed, stream, index).
pub(crate) struct Draw(Xoshiro256PlusPlus);

impl Draw {
    pub(crate) fn new(seed: u64, stream: Stream, index: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(hash(seed, stream, index)))
    }

    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A whole number from 0 to `n - 1`.
    pub(crate) fn below(&mut self, n: u64) -> u64 {
        scale(self.bits(), n)
    }

    pub(crate) fn index(&mut self, len: usize) -> usize {
        self.below(len as u64) as usize
    }

    pub(crate) fn pick<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.index(items.len())]
    }

    pub(crate) fn chance(&mut self, rate: Rate) -> bool {
        rate.hit(self.bits())
    }

    pub(crate) fn weighted<T: Copy>(&mut self, table: &Weighted<T>) -> T {
        table.at(self.bits())
    }
}

/// A number from 0 to `n - 1` from 64 random bits. The bias is below n / 2^64.
pub(crate) fn scale(bits: u64, n: u64) -> u64 {
    ((u128::from(bits) * u128::from(n)) >> 64) as u64
}

/// A share from 0 to 1, kept as a threshold so that a draw is one comparison of integers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rate(u64);

impl Rate {
    /// A rate from a share; the caller has checked that it is from 0 to 1.
    pub(crate) fn new(share: f64) -> Self {
        Self((share * f64::from(u32::MAX)) as u64 + u64::from(share >= 1.0))
    }

    pub(crate) fn hit(self, bits: u64) -> bool {
        (bits >> 32) < self.0
    }

    pub(crate) fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Values with weights.
#[derive(Clone, Debug)]
pub(crate) struct Weighted<T> {
    values: Vec<T>,
    /// Upper end of each value's part of 2^32.
    ends: Vec<u64>,
}

impl<T: Copy> Weighted<T> {
    /// A table; the caller has checked that weights are finite, not negative and not all zero.
    pub(crate) fn new(entries: &[(T, f64)]) -> Self {
        let total: f64 = entries.iter().map(|(_, weight)| weight).sum();
        let mut sum = 0.0;
        let mut values = Vec::with_capacity(entries.len());
        let mut ends = Vec::with_capacity(entries.len());
        for &(value, weight) in entries {
            sum += weight;
            values.push(value);
            ends.push((sum / total * 4_294_967_296.0) as u64);
        }
        // The last value with a weight takes what rounding left.
        let last = entries.iter().rposition(|(_, weight)| *weight > 0.0);
        for end in &mut ends[last.unwrap_or(0)..] {
            *end = 1 << 32;
        }
        Self { values, ends }
    }

    pub(crate) fn at(&self, bits: u64) -> T {
        let point = bits >> 32;
        let mut index = 0;
        while self.ends[index] <= point {
            index += 1;
        }
        self.values[index]
    }
}

/// A keyed permutation of `0..size` that can be undone, for any size.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Permutation {
    size: u64,
    bits: u32,
    key: u64,
}

const FORWARD: [u64; 3] = [
    0xd134_2543_de82_ef95,
    0xaf25_1af3_b0f0_25b5,
    0xb564_ef22_ec7a_ece5,
];

/// The inverse of an odd number modulo 2^64, by Newton's method.
const fn inverse(odd: u64) -> u64 {
    let mut x = odd;
    let mut step = 0;
    while step < 6 {
        x = x.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(x)));
        step += 1;
    }
    x
}

const BACKWARD: [u64; 3] = [
    inverse(FORWARD[0]),
    inverse(FORWARD[1]),
    inverse(FORWARD[2]),
];

impl Permutation {
    /// A permutation of `0..size`.
    pub(crate) fn new(size: u64, key: u64) -> Self {
        let bits = size.next_power_of_two().trailing_zeros().max(2);
        Self { size, bits, key }
    }

    fn mask(self) -> u64 {
        (1 << self.bits) - 1
    }

    fn round_keys(self) -> [u64; 3] {
        [self.key, self.key.rotate_left(21), self.key.rotate_left(42)]
    }

    /// Where `index` goes. Steps that leave `0..size` are repeated until they come back.
    pub(crate) fn apply(self, mut index: u64) -> u64 {
        debug_assert!(index < self.size);
        let shift = self.bits.div_ceil(2);
        loop {
            for (multiplier, key) in FORWARD.iter().zip(self.round_keys()) {
                index = index.wrapping_add(key).wrapping_mul(*multiplier) & self.mask();
                index ^= index >> shift;
            }
            if index < self.size {
                return index;
            }
        }
    }

    /// What goes to `index`.
    pub(crate) fn invert(self, mut index: u64) -> u64 {
        debug_assert!(index < self.size);
        let shift = self.bits.div_ceil(2);
        loop {
            for (multiplier, key) in BACKWARD.iter().zip(self.round_keys()).rev() {
                // Half of the bits or more stand still under the shift, so one step undoes it.
                index ^= index >> shift;
                index = index.wrapping_mul(*multiplier).wrapping_sub(key) & self.mask();
            }
            if index < self.size {
                return index;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_permutation_is_undone_by_its_inverse(size in 1u64..5000, key: u64, at in 0u64..5000) {
            let permutation = Permutation::new(size, key);
            let index = at % size;
            let to = permutation.apply(index);
            prop_assert!(to < size);
            prop_assert_eq!(permutation.invert(to), index);
        }
    }

    #[test]
    fn a_rate_of_one_always_hits_and_a_rate_of_zero_never() {
        for bits in [0, 1, u64::MAX / 2, u64::MAX] {
            assert!(Rate::new(1.0).hit(bits));
            assert!(!Rate::new(0.0).hit(bits));
        }
    }

    #[test]
    fn weights_are_kept_within_chance() {
        let table = Weighted::new(&[(0usize, 1.0), (1, 0.0), (2, 3.0)]);
        let mut found = [0u32; 3];
        for index in 0..40_000 {
            found[Draw::new(7, Stream::Study, index).weighted(&table)] += 1;
        }
        assert_eq!(found[1], 0);
        assert!((9_500..10_500).contains(&found[0]), "{found:?}");
    }

    #[test]
    fn a_permutation_of_small_domains_reaches_many_orders() {
        let orders: std::collections::BTreeSet<Vec<u64>> = (0..200)
            .map(|key| {
                let permutation = Permutation::new(5, hash(1, Stream::BlockOrder, key));
                (0..5).map(|index| permutation.apply(index)).collect()
            })
            .collect();
        assert!(orders.len() > 20, "only {} orders", orders.len());
    }
}
