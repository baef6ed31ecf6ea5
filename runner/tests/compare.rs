//! The two published runs of the platform, imported and compared: each statement that people made of
//! them by hand is found from the figures, by code that knows nothing of these runs.

use bench_reports::{
    Basis, Claim, Comparison, Factor, Finding, Run, State, Verdict, compare, comparison_markdown,
};
use bench_runner::import::import;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use tempfile::TempDir;

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/reference")
        .join(name)
}

fn imported(name: &str) -> (TempDir, Run) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join(name);
    let (csv, toml) = (data(&format!("{name}.csv")), data(&format!("{name}.toml")));
    import(&csv, &toml, &out).unwrap();
    let run = Run::read(&out).unwrap();
    (folder, run)
}

fn dev04() -> Comparison {
    let (_folder, run) = imported("dev04");
    compare(&run.only("baseline").unwrap(), &run.only("tuned").unwrap()).unwrap()
}

fn dev05_beside_dev04() -> Comparison {
    let (_one, dev05) = imported("dev05");
    let (_other, dev04) = imported("dev04");
    let (a, b) = (dev05.only("baseline"), dev04.only("tuned"));
    compare(&a.unwrap(), &b.unwrap()).unwrap()
}

fn found<'a>(comparison: &'a Comparison, id: &str) -> &'a Finding {
    let mut all = comparison.findings.iter();
    all.find(|one| one.id == id)
        .unwrap_or_else(|| panic!("no {id} in {:#?}", comparison.findings))
}

fn value(finding: &Finding, name: &str) -> f64 {
    finding.values[name]
}

#[test]
fn the_five_reasons_against_setting_the_concurrent_run_beside_the_sequential_one_are_found() {
    let comparison = dev05_beside_dev04();
    let differing: Vec<Factor> = comparison.differing().map(|one| one.factor).collect();
    for reason in [
        Factor::Concurrency,
        Factor::Restarts,
        Factor::Memory,
        Factor::EventLog,
        Factor::Host,
    ] {
        assert!(differing.contains(&reason), "{reason:?} in {differing:?}");
    }
    for claim in [Claim::Setting, Claim::Growth, Claim::Resources] {
        let judged = comparison.claim(claim).unwrap();
        assert_eq!(judged.verdict, Verdict::Refused, "{judged:#?}");
        assert_eq!(judged.statement, None);
    }
}

#[test]
fn the_order_of_completion_is_neither_first_in_first_out_nor_random() {
    let comparison = dev05_beside_dev04();
    let order = found(&comparison, "completion_order");
    assert_eq!(format!("{:.2}", value(order, "spearman")), "0.58");
    assert_eq!(format!("{:.2}", value(order, "kendall")), "0.46");
    let p = value(order, "p");
    assert!((0.003..0.005).contains(&p), "{p}");
    assert!(
        order
            .text
            .contains("neither first in, first out nor random")
    );
}

#[test]
fn durations_of_one_slot_are_mostly_waiting() {
    let comparison = dev05_beside_dev04();
    let share = found(&comparison, "service_share");
    assert_eq!(
        format!("{:.0}", value(share, "durations_s") / 3600.0),
        "195"
    );
    assert_eq!(
        format!("{:.1}", value(share, "makespan_s") / 3600.0),
        "18.4"
    );
    assert_eq!(
        format!("{:.1}", 100.0 * value(share, "service_share_at_most")),
        "9.4"
    );
}

#[test]
fn growth_of_service_is_inferred_from_the_gaps_of_one_slot_and_called_that() {
    let comparison = dev05_beside_dev04();
    let growth = found(&comparison, "inferred_service_growth");
    assert_eq!(growth.basis, Basis::Inferred);
    assert!(growth.text.starts_with("Inferred"));
    assert_eq!(value(growth, "from_completion"), 2.0);
    assert_eq!(value(growth, "to_completion"), 15.0);
    assert_eq!(format!("{:.1}", value(growth, "slope_s") / 60.0), "3.6");
}

#[test]
fn slopes_of_different_windows_are_told_and_taken_again_over_the_common_one() {
    let comparison = dev04();
    let windows = found(&comparison, "published_windows_differ");
    assert_eq!(value(windows, "a_to"), 6.0);
    assert_eq!(value(windows, "b_to"), 14.0);
    let common = found(&comparison, "growth_on_common_window");
    let minutes = |name: &str| format!("{:.2}", value(common, name) / 60.0 + 1e-9);
    assert_eq!(minutes("a_end_to_end_s"), "2.73");
    assert_eq!(minutes("b_end_to_end_s"), "1.85");
    assert_eq!(minutes("a_least_squares_s"), "2.66");
    assert_eq!(minutes("b_least_squares_s"), "1.86");
    assert!(common.text.contains("end to end") && common.text.contains("least squares"));
}

#[test]
fn half_of_the_gap_at_the_last_common_workflow_is_there_at_the_first() {
    let comparison = dev04();
    let share = value(found(&comparison, "gap_at_first"), "share_at_first");
    assert!((0.45..0.55).contains(&share), "{share}");
}

#[test]
fn what_was_measured_and_what_was_shipped_are_held_apart() {
    let comparison = dev04();
    let shipped = found(&comparison, "measured_not_shipped");
    assert!(
        shipped.text.contains("16 was measured and 32 shipped"),
        "{}",
        shipped.text
    );
    let setting = comparison.claim(Claim::Setting).unwrap();
    assert_eq!(setting.verdict, Verdict::SupportedWithCaveats);
    let caveats: Vec<Option<Factor>> = setting.reasons.iter().map(|one| one.factor).collect();
    assert!(caveats.contains(&Some(Factor::Shipped)), "{caveats:?}");
}

