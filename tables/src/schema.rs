//! Tables, columns, types and keys, as the platform's transformer writes them.
//!
//! Identifier columns (one string column per assigning authority and type, such as `epic_mrn`)
//! are not listed here: they appear with the data. They stand after `patient_ids`.

/// The type of a column. All columns are nullable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ColumnType {
    /// UTF-8 text.
    String,
    /// Signed 32-bit integer.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// Days since 1970-01-01.
    Date,
    /// Microseconds since 1970-01-01T00:00:00Z.
    Timestamp,
    /// Array of strings.
    Strings,
    /// Array of structs whose members are all strings, named here in order.
    Structs(&'static [&'static str]),
}

/// A column of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Column {
    /// Name as it stands in the table.
    pub name: &'static str,
    /// Type of its values.
    pub ty: ColumnType,
}

/// Members of an element of `diagnoses`.
pub const DIAGNOSIS: &[&str] = &[
    "diagnosis_code",
    "diagnosis_code_text",
    "diagnosis_code_coding_system",
];
/// Members of an element of `patient_ids`.
pub const PATIENT_ID: &[&str] = &[
    "id_number",
    "assigning_authority",
    "identifier_type_code",
    "assigning_facility",
];
/// Members of an element of `full_patient_name`.
pub const PATIENT_NAME: &[&str] = &[
    "family_name",
    "given_name",
    "second_and_further_names",
    "suffix",
    "prefix",
    "degree",
    "name_type_code",
];
/// Members of an element of the four arrays of staff (`full_ordering_provider` and the like).
pub const STAFF: &[&str] = &[
    "id_number",
    "family_name",
    "given_name",
    "second_and_further_names",
    "suffix",
    "prefix",
    "degree",
    "name_type_code",
    "assigning_authority",
    "identifier_type_code",
    "assigning_facility",
];

use ColumnType::{Boolean, Date, Integer, String, Strings, Structs, Timestamp};

macro_rules! columns {
    ($(#[$doc:meta])* $enum:ident { $($variant:ident $name:literal $ty:expr;)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $enum {
            $(#[doc = concat!("`", $name, "`")] $variant,)+
        }

        impl $enum {
            /// Every column, in the order of the table.
            pub const ALL: &'static [$enum] = &[$($enum::$variant,)+];
            /// Number of columns.
            pub const COUNT: usize = Self::ALL.len();
            /// Name and type of every column, in the order of the table.
            pub const COLUMNS: [Column; Self::COUNT] = [$(Column { name: $name, ty: $ty },)+];

            /// Position in [`Self::ALL`].
            #[must_use]
            pub const fn index(self) -> usize {
                self as usize
            }

            /// Name as it stands in the table.
            #[must_use]
            pub const fn name(self) -> &'static str {
                Self::COLUMNS[self as usize].name
            }

            /// Type of the column's values.
            #[must_use]
            pub const fn ty(self) -> ColumnType {
                Self::COLUMNS[self as usize].ty
            }

            /// The column of this name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|column| column.name() == name)
            }
        }
    };
}

columns! {
    /// The columns of `reports` that follow from the message, in the table's order; `updated` and
    /// `content_hash`, which the target adds, and the identifier columns are apart.
    ReportColumn {
        ServiceIdentifier "service_identifier" String;
        SourceFile "source_file" String;
        MessageControlId "message_control_id" String;
        SendingFacility "sending_facility" String;
        VersionId "version_id" String;
        Mpi "mpi" String;
        Sex "sex" String;
        Race "race" String;
        ZipOrPostalCode "zip_or_postal_code" String;
        Country "country" String;
        EthnicGroup "ethnic_group" String;
        PatientClass "patient_class" String;
        Orc2PlacerOrderNumber "orc_2_placer_order_number" String;
        Obr2PlacerOrderNumber "obr_2_placer_order_number" String;
        Orc3FillerOrderNumber "orc_3_filler_order_number" String;
        Obr3FillerOrderNumber "obr_3_filler_order_number" String;
        ServiceName "service_name" String;
        ServiceCodingSystem "service_coding_system" String;
        DiagnosticServiceId "diagnostic_service_id" String;
        StudyInstanceUid "study_instance_uid" String;
        BirthDate "birth_date" Date;
        MessageDt "message_dt" Timestamp;
        RequestedDt "requested_dt" Timestamp;
        ObservationDt "observation_dt" Timestamp;
        ObservationEndDt "observation_end_dt" Timestamp;
        ResultsReportStatusChangeDt "results_report_status_change_dt" Timestamp;
        ReportText "report_text" String;
        ReportStatus "report_status" String;
        ReportSectionAddendum "report_section_addendum" String;
        ReportSectionFindings "report_section_findings" String;
        ReportSectionImpression "report_section_impression" String;
        ReportSectionTechnicianNote "report_section_technician_note" String;
        Diagnoses "diagnoses" Structs(DIAGNOSIS);
        DiagnosesConsolidated "diagnoses_consolidated" String;
        PatientIds "patient_ids" Structs(PATIENT_ID);
        FullPatientName "full_patient_name" Structs(PATIENT_NAME);
        FullOrderingProvider "full_ordering_provider" Structs(STAFF);
        FullPrincipalResultInterpreter "full_principal_result_interpreter" Structs(STAFF);
        FullAssistantResultInterpreter "full_assistant_result_interpreter" Structs(STAFF);
        FullTechnician "full_technician" Structs(STAFF);
        PatientName "patient_name" String;
        OrderingProvider "ordering_provider" String;
        PrincipalResultInterpreter "principal_result_interpreter" String;
        AssistantResultInterpreter "assistant_result_interpreter" Strings;
        Technician "technician" Strings;
        Modality "modality" String;
        Year "year" Integer;
    }
}

