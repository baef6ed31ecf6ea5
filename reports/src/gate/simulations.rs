//! How often a gate fires, night after night, where the truth is known: through the same code as a real
//! gate, from the times of workflows to the verdict. The short forms guard the claims of
//! `docs/statistics.md`; the long one, which is ignored, prints its figures.

use super::interleaved::GateSide;
use super::measure::Times;
use super::times::{Rule, Turn, judge, looked_worse};
use super::verdict::{GateRow, Verdict, of_rows};
use crate::statistics::simulate::Draws;

/// Workflows of an arm.
const WORKFLOWS: u32 = 12;

/// What the machine does meanwhile.
#[derive(Clone, Copy, Debug)]
enum Machine {
    /// Noise of 3 % an arm and 4 % a workflow.
    Quiet,
    /// Besides, a drift of 0.2 % an arm that wanders by 1 %, and slow spells of 35 % over three arms, one
    /// beginning in twenty.
    DriftAndBursts,
}

/// A night's machine: how slow it is now.
struct Night {
    draws: Draws,
    machine: Machine,
    level: f64,
    spell: u32,
}

impl Night {
    fn new(seed: u64, machine: Machine) -> Self {
        Self {
            draws: Draws::new(seed),
            machine,
            level: 0.0,
            spell: 0,
        }
    }

    /// The times of the next arm, of an engine that is slower by a factor, and grows by a share of its
    /// first workflow each.
    fn arm(&mut self, factor: f64, growth: f64) -> Times {
        let mut log = 0.03 * self.draws.normal();
        if matches!(self.machine, Machine::DriftAndBursts) {
            self.level += 0.002 + 0.01 * self.draws.normal();
            self.spell = match self.draws.uniform() < 0.05 {
                true => 3,
                false => self.spell.saturating_sub(1),
            };
            log += self.level + if self.spell > 0 { 0.3 } else { 0.0 };
        }
        let service: Vec<(u32, f64)> = (1..=WORKFLOWS)
            .map(|at| {
                let own = 10.0 * factor * (1.0 + growth * f64::from(at - 1));
                (at, own * (log + 0.04 * self.draws.normal()).exp())
            })
            .collect();
        let total: f64 = service.iter().map(|(_, time)| time).sum();
        Times {
            wall: Some(total * (1.0 + 0.01 * self.draws.uniform())),
            cpu: Some(0.7 * total * (0.01 * self.draws.normal()).exp()),
            service,
            in_order: true,
            completed: WORKFLOWS,
        }
    }

    /// A gate's rows.
    fn gate(&mut self, pairs: u32, factor: f64, growth: f64) -> Vec<GateRow> {
        judge(
            &self.turns(pairs, factor, growth),
            WORKFLOWS,
            Rule::default(),
        )
    }

    /// A gate's rows as they were if nothing showed what the machine does by itself, of the same arms.
    fn gate_without_aa(&mut self, pairs: u32, factor: f64) -> Vec<GateRow> {
        let mut turns = self.turns(pairs, factor, 0.02);
        for turn in &mut turns {
            turn.again = None;
        }
        judge(&turns, WORKFLOWS, Rule::default())
    }

    /// Arms in the order of [`GateSide::ALL`], and every other turn the other way round.
    fn turns(&mut self, pairs: u32, factor: f64, growth: f64) -> Vec<Turn> {
        (0..pairs)
            .map(|at| {
                let mut order = GateSide::ALL;
                if at % 2 == 1 {
                    order.reverse();
                }
                let mut turn = Turn::default();
                for side in order {
                    match side {
                        GateSide::Base => turn.base = self.arm(1.0, 0.02),
                        GateSide::New => turn.new = self.arm(factor, growth),
                        GateSide::Again => turn.again = Some(self.arm(1.0, 0.02)),
                    }
                }
                turn
            })
            .collect()
    }
}

/// The share of nights of whose rows something holds.
fn share(nights: u64, machine: Machine, holds: impl Fn(&mut Night) -> bool) -> f64 {
    let held = (0..nights).filter(|night| holds(&mut Night::new(7_000 + night, machine)));
    held.count() as f64 / nights as f64
}

fn fires(rows: &[GateRow]) -> bool {
    of_rows(rows) == Verdict::Worse
}

/// A first pass of some pairs, and a second one where something looked worse.
fn fires_in_two_stages(night: &mut Night, first: u32, second: u32, factor: f64) -> bool {
    let suspect = night.gate(first, factor, 0.02);
    let looks = suspect.iter().any(|row| looked_worse(row, Rule::default()));
    looks && fires(&night.gate(second, factor, 0.02))
}

#[test]
fn of_400_nights_with_drift_and_bursts_at_most_one_in_twenty_fires() {
    let fired = share(400, Machine::DriftAndBursts, |night| {
        fires(&night.gate(10, 1.0, 0.02))
    });
    assert!(fired <= 0.05, "{fired}");
}

#[test]
fn a_slowdown_of_a_tenth_is_found_with_ten_pairs_in_nine_of_ten_nights() {
    let found = share(200, Machine::Quiet, |night| {
        fires(&night.gate(10, 1.1, 0.02))
    });
    assert!(found >= 0.9, "{found}");
}

/// With drift and bursts the three conditions by themselves, whatever the machine does alone, find about
/// 87 in 100: see `docs/statistics.md`. What the arm of the machine takes of that is kept small.
#[test]
fn with_drift_and_bursts_a_slowdown_of_a_tenth_is_found_in_four_of_five_nights() {
    let found = share(400, Machine::DriftAndBursts, |night| {
        fires(&night.gate(10, 1.1, 0.02))
    });
    assert!(found >= 0.8, "{found}");
}

#[test]
#[ignore = "some minutes; prints figures of docs/statistics.md"]
fn figures_of_gates() {
    for machine in [Machine::Quiet, Machine::DriftAndBursts] {
        for pairs in [6, 8, 10, 12] {
            let of = |factor: f64, growth: f64, verdict: Verdict| {
                100.0
                    * share(400, machine, |night| {
                        of_rows(&night.gate(pairs, factor, growth)) == verdict
                    })
            };
            let alone = share(400, machine, |night| {
                fires(&night.gate_without_aa(pairs, 1.1))
            });
            println!(
                "{machine:?}, {pairs} pairs: alike {:.1} % fire, {:.1} % unstable; 5 % slower {:.1} % fire; 10 % slower {:.1} % \
                 fire, {:.1} % without the arm of the machine; 20 % slower {:.1} %; growth 2 % to 4 % a workflow {:.1} %",
                of(1.0, 0.02, Verdict::Worse),
                of(1.0, 0.02, Verdict::Unstable),
                of(1.05, 0.02, Verdict::Worse),
                of(1.1, 0.02, Verdict::Worse),
                100.0 * alone,
                of(1.2, 0.02, Verdict::Worse),
                of(1.0, 0.04, Verdict::Worse),
            );
        }
        for (first, second) in [(3, 10), (6, 10), (10, 10)] {
            let of = |factor: f64| {
                100.0
                    * share(400, machine, |night| {
                        fires_in_two_stages(night, first, second, factor)
                    })
            };
            println!(
                "{machine:?}, {first} pairs, then {second}: alike {:.1} % fire; 10 % slower {:.1} %",
                of(1.0),
                of(1.1)
            );
        }
    }
}
