//! Least squares for every kind of curve over every break that it may have.
//!
//! With sums of prefixes each break costs a handful of operations, so a fit of n points takes O(n).
//! For a continuous curve the best break between two neighbouring points is where the free lines of
//! the two sides meet, if they meet there, and else one of the two points (Hudson 1966): meeting places
//! and points together hold the exact optimum.

use super::super::line::Line;
use super::super::{Point, Unusable, mean};
use super::curve::{Curve, Kind};
use super::sums::Sums;
use super::{EACH_SIDE, ON_PLATEAU};

/// How many points a plateau takes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    plateau: usize,
}

impl Limits {
    /// What the answer admits.
    pub(super) const FULL: Self = Self {
        plateau: ON_PLATEAU,
    };
    /// For looking at whether a plateau may have begun.
    pub(super) const SHORT_PLATEAU: Self = Self { plateau: 2 };
}

/// A kind, fitted to values on a grid.
#[derive(Clone, Copy, Debug)]
pub(super) struct Fit {
    pub(super) kind: Kind,
    /// The sum of squared residuals.
    pub(super) squares: f64,
    /// Where it breaks; not a number where it does not.
    pub(super) at: f64,
    /// The criterion.
    pub(super) bic: f64,
}

impl Fit {
    fn new(kind: Kind, count: usize, (squares, at): (f64, f64)) -> Self {
        let count = count as f64;
        let floored = squares.max(1e-12 * count);
        let parameters = kind.parameters() as f64 + 1.0;
        let bic = count * (floored / count).ln() + parameters * count.ln();
        Self {
            kind,
            squares,
            at,
            bic,
        }
    }
}

/// The x of the points, brought to -1 … 1, with what a fit needs of them. Fits are made there, so that
/// neither units nor magnitudes have a say in the choice.
#[derive(Debug)]
pub(super) struct Grid {
    pub(super) u: Vec<f64>,
    /// Sums over the first i of u and of its square.
    sums: Vec<(f64, f64)>,
    x: (f64, f64),
    y: (f64, f64),
}

impl Grid {
    /// The grid of points in ascending x, each x once.
    pub(super) fn new(points: &[Point]) -> Result<Self, Unusable> {
        let (first, last) = (points[0].0, points[points.len() - 1].0);
        let x = (first.midpoint(last), (last - first) / 2.0);
        let u: Vec<f64> = points.iter().map(|point| (point.0 - x.0) / x.1).collect();
        // Too close together to be told apart once they are on the grid.
        if !u.is_sorted_by(|a, b| a < b) {
            return Err(Unusable::OutOfRange);
        }
        let mut sums = vec![(0.0, 0.0)];
        let (mut total, mut squares) = (0.0, 0.0);
        for value in &u {
            total += value;
            squares += value * value;
            sums.push((total, squares));
        }
        let ys: Vec<f64> = points.iter().map(|point| point.1).collect();
        let middle = mean(&ys);
        let variance = ys.iter().map(|y| (y - middle).powi(2)).sum::<f64>() / ys.len() as f64;
        // Differences in the last digits of equal values are no scatter.
        let varies = variance.sqrt() > 1e-14 * middle.abs();
        let scale = if varies { variance.sqrt() } else { 0.0 };
        Ok(Self {
            u,
            sums,
            x,
            y: (middle, scale),
        })
    }

    /// The y of the points, with mean 0 and variance 1 (all 0 where they do not vary).
    pub(super) fn values(&self, points: &[Point]) -> Vec<f64> {
        let (middle, scale) = self.y;
        let value = |y: f64| {
            if scale == 0.0 {
                0.0
            } else {
                (y - middle) / scale
            }
        };
        points.iter().map(|point| value(point.1)).collect()
    }

    /// Squares of grid values in the unit of y.
    pub(super) fn squares(&self, squares: f64) -> f64 {
        squares * self.y.1 * self.y.1
    }

    /// What the unit of y adds to every criterion.
    pub(super) fn bic_offset(&self) -> f64 {
        let scale = if self.y.1 == 0.0 { 1.0 } else { self.y.1 };
        2.0 * self.u.len() as f64 * scale.ln()
    }

