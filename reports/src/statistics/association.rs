//! What goes along with the growth of durations: the number of the workflow, the rows in the table, the
//! live files.
//!
//! *Goes along* is all that a run can show. Rows and files both grow with every workflow, so a duration
//! that grows goes along with each of them, whichever is the cause. Where two of them move nearly
//! together the answer is that they cannot be told apart; a run that breaks them apart (compaction half
//! way, batches of unlike size) is what helps then, not more arithmetic.

use statrs::distribution::{ContinuousCDF, StudentsT};

use super::line::{LeastSquares, least_squares};
use super::{Point, Unusable, at_least, check, finite, mean};

/// From this variance inflation on, two predictors cannot be told apart: the variance of either slope
/// is then ten times what it would be if they were unrelated (Marquardt 1970). It is reached at a
/// correlation of 0.949.
pub const INFLATION_LIMIT: f64 = 10.0;

/// The fewest workflows of which two predictors are set against each other.
pub const FEWEST: usize = 6;

/// A workflow and the lake that it met.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Observation {
    /// Its number.
    pub workflow: f64,
    /// The rows in the tables when it began.
    pub rows: f64,
    /// The live files of the tables when it began.
    pub live_files: f64,
    /// How long it took, in any unit of time.
    pub duration: f64,
}

/// What goes along with the growth. Each part says for itself why it is missing.
#[derive(Clone, Debug, PartialEq)]
pub struct Association {
    /// The line of durations on the number of the workflow.
    pub per_workflow: Result<LeastSquares, Unusable>,
    /// The line of durations on rows.
    pub per_row: Result<LeastSquares, Unusable>,
    /// The line of durations on live files.
    pub per_live_file: Result<LeastSquares, Unusable>,
    /// Live files against the number of the workflow, which stands for all that grows evenly.
    pub files_or_workflows: Result<Explained, Unusable>,
    /// Live files against rows.
    pub files_or_rows: Result<Explained, Unusable>,
}

/// How much of the variance of durations two predictors take up, alone and together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Explained {
    /// The share that the first takes up alone (R²), 0 to 1.
    pub first_alone: f64,
    /// The share that the second takes up alone.
    pub second_alone: f64,
    /// The share that both take up.
    pub together: f64,
    /// Of what the second leaves, the share that the first takes up (partial R²); nothing where the
    /// second leaves nothing.
    pub first_beyond: Option<Beyond>,
    /// Of what the first leaves, the share that the second takes up.
    pub second_beyond: Option<Beyond>,
    /// The correlation of the two predictors, -1 to 1.
    pub correlation: f64,
    /// The variance inflation, `1 / (1 - correlation²)`, at least 1; infinite where one is a straight
    /// function of the other.
    pub inflation: f64,
}

/// What one predictor adds to another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beyond {
    /// The share of what the other leaves (partial R²), 0 to 1.
    pub share: f64,
    /// How often chance would give as much: Student's t with n - 3 degrees of freedom, which takes the
    /// scatter to be normal and without memory.
    pub p: f64,
}

/// What two predictors allow to be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reading {
    /// They move too closely together ([`INFLATION_LIMIT`]).
    CannotBeToldApart,
    /// Durations go along with the first beyond the second, and not the other way about.
    First,
    /// Durations go along with the second beyond the first, and not the other way about.
    Second,
    /// With each beyond the other.
    Both,
    /// With neither beyond the other: too few workflows or too much scatter, or no growth.
    Neither,
}

impl Explained {
    /// What may be said of the two; a probability of at most 0.05 counts.
    #[must_use]
    pub fn reading(&self) -> Reading {
        let counts = |beyond: Option<Beyond>| beyond.is_some_and(|beyond| beyond.p <= 0.05);
        if self.inflation >= INFLATION_LIMIT {
            return Reading::CannotBeToldApart;
        }
        match (counts(self.first_beyond), counts(self.second_beyond)) {
            (true, false) => Reading::First,
            (false, true) => Reading::Second,
            (true, true) => Reading::Both,
            (false, false) => Reading::Neither,
        }
    }
}