columns! {
    /// The columns of `reports_curated` that follow from the message, in the table's order;
    /// `updated`, which the target carries over, and the identifier columns are apart.
    /// `reports_latest` has the same columns.
    CuratedColumn {
        ServiceIdentifier "service_identifier" String;
        PrimaryReportIdentifier "primary_report_identifier" String;
        MessageControlId "message_control_id" String;
        SendingFacility "sending_facility" String;
        VersionId "version_id" String;
        Mpi "mpi" String;
        Sex "sex" String;
        Race "race" String;
        ZipOrPostalCode "zip_or_postal_code" String;
        Country "country" String;
        EthnicGroup "ethnic_group" String;
        PatientClass "patient_class" String;
        ServiceName "service_name" String;
        ServiceCodingSystem "service_coding_system" String;
        DiagnosticServiceId "diagnostic_service_id" String;
        StudyInstanceUid "study_instance_uid" String;
        BirthDate "birth_date" Date;
        MessageDt "message_dt" Timestamp;
        RequestedDt "requested_dt" Timestamp;
        ObservationDt "observation_dt" Timestamp;
        ObservationEndDt "observation_end_dt" Timestamp;
        ResultsReportStatusChangeDt "results_report_status_change_dt" Timestamp;
        ReportText "report_text" String;
        ReportStatus "report_status" String;
        ReportSectionAddendum "report_section_addendum" String;
        ReportSectionFindings "report_section_findings" String;
        ReportSectionImpression "report_section_impression" String;
        ReportSectionTechnicianNote "report_section_technician_note" String;
        Diagnoses "diagnoses" Structs(DIAGNOSIS);
        DiagnosesConsolidated "diagnoses_consolidated" String;
        PatientIds "patient_ids" Structs(PATIENT_ID);
        FullPatientName "full_patient_name" Structs(PATIENT_NAME);
        FullOrderingProvider "full_ordering_provider" Structs(STAFF);
        FullPrincipalResultInterpreter "full_principal_result_interpreter" Structs(STAFF);
        FullAssistantResultInterpreter "full_assistant_result_interpreter" Structs(STAFF);
        FullTechnician "full_technician" Structs(STAFF);
        PatientName "patient_name" String;
        OrderingProvider "ordering_provider" String;
        PrincipalResultInterpreter "principal_result_interpreter" String;
        AssistantResultInterpreter "assistant_result_interpreter" Strings;
        Technician "technician" Strings;
        Modality "modality" String;
        Year "year" Integer;
        PlacerOrderNumber "placer_order_number" String;
        PrimaryPatientIdentifier "primary_patient_identifier" String;
        PatientMpi "patient_mpi" String;
        AccessionNumber "accession_number" String;
        PrimaryStudyIdentifier "primary_study_identifier" String;
        PatientAge "patient_age" Integer;
    }
}

impl CuratedColumn {
    /// The column of `reports` that curation carries over unchanged under the same name, if any.
    ///
    /// `source_file` (renamed) and `birth_date` (cleaned) are not among them.
    #[must_use]
    pub fn carried_from(self) -> Option<ReportColumn> {
        match self {
            Self::BirthDate => None,
            other => ReportColumn::from_name(other.name()),
        }
    }
}

