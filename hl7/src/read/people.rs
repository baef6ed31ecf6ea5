//! People and patient identifiers: arrays of structs, and what follows from them.

use super::identifiers::is_blank;
use super::scan::each_position;
use bench_tables::schema::{PATIENT_NAME, STAFF};
use bench_tables::{StructList, Value};
use bumpalo::Bump;
use bumpalo::collections::{String as BumpString, Vec as BumpVec};
use memchr::memchr_iter;
use std::collections::HashSet;

/// Components of a staff field, by member of [`STAFF`]; 0 stands for a member that is always NULL.
const PROVIDER: [usize; STAFF.len()] = [1, 2, 3, 4, 5, 6, 7, 10, 9, 13, 14];
const INTERPRETER: [usize; STAFF.len()] = [1, 2, 3, 4, 5, 6, 7, 0, 9, 0, 0];
/// Components of PID-5, by member of [`PATIENT_NAME`].
const PATIENT: [usize; PATIENT_NAME.len()] = [1, 2, 3, 4, 5, 6, 7];

/// The highest component that a member is made of.
const MAX_COMPONENT: usize = 14;

/// A field shorter than this, in bytes, has but a few repetitions.
const USUAL_FIELD: usize = 256;
/// The shortest element that has a family name: `^` and one character.
const SHORTEST_STAFF: usize = 2;

/// Positions of the family and the given name among the members.
const STAFF_NAME: (usize, usize) = (1, 2);
const PERSON_NAME: (usize, usize) = (0, 1);

/// People of one field.
#[derive(Clone, Copy)]
pub(crate) struct People<'a> {
    list: Option<StructList<'a>>,
    name: (usize, usize),
}

impl<'a> People<'a> {
    /// PID-5: every repetition is kept.
    pub(crate) fn patient(field: Option<&'a str>, arena: &'a Bump) -> Self {
        let list = field.map(|field| structs(field, &PATIENT, 0, |_| true, arena));
        Self {
            list,
            name: PERSON_NAME,
        }
    }

    /// OBR-16: elements without family name are dropped.
    pub(crate) fn provider(field: Option<&'a str>, arena: &'a Bump) -> Self {
        Self::staff(field, &PROVIDER, arena)
    }

    /// OBR-32, -33 or -34: elements without family name are dropped, and three members are
    /// always NULL.
    pub(crate) fn interpreter(field: Option<&'a str>, arena: &'a Bump) -> Self {
        Self::staff(field, &INTERPRETER, arena)
    }

    fn staff(field: Option<&'a str>, components: &[usize; STAFF.len()], arena: &'a Bump) -> Self {
        let has_family_name = |members: &[Option<&str>]| members[STAFF_NAME.0].is_some();
        let list =
            field.map(|field| structs(field, components, SHORTEST_STAFF, has_family_name, arena));
        Self {
            list,
            name: STAFF_NAME,
        }
    }

