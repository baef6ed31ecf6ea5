//! `reports_report_patient_mapping`, as a partition of the reports into patients.
//!
//! A patient is a connected component: reports are edges between an MPI and an Epic MRN. The ids of
//! patients are the engine's own, so only who shares one is compared.

use super::checks::{self, Checks, Wrong};
use super::facts::{Facts, MessageId};
use super::files;
use super::read::{At, FileReport, OpenTable};
use super::verification::Position;
use arrow::array::{Array, AsArray, RecordBatch, StringArray};
use bench_tables::Table;
use std::collections::HashMap;
use xxhash_rust::xxh3::xxh3_128;

/// The name of a patient, by a hash.
pub(super) type Patient = u128;

/// A row of the mapping or of its history.
pub(super) struct FoundRow {
    pub(super) id: MessageId,
    pub(super) patient: Patient,
    pub(super) consistent: bool,
    /// Of the history, the patient of before.
    pub(super) previous: Option<Patient>,
    has_mpi: bool,
    has_epic_mrn: bool,
    at: At,
}

/// What was found.
pub(super) struct Found {
    pub(super) rows: Vec<FoundRow>,
    strange: Vec<At>,
    pub(super) files: Vec<FileReport>,
}

#[derive(Default)]
struct OfFile {
    rows: Vec<FoundRow>,
    strange: Vec<At>,
}

/// Reads the mapping or its history.
pub(super) fn read(table: &OpenTable, facts: &Facts, threads: usize) -> Found {
    let (files, found) = table.read(threads, |of_file: &mut OfFile, first, batch| {
        take(facts, of_file, first, batch);
    });
    let mut all = Found {
        rows: Vec::new(),
        strange: Vec::new(),
        files,
    };
    for of_file in found {
        all.rows.extend(of_file.rows);
        all.strange.extend(of_file.strange);
    }
    all.rows.sort_by_key(|row| (row.id, row.at));
    all
}

fn take(facts: &Facts, of_file: &mut OfFile, first: At, batch: &RecordBatch) {
    let text = |name: &str| batch.column_by_name(name)?.as_string_opt::<i32>();
    let (patients, reports) = (text("scout_patient_id"), text("primary_report_identifier"));
    let (mpis, epic_mrns) = (text("mpi"), text("epic_mrn"));
    let previous = text("previous_scout_patient_id");
    let consistent = batch.column_by_name("consistent");
    let consistent = consistent.and_then(|column| column.as_boolean_opt());
    for row in 0..batch.num_rows() {
        let at = At {
            row: first.row + row as u32,
            ..first
        };
        let value = |column: Option<&'_ StringArray>| {
            let column = column.filter(|column| column.is_valid(row))?;
            Some(column.value(row).to_owned())
        };
        let patient = |column| value(column).map(|text| xxh3_128(text.as_bytes()));
        let id = value(reports).and_then(|report| facts.find(&report));
        let is_consistent = consistent.filter(|c| c.is_valid(row)).map(|c| c.value(row));
        let (Some(id), Some(of), Some(consistent)) = (id, patient(patients), is_consistent) else {
            of_file.strange.push(at);
            continue;
        };
        let expected = facts.row_of(id).map(|row| facts.texts(row));
        let expected = expected.map_or((None, None), |texts| (texts.mpi, texts.epic_mrn));
        of_file.rows.push(FoundRow {
            id,
            patient: of,
            consistent,
            previous: patient(previous),
            has_mpi: value(mpis).as_deref() == expected.0,
            has_epic_mrn: value(epic_mrns).as_deref() == expected.1,
            at,
        });
    }
}

impl Found {
    /// Reports that stand in the table.
    pub(super) fn holds(&self, id: MessageId) -> bool {
        self.rows.binary_search_by_key(&id, |row| row.id).is_ok()
    }

