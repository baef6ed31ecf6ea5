//! What holds for all inputs: no panic, no answer that is no number, and nothing that depends on the
//! unit or on the order in which the values come.

use proptest::collection::vec;
use proptest::prelude::*;

use super::association::{Observation, association, explained};
use super::line::{common_window, end_to_end, gap, least_squares, within};
use super::paired::paired;
use super::ranks::rank_correlation;
use super::service::{Stay, stays};
use super::shape::shape;
use super::summary::{percentile, summary};
use super::{Interval, LARGEST, Point};

/// Values that break arithmetic: not finite, huge, tiny, and few enough to repeat.
fn hostile() -> impl Strategy<Value = f64> {
    let odd = [
        f64::NAN,
        f64::INFINITY,
        f64::MAX,
        f64::MIN_POSITIVE,
        5e-324,
        -5e-324,
        LARGEST,
        -LARGEST,
        1e-60,
        0.0,
        -0.0,
        1.0,
        1.0 + f64::EPSILON,
        2.0,
    ];
    prop_oneof![
        1 => any::<f64>(),
        2 => prop::sample::select(odd.to_vec()),
        4 => (0_i32..50).prop_map(f64::from),
        3 => -1e6..1e6,
    ]
}

fn finite(interval: Option<Interval>) -> bool {
    interval.is_none_or(|it| it.low.is_finite() && it.high.is_finite() && it.low <= it.high)
}

