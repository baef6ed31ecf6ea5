//! Patient identifiers: `patient_ids`, and one column per authority and type.

use super::people::structs;
use bench_tables::row::Identifiers;
use bench_tables::schema::PATIENT_ID;
use bench_tables::{StructList, Table, Value};
use bumpalo::Bump;
use bumpalo::collections::{String as BumpString, Vec as BumpVec};
use std::collections::HashSet;
use std::sync::LazyLock;

/// Components of PID-3, by member of [`PATIENT_ID`].
const COMPONENTS: [usize; PATIENT_ID.len()] = [1, 4, 5, 6];
/// The identifier type that never gets into the lake: social security numbers.
const REMOVED_TYPE: &str = "SS";
const LEGACY: &str = "legacy_patient_id_";

/// Why a name cannot be a column's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum InvalidName {
    /// It holds a character that no column's name may hold.
    #[error("holds {0:?}, which no column's name may hold")]
    Character(char),
    /// It is the name of a fixed column.
    #[error("is the name of the fixed column `{0}`")]
    FixedColumn(&'static str),
}

/// A patient identifier whose column cannot exist. The reference fails the whole workflow on
/// one, before any commit. The name itself is not told, since it comes from a patient's field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
#[error("PID-3 repetition {repetition}: the column that its authority and type name {reason}")]
pub struct InvalidIdentifier {
    /// Which repetition of PID-3, from 1.
    pub repetition: u32,
    /// What is wrong with the name.
    pub reason: InvalidName,
}

/// What PID-3 says.
pub(crate) struct PatientIds<'a> {
    /// The array `patient_ids`; NULL where the field is absent.
    pub(crate) array: Value<'a>,
    /// The identifier columns.
    pub(crate) columns: Identifiers<'a>,
    /// The first identifier whose column cannot exist.
    pub(crate) invalid: Option<InvalidIdentifier>,
}

impl<'a> PatientIds<'a> {
    pub(crate) fn new(field: Option<&'a str>, arena: &'a Bump) -> Self {
        let Some(field) = field else {
            return Self {
                array: Value::Null,
                columns: &[],
                invalid: None,
            };
        };
        let list = structs(field, &COMPONENTS, 0, |_| true, arena);
        let mut columns = BumpVec::with_capacity_in(list.len(), arena);
        let mut invalid = None;
        for (members, repetition) in list.iter().zip(1..) {
            if is_removed(members) {
                continue;
            }
            if let (Some(id), Some(name)) = (members[0], column_name(members, arena)) {
                let reason = if invalid.is_none() {
                    why_invalid(name)
                } else {
                    None
                };
                invalid = invalid.or(reason.map(|reason| InvalidIdentifier { repetition, reason }));
                columns.push((name, id));
            }
        }
        // Several ids of one column: the smallest stays.
        columns.sort_unstable();
        columns.dedup_by_key(|(name, _)| *name);
        Self {
            array: Value::Structs(without_removed(list, arena)),
            columns: columns.into_bump_slice(),
            invalid,
        }
    }
}

fn is_removed(members: &[Option<&str>]) -> bool {
    members[2] == Some(REMOVED_TYPE)
}

fn without_removed<'a>(list: StructList<'a>, arena: &'a Bump) -> StructList<'a> {
    if !list.iter().any(is_removed) {
        return list;
    }
    let mut cells = BumpVec::with_capacity_in(list.len() * list.width(), arena);
    for members in list.iter().filter(|members| !is_removed(members)) {
        cells.extend_from_slice(members);
    }
    StructList::new(list.width(), cells.into_bump_slice())
}

/// Name of an identifier's column: by authority and type, else by facility, else none.
fn column_name<'a>(members: &[Option<&str>], arena: &'a Bump) -> Option<&'a str> {
    let mut name = BumpString::new_in(arena);
    match (members[1], members[2], members[3]) {
        (Some(authority), Some(kind), _) => {
            name.reserve(authority.len() + 1 + kind.len());
            push_lower(&mut name, authority);
            name.push('_');
            push_lower(&mut name, kind);
        }
        (_, _, Some(facility)) => {
            name.reserve(LEGACY.len() + facility.len());
            name.push_str(LEGACY);
            push_lower(&mut name, facility);
        }
        _ => return None,
    }
    Some(name.into_bump_str())
}

/// Lower case of text that holds nothing beyond Latin-1.
fn push_lower(name: &mut BumpString<'_>, text: &str) {
    if text.is_ascii() {
        let start = name.len();
        name.push_str(text);
        name[start..].make_ascii_lowercase();
        return;
    }
    name.extend(text.chars().map(|c| match c {
        'A'..='Z' => c.to_ascii_lowercase(),
        '\u{C0}'..='\u{D6}' | '\u{D8}'..='\u{DE}' => {
            char::from_u32(u32::from(c) + 0x20).unwrap_or(c)
        }
        _ => c,
    }));
}

fn why_invalid(name: &str) -> Option<InvalidName> {
    static FIXED: LazyLock<HashSet<&str>> = LazyLock::new(|| {
        let tables = Table::ALL
            .into_iter()
            .filter(|table| table.has_identifier_columns());
        tables
            .flat_map(Table::columns)
            .map(|column| column.name)
            .collect()
    });
    let is_forbidden = |byte: &u8| {
        matches!(
            byte,
            b' ' | b',' | b';' | b'{' | b'}' | b'(' | b')' | b'=' | b'\t' | b'.' | b'`'
        )
    };
    if let Some(byte) = name.bytes().find(is_forbidden) {
        return Some(InvalidName::Character(char::from(byte)));
    }
    FIXED.get(name).map(|fixed| InvalidName::FixedColumn(fixed))
}