    /// Rows whose ids are not those of their reports.
    pub(super) fn check_ids(&self, table: &OpenTable, facts: &Facts, checks: &mut Checks) {
        let mut wrong = Wrong::default();
        for row in &self.rows {
            let columns = [("mpi", row.has_mpi), ("epic_mrn", row.has_epic_mrn)];
            let columns = columns.into_iter().filter(|(_, is_right)| !is_right);
            let columns: Vec<String> = columns.map(|(name, _)| name.to_owned()).collect();
            if !columns.is_empty() {
                wrong.add(|| Position {
                    columns,
                    ..checks::message(facts, row.id, "its ids differ")
                });
            }
        }
        checks.none_wrong("ids", Some(table.table), "rows with other ids", wrong);
    }

    /// Rows of no report that could have one.
    pub(super) fn strange(&self, table: &OpenTable, wrong: &mut Wrong) {
        for &at in &self.strange {
            let what = "its report is none of the logs', or a value is missing";
            wrong.add(|| checks::row(table, at, what));
        }
    }

    /// Number of rows.
    pub(super) fn count(&self) -> u64 {
        (self.rows.len() + self.strange.len()) as u64
    }
}

/// Which patients the reports in the mapping must make.
pub(super) struct Patients {
    /// Union-find over MPIs, then Epic MRNs, then the place of all reports with neither.
    parents: Vec<u32>,
    mpis: u32,
    /// By root: distinct MPIs and Epic MRNs.
    ids: HashMap<u32, (u32, u32)>,
}

impl Patients {
    /// The patients of some reports.
    pub(super) fn of(facts: &Facts, reports: impl Iterator<Item = MessageId>) -> Self {
        let mpis = facts.mpis.len() as u32;
        let vertices = mpis + facts.epic_mrns.len() as u32 + 1;
        let mut patients = Self {
            parents: (0..vertices).collect(),
            mpis,
            ids: HashMap::new(),
        };
        let mut used = vec![false; vertices as usize];
        for id in reports {
            let vertices = patients.vertices(facts, id);
            for vertex in vertices.into_iter().flatten() {
                used[vertex as usize] = true;
            }
            if let [Some(mpi), Some(epic_mrn)] = vertices {
                patients.join(mpi, epic_mrn);
            }
        }
        for vertex in (0..vertices - 1).filter(|&vertex| used[vertex as usize]) {
            let root = patients.root(vertex);
            let (mpis, epic_mrns) = patients.ids.entry(root).or_default();
            *if vertex < patients.mpis {
                mpis
            } else {
                epic_mrns
            } += 1;
        }
        patients
    }

    fn vertices(&self, facts: &Facts, id: MessageId) -> [Option<u32>; 2] {
        let (mpi, epic_mrn) = facts.row_of(id).map_or((None, None), |row| row.ids());
        let neither = self.parents.len() as u32 - 1;
        match (mpi, epic_mrn) {
            (None, None) => [Some(neither), None],
            _ => [mpi, epic_mrn.map(|number| self.mpis + number)],
        }
    }

    fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.root_halving(a), self.root_halving(b));
        self.parents[a.max(b) as usize] = a.min(b);
    }

    fn root_halving(&mut self, mut vertex: u32) -> u32 {
        while self.parents[vertex as usize] != vertex {
            let parent = self.parents[vertex as usize];
            self.parents[vertex as usize] = self.parents[parent as usize];
            vertex = parent;
        }
        vertex
    }

    fn root(&self, mut vertex: u32) -> u32 {
        while self.parents[vertex as usize] != vertex {
            vertex = self.parents[vertex as usize];
        }
        vertex
    }

    /// The patient of a report, as a number that is good for comparing.
    pub(super) fn patient(&self, facts: &Facts, id: MessageId) -> u32 {
        let [first, second] = self.vertices(facts, id);
        self.root(first.or(second).expect("every report has a vertex"))
    }

    /// Whether a patient has at most one MPI and one Epic MRN.
    pub(super) fn is_consistent(&self, patient: u32) -> bool {
        self.ids
            .get(&patient)
            .is_none_or(|&(mpis, mrns)| mpis <= 1 && mrns <= 1)
    }
}

