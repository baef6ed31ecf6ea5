//! Holds the parts of a CI file to each other: jobs that are needed are there, expressions name what they
//! can see, actions are given inputs that they have, and what is downloaded was uploaded.
//!
//! Not a whole linter: types, shell and what a platform does beyond this is judged by `just lint-ci`.
//! This much is judged wherever the tests run, without a network.

use super::{files, name, workflows};
use saphyr::{LoadableYamlNode, Yaml};
use std::collections::{BTreeMap, BTreeSet};

/// Inputs of the actions that the workflows use, at their pinned major versions.
const ACTIONS: &[(&str, &[&str])] = &[
    (
        "actions/checkout",
        &[
            "repository",
            "ref",
            "path",
            "clean",
            "fetch-depth",
            "fetch-tags",
            "lfs",
            "persist-credentials",
            "submodules",
        ],
    ),
    ("actions/cache", &["path", "key", "restore-keys"]),
    ("actions/cache/restore", &["path", "key", "restore-keys"]),
    ("actions/cache/save", &["path", "key"]),
    (
        "actions/upload-artifact",
        &["name", "path", "if-no-files-found", "retention-days"],
    ),
    (
        "actions/download-artifact",
        &["name", "path", "pattern", "merge-multiple"],
    ),
];

/// What an expression may begin with: contexts, functions, literals.
const ROOTS: [&str; 17] = [
    "github",
    "env",
    "inputs",
    "needs",
    "steps",
    "matrix",
    "strategy",
    "runner",
    "always",
    "cancelled",
    "success",
    "failure",
    "hashFiles",
    "contains",
    "format",
    "true",
    "false",
];

type Names = BTreeSet<String>;

fn parsed(text: &str) -> Yaml<'_> {
    Yaml::load_from_str(text).unwrap().swap_remove(0)
}

/// A text, or each text of a list.
fn texts(node: Option<&Yaml>) -> Vec<String> {
    let Some(node) = node else { return Vec::new() };
    match (node.as_str(), node.as_sequence()) {
        (Some(text), _) => vec![text.to_owned()],
        (None, Some(items)) => items
            .iter()
            .filter_map(|item| {
                item.as_str()
                    .or_else(|| item.as_mapping_get("job")?.as_str())
            })
            .map(str::to_owned)
            .collect(),
        (None, None) => Vec::new(),
    }
}

fn keys(node: Option<&Yaml>) -> Names {
    let mapping = node.and_then(Yaml::as_mapping);
    mapping
        .into_iter()
        .flatten()
        .filter_map(|(key, _)| key.as_str().map(str::to_owned))
        .collect()
}

/// Expressions in a text; a condition without brackets is one as a whole.
fn expressions(text: &str, is_condition: bool, wrong: &mut Vec<String>) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((_, after)) = rest.split_once("${{") {
        match after.split_once("}}") {
            Some((expression, after)) => {
                found.push(expression.to_owned());
                rest = after;
            }
            None => {
                wrong.push(format!(
                    "`{text}` opens an expression and does not close it"
                ));
                return found;
            }
        }
    }
    if is_condition && found.is_empty() {
        found.push(text.to_owned());
    }
    found
}

/// What an expression names, as its parts: `steps.gate.outcome` is three.
fn named(expression: &str) -> Result<Vec<Vec<String>>, String> {
    let mut names = Vec::new();
    let mut depth = 0_i32;
    // Every second part stands between quotes.
    for (at, part) in expression.split('\'').enumerate() {
        if at % 2 == 1 {
            continue;
        }
        for char in part.chars() {
            depth += i32::from(char == '(') - i32::from(char == ')');
            if depth < 0 {
                return Err(format!("`{expression}` closes a bracket that is not open"));
            }
        }
        let is_part = |char: char| char.is_ascii_alphanumeric() || "_-.".contains(char);
        let words = part.split(|char| !is_part(char));
        names.extend(
            words
                .filter(|word| word.starts_with(|first: char| first.is_ascii_alphabetic()))
                .map(|word| word.split('.').map(str::to_owned).collect()),
        );
    }
    match depth == 0 && expression.matches('\'').count().is_multiple_of(2) {
        true => Ok(names),
        false => Err(format!("`{expression}` leaves a bracket or a quote open")),
    }
}

