//! Charts of a layout.

use super::code::{Code, Fault, Text, Vars};
use super::figure::Figure;
use super::file::{ChartSpec, Draws};
use super::scope::Context;
use super::table::{each, few, filtered};
use crate::report::{
    Bar, BarPlot, BarPlots, Block, Forest, ForestRow, Group, Line, LinePlot, LinePlots, Role, Series, Shade,
};
use hashlane_stats::Interval;
use minijinja::value::Value;
use minijinja::{Error, ErrorKind};

/// The charts of one `[[chart]]`, without those that would be empty.
pub(super) fn charts(context: Context<'_>, spec: &ChartSpec) -> Result<Vec<Block>, Fault> {
    let when = spec.when.as_ref().map(|when| Code::new(context.env, "when", when)).transpose()?;
    let mut charts = Vec::new();
    for vars in each(context, spec.each.as_ref())? {
        if let Some(when) = &when
            && !when.holds(&vars)?
        {
            continue;
        }
        let chart = Chart::new(context, spec, vars)?;
        charts.extend(match spec.draws {
            Draws::Bars => chart.bars()?.map(Block::Bars),
            Draws::Lines => chart.lines()?.map(Block::Lines),
            Draws::Forest => chart.forest()?.map(Block::Forest),
        });
    }
    Ok(charts)
}

/// A chart with its texts compiled.
struct Chart<'a> {
    context: Context<'a>,
    spec: &'a ChartSpec,
    /// Variables of the whole chart.
    vars: Vars,
    value: Code<'a>,
    label: Text<'a>,
    figure: Text<'a>,
    title: Option<Text<'a>>,
    role: Code<'a>,
    hollow: Option<Code<'a>>,
    tick: Option<Code<'a>>,
    segments: Option<Code<'a>>,
}

fn invalid(field: &'static str, why: impl Into<String>) -> Fault {
    Fault { field, error: Error::new(ErrorKind::InvalidOperation, why.into()) }
}

fn role(value: &Value) -> Result<Role, Fault> {
    match value.as_str() {
        Some("ours") => Ok(Role::Ours),
        Some("peer") => Ok(Role::Peer),
        Some("historical") => Ok(Role::Historical),
        Some("danger") => Ok(Role::Danger),
        Some(other) => Err(invalid(
            "role",
            format!("no role {other:?}; there are ours, peer, historical, danger, and numbers of categories"),
        )),
        None => match u8::try_from(value.clone()) {
            Ok(category) => Ok(Role::Category(category)),
            Err(_) => Err(invalid("role", format!("{value} is neither a role nor a number from 0"))),
        },
    }
}

/// The interval of a figure or number; `None` if it was not measured.
fn interval(value: &Value) -> Option<Interval> {
    match value.downcast_object_ref::<Figure>() {
        Some(figure) => figure.measured,
        None => f64::try_from(value.clone()).ok().map(Interval::exact),
    }
}

/// The parts of a tuple.
fn parts<const N: usize>(field: &'static str, value: &Value) -> Result<[Value; N], Fault> {
    let parts: Vec<Value> = value.try_iter().map_err(|error| Fault { field, error })?.collect();
    parts.try_into().map_err(|_| invalid(field, format!("a list of lists of {N} is expected")))
}

impl<'a> Chart<'a> {
    fn new(context: Context<'a>, spec: &'a ChartSpec, vars: Vars) -> Result<Self, Fault> {
        let env = context.env;
        let code = |field, source: &Option<String>| {
            source.as_ref().map(|source| Code::new(env, field, source)).transpose()
        };
        Ok(Self {
            context,
            spec,
            vars,
            value: Code::new(env, "value", &spec.value)?,
            label: Text::new(env, "label", &spec.label)?,
            figure: Text::new(env, "figure", &spec.figure)?,
            title: spec.item_title.as_ref().map(|title| Text::new(env, "item_title", title)).transpose()?,
            role: Code::new(env, "role", &spec.role)?,
            hollow: code("hollow", &spec.hollow)?,
            tick: code("tick", &spec.tick)?,
            segments: code("segments", &spec.segments)?,
        })
    }

    fn text(&self, field: &'static str, source: &str, vars: &Vars) -> Result<String, Fault> {
        Text::new(self.context.env, field, source)?.words(vars)
    }

