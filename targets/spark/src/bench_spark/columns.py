"""The columns of the platform's tables, in their order, with Spark's types.

Identifier columns are not among them: any batch may bring new ones, always texts.
"""

from pyspark.sql.types import (
    ArrayType,
    BooleanType,
    DataType,
    DateType,
    IntegerType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from bench_spark.message import DIAGNOSIS, PATIENT_ID, PATIENT_NAME, STAFF

REPORTS = "reports"
CURATED = "reports_curated"
LATEST = "reports_latest"
DX = "reports_dx"
MAPPING = "reports_report_patient_mapping"
HISTORY = "reports_report_patient_mapping_history"
TABLES = (REPORTS, CURATED, LATEST, DX, MAPPING, HISTORY)

_TEXT = StringType()


def _structs(members: tuple[str, ...]) -> DataType:
    return ArrayType(StructType([StructField(name, _TEXT) for name in members]))


_TYPES: dict[str, DataType] = {
    "birth_date": DateType(),
    "message_dt": TimestampType(),
    "requested_dt": TimestampType(),
    "observation_dt": TimestampType(),
    "observation_end_dt": TimestampType(),
    "results_report_status_change_dt": TimestampType(),
    "updated": TimestampType(),
    "year": IntegerType(),
    "patient_age": IntegerType(),
    "consistent": BooleanType(),
    "diagnoses": _structs(DIAGNOSIS),
    "patient_ids": _structs(PATIENT_ID),
    "full_patient_name": _structs(PATIENT_NAME),
    "full_ordering_provider": _structs(STAFF),
    "full_principal_result_interpreter": _structs(STAFF),
    "full_assistant_result_interpreter": _structs(STAFF),
    "full_technician": _structs(STAFF),
    "assistant_result_interpreter": ArrayType(_TEXT),
    "technician": ArrayType(_TEXT),
}

# What a message says, without what the engine adds.
MESSAGE = (
    "service_identifier",
    "source_file",
    "message_control_id",
    "sending_facility",
    "version_id",
    "mpi",
    "sex",
    "race",
    "zip_or_postal_code",
    "country",
    "ethnic_group",
    "patient_class",
    "orc_2_placer_order_number",
    "obr_2_placer_order_number",
    "orc_3_filler_order_number",
    "obr_3_filler_order_number",
    "service_name",
    "service_coding_system",
    "diagnostic_service_id",
    "study_instance_uid",
    "birth_date",
    "message_dt",
    "requested_dt",
    "observation_dt",
    "observation_end_dt",
    "results_report_status_change_dt",
    "report_text",
    "report_status",
    "report_section_addendum",
    "report_section_findings",
    "report_section_impression",
    "report_section_technician_note",
    "diagnoses",
    "diagnoses_consolidated",
    "patient_ids",
    "full_patient_name",
    "full_ordering_provider",
    "full_principal_result_interpreter",
    "full_assistant_result_interpreter",
    "full_technician",
    "patient_name",
    "ordering_provider",
    "principal_result_interpreter",
    "assistant_result_interpreter",
    "technician",
    "modality",
    "year",
)
ORDER_NUMBERS = (
    "orc_2_placer_order_number",
    "obr_2_placer_order_number",
    "orc_3_filler_order_number",
    "obr_3_filler_order_number",
)
_REPORT = (*MESSAGE, "updated", "content_hash")
_CURATED = (
    *(
        "primary_report_identifier" if name == "source_file" else name
        for name in MESSAGE
        if name not in ORDER_NUMBERS
    ),
    "updated",
    "placer_order_number",
    "primary_patient_identifier",
    "patient_mpi",
    "accession_number",
    "primary_study_identifier",
    "patient_age",
)
_DX = (
    *(name for name in _CURATED if name not in ("diagnoses", "diagnoses_consolidated")),
    *DIAGNOSIS,
    "diagnosis_id",
)
_MAPPING = ("scout_patient_id", "primary_report_identifier", "mpi", "epic_mrn", "consistent")
COLUMNS: dict[str, tuple[str, ...]] = {
    REPORTS: _REPORT,
    CURATED: _CURATED,
    LATEST: _CURATED,
    DX: _DX,
    MAPPING: _MAPPING,
    HISTORY: (*_MAPPING, "previous_scout_patient_id"),
}


def type_of(column: str) -> DataType:
    """Type of a column; that of an identifier column is a text."""
    return _TYPES.get(column, _TEXT)


def schema(columns: tuple[str, ...]) -> StructType:
    """A schema of columns, all of which may be NULL."""
    return StructType([StructField(name, type_of(name)) for name in columns])


def table_schema(table: str) -> StructType:
    """Schema of a table without identifier columns."""
    return schema(COLUMNS[table])