/// What a place in a workflow can see.
#[derive(Default)]
struct Seen {
    inputs: Names,
    needs: Names,
    steps: Names,
    matrix: Names,
}

impl Seen {
    /// Judges every expression in the value of a key.
    fn judge(&self, key: &str, value: &Yaml, wrong: &mut Vec<String>) {
        if let Some(mapping) = value.as_mapping() {
            for (key, value) in mapping {
                self.judge(key.as_str().unwrap_or_default(), value, wrong);
            }
        } else if let Some(items) = value.as_sequence() {
            for item in items {
                self.judge(key, item, wrong);
            }
        } else if let Some(text) = value.as_str() {
            for expression in expressions(text, key == "if", wrong) {
                match named(&expression) {
                    Ok(names) => wrong.extend(names.iter().filter_map(|name| self.unknown(name))),
                    Err(error) => wrong.push(error),
                }
            }
        }
    }

    fn unknown(&self, name: &[String]) -> Option<String> {
        let known = match name[0].as_str() {
            "inputs" => &self.inputs,
            "needs" => &self.needs,
            "steps" => &self.steps,
            "matrix" => &self.matrix,
            root if ROOTS.contains(&root) => return None,
            root => return Some(format!("`{root}` is nothing that an expression knows")),
        };
        match name.get(1) {
            Some(second) if known.contains(second) => None,
            _ => Some(format!(
                "`{}` is not there, or not seen here",
                name.join(".")
            )),
        }
    }
}

/// What is wrong with the inputs of an action.
fn wrong_inputs(action: &str, given: &Names) -> Vec<String> {
    let Some((_, known)) = ACTIONS.iter().find(|(name, _)| *name == action) else {
        return vec![format!("{action} is no action that this test knows")];
    };
    given
        .iter()
        .filter(|input| !known.contains(&input.as_str()))
        .map(|input| format!("{action} has no input {input}"))
        .collect()
}

/// Every job that ends before a job begins.
fn all_before(job: &str, needs: &BTreeMap<String, Names>) -> Names {
    let mut found = Names::new();
    let mut open = vec![job.to_owned()];
    while let Some(job) = open.pop() {
        for need in needs.get(&job).into_iter().flatten() {
            if found.insert(need.clone()) {
                open.push(need.clone());
            }
        }
    }
    found
}

/// Jobs that need a job that is not there, or themselves.
fn wrong_needs(needs: &BTreeMap<String, Names>) -> Vec<String> {
    let mut wrong = Vec::new();
    for (job, needed) in needs {
        let missing = needed.iter().filter(|need| !needs.contains_key(*need));
        wrong.extend(missing.map(|need| format!("{job} needs {need}, which is no job")));
        if all_before(job, needs).contains(job) {
            wrong.push(format!("{job} needs itself"));
        }
    }
    wrong
}

/// Artifacts of a workflow, each with its job.
#[derive(Default)]
struct Artifacts {
    uploaded: Vec<(String, String)>,
    downloaded: Vec<(String, String)>,
}

impl Artifacts {
    fn note(&mut self, job: &str, action: &str, with: &Yaml) {
        let given = |key| with.as_mapping_get(key).and_then(Yaml::as_str);
        let Some(name) = given("name").or(given("pattern")) else {
            return;
        };
        let artifact = (job.to_owned(), name.to_owned());
        match action {
            "actions/upload-artifact" => self.uploaded.push(artifact),
            "actions/download-artifact" => self.downloaded.push(artifact),
            _ => {}
        }
    }

