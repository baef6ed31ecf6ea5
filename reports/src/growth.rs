//! How durations grow with the number of the workflow.

/// A straight line.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Its value at workflow 1.
    pub at_first: f64,
    /// What each further workflow adds.
    pub slope: f64,
}

/// The line of least squares through points of workflow and value. Nothing where there are fewer than
/// three points, or all of one workflow: two points always lie on a line, and say nothing of it.
#[must_use]
pub fn least_squares(points: &[(u32, f64)]) -> Option<Line> {
    if points.len() < 3 {
        return None;
    }
    let count = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| f64::from(*x)).sum::<f64>() / count;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / count;
    let square: f64 = points
        .iter()
        .map(|(x, _)| (f64::from(*x) - mean_x).powi(2))
        .sum();
    if square == 0.0 {
        return None;
    }
    let product: f64 = points
        .iter()
        .map(|(x, y)| (f64::from(*x) - mean_x) * (y - mean_y))
        .sum();
    let slope = product / square;
    Some(Line {
        at_first: mean_y + slope * (1.0 - mean_x),
        slope,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_again() {
        let points: Vec<(u32, f64)> = (1..=6).map(|x| (x, 3.0 + 0.5 * f64::from(x - 1))).collect();
        let line = least_squares(&points).unwrap();
        assert!((line.at_first - 3.0).abs() < 1e-12 && (line.slope - 0.5).abs() < 1e-12);
    }

    #[test]
    fn the_published_slopes_are_found_from_the_published_points() {
        // Minutes of workflows 1, 5 and 6 of the reference run, baseline and tuned.
        let slope = |points: &[(u32, f64)]| least_squares(points).unwrap().slope;
        let baseline = slope(&[(1, 10.66), (5, 20.53), (6, 24.33)]);
        let tuned = slope(&[(1, 6.09), (5, 13.56), (6, 15.34)]);
        assert_eq!(format!("{baseline:.2} {tuned:.2}"), "2.66 1.86");
    }

    #[test]
    fn two_points_make_no_line() {
        assert_eq!(least_squares(&[(1, 1.0), (2, 2.0)]), None);
        assert_eq!(least_squares(&[(1, 1.0), (1, 2.0), (1, 3.0)]), None);
    }
}
