//! The schemas are those of a lake that the platform's transformer wrote.

use bench_tables::{ColumnType, Table};
use serde_json::{Value, json};
use std::path::Path;

fn described(ty: ColumnType) -> Value {
    match ty {
        ColumnType::String => json!("string"),
        ColumnType::Integer => json!("integer"),
        ColumnType::Boolean => json!("boolean"),
        ColumnType::Date => json!("date"),
        ColumnType::Timestamp => json!("timestamp"),
        ColumnType::Strings => json!({"array": "string"}),
        ColumnType::Structs(members) => {
            let members: Vec<Value> = members.iter().map(|m| json!([m, "string"])).collect();
            json!({"array": {"struct": members}})
        }
    }
}

#[test]
fn every_table_has_the_columns_types_and_partitions_of_the_platform() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/table-schemas.json");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: ../shared/table-schemas.json is not here");
        return;
    };
    let platform: Value = serde_json::from_str(&text).unwrap();
    for table in Table::ALL {
        let theirs = &platform["tables"][table.name()];
        let columns: Vec<Value> = table
            .columns()
            .iter()
            .map(|column| json!([column.name, described(column.ty)]))
            .collect();
        assert_eq!(theirs["columns"], json!(columns), "{}", table.name());
        assert_eq!(
            theirs["partition_columns"],
            json!(table.partition_columns()),
            "{}",
            table.name()
        );
    }
}
