//! The row of `reports` that a message must become, from what it means.

use super::model::{Model, Report, Section};
use crate::calendar::{DAY_SECONDS, Day, date_of};
use crate::pools::Person;
use crate::spec::Version;
use bench_tables::ReportColumn as Column;
use bench_tables::{ReportRow, StructList, Value};
use bumpalo::Bump;
use bumpalo::collections::{String as BumpString, Vec as BumpVec};

const MICROS: i64 = 1_000_000;

/// The row of a message whose lines no fault has touched; `source_file` as in the table.
pub(crate) fn report_row<'b>(
    model: &Model<'b>,
    source_file: &'b str,
    arena: &'b Bump,
) -> &'b mut ReportRow<'b> {
    let row = arena.alloc(ReportRow::new());
    let mut text = |column, text: &'b str| row.set(column, Value::Str(text));
    let v23 = model.version == Version::V23;
    let v27 = model.version == Version::V27;
    text(Column::SourceFile, source_file);
    text(Column::MessageControlId, model.control_id);
    text(Column::SendingFacility, model.facility);
    text(Column::VersionId, model.version.text());
    text(Column::Sex, model.sex);
    text(Column::Race, model.race);
    text(Column::ZipOrPostalCode, model.zip);
    text(Column::Country, if v23 { "" } else { "USA" });
    text(Column::PatientClass, "O");
    text(Column::Obr2PlacerOrderNumber, model.placer);
    text(Column::Obr3FillerOrderNumber, model.accession);
    text(Column::ServiceIdentifier, &model.procedure.code);
    text(Column::ServiceName, &model.procedure.name);
    match model.version {
        Version::V23 => {
            text(Column::Mpi, model.pid_2);
            // Fields that are there and empty, since later ones are not.
            text(Column::EthnicGroup, "");
            text(Column::Orc2PlacerOrderNumber, "");
            text(Column::Orc3FillerOrderNumber, "");
            text(Column::DiagnosticServiceId, "");
        }
        Version::V24 => {
            text(Column::ServiceCodingSystem, "UNKDEV");
            text(Column::DiagnosticServiceId, "IMG");
        }
        Version::V27 => {
            text(Column::ServiceCodingSystem, "UNKDEV");
            let modality = model.procedure.modality.as_deref();
            text(Column::DiagnosticServiceId, modality.unwrap_or("OT"));
            text(Column::Orc2PlacerOrderNumber, model.placer);
            text(Column::Orc3FillerOrderNumber, model.accession);
            text(Column::StudyInstanceUid, model.study_uid);
        }
    }
    if let Some(modality) = &model.procedure.modality {
        text(Column::Modality, modality);
    }
    let report = model.times.report;
    row.set(Column::BirthDate, Value::Date(model.birth));
    row.set(Column::MessageDt, Value::Timestamp(report * MICROS));
    row.set(
        Column::ResultsReportStatusChangeDt,
        Value::Timestamp(report * MICROS),
    );
    let study = if v27 {
        Column::RequestedDt
    } else {
        Column::ObservationDt
    };
    row.set(study, Value::Timestamp(model.times.study * MICROS));
    let (year, ..) = date_of(report.div_euclid(DAY_SECONDS) as Day);
    row.set(Column::Year, Value::Int(year));
    identifiers(model, arena, row);
    people(model, arena, row);
    diagnoses(model, arena, row);
    texts(model, arena, row);
    row
}

fn present(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

fn structs<'b>(arena: &'b Bump, width: usize, cells: &[Option<&'b str>]) -> Value<'b> {
    Value::Structs(StructList::new(width, arena.alloc_slice_copy(cells)))
}

fn identifiers<'b>(model: &Model<'b>, arena: &'b Bump, row: &mut ReportRow<'b>) {
    let mut cells = BumpVec::with_capacity_in(8, arena);
    let mut columns = BumpVec::with_capacity_in(2, arena);
    for &[id, authority, kind, facility] in model.ids {
        cells.extend([
            Some(id),
            present(authority),
            present(kind),
            present(facility),
        ]);
        columns.push((identifier_column(authority, kind, facility), id));
    }
    columns.sort_unstable();
    row.set(
        Column::PatientIds,
        Value::Structs(StructList::new(4, cells.into_bump_slice())),
    );
    row.identifiers = columns.into_bump_slice();
}

/// The column of an identifier, for the authorities that the data set knows.
fn identifier_column(authority: &str, kind: &str, facility: &str) -> &'static str {
    match (authority, kind) {
        ("BJH", "EE") => "bjh_ee",
        ("BJH", "MR") => "bjh_mr",
        ("BJWC", "EE") => "bjwc_ee",
        ("BJWC", "MR") => "bjwc_mr",
        ("SLCH", "EE") => "slch_ee",
        ("SLCH", "MR") => "slch_mr",
        ("MBMC", "MR") => "mbmc_mr",
        ("EPIC", "MRN") => "epic_mrn",
        ("EMPI", "MR") => "empi_mr",
        _ => {
            debug_assert_eq!(facility, "UN");
            "legacy_patient_id_un"
        }
    }
}

/// Members of a person in OBR-16, where component 13 is a type code.
fn ordering(person: &Person) -> [Option<&str>; 11] {
    let mut cells = reading(person);
    cells[9] = Some(&person.facility);
    cells
}

