//! What two runs have in common and what not, factor by factor.
//!
//! A factor that one of them does not tell is *unknown*, never taken as the same.

use super::factor::Factor;
use crate::arms::{Arm, Arms, is};
use crate::error::ReportError;
use crate::number::{count, counted, memory};
use crate::run::Facts;
use polars::prelude::{col, lit};
use serde::Serialize;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// A factor as it stands in two runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Observed {
    /// The factor.
    pub factor: Factor,
    /// Whether they have it in common.
    pub state: State,
    /// What it is in the first run.
    pub a: String,
    /// What it is in the second run.
    pub b: String,
}

/// Whether two runs have something in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// They have.
    Same,
    /// They have, or it does not matter, but only as far as a reader takes somebody's word for it; or
    /// the difference did not take effect.
    Mild,
    /// They have not.
    Differs,
    /// One of them does not tell.
    Unknown,
}

/// Two sides that are compared: the columns of the arms.
pub(super) struct Sides<'a, 'b> {
    pub(super) arms: &'a Arms<'b>,
    /// Pairs of arms that were run alternately.
    pub(super) pairs: usize,
}

impl Sides<'_, '_> {
    pub(super) fn run(&self, side: usize) -> &Facts {
        &self.arms.runs[self.arms.columns[side].run].facts
    }

    pub(super) fn variant(&self, side: usize) -> &Facts {
        &self.arms.columns[side].facts
    }

    fn name(&self, side: usize) -> &str {
        &self.arms.columns[side].variant
    }

    fn both<T>(&self, of: impl Fn(usize) -> T) -> [T; 2] {
        [of(0), of(1)]
    }

    /// Every factor, in a fixed order.
    pub(super) fn observe(&self) -> Result<Vec<Observed>, ReportError> {
        Ok(vec![
            self.parts(
                Factor::Dataset,
                &[
                    ("digest", Of::Run("dataset.digest")),
                    ("messages", Of::Run("dataset.messages")),
                    ("logs", Of::Run("dataset.log_files")),
                    ("seed", Of::Run("dataset.seed")),
                    ("profile", Of::Run("dataset.profile")),
                ],
            ),
            self.parts(
                Factor::Batches,
                &[
                    (
                        "logs a workflow",
                        Of::Variant("sequence.files_per_workflow"),
                    ),
                    ("passes", Of::Variant("sequence.passes")),
                ],
            ),
            self.parts(
                Factor::Target,
                &[
                    ("", Of::Variant("target.kind")),
                    ("pipeline", Of::Variant("target.pipeline")),
                    ("command", Of::Variant("target.command")),
                ],
            ),
            self.versions(),
            self.parts(Factor::Harness, &[("bench", Of::Run("versions.bench"))]),
            self.parts(
                Factor::Host,
                &[
                    ("", Of::Run("host.name")),
                    ("", Of::Run("host.cpu_model")),
                    ("memory in bytes", Of::Run("host.memory_bytes")),
                    ("", Of::Run("host.architecture")),
                ],
            ),
            self.parts(Factor::Kernel, &[("", Of::Run("host.kernel"))]),
            self.cores(),
            self.memory()?,
            self.parts(
                Factor::Storage,
                &[
                    ("", Of::Run("host.storage")),
                    ("lake", Of::Variant("target.lake")),
                ],
            ),
            self.parts(
                Factor::Concurrency,
                &[
                    ("", Of::Variant("sequence.mode")),
                    ("workers", Of::Variant("sequence.workers")),
                    ("slots", Of::Variant("sequence.slots")),
                    ("queue", Of::Variant("sequence.queue")),
                ],
            ),
            self.initial_state(),
            self.restarts()?,
            self.cancellation(),
            self.settings(),
            self.shipped(),
            self.verification(),
            self.event_log()?,
            self.cache(),
            self.clock()?,
            self.repeats(),
        ])
    }

