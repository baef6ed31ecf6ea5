//! Runs every command that the documentation shows, so that none goes stale.
//!
//! In README.md, CONTRIBUTING.md and docs/, a block of ```` ```console ```` holds commands after
//! `$ ` and what they print; a line `...` stands for any lines, `[..]` for any text in a line, and
//! `? 64` right below a command is its exit code where that is not 0. A command without output
//! below it may print anything; how long something took may differ. A block of ```` ```sh ```` holds commands only. The commands of one page
//! run one after another in one new folder, in which the repository's own files can be named as
//! from its root. A block below `<!-- not run: reason -->` is not run.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");
const BENCH: &str = env!("CARGO_BIN_EXE_bench");

/// A command, its place, and what it must print.
#[derive(Debug, Default, PartialEq)]
struct Step {
    line: usize,
    command: String,
    exit: i32,
    output: Option<Vec<String>>,
}

/// The commands of a page, in order.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut language: Option<&str> = None;
    let mut is_skipped = false;
    for (line, number) in page.lines().zip(1..) {
        if let Some(info) = line.strip_prefix("```") {
            match language {
                None => language = Some(info.trim()),
                Some(_) => (language, is_skipped) = (None, false),
            }
            continue;
        }
        let step = |command: &str| Step {
            line: number,
            command: command.to_owned(),
            ..Step::default()
        };
        match language {
            Some("console") if !is_skipped => {
                if let Some(command) = line.strip_prefix("$ ") {
                    steps.push(step(command));
                } else if let Some(last) = steps.last_mut() {
                    match line.strip_prefix("? ") {
                        Some(exit) => last.exit = exit.parse().expect("`? ` and an exit code"),
                        None => last.output.get_or_insert_default().push(line.to_owned()),
                    }
                }
            }
            Some("sh" | "bash" | "shell")
                if !is_skipped && !line.trim().is_empty() && !line.starts_with('#') =>
            {
                steps.push(step(line));
            }
            Some(_) => {}
            None if line.starts_with("<!-- not run: ") => is_skipped = true,
            None if !line.trim().is_empty() => is_skipped = false,
            None => {}
        }
    }
    steps
}

/// A line without how long something took: `0.31 s, 200,000 messages/s` becomes
/// `N s, N messages/s`.
fn timeless(line: &str) -> String {
    let is_unit = |word: &str| ["s", "s,", "messages/s"].contains(&word);
    let words: Vec<&str> = line.split(' ').collect();
    let timeless: Vec<&str> = words
        .iter()
        .zip(words.iter().skip(1).chain([&""]))
        .map(|(word, next)| if is_unit(next) { "N" } else { word })
        .collect();
    timeless.join(" ")
}

/// Whether a line matches a pattern in which `[..]` stands for any text.
fn line_matches(pattern: &str, line: &str) -> bool {
    let (pattern, line) = (&timeless(pattern), &timeless(line));
    let mut parts = pattern.split("[..]");
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = line.strip_prefix(first) else {
        return false;
    };
    let parts: Vec<&str> = parts.collect();
    let Some((last, between)) = parts.split_last() else {
        return rest.is_empty();
    };
    for part in between {
        match rest.find(part) {
            Some(at) => rest = &rest[at + part.len()..],
            None => return false,
        }
    }
    rest.ends_with(last)
}

/// Whether lines match patterns, of which `...` stands for any number of lines.
fn output_matches(patterns: &[String], lines: &[&str]) -> bool {
    match (patterns, lines) {
        ([], []) => true,
        ([any, patterns @ ..], _) if any == "..." => {
            (0..=lines.len()).any(|skip| output_matches(patterns, &lines[skip..]))
        }
        ([pattern, patterns @ ..], [line, lines @ ..]) => {
            line_matches(pattern, line) && output_matches(patterns, lines)
        }
        _ => false,
    }
}

/// A new folder in which the repository's files can be named as from its root.
fn workshop() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(ROOT).unwrap() {
        let path = entry.unwrap().path().canonicalize().unwrap();
        let name = path.file_name().unwrap();
        if !["target", ".git"].iter().any(|skip| name == *skip) {
            std::os::unix::fs::symlink(&path, folder.path().join(name)).unwrap();
        }
    }
    folder
}

