//! How often verdicts are right where the truth is known. The short forms guard the claims of
//! `docs/statistics.md`; the long one, which is ignored, prints its figures.

use super::super::simulate::{Draws, Noise};
use super::*;

/// What the machine does beside the two arms.
#[derive(Clone, Copy, Debug)]
enum Machine {
    /// Noise of 3 %, normal.
    Quiet,
    /// Noise of 3 % with heavy tails.
    HeavyTailed,
    /// Noise of 3 %; one run in ten takes half as long again.
    Disturbed,
    /// Noise of 3 % that drifts by 0.2 % a run and wanders by 1 %, and slow spells of 35 % over three
    /// runs, one beginning in twenty.
    DriftAndBursts,
}

const MACHINES: [Machine; 4] = [
    Machine::Quiet,
    Machine::HeavyTailed,
    Machine::Disturbed,
    Machine::DriftAndBursts,
];

/// Pairs run in the order A B B A, with B slower by a factor.
fn pairs(draws: &mut Draws, count: usize, machine: Machine, factor: f64) -> Vec<(f64, f64)> {
    let (mut level, mut spell) = (0.0, 0);
    let mut time = |slower: f64| {
        let noise = if matches!(machine, Machine::HeavyTailed) {
            Noise::HeavyTailed
        } else {
            Noise::Normal
        };
        let mut log = 0.03 * draws.noise(noise);
        match machine {
            Machine::Quiet | Machine::HeavyTailed => {}
            Machine::Disturbed => {
                log += if draws.uniform() < 0.1 {
                    1.5_f64.ln()
                } else {
                    0.0
                }
            }
            Machine::DriftAndBursts => {
                level += 0.002 + 0.01 * draws.normal();
                spell = if draws.uniform() < 0.05 {
                    3
                } else {
                    0.max(spell - 1)
                };
                log += level + if spell > 0 { 0.3 } else { 0.0 };
            }
        }
        60.0 * slower * log.exp()
    };
    let mut pair = |index: usize| {
        if index.is_multiple_of(2) {
            let a = time(1.0);
            (a, time(factor))
        } else {
            let b = time(factor);
            (time(1.0), b)
        }
    };
    (0..count).map(&mut pair).collect()
}

fn simulated(runs: usize, count: usize, machine: Machine, factor: f64) -> Vec<Paired> {
    let mut draws = Draws::new(count as u64);
    let one = |run: usize| paired(&pairs(&mut draws, count, machine, factor), run as u64).unwrap();
    (0..runs).map(one).collect()
}

fn share(all: &[Paired], holds: impl Fn(&Paired) -> bool) -> f64 {
    all.iter().filter(|found| holds(found)).count() as f64 / all.len() as f64
}

#[test]
fn identical_arms_show_no_difference_in_nineteen_of_twenty() {
    for machine in MACHINES {
        let all = simulated(400, 10, machine, 1.0);
        let same = share(&all, |it| it.verdict() == Verdict::NoDifferenceShown);
        assert!(same >= 0.95, "{machine:?} {same}");
    }
}

#[test]
fn a_slowdown_of_a_tenth_is_found_with_ten_pairs() {
    for (machine, least) in MACHINES.into_iter().zip([0.99, 0.9, 0.65, 0.9]) {
        let all = simulated(300, 10, machine, 1.1);
        let found = share(&all, |it| it.verdict() == Verdict::Slower);
        assert!(found >= least, "{machine:?} {found}");
    }
}

#[test]
#[ignore = "some minutes; prints figures of docs/statistics.md"]
fn figures_of_pairs() {
    let runs = 4_000;
    for count in [6, 8, 10, 12] {
        for machine in MACHINES {
            let alike = simulated(runs, count, machine, 1.0);
            let slower = simulated(runs, count, machine, 1.1);
            let truth = |interval: Option<Interval>| interval.is_some_and(|it| it.contains(1.1));
            let width = |of: &dyn Fn(&Paired) -> Option<Interval>| {
                let widths = slower.iter().filter_map(of).map(|it| it.high - it.low);
                100.0 * widths.sum::<f64>() / slower.len() as f64
            };
            let above = |interval: Option<Interval>| interval.is_some_and(|it| it.low > 1.0);
            println!(
                "{count} pairs, {machine:?}: false alarms {:.1} %, power {:.0} %; interval covers \
                 {:.0} %, width {:.0} %; of the mean: power {:.0} %, covers {:.0} %, width {:.0} %",
                100.0 * share(&alike, |it| it.verdict() != Verdict::NoDifferenceShown),
                100.0 * share(&slower, |it| it.verdict() == Verdict::Slower),
                100.0 * share(&slower, |it| truth(it.interval)),
                width(&|it| it.interval),
                100.0 * share(&slower, |it| above(it.mean_interval)),
                100.0 * share(&slower, |it| truth(it.mean_interval)),
                width(&|it| it.mean_interval),
            );
        }
    }
}
