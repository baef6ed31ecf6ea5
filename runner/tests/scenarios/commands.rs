//! `bench list`, `bench show`, `bench schema`.

use bench_runner::scenario::{SHIPPED, reference};
use std::path::Path;
use std::process::{Command, Output};

fn bench(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_bench"))
        .args(arguments)
        .current_dir(folder)
        .env("COLUMNS", "100")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .expect("bench can be started")
}

fn stdout(arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = bench(folder.path(), arguments);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_list_has_every_shipped_scenario_with_its_size() {
    insta::assert_snapshot!("list", stdout(&["list"]));
    let json: serde_json::Value = serde_json::from_str(&stdout(&["list", "--json"])).unwrap();
    let listed = json["scenarios"].as_array().unwrap();
    let names: Vec<&str> = listed
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    let shipped: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, shipped);
    assert_eq!(
        listed[1]["variants"],
        serde_json::json!(["baseline", "tuned"])
    );
    assert_eq!(
        (&listed[1]["workflows"], &listed[1]["messages"]),
        (&24.into(), &100_000.into())
    );
}

#[test]
fn a_scenario_is_shown_with_where_each_value_came_from() {
    let set = [
        "--set",
        "measure.repeats=3",
        "--set",
        "variants.tuned.resources.memory=2GiB",
    ];
    let arguments = [&["show", "dev04-sequential"], set.as_slice()].concat();
    insta::assert_snapshot!("show", stdout(&arguments));
    let json: serde_json::Value =
        serde_json::from_str(&stdout(&[arguments.as_slice(), &["--json"]].concat())).unwrap();
    let repeats = &json["base"]["measure.repeats"];
    assert_eq!(
        *repeats,
        serde_json::json!({"value": 3, "from": "set", "line": null})
    );
    let stop = &json["variants"][0]["values"]["sequence.stop_after"];
    assert_eq!(
        (&stop["value"], &stop["from"]),
        (&6.into(), &"variant".into())
    );
    insta::assert_snapshot!("show_faults", stdout(&["show", "dev05-concurrent"]));
}

#[test]
fn what_may_be_a_password_is_not_shown() {
    let folder = tempfile::tempdir().unwrap();
    let text = "format = 1\nname = \"x\"\n[target]\nlake = \"s3://a/b\"\n[target.storage]\n\
                aws_secret_access_key = \"hush\"\naws_region = \"there\"\n";
    std::fs::write(folder.path().join("x.toml"), text).unwrap();
    let set = "target.storage.aws_access_key_id=hush";
    for arguments in [
        &["show", "x.toml"][..],
        &["show", "x.toml", "--json"],
        &["show", "x.toml", "--set", set],
    ] {
        let shown = String::from_utf8(bench(folder.path(), arguments).stdout).unwrap();
        assert!(
            !shown.contains("hush") && shown.contains("there"),
            "{shown}"
        );
    }
}

#[test]
fn a_wrong_scenario_is_a_usage_error() {
    let folder = tempfile::tempdir().unwrap();
    let output = bench(
        folder.path(),
        &["show", "quickstart", "--set", "settings.adaptive=maybe"],
    );
    assert_eq!(output.status.code(), Some(64));
    assert!(output.stdout.is_empty());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(
        error.starts_with("error: --set settings.adaptive=maybe: `settings.adaptive` is "),
        "{error}"
    );
}

#[test]
fn the_reference_page_is_made_from_the_keys() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/scenarios.md");
    if std::env::var("INSTA_UPDATE").is_ok_and(|value| value == "always") {
        std::fs::write(&path, reference()).unwrap();
    }
    let page = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        page,
        reference(),
        "docs/scenarios.md is not what the keys make: run with INSTA_UPDATE=always"
    );
}
