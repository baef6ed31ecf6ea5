//! The mapping of reports to patients: vertices, joined by reports into components.
//!
//! Every id is a vertex, every report with two ids an edge. The end state needs no more than a
//! union-find over the vertices. Its history does: which rows a join or a conflict moved depends
//! on what stood in the table when it was found, so a batch goes through the five stages of the
//! platform. Ids of patients are not modelled: a component *is* the patient, and whichever of
//! several ids survives a join, the partition is the same. For the history this leaves a range,
//! see [`Range`].

use super::{MappingCounts, Range};
use crate::strings::Strings;
use std::collections::{HashMap, HashSet};

/// Kind of a vertex: the first byte of its text, so that an MPI and an MRN of the same digits differ.
pub(super) const MPI: char = 'm';
/// See [`MPI`].
pub(super) const EPIC_MRN: char = 'e';
/// The vertex that all reports with neither id share.
const NEITHER: u32 = 0;

/// The vertices of a report.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Ids {
    pub(super) mpi: Option<u32>,
    pub(super) epic_mrn: Option<u32>,
}

impl Ids {
    fn vertices(self) -> impl Iterator<Item = u32> {
        [self.mpi, self.epic_mrn].into_iter().flatten()
    }

    fn anchor(self) -> u32 {
        self.vertices().next().unwrap_or(NEITHER)
    }
}

/// A vertex; where it is the root of its component, also what the component holds.
#[derive(Clone, Copy)]
struct Vertex {
    parent: u32,
    mpis: u32,
    epic_mrns: u32,
    rows: u32,
    /// First and last report, where `rows` is not 0.
    head: u32,
    tail: u32,
}

impl Vertex {
    fn consistent(&self) -> bool {
        self.mpis <= 1 && self.epic_mrns <= 1
    }
}

#[derive(Clone, Copy)]
struct Row {
    ids: Ids,
    /// The next report of the component; meaningless at its tail.
    next: u32,
}

/// New reports of one batch with the same two ids. One of them, any, goes through the stages.
struct Alike {
    ids: Ids,
    first: u32,
    others: Vec<u32>,
}

/// A component as it stood before the batch's reports with both ids joined it: its rows share one
/// patient id.
struct Before {
    head: u32,
    rows: u32,
    consistent: bool,
}

#[derive(Default)]
struct Web {
    before: Vec<Before>,
    new: Vec<u32>,
}

pub(super) struct Mapping {
    texts: Strings,
    key: String,
    vertices: Vec<Vertex>,
    /// By number of the source file.
    rows: Vec<Option<Row>>,
    history: Vec<(u16, u16)>,
    /// Every pair of ids that stands in the table.
    pairs: HashSet<Ids>,
    count: u64,
    history_count: Range,
}

impl Mapping {
    pub(super) fn new() -> Self {
        let mut mapping = Self {
            texts: Strings::default(),
            key: String::new(),
            vertices: Vec::new(),
            rows: Vec::new(),
            history: Vec::new(),
            pairs: HashSet::new(),
            count: 0,
            history_count: Range::default(),
        };
        mapping.vertex('-', "");
        mapping
    }

    /// The vertex of an id.
    pub(super) fn vertex(&mut self, kind: char, id: &str) -> u32 {
        self.key.clear();
        self.key.push(kind);
        self.key.push_str(id);
        let number = self.texts.intern(&self.key);
        if number as usize == self.vertices.len() {
            self.vertices.push(Vertex {
                parent: number,
                mpis: u32::from(kind == MPI),
                epic_mrns: u32::from(kind == EPIC_MRN),
                rows: 0,
                head: 0,
                tail: 0,
            });
        }
        number
    }

