//! The command line as a user meets it: help, usage errors, exit codes, pipes.

use std::fs::File;
use std::process::{Command, Output};

const BENCH: &str = env!("CARGO_BIN_EXE_bench");

fn bench(arguments: &[&str]) -> Output {
    let mut command = Command::new(BENCH);
    command
        .args(arguments)
        .env_remove("NO_COLOR")
        .env_remove("CLICOLOR_FORCE")
        .env_remove("RUST_BACKTRACE")
        .env("COLUMNS", "100");
    command.output().expect("bench can be started")
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

#[test]
fn help_lists_the_commands_in_groups() {
    let output = bench(&["--help"]);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(stderr(&output), "");
    insta::assert_snapshot!("help", stdout(&output));
}

#[test]
fn every_command_has_a_help_of_its_own_with_examples() {
    for command in [
        "list",
        "show",
        "generate",
        "truth",
        "inspect",
        "eventlog",
        "doctor",
        "completions",
        "man",
    ] {
        let output = bench(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0), "{command}");
        assert!(stdout(&output).contains("Examples:"), "{command}");
        insta::assert_snapshot!(format!("help_{command}"), stdout(&output));
    }
}

#[test]
fn without_arguments_help_goes_to_stderr_as_a_usage_error() {
    let output = bench(&[]);
    assert_eq!(output.status.code(), Some(64));
    assert_eq!(stdout(&output), "");
    assert!(stderr(&output).contains("Usage:"));
}

#[test]
fn usage_errors_leave_with_64_and_never_2() {
    let wrong: [&[&str]; 5] = [
        &["frobnicate"],
        &["doctor", "--frobnicate"],
        &["completions"],
        &["completions", "cmd.exe"],
        &["--color", "sometimes", "doctor"],
    ];
    for arguments in wrong {
        let output = bench(arguments);
        assert_eq!(output.status.code(), Some(64), "{arguments:?}");
        assert_eq!(stdout(&output), "", "{arguments:?}");
        assert!(stderr(&output).starts_with("error: "), "{arguments:?}");
    }
}

#[test]
fn an_unknown_shell_is_told_which_there_are() {
    let output = bench(&["completions", "cmd.exe"]);
    insta::assert_snapshot!("unknown_shell", stderr(&output));
}

#[test]
fn commands_that_do_not_exist_yet_are_not_commands() {
    for command in ["run", "report", "compare", "gate", "verify"] {
        let output = bench(&[command]);
        assert_eq!(output.status.code(), Some(64), "{command}");
    }
}

#[test]
fn every_shell_gets_a_script_that_knows_the_commands() {
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = bench(&["completions", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        assert!(stdout(&output).contains("doctor"), "{shell}");
    }
}

#[test]
fn the_bash_script_is_valid_bash() {
    let script = stdout(&bench(&["completions", "bash"]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("script");
    std::fs::write(&path, script).unwrap();
    let mut bash = Command::new("bash");
    bash.arg("-n").stdin(File::open(&path).unwrap());
    let output = bash.output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
}

#[test]
fn there_is_a_manual_page_for_bench_and_for_each_command() {
    for arguments in [&["man"][..], &["man", "doctor"]] {
        let output = bench(arguments);
        assert_eq!(output.status.code(), Some(0));
        assert!(stdout(&output).contains(".TH bench"), "{arguments:?}");
    }
    let output = bench(&["man", "frobnicate"]);
    assert_eq!(output.status.code(), Some(64));
    insta::assert_snapshot!("man_unknown", stderr(&output));
}

#[test]
fn doctor_prints_json_for_machines() {
    let output = bench(&["doctor", "--json"]);
    assert_eq!(output.status.code(), Some(0));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(json["format"], 1);
    assert!(json["facts"]["cores"].as_u64() >= Some(1));
    assert!(!json["checks"].as_array().unwrap().is_empty());
}

#[test]
fn colour_is_for_terminals_unless_it_is_asked_for() {
    let coloured = |arguments: &[&str]| stdout(&bench(arguments)).contains('\u{1b}');
    assert!(!coloured(&["doctor"]));
    assert!(coloured(&["doctor", "--color", "always"]));
    assert!(!coloured(&["--help"]));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let script = format!("{BENCH} completions bash | head -n 1; echo ${{PIPESTATUS[0]}}");
    let output = Command::new("bash").args(["-c", &script]).output().unwrap();
    assert_eq!(stderr(&output), "");
    assert_eq!(stdout(&output).lines().last(), Some("0"));
}
