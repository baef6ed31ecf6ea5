//! Holds the CI files to what is here: every command in them is one that exists, every file that they
//! name is there, and they are as careful as a file that strangers copy should be.
//!
//! How the parts of a file fit together is judged in [`structure`]. What a workflow means to GitHub or
//! GitLab is judged by their own linters (`just lint-ci`), which these tests do without.

mod structure;

use saphyr::{LoadableYamlNode, Yaml};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const ROOT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/..");

/// Programs that stand for `bench` in the CI files.
const BENCH: [&str; 4] = ["bench", "bin/bench", "sides/before", "sides/after"];

fn workflows() -> Vec<PathBuf> {
    files(".github/workflows")
}

fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(Path::new(ROOT).join(folder)).unwrap();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(!files.is_empty(), "{folder} is empty");
    files
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// Texts of a file below the keys that hold shell commands.
fn scripts(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap();
    let documents = Yaml::load_from_str(&text).unwrap();
    let mut scripts = Vec::new();
    collect(&documents[0], &mut scripts);
    scripts
}

fn collect(node: &Yaml, scripts: &mut Vec<String>) {
    if let Some(mapping) = node.as_mapping() {
        for (key, value) in mapping {
            match key.as_str() {
                Some("run" | "script" | "before_script" | "after_script") => texts(value, scripts),
                _ => collect(value, scripts),
            }
        }
    } else if let Some(items) = node.as_sequence() {
        for item in items {
            collect(item, scripts);
        }
    }
}

fn texts(node: &Yaml, found: &mut Vec<String>) {
    if let Some(text) = node.as_str() {
        found.push(text.to_owned());
    } else if let Some(items) = node.as_sequence() {
        for item in items {
            texts(item, found);
        }
    } else {
        // `defaults.run` holds no commands.
        assert!(node.is_mapping(), "a script is a text: {node:?}");
    }
}

