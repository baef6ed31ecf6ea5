//! What `--against` names, and the scenario with both sides in it.

use crate::scenario::{Scenario, Target, TargetKind, Variant};
use bench_reports::gate::GateSide;
use std::collections::BTreeSet;
use std::path::Path;

/// Why a scenario cannot be gated against something.
#[derive(Debug, thiserror::Error)]
pub enum AgainstError {
    /// It is no command.
    #[error(
        "{0:?} names no program: name a bench binary, or the command of a worker as a shell would take it"
    )]
    NoCommand(String),
    /// A binary of bench does not have this engine.
    #[error(
        "variant {variant:?}: a bench binary has a worker for the target kind \"embedded\" only; name the command of a worker, as in --against 'python3 worker.py'"
    )]
    NoWorker {
        /// The variant.
        variant: String,
    },
    /// Nothing would be measured.
    #[error(
        "variant {variant:?}: the target \"null\" ingests nothing, so there is nothing to gate"
    )]
    Null {
        /// The variant.
        variant: String,
    },
}

/// What a scenario is held against.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Against {
    /// A binary of bench, which is its own worker.
    Binary(String),
    /// Program and arguments of a worker.
    Worker(Vec<String>),
}

impl Against {
    /// One word is a binary of bench, several are the command of a worker, split as a shell does.
    ///
    /// # Errors
    /// [`AgainstError::NoCommand`]
    pub fn read(text: &str) -> Result<Self, AgainstError> {
        // A binary may have a space in its path.
        if Path::new(text).is_file() {
            return Ok(Self::Binary(program(text)));
        }
        match shlex::split(text).as_deref() {
            None | Some([]) => Err(AgainstError::NoCommand(text.to_owned())),
            Some([one]) => Ok(Self::Binary(program(one))),
            Some([first, rest @ ..]) => {
                let mut words = vec![program(first)];
                words.extend(rest.iter().cloned());
                Ok(Self::Worker(words))
            }
        }
    }

    /// As a person reads it.
    #[must_use]
    pub fn shown(&self) -> String {
        match self {
            Self::Binary(path) => path.clone(),
            Self::Worker(words) => words.join(" "),
        }
    }

    /// The target of the old side of a variant.
    fn target(&self, variant: &Variant) -> Result<Target, AgainstError> {
        let named = || variant.name.clone();
        let command = match (self, variant.target.kind) {
            (_, TargetKind::Null) => return Err(AgainstError::Null { variant: named() }),
            (Self::Worker(words), _) => words.clone(),
            (Self::Binary(path), TargetKind::Embedded) => {
                vec![path.clone(), "worker".to_owned(), "embedded".to_owned()]
            }
            (Self::Binary(_), _) => return Err(AgainstError::NoWorker { variant: named() }),
        };
        Ok(Target {
            kind: TargetKind::Command,
            command,
            ..variant.target.clone()
        })
    }
}

/// A program that lies somewhere, by its whole path, so that it does not matter where a worker starts.
fn program(word: &str) -> String {
    match word.contains('/') {
        true => std::path::absolute(word)
            .map_or_else(|_| word.to_owned(), |path| path.display().to_string()),
        false => word.to_owned(),
    }
}

/// A scenario with both sides of each variant, or of those that are named.
pub(super) fn both_sides(
    scenario: &Scenario,
    against: &Against,
    pairs: u32,
    with_aa: bool,
    only: Option<&BTreeSet<String>>,
) -> Result<Scenario, AgainstError> {
    let mut variants = Vec::new();
    for variant in &scenario.variants {
        if only.is_some_and(|only| !only.contains(&variant.name)) {
            continue;
        }
        for side in GateSide::ALL {
            if side == GateSide::Again && !with_aa {
                continue;
            }
            let target = match side {
                GateSide::New => variant.target.clone(),
                GateSide::Base | GateSide::Again => against.target(variant)?,
            };
            variants.push(Variant {
                name: side.of(&variant.name),
                target,
                ..variant.clone()
            });
        }
    }
    let mut both = Scenario {
        variants,
        ..scenario.clone()
    };
    both.measure.repeats = pairs;
    Ok(both)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::load;

    fn names(scenario: &Scenario) -> Vec<&str> {
        scenario
            .variants
            .iter()
            .map(|one| one.name.as_str())
            .collect()
    }

    #[test]
    fn both_sides_stand_next_to_each_other_so_that_a_pair_sees_the_same_machine() {
        let scenario = load("quickstart", &[]).unwrap().scenario;
        let against = Against::read("/opt/old").unwrap();
        let both = both_sides(&scenario, &against, 7, true, None).unwrap();
        assert_eq!(
            names(&both),
            [
                "baseline.new",
                "baseline.base",
                "baseline.again",
                "tuned.new",
                "tuned.base",
                "tuned.again"
            ]
        );
        assert_eq!(both.measure.repeats, 7);
        let commands: Vec<&[String]> = both
            .variants
            .iter()
            .map(|one| one.target.command.as_slice())
            .collect();
        assert_eq!(commands[0], [""; 0]);
        assert_eq!(commands[1], ["/opt/old", "worker", "embedded"]);
        assert_eq!(commands[2], commands[1]);
        let settings = |at: usize| &both.variants[at].settings;
        assert_eq!(settings(3), settings(4));
        let only = BTreeSet::from(["tuned".to_owned()]);
        let some = both_sides(&scenario, &against, 7, false, Some(&only)).unwrap();
        assert_eq!(names(&some), ["tuned.new", "tuned.base"]);
    }

    #[test]
    fn one_word_is_a_binary_and_several_are_a_worker() {
        assert_eq!(
            Against::read("bench").unwrap(),
            Against::Binary("bench".to_owned())
        );
        assert_eq!(
            Against::read("python3 'my worker.py' --x").unwrap(),
            Against::Worker(
                ["python3", "my worker.py", "--x"]
                    .map(str::to_owned)
                    .to_vec()
            )
        );
        assert!(Against::read("").is_err() && Against::read("'open").is_err());
    }

    #[test]
    fn a_target_that_a_binary_has_no_worker_for_is_refused_by_name() {
        let mut scenario = load("quickstart", &[]).unwrap().scenario;
        scenario.variants[1].target.kind = TargetKind::Command;
        let binary = Against::read("bench").unwrap();
        let error = both_sides(&scenario, &binary, 6, true, None).unwrap_err();
        assert!(error.to_string().contains("tuned"), "{error}");
        scenario.variants[1].target.kind = TargetKind::Null;
        assert!(both_sides(&scenario, &binary, 6, true, None).is_err());
    }
}