    /// A factor that is a few facts. The first fact that either run tells must be told by both.
    fn parts(&self, factor: Factor, parts: &[(&str, Of)]) -> Observed {
        let values: Vec<[Option<String>; 2]> = parts
            .iter()
            .map(|(_, of)| self.both(|side| self.value(side, of)))
            .collect();
        let differs = values
            .iter()
            .any(|[a, b]| matches!((a, b), (Some(a), Some(b)) if a != b));
        let known = values.iter().find(|[a, b]| a.is_some() || b.is_some());
        let known = known.is_some_and(|[a, b]| a.is_some() && b.is_some());
        // A fact that is the identity of the factor stands first; where it is not known, others that
        // agree do not make up for it.
        let identified = factor != Factor::Dataset || values[0].iter().all(Option::is_some);
        let show = |side: usize| {
            let told = parts.iter().zip(&values).filter_map(|((name, _), value)| {
                let text = value[side].as_deref()?;
                Some(match name.is_empty() {
                    true => text.to_owned(),
                    false => format!("{name} {text}"),
                })
            });
            let told: Vec<String> = told.collect();
            match told.is_empty() {
                true => "not told".to_owned(),
                false => told.join(", "),
            }
        };
        Observed {
            factor,
            state: match (differs, known && identified) {
                (true, _) => State::Differs,
                (false, true) => State::Same,
                (false, false) => State::Unknown,
            },
            a: show(0),
            b: show(1),
        }
    }

    fn value(&self, side: usize, of: &Of) -> Option<String> {
        let value = match of {
            Of::Run(path) => self.run(side).at(path),
            Of::Variant(path) => self.variant(side).at(path),
        };
        value.and_then(text)
    }

    fn versions(&self) -> Observed {
        let all = self.both(|side| {
            // Of a run whose variants have targets of their own, those of this variant.
            let own = format!("engines.{}", self.name(side));
            let mut all = strip(self.run(side).leaves(&own), &own);
            if all.is_empty() {
                all = strip(self.run(side).leaves("versions"), "versions");
                all.remove("bench");
                let revision = self.run(side).at("revision").and_then(text);
                all.extend(revision.map(|revision| ("revision".to_owned(), revision)));
            }
            all
        });
        self.maps(Factor::Versions, &all, "none told")
    }

    /// A factor that is a table of names and values.
    fn maps(&self, factor: Factor, maps: &[BTreeMap<String, String>; 2], none: &str) -> Observed {
        let names: BTreeSet<&String> = maps.iter().flat_map(BTreeMap::keys).collect();
        let differing: Vec<&String> = names
            .into_iter()
            .filter(|name| maps[0].get(*name) != maps[1].get(*name))
            .collect();
        let show = |side: usize| {
            let map: &BTreeMap<String, String> = &maps[side];
            let shown = map
                .iter()
                .filter(|(name, _)| differing.is_empty() || differing.contains(name));
            let shown: Vec<String> = shown
                .map(|(name, value)| format!("{name} {value}"))
                .collect();
            match shown.is_empty() {
                true => none.to_owned(),
                false => shown.join(", "),
            }
        };
        Observed {
            factor,
            state: match (maps[0].is_empty(), maps[1].is_empty()) {
                (false, false) if differing.is_empty() => State::Same,
                (false, false) => State::Differs,
                _ => State::Unknown,
            },
            a: show(0),
            b: show(1),
        }
    }

    fn cores(&self) -> Observed {
        let cores = self.both(|side| {
            let host = self.run(side).number("host.cores");
            let asked = self.variant(side).number("resources.cpus");
            match (host, asked) {
                (Some(host), Some(asked)) => Some(host.min(asked)),
                (one, other) => one.or(other),
            }
        });
        let show = |side: usize| match cores[side] {
            Some(cores) => counted(cores as u64, "core"),
            None => "not told".to_owned(),
        };
        Observed {
            factor: Factor::Cores,
            state: known(cores[0], cores[1]),
            a: show(0),
            b: show(1),
        }
    }

