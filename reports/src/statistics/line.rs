//! Intercept and slope of a growth, over a window that the curves to be compared have in common.
//!
//! Two lines are in use for the same thing and give different numbers, so each has its name here: from
//! the first point to the last (*end to end*), and of *least squares*.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::{Interval, Point, Unusable, at_least, check, finite, mean};

/// A straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// A point that it goes through.
    pub through: Point,
    /// What it rises by for each unit of x.
    pub slope: f64,
}

impl Line {
    /// Its value at `x`. The intercept of a growth over workflows is the value at 1.
    #[must_use]
    pub fn at(&self, x: f64) -> f64 {
        self.through.1 + self.slope * (x - self.through.0)
    }
}

/// The line of least squares, and how well it is known.
///
/// The errors take the points to scatter about a line independently and evenly. Where a curve bends, or
/// noise comes in stretches, they are too small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LeastSquares {
    /// The line, through the mean point.
    pub line: Line,
    /// How many points it was fitted to, at least 3.
    pub points: usize,
    /// The standard deviation of the points about it, with `points - 2` degrees of freedom.
    pub scatter: f64,
    /// The standard error of the slope.
    pub slope_error: f64,
    /// The share of the variance of y that the line takes up, 0 to 1; 1 where y does not vary.
    pub r_squared: f64,
}

impl LeastSquares {
    /// The standard error of the line's value at `x`.
    #[must_use]
    pub fn error_at(&self, x: f64) -> f64 {
        let of_mean = self.scatter / (self.points as f64).sqrt();
        of_mean.hypot(self.slope_error * (x - self.line.through.0))
    }

    /// An interval for the slope, by Student's t with `points - 2` degrees of freedom. `confidence` is
    /// brought into 0 to 0.9999.
    #[must_use]
    pub fn slope_interval(&self, confidence: f64) -> Interval {
        let confidence = if confidence.is_finite() {
            confidence.clamp(0.0, 0.9999)
        } else {
            0.95
        };
        let freedom = self.points as f64 - 2.0;
        let reach = StudentsT::new(0.0, 1.0, freedom)
            .map_or(f64::INFINITY, |t| t.inverse_cdf(0.5 + confidence / 2.0));
        Interval {
            low: self.line.slope - reach * self.slope_error,
            high: self.line.slope + reach * self.slope_error,
            confidence,
        }
    }
}

/// The line from the point with the smallest x to the one with the largest. Whatever lies between has
/// no say, and the noise of the two ends goes into it undiluted.
///
/// # Errors
///
/// Where fewer than two points, or an x twice, or a value that is not finite.
pub fn end_to_end(points: &[Point]) -> Result<Line, Unusable> {
    let points = curve(points, 2)?;
    let (first, last) = (points[0], points[points.len() - 1]);
    let slope = finite((last.1 - first.1) / (last.0 - first.0))?;
    Ok(Line {
        through: first,
        slope,
    })
}

/// The line with the least sum of squared distances in y. Points may share an x.
///
/// # Errors
///
/// Where fewer than three points (two always lie on a line, and say nothing of it), or all of one x, or
/// a value that is not finite.
pub fn least_squares(points: &[Point]) -> Result<LeastSquares, Unusable> {
    check_points(points)?;
    at_least(3, points.len(), "points")?;
    let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
    let centre = (mean(&xs), mean(&ys));
    let over = |of: &dyn Fn(f64, f64) -> f64| -> f64 {
        points
            .iter()
            .map(|(x, y)| of(x - centre.0, y - centre.1))
            .sum()
    };
    let (xx, xy, yy) = (
        over(&|x, _| x * x),
        over(&|x, y| x * y),
        over(&|_, y| y * y),
    );
    if xx == 0.0 || xs.iter().all(|x| *x == xs[0]) {
        return Err(Unusable::NoVariation { what: "x" });
    }
    let slope = finite(xy / xx)?;
    // From the residuals rather than from yy - slope * xy, which loses all digits of a close fit.
    let rest = over(&|x, y| (y - slope * x).powi(2));
    let scatter = (rest / (points.len() as f64 - 2.0)).sqrt();
    Ok(LeastSquares {
        line: Line {
            through: centre,
            slope,
        },
        points: points.len(),
        scatter: finite(scatter)?,
        slope_error: finite(scatter / xx.sqrt())?,
        r_squared: if yy == 0.0 {
            1.0
        } else {
            (1.0 - rest / yy).clamp(0.0, 1.0)
        },
    })
}

/// The x that every series has, ascending. Empty where they share none.
#[must_use]
pub fn common_window(series: &[&[Point]]) -> Vec<f64> {
    let Some((first, others)) = series.split_first() else {
        return Vec::new();
    };
    let has = |points: &[Point], x: f64| points.iter().any(|point| point.0 == x);
    let mut window: Vec<f64> = first.iter().map(|point| point.0).collect();
    window.retain(|x| others.iter().all(|points| has(points, *x)));
    window.sort_by(f64::total_cmp);
    window.dedup();
    window
}

/// The points whose x is in the window, in their order.
#[must_use]
pub fn within(points: &[Point], window: &[f64]) -> Vec<Point> {
    let inside = |point: &&Point| window.contains(&point.0);
    points.iter().filter(inside).copied().collect()
}

