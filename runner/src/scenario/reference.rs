//! The reference of scenarios, `docs/scenarios.md`: written around tables that are made from the keys.

use super::keys::{KEYS, Key, SECTIONS, Scope};
use super::kind::{Kind, NONE};
use std::fmt::Write;

/// What is written by hand; the tables of keys go where [`MARK`] stands.
const PAGE: &str = include_str!("reference.md");
const MARK: &str = "{{keys}}\n";

/// The page, as `docs/scenarios.md` must be.
#[must_use]
pub fn reference() -> String {
    PAGE.replace(MARK, &tables())
}

fn tables() -> String {
    let mut text = String::new();
    for (section, about) in SECTIONS {
        let keys: Vec<&Key> = KEYS.iter().filter(|key| home(key) == *section).collect();
        match *section {
            "" => text.push_str("### At the top\n"),
            "faults" => text.push_str("\n### `[[faults]]`\n"),
            _ => {
                let _ = writeln!(text, "\n### `[{section}]`");
            }
        }
        let _ = write!(
            text,
            "\n{about}\n\n| Key | Value | Default | What | V |\n|---|---|---|---|---|\n"
        );
        for key in keys {
            let name = match key.name() {
                "*" => "*any*".to_owned(),
                name => format!("`{name}`"),
            };
            let mut allowed = key.kind.allowed();
            if key.is_liftable() {
                let _ = write!(allowed, ", or \"{NONE}\"");
            }
            let _ = writeln!(
                text,
                "| {name} | {} | {} | {} | {} |",
                cell(&allowed),
                default(key),
                cell(key.what),
                if key.scope == Scope::Variant {
                    "yes"
                } else {
                    ""
                }
            );
        }
    }
    text
}

fn home(key: &Key) -> &'static str {
    match key.scope {
        Scope::Fault => "faults",
        _ => key.section(),
    }
}

fn default(key: &Key) -> String {
    match (key.kind, key.default) {
        (Kind::Setting(name, _), _) => {
            let effective = bench_embedded::Settings::default().effective();
            effective
                .0
                .get(name)
                .map_or_else(String::new, |value| format!("the engine's: `{value}`"))
        }
        (_, "") => "–".to_owned(),
        (_, default) => format!("`{}`", cell(default)),
    }
}

/// A text in a cell of a Markdown table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