    fn memory(&self) -> Result<Observed, ReportError> {
        let limit = self.both(|side| {
            let in_force = format!("limits.{}.memory", self.name(side));
            let asked = self.variant(side).number("resources.memory");
            self.run(side).number(&in_force).or(asked)
        });
        let binding = self.both(|side| {
            let path = format!("limits.{}.memory_binding", self.name(side));
            self.run(side).flag(&path)
        });
        let measured = self
            .arms
            .attempts()
            .filter(col("peak_rss_bytes").is_not_null());
        let peak = self.arms.figures(measured, col("peak_rss_bytes").max())?;
        let kills = self
            .arms
            .attempts()
            .filter(is("cause", "memory_limit").or(is("cause", "watchdog")));
        let kills = self.arms.figures(kills, lit(1.0).sum())?;
        let peak = self.both(|side| {
            let peaks = self
                .arms
                .in_column(side)
                .filter_map(|arm| peak.get(&arm.key));
            peaks.copied().reduce(f64::max)
        });
        let killed = self.both(|side| {
            self.arms
                .in_column(side)
                .any(|arm| kills.contains_key(&arm.key))
        });
        // A worker that came near its limit may have worked otherwise for it, though it lived.
        let bound = self.both(|side| match (limit[side], binding[side], peak[side]) {
            _ if killed[side] => Some(true),
            (None, _, _) if !self.run(side).imported() => Some(false),
            (_, Some(false), _) => Some(false),
            (Some(limit), _, Some(peak)) => Some(peak > 0.9 * limit),
            _ => None,
        });
        let show = |side: usize| {
            let limit = match limit[side] {
                Some(limit) => format!("{} a worker", memory(limit)),
                None if self.run(side).imported() => "not told".to_owned(),
                None => "no limit".to_owned(),
            };
            match bound[side] {
                Some(true) => format!("{limit}, and it bound"),
                Some(false) if limit != "no limit" => format!("{limit}, and it did not bind"),
                _ => limit,
            }
        };
        let told = self.both(|side| limit[side].is_some() || !self.run(side).imported());
        Ok(Observed {
            factor: Factor::Memory,
            state: match (told, limit[0] == limit[1]) {
                ([true, true], true) => State::Same,
                ([true, true], false) if bound == [Some(false); 2] => State::Mild,
                ([true, true], false) => State::Differs,
                _ => State::Unknown,
            },
            a: show(0),
            b: show(1),
        })
    }

    fn initial_state(&self) -> Observed {
        let state = self.both(|side| match self.run(side).imported() {
            // Every arm of this bench begins with a lake of its own.
            false => Some("an empty lake".to_owned()),
            true => {
                let own = self.variant(side).at("initial_state");
                own.or(self.run(side).at("initial_state")).and_then(text)
            }
        });
        self.told(Factor::InitialState, state)
    }

    /// A factor that is one text, or not told.
    fn told(&self, factor: Factor, texts: [Option<String>; 2]) -> Observed {
        let state = known(texts[0].as_ref(), texts[1].as_ref());
        let [a, b] = texts.map(|text| text.unwrap_or_else(|| "not told".to_owned()));
        Observed {
            factor,
            state,
            a,
            b,
        }
    }

    fn restarts(&self) -> Result<Observed, ReportError> {
        let arms = self.arms;
        let restarted = arms.workers().filter(col("incarnation").gt(lit(1)));
        let restarted = arms.figures(restarted, lit(1.0).sum())?;
        let again = arms.attempts().filter(is("outcome", "completed").not());
        let again = arms.figures(again, lit(1.0).sum())?;
        let injected = arms.attempts().filter(col("injected").is_not_null());
        let injected = arms.figures(injected, lit(1.0).sum())?;
        let sum = |figures: &crate::arms::Figures, side: usize| -> f64 {
            let own = arms.in_column(side);
            own.filter_map(|arm| figures.get(&arm.key))
                .fold(0.0, |sum, one| sum + one)
        };
        let seen = self.both(|side| match self.run(side).imported() {
            true => self
                .variant(side)
                .number("reported.restarts")
                .map(|restarts| [restarts, 0.0, 0.0]),
            false => Some([&restarted, &again, &injected].map(|figures| sum(figures, side))),
        });
        let show = |side: usize| match seen[side] {
            None => "not told".to_owned(),
            Some([restarts, again, injected]) => {
                let parts = [
                    (restarts, "restart"),
                    (again, "attempt that did not complete"),
                    (injected, "injected fault"),
                ];
                let parts = parts.into_iter().filter(|(count, _)| *count > 0.0);
                let parts: Vec<String> = parts
                    .map(|(number, what)| match what {
                        "attempt that did not complete" if number > 1.0 => {
                            format!("{} attempts that did not complete", count(number))
                        }
                        what => counted(number as u64, what),
                    })
                    .collect();
                match parts.is_empty() {
                    true => "none".to_owned(),
                    false => parts.join(", "),
                }
            }
        };
        let none = |seen: [f64; 3]| seen.iter().all(|count| *count == 0.0);
        Ok(Observed {
            factor: Factor::Restarts,
            state: match seen {
                [Some(a), Some(b)] if none(a) && none(b) => State::Same,
                [Some(a), _] if !none(a) => State::Differs,
                [_, Some(b)] if !none(b) => State::Differs,
                _ => State::Unknown,
            },
            a: show(0),
            b: show(1),
        })
    }