    /// Sums over the first i points, for i from 0 to all.
    fn prefixes(&self, v: &[f64]) -> Vec<Sums> {
        let mut total = Sums {
            n: 0.0,
            u: 0.0,
            v: 0.0,
            uu: 0.0,
            uv: 0.0,
            vv: 0.0,
        };
        let mut prefixes = vec![total];
        for (index, (u, v)) in self.u.iter().zip(v).enumerate() {
            (total.u, total.uu) = self.sums[index + 1];
            total.n += 1.0;
            total.v += v;
            total.uv += u * v;
            total.vv += v * v;
            prefixes.push(total);
        }
        prefixes
    }

    /// The curve that a fit stands for, on the grid.
    pub(super) fn curve(&self, v: &[f64], fit: &Fit) -> Curve {
        let at = fit.at;
        let ramp = |u: f64| (u - at).min(0.0);
        match fit.kind {
            Kind::Constant => Curve::Constant { level: mean(v) },
            Kind::Linear => {
                let (slope, at_zero) = self.regress(v, |u| u);
                Curve::Linear {
                    line: Line {
                        through: (0.0, at_zero),
                        slope,
                    },
                }
            }
            Kind::Step => {
                let split = self.u.partition_point(|u| *u < at);
                Curve::Step {
                    at,
                    before: mean(&v[..split]),
                    after: mean(&v[split..]),
                }
            }
            Kind::LinearThenPlateau => {
                let (slope, level) = self.regress(v, ramp);
                Curve::LinearThenPlateau { at, level, slope }
            }
            Kind::TwoSlopes => {
                // First what the ramp before the break leaves of the ramp after it and of the values,
                // then the slope of one on the other (Frisch, Waugh and Lovell).
                let after: Vec<f64> = self.u.iter().map(|u| (u - at).max(0.0)).collect();
                let (of_after, after_at_zero) = self.regress(&after, ramp);
                let left = |(u, w): (&f64, &f64)| w - of_after * ramp(*u) - after_at_zero;
                let rest: Vec<f64> = self.u.iter().zip(&after).map(left).collect();
                let product = |a: &[f64]| a.iter().zip(&rest).map(|(a, b)| a * b).sum::<f64>();
                let slope_after = product(v) / product(&rest);
                let without = |(v, w): (&f64, &f64)| v - slope_after * w;
                let before: Vec<f64> = v.iter().zip(&after).map(without).collect();
                let (slope, value) = self.regress(&before, ramp);
                Curve::TwoSlopes {
                    at,
                    value,
                    before: slope,
                    after: slope_after,
                }
            }
        }
    }

    /// Slope and value at 0 of the regression of `v` on a function of u.
    fn regress(&self, v: &[f64], of: impl Fn(f64) -> f64) -> (f64, f64) {
        let h: Vec<f64> = self.u.iter().map(|u| of(*u)).collect();
        let (mean_h, mean_v) = (mean(&h), mean(v));
        let squares: f64 = h.iter().map(|h| (h - mean_h).powi(2)).sum();
        let products: f64 = h
            .iter()
            .zip(v)
            .map(|(h, v)| (h - mean_h) * (v - mean_v))
            .sum();
        let slope = products / squares;
        (slope, mean_v - slope * mean_h)
    }

    /// Values on the grid under a curve on the grid.
    pub(super) fn under(&self, curve: &Curve) -> Vec<f64> {
        self.u.iter().map(|u| curve.at(*u)).collect()
    }

    /// An x on the grid, in the unit of x.
    pub(super) fn x(&self, u: f64) -> f64 {
        self.x.0 + u * self.x.1
    }
}

impl Curve {
    /// The curve in the units of the points, from one on the grid.
    pub(super) fn in_units_of(self, grid: &Grid) -> Self {
        let x = |u: f64| grid.x(u);
        let y = |v: f64| grid.y.0 + v * grid.y.1;
        let slope = |s: f64| s * grid.y.1 / grid.x.1;
        match self {
            Self::Constant { level } => Self::Constant { level: y(level) },
            Self::Linear { line } => {
                let through = (x(line.through.0), y(line.through.1));
                Self::Linear {
                    line: Line {
                        through,
                        slope: slope(line.slope),
                    },
                }
            }
            Self::Step { at, before, after } => Self::Step {
                at: x(at),
                before: y(before),
                after: y(after),
            },
            Self::LinearThenPlateau {
                at,
                level,
                slope: before,
            } => Self::LinearThenPlateau {
                at: x(at),
                level: y(level),
                slope: slope(before),
            },
            Self::TwoSlopes {
                at,
                value,
                before,
                after,
            } => Self::TwoSlopes {
                at: x(at),
                value: y(value),
                before: slope(before),
                after: slope(after),
            },
        }
    }
}

