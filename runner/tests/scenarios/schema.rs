//! The schema for editors agrees with the reader.
//!
//! It is held against the scenarios by a small evaluator below, which knows exactly the words of JSON
//! Schema that the schema uses and fails on any other; `just check-schema` asks an independent one.

use super::{LEAST, parse};
use bench_runner::scenario::{SHIPPED, schema};
use serde_json::{Value, json};

/// Whether a value fits a schema.
fn fits(schema: &Value, value: &Value, root: &Value) -> bool {
    let Some(words) = schema.as_object() else {
        return schema
            .as_bool()
            .expect("a schema is an object or a boolean");
    };
    let all = |word: &Value| word.as_array().unwrap().clone();
    words.iter().all(|(word, rule)| match word.as_str() {
        "$schema" | "$defs" | "title" | "description" | "default" | "then" | "else" => true,
        "$ref" => {
            let pointer = rule.as_str().unwrap().strip_prefix('#').unwrap();
            fits(root.pointer(pointer).unwrap(), value, root)
        }
        "type" => match rule {
            Value::Array(types) => types.iter().any(|one| is(one.as_str().unwrap(), value)),
            one => is(one.as_str().unwrap(), value),
        },
        "enum" => all(rule).contains(value),
        "const" => rule == value,
        "anyOf" => all(rule).iter().any(|one| fits(one, value, root)),
        "oneOf" => {
            all(rule)
                .iter()
                .filter(|one| fits(one, value, root))
                .count()
                == 1
        }
        "not" => !fits(rule, value, root),
        "if" => {
            let branch = if fits(rule, value, root) {
                "then"
            } else {
                "else"
            };
            words
                .get(branch)
                .is_none_or(|branch| fits(branch, value, root))
        }
        "minimum" => value
            .as_f64()
            .is_none_or(|number| number >= rule.as_f64().unwrap()),
        "maximum" => value
            .as_f64()
            .is_none_or(|number| number <= rule.as_f64().unwrap()),
        "minLength" => value
            .as_str()
            .is_none_or(|text| text.chars().count() as u64 >= rule.as_u64().unwrap()),
        "maxLength" => value
            .as_str()
            .is_none_or(|text| text.chars().count() as u64 <= rule.as_u64().unwrap()),
        "pattern" => value.as_str().is_none_or(|text| is_match(rule, text)),
        "items" => value
            .as_array()
            .is_none_or(|items| items.iter().all(|item| fits(rule, item, root))),
        "minItems" => value
            .as_array()
            .is_none_or(|items| items.len() as u64 >= rule.as_u64().unwrap()),
        "uniqueItems" => value
            .as_array()
            .is_none_or(|items| (1..items.len()).all(|at| !items[..at].contains(&items[at]))),
        "required" => value.as_object().is_none_or(|table| {
            all(rule)
                .iter()
                .all(|key| table.contains_key(key.as_str().unwrap()))
        }),
        "maxProperties" => value
            .as_object()
            .is_none_or(|table| table.len() as u64 <= rule.as_u64().unwrap()),
        "propertyNames" => value
            .as_object()
            .is_none_or(|table| table.keys().all(|key| fits(rule, &json!(key), root))),
        "properties" => value.as_object().is_none_or(|table| {
            let mut rules = rule.as_object().unwrap().iter();
            rules.all(|(key, rule)| table.get(key).is_none_or(|value| fits(rule, value, root)))
        }),
        "patternProperties" => value.as_object().is_none_or(|table| {
            rule.as_object().unwrap().iter().all(|(pattern, rule)| {
                let mut matching = table
                    .iter()
                    .filter(|(key, _)| is_match(&json!(pattern), key));
                matching.all(|(_, value)| fits(rule, value, root))
            })
        }),
        "additionalProperties" => value.as_object().is_none_or(|table| {
            let known = words.get("properties").and_then(Value::as_object);
            let patterns = words.get("patternProperties").and_then(Value::as_object);
            table.iter().all(|(key, value)| {
                let is_known = known.is_some_and(|known| known.contains_key(key))
                    || patterns.is_some_and(|all| all.keys().any(|one| is_match(&json!(one), key)));
                is_known || fits(rule, value, root)
            })
        }),
        other => panic!("the evaluator does not know {other}"),
    })
}

