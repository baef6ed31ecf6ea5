use super::super::simulate::{Draws, Noise};
use super::*;

const SEED: u64 = 20_240_601;

/// Points at 1 to `count` of a curve with noise of standard deviation `scatter`.
fn points(count: usize, scatter: f64, seed: u64, curve: impl Fn(f64) -> f64) -> Vec<Point> {
    let mut draws = Draws::new(seed);
    let point = |x: f64| (x, curve(x) + scatter * draws.noise(Noise::Normal));
    (1..=count).map(|x| x as f64).map(point).collect()
}

fn near(left: f64, right: f64) -> bool {
    (left - right).abs() <= 1e-6 * (1.0 + right.abs())
}

#[test]
fn each_kind_is_found_again_without_noise() {
    let find = |curve: &dyn Fn(f64) -> f64| shape(&points(24, 0.0, 0, curve), SEED).unwrap().curve;
    let Curve::Constant { level } = find(&|_| 4.0) else {
        panic!("not constant")
    };
    assert!(near(level, 4.0));
    let Curve::Linear { line } = find(&|x| 2.0 + 0.5 * x) else {
        panic!("not linear")
    };
    assert!(near(line.at(1.0), 2.5) && near(line.slope, 0.5));
    let step = find(&|x| if x < 9.0 { 3.0 } else { 7.0 });
    assert_eq!(
        step,
        Curve::Step {
            at: 8.5,
            before: 3.0,
            after: 7.0
        }
    );
    let levels = find(&|x| 6.0 + 1.5 * f64::min(x, 12.4));
    let Curve::LinearThenPlateau { at, level, slope } = levels else {
        panic!("{levels:?}")
    };
    assert!(
        near(at, 12.4) && near(level, 24.6) && near(slope, 1.5),
        "{levels:?}"
    );
    let bends = find(&|x| 5.0 + x + 2.0 * f64::max(x - 10.0, 0.0));
    let Curve::TwoSlopes {
        at,
        value,
        before,
        after,
    } = bends
    else {
        panic!("{bends:?}")
    };
    assert!(near(at, 10.0) && near(value, 15.0) && near(before, 1.0) && near(after, 3.0));
}

#[test]
fn the_fit_is_the_best_over_all_breaks() {
    // Against a search of ten thousand breaks, each with the normal equations solved afresh.
    for seed in 0..40 {
        let mut draws = Draws::new(seed);
        let mut x = 0.0;
        let mut next = || {
            x += 1.0 + (3.0 * draws.uniform()).floor();
            (x, x.min(20.0) + 4.0 * draws.normal())
        };
        let points: Vec<Point> = (0..15).map(|_| next()).collect();
        let grid = Grid::new(&points).unwrap();
        let v = grid.values(&points);
        for fit in fit::fits(&grid, &v, Limits::FULL, |kind| {
            kind >= Kind::LinearThenPlateau
        }) {
            let after = if fit.kind == Kind::TwoSlopes {
                EACH_SIDE
            } else {
                ON_PLATEAU
            };
            let squares = |at: f64| {
                let tried = fit::Fit { at, ..fit };
                let under = grid.under(&grid.curve(&v, &tried));
                v.iter()
                    .zip(under)
                    .map(|(v, w)| (v - w).powi(2))
                    .sum::<f64>()
            };
            let (first, last) = (grid.u[EACH_SIDE - 1], grid.u[15 - after]);
            let tries = (0..=10_000).map(|n| first + (last - first) * f64::from(n) / 10_000.0);
            let least = tries.map(squares).fold(f64::INFINITY, f64::min);
            assert!(fit.squares <= least + 1e-9, "{fit:?} {least}");
            assert!(
                near(fit.squares, squares(fit.at)),
                "{fit:?} {}",
                squares(fit.at)
            );
        }
    }
}

#[test]
fn a_plateau_takes_six_points_from_the_break_on() {
    let rises_until = |last: f64| move |x: f64| 6.0 + 1.5 * f64::min(x, last);
    let plateau = |count, last| {
        shape(&points(count, 0.2, 3, rises_until(last)), SEED)
            .unwrap()
            .plateau
    };
    let Plateau::Observed { from, points: 12 } = plateau(24, 12.4) else {
        panic!()
    };
    assert!((from - 12.4).abs() < 0.4);
    assert_eq!(
        plateau(16, 12.4),
        Plateau::NotObservable {
            points: 4,
            needed: 6
        }
    );
    assert_eq!(
        plateau(7, 99.0),
        Plateau::NotObservable {
            points: 0,
            needed: 6
        }
    );
    assert_eq!(plateau(24, 99.0), Plateau::NotShown);
}

#[test]
fn fewer_than_six_points_have_no_shape() {
    let too_few = Unusable::TooFew {
        what: "points",
        have: 5,
        need: 6,
    };
    assert_eq!(shape(&points(5, 0.0, 0, |x| x), SEED), Err(too_few));
    let twice = [
        (1.0, 1.0),
        (2.0, 1.0),
        (3.0, 1.0),
        (4.0, 1.0),
        (5.0, 1.0),
        (2.0, 3.0),
    ];
    assert_eq!(shape(&twice, SEED), Err(Unusable::RepeatedX { index: 5 }));
}

#[test]
fn every_candidate_and_guard_is_kept() {
    let found = shape(&points(24, 0.5, 1, |x| 6.0 + 1.5 * x.min(12.0)), SEED).unwrap();
    let kinds: Vec<Kind> = found.candidates.iter().map(|it| it.curve.kind()).collect();
    assert_eq!(kinds, Kind::ALL);
    let guards: Vec<Kind> = found.guards.iter().map(|guard| guard.simple).collect();
    assert_eq!(
        guards,
        [Kind::Constant, Kind::Linear, Kind::LinearThenPlateau]
    );
    assert!(found.guards[0].lets_pass() && found.guards[1].lets_pass());
    assert!(!found.guards[2].lets_pass());
    assert!(found.break_interval.unwrap().contains(12.0));
    // The criterion is that of the residuals in the unit of y.
    for candidate in &found.candidates {
        let mean_square = candidate.residual_squares / 24.0;
        let parameters = candidate.curve.kind().parameters() as f64 + 1.0;
        assert!(near(
            candidate.bic,
            24.0 * mean_square.ln() + parameters * 24.0_f64.ln()
        ));
    }
    // Eight points are too few for a plateau, which needs three before and six after its break.
    let few = shape(&points(8, 0.5, 1, |x| x), SEED).unwrap();
    assert!(
        few.candidates
            .iter()
            .all(|it| it.curve.kind() != Kind::LinearThenPlateau)
    );
}