    fn list(&self, field: &'static str, source: Option<&String>, vars: &Vars) -> Result<Vec<Value>, Fault> {
        source.map_or_else(|| Ok(Vec::new()), |source| Code::new(self.context.env, field, source)?.list(vars))
    }

    /// A figure; `None` if it was not measured, or of one that was not.
    fn figure(code: &Code<'_>, vars: &Vars) -> Result<Option<Interval>, Fault> {
        Ok(code.measured(vars)?.as_ref().and_then(interval))
    }

    /// The items of a drawing or group, as variables, with their figures.
    fn items(&self, vars: &Vars) -> Result<Vec<(Vars, Option<Interval>)>, Fault> {
        let list = (self.spec.items.as_str(), self.spec.filter.as_ref());
        let mut items = Vec::new();
        for item in filtered(self.context, "item", list, vars)? {
            let vars = vars.and("item", &item);
            let Some(value) = self.value.measured(&vars)? else {
                if self.spec.empty {
                    items.push((vars.and("value", &Value::from(())), None));
                }
                continue;
            };
            let figure = interval(&value);
            if figure.is_some() || self.spec.empty {
                items.push((vars.and("value", &value), figure));
            }
        }
        Ok(items)
    }

    /// A variable for each drawing.
    fn plots(&self) -> Result<Vec<Vars>, Fault> {
        if self.spec.plots.is_none() {
            return Ok(vec![self.vars.clone()]);
        }
        let plots = few(self.context.scope, self.list("plots", self.spec.plots.as_ref(), &self.vars)?);
        Ok(plots.iter().map(|plot| self.vars.and("plot", plot)).collect())
    }

    fn bar(&self, vars: &Vars, value: Option<Interval>) -> Result<Bar, Fault> {
        let figure = if value.is_some() { self.figure.words(vars)? } else { String::new() };
        let mut bar = Bar::new(&self.label.words(vars)?, role(&self.role.value(vars)?)?, value, &figure);
        let segments = self.segments.as_ref().map_or(Ok(Vec::new()), |segments| segments.list(vars))?;
        if let (Some(title), Some(_)) = (&self.title, value) {
            bar.title = title.words(&vars.and("segments", &Value::from(segments.clone())))?;
        }
        if let Some(hollow) = &self.hollow {
            bar.hollow = hollow.holds(vars)?;
        }
        if let Some(tick) = &self.tick {
            bar.tick = Self::figure(tick, vars)?.map(|tick| tick.value);
        }
        for segment in &segments {
            let [name, length] = parts("segments", segment)?;
            if let Some(length) = interval(&length) {
                bar.segments.push((name.to_string(), length.value));
            }
        }
        Ok(bar)
    }

    fn bars(&self) -> Result<Option<BarPlots>, Fault> {
        let (spec, all) = (self.spec, &self.vars);
        let mut plots = Vec::new();
        for vars in self.plots()? {
            let mut groups = Vec::new();
            let of_groups = match &spec.groups {
                None => vec![None],
                list => self.list("groups", list.as_ref(), &vars)?.into_iter().map(Some).collect(),
            };
            for group in of_groups {
                let vars = group.map_or_else(|| vars.clone(), |group| vars.and("group", &group));
                let items = self.items(&vars)?;
                let bars = items.iter().map(|(vars, value)| self.bar(vars, *value));
                let bars: Vec<Bar> = bars.collect::<Result<_, _>>()?;
                let heading =
                    spec.heading.as_ref().map(|text| self.text("heading", text, &vars)).transpose()?;
                if !bars.is_empty() {
                    groups.push(Group { heading, bars });
                }
            }
            if !groups.is_empty() {
                plots.push(BarPlot {
                    caption: self.text("caption", &spec.caption, &vars)?,
                    title: self.text("title", &spec.title, &vars)?,
                    groups,
                });
            }
        }
        if plots.is_empty() {
            return Ok(None);
        }
        let reference = match &spec.reference {
            None => None,
            Some(reference) => Self::figure(&Code::new(self.context.env, "reference", reference)?, all)?,
        };
        let label = self.text("reference_label", &spec.reference_label, all)?;
        Ok(Some(BarPlots {
            axis: self.text("axis", &spec.axis, all)?,
            legend: self.legend()?,
            whiskers: spec.whiskers.clone(),
            tick: spec.tick_label.clone(),
            reference: reference.map(|reference| (reference.value, label)),
            log: spec.log,
            plots,
        }))
    }

