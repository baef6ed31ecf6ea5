//! Names, staff, procedures and pieces of text, drawn once per data set.
//!
//! A message picks from here by index and copies; nothing is formatted or wrapped on the way.

use crate::draw::{Draw, Stream};
use fake::Fake;
use fake::faker::address::raw::{CityName, StreetName};
use fake::faker::name::raw::{FirstName, LastName};
use fake::locales::EN;
use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Sites that send 2.3 and 2.4 messages, and 2.7 messages with an EPIC number.
pub(crate) const SITES: [&str; 3] = ["BJH", "BJWC", "SLCH"];
/// The site whose 2.7 messages carry a number of its own.
pub(crate) const MBMC: &str = "MBMC";

const PHYSICIANS: usize = 15;
const TECHNICIANS: usize = 10;
const NAMES: usize = 1_200;
/// Report text breaks at the last space before this column.
const WIDTH: usize = 70;
/// The longest paragraph, in lines.
pub(crate) const LONGEST: usize = 9;
const VARIANTS: usize = 14;

/// A procedure that can be ordered.
pub(crate) struct Procedure {
    pub(crate) code: String,
    pub(crate) name: String,
    pub(crate) alternative: String,
    /// `None` where the platform's map has no modality for the code.
    pub(crate) modality: Option<String>,
    pub(crate) body_part: String,
    region: usize,
}

/// A physician or technician.
pub(crate) struct Person {
    /// The components of the field, in order, without trailing empty ones.
    pub(crate) field: String,
    pub(crate) id: String,
    pub(crate) family: String,
    pub(crate) given: String,
    pub(crate) middle: String,
    pub(crate) degree: String,
    pub(crate) authority: String,
    pub(crate) facility: String,
    /// Given and family name.
    pub(crate) full_name: String,
}

impl Person {
    fn new(id: String, site: &str, physician: bool, names: &Names, draw: &mut Draw) -> Self {
        let family = draw.pick(&names.family).clone();
        let given = draw.pick(&names.given).clone();
        let middle = format!("{}.", (b'A' + draw.below(26) as u8) as char);
        let degree = if physician { "M.D." } else { "" }.to_owned();
        Self {
            field: format!("{id}^{family}^{given}^{middle}^^^{degree}^^{site}^^^^{site}HOSP"),
            full_name: format!("{given} {family}"),
            facility: format!("{site}HOSP"),
            authority: site.to_owned(),
            id,
            family,
            given,
            middle,
            degree,
        }
    }
}

/// The staff of one site.
pub(crate) struct Staff {
    pub(crate) physicians: Vec<Person>,
    pub(crate) technicians: Vec<Person>,
}

/// A diagnosis with both its codes.
pub(crate) struct Diagnosis {
    pub(crate) icd10: String,
    pub(crate) icd9: String,
    pub(crate) meaning: String,
}

/// Family and given names in upper case, without characters beyond ASCII.
pub(crate) struct Names {
    pub(crate) family: Vec<String>,
    pub(crate) given: Vec<String>,
    pub(crate) accented: Vec<String>,
}

/// Where in a report a paragraph may stand.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    Findings = 0,
    Impression = 1,
}

/// A paragraph: wrapped, escaped lines.
pub(crate) struct Paragraph(Vec<String>);

impl Paragraph {
    pub(crate) fn lines(&self) -> &[String] {
        &self.0
    }
}

pub(crate) struct Pools {
    pub(crate) names: Names,
    pub(crate) streets: Vec<String>,
    pub(crate) cities: Vec<String>,
    pub(crate) procedures: Vec<Procedure>,
    pub(crate) diagnoses: Vec<Diagnosis>,
    /// Staff of each of [`SITES`], then of [`MBMC`].
    pub(crate) staff: Vec<Staff>,
    /// By region, part, number of lines less one.
    paragraphs: Vec<Paragraph>,
    regions: usize,
}

impl Pools {
    pub(crate) fn new(seed: u64) -> Self {
        let names = names(seed);
        let mut rng = fake_rng(seed, 2);
        let streets = distinct(120, || StreetName(EN).fake_with_rng(&mut rng));
        let mut rng = fake_rng(seed, 3);
        let cities = distinct(60, || CityName(EN).fake_with_rng(&mut rng));
        let regions = regions();
        let procedures = procedures(&regions);
        let staff = staff(seed, &names);
        let paragraphs = paragraphs(seed, &regions);
        Self {
            names,
            streets,
            cities,
            procedures,
            diagnoses: diagnoses(),
            staff,
            paragraphs,
            regions: regions.len(),
        }
    }

