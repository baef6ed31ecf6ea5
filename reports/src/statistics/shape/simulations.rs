//! How often a shape is right where the truth is known. The short forms guard the claims of
//! `docs/statistics.md`; the long ones, which are ignored, print its figures.

use super::super::simulate::{Draws, Noise};
use super::*;

const ALL_NOISE: [Noise; 4] = [
    Noise::Normal,
    Noise::HeavyTailed,
    Noise::Bursts,
    Noise::Skewed,
];

/// The shapes of `runs` curves of `count` points with the noise.
fn simulated(runs: u64, count: usize, noise: Noise, curve: impl Fn(f64) -> f64) -> Vec<Shape> {
    let one = |run: u64| {
        let mut draws = Draws::new(run * 1_000 + count as u64);
        let point = |x: f64| (x, curve(x) + draws.noise(noise));
        let points: Vec<Point> = (1..=count).map(|x| x as f64).map(point).collect();
        shape(&points, run).unwrap()
    };
    (0..runs).map(one).collect()
}

/// The share of shapes for which something holds.
fn share(shapes: &[Shape], holds: impl Fn(&Shape) -> bool) -> f64 {
    shapes.iter().filter(|shape| holds(shape)).count() as f64 / shapes.len() as f64
}

fn is_complex(shape: &Shape) -> bool {
    shape.curve.kind() != Kind::Constant
}

fn breaks(shape: &Shape) -> bool {
    shape.curve.break_at().is_some()
}

/// What the criterion alone would choose.
fn by_criterion_alone(shape: &Shape) -> Kind {
    let lowest = shape
        .candidates
        .iter()
        .min_by(|a, b| a.bic.total_cmp(&b.bic));
    lowest.unwrap().curve.kind()
}

#[test]
fn flat_noise_is_called_complex_in_fewer_than_one_of_twenty() {
    for count in [6, 24] {
        for noise in ALL_NOISE {
            let shapes = simulated(1_500, count, noise, |_| 60.0);
            assert!(
                share(&shapes, is_complex) < 0.05,
                "{count} points, {noise:?}"
            );
        }
    }
}

#[test]
#[ignore = "some minutes; prints figures of docs/statistics.md"]
fn figures_of_false_complexity() {
    println!("false complexity on flat noise: guarded (criterion alone)");
    for count in [6, 8, 9, 12, 24, 50, 100, 200] {
        let runs = if count > 50 { 1_000 } else { 4_000 };
        print!("{count:>4}");
        for noise in ALL_NOISE {
            let shapes = simulated(runs, count, noise, |_| 60.0);
            let guarded = share(&shapes, is_complex);
            let alone = share(&shapes, |shape| by_criterion_alone(shape) != Kind::Constant);
            print!(
                "  {noise:?} {:.1} ({:.1}) %",
                100.0 * guarded,
                100.0 * alone
            );
            assert!(guarded < 0.05, "{count} {noise:?}");
        }
        println!();
    }
    println!(
        "false breaks on a line that rises by 0.5 scatters a workflow: guarded (criterion alone)"
    );
    for count in [6, 9, 12, 24, 50, 100] {
        print!("{count:>4}");
        for noise in ALL_NOISE {
            let shapes = simulated(1_000, count, noise, |x| 60.0 + 0.5 * x);
            let alone = share(&shapes, |shape| by_criterion_alone(shape) > Kind::Linear);
            print!(
                "  {noise:?} {:.1} ({:.1}) %",
                100.0 * share(&shapes, breaks),
                100.0 * alone
            );
        }
        println!();
    }
}

#[test]
#[ignore = "some minutes; prints figures of docs/statistics.md"]
fn figures_of_power_and_of_break_intervals() {
    println!("normal noise of scatter 1");
    let report = |name: &str, count: usize, kind: Kind, at: f64, curve: &dyn Fn(f64) -> f64| {
        let shapes = simulated(1_000, count, Noise::Normal, curve);
        let right = share(&shapes, |shape| shape.curve.kind() == kind);
        let found: Vec<Shape> = shapes
            .into_iter()
            .filter(|it| it.curve.kind() == kind)
            .collect();
        let covers = |shape: &Shape| shape.break_interval.is_some_and(|it| it.contains(at));
        let width = |shape: &Shape| shape.break_interval.map_or(0.0, |it| it.high - it.low);
        let mean_width = found.iter().map(width).sum::<f64>() / found.len() as f64;
        println!(
            "{name}, {count} points: {:.0} % right; intervals cover {:.0} %, mean width {mean_width:.1}",
            100.0 * right,
            100.0 * share(&found, covers),
        );
    };
    for slope in [0.25, 0.5, 1.0] {
        for count in [6, 12, 24] {
            let name = format!("line of {slope} a workflow");
            report(&name, count, Kind::Linear, 0.0, &|x| 20.0 + slope * x);
        }
    }
    for slope in [0.5, 1.0, 2.0] {
        let name = format!("{slope} a workflow, level from 12.4");
        report(&name, 24, Kind::LinearThenPlateau, 12.4, &|x| {
            20.0 + slope * x.min(12.4)
        });
    }
    for height in [2.0, 3.0, 5.0] {
        let name = format!("step of {height} at 10.5");
        let step = |x: f64| if x < 10.5 { 20.0 } else { 20.0 + height };
        report(&name, 24, Kind::Step, 10.5, &step);
    }
    for bend in [0.5, 1.0, 2.0] {
        let name = format!("slope 0.5, then {}, at 12.4", 0.5 + bend);
        report(&name, 24, Kind::TwoSlopes, 12.4, &|x| {
            20.0 + 0.5 * x + bend * (x - 12.4).max(0.0)
        });
    }
}

#[test]
#[ignore = "prints figures of docs/statistics.md"]
fn figures_of_noise_with_a_memory() {
    println!(
        "false complexity on flat noise that remembers (first-order autoregression), 24 points"
    );
    for memory in [0.0_f64, 0.2, 0.4, 0.6] {
        let one = |run: u64| {
            let mut draws = Draws::new(run);
            let mut level = draws.normal() / (1.0 - memory * memory).sqrt();
            let point = |x: f64| {
                level = memory * level + draws.normal();
                (x, 60.0 + level)
            };
            let points: Vec<Point> = (1..=24).map(f64::from).map(point).collect();
            shape(&points, run).unwrap()
        };
        let shapes: Vec<Shape> = (0..1_000).map(one).collect();
        println!(
            "memory {memory}: {:.0} %",
            100.0 * share(&shapes, is_complex)
        );
    }
}