    /// The array; NULL where the field is absent.
    pub(crate) fn array(self) -> Value<'a> {
        self.list.map_or(Value::Null, Value::Structs)
    }

    /// Given and family name of the first element; "" where there is none.
    pub(crate) fn first_name(self, arena: &'a Bump) -> &'a str {
        let first = self.list.and_then(|list| list.iter().next());
        first.map_or("", |members| self.full_name(members, arena))
    }

    /// Given and family names of all elements, each name once; NULL where the field is absent.
    pub(crate) fn all_names(self, arena: &'a Bump) -> Value<'a> {
        let Some(list) = self.list else {
            return Value::Null;
        };
        let mut names = BumpVec::with_capacity_in(list.len(), arena);
        if list.len() <= 8 {
            for members in list.iter() {
                let name = self.full_name(members, arena);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        } else {
            // Many repetitions would make the plain search quadratic.
            let mut seen = HashSet::with_capacity(list.len());
            let all = list.iter().map(|members| self.full_name(members, arena));
            names.extend(all.filter(|name| seen.insert(*name)));
        }
        Value::Strings(names.into_bump_slice())
    }

    /// Given name, a space, family name, without the space where one of them is NULL.
    fn full_name(self, members: &'a [Option<&'a str>], arena: &'a Bump) -> &'a str {
        match (members[self.name.1], members[self.name.0]) {
            (Some(given), Some(family)) => {
                let length = given.len() + 1 + family.len();
                let mut name = BumpString::with_capacity_in(length, arena);
                name.push_str(given);
                name.push(' ');
                name.push_str(family);
                name.into_bump_str()
            }
            (Some(name), None) | (None, Some(name)) => name,
            (None, None) => "",
        }
    }
}

/// The repetitions of a field as structs of its components, given by number for each member.
/// Members that are absent, empty or all spaces are NULL; the others stay untrimmed. Only elements
/// that `keep` wants are kept; none of them is shorter than `shortest` bytes, which bounds the
/// memory that is set aside for a field of nothing but `~`.
pub(crate) fn structs<'a, const WIDTH: usize>(
    field: &'a str,
    components: &[usize; WIDTH],
    shortest: usize,
    keep: impl Fn(&[Option<&'a str>]) -> bool,
    arena: &'a Bump,
) -> StructList<'a> {
    // Counting pays only where growing would leave much memory behind.
    let elements = if field.len() < USUAL_FIELD {
        1
    } else {
        let repetitions = memchr_iter(b'~', field.as_bytes()).count() + 1;
        repetitions.min(field.len() / (shortest + 1) + 1)
    };
    let mut cells = BumpVec::with_capacity_in(elements * WIDTH, arena);
    let mut end_element = |parts: &[Option<&'a str>; MAX_COMPONENT + 1]| {
        let members = components.map(|component| parts[component]);
        if keep(&members) {
            cells.extend_from_slice(&members);
        }
    };
    // Part 0 stands for a member that is always NULL.
    let mut parts = [None; MAX_COMPONENT + 1];
    let (mut number, mut start) = (1, 0);
    let mut end_part = |end: usize, parts: &mut [Option<&'a str>; MAX_COMPONENT + 1]| {
        if let Some(part) = parts.get_mut(number) {
            *part = Some(&field[start..end]).filter(|part| !is_blank(part));
        }
        (number, start) = (number + 1, end + 1);
        if field.as_bytes().get(end) != Some(&b'^') {
            end_element(parts);
            *parts = [None; MAX_COMPONENT + 1];
            number = 1;
        }
    };
    each_position(field, [b'^', b'~'], |end| {
        end_part(end, &mut parts);
        true
    });
    end_part(field.len(), &mut parts);
    StructList::new(WIDTH, cells.into_bump_slice())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(value: Value<'_>) -> Option<Vec<Vec<Option<&str>>>> {
        match value {
            Value::Structs(list) => Some(list.iter().map(<[_]>::to_vec).collect()),
            _ => None,
        }
    }

    fn names(value: Value<'_>) -> Option<Vec<&str>> {
        match value {
            Value::Strings(names) => Some(names.to_vec()),
            _ => None,
        }
    }

    #[test]
    fn every_repetition_of_a_patient_name_is_kept() {
        let arena = Bump::new();
        let people = People::patient(Some("DOE^JANE^M^JR^DR^MD^L^more~^^~ ^B"), &arena);
        let mut expected = vec![vec![
            Some("DOE"),
            Some("JANE"),
            Some("M"),
            Some("JR"),
            Some("DR"),
            Some("MD"),
            Some("L"),
        ]];
        expected.push(vec![None; 7]);
        expected.push(vec![None, Some("B"), None, None, None, None, None]);
        assert_eq!(cells(people.array()), Some(expected));
        assert_eq!(people.first_name(&arena), "JANE DOE");
    }

    #[test]
    fn an_absent_name_is_null_and_an_empty_one_is_one_all_null_element() {
        let arena = Bump::new();
        let absent = People::patient(None, &arena);
        assert_eq!(absent.array(), Value::Null);
        assert_eq!(absent.first_name(&arena), "");
        let empty = People::patient(Some(""), &arena);
        assert_eq!(cells(empty.array()), Some(vec![vec![None; 7]]));
        assert_eq!(empty.first_name(&arena), "");
    }

    #[test]
    fn a_provider_has_all_eleven_members() {
        let arena = Bump::new();
        let people = People::provider(Some("1^2^3^4^5^6^7^8^9^10^11^12^13^14^15^16"), &arena);
        let expected = ["1", "2", "3", "4", "5", "6", "7", "10", "9", "13", "14"]
            .map(Some)
            .to_vec();
        assert_eq!(cells(people.array()), Some(vec![expected]));
        assert_eq!(people.first_name(&arena), "3 2");
    }

    #[test]
    fn three_members_of_an_interpreter_are_always_null() {
        let arena = Bump::new();
        let people = People::interpreter(Some("1^2^3^4^5^6^7^8^9^10^11^12^13^14"), &arena);
        let mut expected = ["1", "2", "3", "4", "5", "6", "7", "8", "9"]
            .map(Some)
            .to_vec();
        expected[7] = None;
        expected.extend([None, None]);
        assert_eq!(cells(people.array()), Some(vec![expected]));
    }

    #[test]
    fn staff_without_family_name_is_dropped() {
        let arena = Bump::new();
        let people = People::interpreter(Some("1^^A~2^   ^B~~3^C^D"), &arena);
        assert_eq!(cells(people.array()).unwrap().len(), 1);
        assert_eq!(people.first_name(&arena), "D C");
        for field in ["", "~", "1^"] {
            let none = People::provider(Some(field), &arena);
            assert_eq!(cells(none.array()), Some(vec![]), "{field}");
            assert_eq!(none.first_name(&arena), "");
            assert_eq!(names(none.all_names(&arena)), Some(vec![]));
        }
        let absent = People::provider(None, &arena);
        assert_eq!(absent.array(), Value::Null);
        assert_eq!(absent.all_names(&arena), Value::Null);
    }

    #[test]
    fn members_stay_untrimmed_and_only_spaces_are_blank() {
        let arena = Bump::new();
        let people = People::provider(Some(" ^ A ^\t^\u{a0}"), &arena);
        let members = &cells(people.array()).unwrap()[0];
        assert_eq!(
            members[..4],
            [None, Some(" A "), Some("\t"), Some("\u{a0}")]
        );
        assert_eq!(people.first_name(&arena), "\t  A ");
    }

    #[test]
    fn all_names_are_without_duplicates_the_first_kept() {
        let arena = Bump::new();
        let few = "1^B^A~2^B^A~3^C~4^B^A";
        let expected = Some(vec!["A B", "C"]);
        assert_eq!(
            names(People::interpreter(Some(few), &arena).all_names(&arena)),
            expected
        );
        let many = [few; 5].join("~");
        assert_eq!(
            names(People::interpreter(Some(&many), &arena).all_names(&arena)),
            expected
        );
    }
}