/// What went wrong with a step, if anything.
fn run(step: &Step, folder: &Path) -> Result<(), String> {
    let programs = Path::new(BENCH).parent().unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    let command = step
        .command
        .replace("cargo run --release --bin bench -- ", "bench ");
    let output = Command::new("bash")
        .args(["-euo", "pipefail", "-c", &format!("exec 2>&1; {command}")])
        .current_dir(folder)
        .env("PATH", format!("{}:{path}", programs.display()))
        .env("COLUMNS", "100")
        .env_remove("CLICOLOR_FORCE")
        .output()
        .map_err(|error| error.to_string())?;
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    if output.status.code() != Some(step.exit) {
        return Err(format!("ended with {}:\n{printed}", output.status));
    }
    let lines: Vec<&str> = printed.lines().map(str::trim_end).collect();
    match &step.output {
        Some(patterns) if !output_matches(patterns, &lines) => {
            let expected = patterns.join("\n");
            Err(format!(
                "was to print:\n{expected}\nand printed:\n{printed}"
            ))
        }
        _ => Ok(()),
    }
}

fn pages() -> Vec<PathBuf> {
    let mut pages = vec![
        Path::new(ROOT).join("README.md"),
        Path::new(ROOT).join("CONTRIBUTING.md"),
    ];
    let docs = std::fs::read_dir(Path::new(ROOT).join("docs")).unwrap();
    pages.extend(
        docs.map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "md")),
    );
    pages.sort();
    pages
}

#[test]
fn every_command_in_the_documentation_does_what_it_says() {
    let mut count = 0;
    let mut failures = String::new();
    for page in pages() {
        let folder = workshop();
        for step in steps(&std::fs::read_to_string(&page).unwrap()) {
            count += 1;
            if let Err(error) = run(&step, folder.path()) {
                let name = page.file_name().unwrap().to_string_lossy();
                let Step { line, command, .. } = step;
                let _ = writeln!(failures, "{name}:{line}: `{command}` {error}\n");
            }
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert!(count >= 10, "only {count} commands were found");
}

#[test]
fn commands_are_found_with_their_output_and_exit_code() {
    let page = "\
```console
$ bench one
? 64
error: [..]
$ bench two
```
<!-- not run: it takes an hour -->

```sh
bench three
```
text
```sh
# a comment
bench four
```
```json
{}
```
";
    let step = |line, command: &str, exit, output: Option<&[&str]>| Step {
        line,
        command: command.to_owned(),
        exit,
        output: output.map(|lines| lines.iter().map(ToString::to_string).collect()),
    };
    assert_eq!(
        steps(page),
        [
            step(2, "bench one", 64, Some(&["error: [..]"])),
            step(5, "bench two", 0, None),
            step(15, "bench four", 0, None),
        ]
    );
}

#[test]
fn dots_stand_for_what_changes() {
    let matches = |pattern: &str, output: &str| {
        let patterns: Vec<String> = pattern.lines().map(str::to_owned).collect();
        output_matches(&patterns, &output.lines().collect::<Vec<_>>())
    };
    assert!(matches("a [..] c", "a b c"));
    assert!(matches("a\n...\nd", "a\nb\nc\nd"));
    assert!(matches("a\n...", "a"));
    assert!(matches(
        "in 0.31 s, 9 messages/s",
        "in 12.5 s, 10 messages/s"
    ));
    assert!(!matches("a [..] c", "a b d"));
    assert!(!matches("a", "a\nb"));
    assert!(!matches("a\nb", "a"));
}

#[test]
fn a_command_that_fails_or_prints_something_else_is_noticed() {
    let folder = workshop();
    let step = |command: &str, output: &str| Step {
        command: command.to_owned(),
        output: Some(vec![output.to_owned()]),
        ..Step::default()
    };
    assert_eq!(run(&step("echo one", "one"), folder.path()), Ok(()));
    assert!(run(&step("echo one", "two"), folder.path()).is_err());
    assert!(run(&step("echo one; exit 3", "one"), folder.path()).is_err());
    assert!(run(&step("bench frobnicate", ""), folder.path()).is_err());
}