    fn cancellation(&self) -> Observed {
        let ended = self.both(|side| {
            let arms: Vec<&Arm> = self.arms.in_column(side).collect();
            let prefix = arms.iter().map(|arm| arm.prefix).min()?;
            let planned = arms.iter().find_map(|arm| arm.planned);
            Some((prefix, planned))
        });
        let show = |side: usize| match ended[side] {
            None => "it did not begin".to_owned(),
            Some((prefix, Some(planned))) if prefix >= planned => {
                format!("all {} completed", counted(planned, "workflow"))
            }
            Some((prefix, Some(planned))) => format!("ended after workflow {prefix} of {planned}"),
            Some((prefix, None)) => format!("{} completed, of how many is not told", prefix),
        };
        let complete = |ended: Option<(u32, Option<u32>)>| match ended {
            Some((prefix, Some(planned))) => Some(prefix >= planned),
            Some((_, None)) => None,
            None => Some(false),
        };
        Observed {
            factor: Factor::Cancellation,
            state: match ended.map(complete) {
                [Some(true), Some(true)] => State::Same,
                [Some(false), _] | [_, Some(false)] => State::Differs,
                _ => State::Unknown,
            },
            a: show(0),
            b: show(1),
        }
    }

    /// Settings in force, or where a target did not tell them, those that were asked for.
    fn settings(&self) -> Observed {
        let in_force = self.both(|side| {
            let own = format!("effective.{}", self.name(side));
            strip(self.run(side).leaves(&own), &own)
        });
        let asked = self.both(|side| strip(self.variant(side).leaves("settings"), "settings"));
        match in_force.iter().all(|map| !map.is_empty()) {
            true => self.maps(Factor::Settings, &in_force, "none told"),
            false => self.maps(Factor::Settings, &asked, "none told"),
        }
    }

    fn shipped(&self) -> Observed {
        let apart = self.both(|side| {
            let measured = strip(self.variant(side).leaves("settings"), "settings");
            let shipped = strip(self.variant(side).leaves("shipped"), "shipped");
            let apart = shipped.into_iter().filter_map(|(name, shipped)| {
                let measured = measured.get(&name).map_or("not told", String::as_str);
                (measured != shipped)
                    .then(|| format!("{name}: {measured} was measured and {shipped} shipped"))
            });
            apart.collect::<Vec<_>>()
        });
        let show = |side: usize| match apart[side].is_empty() {
            true => "what was measured".to_owned(),
            false => apart[side].join(", "),
        };
        Observed {
            factor: Factor::Shipped,
            state: match apart.iter().all(Vec::is_empty) {
                true => State::Same,
                false => State::Differs,
            },
            a: show(0),
            b: show(1),
        }
    }

    fn verification(&self) -> Observed {
        let found = self.both(|side| {
            let arms: Vec<&Arm> = self.arms.in_column(side).collect();
            let verified = arms.iter().filter_map(|arm| arm.verified.as_ref());
            let failed: u64 = verified.clone().map(|one| one.failed).sum();
            let facts = self.variant(side);
            match verified.count() {
                _ if failed > 0 => (
                    State::Differs,
                    format!("{} failed", counted(failed, "check")),
                ),
                all if all == arms.len() && all > 0 => {
                    (State::Same, "every row verified".to_owned())
                }
                _ => match facts.number("reported.rows") {
                    Some(rows) => (
                        State::Mild,
                        format!(
                            "{} rows reported (by {})",
                            count(rows),
                            facts.text("reported.rows_by").unwrap_or("somebody")
                        ),
                    ),
                    None => (State::Unknown, "rows not verified".to_owned()),
                },
            }
        });
        let [(a, a_text), (b, b_text)] = found;
        Observed {
            factor: Factor::Verification,
            state: match (a, b) {
                (State::Differs, _) | (_, State::Differs) => State::Differs,
                (State::Same, State::Same) => State::Same,
                (State::Unknown, _) | (_, State::Unknown) => State::Unknown,
                _ => State::Mild,
            },
            a: a_text,
            b: b_text,
        }
    }