/// Members of a person in OBR-32, -33 and -34, where type code and facility are never set.
fn reading(person: &Person) -> [Option<&str>; 11] {
    [
        Some(person.id.as_str()),
        Some(person.family.as_str()),
        Some(person.given.as_str()),
        Some(person.middle.as_str()),
        None,
        None,
        present(&person.degree),
        None,
        Some(person.authority.as_str()),
        None,
        None,
    ]
}

fn people<'b>(model: &Model<'b>, arena: &'b Bump, row: &mut ReportRow<'b>) {
    let v23 = model.version == Version::V23;
    let kind = if v23 { None } else { Some("D") };
    let name = [
        Some(model.family),
        Some(model.given),
        Some(model.middle),
        None,
        None,
        None,
        kind,
    ];
    row.set(Column::FullPatientName, structs(arena, 7, &name));
    let full = super::text::concat(arena, &[model.given, " ", model.family]);
    row.set(Column::PatientName, Value::Str(full));

    // 2.3 leaves OBR-16 empty.
    let (orderers, orderer): (Value<'b>, &str) = if v23 {
        (structs(arena, 11, &[]), "")
    } else {
        let cells = ordering(model.orderer);
        (structs(arena, 11, &cells), &model.orderer.full_name)
    };
    row.set(Column::FullOrderingProvider, orderers);
    row.set(Column::OrderingProvider, Value::Str(orderer));
    row.set(
        Column::FullPrincipalResultInterpreter,
        structs(arena, 11, &reading(model.principal)),
    );
    row.set(
        Column::PrincipalResultInterpreter,
        Value::Str(&model.principal.full_name),
    );

    let mut cells = BumpVec::new_in(arena);
    let mut names: BumpVec<'b, &'b str> = BumpVec::new_in(arena);
    for person in model.assistants {
        cells.extend(reading(person));
        if !names.contains(&person.full_name.as_str()) {
            names.push(&person.full_name);
        }
    }
    row.set(
        Column::FullAssistantResultInterpreter,
        Value::Structs(StructList::new(11, cells.into_bump_slice())),
    );
    row.set(
        Column::AssistantResultInterpreter,
        Value::Strings(names.into_bump_slice()),
    );

    let (cells, name): (Value<'b>, &'b [&'b str]) = match (model.version, model.technician) {
        (Version::V27, Some(person)) => (
            structs(arena, 11, &reading(person)),
            arena.alloc([person.full_name.as_str()]),
        ),
        (Version::V23, _) => {
            let mut unknown = [None; 11];
            unknown[1] = Some("UnkPERSON");
            unknown[2] = Some("UnkPERSON");
            (structs(arena, 11, &unknown), &["UnkPERSON UnkPERSON"])
        }
        _ => (structs(arena, 11, &[]), &[]),
    };
    row.set(Column::FullTechnician, cells);
    row.set(Column::Technician, Value::Strings(name));
}

fn diagnoses<'b>(model: &Model<'b>, arena: &'b Bump, row: &mut ReportRow<'b>) {
    let mut cells = BumpVec::with_capacity_in(model.diagnoses.len() * 3, arena);
    let mut all = BumpString::new_in(arena);
    for (at, &(code, meaning, system)) in model.diagnoses.iter().enumerate() {
        cells.extend([Some(code), Some(meaning), Some(system)]);
        if at > 0 {
            all.push_str("; ");
        }
        all.push_str(meaning);
    }
    row.set(
        Column::Diagnoses,
        Value::Structs(StructList::new(3, cells.into_bump_slice())),
    );
    row.set(
        Column::DiagnosesConsolidated,
        Value::Str(all.into_bump_str()),
    );
}

fn texts<'b>(model: &Model<'b>, arena: &'b Bump, row: &mut ReportRow<'b>) {
    let (whole, sections, status) = match model.report {
        Report::Missing => return,
        Report::Texts([head, body, foot], last) => {
            let whole = super::text::concat(arena, &[head, "\n", body, "\n", foot, "\n", last]);
            (whole, [""; 4], model.status_letter())
        }
        Report::Lines(lines) => {
            let join = |section: Option<Section>| {
                let mut text = BumpString::with_capacity_in(lines.len() * 68, arena);
                let mut first = true;
                for (at, line) in lines {
                    if section.is_none_or(|section| section == *at) {
                        if !first {
                            text.push('\n');
                        }
                        first = false;
                        text.push_str(line);
                    }
                }
                text.into_bump_str()
            };
            let sections = [
                Section::Addendum,
                Section::Findings,
                Section::Impression,
                Section::TechnicianNote,
            ];
            (
                join(None),
                sections.map(|section| join(Some(section))),
                model.status_word(),
            )
        }
    };
    row.set(Column::ReportText, Value::Str(whole));
    // A 2.4 wet read has no status letter: its OBX then end before OBX-11.
    row.set(Column::ReportStatus, Value::text(present(status)));
    for (column, text) in [
        Column::ReportSectionAddendum,
        Column::ReportSectionFindings,
        Column::ReportSectionImpression,
        Column::ReportSectionTechnicianNote,
    ]
    .into_iter()
    .zip(sections)
    {
        row.set(column, Value::Str(text));
    }
}
