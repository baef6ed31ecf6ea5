//! From a tree to layers of values whose keys and types are right, strictly: whatever is no key, or
//! no value of its key, is an error. Nothing is merged here.

use super::error::Errors;
use super::keys::{self, Found, Scope};
use super::kind::{self, Kind, NONE, Value};
use super::layer::{Given, Layer, Origin};
use super::source::{self, Entry, Node, Place, Tree};

/// A scenario as read: the file, and over it what was set by hand.
#[derive(Debug, Default)]
pub(super) struct Raw {
    /// What holds for all variants.
    pub(super) base: Layer,
    /// Named overrides, in the order of the file.
    pub(super) variants: Vec<RawVariant>,
    /// What is crossed into variants, in the order of the file.
    pub(super) axes: Vec<Axis>,
    /// What is done on purpose.
    pub(super) faults: Vec<RawFault>,
    /// What `--set` says to all variants.
    pub(super) sets: Layer,
    /// What `--set variants.NAME.…` says to one.
    pub(super) sets_of: Vec<RawVariant>,
}

/// A variant's overrides.
#[derive(Debug)]
pub(super) struct RawVariant {
    pub(super) name: String,
    pub(super) at: Place,
    pub(super) layer: Layer,
}

/// A key and the values that it takes in turn.
#[derive(Debug)]
pub(super) struct Axis {
    pub(super) key: String,
    pub(super) at: Place,
    pub(super) values: Vec<Value>,
}

/// An entry of `faults`; keys are without that prefix.
#[derive(Debug)]
pub(super) struct RawFault {
    pub(super) at: Place,
    pub(super) layer: Layer,
    /// Whether all its keys could be read.
    pub(super) is_whole: bool,
}

/// Reads a file and what was set by hand.
pub(super) fn read(root: &Node, sets: &[(String, String)], errors: &mut Errors) -> Raw {
    let mut raw = Raw::default();
    let Tree::Table(entries) = &root.tree else {
        return raw;
    };
    for Entry { name, at, node } in entries {
        match name.as_str() {
            "variants" => variants(node, &mut raw, errors),
            "matrix" => matrix("", at, node, &mut raw, errors),
            "faults" => faults(node, &mut raw, errors),
            _ => {
                let mut walk = Walk {
                    scope: Scope::Scenario,
                    origin: &Origin::Base,
                    prefix: "",
                    errors,
                };
                walk.put(name, at, node, &mut raw.base);
            }
        }
    }
    for (key, value) in sets {
        set(key, value, &mut raw, errors);
    }
    raw
}

/// Reads keys of one layer.
struct Walk<'a> {
    scope: Scope,
    origin: &'a dyn Fn(Place) -> Origin,
    /// What stands before a key where an error names it.
    prefix: &'a str,
    errors: &'a mut Errors,
}

impl Walk<'_> {
    /// Reads the value of a dotted key, or a table of such.
    fn put(&mut self, path: &str, at: &Place, node: &Node, layer: &mut Layer) {
        let full = format!("{}{path}", self.prefix);
        match keys::find(path, self.scope) {
            Found::Key(key) => match read_value(key, path, node) {
                Ok(value) => {
                    let origin = (self.origin)(at.clone());
                    layer.insert(path.to_owned(), Given { value, origin });
                }
                Err(_) if key.path.ends_with(".*") && matches!(node.tree, Tree::Table(_)) => {
                    self.errors
                        .at(at, &full, "is a table; it has no keys of its own");
                }
                Err(what) => {
                    self.errors.unread(path);
                    self.errors.at(&node.at, &full, what);
                }
            },
            Found::Section => match &node.tree {
                Tree::Table(entries) => {
                    for Entry { name, at, node } in entries {
                        self.put(&format!("{path}.{name}"), at, node, layer);
                    }
                }
                other => {
                    let what = format!("is {}; it must be a table", other.describe());
                    self.errors.unread(&format!("{path}."));
                    self.errors.at(&node.at, &full, what);
                }
            },
            Found::Misplaced => {
                let what = "is the same for all variants: it stands at the top of the file only";
                self.errors.at(at, &full, what);
            }
            Found::Unknown => self.errors.at(at, &full, keys::unknown(path, self.scope)),
        }
    }
}

