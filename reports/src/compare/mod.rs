//! Whether two runs may be compared, in what, and what they then say.
//!
//! ```text
//! two sides ──► factors: same, differs, unknown ──► claims: supported, with caveats, refused
//!         └───► findings: what each side's own figures say, whatever the other is
//! ```
//!
//! A claim is refused where something else than what it is about differs and could make the same
//! difference. That is decided by what the runs tell of themselves; nothing here knows a certain run.

mod claim;
mod factor;
mod findings;
mod judge;
mod observe;
mod statement;
mod text;

pub use claim::Claim;
pub use factor::{Effect, Factor};
pub use findings::{Basis, Finding};
pub use judge::{Judgement, Reason, Verdict};
pub use observe::{Observed, State};
pub use text::comparison_markdown;

use crate::arms::Arms;
use crate::error::ReportError;
use crate::run::Run;
use observe::Sides;
use serde::Serialize;

/// Pairs of interleaved arms from which on a difference in time may be claimed.
const PAIRS_NEEDED: usize = 6;

/// Two runs, compared.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The version of this form.
    pub format: u32,
    /// The first side, as a run and its variant.
    pub a: String,
    /// The second side.
    pub b: String,
    /// What may be claimed.
    pub claims: Vec<Judgement>,
    /// What they have in common and what not.
    pub factors: Vec<Observed>,
    /// What the figures of each say by themselves.
    pub findings: Vec<Finding>,
}

impl Comparison {
    /// The judgement of a claim.
    #[must_use]
    pub fn claim(&self, claim: Claim) -> Option<&Judgement> {
        self.claims.iter().find(|one| one.claim == claim)
    }

    /// The factors that are not the same, with what they are on each side.
    pub fn differing(&self) -> impl Iterator<Item = &Observed> {
        self.factors
            .iter()
            .filter(|one| one.state == State::Differs)
    }
}

/// Compares two runs of one variant each ([`Run::only`]).
///
/// # Errors
/// [`ReportError::Query`], which is a fault of this crate.
pub fn compare(a: &Run, b: &Run) -> Result<Comparison, ReportError> {
    let runs = [a.clone(), b.clone()];
    let arms = Arms::of(&runs)?;
    let sides = Sides {
        pairs: pairs(&arms),
        arms: &arms,
    };
    let factors = sides.observe()?;
    let mut claims = Vec::new();
    for claim in Claim::ALL {
        claims.push(judge::judge(claim, &factors, &sides)?);
    }
    Ok(Comparison {
        format: 1,
        a: a.label.clone(),
        b: b.label.clone(),
        claims,
        factors,
        findings: findings::findings(&sides)?,
    })
}

/// Pairs of arms that ran alternately: repeats of two variants of one run.
fn pairs(arms: &Arms<'_>) -> usize {
    match arms.runs {
        [a, b] if a.name == b.name => {
            let repeats = |column: usize| arms.in_column(column).map(|arm| arm.key.1);
            repeats(0)
                .filter(|repeat| repeats(1).any(|other| other == *repeat))
                .count()
        }
        _ => 0,
    }
}
