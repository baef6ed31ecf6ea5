//! Noise with known properties, for tests of what the methods claim.

use super::random::{Random, Stream};

/// How draws scatter, all with mean 0 and about unit scale.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Noise {
    /// Normal.
    Normal,
    /// Student's t with 3 degrees of freedom: now and then a value ten times the usual.
    HeavyTailed,
    /// Normal, and one in ten is 5 higher: something else ran on the machine.
    Bursts,
    /// Log-normal, skewed to the right, as durations are.
    Skewed,
}

/// Draws for simulations.
pub(crate) struct Draws(Random);

impl Draws {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Random::new(seed, Stream::Simulation))
    }

    /// Between 0 and 1, neither included.
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.0.bits() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Standard normal (Box and Muller).
    pub(crate) fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.uniform().ln()).sqrt();
        radius * (std::f64::consts::TAU * self.uniform()).cos()
    }

    pub(crate) fn noise(&mut self, noise: Noise) -> f64 {
        match noise {
            Noise::Normal => self.normal(),
            Noise::HeavyTailed => {
                let square: f64 = (0..3).map(|_| self.normal().powi(2)).sum();
                self.normal() / (square / 3.0).sqrt()
            }
            Noise::Bursts => {
                let burst = if self.uniform() < 0.1 { 5.0 } else { 0.0 };
                self.normal() + burst - 0.5
            }
            Noise::Skewed => self.normal().exp() - 0.5_f64.exp(),
        }
    }
}
