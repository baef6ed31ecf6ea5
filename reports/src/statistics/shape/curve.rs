//! The kinds of curve.

use super::super::line::Line;

/// A kind of curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// One level.
    Constant,
    /// A straight line.
    Linear,
    /// One level, and from a break on another.
    Step,
    /// A straight line that turns into a level at a break, without a jump.
    LinearThenPlateau,
    /// A straight line that turns into another at a break, without a jump.
    TwoSlopes,
}

impl Kind {
    /// All kinds, from simple to complex.
    pub const ALL: [Self; 5] = [
        Self::Constant,
        Self::Linear,
        Self::Step,
        Self::LinearThenPlateau,
        Self::TwoSlopes,
    ];

    /// How many numbers describe such a curve, the place of its break among them.
    #[must_use]
    pub fn parameters(self) -> usize {
        match self {
            Self::Constant => 1,
            Self::Linear => 2,
            Self::Step | Self::LinearThenPlateau => 3,
            Self::TwoSlopes => 4,
        }
    }

    /// Its rank in complexity, from 0.
    pub(super) fn level(self) -> usize {
        self.parameters() - 1
    }
}

/// A curve, in the units of the points that it was fitted to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Curve {
    /// One level.
    Constant {
        /// The level.
        level: f64,
    },
    /// A straight line.
    Linear {
        /// The line.
        line: Line,
    },
    /// Two levels.
    Step {
        /// Half-way between the last x of the first level and the first of the second.
        at: f64,
        /// The level before.
        before: f64,
        /// The level after.
        after: f64,
    },
    /// A straight line that turns into a level.
    LinearThenPlateau {
        /// Where it turns.
        at: f64,
        /// The level from there on.
        level: f64,
        /// The slope before.
        slope: f64,
    },
    /// A straight line that turns into another.
    TwoSlopes {
        /// Where it turns.
        at: f64,
        /// The value there.
        value: f64,
        /// The slope before.
        before: f64,
        /// The slope after.
        after: f64,
    },
}

impl Curve {
    /// Its kind.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self {
            Self::Constant { .. } => Kind::Constant,
            Self::Linear { .. } => Kind::Linear,
            Self::Step { .. } => Kind::Step,
            Self::LinearThenPlateau { .. } => Kind::LinearThenPlateau,
            Self::TwoSlopes { .. } => Kind::TwoSlopes,
        }
    }

    /// The x of its break.
    #[must_use]
    pub fn break_at(&self) -> Option<f64> {
        match *self {
            Self::Constant { .. } | Self::Linear { .. } => None,
            Self::Step { at, .. }
            | Self::LinearThenPlateau { at, .. }
            | Self::TwoSlopes { at, .. } => Some(at),
        }
    }

    /// Its value at `x`.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        match *self {
            Self::Constant { level } => level,
            Self::Linear { line } => line.at(x),
            Self::Step { at, before, after } => {
                if x < at {
                    before
                } else {
                    after
                }
            }
            Self::LinearThenPlateau { at, level, slope } => level + slope * (x - at).min(0.0),
            Self::TwoSlopes {
                at,
                value,
                before,
                after,
            } => value + if x < at { before } else { after } * (x - at),
        }
    }
}