fn is(name: &str, value: &Value) -> bool {
    match name {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        other => panic!("the evaluator does not know the type {other}"),
    }
}

fn is_match(pattern: &Value, text: &str) -> bool {
    regex::Regex::new(pattern.as_str().unwrap())
        .unwrap()
        .is_match(text)
}

/// What an editor would say of a file.
fn is_fine_in_an_editor(text: &str) -> bool {
    let table: toml::Table = text
        .parse()
        .unwrap_or_else(|error| panic!("{error}\n{text}"));
    let schema = schema();
    fits(&schema, &serde_json::to_value(table).unwrap(), &schema)
}

#[test]
fn every_shipped_scenario_fits_the_schema() {
    for (name, text) in SHIPPED {
        assert!(is_fine_in_an_editor(text), "{name}");
    }
}

#[test]
fn what_the_reader_refuses_by_its_key_or_type_does_not_fit() {
    for rest in [
        "nam = 1\n",
        "about = 3\n",
        "[sequence]\nworker = 2\n",
        "[sequence]\nworkers = 0\n",
        "[sequence]\nmode = \"paralel\"\n",
        "[sequence.retry]\nmax_attempt = 2\n",
        "[sequence]\nretry.initial = \"5\"\n",
        "[resources]\nmemory = true\n",
        "[settings]\nshufle_partitions = 3\n",
        "[settings]\nadaptive = \"false\"\n",
        "[target]\nkind = \"temporal\"\n",
        "[verify]\ntrino = \"x\"\n",
        "[dataset]\npath = \"/\"\nmessages = 3\n",
        "[variants.a.settings]\nshufle_partitions = 3\n",
        "[variants.a.dataset]\nmessages = 3\n",
        "[variants.\"a/b\"]\n",
        "[matrix]\n\"dataset.messages\" = [1]\n",
        "[matrix]\n\"resources.memory\" = []\n",
        "[matrix]\n\"resources.cpus\" = [0]\n",
        "[[faults]]\nmemory = \"64MiB\"\n",
        "[[faults]]\nworkflow = 1\nmemory = \"64MiB\"\nkill = \"SIGKILL\"\n",
        "[[faults]]\nworkflow = 1\nmemry = \"64MiB\"\n",
    ] {
        let text = format!("{LEAST}{rest}");
        assert!(parse(&text, &[]).is_err(), "the reader takes {rest}");
        assert!(!is_fine_in_an_editor(&text), "the schema takes {rest}");
    }
    assert!(!is_fine_in_an_editor("name = \"x\"\n"));
}

#[test]
fn what_the_reader_takes_fits() {
    for rest in [
        "",
        "[resources]\nmemory = 2147483648\ncpus = \"none\"\n[sequence]\ndeadline = \"1h 30min\"\n",
        "[settings]\nvacuum = 3\nvacuum_retention = \"168h\"\n[variants.a.settings]\nvacuum = \"end\"\n",
        "[matrix]\nresources.memory = [\"1GiB\", \"none\"]\n\"settings.adaptive\" = [true, false]\n",
        "[target]\nkind = \"command\"\ncommand = [\"x\"]\n[settings]\nother = 1\n",
        "[settings]\nother = 1\n[variants.a.target]\nkind = \"command\"\ncommand = [\"x\"]\n",
        "[target]\nlake = \"s3://a/b\"\nstorage.region = \"x\"\n",
        "[[faults]]\nworkflow = 1\npause = \"1s\"\nafter = \"0s\"\n",
    ] {
        let text = format!("{LEAST}{rest}");
        parse(&text, &[]).unwrap_or_else(|errors| panic!("{errors}"));
        assert!(is_fine_in_an_editor(&text), "the schema refuses {rest}");
    }
}