/// The kinds asked for that the number of points admits, each at its best, from simple to complex.
pub(super) fn fits(
    grid: &Grid,
    v: &[f64],
    limits: Limits,
    wanted: impl Fn(Kind) -> bool,
) -> Vec<Fit> {
    let prefixes = grid.prefixes(v);
    let kinds = Kind::ALL.into_iter().filter(|kind| wanted(*kind));
    kinds
        .filter_map(|kind| fit(grid, &prefixes, kind, limits))
        .collect()
}

/// The lowest criterion among those that are allowed; the simpler one of equals.
pub(super) fn best(fits: &[Fit], allowed: impl Fn(Kind) -> bool) -> Option<Fit> {
    let allowed = fits.iter().filter(|fit| allowed(fit.kind));
    allowed.copied().min_by(|a, b| a.bic.total_cmp(&b.bic))
}

/// The fit of one kind, where the points admit it.
fn fit(grid: &Grid, prefixes: &[Sums], kind: Kind, limits: Limits) -> Option<Fit> {
    let count = grid.u.len();
    let all = prefixes[count];
    let found = match kind {
        Kind::Constant => Some((all.about_mean(), f64::NAN)),
        Kind::Linear => Some((all.line().1, f64::NAN)),
        Kind::Step => over_breaks(grid, EACH_SIDE, EACH_SIDE, |split, offer| {
            let (left, right) = (prefixes[split], all.minus(prefixes[split]));
            let at = grid.u[split - 1].midpoint(grid.u[split]);
            offer(left.about_mean() + right.about_mean(), at);
        }),
        Kind::LinearThenPlateau => {
            let knot = |at: usize| (prefixes[at + 1].plateau_at(grid.u[at], all), grid.u[at]);
            let free = |left: Sums, right: Sums| {
                let (slope, squares) = left.line();
                let meets = left.u / left.n + (right.v / right.n - left.v / left.n) / slope;
                (squares + right.about_mean(), meets)
            };
            continuous(grid, prefixes, limits.plateau, free, knot)
        }
        Kind::TwoSlopes => {
            let knot = |at: usize| (prefixes[at + 1].two_slopes_at(grid.u[at], all), grid.u[at]);
            let free = |left: Sums, right: Sums| {
                let ((before, squares), (after, more)) = (left.line(), right.line());
                let left_at_zero = (left.v - before * left.u) / left.n;
                let right_at_zero = (right.v - after * right.u) / right.n;
                (
                    squares + more,
                    (right_at_zero - left_at_zero) / (before - after),
                )
            };
            continuous(grid, prefixes, EACH_SIDE, free, knot)
        }
    };
    found.map(|found| Fit::new(kind, count, found))
}

/// The best break of a continuous curve: for each split of the points either where the `free` curves of
/// the two sides meet, if between the two neighbours, or at a point (`knot`), which counts for both
/// sides.
fn continuous(
    grid: &Grid,
    prefixes: &[Sums],
    after: usize,
    free: impl Fn(Sums, Sums) -> (f64, f64),
    knot: impl Fn(usize) -> (f64, f64),
) -> Option<(f64, f64)> {
    let all = prefixes[grid.u.len()];
    over_breaks(grid, EACH_SIDE, after, |split, offer| {
        let (squares, meets) = free(prefixes[split], all.minus(prefixes[split]));
        if grid.u[split - 1] < meets && meets < grid.u[split] {
            offer(squares, meets);
        }
        let first = if split == EACH_SIDE { split - 1 } else { split };
        for (squares, at) in (first..=split).map(&knot) {
            offer(squares, at);
        }
    })
}

/// The least of what is offered for every split that leaves `before` and `after` points on its sides.
fn over_breaks(
    grid: &Grid,
    before: usize,
    after: usize,
    at_split: impl Fn(usize, &mut dyn FnMut(f64, f64)),
) -> Option<(f64, f64)> {
    let mut best: Option<(f64, f64)> = None;
    for split in before..=grid.u.len().saturating_sub(after) {
        at_split(split, &mut |squares, at| {
            if best.is_none_or(|best| squares < best.0) {
                best = Some((squares, at));
            }
        });
    }
    best
}
