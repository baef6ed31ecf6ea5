//! What kind of curve a whole run is: flat, a line, a step, a rise that levels off, or two slopes.
//!
//! Each kind is fitted by least squares over all breaks that it may have. The Bayesian information
//! criterion (Schwarz 1978) says which kind describes the points best for its number of parameters. Alone it sees
//! breaks in noise far too often, since the break is chosen after looking. So a guard ([`Guard`])
//! decides how complex the answer may be, and the criterion chooses within that.
//!
//! Left out: curves with several breaks, and noise that has a memory (a slow hour of the machine looks
//! like a step, and no method that sees one run can tell them apart; `docs/statistics.md` has figures).

mod curve;
mod fit;
mod guard;
#[cfg(test)]
mod simulations;
mod sums;
#[cfg(test)]
mod tests;

pub use curve::{Curve, Kind};
pub use guard::{Guard, SIGNIFICANT};

use super::line::curve as checked;
use super::{Interval, Point, Unusable};
use fit::{Grid, Limits};

/// The fewest points that a shape is chosen for.
pub const FEWEST: usize = 6;

/// How many points have to lie on each side of a break. A point at a break counts for both.
pub const EACH_SIDE: usize = 3;

/// How many points there have to be from a break on for what follows to be called a plateau.
pub const ON_PLATEAU: usize = 6;

/// A kind of curve, fitted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The curve with the least sum of squares of its kind.
    pub curve: Curve,
    /// That sum, in the square of the unit of y.
    pub residual_squares: f64,
    /// The criterion: `n ln(RSS / n) + k ln n` with the parameters of the curve, its break, and the
    /// scatter counted in k. Lower is better; a difference below 2 is hardly worth a mention, above 6
    /// strong. A sum of squares below 1e-12 of that about the mean counts as that much.
    pub bic: f64,
}

/// What can be said of a plateau: a level that is held after a rise or fall.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Plateau {
    /// The curve levels off.
    Observed {
        /// From this x.
        from: f64,
        /// How many points lie on it, from the break on.
        points: usize,
    },
    /// There are points enough for one, and another kind describes the curve better.
    NotShown,
    /// No plateau observable: the run is too short to show or to refute one.
    NotObservable {
        /// How many points there are from the break on after which the curve may be level; 0 where it
        /// shows no sign of levelling off, or has too few points to look for one.
        points: usize,
        /// How many would have to: [`ON_PLATEAU`].
        needed: usize,
    },
}

/// What kind of curve the points are.
#[derive(Clone, Debug, PartialEq)]
pub struct Shape {
    /// The chosen curve.
    pub curve: Curve,
    /// Every kind that so many points admit, from simple to complex, the chosen one among them.
    pub candidates: Vec<Candidate>,
    /// What kept the answer simple, or let it become complex, in the order in which it was asked.
    pub guards: Vec<Guard>,
    /// Where the break may lie: percentiles of a residual bootstrap. Nothing where there is no break.
    pub break_interval: Option<Interval>,
    /// What can be said of a plateau.
    pub plateau: Plateau,
    /// How many points there are.
    pub points: usize,
}

/// The kind of curve that points of (number of the workflow, value) are. There may be gaps in x; the
/// order of the points does not matter.
///
/// # Errors
///
/// Where there are fewer than [`FEWEST`] points, or two at one x, or a value is not finite.
pub fn shape(points: &[Point], seed: u64) -> Result<Shape, Unusable> {
    let points = checked(points, FEWEST)?;
    let grid = Grid::new(&points)?;
    let v = grid.values(&points);
    let fits = fit::fits(&grid, &v, Limits::FULL, |_| true);
    let (chosen, guards) = guard::choose(&grid, &v, &fits, seed);
    let candidate = |fit: &fit::Fit| Candidate {
        curve: grid.curve(&v, fit).in_units_of(&grid),
        residual_squares: grid.squares(fit.squares),
        bic: fit.bic + grid.bic_offset(),
    };
    let curve = candidate(&chosen).curve;
    Ok(Shape {
        curve,
        candidates: fits.iter().map(candidate).collect(),
        guards,
        break_interval: guard::break_interval(&grid, &v, &chosen, seed),
        plateau: plateau(&grid, &v, &curve, &points),
        points: points.len(),
    })
}

/// What can be said of a plateau, once the curve is chosen.
fn plateau(grid: &Grid, v: &[f64], curve: &Curve, points: &[Point]) -> Plateau {
    let on = |x: f64| points.iter().filter(|point| point.0 >= x).count();
    if let Curve::LinearThenPlateau { at, .. } = *curve {
        return Plateau::Observed {
            from: at,
            points: on(at),
        };
    }
    // A plateau of as few as two points, which is no plateau but may become one.
    let fits = fit::fits(grid, v, Limits::SHORT_PLATEAU, |_| true);
    let short = match fit::best(&fits, |_| true) {
        Some(fit) if fit.kind == Kind::LinearThenPlateau => on(grid.x(fit.at)),
        _ => 0,
    };
    let enough = points.len() >= EACH_SIDE + ON_PLATEAU;
    if enough && (short == 0 || short >= ON_PLATEAU) {
        return Plateau::NotShown;
    }
    Plateau::NotObservable {
        points: short,
        needed: ON_PLATEAU,
    }
}