#[test]
fn a_run_of_six_workflows_cannot_support_or_refute_a_plateau() {
    let comparison = dev04();
    let plateau = found(&comparison, "plateau_not_observable");
    assert_eq!(plateau.of, "A");
    assert!(
        plateau.text.contains("neither support nor refute"),
        "{}",
        plateau.text
    );
}

#[test]
fn a_published_median_that_is_the_upper_middle_value_is_recognised() {
    let comparison = dev05_beside_dev04();
    let median = found(&comparison, "published_median");
    assert!(median.text.contains("upper of the two middle values"));
    assert_eq!(value(median, "median_s") / 60.0, 338.0);
}

#[test]
fn what_was_not_told_is_not_known_and_never_the_same() {
    let comparison = dev04();
    let state = |factor: Factor| {
        let mut all = comparison.factors.iter();
        all.find(|one| one.factor == factor).map(|one| one.state)
    };
    for factor in [
        Factor::Dataset,
        Factor::Versions,
        Factor::Storage,
        Factor::Cache,
    ] {
        assert_eq!(state(factor), Some(State::Unknown), "{factor:?}");
    }
    assert_eq!(state(Factor::Host), Some(State::Same));
}

#[test]
fn the_comparison_of_the_sequential_run_reads_like_this() {
    insta::assert_snapshot!(comparison_markdown(&dev04()));
}

#[test]
fn the_comparison_of_the_concurrent_run_reads_like_this() {
    insta::assert_snapshot!(comparison_markdown(&dev05_beside_dev04()));
}

fn bench(arguments: &[&str], folder: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .unwrap()
}

#[test]
fn a_refused_claim_that_was_asked_for_exits_13_and_others_exit_0() {
    let (folder, _run) = imported("dev04");
    let code = |arguments: &[&str]| bench(arguments, folder.path()).status.code();
    let sides = ["compare", "dev04:baseline", "dev04:tuned"];
    assert_eq!(code(&sides), Some(0));
    assert_eq!(
        code(&[&sides[..], &["--claim", "growth"]].concat()),
        Some(0)
    );
    let total = [&sides[..], &["--claim", "growth", "--claim", "total"]].concat();
    assert_eq!(code(&total), Some(13));
}

#[test]
fn a_run_of_several_variants_needs_one_to_be_named() {
    let (folder, _run) = imported("dev04");
    let output = bench(&["compare", "dev04", "dev04:tuned"], folder.path());
    assert_eq!(output.status.code(), Some(64));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("baseline, tuned"), "{said}");
    let output = bench(&["compare", "dev04:other", "dev04:tuned"], folder.path());
    assert_eq!(output.status.code(), Some(64));
}

#[test]
fn facts_and_durations_that_are_wrong_are_named_by_line() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (
            "format = 1\nname = \"a\"\nmemry = 1\n[variants.a]\n",
            "variant,workflow,minutes\n",
            "memry",
        ),
        (
            "format = 2\nname = \"a\"\n[variants.a]\n",
            "variant,workflow,minutes\n",
            "`format` is 2",
        ),
        (
            "format = 1\nname = \"a\"\n[variants.a]\n",
            "variant,workflow\na,1\n",
            "one of `seconds`",
        ),
        (
            "format = 1\nname = \"a\"\n[variants.a]\n",
            "variant,workflow,minutes\nb,1,2\n",
            "line 2: there is no variant `b`",
        ),
        (
            "format = 1\nname = \"a\"\n[variants.a]\n",
            "variant,workflow,minutes\na,1,2\na,1,3\n",
            "line 3: workflow 1 of `a` stands here a second time",
        ),
        (
            "format = 1\nname = \"a\"\n[variants.a]\n",
            "variant,workflow,minutes\na,1,-2\n",
            "line 2: a duration must be",
        ),
        (
            "format = 1\nname = \"a\"\n[variants.a]\n[variants.a.resources]\nmemory = \"much\"\n",
            "variant,workflow,minutes\n",
            "`much` is no size",
        ),
    ];
    for (facts, durations, expected) in cases {
        std::fs::write(folder.path().join("f.toml"), facts).unwrap();
        std::fs::write(folder.path().join("d.csv"), durations).unwrap();
        let arguments = [
            "import",
            "--durations",
            "d.csv",
            "--facts",
            "f.toml",
            "--out",
            "run",
        ];
        let output = bench(&arguments, folder.path());
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(64), "{said}");
        assert!(said.contains(expected), "{expected} in {said}");
        assert!(!folder.path().join("run").exists());
    }
}

#[test]
fn a_run_directory_that_is_there_is_never_replaced() {
    let (folder, _run) = imported("dev04");
    let error = import(
        &data("dev04.csv"),
        &data("dev04.toml"),
        &folder.path().join("dev04"),
    );
    assert!(error.unwrap_err().to_string().contains("is there already"));
}

#[test]
fn the_report_of_an_imported_run_says_what_is_not_known() {
    let (_folder, run) = imported("dev04");
    let report = bench_reports::report(&[run]).unwrap();
    insta::assert_snapshot!(bench_reports::markdown(&report));
}
