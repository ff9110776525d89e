//! The view as text on a terminal: a function of its state.

use super::state::{Phase, Row, State};
use crate::format::{protocol, rate, size, whole};
use crate::largest::Ranking;
use hashlane_stats::format::{percent, significant};
use ratatui::Frame;
use ratatui::layout::{Alignment, Constraint, Layout};
use ratatui::style::{Style, Stylize as _};
use ratatui::text::{Line, Text};
use ratatui::widgets::{Cell, Paragraph, Table};
use std::net::{IpAddr, SocketAddr};

/// Columns and rows of the smallest terminal.
pub(super) const SMALLEST: (u16, u16) = (80, 10);

/// Widths of the columns behind the addresses: packets, bytes, rate.
const FIGURES: [u16; 3] = [9, 9, 8];

/// Width of the column of protocols.
const PROTOCOL: u16 = 7;

/// Draws all of the terminal.
pub(super) fn draw(state: &State, frame: &mut Frame<'_>) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        let (width, height) = SMALLEST;
        let text = format!("{width} by {height} columns and rows are needed");
        return frame.render_widget(Paragraph::new(text), area);
    }
    let [title, totals, table, keys] = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(4),
        Constraint::Fill(1),
        Constraint::Length(1),
    ])
    .areas(area);
    frame.render_widget(Paragraph::new(left(state)), title);
    frame.render_widget(Paragraph::new(right(state)).alignment(Alignment::Right), title);
    frame.render_widget(Paragraph::new(self::totals(state)), totals);
    let figures: u16 = FIGURES.iter().sum::<u16>() + PROTOCOL + 5;
    let address = usize::from(area.width.saturating_sub(figures)) / 2;
    let shown = state.rows.iter().take(usize::from(table.height)).map(|row| cells(row, address));
    frame.render_widget(
        columns(ratatui::widgets::Row::from_iter(head(state.ranking)).reversed(), shown),
        table,
    );
    frame.render_widget(Paragraph::new(self::keys(state.phase)), keys);
}

fn left(state: &State) -> Line<'static> {
    let seconds = state.at.as_secs();
    let clock = format!("{:02}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60);
    Line::from(vec!["hashlane flow meter  ".into(), state.source.clone().bold(), format!("  {clock}").into()])
}

fn right(state: &State) -> Line<'static> {
    match (state.phase, state.paused) {
        (Phase::Running, true) => "paused ".bold().into(),
        (Phase::Running, false) => "".into(),
        (Phase::Stopping, _) => "exporting the open flows ".bold().into(),
        (Phase::Ended, _) => "ended ".bold().into(),
    }
}

/// Packets, flows, and what was dropped.
fn totals(state: &State) -> Text<'static> {
    let total = &state.total;
    let [packets, bits] = state.rates;
    let received = format!(
        "{} {} packets, {}; {} packets/s, {}bit/s",
        if state.live { "received" } else { "read" },
        whole(total.packets),
        size(total.bytes),
        if packets < 999.5 { format!("{packets:.0}") } else { significant(packets) },
        rate(bits),
    );
    let flows = format!(
        "flows    {} of {} ({}), {} exported, {} evicted, {} lost",
        whole(total.flows_open),
        whole(state.limit),
        percent(total.flows_open as f64 / state.limit.max(1) as f64),
        whole(total.flows_exported),
        whole(total.flows_evicted),
        whole(total.flows_lost),
    );
    let causes = total.dropped.by_cause().into_iter().filter(|(_, count)| *count > 0);
    let causes: Vec<String> =
        causes.map(|(cause, count)| format!("{} {}", whole(count), cause.replace('_', " "))).collect();
    let dropped = if causes.is_empty() { "none".to_owned() } else { causes.join(", ") };
    let dropped = Line::from(format!("dropped  {dropped}"));
    let lossy = total.dropped.ring > 0 || total.dropped.table > 0;
    let dropped = if lossy { dropped.bold() } else { dropped };
    Text::from(vec![Line::from(received.replacen("read ", "read     ", 1)), Line::from(flows), dropped])
}

/// Names of the columns; the ranking's is marked.
fn head(ranking: Ranking) -> [Cell<'static>; 6] {
    let figure = |name: &str, by: Ranking| {
        let name = if by == ranking { format!("▼ {name}") } else { name.to_owned() };
        Cell::from(Line::from(name).alignment(Alignment::Right))
    };
    [
        "proto".into(),
        "source".into(),
        "destination".into(),
        figure("packets", Ranking::Packets),
        figure("bytes", Ranking::Bytes),
        figure("bit/s", Ranking::Rate),
    ]
}

fn cells(row: &Row, address: usize) -> ratatui::widgets::Row<'static> {
    let flow = &row.flow;
    let figure = |text: String| Cell::from(Line::from(text).alignment(Alignment::Right));
    let has_ports = flow.source_port != 0 || flow.destination_port != 0;
    let end = |host: IpAddr, port: u16| {
        let text = if has_ports { SocketAddr::new(host, port).to_string() } else { host.to_string() };
        Cell::from(fitted(&text, address))
    };
    ratatui::widgets::Row::from_iter([
        Cell::from(protocol(flow.protocol).replace("protocol ", "ip ")),
        end(flow.source, flow.source_port),
        end(flow.destination, flow.destination_port),
        figure(rate(row.packets() as f64).trim_end().to_owned()),
        figure(size(row.bytes())),
        figure(rate(row.bits).trim_end().to_owned()),
    ])
}

fn columns(
    head: ratatui::widgets::Row<'static>,
    rows: impl Iterator<Item = ratatui::widgets::Row<'static>>,
) -> Table<'static> {
    let [packets, bytes, bits] = FIGURES.map(Constraint::Length);
    let widths =
        [Constraint::Length(PROTOCOL), Constraint::Fill(1), Constraint::Fill(1), packets, bytes, bits];
    Table::new(rows, widths).column_spacing(1).header(head).style(Style::new())
}

/// An address that is longer than its column loses its middle; the port stays.
fn fitted(text: &str, width: usize) -> String {
    let length = text.chars().count();
    if length <= width {
        return text.to_owned();
    }
    let tail = (width / 2).min(10);
    let head: String = text.chars().take(width.saturating_sub(tail + 1)).collect();
    let tail: String = text.chars().skip(length - tail).collect();
    format!("{head}…{tail}")
}

fn keys(phase: Phase) -> Line<'static> {
    match phase {
        Phase::Running => "q quit   rank by: b bytes, k packets, r rate   p pause".into(),
        Phase::Stopping => "q again ends at once".into(),
        Phase::Ended => {
            "q quit   rank by: b bytes, k packets, r rate   these flows were open at the end".into()
        }
    }
}

#[cfg(test)]
mod tests;
