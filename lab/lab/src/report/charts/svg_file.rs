//! A chart as a separate file.

use super::draw::{Drawn, Width, draw};
use crate::report::section::Block;
use hashlane_stats::format::plain;

/// Colours that charts take from the page.
const FRAME: &str = "\
:root { --card: #ffffff; --text: #1c1e21; --quiet: #5a6068; }
@media (prefers-color-scheme: dark) { :root { --card: #0d1117; --text: #e7e8ea; --quiet: #a2a9b2; } }
";

/// The first drawing of a block as an SVG file, about as wide as half a page, with its style, for a README.
/// It follows the reader's light or dark scheme. `None` of a table, a text, or a chart without figures.
pub fn svg_file(block: &Block) -> Option<String> {
    let Drawn { svg, .. } = draw(block, Width::Medium).into_iter().next()?;
    let (head, marks) = svg.split_once('>')?;
    let style = include_str!("charts.css");
    let head = head.replacen("<svg", "<svg xmlns=\"http://www.w3.org/2000/svg\"", 1);
    let ground = "<path d=\"M0 0H2000V2000H0z\" style=\"fill: var(--card)\"/>";
    Some(format!("{head}><style>{FRAME}{style}</style>{ground}{}\n", plain(marks)))
}

#[cfg(test)]
mod tests {
    use super::super::{Bar, BarPlot, BarPlots, Group, Role};
    use super::*;
    use hashlane_stats::Interval;

    fn block(value: Option<f64>) -> Block {
        let bars = vec![Bar::new("<ours>", Role::Ours, value.map(Interval::exact), "3.0")];
        let plot = BarPlot { groups: vec![Group { heading: None, bars }], ..BarPlot::default() };
        Block::Bars(BarPlots { plots: vec![plot], ..BarPlots::default() })
    }

    #[test]
    fn is_a_whole_file() {
        let svg = svg_file(&block(Some(3.0))).unwrap();
        assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
        assert!(svg.contains("--ours: #") && svg.contains("class=\"ours\"") && svg.contains("&lt;ours&gt;"));
        let style = svg.split("<style>").nth(1).unwrap().split("</style>").next().unwrap();
        assert!(!style.contains(['<', '&']), "the style is XML too");
        assert_eq!(svg_file(&block(None)), None);
    }
}