    fn wrong(&self, needs: &BTreeMap<String, Names>) -> Vec<String> {
        let is_made = |(job, wanted): &&(String, String)| {
            let before = all_before(job, needs);
            let mut made = self.uploaded.iter().filter(|(job, _)| before.contains(job));
            made.any(|(_, name)| match wanted.strip_suffix('*') {
                Some(stem) => name.starts_with(stem),
                None => name == wanted,
            })
        };
        let missing = self.downloaded.iter().filter(|artifact| !is_made(artifact));
        missing
            .map(|(job, name)| format!("{job} downloads {name}, which no job before it uploads"))
            .collect()
    }
}

/// What is wrong with a workflow of GitHub's.
fn wrong_workflow(text: &str) -> Vec<String> {
    let document = parsed(text);
    let mut wrong = Vec::new();
    let dispatch = document
        .as_mapping_get("on")
        .and_then(|on| on.as_mapping_get("workflow_dispatch"));
    let inputs = keys(dispatch.and_then(|dispatch| dispatch.as_mapping_get("inputs")));
    let mut needs = BTreeMap::new();
    let mut artifacts = Artifacts::default();
    for (key, node) in document.as_mapping().into_iter().flatten() {
        let seen = Seen {
            inputs: inputs.clone(),
            ..Seen::default()
        };
        match key.as_str() {
            Some("jobs") => {}
            key => seen.judge(key.unwrap_or_default(), node, &mut wrong),
        }
    }
    let jobs = document.as_mapping_get("jobs").and_then(Yaml::as_mapping);
    for (job, node) in jobs.into_iter().flatten() {
        let job = job.as_str().unwrap_or_default();
        let own: Names = texts(node.as_mapping_get("needs")).into_iter().collect();
        let strategy = node.as_mapping_get("strategy");
        let mut seen = Seen {
            inputs: inputs.clone(),
            needs: own.clone(),
            matrix: keys(strategy.and_then(|strategy| strategy.as_mapping_get("matrix"))),
            steps: Names::new(),
        };
        needs.insert(job.to_owned(), own);
        for (key, value) in node.as_mapping().into_iter().flatten() {
            match key.as_str() {
                Some("steps") => {}
                key => seen.judge(key.unwrap_or_default(), value, &mut wrong),
            }
        }
        let steps = node.as_mapping_get("steps").and_then(Yaml::as_sequence);
        for step in steps.into_iter().flatten() {
            seen.judge("", step, &mut wrong);
            let id = step.as_mapping_get("id").and_then(Yaml::as_str);
            seen.steps.extend(id.map(str::to_owned));
            let Some(uses) = step.as_mapping_get("uses").and_then(Yaml::as_str) else {
                continue;
            };
            let action = uses.split('@').next().unwrap_or_default();
            let with = step.as_mapping_get("with");
            wrong.extend(wrong_inputs(action, &keys(with)));
            if let Some(with) = with {
                artifacts.note(job, action, with);
            }
        }
    }
    wrong.extend(wrong_needs(&needs));
    wrong.extend(artifacts.wrong(&needs));
    wrong
}

/// What is wrong with a pipeline of GitLab's.
fn wrong_pipeline(text: &str) -> Vec<String> {
    const GLOBAL: [&str; 5] = ["stages", "workflow", "variables", "default", "include"];
    let document = parsed(text);
    let stages = texts(document.as_mapping_get("stages"));
    let all = keys(Some(&document));
    let mut wrong = Vec::new();
    let mut needs = BTreeMap::new();
    for (job, node) in document.as_mapping().into_iter().flatten() {
        let job = job.as_str().unwrap_or_default();
        if GLOBAL.contains(&job) {
            continue;
        }
        let extended = texts(node.as_mapping_get("extends"));
        for base in extended.iter().filter(|base| !all.contains(*base)) {
            wrong.push(format!("{job} extends {base}, which is not there"));
        }
        if job.starts_with('.') {
            continue;
        }
        needs.insert(
            job.to_owned(),
            texts(node.as_mapping_get("needs")).into_iter().collect(),
        );
        let stage = node.as_mapping_get("stage").and_then(Yaml::as_str);
        if !stage.is_some_and(|stage| stages.iter().any(|one| one == stage)) {
            wrong.push(format!("{job} is in no stage that there is"));
        }
        if !node.contains_mapping_key("script") {
            wrong.push(format!("{job} has no script"));
        }
    }
    wrong.extend(wrong_needs(&needs));
    wrong
}

