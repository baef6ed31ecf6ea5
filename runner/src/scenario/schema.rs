//! The keys as a JSON Schema (draft 2020-12), for editors: completion, help, and marks under slips.
//!
//! It knows keys and values, not what must hold between them; it may let pass what `bench` refuses,
//! and refuses nothing that `bench` takes.

use super::keys::{KEYS, Key, SECTIONS, Scope};
use super::kind::{Kind, NONE};
use serde_json::{Map, Value, json};

/// Sections that variants have too.
const SHARED: [&str; 4] = ["sequence", "target", "resources", "settings"];

/// The schema.
#[must_use]
pub fn schema() -> Value {
    let mut definitions = Map::new();
    for section in SHARED {
        definitions.insert(section.to_owned(), table(section, Scope::Variant));
    }
    let shared = || {
        SHARED.iter().map(|section| {
            (
                (*section).to_owned(),
                json!({"$ref": format!("#/$defs/{section}")}),
            )
        })
    };
    let mut top: Map<String, Value> = shared().collect();
    let mut of_variant: Map<String, Value> = shared().collect();
    for key in KEYS.iter().filter(|key| key.section().is_empty()) {
        if key.scope != Scope::Fault {
            top.insert(key.path.to_owned(), value(key));
        }
        if key.scope == Scope::Variant {
            of_variant.insert(key.path.to_owned(), value(key));
        }
    }
    for section in ["dataset", "measure", "verify"] {
        top.insert(section.to_owned(), table(section, Scope::Scenario));
    }
    if let Some(dataset) = top.get_mut("dataset") {
        dataset["if"] = json!({"required": ["path"]});
        dataset["then"] = json!({"maxProperties": 1});
    }
    definitions.insert(
        "variant".to_owned(),
        json!({
            "type": "object",
            "description": "What a variant has otherwise than the base.",
            "properties": of_variant,
            "additionalProperties": false,
        }),
    );
    top.insert(
        "variants".to_owned(),
        json!({
            "type": "object",
            "description": "What is compared: each variant is a table of what it has otherwise.",
            "propertyNames": Kind::Name.schema(),
            "additionalProperties": {"$ref": "#/$defs/variant"},
        }),
    );
    top.insert("matrix".to_owned(), matrix());
    top.insert("faults".to_owned(), faults());
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "A scenario of hl7-ingest-bench",
        "type": "object",
        "properties": top,
        "required": ["format", "name"],
        "additionalProperties": false,
        "if": has_other_engine(),
        "else": {"properties": {
            "settings": known_settings(),
            "variants": {"additionalProperties": {"properties": {"settings": known_settings()}}},
        }},
        "$defs": definitions,
    })
}

/// A section with its keys, and those of the sections in it.
fn table(section: &str, scope: Scope) -> Value {
    let mut properties = Map::new();
    let mut others = json!(false);
    for key in KEYS.iter().filter(|key| key.scope == scope) {
        if key.section() == section {
            match key.name() {
                "*" => others = value(key),
                name => drop(properties.insert(name.to_owned(), value(key))),
            }
        }
    }
    for (inner, _) in SECTIONS {
        if let Some(name) = inner
            .strip_prefix(section)
            .and_then(|rest| rest.strip_prefix('.'))
        {
            properties.insert(name.to_owned(), table(inner, scope));
        }
    }
    json!({
        "type": "object",
        "description": about(section),
        "properties": properties,
        "additionalProperties": others,
    })
}

fn about(section: &str) -> &'static str {
    SECTIONS
        .iter()
        .find(|(name, _)| *name == section)
        .map_or("", |(_, about)| about)
}

/// A key's value.
fn value(key: &Key) -> Value {
    let mut schema = key.kind.schema();
    if key.is_liftable() {
        schema = json!({"anyOf": [schema, {"const": NONE}]});
    }
    if let Some(schema) = schema.as_object_mut() {
        schema.insert("description".to_owned(), json!(key.what));
        if let Some(default) = default(key) {
            schema.insert("default".to_owned(), default);
        }
    }
    schema
}

/// A key's default as it is written.
fn default(key: &Key) -> Option<Value> {
    let table: toml::Table = format!("value = {}", key.default).parse().ok()?;
    serde_json::to_value(table.get("value")?).ok()
}

/// Lists of values by dotted key, quoted or as tables.
fn matrix() -> Value {
    let list = |key: &Key| {
        json!({
            "type": "array",
            "minItems": 1,
            "uniqueItems": true,
            "description": key.what,
            "items": value(key),
        })
    };
    let mut properties = Map::new();
    let mut patterns = Map::new();
    let mut sections = Map::new();
    for key in KEYS.iter().filter(|key| key.scope == Scope::Variant) {
        match key.path.strip_suffix('*') {
            Some(section) => {
                let pattern = format!("^{}", section.replace('.', "\\."));
                patterns.insert(pattern, json!({"type": "array", "minItems": 1}));
            }
            None => drop(properties.insert(key.path.to_owned(), list(key))),
        }
        if let Some((section, _)) = key.path.split_once('.') {
            sections.insert(section.to_owned(), json!({"type": "object"}));
        }
    }
    properties.extend(sections);
    json!({
        "type": "object",
        "description": "Lists of values that are crossed into variants, as in \"resources.memory\" = [\"1GiB\", \"2GiB\"].",
        "properties": properties,
        "patternProperties": patterns,
        "additionalProperties": false,
    })
}

fn faults() -> Value {
    let properties: Map<String, Value> = KEYS
        .iter()
        .filter(|key| key.scope == Scope::Fault)
        .map(|key| (key.path.to_owned(), value(key)))
        .collect();
    json!({
        "type": "array",
        "description": about("faults"),
        "items": {
            "type": "object",
            "properties": properties,
            "required": ["workflow"],
            "oneOf": [
                {"required": ["memory"]},
                {"required": ["kill"]},
                {"required": ["pause"]},
            ],
            "additionalProperties": false,
        },
    })
}

/// Whether the base, a variant or the matrix asks for an engine that may know other settings.
fn has_other_engine() -> Value {
    let target = json!({
        "required": ["target"],
        "properties": {"target": {
            "required": ["kind"],
            "properties": {"kind": {"enum": ["command", "null"]}},
        }},
    });
    json!({"anyOf": [
        target,
        {
            "required": ["variants"],
            "properties": {"variants": {"not": {"additionalProperties": {"not": target}}}},
        },
        {"required": ["matrix"], "properties": {"matrix": {"anyOf": [
            {"required": ["target.kind"]},
            {"required": ["target"]},
        ]}}},
    ]})
}

fn known_settings() -> Value {
    let names: Vec<&str> = bench_embedded::KEYS.iter().map(|key| key.name).collect();
    json!({"propertyNames": {"enum": names}})
}