/// Whether a text is empty or only spaces (0x20); tabs and other white space are content.
#[inline]
pub(crate) fn is_blank(text: &str) -> bool {
    text.bytes().all(|byte| byte == b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns<'a>(field: &'a str, arena: &'a Bump) -> Identifiers<'a> {
        PatientIds::new(Some(field), arena).columns
    }

    fn array<'a>(field: Option<&'a str>, arena: &'a Bump) -> Option<Vec<Vec<Option<&'a str>>>> {
        match PatientIds::new(field, arena).array {
            Value::Structs(list) => Some(list.iter().map(<[_]>::to_vec).collect()),
            _ => None,
        }
    }

    #[test]
    fn an_element_is_id_authority_type_and_facility() {
        let arena = Bump::new();
        assert_eq!(
            array(Some("7^a^b^EPIC^MRN^SITE^x~ 8 ^^^ ^\t"), &arena),
            Some(vec![
                vec![Some("7"), Some("EPIC"), Some("MRN"), Some("SITE")],
                vec![Some(" 8 "), None, Some("\t"), None],
            ])
        );
    }

    #[test]
    fn absent_is_null_empty_is_one_element_and_only_ss_is_none() {
        let arena = Bump::new();
        assert_eq!(array(None, &arena), None);
        assert_eq!(array(Some(""), &arena), Some(vec![vec![None; 4]]));
        assert_eq!(array(Some("1^^^A^SS~2^^^B^SS"), &arena), Some(vec![]));
        assert_eq!(columns("1^^^A^SS", &arena), []);
    }

    #[test]
    fn only_the_exact_type_ss_is_removed() {
        let arena = Bump::new();
        let kept = array(Some("1^^^A^SS~2^^^A^ss~3^^^A^SS ~4^^^A^SSN"), &arena).unwrap();
        let ids: Vec<_> = kept.iter().map(|members| members[0].unwrap()).collect();
        assert_eq!(ids, ["2", "3", "4"]);
    }

    #[test]
    fn a_column_is_named_by_authority_and_type_else_by_facility() {
        let arena = Bump::new();
        assert_eq!(columns("1^^^EPIC^MRN^X", &arena), [("epic_mrn", "1")]);
        assert_eq!(
            columns("1^^^^MRN^Fac", &arena),
            [("legacy_patient_id_fac", "1")]
        );
        assert_eq!(
            columns("1^^^EPIC^^Fac", &arena),
            [("legacy_patient_id_fac", "1")]
        );
        assert_eq!(
            columns("1^^^EPIC^ ^Fac", &arena),
            [("legacy_patient_id_fac", "1")]
        );
        for none in [
            "1",
            "1^^^EPIC",
            "1^^^^MRN",
            "^^^EPIC^MRN",
            " ^^^EPIC^MRN",
            "1^^^^^ ",
        ] {
            assert_eq!(columns(none, &arena), [], "{none}");
        }
    }

    #[test]
    fn lower_case_covers_latin_1() {
        let arena = Bump::new();
        let all: String = ('A'..='Z').chain('\u{80}'..='\u{FF}').collect();
        let field = format!("1^^^{all}^\u{b5}\u{df}\u{ff}\u{d7}");
        let expected = format!("{}_\u{b5}\u{df}\u{ff}\u{d7}", all.to_lowercase());
        assert_eq!(columns(&field, &arena), [(expected.as_str(), "1")]);
    }

    #[test]
    fn of_several_ids_in_one_column_the_smallest_by_bytes_stays() {
        let arena = Bump::new();
        assert_eq!(
            columns("b^^^A^MR~a^^^a^mr~B^^^A^Mr~\u{e9}^^^A^MR", &arena),
            [("a_mr", "B")]
        );
        assert_eq!(columns("9^^^A^MR~10^^^A^MR", &arena), [("a_mr", "10")]);
    }

    #[test]
    fn columns_are_sorted_by_name() {
        let arena = Bump::new();
        assert_eq!(
            columns("1^^^Z^MR~2^^^A^MR~3^^^^^A", &arena),
            [("a_mr", "2"), ("legacy_patient_id_a", "3"), ("z_mr", "1")]
        );
    }

    #[test]
    fn a_name_that_no_column_can_have_is_reported_by_its_position() {
        let arena = Bump::new();
        for c in [' ', ',', ';', '{', '}', '(', ')', '=', '\t', '.', '`'] {
            let field = format!("1^^^A^MR~2^^^A{c}B^MR~3^^^A.B^MR");
            assert_eq!(
                PatientIds::new(Some(&field), &arena).invalid,
                Some(InvalidIdentifier {
                    repetition: 2,
                    reason: InvalidName::Character(c)
                })
            );
        }
        for (field, column) in [
            ("1^^^SOURCE^FILE", "source_file"),
            ("1^^^content^hash", "content_hash"),
        ] {
            let invalid = PatientIds::new(Some(field), &arena).invalid.unwrap();
            assert_eq!(invalid.reason, InvalidName::FixedColumn(column));
        }
        for fine in [
            "1^^^A-B^MR/2",
            "1^^^\u{c9}^MR",
            "^^^A B^MR",
            "1^^^A B^SS",
            "1^^^A B",
        ] {
            assert_eq!(PatientIds::new(Some(fine), &arena).invalid, None, "{fine}");
        }
    }

    #[test]
    fn an_error_about_an_identifier_holds_nothing_of_it() {
        let arena = Bump::new();
        let invalid = PatientIds::new(Some("777^^^DOE JANE^MR"), &arena)
            .invalid
            .unwrap();
        assert_eq!(
            invalid.to_string(),
            "PID-3 repetition 1: the column that its authority and type name holds ' ', which no column's name may hold"
        );
    }
}
