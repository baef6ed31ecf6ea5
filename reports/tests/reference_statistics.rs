//! What the statistics say of the two published runs of the reference, computed from their numbers.
//! The numbers lie beside the checkout; without them these tests say so and pass.

use std::path::Path;

use bench_reports::statistics::line::{common_window, end_to_end, gap, least_squares, within};
use bench_reports::statistics::ranks::{Order, rank_correlation};
use bench_reports::statistics::service::{Stay, even_launches, stays};
use bench_reports::statistics::shape::shape;
use bench_reports::statistics::summary::{Middle, summary};
use bench_reports::statistics::{Point, Unusable};

/// The points of (workflow, minutes) of a variant of a published run.
fn published(run: &str, variant: &str) -> Option<Vec<Point>> {
    let file = format!("../../shared/reference-runs/{run}.csv");
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    if !file.exists() {
        println!("SKIPPED: {run} of the reference runs is not beside the checkout");
        return None;
    }
    let mut reader = csv::Reader::from_path(file).unwrap();
    let rows = reader.deserialize().map(|row| row.unwrap());
    let rows = rows.filter(|row: &(String, f64, f64)| row.0 == variant);
    Some(rows.map(|row| (row.1, row.2)).collect())
}

#[test]
fn slopes_over_the_common_window_differ_from_those_published() {
    let (Some(baseline), Some(tuned)) =
        (published("dev04", "baseline"), published("dev04", "tuned"))
    else {
        return;
    };
    let window = common_window(&[&baseline, &tuned]);
    assert_eq!(window, [1.0, 5.0, 6.0]);
    let (baseline, tuned) = (within(&baseline, &window), within(&tuned, &window));
    let slopes = |points: &[Point]| {
        let (ends, squares) = (end_to_end(points).unwrap(), least_squares(points).unwrap());
        format!(
            "{:.2} end to end, {:.2} least squares",
            ends.slope, squares.line.slope
        )
    };
    assert_eq!(slopes(&baseline), "2.73 end to end, 2.66 least squares");
    assert_eq!(slopes(&tuned), "1.85 end to end, 1.86 least squares");
    let gap = gap(&baseline, &tuned).unwrap();
    assert_eq!((gap.first.0, gap.last.0), (1.0, 6.0));
    assert_eq!(format!("{:.2}", gap.share_at_first().unwrap()), "0.51");
}

#[test]
fn three_points_have_no_shape_and_no_plateau() {
    let Some(baseline) = published("dev04", "baseline") else {
        return;
    };
    let too_few = Unusable::TooFew {
        what: "points",
        have: 3,
        need: 6,
    };
    assert_eq!(shape(&baseline, 1), Err(too_few));
}

#[test]
fn the_published_median_is_the_upper_middle_value() {
    let Some(points) = published("dev05", "baseline") else {
        return;
    };
    let minutes: Vec<f64> = points.iter().map(|point| point.1).collect();
    let found = summary(&minutes).unwrap();
    assert_eq!(
        (found.min, found.median(), found.max),
        (20.0, 338.0, 1_098.0)
    );
    assert_eq!(found.middle(362.0, 0.5), Middle::Upper);
}

#[test]
fn completions_of_one_slot_show_waiting_and_a_growth_that_is_inferred() {
    let Some(points) = published("dev05", "baseline") else {
        return;
    };
    let launches = even_launches(points.len(), 6.0);
    let stay = |(launch, point): (&f64, &Point)| Stay {
        launch: *launch,
        close: launch + point.1,
    };
    let run: Vec<Stay> = launches.iter().zip(&points).map(stay).collect();

    let closes: Vec<f64> = run.iter().map(|stay| stay.close).collect();
    let order = rank_correlation(&launches, &closes, 1).unwrap();
    assert_eq!(
        format!("{:.2} {:.2}", order.spearman, order.kendall),
        "0.58 0.46"
    );
    assert!((0.003..0.005).contains(&order.p.value), "{:?}", order.p);
    assert_eq!(order.order(), Order::Neither);

    let found = stays(&run, 1).unwrap();
    let hours = |minutes: f64| format!("{:.1} h", minutes / 60.0);
    assert_eq!(
        (hours(found.durations), hours(found.makespan)),
        ("195.1 h".into(), "18.4 h".into())
    );
    assert_eq!(
        format!("{:.1} %", 100.0 * found.service_share_at_most()),
        "9.4 %"
    );

    let round = |gaps: &[Point]| gaps.iter().map(|gap| gap.1.round()).collect::<Vec<f64>>();
    let undisturbed = found.undisturbed_gaps();
    assert_eq!(
        (undisturbed[0].0, undisturbed[undisturbed.len() - 1].0),
        (2.0, 15.0)
    );
    let expected = [
        12.0, 14.0, 16.0, 19.0, 22.0, 27.0, 30.0, 33.0, 38.0, 41.0, 45.0, 49.0, 51.0, 59.0,
    ];
    // One of them is 26.5 but for the last bits.
    for (found, expected) in undisturbed.iter().zip(expected) {
        assert!((found.1 - expected).abs() <= 0.51, "{found:?} {expected}");
    }
    assert_eq!(undisturbed.len(), expected.len());
    assert_eq!(round(&found.gaps[14..18]), [209.0, 208.0, 4.0, 155.0]);
    assert_eq!(format!("{:.1}", found.growth().unwrap().line.slope), "3.6");
}