/// What goes along with the growth of the durations.
#[must_use]
pub fn association(observations: &[Observation]) -> Association {
    let column = |of: fn(&Observation) -> f64| observations.iter().map(of).collect::<Vec<f64>>();
    let durations = column(|it| it.duration);
    let (workflows, rows) = (column(|it| it.workflow), column(|it| it.rows));
    let files = column(|it| it.live_files);
    let line = |xs: &[f64]| {
        let points: Vec<Point> = xs.iter().copied().zip(durations.iter().copied()).collect();
        least_squares(&points)
    };
    Association {
        per_workflow: line(&workflows),
        per_row: line(&rows),
        per_live_file: line(&files),
        files_or_workflows: explained(&durations, &files, &workflows),
        files_or_rows: explained(&durations, &files, &rows),
    }
}

/// How much of the variance of `values` two predictors take up, by linear regression.
///
/// # Errors
///
/// Where the lists have unlike lengths or fewer than [`FEWEST`] values, a value is not finite, or the
/// values or a predictor do not vary.
pub fn explained(values: &[f64], first: &[f64], second: &[f64]) -> Result<Explained, Unusable> {
    for other in [first, second] {
        if other.len() != values.len() {
            let (left, right) = (values.len(), other.len());
            return Err(Unusable::UnlikeLengths { left, right });
        }
    }
    at_least(FEWEST, values.len(), "workflows")?;
    let y = standardised(values, "durations")?;
    let a = standardised(first, "values of the first predictor")?;
    let b = standardised(second, "values of the second predictor")?;
    let correlation = product(&a, &b).clamp(-1.0, 1.0);
    let (with_first, with_second) = (product(&y, &a), product(&y, &b));
    let (first_alone, second_alone) = (with_first.powi(2).min(1.0), with_second.powi(2).min(1.0));
    // What is left of a predictor, or of the values, once the other predictor is taken out.
    let rest = |of: &[f64], without: &[f64]| -> Vec<f64> {
        let share = product(of, without);
        of.iter()
            .zip(without)
            .map(|(of, without)| of - share * without)
            .collect()
    };
    let beyond = |predictor: &[f64], other: &[f64]| {
        let (left, own) = (rest(&y, other), rest(predictor, other));
        let (left_squares, own_squares) = (product(&left, &left), product(&own, &own));
        if left_squares < 1e-12 || own_squares < 1e-12 {
            return None;
        }
        let share = product(&left, &own).powi(2) / (left_squares * own_squares);
        Some(share.min(1.0))
    };
    let (first_beyond, second_beyond) = (beyond(&a, &b), beyond(&b, &a));
    let together = first_beyond.map_or(second_alone.max(first_alone), |share| {
        second_alone + (1.0 - second_alone) * share
    });
    let freedom = values.len() as f64 - 3.0;
    let with_p = |share: f64| Beyond {
        share,
        p: chance(share, freedom),
    };
    Ok(Explained {
        first_alone,
        second_alone,
        together: finite(together)?.min(1.0),
        first_beyond: first_beyond.map(with_p),
        second_beyond: second_beyond.map(with_p),
        correlation,
        inflation: 1.0 / (1.0 - correlation * correlation),
    })
}

/// How often chance gives a partial R² of at least `share`: two-sided Student's t.
fn chance(share: f64, freedom: f64) -> f64 {
    let t = (share * freedom / (1.0 - share)).sqrt();
    if t.is_infinite() {
        return 0.0;
    }
    StudentsT::new(0.0, 1.0, freedom)
        .map_or(1.0, |student| 2.0 * student.sf(t))
        .min(1.0)
}

/// The values less their mean, with a sum of squares of 1.
fn standardised(values: &[f64], what: &'static str) -> Result<Vec<f64>, Unusable> {
    check(values.iter().copied())?;
    let middle = mean(values);
    let length = values
        .iter()
        .map(|value| (value - middle).powi(2))
        .sum::<f64>()
        .sqrt();
    // Differences in the last digits of equal values are no variation.
    if length <= 1e-13 * middle.abs() || length == 0.0 {
        return Err(Unusable::NoVariation { what });
    }
    Ok(values
        .iter()
        .map(|value| (value - middle) / length)
        .collect())
}