    /// A paragraph about a procedure, of `lines` lines (1 to [`LONGEST`]).
    pub(crate) fn paragraph(
        &self,
        procedure: &Procedure,
        part: Part,
        lines: usize,
        draw: &mut Draw,
    ) -> &Paragraph {
        debug_assert!(procedure.region < self.regions && (1..=LONGEST).contains(&lines));
        let shelf = (procedure.region * 2 + part as usize) * LONGEST + lines - 1;
        &self.paragraphs[shelf * VARIANTS + draw.index(VARIANTS)]
    }
}

fn fake_rng(seed: u64, pool: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(Draw::new(seed, Stream::PoolNames, pool).bits())
}

/// Upper-case words of a faker, each once, kept to letters, digits, spaces, `'` and `-`.
fn distinct(count: usize, mut make: impl FnMut() -> String) -> Vec<String> {
    let mut words: Vec<String> = Vec::with_capacity(count);
    let mut seen = std::collections::HashSet::new();
    // A list that holds fewer words than asked for gives what it has.
    for _ in 0..count * 20 {
        if words.len() == count {
            break;
        }
        let word: String = make()
            .chars()
            .filter(|c| c.is_ascii_alphanumeric() || " '-".contains(*c))
            .collect::<String>()
            .to_uppercase();
        if !word.is_empty() && seen.insert(word.clone()) {
            words.push(word);
        }
    }
    words
}

fn names(seed: u64) -> Names {
    let mut rng = fake_rng(seed, 0);
    let family = distinct(NAMES, || LastName(EN).fake_with_rng(&mut rng));
    let mut rng = fake_rng(seed, 1);
    let given = distinct(NAMES, || FirstName(EN).fake_with_rng(&mut rng));
    Names {
        family,
        given,
        accented: lines(include_str!("../data/accented_names.txt")),
    }
}

fn staff(seed: u64, names: &Names) -> Vec<Staff> {
    let sites = SITES.iter().chain([&MBMC]);
    sites
        .enumerate()
        .map(|(site, name)| {
            let mut draw = Draw::new(seed, Stream::PoolStaff, site as u64);
            let id = |prefix: char, at: usize| format!("{prefix}{}", 1_458_000 + site * 100 + at);
            Staff {
                physicians: (0..PHYSICIANS)
                    .map(|at| Person::new(id('D', at), name, true, names, &mut draw))
                    .collect(),
                technicians: (0..TECHNICIANS)
                    .map(|at| Person::new(id('T', at), name, false, names, &mut draw))
                    .collect(),
            }
        })
        .collect()
}

struct Region {
    name: String,
    parts: Vec<String>,
}

fn regions() -> Vec<Region> {
    rows(include_str!("../data/regions.csv"))
        .into_iter()
        .map(|[name, parts]| Region {
            name,
            parts: parts.split(';').map(str::to_owned).collect(),
        })
        .collect()
}

fn procedures(regions: &[Region]) -> Vec<Procedure> {
    rows(include_str!("../data/procedures.csv"))
        .into_iter()
        .map(
            |[code, name, alternative, modality, body_part, region]| Procedure {
                code,
                name,
                alternative,
                modality: Some(modality).filter(|modality| !modality.is_empty()),
                body_part,
                region: regions
                    .iter()
                    .position(|known| known.name == region)
                    .expect("every procedure's region is listed"),
            },
        )
        .collect()
}

fn diagnoses() -> Vec<Diagnosis> {
    rows(include_str!("../data/diagnoses.csv"))
        .into_iter()
        .map(|[icd10, icd9, meaning]| Diagnosis {
            icd10,
            icd9,
            meaning,
        })
        .collect()
}

fn lines(text: &str) -> Vec<String> {
    text.lines().map(str::to_owned).collect()
}

/// The rows of a shipped CSV file of N columns, without its header.
fn rows<const N: usize>(text: &str) -> Vec<[String; N]> {
    csv::Reader::from_reader(text.as_bytes())
        .records()
        .map(|record| {
            let record = record.expect("the shipped lists are valid");
            std::array::from_fn(|column| record[column].to_owned())
        })
        .collect()
}

