//! Tables that sort. The order is the page's script's; without it they are plain tables.

use super::words::swatch;
use maud::{Markup, html};

/// A table.
pub(super) struct Sheet {
    /// What it holds, for those who do not see what stands around it.
    pub(super) caption: String,
    pub(super) columns: Vec<Column>,
    pub(super) rows: Vec<Line>,
}

/// A column: its heading, and the column of the evidence table whose look it has.
pub(super) struct Column {
    pub(super) name: String,
    pub(super) look: Option<u32>,
}

/// A row. Its first cell is its heading.
#[derive(Default)]
pub(super) struct Line {
    pub(super) cells: Vec<Entry>,
    /// Values are sorted within groups of what can be compared.
    pub(super) group: Option<usize>,
    /// Whether another topic begins here.
    pub(super) begins: bool,
}

/// A cell: what it shows, and the number by which it is sorted, if it is one.
pub(super) struct Entry {
    pub(super) text: String,
    pub(super) value: Option<f64>,
    /// Its unit's name, where the script shows the same values.
    pub(super) unit: Option<&'static str>,
}

impl Column {
    pub(super) fn plain(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            look: None,
        }
    }
}

impl Entry {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            value: None,
            unit: None,
        }
    }

    pub(super) fn value(text: impl Into<String>, value: f64) -> Self {
        Self {
            value: Some(value),
            ..Self::text(text)
        }
    }
}

impl Sheet {
    pub(super) fn html(&self) -> Markup {
        html! {
            div.scroll role="region" tabindex="0" aria-label=(self.caption) {
                table data-sortable {
                    caption.unseen { (self.caption) }
                    thead {
                        tr {
                            @for (at, column) in self.columns.iter().enumerate() {
                                th scope="col" class=[(at > 0).then_some("number")] {
                                    span.head {
                                        @if let Some(look) = column.look { (swatch(look)) }
                                        span { (column.name) }
                                    }
                                }
                            }
                        }
                    }
                    tbody {
                        @for row in &self.rows {
                            tr class=[row.begins.then_some("begins")] data-group=[row.group] {
                                @for (at, cell) in row.cells.iter().enumerate() {
                                    @if at == 0 {
                                        th scope="row" data-value=[cell.value] { (cell.text) }
                                    } @else {
                                        td.number data-value=[cell.value] data-unit=[cell.unit] { (cell.text) }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