/// Compares the mapping with the reports that must stand in it: `least` and, in a mapping that an
/// interrupted workflow left in between, `most`.
pub(super) fn check(
    table: &OpenTable,
    found: &Found,
    facts: &Facts,
    must_hold: &dyn Fn(MessageId) -> bool,
    may_hold: &dyn Fn(MessageId) -> bool,
    checks: &mut Checks,
) {
    let name = Some(Table::Mapping);
    let mut counts = vec![0_u16; facts.len()];
    for row in &found.rows {
        let count = &mut counts[row.id as usize];
        *count = count.saturating_add(1);
    }
    let (mut least, mut most) = (0_u64, 0_u64);
    let (mut keys, mut unique) = (Wrong::default(), Wrong::default());
    for id in 0..facts.len() as MessageId {
        let (must, may) = (must_hold(id), may_hold(id));
        least += u64::from(must);
        most += u64::from(may);
        match counts[id as usize] {
            0 if must => keys.messages(facts, [id], "missing"),
            0 => {}
            _ if !may => keys.messages(facts, [id], "unexpected"),
            1 => {}
            _ => unique.messages(facts, [id], "more than one row"),
        }
    }
    found.strange(table, &mut keys);
    if least == most {
        checks.compare("rows", name, &least, &found.count());
    } else {
        let passed = (least..=most).contains(&found.count());
        let expected = format!("{least} to {most}");
        let check = checks.add("rows", name, expected, found.count().to_string(), passed);
        check.note("a workflow was interrupted within the mapping, which is taken in stages");
    }
    checks.none_wrong("keys", name, "keys missing or unexpected", keys);
    checks.none_wrong(
        "keys_unique",
        name,
        "keys that stand more than once",
        unique,
    );
    found.check_ids(table, facts, checks);

    let patients = Patients::of(facts, found.rows.iter().map(|row| row.id));
    let (mut split, mut flag) = (Wrong::default(), Wrong::default());
    let owners = owners(found, facts, &patients);
    for row in &found.rows {
        let patient = patients.patient(facts, row.id);
        if owners.get(&patient) != Some(&row.patient) {
            split.add(|| Position {
                columns: vec!["scout_patient_id".to_owned()],
                ..checks::message(
                    facts,
                    row.id,
                    "it stands with another patient's reports or apart from its own",
                )
            });
        }
        if row.consistent != patients.is_consistent(patient) {
            flag.add(|| Position {
                columns: vec!["consistent".to_owned()],
                ..checks::message(facts, row.id, "its flag is wrong")
            });
        }
    }
    checks.none_wrong("patients", name, "rows of another patient", split);
    checks.none_wrong("consistent", name, "rows with the wrong flag", flag);
    files::files(table, &found.files, checks);
}

/// By patient, the id that most of its rows have and of which it has the most rows; so that of two
/// that are mixed up the fewer rows are named.
fn owners(found: &Found, facts: &Facts, patients: &Patients) -> HashMap<u32, Patient> {
    let mut shares: HashMap<(u32, Patient), u64> = HashMap::new();
    for row in &found.rows {
        *shares
            .entry((patients.patient(facts, row.id), row.patient))
            .or_default() += 1;
    }
    let mut shares: Vec<_> = shares
        .into_iter()
        .map(|((p, id), rows)| (rows, p, id))
        .collect();
    shares.sort_unstable_by(|a, b| b.cmp(a));
    let (mut owners, mut taken) = (HashMap::new(), HashMap::new());
    for (_, patient, id) in shares {
        if !owners.contains_key(&patient) && !taken.contains_key(&id) {
            owners.insert(patient, id);
            taken.insert(id, patient);
        }
    }
    owners
}