    fn event_log(&self) -> Result<Observed, ReportError> {
        let jobs = self.arms.figures(self.arms.spark(), col("jobs").max())?;
        let kept = self.both(|side| {
            let read = self
                .arms
                .in_column(side)
                .any(|arm| jobs.contains_key(&arm.key));
            let distributed = self.variant(side).text("target.kind") == Some("spark");
            match self.variant(side).flag("reported.event_log") {
                Some(true) => Some("kept"),
                Some(false) => Some("not kept"),
                None if read => Some("kept"),
                None if !distributed => Some("the target has none"),
                None if self.run(side).imported() => None,
                None => Some("not kept"),
            }
        });
        Ok(self.told(Factor::EventLog, kept.map(|kept| kept.map(str::to_owned))))
    }

    fn cache(&self) -> Observed {
        let same_run = self.arms.runs[0].name == self.arms.runs[1].name;
        if same_run && self.pairs > 1 {
            let taken = "taken in turns, as the other";
            return self.told(
                Factor::Cache,
                [Some(taken.to_owned()), Some(taken.to_owned())],
            );
        }
        let told = self.both(|side| self.run(side).at("cache_state").and_then(text));
        self.told(Factor::Cache, told)
    }

    fn clock(&self) -> Result<Observed, ReportError> {
        let resumed = self.arms.workflows().filter(col("resumed"));
        let resumed = self.arms.figures(resumed, lit(1.0).sum())?;
        let clock = self.both(|side| {
            let resumed = self
                .arms
                .in_column(side)
                .any(|arm| resumed.contains_key(&arm.key));
            match (self.run(side).imported(), resumed) {
                (true, _) => "by hand",
                (false, true) => "monotonic, and a workflow was open while the run was interrupted",
                (false, false) => "monotonic",
            }
        });
        let trusted = clock.iter().all(|one| *one == "monotonic");
        Ok(Observed {
            factor: Factor::Clock,
            state: match trusted {
                true => State::Same,
                false if clock[0] == clock[1] => State::Mild,
                false => State::Differs,
            },
            a: clock[0].to_owned(),
            b: clock[1].to_owned(),
        })
    }

    fn repeats(&self) -> Observed {
        let arms = self.both(|side| self.arms.in_column(side).count());
        let show = |side: usize| counted(arms[side], "arm");
        Observed {
            factor: Factor::Repeats,
            state: match self.pairs >= super::PAIRS_NEEDED {
                true => State::Same,
                false => State::Differs,
            },
            a: show(0),
            b: show(1),
        }
    }
}

/// Where a fact stands.
enum Of {
    /// In `run.json`.
    Run(&'static str),
    /// In the variant of the scenario.
    Variant(&'static str),
}

fn known<T: PartialEq>(a: Option<T>, b: Option<T>) -> State {
    match (a, b) {
        (Some(a), Some(b)) if a == b => State::Same,
        (Some(_), Some(_)) => State::Differs,
        _ => State::Unknown,
    }
}

fn strip(leaves: Vec<(String, Value)>, prefix: &str) -> BTreeMap<String, String> {
    let own = leaves.into_iter().filter_map(|(key, value)| {
        let name = key.strip_prefix(prefix)?.trim_start_matches('.');
        Some((name.to_owned(), text(&value)?))
    });
    own.collect()
}

/// A fact as text; nothing of what is empty.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(members) if members.is_empty() => None,
        Value::Array(members) => {
            let members: Vec<String> = members.iter().filter_map(text).collect();
            Some(members.join(" "))
        }
        Value::Object(_) => Some(value.to_string()),
        other => Some(other.to_string()),
    }
}
