//! The map from exam codes to modalities.

use crate::Error;
use std::collections::HashMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

const SHIPPED: &str = include_str!("../data/modality_mapping_codes.csv");

/// Exam codes and their modalities, matched exactly and case-sensitively.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModalityMap {
    codes: HashMap<Box<str>, Option<Box<str>>>,
}

impl ModalityMap {
    /// The platform's own test map, which the generator's exam codes come from.
    #[must_use]
    pub fn shipped() -> Self {
        static MAP: LazyLock<ModalityMap> = LazyLock::new(|| {
            ModalityMap::from_csv(SHIPPED.as_bytes(), "modality_mapping_codes.csv")
                .expect("the shipped map is tested")
        });
        MAP.clone()
    }

    /// A map from a CSV file with the columns `Exam Code` and `Modality`.
    ///
    /// # Errors
    /// As [`Self::from_csv`], and [`Error::Io`].
    pub fn from_path(path: &Path) -> Result<Self, Error> {
        let file = File::open(path).map_err(|source| Error::Io {
            path: path.to_owned(),
            source,
        })?;
        Self::from_csv(file, &path.display().to_string())
    }

    /// A map from CSV with the columns `Exam Code` and `Modality`; others are ignored. `name` is
    /// for errors. An empty modality stands for NULL, and a row without a code matches nothing.
    ///
    /// # Errors
    /// [`Error::ModalityCsv`], [`Error::ModalityColumn`], [`Error::ModalityTwice`]
    pub fn from_csv(csv: impl Read, name: &str) -> Result<Self, Error> {
        let not_csv = |source| Error::ModalityCsv {
            name: name.to_owned(),
            source,
        };
        let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(csv);
        let headers = reader.headers().map_err(not_csv)?;
        let position = |column: &'static str| {
            headers
                .iter()
                .position(|header| header == column)
                .ok_or_else(|| Error::ModalityColumn {
                    name: name.to_owned(),
                    column,
                })
        };
        let (code_at, modality_at) = (position("Exam Code")?, position("Modality")?);
        let mut codes = HashMap::new();
        for record in reader.records() {
            let record = record.map_err(not_csv)?;
            let filled = |at| record.get(at).filter(|text: &&str| !text.is_empty());
            let Some(code) = filled(code_at) else {
                continue;
            };
            if codes
                .insert(code.into(), filled(modality_at).map(Into::into))
                .is_some()
            {
                return Err(Error::ModalityTwice {
                    name: name.to_owned(),
                    code: code.to_owned(),
                    line: record.position().map_or(0, csv::Position::line),
                });
            }
        }
        Ok(Self { codes })
    }

    /// The modality of a code; `None` where the map has no such code or no modality for it.
    #[must_use]
    pub fn get(&self, code: &str) -> Option<&str> {
        self.codes.get(code)?.as_deref()
    }

    /// Codes with their modality, sorted by code.
    #[must_use]
    pub fn codes(&self) -> Vec<(&str, Option<&str>)> {
        let mut codes: Vec<_> = self
            .codes
            .iter()
            .map(|(code, modality)| (&**code, modality.as_deref()))
            .collect();
        codes.sort_unstable();
        codes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn map(csv: &str) -> Result<ModalityMap, Error> {
        ModalityMap::from_csv(csv.as_bytes(), "m.csv")
    }

    #[test]
    fn the_shipped_map_has_the_platforms_codes() {
        let map = ModalityMap::shipped();
        assert_eq!(map.codes().len(), SHIPPED.lines().count() - 1);
        assert_eq!(map.get("BHC76140"), Some("MG"));
        assert_eq!(map.get("SM71550CH0"), Some("MR"));
        assert_eq!(map.get("MDXREVNT"), None);
    }

    #[test]
    fn a_code_is_matched_exactly() {
        let map = map("Exam Code,Modality\nA1,CT\n").unwrap();
        assert_eq!(map.get("A1"), Some("CT"));
        for other in ["a1", "A1 ", " A1", "A", ""] {
            assert_eq!(map.get(other), None);
        }
    }

    #[test]
    fn an_empty_or_missing_modality_is_null() {
        let map = map("Exam Code,Modality\nA,\nB\n,CT\n").unwrap();
        assert_eq!(map.codes(), [("A", None), ("B", None)]);
    }

    #[test]
    fn a_code_listed_twice_is_refused_even_with_the_same_modality() {
        let error = map("Exam Code,Modality\nA,CT\nB,CT\nA,CT\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the modality map m.csv lists the code `A` twice, again in line 4: remove one"
        );
    }

    #[test]
    fn columns_are_found_by_name() {
        let map_of_three = map("x,Modality,Exam Code\n1,CT,A\n").unwrap();
        assert_eq!(map_of_three.get("A"), Some("CT"));
        let error = map("code,modality\nA,CT\n").unwrap_err();
        assert!(
            error.to_string().contains("no column `Exam Code`"),
            "{error}"
        );
    }
}