    /// Adds the reports of one batch that are not yet in the table.
    pub(super) fn add(&mut self, batch: impl IntoIterator<Item = (u32, Ids)>) -> MappingCounts {
        let mut counts = MappingCounts::default();
        let mut deferred = Vec::new();
        let mut alike: Vec<Alike> = Vec::new();
        let mut known: HashMap<Ids, usize> = HashMap::new();
        for (source, ids) in batch {
            if self.row(source).is_some() {
                counts.skipped += 1;
                continue;
            }
            counts.inserted += 1;
            if self.pairs.contains(&ids) {
                deferred.push((source, ids));
            } else if let Some(&at) = known.get(&ids) {
                alike[at].others.push(source);
                deferred.push((source, ids));
            } else {
                known.insert(ids, alike.len());
                alike.push(Alike {
                    ids,
                    first: source,
                    others: Vec::new(),
                });
            }
        }

        // Stages 2 and 3: reports that touch nothing, then reports with one id.
        let (disjoint, linked) = self.split_disjoint(alike);
        let (single, double): (Vec<Alike>, Vec<Alike>) = linked
            .into_iter()
            .partition(|report| report.ids.vertices().count() == 1);
        let mut others: HashMap<u32, Vec<u32>> = HashMap::new();
        for report in disjoint.into_iter().chain(single) {
            self.place(report.first, report.ids);
            others.insert(report.first, report.others);
        }

        // Stage 4: reports with both ids, component by component.
        let mut webs: HashMap<u32, Web> = HashMap::new();
        for report in &double {
            let mut roots: Vec<u32> = report.ids.vertices().map(|v| self.root(v)).collect();
            roots.dedup();
            let mut web = Web::default();
            for root in roots {
                let joined = webs.remove(&root).unwrap_or_else(|| self.web_of(root));
                web.before.extend(joined.before);
                web.new.extend(joined.new);
            }
            web.new.push(report.first);
            webs.insert(self.unite(report.ids), web);
        }
        for report in double {
            self.place(report.first, report.ids);
            others.insert(report.first, report.others);
        }
        for (root, web) in webs {
            let moved = self.moved(root, &web, &others);
            counts.history.least += moved.least;
            counts.history.most += moved.most;
        }

        // Stage 5.
        for (source, ids) in deferred {
            self.place(source, ids);
        }
        self.count += counts.inserted;
        self.history_count.least += counts.history.least;
        self.history_count.most += counts.history.most;
        counts
    }

    /// Stage 2: which reports share no id with the table nor, where they do not share one with the
    /// table, with each other. This is the platform's rule to the letter; a report that shares an
    /// id only with a report that itself touches the table counts as disjoint.
    fn split_disjoint(&self, alike: Vec<Alike>) -> (Vec<Alike>, Vec<Alike>) {
        let touches = |report: &Alike| {
            report
                .ids
                .vertices()
                .any(|vertex| self.component(vertex).rows > 0)
        };
        let mut uses: HashMap<u32, usize> = HashMap::new();
        for report in alike.iter().filter(|report| !touches(report)) {
            for vertex in report.ids.vertices() {
                *uses.entry(vertex).or_default() += 1;
            }
        }
        alike.into_iter().partition(|report| {
            !touches(report) && report.ids.vertices().all(|vertex| uses[&vertex] == 1)
        })
    }

    fn web_of(&self, root: u32) -> Web {
        let component = &self.vertices[root as usize];
        let before = (component.rows > 0).then_some(Before {
            head: component.head,
            rows: component.rows,
            consistent: component.consistent(),
        });
        Web {
            before: before.into_iter().collect(),
            new: Vec::new(),
        }
    }

    /// Counts the rows that a web sends to the history, whichever of its patient ids survives.
    fn moved(&mut self, root: u32, web: &Web, others: &HashMap<u32, Vec<u32>>) -> Range {
        let conflict = !self.component(root).consistent();
        if !conflict && web.before.len() < 2 {
            return Range::default();
        }
        let mut certain = web.new.clone();
        let mut open = Vec::new();
        // Rows that stay out of the history if the id of this component survives.
        let mut spared = Vec::new();
        for before in &web.before {
            let rows = self.chain(before);
            if conflict && before.consistent {
                certain.extend(rows);
                spared.push(0);
            } else {
                spared.push(rows.len() as u64);
                // The only id there is survives for certain.
                if web.before.len() > 1 {
                    open.extend(rows);
                }
            }
        }
        for &source in &certain {
            self.remember(source, true, others);
        }
        for &source in &open {
            self.remember(source, false, others);
        }
        let open = open.len() as u64;
        let certain = certain.len() as u64;
        if web.before.len() < 2 {
            return Range::exactly(certain);
        }
        let all = certain + open;
        Range {
            least: all - spared.iter().max().copied().unwrap_or(0),
            most: all - spared.iter().min().copied().unwrap_or(0),
        }
    }

    fn chain(&self, before: &Before) -> Vec<u32> {
        let mut at = before.head;
        (0..before.rows)
            .map(|_| {
                let source = at;
                at = self.row(source).expect("a chained row stands").next;
                source
            })
            .collect()
    }