fn product(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::super::simulate::{Draws, Noise};
    use super::*;

    /// Twenty-four workflows of 4,000 rows each; files are 10 a workflow, compacted to 10 after every
    /// `compacted` workflows.
    fn run(seed: u64, compacted: u32, duration: impl Fn(f64, f64) -> f64) -> Vec<Observation> {
        let mut draws = Draws::new(seed);
        let observe = |workflow: u32| {
            let rows = f64::from(4_000 * (workflow - 1));
            let live_files = f64::from(10 + 10 * ((workflow - 1) % compacted));
            let noise = draws.noise(Noise::Normal);
            let duration = duration(rows, live_files) + noise;
            Observation {
                workflow: f64::from(workflow),
                rows,
                live_files,
                duration,
            }
        };
        (1..=24).map(observe).collect()
    }

    #[test]
    fn slopes_on_workflows_rows_and_files_are_found_again() {
        let found = association(&run(1, 24, |rows, _| 60.0 + rows / 1_000.0));
        let slope = |line: &Result<LeastSquares, Unusable>| line.as_ref().unwrap().line.slope;
        assert!((slope(&found.per_workflow) - 4.0).abs() < 0.1);
        assert!((slope(&found.per_row) - 0.001).abs() < 0.000_03);
        assert!((slope(&found.per_live_file) - 0.4).abs() < 0.01);
    }

    #[test]
    fn predictors_that_grow_together_cannot_be_told_apart() {
        let found = association(&run(1, 24, |_, files| 60.0 + files))
            .files_or_rows
            .unwrap();
        assert_eq!(found.reading(), Reading::CannotBeToldApart);
        assert!(found.first_alone > 0.99 && found.inflation > 1e6);
    }

    #[test]
    fn compaction_tells_files_from_rows() {
        let of_files = association(&run(2, 6, |_, files| 60.0 + files / 5.0));
        let found = of_files.files_or_rows.unwrap();
        assert_eq!(found.reading(), Reading::First);
        assert!(found.first_beyond.unwrap().share > 0.8 && found.inflation < 2.0);
        let of_rows = association(&run(2, 6, |rows, _| 60.0 + rows / 5_000.0));
        assert_eq!(of_rows.files_or_rows.unwrap().reading(), Reading::Second);
        let of_both = association(&run(2, 6, |rows, files| rows / 5_000.0 + files / 5.0));
        assert_eq!(of_both.files_or_rows.unwrap().reading(), Reading::Both);
        let reading = |seed| {
            association(&run(seed, 6, |_, _| 60.0))
                .files_or_rows
                .unwrap()
                .reading()
        };
        let nothing = (0..100)
            .filter(|seed| reading(*seed) == Reading::Neither)
            .count();
        assert!(nothing >= 85, "{nothing}");
    }

    #[test]
    fn shares_are_those_worked_out_by_hand() {
        // Unrelated predictors share the variance out: y = 2a + b of equal squares is 4/5 and 1/5.
        let a = [1.0, 1.0, -1.0, -1.0, 1.0, 1.0, -1.0, -1.0];
        let b = [1.0, -1.0, 1.0, -1.0, 1.0, -1.0, 1.0, -1.0];
        let y: Vec<f64> = a.iter().zip(&b).map(|(a, b)| 2.0 * a + b).collect();
        let found = explained(&y, &a, &b).unwrap();
        assert!(
            (found.first_alone - 0.8).abs() < 1e-12 && (found.second_alone - 0.2).abs() < 1e-12
        );
        assert!((found.together - 1.0).abs() < 1e-12 && found.correlation.abs() < 1e-12);
        assert!((found.first_beyond.unwrap().share - 1.0).abs() < 1e-12);
        // Student's t with 5 degrees of freedom leaves 5 % outside 2.5706.
        let share = 2.5706_f64.powi(2) / (2.5706_f64.powi(2) + 5.0);
        assert!((chance(share, 5.0) - 0.05).abs() < 1e-5);
    }

    #[test]
    fn files_that_do_not_vary_explain_nothing() {
        let found = association(&run(3, 1, |rows, _| rows));
        assert_eq!(
            found.per_live_file,
            Err(Unusable::NoVariation { what: "x" })
        );
        let what = "values of the first predictor";
        assert_eq!(found.files_or_rows, Err(Unusable::NoVariation { what }));
    }
}