fn read_value(key: &keys::Key, path: &str, node: &Node) -> Result<Value, String> {
    match &node.tree {
        Tree::String(text) if text == NONE && key.is_liftable() => Ok(Value::Lifted),
        Tree::Integer(_) | Tree::Float(_) if keys::is_secret(path) => {
            Err("is a number; allowed is a text".to_owned())
        }
        _ => key.kind.read(node).map_err(|what| {
            let lift = if key.is_liftable() && !matches!(key.kind, Kind::NotBuilt) {
                format!(", or \"{NONE}\"")
            } else {
                String::new()
            };
            what + &lift
        }),
    }
}

fn variants(node: &Node, raw: &mut Raw, errors: &mut Errors) {
    let Tree::Table(entries) = &node.tree else {
        let what = format!(
            "is {}; variants are tables, as in [variants.tuned.settings]",
            node.tree.describe()
        );
        errors.at(&node.at, "variants", what);
        return;
    };
    for Entry { name, at, node } in entries {
        let key = format!("variants.{name}");
        if !kind::is_name(name) {
            errors.at(at, &key, format!("is no {}", &kind::NAME[2..]));
            continue;
        }
        let Tree::Table(entries) = &node.tree else {
            let what = format!("is {}; a variant is a table", node.tree.describe());
            errors.at(&node.at, &key, what);
            continue;
        };
        let mut layer = Layer::new();
        let mut walk = Walk {
            scope: Scope::Variant,
            origin: &|at| Origin::Variant(name.clone(), at),
            prefix: &format!("{key}."),
            errors,
        };
        for Entry { name, at, node } in entries {
            walk.put(name, at, node, &mut layer);
        }
        raw.variants.push(RawVariant {
            name: name.clone(),
            at: at.clone(),
            layer,
        });
    }
}

/// Reads the matrix, in which a key may be quoted as a whole or written as tables.
fn matrix(path: &str, at: &Place, node: &Node, raw: &mut Raw, errors: &mut Errors) {
    let full = match path {
        "" => "matrix".to_owned(),
        _ => format!("matrix.{path}"),
    };
    let is_section = path.is_empty() || matches!(keys::find(path, Scope::Variant), Found::Section);
    match (&node.tree, is_section) {
        (Tree::Table(entries), true) => {
            for Entry { name, at, node } in entries {
                let path = match path {
                    "" => name.clone(),
                    _ => format!("{path}.{name}"),
                };
                matrix(&path, at, node, raw, errors);
            }
        }
        (_, true) => {
            let what = "must hold keys with lists of values, as in \"resources.memory\" = \
                        [\"1GiB\", \"2GiB\"]";
            errors.at(at, &full, what);
        }
        (tree, false) => match keys::find(path, Scope::Variant) {
            Found::Key(key) => {
                let Tree::Array(items) = tree else {
                    let what = format!("is {}; the matrix needs a list of values", tree.describe());
                    errors.at(&node.at, &full, what);
                    return;
                };
                axis(key, path, at, items, raw, errors);
            }
            Found::Misplaced => {
                errors.at(
                    at,
                    &full,
                    "is the same for all variants: it cannot be crossed",
                );
            }
            _ => errors.at(at, &full, keys::unknown(path, Scope::Variant)),
        },
    }
}