    /// Notes a history row of a report. Where several new reports are alike, any of them may have
    /// been the one that went through the stages.
    fn remember(&mut self, source: u32, certain: bool, others: &HashMap<u32, Vec<u32>>) {
        let others = others.get(&source).map_or(&[][..], Vec::as_slice);
        let certain = certain && others.is_empty();
        for &source in [source].iter().chain(others) {
            let at = source as usize;
            if self.history.len() <= at {
                self.history.resize(at + 1, (0, 0));
            }
            let (least, most) = &mut self.history[at];
            *least = least.saturating_add(u16::from(certain));
            *most = most.saturating_add(1);
        }
    }

    /// Adds a row to the component of its ids, joining two if need be.
    fn place(&mut self, source: u32, ids: Ids) {
        let at = source as usize;
        if self.rows.len() <= at {
            self.rows.resize(at + 1, None);
        }
        let root = self.unite(ids) as usize;
        if self.vertices[root].rows == 0 {
            self.vertices[root].head = source;
        } else {
            self.set_next(self.vertices[root].tail, source);
        }
        self.vertices[root].tail = source;
        self.vertices[root].rows += 1;
        self.rows[at] = Some(Row { ids, next: source });
        self.pairs.insert(ids);
    }

    fn set_next(&mut self, source: u32, next: u32) {
        if let Some(row) = &mut self.rows[source as usize] {
            row.next = next;
        }
    }

    /// The root of the component in which the ids are joined.
    fn unite(&mut self, ids: Ids) -> u32 {
        let root = self.root(ids.anchor());
        let Some(epic_mrn) = ids.epic_mrn else {
            return root;
        };
        let other = self.root(epic_mrn);
        if root == other {
            return root;
        }
        let size = |vertex: u32| {
            let component = &self.vertices[vertex as usize];
            component.mpis + component.epic_mrns
        };
        let (root, child) = if size(root) < size(other) {
            (other, root)
        } else {
            (root, other)
        };
        let joined = self.vertices[child as usize];
        let into = self.vertices[root as usize];
        if joined.rows > 0 && into.rows > 0 {
            self.set_next(into.tail, joined.head);
        }
        let into = &mut self.vertices[root as usize];
        if joined.rows > 0 {
            if into.rows == 0 {
                into.head = joined.head;
            }
            into.tail = joined.tail;
        }
        into.rows += joined.rows;
        into.mpis += joined.mpis;
        into.epic_mrns += joined.epic_mrns;
        self.vertices[child as usize].parent = root;
        root
    }

    /// Joining by size keeps every path short, so that reading needs no path compression.
    fn root(&self, mut vertex: u32) -> u32 {
        while self.vertices[vertex as usize].parent != vertex {
            vertex = self.vertices[vertex as usize].parent;
        }
        vertex
    }

    fn component(&self, vertex: u32) -> &Vertex {
        &self.vertices[self.root(vertex) as usize]
    }

    fn row(&self, source: u32) -> Option<&Row> {
        self.rows.get(source as usize)?.as_ref()
    }

    pub(super) fn rows(&self) -> u64 {
        self.count
    }

    pub(super) fn history_rows(&self) -> Range {
        self.history_count
    }

    pub(super) fn patients(&self) -> u64 {
        let is_patient = |(number, vertex): &(usize, &Vertex)| {
            vertex.parent as usize == *number && vertex.rows > 0
        };
        self.vertices.iter().enumerate().filter(is_patient).count() as u64
    }

    /// The row of a report, as it is shown to the outside.
    pub(super) fn expected(&self, source: u32) -> Option<Shown<'_>> {
        let row = self.row(source)?;
        let patient = self.root(row.ids.anchor());
        let text = |vertex: u32| &self.texts.get(vertex)[1..];
        let (least, most) = self.history.get(source as usize).copied().unwrap_or((0, 0));
        Some(Shown {
            mpi: row.ids.mpi.map(text),
            epic_mrn: row.ids.epic_mrn.map(text),
            patient,
            consistent: self.vertices[patient as usize].consistent(),
            history: Range {
                least: least.into(),
                most: most.into(),
            },
        })
    }
}

pub(super) struct Shown<'a> {
    pub(super) mpi: Option<&'a str>,
    pub(super) epic_mrn: Option<&'a str>,
    pub(super) patient: u32,
    pub(super) consistent: bool,
    pub(super) history: Range,
}
