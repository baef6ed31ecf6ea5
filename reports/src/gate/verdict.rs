//! What a gate says, figure by figure, variant by variant, and as a whole.

use super::key::Difference;
use crate::evidence::Unit;
use serde::Serialize;

/// The version of `verdict.json`.
const FORMAT: u32 = 1;

/// What is said of a figure, a variant or a night. The order is that of what counts most: the verdict of
/// many is the greatest of theirs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// As before, within what is allowed.
    Same,
    /// Better than before, and nothing worse.
    Better,
    /// The machine was too noisy to tell.
    Unstable,
    /// There is nothing to compare with.
    NoBaseline,
    /// What there is to compare with is about something else.
    NotComparable,
    /// Worse than before, beyond noise.
    Worse,
    /// A workflow failed.
    Failed,
    /// Rows do not add up: no figure counts.
    Invalid,
}

impl Verdict {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Same,
        Self::Better,
        Self::Unstable,
        Self::NoBaseline,
        Self::NotComparable,
        Self::Worse,
        Self::Failed,
        Self::Invalid,
    ];

    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Better => "better",
            Self::Unstable => "unstable",
            Self::NoBaseline => "no baseline",
            Self::NotComparable => "not comparable",
            Self::Worse => "worse",
            Self::Failed => "failed",
            Self::Invalid => "invalid",
        }
    }

    /// Whether a gate lets this through.
    #[must_use]
    pub const fn passes(self) -> bool {
        matches!(self, Self::Same | Self::Better | Self::Unstable)
    }
}

/// A figure on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GateRow {
    /// The figure, the same in every version: for programs.
    pub id: String,
    /// The figure, for people.
    pub name: String,
    /// What it counts.
    pub unit: Unit,
    /// The middle of the baseline's arms.
    pub base: Option<f64>,
    /// The middle of the new arms.
    pub new: Option<f64>,
    /// New over old: of the middles, or the middle of the pairs' ratios where arms were interleaved.
    pub ratio: Option<f64>,
    /// What is said of it; nothing where it is only shown.
    pub verdict: Option<Verdict>,
    /// Why.
    pub why: String,
    /// By how much a counter may grow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tolerance: Option<String>,
    /// What interleaved pairs say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsSay>,
}

/// What interleaved pairs say of a time. Ratios are new over old.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairsSay {
    /// Pairs.
    pub pairs: usize,
    /// The middle of their ratios.
    pub median: f64,
    /// The lower end of the interval that agrees with the test; nothing for too few pairs.
    pub low: Option<f64>,
    /// Its upper end.
    pub high: Option<f64>,
    /// How often arms that are alike differ as much.
    pub p: f64,
}

/// A variant on both sides.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Compared {
    /// Name of the scenario.
    pub scenario: String,
    /// Name of the variant.
    pub variant: String,
    /// The run that is gated.
    pub run: String,
    /// What it is compared with: a run, or a command.
    pub base: Option<String>,
    /// What is said of it.
    pub verdict: Verdict,
    /// Why it is that, where no figure says so.
    pub reasons: Vec<String>,
    /// In what the two sides differ although they were compared, as somebody said that they may.
    pub across: Vec<Difference>,
    /// What else differs, and what else there is to know.
    pub notes: Vec<String>,
    /// The figures.
    pub rows: Vec<GateRow>,
}

impl Compared {
    /// A variant that cannot be compared, with the reason.
    pub(super) fn without_figures(
        names: [&str; 3],
        base: Option<String>,
        verdict: Verdict,
        reasons: Vec<String>,
    ) -> Self {
        let [scenario, variant, run] = names.map(str::to_owned);
        Self {
            scenario,
            variant,
            run,
            base,
            verdict,
            reasons,
            across: Vec::new(),
            notes: Vec::new(),
            rows: Vec::new(),
        }
    }

    /// Its name in a sentence.
    #[must_use]
    pub fn name(&self) -> String {
        format!("{}/{}", self.scenario, self.variant)
    }

    /// The figures with a verdict.
    pub fn rows_that_are(&self, verdict: Verdict) -> impl Iterator<Item = &GateRow> {
        let all = self.rows.iter();
        all.filter(move |row| row.verdict == Some(verdict))
    }
}

/// The greatest verdict of some figures; the same where none is judged.
pub(super) fn of_rows(rows: &[GateRow]) -> Verdict {
    let all = rows.iter().filter_map(|row| row.verdict);
    all.max().unwrap_or(Verdict::Same)
}

/// What a gate says: `verdict.json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Gate {
    /// The version of this form.
    pub format: u32,
    /// What is said of all together.
    pub verdict: Verdict,
    /// How it was found, in a sentence each.
    pub how: Vec<String>,
    /// Variant by variant.
    pub variants: Vec<Compared>,
}

impl Gate {
    /// The verdict of some variants.
    #[must_use]
    pub fn of(variants: Vec<Compared>, how: Vec<String>) -> Self {
        let verdict = variants.iter().map(|one| one.verdict).max();
        Self {
            format: FORMAT,
            verdict: verdict.unwrap_or(Verdict::NoBaseline),
            how,
            variants,
        }
    }
}