/// How far apart two curves are at the ends of the window that they share.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// The first x that both have, and the first curve minus the second there.
    pub first: Point,
    /// The last x that both have, and the first curve minus the second there.
    pub last: Point,
}

impl Gap {
    /// The share of the gap at the end that is there at the beginning: near 1 where the curves are
    /// shifted against each other, near 0 where they part by growth. Nothing where the end has no gap.
    #[must_use]
    pub fn share_at_first(&self) -> Option<f64> {
        let share = self.first.1 / self.last.1;
        share.is_finite().then_some(share)
    }
}

/// How far apart two curves are at the ends of the window that they share.
///
/// # Errors
///
/// Where they share fewer than two x, or one has an x twice or a value that is not finite.
pub fn gap(left: &[Point], right: &[Point]) -> Result<Gap, Unusable> {
    let window = common_window(&[left, right]);
    let left = curve(&within(left, &window), 2)?;
    let right = curve(&within(right, &window), 2)?;
    let between = |at: usize| (left[at].0, left[at].1 - right[at].1);
    Ok(Gap {
        first: between(0),
        last: between(left.len() - 1),
    })
}

/// The points in ascending x, once it is sure that they are finite, at least `need`, and one for each x.
pub(super) fn curve(points: &[Point], need: usize) -> Result<Vec<Point>, Unusable> {
    check_points(points)?;
    at_least(need, points.len(), "points")?;
    let mut order: Vec<usize> = (0..points.len()).collect();
    order.sort_by(|a, b| points[*a].0.total_cmp(&points[*b].0));
    if let Some(pair) = order
        .windows(2)
        .find(|pair| points[pair[0]].0 == points[pair[1]].0)
    {
        return Err(Unusable::RepeatedX {
            index: pair[0].max(pair[1]),
        });
    }
    Ok(order.into_iter().map(|index| points[index]).collect())
}

/// Refuses points with a value that is not finite; its position is that of the point.
fn check_points(points: &[Point]) -> Result<(), Unusable> {
    check(points.iter().map(|point| point.0))?;
    check(points.iter().map(|point| point.1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(slope: f64) -> Vec<Point> {
        (1..=6)
            .map(|x| (f64::from(x), 3.0 + slope * f64::from(x - 1)))
            .collect()
    }

    #[test]
    fn a_line_is_found_again_both_ways() {
        let fit = least_squares(&points(0.5)).unwrap();
        assert!((fit.line.at(1.0) - 3.0).abs() < 1e-12 && (fit.line.slope - 0.5).abs() < 1e-12);
        assert!(fit.scatter < 1e-12 && fit.r_squared > 1.0 - 1e-12);
        let ends = end_to_end(&points(0.5)).unwrap();
        assert_eq!((ends.at(1.0), ends.slope), (3.0, 0.5));
    }

    #[test]
    fn errors_are_those_worked_out_by_hand() {
        // Residuals -0.1, 0.2, -0.1 about 2 + x: scatter sqrt(0.06 / 1), over sqrt(2).
        let fit = least_squares(&[(0.0, 1.9), (1.0, 3.2), (2.0, 3.9)]).unwrap();
        assert!((fit.line.slope - 1.0).abs() < 1e-12 && (fit.line.at(0.0) - 2.0).abs() < 1e-12);
        assert!((fit.scatter - 0.06_f64.sqrt()).abs() < 1e-12);
        assert!((fit.slope_error - 0.03_f64.sqrt()).abs() < 1e-12);
        assert!((fit.error_at(1.0) - 0.02_f64.sqrt()).abs() < 1e-12);
        // Student's t with one degree of freedom leaves 2.5 % beyond 12.706.
        let interval = fit.slope_interval(0.95);
        assert!((interval.high - 1.0 - 12.7062 * 0.03_f64.sqrt()).abs() < 1e-4);
    }

    #[test]
    fn two_points_make_no_line_of_least_squares() {
        assert!(least_squares(&[(1.0, 1.0), (2.0, 2.0)]).is_err());
        let one_x = least_squares(&[(1.0, 1.0), (1.0, 2.0), (1.0, 3.0)]);
        assert_eq!(one_x, Err(Unusable::NoVariation { what: "x" }));
        let twice = end_to_end(&[(1.0, 1.0), (2.0, 2.0), (1.0, 3.0)]);
        assert_eq!(twice, Err(Unusable::RepeatedX { index: 2 }));
    }

    #[test]
    fn a_window_holds_what_all_series_have() {
        let (long, gappy) = (points(1.0), [(6.0, 1.0), (2.0, 1.0), (9.0, 1.0)]);
        assert_eq!(common_window(&[&long, &gappy]), [2.0, 6.0]);
        assert_eq!(within(&gappy, &[2.0, 6.0]), [(6.0, 1.0), (2.0, 1.0)]);
        assert!(common_window(&[]).is_empty());
    }

    #[test]
    fn a_gap_is_split_into_shift_and_growth() {
        let shifted: Vec<Point> = points(1.0).iter().map(|(x, y)| (*x, y + 4.0)).collect();
        assert_eq!(
            gap(&shifted, &points(1.0)).unwrap().share_at_first(),
            Some(1.0)
        );
        assert_eq!(
            gap(&points(2.0), &points(1.0)).unwrap().share_at_first(),
            Some(0.0)
        );
        assert_eq!(
            gap(&points(1.0), &points(1.0)).unwrap().share_at_first(),
            None
        );
    }
}
