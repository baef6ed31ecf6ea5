//! Passwords of a store: they go to the workers and into no file.

use super::keys::is_secret_option;
use super::model::{Scenario, Target};

/// What stands where a password was.
pub const HIDDEN: &str = "(hidden)";

/// Whatever may hold a password: options of the store, and settings of Spark.
fn options(target: &mut Target) -> impl Iterator<Item = (&String, &mut String)> {
    let conf = target.spark.iter_mut().flat_map(|spark| &mut spark.conf);
    target.storage.iter_mut().chain(conf)
}

impl Scenario {
    /// The scenario without its passwords, fit to be stored; and the passwords.
    #[must_use]
    pub fn without_secrets(&self) -> (Self, Vec<String>) {
        let mut scenario = self.clone();
        let mut secrets = Vec::new();
        for variant in &mut scenario.variants {
            for (name, value) in options(&mut variant.target) {
                if is_secret_option(name) && value != HIDDEN {
                    secrets.push(std::mem::replace(value, HIDDEN.to_owned()));
                }
            }
        }
        (scenario, secrets)
    }

    /// Puts passwords back into a scenario that was stored without them. `find` is asked for each by
    /// the option's name.
    ///
    /// # Errors
    /// The name of the first option that `find` does not know.
    pub fn with_secrets(&mut self, find: impl Fn(&str) -> Option<String>) -> Result<(), String> {
        for variant in &mut self.variants {
            for (name, value) in options(&mut variant.target) {
                if value == HIDDEN {
                    *value = find(name).ok_or_else(|| name.clone())?;
                }
            }
        }
        Ok(())
    }
}
