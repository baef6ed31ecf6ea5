//! The event logs that a run's Spark workers leave, looked at when an arm has ended.
//!
//! They are evidence beside the journal: a log that cannot be read is a finding, and fails no run.

use super::error::RunError;
use crate::record::{ArmId, write_spark};
use bench_eventlog::{Arm, Finding, Row, read_arm};
use std::path::Path;

/// Folder of event logs in a run directory; in it, one for each arm.
const FOLDER: &str = "spark";

/// What the event logs of a run say, as far as they were looked at.
#[derive(Debug, Default)]
pub(super) struct SparkLogs {
    arms: Vec<(ArmId, Vec<Row>)>,
    findings: Vec<String>,
}

impl SparkLogs {
    /// Reads the logs of arms that have some and were not looked at yet, and writes `spark.csv`.
    pub(super) fn look<'a>(
        &mut self,
        run: &Path,
        arms: impl IntoIterator<Item = &'a ArmId>,
    ) -> Result<(), RunError> {
        let mut has_some = false;
        for id in arms {
            let folder = run.join(FOLDER).join(id.to_string());
            let known = self.arms.iter().any(|(known, _)| known == id);
            if known || !folder.is_dir() {
                continue;
            }
            has_some = true;
            let arm = read_arm(&folder).unwrap_or_else(|error| {
                let error = crate::error::chain(&error);
                self.findings
                    .push(format!("{id}: its event logs are in no figure: {error}"));
                Arm::default()
            });
            self.findings.extend(findings(id, &arm));
            self.arms.push((id.clone(), arm.rows));
        }
        if has_some {
            write_spark(run, self.arms.iter().map(|(id, rows)| (id, &**rows)))?;
        }
        Ok(())
    }

    /// What is wrong with them, in a sentence each.
    pub(super) fn findings(&self) -> impl Iterator<Item = String> {
        self.findings.iter().cloned()
    }
}

/// A killed driver is nothing unusual in a bench that kills, so these are counted, and all else is told.
fn findings(id: &ArmId, arm: &Arm) -> Vec<String> {
    let unfinished = |one: &Finding| *one == Finding::Unfinished;
    let logs = arm.logs.len();
    let mut told = Vec::new();
    let count = arm
        .logs
        .iter()
        .filter(|log| log.findings.iter().any(unfinished))
        .count();
    if count > 0 {
        told.push(format!(
            "{id}: {count} of {logs} event logs are unfinished; what their drivers had not written is in no figure"
        ));
    }
    for log in &arm.logs {
        let cut = log.findings.iter().any(unfinished);
        // Where the driver was killed, its last line is cut.
        let expected = |one: &Finding| unfinished(one) || cut && matches!(one, Finding::Cut { .. });
        for finding in log.findings.iter().filter(|one| !expected(one)) {
            told.push(format!("{id}: event log {}: {finding}", log.log));
        }
    }
    told
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const SAMPLES: &str = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../targets/spark/eventlog/tests/data"
    );

    fn arm(variant: &str) -> ArmId {
        ArmId {
            variant: variant.to_owned(),
            repeat: 1,
        }
    }

    /// A run directory whose arm `a` has the log of a driver that ended, and `b` that of a killed one.
    fn run() -> tempfile::TempDir {
        let run = tempfile::tempdir().unwrap();
        let a = run.path().join("spark/a-1");
        fs::create_dir_all(&a).unwrap();
        fs::copy(format!("{SAMPLES}/plain.log"), a.join("app-1")).unwrap();
        let killed = fs::read_dir(format!("{SAMPLES}/killed")).unwrap();
        let killed = killed.map(|one| one.unwrap().path()).next().unwrap();
        let b = run
            .path()
            .join("spark/b-1")
            .join(killed.file_name().unwrap());
        fs::create_dir_all(&b).unwrap();
        for file in fs::read_dir(&killed).unwrap() {
            let file = file.unwrap().path();
            fs::copy(&file, b.join(file.file_name().unwrap())).unwrap();
        }
        run
    }

    fn rows(run: &Path) -> Vec<Vec<String>> {
        let mut reader = csv::Reader::from_path(run.join("spark.csv")).unwrap();
        reader
            .records()
            .map(|row| row.unwrap().iter().take(6).map(str::to_owned).collect())
            .collect()
    }

    #[test]
    fn each_arm_with_event_logs_has_its_rows_and_a_killed_driver_is_flagged() {
        let run = run();
        let mut logs = SparkLogs::default();
        logs.look(run.path(), [&arm("a")]).unwrap();
        assert_eq!(
            rows(run.path()),
            [
                ["a", "1", "1", "1", "latest", "true"],
                ["a", "1", "1", "1", "reports", "true"],
                ["a", "1", "", "", "(all)", "true"],
            ]
        );
        assert_eq!(logs.findings().count(), 0);
        logs.look(run.path(), [&arm("a"), &arm("b"), &arm("c")])
            .unwrap();
        let rows = rows(run.path());
        assert!(rows.len() > 5);
        assert!(
            rows[3..]
                .iter()
                .all(|row| row[0] == "b" && row[5] == "false")
        );
        let findings: Vec<String> = logs.findings().collect();
        assert_eq!(findings.len(), 1, "{findings:?}");
        assert!(findings[0].starts_with("b-1: 1 of 1 event logs are unfinished"));
    }

    #[test]
    fn a_run_without_event_logs_gets_no_file() {
        let run = tempfile::tempdir().unwrap();
        SparkLogs::default().look(run.path(), [&arm("a")]).unwrap();
        assert!(!run.path().join("spark.csv").exists());
    }

    #[test]
    fn a_folder_that_holds_no_log_is_a_finding_and_fails_no_run() {
        let run = tempfile::tempdir().unwrap();
        fs::create_dir_all(run.path().join("spark/a-1")).unwrap();
        let mut logs = SparkLogs::default();
        logs.look(run.path(), [&arm("a")]).unwrap();
        assert!(
            logs.findings()
                .next()
                .unwrap()
                .contains("holds no event log")
        );
        assert!(rows(run.path()).is_empty());
    }
}
