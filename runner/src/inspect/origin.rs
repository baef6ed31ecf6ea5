//! Which field each column of `reports` is read from.

use bench_tables::ReportColumn;

/// Where a column's value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// One field, or a part of one; shown beside what the standard reads there.
    Field(&'static str),
    /// This field of every segment of that name; shown beside what the standard reads there.
    Every(&'static str, usize),
    /// Follows from a field that another column shows in full.
    Follows(&'static str),
    /// Follows from the log's name and the message's number.
    Log,
}

impl Origin {
    /// The origin of a column.
    pub(super) const fn of(column: ReportColumn) -> Self {
        use ReportColumn as Column;
        match column {
            Column::SourceFile => Self::Log,
            Column::ServiceIdentifier => Self::Field("OBR-4.1"),
            Column::MessageControlId => Self::Field("MSH-10.1"),
            Column::SendingFacility => Self::Field("MSH-4.1"),
            Column::VersionId => Self::Field("MSH-12.1"),
            Column::Mpi => Self::Field("PID-2.1"),
            Column::Sex => Self::Field("PID-8.1"),
            Column::Race => Self::Field("PID-10.1"),
            Column::ZipOrPostalCode => Self::Field("PID-11.5"),
            Column::Country => Self::Field("PID-11.6"),
            Column::EthnicGroup => Self::Field("PID-22.1"),
            Column::PatientClass => Self::Field("PV1-2.1"),
            Column::Orc2PlacerOrderNumber => Self::Field("ORC-2.1"),
            Column::Obr2PlacerOrderNumber => Self::Field("OBR-2.1"),
            Column::Orc3FillerOrderNumber => Self::Field("ORC-3.1"),
            Column::Obr3FillerOrderNumber => Self::Field("OBR-3.1"),
            Column::ServiceName => Self::Field("OBR-4.2"),
            Column::ServiceCodingSystem => Self::Field("OBR-4.3"),
            Column::DiagnosticServiceId => Self::Field("OBR-24.1"),
            Column::StudyInstanceUid => Self::Field("ZDS-1.1"),
            Column::BirthDate => Self::Field("PID-7.1"),
            Column::MessageDt => Self::Field("MSH-7.1"),
            Column::RequestedDt => Self::Field("OBR-6.1"),
            Column::ObservationDt => Self::Field("OBR-7.1"),
            Column::ObservationEndDt => Self::Field("OBR-8.1"),
            Column::ResultsReportStatusChangeDt => Self::Field("OBR-22.1"),
            Column::ReportText => Self::Every("OBX", 5),
            Column::ReportStatus => Self::Field("OBX-11"),
            Column::ReportSectionAddendum
            | Column::ReportSectionFindings
            | Column::ReportSectionImpression
            | Column::ReportSectionTechnicianNote => Self::Follows("OBX-5"),
            Column::Diagnoses => Self::Every("DG1", 3),
            Column::DiagnosesConsolidated => Self::Follows("DG1-3.2"),
            Column::PatientIds => Self::Field("PID-3"),
            Column::FullPatientName => Self::Field("PID-5"),
            Column::FullOrderingProvider => Self::Field("OBR-16"),
            Column::FullPrincipalResultInterpreter => Self::Field("OBR-32"),
            Column::FullAssistantResultInterpreter => Self::Field("OBR-33"),
            Column::FullTechnician => Self::Field("OBR-34"),
            Column::PatientName => Self::Follows("PID-5"),
            Column::OrderingProvider => Self::Follows("OBR-16"),
            Column::PrincipalResultInterpreter => Self::Follows("OBR-32"),
            Column::AssistantResultInterpreter => Self::Follows("OBR-33"),
            Column::Technician => Self::Follows("OBR-34"),
            Column::Modality => Self::Follows("OBR-4.1"),
            Column::Year => Self::Follows("MSH-7.1"),
        }
    }

    /// How the origin is written. Component 1 goes without saying.
    pub(super) fn name(self) -> String {
        match self {
            Self::Field(path) | Self::Follows(path) => {
                path.strip_suffix(".1").unwrap_or(path).to_owned()
            }
            Self::Every(segment, field) => format!("{segment}-{field}"),
            Self::Log => "log".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bench_hl7::FieldPath;

    #[test]
    fn every_origin_is_a_field_path() {
        for &column in ReportColumn::ALL {
            if let Origin::Field(path) | Origin::Follows(path) = Origin::of(column) {
                let parsed: FieldPath = path.parse().unwrap();
                assert_eq!(parsed.to_string(), path);
            }
        }
    }
}
