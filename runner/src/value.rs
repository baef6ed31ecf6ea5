//! Values of a row for people and for JSON.

use bench_tables::time::{date_text, timestamp_text};
use bench_tables::{ColumnType, Value};
use serde_json::json;

/// A value for a person. NULL has a name, arrays stand on one line, empty members are left out.
/// Control characters are kept; see [`visible`].
pub(crate) fn text(value: Value<'_>, ty: ColumnType) -> String {
    match value {
        Value::Null => "NULL".to_owned(),
        Value::Str("") => "\"\"".to_owned(),
        Value::Str(text) => text.to_owned(),
        Value::Int(int) => int.to_string(),
        Value::Bool(bool) => bool.to_string(),
        Value::Date(days) => date_text(days.into()),
        Value::Timestamp(micros) => timestamp_text(micros),
        Value::Strings([]) => "[]".to_owned(),
        Value::Strings(strings) => strings.join("; "),
        Value::Structs(list) if list.is_empty() => "[]".to_owned(),
        Value::Structs(list) => {
            let elements: Vec<String> = list.iter().map(|cells| element(cells, ty)).collect();
            elements.join("; ")
        }
    }
}

fn element(cells: &[Option<&str>], ty: ColumnType) -> String {
    let filled: Vec<String> = members(ty)
        .iter()
        .zip(cells)
        .filter_map(|(name, cell)| Some(format!("{name}={}", (*cell)?)))
        .collect();
    if filled.is_empty() {
        "(all NULL)".to_owned()
    } else {
        filled.join(" ")
    }
}

/// A value for a machine, with nothing left out.
pub(crate) fn json(value: Value<'_>, ty: ColumnType) -> serde_json::Value {
    match value {
        Value::Null => json!(null),
        Value::Int(int) => json!(int),
        Value::Bool(bool) => json!(bool),
        Value::Strings(strings) => json!(strings),
        Value::Structs(list) => list
            .iter()
            .map(|cells| {
                let object = members(ty).iter().map(ToString::to_string);
                serde_json::Value::Object(
                    object.zip(cells.iter().map(|cell| json!(cell))).collect(),
                )
            })
            .collect(),
        Value::Str(text) => json!(text),
        Value::Date(_) | Value::Timestamp(_) => json!(text(value, ty)),
    }
}

fn members(ty: ColumnType) -> &'static [&'static str] {
    match ty {
        ColumnType::Structs(members) => members,
        _ => &[],
    }
}

/// A text on one line, in which control characters are seen and can do nothing to a terminal.
pub(crate) fn visible(text: &str) -> String {
    text.chars().map(picture).collect()
}

/// The same, with line ends kept.
pub(crate) fn visible_lines(text: &str) -> impl Iterator<Item = String> {
    text.split('\n').map(visible)
}

fn picture(char: char) -> char {
    match char {
        '\0'..='\x1F' => char::from_u32(0x2400 + u32::from(char)).unwrap_or('\u{FFFD}'),
        '\x7F' => '\u{2421}',
        // C1 controls have no pictures of their own.
        '\u{80}'..='\u{9F}' => '\u{FFFD}',
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_tables::schema::PATIENT_ID;
    use bench_tables::{ReportColumn, StructList};

    #[test]
    fn a_control_character_never_reaches_a_terminal() {
        let all: String = (0..=0xFF).filter_map(char::from_u32).collect();
        assert!(!visible(&all).chars().any(char::is_control));
        assert_eq!(visible("a\n\x1b[2Jb\u{85}"), "a␊␛[2Jb\u{FFFD}");
    }

    #[test]
    fn members_that_are_null_are_left_out_for_people_and_kept_for_machines() {
        let cells = [Some("7"), None, Some("MRN"), None, None, None, None, None];
        let ids = Value::Structs(StructList::new(PATIENT_ID.len(), &cells));
        let ty = ReportColumn::PatientIds.ty();
        assert_eq!(
            text(ids, ty),
            "id_number=7 identifier_type_code=MRN; (all NULL)"
        );
        let json = json(ids, ty);
        assert_eq!(json[0]["id_number"], "7");
        assert_eq!(json[1].as_object().unwrap().len(), 4);
    }

    #[test]
    fn null_an_empty_text_and_an_empty_array_differ() {
        let ty = ColumnType::String;
        let shown = [Value::Null, Value::Str(""), Value::Strings(&[])].map(|value| text(value, ty));
        assert_eq!(shown, ["NULL", "\"\"", "[]"]);
    }
}
