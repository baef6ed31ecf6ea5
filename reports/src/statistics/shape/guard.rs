//! How complex the answer may be, and how sure its break is.

use super::super::random::{Random, Stream};
use super::super::{Interval, Method, Probability, sorted};
use super::curve::Kind;
use super::fit::{self, Fit, Grid, Limits};

/// A richer kind is let in where chance alone would give its gain with at most this probability. Below
/// 5 %, so that what simulations find stays below it too.
pub const SIGNIFICANT: f64 = 0.04;

/// How many orders of the residuals are drawn at most for one guard.
const DRAWS: u64 = 999;

/// Drawing stops once so many orders gain as much: the answer is no, and p is known well enough
/// (Besag and Clifford 1991).
const ENOUGH: u64 = 100;

/// How many curves are drawn for the interval of a break.
const RESAMPLES: usize = 999;

/// Whether something richer than a kind may be the answer.
///
/// If the simple kind is the truth, its residuals are noise, and their order is arbitrary. So they are
/// put in random order, the simple and all richer kinds are fitted anew, and the largest gain in the
/// criterion is compared with the one seen (a permutation test of residuals; Freedman and Lane 1983).
/// Against a constant this is exact for noise of any distribution, however heavy its tails, as long as
/// one value does not depend on the one before; against the others it is approximate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Guard {
    /// The simple kind.
    pub simple: Kind,
    /// How far the criterion of the best richer kind lies below its own.
    pub gain: f64,
    /// How often noise alone gains as much. Nothing where there is no gain.
    pub p: Option<Probability>,
}

impl Guard {
    /// Whether something richer may be the answer.
    #[must_use]
    pub fn lets_pass(&self) -> bool {
        self.p.is_some_and(|p| p.value <= SIGNIFICANT)
    }
}

/// The fit with the lowest criterion among those that are no more complex than the guards allow.
pub(super) fn choose(grid: &Grid, v: &[f64], fits: &[Fit], seed: u64) -> (Fit, Vec<Guard>) {
    let mut random = Random::new(seed, Stream::ShapeGuard);
    let mut guards = Vec::new();
    let mut chosen = fits[0];
    for allowed in 0.. {
        let simple = fit::best(fits, |kind| kind.level() <= allowed);
        let richer = fit::best(fits, |kind| kind.level() > allowed);
        chosen = simple.unwrap_or(chosen);
        let Some(richer) = richer else {
            break;
        };
        let gain = chosen.bic - richer.bic;
        let tested = gain > 0.0;
        let p = tested.then(|| chance_of_gain(grid, v, &chosen, allowed, gain, &mut random));
        let guard = Guard {
            simple: chosen.kind,
            gain,
            p,
        };
        guards.push(guard);
        if !guard.lets_pass() {
            break;
        }
    }
    (chosen, guards)
}

/// How often the residuals of `simple` in random order gain as much by a kind above the level.
fn chance_of_gain(
    grid: &Grid,
    v: &[f64],
    simple: &Fit,
    level: usize,
    gain: f64,
    random: &mut Random,
) -> Probability {
    let under = grid.under(&grid.curve(v, simple));
    let mut residuals: Vec<f64> = v.iter().zip(&under).map(|(v, w)| v - w).collect();
    let wanted = |kind: Kind| kind == simple.kind || kind.level() > level;
    let mut values = under.clone();
    let (mut as_much, mut draws) = (0, 0);
    while draws < DRAWS && as_much < ENOUGH {
        random.shuffle(&mut residuals);
        for (value, (under, residual)) in values.iter_mut().zip(under.iter().zip(&residuals)) {
            *value = under + residual;
        }
        let fits = fit::fits(grid, &values, Limits::FULL, wanted);
        let bic = |best: Option<Fit>| best.map_or(f64::INFINITY, |fit| fit.bic);
        let drawn = bic(fit::best(&fits, |kind| kind == simple.kind))
            - bic(fit::best(&fits, |kind| kind != simple.kind));
        draws += 1;
        as_much += u64::from(drawn >= gain - 1e-9);
    }
    // Stopped early, the order that was seen is not counted as one more.
    let value = if as_much == ENOUGH {
        as_much as f64 / draws as f64
    } else {
        (as_much + 1) as f64 / (draws + 1) as f64
    };
    Probability {
        value,
        method: Method::MonteCarlo { draws },
    }
}

/// Where the break of a fit may lie: the 2.5th and 97.5th percentile over curves made of the fitted one
/// and residuals drawn with replacement, widened for the parameters that were fitted.
pub(super) fn break_interval(grid: &Grid, v: &[f64], chosen: &Fit, seed: u64) -> Option<Interval> {
    if chosen.at.is_nan() {
        return None;
    }
    let under = grid.under(&grid.curve(v, chosen));
    let count = v.len() as f64;
    let widen = (count / (count - chosen.kind.parameters() as f64)).sqrt();
    let residuals: Vec<f64> = v.iter().zip(&under).map(|(v, w)| (v - w) * widen).collect();
    let mut random = Random::new(seed, Stream::ShapeBootstrap);
    let mut breaks = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        let draw = |under: &f64| under + residuals[random.below(residuals.len())];
        let values: Vec<f64> = under.iter().map(draw).collect();
        let fits = fit::fits(grid, &values, Limits::FULL, |kind| kind == chosen.kind);
        breaks.extend(fits.first().map(|fit| fit.at));
    }
    let breaks = sorted(&breaks);
    let low = *breaks.get(RESAMPLES / 40)?;
    let high = *breaks.get(RESAMPLES - 1 - RESAMPLES / 40)?;
    Some(Interval {
        low: grid.x(low),
        high: grid.x(high),
        confidence: 0.95,
    })
}
