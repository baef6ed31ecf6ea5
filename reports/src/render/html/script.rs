//! What the page runs: its scripts, its style, the data of its charts, and the policy that lets nothing
//! else run and nothing be fetched.

use crate::charts::Charts;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use maud::{Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

pub(super) const STYLE: &str = include_str!("../../../assets/report.css");

/// Runs before the page is shown, so that it does not appear in one scheme and turn to the other.
const EARLY: &str = include_str!("../../../assets/scheme.js");
const LIBRARY: &str = include_str!("../../../assets/echarts/echarts.min.js");
const SCRIPT: &str = include_str!("../../../assets/report.js");

/// The content security policy. Styles are free, since the charts set them on what they draw.
pub(super) fn policy() -> String {
    let digests = [EARLY, LIBRARY, SCRIPT].map(|script| {
        let digest = STANDARD.encode(Sha256::digest(script.as_bytes()));
        format!(" 'sha256-{digest}'")
    });
    format!(
        "default-src 'none'; script-src{}; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'",
        digests.concat()
    )
}

pub(super) fn early() -> Markup {
    html! { script { (PreEscaped(EARLY)) } }
}

/// The data of the charts.
pub(super) fn data(charts: &Charts) -> Markup {
    let json = serde_json::to_string(charts).expect("charts are plain data");
    html! { script #charts type="application/json" { (PreEscaped(inert(&json))) } }
}

pub(super) fn late() -> Markup {
    html! {
        script { (PreEscaped(LIBRARY)) }
        script { (PreEscaped(SCRIPT)) }
    }
}

/// JSON in which nothing is markup: `<` can only stand in a text, where JSON has an escape for it.
fn inert(json: &str) -> String {
    json.replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_the_data_can_end_its_element() {
        let text = serde_json::to_string("</script><!-- &").unwrap();
        let inert = inert(&text);
        assert!(!inert.contains(['<', '>', '&']));
        let read: String = serde_json::from_str(&inert).unwrap();
        assert_eq!(read, "</script><!-- &");
    }

    #[test]
    fn no_script_of_the_page_ends_its_element_or_hides_what_follows() {
        for script in [EARLY, LIBRARY, SCRIPT] {
            assert!(!script.to_lowercase().contains("</script"));
            assert!(!script.contains("<!--"));
            // A browser reads these as others, and then the script is not the one that the policy allows.
            assert!(!script.contains(['\r', '\0']));
        }
        assert!(!STYLE.to_lowercase().contains("</style"));
    }
}
