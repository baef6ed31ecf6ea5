//! A verdict as JUnit XML, which CI systems show as tests: a suite for each variant, a case for each
//! figure that is judged.
//!
//! Left out: figures that are only shown. A case that cannot fail would look like one that passed.

use crate::gate::verdict::{Compared, Gate, GateRow, Verdict};
use quick_junit::{NonSuccessKind, Report, TestCase, TestCaseStatus, TestSuite};

/// A verdict as JUnit XML.
#[must_use]
pub fn gate_junit(gate: &Gate) -> String {
    let mut report = Report::new("bench gate");
    for compared in &gate.variants {
        report.add_test_suite(suite(compared));
    }
    // Writing to memory fails only for text that XML cannot hold, and that is filtered by the writer.
    report.to_string().unwrap_or_default()
}

fn suite(compared: &Compared) -> TestSuite {
    let mut suite = TestSuite::new(compared.name());
    if let Some(base) = &compared.base {
        suite.add_property(("compared with", base.as_str()));
    }
    let judged = compared
        .rows
        .iter()
        .filter_map(|row| Some((row, row.verdict?)));
    let mut cases: Vec<TestCase> = judged
        .map(|(row, verdict)| case(compared, &row.id, status(verdict, &said(row))))
        .collect();
    if cases.is_empty() || !compared.reasons.is_empty() {
        let status = status(compared.verdict, &compared.reasons.join("; "));
        cases.insert(0, case(compared, "comparison", status));
    }
    suite.add_test_cases(cases);
    suite
}

fn case(compared: &Compared, figure: &str, status: TestCaseStatus) -> TestCase {
    let mut case = TestCase::new(figure, status);
    case.set_classname(compared.name());
    case
}

fn status(verdict: Verdict, words: &str) -> TestCaseStatus {
    let message = match words.is_empty() {
        true => verdict.words().to_owned(),
        false => format!("{}: {words}", verdict.words()),
    };
    let mut status = match verdict {
        Verdict::Same | Verdict::Better => return TestCaseStatus::success(),
        Verdict::Unstable | Verdict::NoBaseline => TestCaseStatus::skipped(),
        Verdict::NotComparable => TestCaseStatus::non_success(NonSuccessKind::Error),
        Verdict::Worse | Verdict::Failed | Verdict::Invalid => {
            TestCaseStatus::non_success(NonSuccessKind::Failure)
        }
    };
    status.set_message(message);
    status
}

fn said(row: &GateRow) -> String {
    let show = |value: Option<f64>| value.map_or("n/a".to_owned(), |value| row.unit.show(value));
    let mut text = format!("{} → {}", show(row.base), show(row.new));
    if !row.why.is_empty() {
        text = format!("{text} ({})", row.why);
    }
    text
}