#[test]
fn the_parts_of_each_ci_file_fit_together() {
    for path in workflows() {
        let wrong = wrong_workflow(&std::fs::read_to_string(&path).unwrap());
        assert!(wrong.is_empty(), "{}: {}", name(&path), wrong.join("\n"));
    }
    for path in files("ci/gitlab") {
        let wrong = wrong_pipeline(&std::fs::read_to_string(&path).unwrap());
        assert!(wrong.is_empty(), "{}: {}", name(&path), wrong.join("\n"));
    }
}

/// What is told of a file in which a text, which must be there, is another one.
fn broken(file: &str, from: &str, to: &str) -> String {
    let path = format!("{}/../{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).unwrap();
    assert!(text.contains(from), "{file} has no `{from}` to break");
    let text = text.replacen(from, to, 1);
    let wrong = match file.starts_with("ci/") {
        true => wrong_pipeline(&text),
        false => wrong_workflow(&text),
    };
    wrong.join("; ")
}

#[test]
fn a_ci_file_that_is_broken_on_purpose_is_found_out() {
    const NIGHTLY: &str = ".github/workflows/nightly.yml";
    const GITLAB: &str = "ci/gitlab/bench.gitlab-ci.yml";
    for (file, from, to, told) in [
        (
            NIGHTLY,
            "needs: build",
            "needs: biuld",
            "suite needs biuld, which is no job",
        ),
        (NIGHTLY, "needs: build", "needs: gate", "suite needs itself"),
        (
            NIGHTLY,
            "persist-credentials",
            "persist-credential",
            "has no input persist-credential",
        ),
        (
            NIGHTLY,
            "actions/cache@",
            "actions/cash@",
            "actions/cash is no action",
        ),
        (
            NIGHTLY,
            "needs.suite.result",
            "needs.build.result",
            "`needs.build.result`",
        ),
        (
            NIGHTLY,
            "steps.gate.outcome",
            "steps.gates.outcome",
            "`steps.gates.outcome`",
        ),
        (
            NIGHTLY,
            "matrix.shard }}",
            "matrix.part }}",
            "`matrix.part`",
        ),
        (NIGHTLY, "inputs.suite", "inputs.siute", "`inputs.siute`"),
        (
            NIGHTLY,
            "github.ref }}",
            "githb.ref }}",
            "`githb` is nothing",
        ),
        (
            NIGHTLY,
            "github.ref }}",
            "github.ref }",
            "does not close it",
        ),
        (
            NIGHTLY,
            "!cancelled() &&",
            "!cancelled( &&",
            "leaves a bracket",
        ),
        (
            NIGHTLY,
            "pattern: night-*",
            "pattern: day-*",
            "gate downloads day-*",
        ),
        (
            GITLAB,
            "extends: .nightly",
            "extends: .nightyl",
            "extends .nightyl",
        ),
        (
            GITLAB,
            "needs: [build]",
            "needs: [biuld]",
            "suite needs biuld",
        ),
        (
            GITLAB,
            "stage: suite",
            "stage: suites",
            "suite is in no stage",
        ),
        (GITLAB, "  script:", "  scripts:", "has no script"),
    ] {
        let wrong = broken(file, from, to);
        assert!(wrong.contains(told), "`{from}` as `{to}`: {wrong}");
    }
}