    fn legend(&self) -> Result<Vec<(Role, String)>, Fault> {
        let mut legend = Vec::new();
        for entry in self.list("legend", self.spec.legend.as_ref(), &self.vars)? {
            let [of, words] = parts("legend", &entry)?;
            legend.push((role(&of)?, words.to_string()));
        }
        Ok(legend)
    }

    fn lines(&self) -> Result<Option<LinePlots>, Fault> {
        let (spec, all) = (self.spec, &self.vars);
        let (Some(points), Some(x)) = (&spec.points, &spec.x) else {
            return Err(invalid("draws", "lines take `points` and `x`"));
        };
        let (points, x) =
            (Code::new(self.context.env, "points", points)?, Code::new(self.context.env, "x", x)?);
        let emphasised = Code::new(self.context.env, "emphasised", &spec.emphasised)?;
        let order = self.list("order", spec.order.as_ref(), all)?;
        let place =
            |name: &str| order.iter().position(|other| other.as_str() == Some(name)).unwrap_or(usize::MAX);
        let (mut series, mut plots): (Vec<Series>, Vec<LinePlot>) = (Vec::new(), Vec::new());
        for vars in self.plots()? {
            let mut lines = Vec::new();
            let list = (spec.items.as_str(), spec.filter.as_ref());
            for item in filtered(self.context, "item", list, &vars)? {
                let (name, vars) = (item.to_string(), vars.and("item", &item));
                let mut line = Line { name: name.clone(), points: Vec::new() };
                for point in few(self.context.scope, points.list(&vars)?) {
                    let vars = vars.and("point", &point);
                    let place = Self::figure(&x, &vars)?;
                    if let (Some(x), Some(y)) = (place, Self::figure(&self.value, &vars)?) {
                        line.points.push((x.value, y));
                    }
                }
                line.points.sort_by(|a, b| a.0.total_cmp(&b.0));
                if line.points.is_empty() || line.points.len() == 1 && !spec.empty {
                    continue;
                }
                if series.iter().all(|series| series.name != name) {
                    let vars = vars.and("place", &Value::from(place(&name)));
                    let role = role(&self.role.value(&vars)?)?;
                    series.push(if emphasised.holds(&vars)? {
                        Series::labelled(&name, role, &self.label.words(&vars)?)
                    } else {
                        Series::new(&name, role, false)
                    });
                }
                lines.push(line);
            }
            if !lines.is_empty() {
                plots.push(LinePlot {
                    caption: self.text("caption", &spec.caption, &vars)?,
                    note: self.text("note", &spec.note, &vars)?,
                    lines,
                });
            }
        }
        series.sort_by_key(|series| (!series.emphasised, place(&series.name)));
        let mut shades = Vec::new();
        for shade in self.list("shades", spec.shades.as_ref(), all)? {
            let [from, to, label] = parts("shades", &shade)?;
            if let (Some(from), Some(to)) = (interval(&from), interval(&to)) {
                shades.push(Shade { from: from.value, to: to.value, label: label.to_string() });
            }
        }
        let [x, y] = [("across", &spec.across), ("axis", &spec.axis)];
        let (x, y) = (self.text(x.0, x.1, all)?, self.text(y.0, y.1, all)?);
        Ok((!plots.is_empty()).then_some(LinePlots { x, y, series, shades, plots }))
    }

    fn forest(&self) -> Result<Option<Forest>, Fault> {
        let mut rows = Vec::new();
        for (vars, interval) in self.items(&self.vars)? {
            rows.push(ForestRow {
                label: self.label.words(&vars)?,
                role: role(&self.role.value(&vars)?)?,
                interval,
                figure: self.figure.words(&vars)?,
            });
        }
        if rows.is_empty() {
            return Ok(None);
        }
        Ok(Some(Forest {
            caption: self.text("caption", &self.spec.caption, &self.vars)?,
            axis: self.text("axis", &self.spec.axis, &self.vars)?,
            zero: self.spec.zero,
            rows,
        }))
    }
}
