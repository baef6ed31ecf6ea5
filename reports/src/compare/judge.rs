//! Claims, judged by the factors.

use super::claim::Claim;
use super::factor::{Effect, Factor};
use super::observe::{Observed, Sides, State};
use super::statement::statement;
use crate::error::ReportError;
use serde::Serialize;

/// A claim, judged.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// The claim.
    pub claim: Claim,
    /// Whether these runs support that anything is said of it.
    pub verdict: Verdict,
    /// What the figures then say. Nothing where the claim is refused.
    pub statement: Option<String>,
    /// Why it is refused or has caveats.
    pub reasons: Vec<Reason>,
}

/// Whether runs support a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// They do.
    Supported,
    /// They do, with what is said beside it.
    SupportedWithCaveats,
    /// They do not: a difference may have another reason.
    Refused,
}

impl Verdict {
    /// In words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::Supported => "supported",
            Self::SupportedWithCaveats => "supported with caveats",
            Self::Refused => "refused",
        }
    }
}

/// Why a claim is refused, or what has to be said beside it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// The factor. Nothing where the figures themselves are missing.
    pub factor: Option<Factor>,
    /// What it does to the claim.
    pub effect: Effect,
    /// In words.
    pub text: String,
}

pub(super) fn judge(
    claim: Claim,
    factors: &[Observed],
    sides: &Sides<'_, '_>,
) -> Result<Judgement, ReportError> {
    let mut reasons: Vec<Reason> = factors
        .iter()
        .filter_map(|observed| reason(claim, observed))
        .collect();
    reasons.extend(no_subject(claim, factors));
    let refused = |reasons: &[Reason]| reasons.iter().any(|one| one.effect == Effect::Refuse);
    let mut statement_made = None;
    if !refused(&reasons) {
        match statement(claim, sides)? {
            Ok(text) => statement_made = Some(text),
            Err(text) => reasons.push(Reason {
                factor: None,
                effect: Effect::Refuse,
                text,
            }),
        }
    }
    // What refuses comes first, as it decides.
    reasons.sort_by_key(|reason| reason.effect != Effect::Refuse);
    Ok(Judgement {
        claim,
        verdict: match (refused(&reasons), reasons.is_empty()) {
            (true, _) => Verdict::Refused,
            (false, true) => Verdict::Supported,
            (false, false) => Verdict::SupportedWithCaveats,
        },
        statement: statement_made,
        reasons,
    })
}

/// What a factor as it stands does to a claim.
fn reason(claim: Claim, observed: &Observed) -> Option<Reason> {
    let of_difference = observed.factor.effect(claim);
    let effect = match (observed.state, of_difference) {
        (State::Same, _) | (_, Effect::None) => return None,
        (State::Differs, Effect::Subject) => return None,
        (State::Differs, effect) => effect,
        // What is not known may differ; what only somebody's word stands for is said.
        (State::Unknown | State::Mild, _) => Effect::Caveat,
    };
    let name = observed.factor.name();
    let spoils = observed.factor.spoils();
    let (a, b) = (&observed.a, &observed.b);
    let text = match observed.state {
        State::Unknown => format!("{name}: not known to be the same ({a}; {b}); {spoils}"),
        State::Mild => format!("{name}: {a}; {b}"),
        _ => format!("{name}: {a}; {b}. {}.", sentence(spoils)),
    };
    Some(Reason {
        factor: Some(observed.factor),
        effect,
        text,
    })
}

/// Words as a sentence begins.
pub(super) fn sentence(words: &str) -> String {
    let mut letters = words.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// A claim of what a factor does needs that factor to differ.
fn no_subject(claim: Claim, factors: &[Observed]) -> Option<Reason> {
    let subjects: &[Factor] = match claim {
        Claim::Setting => &[Factor::Settings],
        Claim::Version => &[Factor::Versions],
        Claim::Resources => &[Factor::Cores, Factor::Memory],
        Claim::Growth | Claim::Files | Claim::Total => return None,
    };
    let differs = |factor: &Factor| {
        let observed = factors.iter().find(|one| one.factor == *factor);
        observed.is_some_and(|one| matches!(one.state, State::Differs | State::Mild))
    };
    if subjects.iter().any(differs) {
        return None;
    }
    let names: Vec<&str> = subjects.iter().map(|one| one.name()).collect();
    let names = names.join(" or ");
    Some(Reason {
        factor: Some(subjects[0]),
        effect: Effect::Refuse,
        text: format!("no difference in {names} is known, so nothing can be its effect"),
    })
}
