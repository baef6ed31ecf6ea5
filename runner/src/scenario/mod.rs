//! Scenarios: what a run does, as a person writes it and as it is carried out.
//!
//! A scenario file is read strictly and as a whole; what comes out is a [`Scenario`] in which every
//! value stands, defaults included, so that it can be stored, shown and carried out without the file.
//!
//! ```text
//! source ──► read ──► resolve ──► check ──► build
//! text,      keys     layers      what      the typed
//! places     and      over each   must      scenario
//!            values   other       hold
//! ```
//!
//! Every key stands once, in `keys`; the schema for editors and the reference page are made from it.

mod build;
mod check;
mod error;
#[allow(
    dead_code,
    reason = "the schema and the reference page are made from it next"
)]
mod keys;
mod kind;
mod layer;
mod model;
mod read;
mod reference;
mod resolve;
mod schema;
mod secrets;
mod shipped;
mod show;
mod source;
mod units;

pub(crate) use error::{Errors, write_faults};
pub use error::{ScenarioError, ScenarioErrors};
pub(crate) use keys::nearest;
pub(crate) use kind::Kind;
pub use kind::Value;
pub use layer::{Given, Layer, Origin};
pub use model::{
    DatasetSource, Enforcement, Expect, Fault, FaultKind, Measure, Mode, Pipeline, Queue,
    Resources, Retry, Scenario, Sequence, SparkTarget, Target, TargetKind, Variant, Verify, When,
};
pub use reference::reference;
pub use resolve::Values;
pub use schema::schema;
pub use secrets::HIDDEN;
pub use shipped::SHIPPED;
pub use source::Place;
pub(crate) use source::{Entry, Node, Tree, parse as parse_toml};
pub(crate) use units::{duration, size};
pub use units::{duration_text, size_text};

use std::path::{Path, PathBuf};

/// A scenario, read, checked and resolved.
#[derive(Clone, Debug, PartialEq)]
pub struct Loaded {
    /// What is to be done.
    pub scenario: Scenario,
    /// The file as given.
    pub text: String,
    /// Its path; of a shipped scenario, where it stands in the repository.
    pub path: PathBuf,
    /// Every value with where it came from.
    pub origins: Values,
    /// Passwords in it, those of variants that are left out included: its text has them all.
    pub secrets: Vec<String>,
}

impl Loaded {
    /// Leaves only the variants that are named; all of them where none is.
    ///
    /// # Errors
    /// Names that no variant has, each.
    pub fn only(&mut self, names: &[String]) -> Result<(), ScenarioErrors> {
        let variants = &mut self.scenario.variants;
        let mut errors = Errors::new(&self.path.display().to_string());
        for name in names {
            if !variants.iter().any(|variant| variant.name == *name) {
                let known: Vec<&str> = variants.iter().map(|one| one.name.as_str()).collect();
                let flag = Place::Flag(format!("--variant {name}"));
                let known = known.join(", ");
                errors.plain(
                    Some(flag),
                    format!("is no variant of this scenario, which has {known}"),
                );
            }
        }
        variants.retain(|variant| names.is_empty() || names.contains(&variant.name));
        errors.finish(Some(()))
    }
}

/// Reads a scenario: a shipped one by its name, or a file by its path; with `sets` (dotted key and
/// value) laid over it.
///
/// # Errors
/// Everything that is wrong with it, at once.
pub fn load(name_or_path: &str, sets: &[(String, String)]) -> Result<Loaded, ScenarioErrors> {
    let source = shipped::open(name_or_path)?;
    parse(&source.text, &source.path, &source.folder, sets)
}

/// Reads a scenario's text as if it stood in the file `path`; relative paths in it begin in `folder`.
///
/// # Errors
/// Everything that is wrong with it, at once.
pub fn parse(
    text: &str,
    path: &Path,
    folder: &Path,
    sets: &[(String, String)],
) -> Result<Loaded, ScenarioErrors> {
    let mut errors = Errors::new(&path.display().to_string());
    let root = match source::parse(text) {
        Ok(root) => root,
        Err(wrong) => {
            for error in wrong {
                errors.plain(error.at, format!("is no TOML: {}", error.what));
            }
            return errors.finish(None);
        }
    };
    let mut raw = read::read(&root, sets, &mut errors);
    let mut origins = resolve::resolve(&mut raw, folder, &mut errors);
    let variants = check::check(&raw, &mut origins, &mut errors);
    let loaded = build::scenario(&origins, variants).map(|scenario| Loaded {
        secrets: scenario.without_secrets().1,
        scenario,
        text: text.to_owned(),
        path: path.to_owned(),
        origins,
    });
    errors.finish(loaded)
}