/// Points at 1, 2, 3 … with whole values, on which a change of unit by powers of two is exact.
fn whole_points() -> impl Strategy<Value = Vec<Point>> {
    let values = vec(0_i32..1_000, 6..16);
    let number = |(index, value): (usize, i32)| (index as f64 + 1.0, f64::from(value));
    values.prop_map(move |values| values.into_iter().enumerate().map(number).collect())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn no_input_panics_or_gives_what_is_no_number(
        points in vec((hostile(), hostile()), 0..14),
        seed in any::<u64>(),
    ) {
        let (xs, ys): (Vec<f64>, Vec<f64>) = points.iter().copied().unzip();
        if let Ok(found) = summary(&ys) {
            prop_assert!(found.median().is_finite());
            prop_assert!(found.min <= found.median() && found.median() <= found.max);
        }
        let _ = percentile(&ys, seed as u8);
        if let Ok(line) = end_to_end(&points) {
            prop_assert!(line.slope.is_finite());
        }
        if let Ok(fit) = least_squares(&points) {
            prop_assert!(fit.line.slope.is_finite() && fit.slope_error.is_finite());
            prop_assert!((0.0..=1.0).contains(&fit.r_squared));
            let _ = (fit.slope_interval(f64::NAN), fit.slope_interval(0.95), fit.error_at(1.0));
        }
        let _ = within(&points, &common_window(&[&points, &points]));
        if let Ok(gap) = gap(&points, &points) {
            prop_assert_eq!(gap.share_at_first(), None);
        }
        if let Ok(found) = rank_correlation(&xs[..xs.len().min(7)], &ys[..ys.len().min(7)], seed) {
            prop_assert!(found.spearman.abs() <= 1.0 && found.kendall.abs() <= 1.0 + 1e-12);
            prop_assert!(found.p.value > 0.0 && found.p.value <= 1.0);
        }
        if let Ok(found) = paired(&points, seed) {
            prop_assert!(found.mean_ratio.is_finite() && found.median_ratio.is_finite());
            prop_assert!(finite(found.interval) && finite(found.mean_interval), "{:?}", found);
            prop_assert!(found.p.value > 0.0 && found.p.value <= 1.0);
        }
        let run: Vec<Stay> = points.iter().map(|it| Stay { launch: it.0, close: it.1 }).collect();
        if let Ok(found) = stays(&run, seed as u32 % 3) {
            prop_assert!((0.0..=1.0).contains(&found.service_share_at_most()), "{:?}", found);
            let _ = found.growth();
        }
    }

    #[test]
    fn no_shape_panics_or_has_what_is_no_number(
        points in vec((hostile(), hostile()), 6..14),
        seed in any::<u64>(),
    ) {
        let found = shape(&points, seed);
        // A curve over hostile x is mostly refused, so the same values also at 1, 2, 3 …
        let even: Vec<Point> = points.iter().enumerate().map(|(n, it)| (n as f64, it.1)).collect();
        for found in [found, shape(&even, seed)].into_iter().flatten() {
            prop_assert!(found.candidates.iter().all(|it| it.bic.is_finite()), "{:?}", found);
            prop_assert!(finite(found.break_interval));
            let at = found.curve.at(found.curve.break_at().unwrap_or(1.0));
            prop_assert!(at.is_finite(), "{:?}", found);
        }
    }

    #[test]
    fn no_association_panics_or_has_what_is_no_number(
        columns in vec((hostile(), hostile(), hostile(), hostile()), 0..12),
    ) {
        let observe = |it: &(f64, f64, f64, f64)| Observation {
            workflow: it.0,
            rows: it.1,
            live_files: it.2,
            duration: it.3,
        };
        let found = association(&columns.iter().map(observe).collect::<Vec<_>>());
        for explained in [found.files_or_rows, found.files_or_workflows].into_iter().flatten() {
            let beyond = [explained.first_beyond, explained.second_beyond];
            for beyond in beyond.into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&beyond.share) && (0.0..=1.0).contains(&beyond.p));
            }
            prop_assert!((0.0..=1.0).contains(&explained.together), "{:?}", explained);
            prop_assert!(explained.inflation >= 1.0);
        }
    }

    #[test]
    fn the_order_of_the_values_has_no_say(
        (points, mixed) in whole_points().prop_flat_map(|it| (Just(it.clone()), Just(it).prop_shuffle())),
    ) {
        let values = |points: &[Point]| points.iter().map(|it| it.1).collect::<Vec<f64>>();
        prop_assert_eq!(summary(&values(&points)), summary(&values(&mixed)));
        prop_assert_eq!(end_to_end(&points), end_to_end(&mixed));
        prop_assert_eq!(shape(&points, 1), shape(&mixed, 1));
        let times = |points: &[Point]| points.iter().map(|it| (it.0, it.1 + 1.0)).collect::<Vec<_>>();
        let (one, other) = (paired(&times(&points), 1).unwrap(), paired(&times(&mixed), 1).unwrap());
        prop_assert_eq!((one.p, one.p_slower), (other.p, other.p_slower));
        let stay = |it: &Point| Stay { launch: it.0, close: it.0 + it.1 + 1.0 };
        let run = |points: &[Point]| stays(&points.iter().map(stay).collect::<Vec<_>>(), 1);
        prop_assert_eq!(run(&points), run(&mixed));
    }

    #[test]
    fn the_unit_has_no_say(points in whole_points(), power in -20_i32..20) {
        let factor = 2.0_f64.powi(power);
        let scaled: Vec<Point> = points.iter().map(|it| (it.0, it.1 * factor)).collect();
        let slope = |points: &[Point]| least_squares(points).unwrap().line.slope;
        prop_assert_eq!(slope(&points) * factor, slope(&scaled));
        let (one, other) = (shape(&points, 1).unwrap(), shape(&scaled, 1).unwrap());
        prop_assert_eq!(one.curve.kind(), other.curve.kind());
        prop_assert_eq!(one.curve.break_at(), other.curve.break_at());
        prop_assert_eq!((one.break_interval, one.plateau), (other.break_interval, other.plateau));
        let longer: Vec<Point> = points.iter().map(|it| (it.0 * factor, it.1)).collect();
        prop_assert_eq!(one.curve.kind(), shape(&longer, 1).unwrap().curve.kind());
        let column = |of: fn(&Point) -> f64| points.iter().map(of).collect::<Vec<f64>>();
        let (first, second) = (column(|it| (it.0 * 7.0) % 5.0), column(|it| it.0));
        let values = |points: &[Point]| points.iter().map(|it| it.1).collect::<Vec<f64>>();
        prop_assert_eq!(
            explained(&values(&points), &first, &second),
            explained(&values(&scaled), &first, &second)
        );
    }

    #[test]
    fn ranks_know_only_the_order(points in whole_points()) {
        let (x, y): (Vec<f64>, Vec<f64>) = points.into_iter().take(8).unzip();
        let stretched: Vec<f64> = y.iter().map(|value| value.powi(3) + 17.0).collect();
        let found = rank_correlation(&x, &y, 1);
        prop_assert_eq!(&found, &rank_correlation(&x, &stretched, 1));
        let back = rank_correlation(&y, &x, 1);
        if let (Ok(found), Ok(back)) = (found, back) {
            prop_assert_eq!((found.spearman, found.p), (back.spearman, back.p));
        }
    }
}