fn paragraphs(seed: u64, regions: &[Region]) -> Vec<Paragraph> {
    let sentences = [
        lines(include_str!("../data/findings.txt")),
        lines(include_str!("../data/impressions.txt")),
    ];
    let mut paragraphs = Vec::with_capacity(regions.len() * 2 * LONGEST * VARIANTS);
    for region in regions {
        for sentences in &sentences {
            for length in 1..=LONGEST {
                for _ in 0..VARIANTS {
                    let index = paragraphs.len() as u64;
                    let mut draw = Draw::new(seed, Stream::PoolText, index);
                    paragraphs.push(paragraph(region, sentences, length, &mut draw));
                }
            }
        }
    }
    paragraphs
}

/// A paragraph of exactly so many lines: sentences are added while they fit, and one that would
/// make a line too many is drawn again.
fn paragraph(region: &Region, sentences: &[String], length: usize, draw: &mut Draw) -> Paragraph {
    let mut lines: Vec<String> = Vec::new();
    let mut tries = 0;
    loop {
        let template: &String = draw.pick(sentences);
        let sentence = sentence(region, template, draw);
        let before = (lines.len(), lines.last().map_or(0, String::len));
        wrap(&mut lines, &sentence);
        tries += 1;
        if lines.len() > length && tries <= 60 && tries % 8 == 0 {
            // Nothing short enough came: begin again.
            lines.clear();
        } else if lines.len() > length && tries <= 60 {
            // Take the sentence back.
            lines.truncate(before.0);
            if let Some(last) = lines.last_mut() {
                last.truncate(before.1);
            }
        } else {
            // If no sentence fits what is left, the last one is cut at the paragraph's end.
            lines.truncate(length);
        }
        // A last line is well filled, as those of the reference's texts are.
        let is_full = lines.last().is_some_and(|line| line.len() >= 44);
        if lines.len() == length && (is_full || tries > 60) {
            return Paragraph(lines.into_iter().map(|line| escape(&line)).collect());
        }
    }
}

fn sentence(region: &Region, template: &str, draw: &mut Draw) -> String {
    let size = format!("{}.{} cm", draw.below(4), 1 + draw.below(9));
    let part: &String = draw.pick(&region.parts);
    template.replace("{part}", part).replace("{size}", &size)
}

fn wrap(lines: &mut Vec<String>, sentence: &str) {
    for word in sentence.split(' ') {
        match lines.last_mut() {
            Some(line) if line.len() + 1 + word.len() <= WIDTH => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
}

/// Free text in a field: delimiters are written as escape sequences.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '|' => escaped.push_str("\\F\\"),
            '^' => escaped.push_str("\\S\\"),
            '~' => escaped.push_str("\\R\\"),
            '\\' => escaped.push_str("\\E\\"),
            '&' => escaped.push_str("\\T\\"),
            other => escaped.push(other),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pools_hold_what_the_data_set_needs() {
        let pools = Pools::new(1);
        assert_eq!(pools.procedures.len(), 38);
        assert_eq!(pools.staff.len(), 4);
        assert!(
            pools.names.family.len() > 300,
            "{}",
            pools.names.family.len()
        );
        assert!(pools.names.given.len() > 300, "{}", pools.names.given.len());
        for staff in &pools.staff {
            assert_eq!((staff.physicians.len(), staff.technicians.len()), (15, 10));
        }
    }

    #[test]
    fn a_paragraph_has_the_asked_number_of_lines_and_none_is_too_wide() {
        let pools = Pools::new(1);
        let mut draw = Draw::new(1, Stream::Study, 0);
        for procedure in &pools.procedures {
            for length in 1..=LONGEST {
                let lines = pools
                    .paragraph(procedure, Part::Findings, length, &mut draw)
                    .lines();
                assert_eq!(lines.len(), length);
                assert!(
                    lines
                        .iter()
                        .all(|line| line.replace("\\T\\", "&").len() <= WIDTH)
                );
            }
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_pools() {
        let (a, b) = (Pools::new(5), Pools::new(5));
        assert_eq!(a.names.family, b.names.family);
        assert_eq!(a.streets, b.streets);
        assert_eq!(
            a.staff[0].physicians[3].field,
            b.staff[0].physicians[3].field
        );
    }
}
