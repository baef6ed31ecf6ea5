//! A run in which both sides ran interleaved, each variant as `<variant>.base`, `<variant>.new` and, for
//! what the machine does by itself, `<variant>.again`.

use super::counters::{Allowed, beside, ended_badly, rows};
use super::entry::{End, Entry};
use super::measure::{Times, times};
use super::metric::{Sort, find};
use super::times::{Rule, Turn, judge, looked_worse};
use super::verdict::{Compared, GateRow, Verdict, of_rows};
use crate::arms::{Arms, Key};
use crate::error::ReportError;
use crate::run::Run;
use std::collections::BTreeMap;

/// The side that a variant of an interleaved run is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum GateSide {
    /// What is compared with.
    Base,
    /// What is gated.
    New,
    /// What is compared with, once more.
    Again,
}

impl GateSide {
    /// All of them, in the order in which they run, which every other repeat turns round. The old side
    /// stands in the middle, so that both arms that are held against it ran next to it: a machine that
    /// changes meanwhile disturbs the one pair as much as the other.
    pub const ALL: [Self; 3] = [Self::New, Self::Base, Self::Again];

    const fn suffix(self) -> &'static str {
        match self {
            Self::Base => ".base",
            Self::New => ".new",
            Self::Again => ".again",
        }
    }

    /// The name that a variant has on this side.
    #[must_use]
    pub fn of(self, variant: &str) -> String {
        format!("{variant}{}", self.suffix())
    }
}

/// Gates the new side of a run against its old side. `base` says in words what the old side is.
///
/// # Errors
/// [`ReportError::Query`], which is a fault of this crate.
pub fn gate_interleaved(
    run: &Run,
    base: &str,
    rule: Rule,
    allowed: &Allowed,
) -> Result<Vec<Compared>, ReportError> {
    let entries = Entry::of(run)?;
    let runs = std::slice::from_ref(run);
    let arms = Arms::of(runs)?;
    let mut compared = Vec::new();
    for new in &entries {
        let Some(variant) = new.variant.strip_suffix(GateSide::New.suffix()) else {
            continue;
        };
        let side = |side: GateSide| {
            let name = side.of(variant);
            let at = entries.iter().position(|one| one.variant == name);
            at.map(|at| (at, &entries[at]))
        };
        let one = One {
            variant,
            base,
            rule,
            allowed,
            arms: &arms,
        };
        compared.push(one.judge(
            side(GateSide::Base),
            side(GateSide::New),
            side(GateSide::Again),
        )?);
    }
    Ok(compared)
}

/// A column of the run, with its entry.
type Found<'e> = Option<(usize, &'e Entry)>;

struct One<'a, 'r> {
    variant: &'a str,
    base: &'a str,
    rule: Rule,
    allowed: &'a Allowed,
    arms: &'a Arms<'r>,
}

impl One<'_, '_> {
    fn judge(
        &self,
        base: Found<'_>,
        new: Found<'_>,
        again: Found<'_>,
    ) -> Result<Compared, ReportError> {
        let (Some((base_at, base)), Some((new_at, new))) = (base, new) else {
            let names = ["", self.variant, ""];
            let reasons = vec!["the run has not both sides".to_owned()];
            let none = Verdict::NotComparable;
            return Ok(Compared::without_figures(names, None, none, reasons));
        };
        let named = |compared: Compared| Compared {
            variant: self.variant.to_owned(),
            base: Some(self.base.to_owned()),
            ..compared
        };
        if let Some(ended) = ended_badly(new) {
            return Ok(named(ended));
        }
        if let Some(ended) = ended_badly(base) {
            // What is compared with is no measure then; that says nothing against the new side.
            let reasons = ended.reasons.iter();
            return Ok(named(Compared {
                verdict: Verdict::NotComparable,
                reasons: reasons.map(|one| format!("the old side: {one}")).collect(),
                ..ended
            }));
        }
        let mut rows: Vec<GateRow> = rows(base, new, &self.allowed.tolerances);
        // Times are judged by their pairs, and a slope is shown beside as what it is.
        let judged = self.times(base_at, new_at, again.map(|(at, _)| at))?;
        let has = |id: &str| judged.iter().any(|row| row.id == id);
        let is_time = |row: &GateRow| find(&row.id).is_some_and(|kind| kind.sort == Sort::Time);
        rows.retain(|row| !is_time(row) || !has(&row.id) || row.id == "service_slope");
        for row in &mut rows {
            if is_time(row) {
                "shown, not gated".clone_into(&mut row.why);
                if row.id == "service_slope" {
                    "shown_slope".clone_into(&mut row.id);
                }
            }
        }
        rows.extend(judged);
        let mut notes = beside(base, new);
        if base.end == End::NotVerified || new.end == End::NotVerified {
            notes.push("rows were not verified on both sides".to_owned());
        }
        if again.is_none() {
            notes.push("no arm says what the machine does by itself (`--no-aa`)".to_owned());
        }
        Ok(Compared {
            variant: self.variant.to_owned(),
            base: Some(self.base.to_owned()),
            verdict: of_rows(&rows),
            notes,
            rows,
            ..Compared::without_figures(
                [&new.scenario, self.variant, &new.run],
                None,
                Verdict::Same,
                Vec::new(),
            )
        })
    }

    fn times(
        &self,
        base: usize,
        new: usize,
        again: Option<usize>,
    ) -> Result<Vec<GateRow>, ReportError> {
        let by_repeat = |column: usize| -> Result<BTreeMap<i64, Times>, ReportError> {
            let found: BTreeMap<Key, Times> = times(self.arms, column)?;
            Ok(found
                .into_iter()
                .map(|((_, repeat), times)| (repeat, times))
                .collect())
        };
        let (old, mut new_times) = (by_repeat(base)?, by_repeat(new)?);
        let mut again_times = match again {
            Some(column) => by_repeat(column)?,
            None => BTreeMap::new(),
        };
        let turns: Vec<Turn> = old
            .into_iter()
            .filter_map(|(repeat, base)| {
                Some(Turn {
                    base,
                    new: new_times.remove(&repeat)?,
                    again: again_times.remove(&repeat),
                })
            })
            .collect();
        let own = [Some(base), Some(new), again];
        let own = own.into_iter().flatten();
        let last = own
            .flat_map(|column| self.arms.in_column(column).map(|arm| arm.prefix))
            .min();
        Ok(judge(&turns, last.unwrap_or(0), self.rule))
    }
}

/// Whether a variant looked worse in a first pass, however sure that is: in a counter, or in the middle
/// of the pairs of a time. A second pass looks at it again.
#[must_use]
pub fn is_suspect(compared: &Compared, rule: Rule) -> bool {
    compared.verdict == Verdict::Worse || compared.rows.iter().any(|row| looked_worse(row, rule))
}

/// What both passes say: of what was looked at again, the second pass alone, since the first one's pairs
/// were chosen for looking worse.
#[must_use]
pub fn confirmed(first: Vec<Compared>, second: Vec<Compared>) -> Vec<Compared> {
    let mut second: BTreeMap<String, Compared> =
        second.into_iter().map(|one| (one.name(), one)).collect();
    first
        .into_iter()
        .map(|one| match second.remove(&one.name()) {
            Some(mut again) => {
                again.notes.push(format!(
                    "looked at again, as it looked {} in {}",
                    Verdict::Worse.words(),
                    one.run
                ));
                again
            }
            None => one,
        })
        .collect()
}