const UPDATED: Column = Column {
    name: "updated",
    ty: Timestamp,
};
const CONTENT_HASH: Column = Column {
    name: "content_hash",
    ty: String,
};
const DIAGNOSIS_COLUMNS: [Column; 4] = [
    Column {
        name: "diagnosis_code",
        ty: String,
    },
    Column {
        name: "diagnosis_code_text",
        ty: String,
    },
    Column {
        name: "diagnosis_code_coding_system",
        ty: String,
    },
    Column {
        name: "diagnosis_id",
        ty: String,
    },
];
const MAPPING_COLUMNS: [Column; 5] = [
    Column {
        name: "scout_patient_id",
        ty: String,
    },
    Column {
        name: "primary_report_identifier",
        ty: String,
    },
    Column {
        name: "mpi",
        ty: String,
    },
    Column {
        name: "epic_mrn",
        ty: String,
    },
    Column {
        name: "consistent",
        ty: Boolean,
    },
];
const PREVIOUS_PATIENT: Column = Column {
    name: "previous_scout_patient_id",
    ty: String,
};

/// A table of the lake.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Table {
    /// One row per parsable message.
    Reports,
    /// Reports with an accession, with derived columns.
    Curated,
    /// The latest report per accession.
    Latest,
    /// One row per diagnosis of a latest report.
    Dx,
    /// Which report belongs to which patient.
    Mapping,
    /// Earlier states of mapping rows that a join or a conflict changed.
    MappingHistory,
}

impl Table {
    /// Every table, in the order in which a workflow writes them.
    pub const ALL: [Table; 6] = [
        Table::Reports,
        Table::Curated,
        Table::Latest,
        Table::Mapping,
        Table::MappingHistory,
        Table::Dx,
    ];

    /// Name of the table and of its folder in the lake.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reports => "reports",
            Self::Curated => "reports_curated",
            Self::Latest => "reports_latest",
            Self::Dx => "reports_dx",
            Self::Mapping => "reports_report_patient_mapping",
            Self::MappingHistory => "reports_report_patient_mapping_history",
        }
    }

    /// Columns that the table is partitioned by.
    #[must_use]
    pub const fn partition_columns(self) -> &'static [&'static str] {
        match self {
            Self::Reports => &["year"],
            _ => &[],
        }
    }

    /// Columns that identify a row. A row whose key has a NULL matches no other row.
    /// The history of the mapping has no key: it is a log.
    #[must_use]
    pub const fn key(self) -> &'static [&'static str] {
        match self {
            Self::Reports => &["source_file", "year"],
            Self::Curated => &["primary_report_identifier", "year"],
            Self::Latest => &["accession_number"],
            Self::Dx => &["diagnosis_id"],
            Self::Mapping => &["primary_report_identifier"],
            Self::MappingHistory => &[],
        }
    }

    /// All columns in the table's order, without identifier columns, which follow `patient_ids`
    /// where the table has it (see [`Self::has_identifier_columns`]).
    #[must_use]
    pub fn columns(self) -> Vec<Column> {
        let curated = || {
            let mut columns = CuratedColumn::COLUMNS.to_vec();
            columns.insert(CuratedColumn::Year.index() + 1, UPDATED);
            columns
        };
        match self {
            Self::Reports => {
                let mut columns = ReportColumn::COLUMNS.to_vec();
                columns.extend([UPDATED, CONTENT_HASH]);
                columns
            }
            Self::Curated | Self::Latest => curated(),
            Self::Dx => {
                let mut columns = curated();
                columns.retain(|column| {
                    column.name != CuratedColumn::Diagnoses.name()
                        && column.name != CuratedColumn::DiagnosesConsolidated.name()
                });
                columns.extend(DIAGNOSIS_COLUMNS);
                columns
            }
            Self::Mapping => MAPPING_COLUMNS.to_vec(),
            Self::MappingHistory => {
                let mut columns = MAPPING_COLUMNS.to_vec();
                columns.push(PREVIOUS_PATIENT);
                columns
            }
        }
    }

    /// Whether identifier columns appear in the table as data brings them.
    #[must_use]
    pub const fn has_identifier_columns(self) -> bool {
        !matches!(self, Self::Mapping | Self::MappingHistory)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_column_is_found_by_its_name() {
        for &column in ReportColumn::ALL {
            assert_eq!(ReportColumn::from_name(column.name()), Some(column));
        }
        assert_eq!(ReportColumn::from_name("updated"), None);
    }

    #[test]
    fn curated_keeps_all_of_reports_but_the_order_numbers_the_hash_and_the_renamed_key() {
        let curated: Vec<&str> = CuratedColumn::ALL.iter().map(|c| c.name()).collect();
        let gone: Vec<&str> = ReportColumn::ALL
            .iter()
            .map(|column| column.name())
            .filter(|name| !curated.contains(name))
            .collect();
        assert_eq!(
            gone,
            [
                "source_file",
                "orc_2_placer_order_number",
                "obr_2_placer_order_number",
                "orc_3_filler_order_number",
                "obr_3_filler_order_number",
            ]
        );
    }
}
