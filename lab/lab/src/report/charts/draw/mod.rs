//! Charts as inline SVG, in one of three widths.

mod bars;
mod forest;
mod labels;
mod legend;
mod lines;
mod rows;
mod scale;
mod svg;

use crate::report::section::Block;

pub(in super::super) use legend::Key;
pub(in super::super) use scale::Scale;
pub(in super::super) use svg::Width;

/// A chart as SVG.
#[derive(Clone, Debug, PartialEq)]
pub(in super::super) struct Drawn {
    /// Caption; may be empty.
    pub(in super::super) caption: String,
    /// Note below the caption; may be empty.
    pub(in super::super) note: String,
    /// The drawing.
    pub(in super::super) svg: String,
}

/// The drawings of a chart: one, or one for each plot with figures. None of a table or a text.
pub(in super::super) fn draw(chart: &Block, size: Width) -> Vec<Drawn> {
    match chart {
        Block::Bars(plots) => bars::draw(plots, size),
        Block::Lines(plots) => lines::draw(plots, size),
        Block::Forest(plot) => forest::draw(plot, size).into_iter().collect(),
        Block::Table(_) | Block::Text(_) => Vec::new(),
    }
}

/// The entries of a chart's legend at a width.
pub(in super::super) fn legend(chart: &Block, size: Width) -> Vec<Key> {
    match chart {
        Block::Bars(plots) => bars::legend(plots),
        Block::Lines(plots) => lines::legend(plots, size),
        Block::Forest(plot) => forest::legend(plot),
        Block::Table(_) | Block::Text(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::labels::width;

    /// The figure of an attribute of a tag.
    fn attribute(tag: &str, name: &str) -> Option<f64> {
        let rest = tag.split(&format!(" {name}=\"")).nth(1)?;
        Some(rest.split('"').next()?.parse().unwrap())
    }

    /// Place and width of each text.
    fn texts(svg: &str) -> Vec<(f64, f64, f64, String)> {
        let text = |rest: &str| {
            let (tag, words) = rest.split_once('>').unwrap();
            let words = words.split("</text>").next().unwrap().to_owned();
            let plain =
                words.replace("&lt;", "<").replace("&gt;", ">").replace("&#x2f;", "/").replace("&#x27;", "'");
            let (x, width) = (attribute(tag, "x").unwrap(), width(&plain));
            let before = match tag {
                _ if tag.contains("\"end\"") => width,
                _ if tag.contains("\"middle\"") => width / 2.0,
                _ => 0.0,
            };
            (x - before, attribute(tag, "y").unwrap(), width, words)
        };
        svg.split("<text").skip(1).map(text).collect()
    }

    /// # Panics
    /// A mark or a text lies outside the drawing, or is at no place; or two texts overlap.
    #[track_caller]
    pub(super) fn assert_within(svg: &str) {
        let (head, marks) = svg.split_once('>').unwrap();
        assert!(!marks.contains("NaN") && !marks.contains("inf"), "{svg}");
        let size: Vec<f64> = head
            .split("viewBox=\"0 0 ")
            .nth(1)
            .unwrap()
            .split(['"', ' '])
            .take(2)
            .map(|n| n.parse().unwrap())
            .collect();
        let within =
            |x: f64, y: f64| (-0.06..=size[0] + 0.06).contains(&x) && (-0.06..=size[1] + 0.06).contains(&y);
        for (x, y, width, words) in texts(marks) {
            assert!(within(x, y) && within(x + width, y), "{words}: {x} {y} in {size:?}");
        }
        for tag in marks.split('<').skip(1).filter_map(|rest| rest.split('>').next()) {
            if let (Some(x), Some(y)) = (attribute(tag, "cx"), attribute(tag, "cy")) {
                assert!(within(x, y), "{tag}");
            }
            if let (Some(x), Some(y), Some(width)) =
                (attribute(tag, "x"), attribute(tag, "y"), attribute(tag, "width"))
            {
                assert!(within(x, y) && within(x + width, y), "{tag}");
            }
        }
        let all = texts(marks);
        for (i, a) in all.iter().enumerate() {
            for b in &all[i + 1..] {
                let apart = (a.1 - b.1).abs() >= 10.0 || a.0 + a.2 <= b.0 + 0.1 || b.0 + b.2 <= a.0 + 0.1;
                assert!(apart, "{a:?} and {b:?} overlap");
            }
        }
    }
}