fn axis(
    key: &keys::Key,
    path: &str,
    at: &Place,
    items: &[Node],
    raw: &mut Raw,
    errors: &mut Errors,
) {
    let full = format!("matrix.{path}");
    let mut values = Vec::with_capacity(items.len());
    for item in items {
        match read_value(key, path, item) {
            Ok(value) if values.contains(&value) => {
                errors.at(&item.at, &full, format!("has {} twice", value.toml()));
            }
            Ok(value) => values.push(value),
            Err(what) => errors.at(&item.at, &full, what),
        }
    }
    if items.is_empty() {
        errors.at(at, &full, "is an empty list: it needs at least one value");
    }
    raw.axes.retain(|axis| axis.key != path);
    if !values.is_empty() {
        raw.axes.push(Axis {
            key: path.to_owned(),
            at: at.clone(),
            values,
        });
    }
}

fn faults(node: &Node, raw: &mut Raw, errors: &mut Errors) {
    raw.faults.clear();
    let Tree::Array(items) = &node.tree else {
        let what = format!(
            "is {}; faults are a list of tables, [[faults]]",
            node.tree.describe()
        );
        errors.at(&node.at, "faults", what);
        return;
    };
    for item in items {
        let Tree::Table(entries) = &item.tree else {
            let what = format!("has {}; a fault is a table", item.tree.describe());
            errors.at(&item.at, "faults", what);
            continue;
        };
        let before = errors.count();
        let mut layer = Layer::new();
        let mut walk = Walk {
            scope: Scope::Fault,
            origin: &Origin::Base,
            prefix: "faults.",
            errors,
        };
        for Entry { name, at, node } in entries {
            walk.put(name, at, node, &mut layer);
        }
        raw.faults.push(RawFault {
            at: item.at.clone(),
            layer,
            is_whole: errors.count() == before,
        });
    }
}

/// Lays one `--set` over the file.
fn set(key: &str, value: &str, raw: &mut Raw, errors: &mut Errors) {
    let flag = match keys::is_secret(key) {
        true => format!("--set {key}"),
        false => format!("--set {key}={}", crate::terminal::shorten(value, 60)),
    };
    let at = Place::Flag(flag.clone());
    let Some(parts) = source::split_key(key) else {
        let what = "is no dotted key, as in settings.shuffle_partitions=32";
        errors.plain(Some(at), what);
        return;
    };
    let node = source::parse_flag(value, &flag);
    match (parts[0].as_str(), parts.get(1)) {
        ("variants", Some(name)) if parts.len() > 2 => {
            let path = parts[2..].join(".");
            let node = as_kind(&path, node, value);
            let mut layer = Layer::new();
            let mut walk = Walk {
                scope: Scope::Variant,
                origin: &Origin::Set,
                prefix: &format!("variants.{name}."),
                errors,
            };
            walk.put(&path, &at, &node, &mut layer);
            raw.sets_of.push(RawVariant {
                name: name.clone(),
                at,
                layer,
            });
        }
        ("variants", _) => {
            let what = "needs a variant and one of its keys, as in \
                        variants.tuned.settings.shuffle_partitions=32";
            errors.at(&at, key, what);
        }
        ("matrix", Some(_)) => matrix(&parts[1..].join("."), &at, &node, raw, errors),
        ("matrix", None) => matrix("", &at, &node, raw, errors),
        ("faults", None) => faults(&node, raw, errors),
        _ => {
            let path = parts.join(".");
            let node = as_kind(&path, node, value);
            let mut walk = Walk {
                scope: Scope::Scenario,
                origin: &Origin::Set,
                prefix: "",
                errors,
            };
            walk.put(&path, &at, &node, &mut raw.sets);
        }
    }
}

/// A value that happens to be TOML of another type is a text where its key needs one: a folder
/// called `2015`.
fn as_kind(path: &str, node: Node, value: &str) -> Node {
    let text = Node {
        at: node.at.clone(),
        tree: Tree::String(value.to_owned()),
    };
    match keys::find(path, Scope::Scenario) {
        Found::Key(key)
            if read_value(key, path, &node).is_err() && read_value(key, path, &text).is_ok() =>
        {
            text
        }
        _ => node,
    }
}
