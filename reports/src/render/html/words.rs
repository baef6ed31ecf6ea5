//! Sentences of a report as HTML: the two marks of Markdown that they hold, and the look of an arm.

use maud::{Markup, html};

/// A sentence in which `` `code` `` and `**strong**` are marked. A mark without its partner is text.
pub(super) fn sentence(text: &str) -> Markup {
    html! {
        @for (at, part) in parts(text, "`").into_iter().enumerate() {
            @if at % 2 == 1 {
                code { (part) }
            } @else {
                @for (at, part) in parts(&part, "**").into_iter().enumerate() {
                    @if at % 2 == 1 { strong { (part) } } @else { (part) }
                }
            }
        }
    }
}

/// The text between marks: every second part was inside a pair of them.
fn parts(text: &str, mark: &str) -> Vec<String> {
    let mut parts: Vec<String> = text.split(mark).map(str::to_owned).collect();
    if parts.len().is_multiple_of(2)
        && let Some(last) = parts.pop()
        && let Some(before) = parts.last_mut()
    {
        *before += mark;
        *before += &last;
    }
    parts
}

/// The lines and points of a column, small: its colour, how its lines are broken, and its marks. There are
/// six; a seventh column looks like the first, and its name tells them apart.
pub(super) fn swatch(column: u32) -> Markup {
    let look = column % 6;
    let dash = ["", "6 3", "2 3", "8 3 2 3", "10 4", "4 2"][look as usize];
    html! {
        svg.swatch width="30" height="12" viewBox="0 0 30 12" aria-hidden="true" focusable="false" {
            line x1="1" y1="6" x2="29" y2="6" stroke-dasharray=[(!dash.is_empty()).then_some(dash)]
                stroke=(format!("var(--series-{look})")) stroke-width="2" {}
            g fill=(format!("var(--series-{look})")) {
                @match look {
                    0 => { circle cx="15" cy="6" r="4" {} }
                    1 => { rect x="11.5" y="2.5" width="7" height="7" {} }
                    2 => { path d="M15 1.5 19.5 10.5 10.5 10.5Z" {} }
                    3 => { path d="M15 1 20 6 15 11 10 6Z" {} }
                    4 => { rect x="10" y="3" width="10" height="6" rx="3" {} }
                    _ => { path d="M15 11 10.5 2 19.5 2Z" {} }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::sentence;

    #[test]
    fn code_and_strong_words_are_marked_and_all_else_is_text() {
        let html = |text| sentence(text).into_string();
        assert_eq!(
            html("`a < b`: **no** & yes"),
            "<code>a &lt; b</code>: <strong>no</strong> &amp; yes"
        );
        assert_eq!(html("a ` alone, 2 ** 3"), "a ` alone, 2 ** 3");
        assert_eq!(html("`a` and ` alone"), "<code>a</code> and ` alone");
    }
}
