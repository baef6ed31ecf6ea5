//! Naming a field, as in `PID-5`, `PID-3.4` or `OBX[2]-5`.

use crate::Error;
use std::fmt;
use std::str::FromStr;

/// The place of a field, or of a part of it: `SEG[occurrence]-field[repetition].component.subcomponent`,
/// where everything behind `SEG-field` may be left out. All numbers count from 1.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldPath {
    /// Name of the segment, exactly as it stands in the message.
    pub segment: String,
    /// Which of the segments of that name; 1 if not given.
    pub occurrence: usize,
    /// Number of the field.
    pub field: usize,
    /// Which repetition. Without one, platform mode does not split repetitions, and standard mode
    /// takes the first if a component is asked for.
    pub repetition: Option<usize>,
    /// Number of the component; the whole field without it.
    pub component: Option<usize>,
    /// Number of the subcomponent; the whole component without it.
    pub subcomponent: Option<usize>,
}

/// A number from 1 on. Larger ones than any message can have are refused, not cut.
fn number(text: &str) -> Option<usize> {
    let is_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse()
        .ok()
        .filter(|&number: &usize| is_digits && number > 0)
}

/// A text and the number in brackets behind it, if any.
fn indexed(text: &str) -> Option<(&str, Option<usize>)> {
    match text.strip_suffix(']') {
        None => Some((text, None)),
        Some(rest) => {
            let (name, index) = rest.split_once('[')?;
            Some((name, Some(number(index)?)))
        }
    }
}

impl FieldPath {
    fn parse(text: &str) -> Option<Self> {
        let (segment, rest) = text.split_once('-')?;
        let (segment, occurrence) = indexed(segment)?;
        if segment.is_empty() || segment.contains(['[', ']', '|']) {
            return None;
        }
        let mut parts = rest.split('.');
        let (field, repetition) = indexed(parts.next()?)?;
        let mut part = || parts.next().map(|text| number(text).ok_or(())).transpose();
        let path = Self {
            segment: segment.to_owned(),
            occurrence: occurrence.unwrap_or(1),
            field: number(field)?,
            repetition,
            component: part().ok()?,
            subcomponent: part().ok()?,
        };
        parts.next().is_none().then_some(path)
    }
}

impl FromStr for FieldPath {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        Self::parse(text).ok_or_else(|| Error::FieldPath {
            given: text.to_owned(),
        })
    }
}

impl fmt::Display for FieldPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.segment)?;
        if self.occurrence != 1 {
            write!(f, "[{}]", self.occurrence)?;
        }
        write!(f, "-{}", self.field)?;
        if let Some(repetition) = self.repetition {
            write!(f, "[{repetition}]")?;
        }
        for part in [self.component, self.subcomponent].into_iter().flatten() {
            write!(f, ".{part}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_printed_as_it_is_written() {
        for text in [
            "PID-5",
            "PID-3.4",
            "OBX[2]-5",
            "PID-3[2].4.1",
            "obx-1",
            " OBX-12",
            "ZDS9-1",
        ] {
            assert_eq!(text.parse::<FieldPath>().unwrap().to_string(), text);
        }
        assert_eq!(
            "OBX[1]-5".parse::<FieldPath>().unwrap().to_string(),
            "OBX-5"
        );
    }

    #[test]
    fn a_path_has_a_segment_and_numbers_from_one() {
        for text in [
            "",
            "PID",
            "PID-",
            "-5",
            "PID-0",
            "PID-x",
            "PID-5.",
            "PID-5.0",
            "PID-5.1.1.1",
            "PID[0]-5",
            "PID[]-5",
            "PID[2-5",
            "PID-5[",
            "PID-+5",
            "PID-99999999999999999999999",
        ] {
            let error = text.parse::<FieldPath>().unwrap_err().to_string();
            assert!(error.contains("`PID-3.4`"), "{error}");
        }
    }
}
