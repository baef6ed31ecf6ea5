//! A run directory, opened again: to verify its lakes once more, or to carry on with it.

use super::arm::Place;
use super::dataset::{self, Logs};
use super::error::RunError;
use super::folder::{Folder, RunFile, VERIFICATION_FILE};
use super::reporting::write_reports;
use super::verifying::{Verifications, verify};
use crate::record::{History, RunStatus, read_events};
use crate::scenario::TargetKind;
use std::path::Path;

/// Verifies the lakes of a run once more, and writes what came out. Also says which arms could not be
/// verified, and why.
///
/// # Errors
/// [`RunError`]
pub fn verify_again(path: &Path) -> Result<(Verifications, Vec<String>), RunError> {
    let folder = Folder::open(path)?;
    let mut run = Folder::read(&folder.path)?;
    reveal(&mut run)?;
    let logs = dataset::folder(&run.dataset.path)?;
    same_logs(&logs, &run)?;
    let history = read(&folder.path)?;
    let mut verifications = Verifications::read(&folder.path.join(VERIFICATION_FILE));
    let mut skipped = Vec::new();
    for arm in &history.arms {
        let variant = run
            .scenario
            .variants
            .iter()
            .find(|one| one.name == arm.id.variant);
        let Some(variant) = variant.filter(|one| one.target.kind != TargetKind::Null) else {
            skipped.push(format!("{}: its target keeps no lake", arm.id));
            continue;
        };
        if !run.scenario.verify.rows {
            skipped.push(format!("{}: the scenario says verify.rows = false", arm.id));
            continue;
        }
        if matches!(arm.ended, None | Some(RunStatus::Interrupted)) {
            skipped.push(format!("{}: its sequence has not ended", arm.id));
            continue;
        }
        let place = Place::of(&arm.id, variant, &folder.path)?;
        if !place.exists() {
            skipped.push(format!(
                "{}: there is no lake at {}; bench run --keep-lakes keeps them",
                arm.id, place.lake
            ));
            continue;
        }
        let batches = dataset::batches(
            &logs.paths,
            variant.sequence.files_per_workflow,
            variant.sequence.passes,
        );
        let verification = verify(arm, &place.lake, variant, &logs, &batches)?;
        verifications.push(arm.id.clone(), verification);
    }
    folder.write_json(VERIFICATION_FILE, &verifications)?;
    if !verifications.passed() && run.status != RunStatus::Invalid {
        run.status = RunStatus::Invalid;
        folder.write(&run)?;
    }
    write_reports(&folder)?;
    Ok((verifications, skipped))
}

/// Takes the passwords that are kept in no file from the environment.
pub(super) fn reveal(run: &mut RunFile) -> Result<(), RunError> {
    let variable = |option: &str| option.to_uppercase();
    let revealed = run
        .scenario
        .with_secrets(|option| std::env::var(variable(option)).ok());
    revealed.map_err(|option| RunError::Secret {
        variable: variable(&option),
        option,
    })
}

/// A run is about the logs that it was begun with.
pub(super) fn same_logs(logs: &Logs, run: &RunFile) -> Result<(), RunError> {
    if logs.identity.digest == run.dataset.digest {
        return Ok(());
    }
    Err(RunError::OtherDataset {
        path: logs.root.clone(),
        found: logs.identity.digest.clone(),
        expected: run.dataset.digest.clone(),
    })
}

pub(super) fn read(folder: &Path) -> Result<History, RunError> {
    let mut history = History::default();
    read_events(folder, |record| {
        history.apply(record);
        Ok::<_, RunError>(())
    })?;
    Ok(history)
}
