//! Draws from a seed. Each use has a stream of its own, so that adding a draw to one method does not
//! change the answers of another.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What is drawn.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stream {
    Ranks = 1,
    SignFlip = 2,
    PairedBootstrap = 3,
    ShapeGuard = 4,
    ShapeBootstrap = 5,
    Changes = 6,
    #[cfg(test)]
    Simulation = 99,
}

/// A sequence of draws.
pub(super) struct Random(Xoshiro256PlusPlus);

impl Random {
    pub(super) fn new(seed: u64, stream: Stream) -> Self {
        let mixed = seed ^ (stream as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self(Xoshiro256PlusPlus::seed_from_u64(mixed))
    }

    /// 64 bits.
    pub(super) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A whole number below `limit`; 0 where the limit is 0. By multiplication, so its bias is below
    /// `limit / 2^64`.
    pub(super) fn below(&mut self, limit: usize) -> usize {
        ((u128::from(self.bits()) * limit as u128) >> 64) as usize
    }

    /// Every order equally likely (Fisher and Yates).
    pub(super) fn shuffle<T>(&mut self, values: &mut [T]) {
        for end in (1..values.len()).rev() {
            values.swap(end, self.below(end + 1));
        }
    }
}