/// The commands of a script, each as its words; variables stand as `1`.
///
/// No shell: what the CI files need of one, and no more.
fn commands(script: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut word: Option<String> = None;
    let mut quote: Option<char> = None;
    let mut chars = script.chars().peekable();
    let mut is_comment = false;
    while let Some(char) = chars.next() {
        if is_comment && char != '\n' {
            continue;
        }
        is_comment = false;
        match (char, quote) {
            ('\'', None) | ('"', None) => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (char, Some(end)) if char == end => quote = None,
            ('$', None | Some('"')) => {
                let bracket = chars.peek().copied();
                match bracket {
                    Some('{' | '(') => {
                        let (open, close) = match bracket {
                            Some('{') => ('{', '}'),
                            _ => ('(', ')'),
                        };
                        let mut depth = 0;
                        for char in chars.by_ref() {
                            depth += i32::from(char == open) - i32::from(char == close);
                            if depth == 0 {
                                break;
                            }
                        }
                    }
                    _ => {
                        let is_name =
                            |char: &char| char.is_ascii_alphanumeric() || "_?".contains(*char);
                        while chars.next_if(is_name).is_some() {}
                    }
                }
                word.get_or_insert_default().push('1');
            }
            ('\\', None) if chars.peek() == Some(&'\n') => {
                chars.next();
            }
            ('#', None) if word.is_none() => is_comment = true,
            (' ' | '\t', None) => words.extend(word.take()),
            ('\n' | ';' | '&' | '|', None) => {
                words.extend(word.take());
                commands.push(std::mem::take(&mut words));
            }
            (char, _) => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word);
    commands.push(words);
    commands.into_iter().filter_map(command).collect()
}

/// A command without what a shell takes for itself: keywords, assignments, redirections.
fn command(words: Vec<String>) -> Option<Vec<String>> {
    const KEYWORDS: [&str; 10] = [
        "if", "then", "else", "while", "do", "done", "fi", "!", "{", "}",
    ];
    let is_assignment = |word: &String| {
        let name = word.split_once('=').map_or("", |(name, _)| name);
        !name.is_empty()
            && name
                .chars()
                .all(|char| char.is_ascii_alphanumeric() || char == '_')
    };
    let mut words: Vec<String> = words
        .into_iter()
        .skip_while(|word| KEYWORDS.contains(&&**word) || is_assignment(word))
        .collect();
    if let Some(at) = words
        .iter()
        .position(|word| word.starts_with(['>', '<']) || word == "2>")
    {
        words.truncate(at);
    }
    (!words.is_empty()).then_some(words)
}

/// What is wrong with a call of `bench`.
fn wrong_call(words: &[String]) -> Option<String> {
    let command = bench_runner::cli::command();
    let arguments = std::iter::once("bench").chain(words[1..].iter().map(String::as_str));
    let error = command.try_get_matches_from(arguments).err()?;
    Some(format!("`{}`: {error}", words.join(" ")))
}

fn recipes() -> BTreeSet<String> {
    let text = std::fs::read_to_string(Path::new(ROOT).join("justfile")).unwrap();
    text.lines()
        .filter(|line| line.starts_with(|first: char| first.is_ascii_lowercase()))
        .filter_map(|line| line.split_once(':'))
        .filter(|(_, rest)| !rest.starts_with('='))
        .filter_map(|(head, _)| head.split_whitespace().next())
        .map(str::to_owned)
        .collect()
}

/// What is wrong with the commands of a file, and how many of them were judged.
fn wrong_commands(scripts: &[String]) -> (Vec<String>, usize) {
    let recipes = recipes();
    let mut wrong = Vec::new();
    let mut judged = 0;
    for words in scripts.iter().flat_map(|script| commands(script)) {
        let program = &*words[0];
        if BENCH.contains(&program) {
            judged += 1;
            wrong.extend(wrong_call(&words));
        } else if program == "just" {
            judged += 1;
            let recipe = words.get(1).map_or("default", String::as_str);
            if !recipes.contains(recipe) {
                wrong.push(format!("there is no recipe `just {recipe}`"));
            }
        } else if program.ends_with("/bench") {
            wrong.push(format!(
                "`{program}` is no program that this test knows as bench"
            ));
        }
        wrong.extend(missing_files(&words));
    }
    (wrong, judged)
}

/// Files that are named as if they stood in the repository, and do not.
fn missing_files(words: &[String]) -> Vec<String> {
    let is_ours = |word: &&String| {
        let first = word.split('/').next().unwrap_or_default();
        let ours = [
            "bench-suites",
            "scenarios",
            "docs",
            "ci",
            ".ci",
            "runner",
            "generator",
        ];
        word.contains('/') && ours.contains(&first)
    };
    words
        .iter()
        .filter(is_ours)
        .filter(|word| !Path::new(ROOT).join(word).exists())
        .map(|word| format!("there is no {word}"))
        .collect()
}

#[test]
fn every_command_and_file_in_the_ci_files_exists() {
    for path in workflows().into_iter().chain(files("ci/gitlab")) {
        let (wrong, judged) = wrong_commands(&scripts(&path));
        assert!(wrong.is_empty(), "{}: {}", name(&path), wrong.join("\n"));
        assert!(
            judged >= 2,
            "{}: only {judged} commands were found",
            name(&path)
        );
    }
}

#[test]
fn suites_that_the_ci_files_carry_out_are_there() {
    for path in workflows().into_iter().chain(files("ci/gitlab")) {
        let text = std::fs::read_to_string(&path).unwrap();
        let is_part = |char: char| char.is_ascii_alphanumeric() || "/_.-".contains(char);
        let named: BTreeSet<&str> = text
            .split(|char| !is_part(char))
            .filter(|word| word.starts_with("bench-suites/") && word.ends_with(".toml"))
            .collect();
        assert!(!named.is_empty(), "{} names no suite", name(&path));
        for suite in named {
            let suite = Path::new(ROOT).join(suite);
            bench_runner::suite::load(&suite, &[]).unwrap_or_else(|error| panic!("{error}"));
        }
    }
}

#[test]
fn a_command_that_does_not_exist_is_noticed() {
    let wrong = |script: &str| wrong_commands(&[script.to_owned()]).0;
    assert_eq!(wrong("just test"), Vec::<String>::new());
    assert_eq!(wrong("bin/bench doctor && just lint"), Vec::<String>::new());
    assert_eq!(wrong("just frobnicate").len(), 1);
    assert_eq!(wrong("if true; then bin/bench frobnicate; fi").len(), 1);
    assert_eq!(
        wrong("bench suite run \"$X\" --shard \"$I/$N\""),
        Vec::<String>::new()
    );
    assert_eq!(
        wrong("bench suite run f.toml --shards 3 || code=$?").len(),
        1
    );
    assert_eq!(wrong("elsewhere/bench doctor").len(), 1);
    assert_eq!(wrong("bench suite list bench-suites/none.toml").len(), 1);
}

#[test]
fn commands_are_found_as_a_shell_would() {
    let found = commands(
        "set +e # not this; nor this\n\
         A=1 one 'a b' \"$X/${Y}\" > file\n\
         for x in $(ls | wc); do two \\\n  more; done\n",
    );
    let words: Vec<String> = found.iter().map(|words| words.join("_")).collect();
    assert_eq!(words, ["set_+e", "one_a b_1/1", "for_x_in_1", "two_more"]);
}

/// Every workflow of GitHub's, with its jobs by name.
fn each_job(judge: impl Fn(&str, &str, &Yaml)) {
    for path in workflows() {
        let text = std::fs::read_to_string(&path).unwrap();
        let documents = Yaml::load_from_str(&text).unwrap();
        let jobs = documents[0]
            .as_mapping_get("jobs")
            .and_then(Yaml::as_mapping)
            .unwrap();
        for (job, node) in jobs {
            judge(&name(&path), job.as_str().unwrap(), node);
        }
    }
}

#[test]
fn every_job_on_github_ends_by_itself() {
    each_job(|file, job, node| {
        let limit = node.as_mapping_get("timeout-minutes");
        assert!(limit.is_some(), "{file}: {job} has no timeout-minutes");
    });
}

#[test]
fn workflows_on_github_may_only_read_and_do_not_pile_up() {
    for path in workflows() {
        let text = std::fs::read_to_string(&path).unwrap();
        let documents = Yaml::load_from_str(&text).unwrap();
        let permissions = documents[0].as_mapping_get("permissions").unwrap();
        let permissions = permissions.as_mapping().unwrap();
        assert_eq!(permissions.len(), 1, "{}", name(&path));
        let contents = documents[0]["permissions"]["contents"].as_str();
        assert_eq!(contents, Some("read"), "{}", name(&path));
        assert!(
            documents[0].contains_mapping_key("concurrency"),
            "{}",
            name(&path)
        );
    }
    each_job(|file, job, node| {
        let own = node.contains_mapping_key("permissions");
        assert!(!own, "{file}: {job} has permissions of its own");
    });
}

#[test]
fn every_action_is_pinned_to_a_full_version() {
    each_job(|file, job, node| {
        for step in node["steps"].as_sequence().unwrap() {
            let Some(uses) = step.as_mapping_get("uses").and_then(Yaml::as_str) else {
                continue;
            };
            let version = uses.split_once("@v").map_or("", |(_, version)| version);
            let parts: Vec<&str> = version.split('.').collect();
            let is_full = parts.len() == 3 && parts.iter().all(|part| part.parse::<u32>().is_ok());
            assert!(
                is_full,
                "{file}: {job} uses {uses}, which is no full version"
            );
        }
    });
}
