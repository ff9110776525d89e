//! The functions and filters of templates and expressions, as `docs/study-files.md` has them.

use super::figure::{self, Figure};
use super::file::Layout;
use super::formats;
use super::lists::by_interest;
use super::scope::{MARK, MOST_ITEMS, Scope, WORDS, invalid};
use crate::definition::Published;
use crate::report::facts::unit;
use hashlane_records::{Record, metric};
use hashlane_stats::median as stats_median;
use hashlane_stats::{Interval, format};
use minijinja::value::{Kwargs, Object, Rest, Value};
use minijinja::{AutoEscape, Environment, Error, UndefinedBehavior, escape_formatter};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Most steps of one template or expression: a loop over all schemes on all workloads takes a tenth.
const FUEL: u64 = 2_000_000;

/// Most bytes of a text that a filter makes.
const MOST_BYTES: usize = 1 << 20;

/// Fields by name, true in a condition.
fn map<const N: usize>(entries: [(&'static str, Value); N]) -> Value {
    Value::from_object(Fields { fields: BTreeMap::from(entries), is_true: true })
}

/// Fields by name. An unknown name is an error, also in a condition.
#[derive(Debug)]
struct Fields {
    fields: BTreeMap<&'static str, Value>,
    /// In a condition.
    is_true: bool,
}

impl Object for Fields {
    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        let name = key.as_str()?;
        Some(self.fields.get(name).cloned().unwrap_or_else(|| {
            let known: Vec<&str> = self.fields.keys().copied().collect();
            Value::from(invalid(format!("no field {name:?}; there are {}", known.join(", "))))
        }))
    }

    fn is_true(self: &Arc<Self>) -> bool {
        self.is_true
    }
}

/// The figure of a value: one of the records, or a number.
fn as_figure(value: &Value) -> Result<Figure, Error> {
    if let Some(figure) = value.downcast_object_ref::<Figure>() {
        return Ok(figure.clone());
    }
    if value.is_undefined() || value.is_none() {
        return Ok(Figure::missing("a figure".to_owned()));
    }
    f64::try_from(value.clone()).map(Figure::exact).map_err(|_| invalid(format!("{value} is no figure")))
}

/// The environment of a study's templates.
pub(super) fn environment(
    scope: &Arc<Scope>,
    layout: &Layout,
    more: &BTreeMap<&'static str, Value>,
) -> Environment<'static> {
    let mut env = Environment::new();
    env.set_auto_escape_callback(|_| AutoEscape::None);
    env.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    env.set_fuel(Some(FUEL));
    env.set_recursion_limit(64);
    // A text is its own name behind a mark: the environment owns it, and compiles it once. No text has the
    // mark, so that none includes another.
    let words = layout.words.clone();
    env.set_loader(move |name| {
        Ok(if name == WORDS { Some(words.clone()) } else { name.strip_prefix(MARK).map(str::to_owned) })
    });
    env.set_formatter(|out, state, value| {
        if value.downcast_object_ref::<Figure>().is_some() {
            return Err(invalid(figure::UNFORMATTED.to_owned()));
        }
        escape_formatter(out, state, value)
    });
    // Filters that make much of little.
    ["indent", "batch", "slice", "tojson"].iter().for_each(|name| env.remove_filter(name));
    lookups(&mut env, scope);
    lists(&mut env, scope);
    filters(&mut env, scope, layout);
    let d = &scope.definition;
    let own = if scope.pretends() {
        d.workloads.iter().take(1).cloned().collect()
    } else {
        d.own_workloads(&scope.records).into_iter().map(str::to_owned).collect::<Vec<_>>()
    };
    let study = map([
        ("slug", Value::from(d.slug.as_str())),
        ("title", Value::from(d.title.as_str())),
        ("per", Value::from(d.per.as_str())),
        ("metric", Value::from(d.metric.as_str())),
        ("reference", Value::from(d.reference.as_str())),
        ("unit", Value::from(unit(d, &scope.records))),
        ("workloads", Value::from(d.workloads.clone())),
        ("schemes", Value::from(d.schemes.clone())),
        ("own", Value::from(own)),
        ("typical", Value::from(d.criteria.first().map(|criterion| criterion.workload.clone()))),
    ]);
    env.add_global("study", study);
    for (name, value) in more {
        env.add_global(*name, value.clone());
    }
    env
}

/// Figures: `of(workload, scheme, metric)`; `raw(…)`, which sentences do not check; `ratio(workload, of, to,
/// metric="ratio")`; `more(workload, of, to, metric)`, a difference; `control(workload)`; `published(table,
/// row, column)`.
fn lookups(env: &mut Environment<'static>, scope: &Arc<Scope>) {
    let s = Arc::clone(scope);
    env.add_function("of", move |w: &str, scheme: &str, metric: &str| s.of(w, scheme, metric).into_value());
    let s = Arc::clone(scope);
    env.add_function("raw", move |w: &str, scheme: &str, metric: &str| s.raw(w, scheme, metric).into_value());
    let s = Arc::clone(scope);
    env.add_function("ratio", move |w: &str, of: &str, to: &str, named: Kwargs| -> Result<Value, Error> {
        let metric: Option<String> = named.get("metric")?;
        named.assert_all_used()?;
        Ok(s.ratio(w, of, to, metric.as_deref().unwrap_or(metric::RATIO)).into_value())
    });
    let s = Arc::clone(scope);
    env.add_function("more", move |w: &str, of: &str, to: &str, metric: &str| {
        s.more(w, of, to, metric).into_value()
    });
    let s = Arc::clone(scope);
    env.add_function("control", move |w: &str| match s.evidence().control(w) {
        Some(interval) => Figure { measured: Some(interval), samples: 0, doubt: None }.into_value(),
        None => Figure::missing(format!("the control on {w}")).into_value(),
    });
    let s = Arc::clone(scope);
    env.add_function("published", move |table: &str, row: &str, column: &str| {
        let figure = s.definition.published(table).and_then(|table| table.figure(row, column));
        match figure {
            Some(figure) => Figure::exact(figure).into_value(),
            None => Figure::missing(format!("{column} of {row} in {table}")).into_value(),
        }
    });
    let s = Arc::clone(scope);
    env.add_function("published_table", move |table: &str| {
        // One that the file does not have is empty, and false.
        let table = s.definition.published(table);
        let rows = table.iter().flat_map(|table| &table.rows).map(|row| row.id.clone());
        let text = |of: fn(&Published) -> &str| Value::from(table.map_or("", of));
        let fields = BTreeMap::from([
            ("source", text(|table| &table.source)),
            ("unit", text(|table| &table.unit)),
            ("columns", Value::from(table.map_or_else(Vec::new, |table| table.columns.clone()))),
            ("rows", Value::from(rows.collect::<Vec<_>>())),
        ]);
        Value::from_object(Fields { fields, is_true: table.is_some() })
    });
}

/// Lists: `schemes_on(workload, metric…)`, those with any of the metrics; `measured(metric, workloads…)`, all
/// `{workload, scheme}` that have it; `records(metric)`, of the whole study; `by_interest(schemes)`.
fn lists(env: &mut Environment<'static>, scope: &Arc<Scope>) {
    let s = Arc::clone(scope);
    env.add_function("schemes_on", move |workload: &str, metrics: Rest<String>| {
        s.schemes_with(workload, &metrics)
    });
    let s = Arc::clone(scope);
    env.add_function("measured", move |metric: String, workloads: Option<Vec<String>>| {
        let workloads = workloads.unwrap_or_else(|| s.lists().workloads.clone());
        let metrics = [metric];
        let of = |w: &String| {
            let pair = |scheme: String| {
                map([("workload", Value::from(w.as_str())), ("scheme", Value::from(scheme))])
            };
            s.schemes_with(w, &metrics).into_iter().map(pair).collect::<Vec<_>>()
        };
        workloads.iter().flat_map(of).collect::<Vec<Value>>()
    });
    let s = Arc::clone(scope);
    env.add_function("records", move |metric: &str| {
        let row = |record: &Record| {
            map([
                ("workload", Value::from(record.workload.as_str())),
                ("scheme", Value::from(record.scheme.as_str())),
                ("model", Value::from(record.model.as_str())),
                ("unit", Value::from(record.unit.as_str())),
            ])
        };
        s.records.iter().filter(|record| record.metric == metric).map(row).collect::<Vec<Value>>()
    });
    let s = Arc::clone(scope);
    env.add_function("product", |outer: Vec<Value>, inner: Vec<Value>| {
        if outer.len().saturating_mul(inner.len()) > MOST_ITEMS {
            return Err(invalid(format!("product() of more than {MOST_ITEMS} pairs")));
        }
        let pairs =
            |a: &Value| inner.iter().map(|b| Value::from(vec![a.clone(), b.clone()])).collect::<Vec<_>>();
        Ok(outer.iter().flat_map(pairs).collect::<Vec<Value>>())
    });
    env.add_function("by_interest", move |schemes: Vec<String>, up_to: Option<String>| {
        let ids = by_interest(&s.definition, schemes.iter().map(String::as_str), |id| match &up_to {
            Some(mark) => id.split(mark.as_str()).next().unwrap_or(id),
            None => id,
        });
        ids.into_iter().map(str::to_owned).collect::<Vec<_>>()
    });
}

/// Filters: formats by their names, `times`, `bounds(format)`, `interval(format)`; `scaled(factor)`,
/// `over(figure)`, `inverse`; `sorted(workload, metric, to)`, `least(workload, metric)`; `head`, `tail`;
/// `lines`; `keep(ids)`.
fn filters(env: &mut Environment<'static>, scope: &Arc<Scope>, layout: &Layout) {
    let own = Arc::new(layout.formats.clone());
    for name in formats::NAMES.iter().map(|name| (*name).to_owned()).chain(layout.formats.keys().cloned()) {
        let (s, own, of) = (Arc::clone(scope), Arc::clone(&own), name.clone());
        env.add_filter(name, move |value: Value| s.write(&value, |i| formats::write(&own, &of, i.value)));
    }
    let s = Arc::clone(scope);
    env.add_filter("times", move |value: Value| {
        s.write(&value, |i| Ok(format!("{} ×", format::significant(i.value))))
    });
    let (s, of) = (Arc::clone(scope), Arc::clone(&own));
    env.add_filter("interval", move |value: Value, format: &str| {
        s.write_bounds(&value, |i| bounds(&of, format, i))
    });
    let (s, of) = (Arc::clone(scope), own);
    env.add_filter("bounds", move |value: Value, format: &str, unit: Option<String>| {
        let unit = unit.unwrap_or_default();
        s.write_bounds(&value, |i| {
            Ok(format!("{}{unit} {}", formats::write(&of, format, i.value)?, bounds(&of, format, i)?))
        })
    });
    env.add_filter("scaled", |value: Value, factor: f64| {
        if factor < 0.0 {
            return Err(invalid(format!("a factor of 0 or more, not {factor}")));
        }
        Ok(as_figure(&value)?.map(|i| i.scaled(factor)).into_value())
    });
    env.add_filter("over", |value: Value, by: Value| {
        let (figure, by) = (as_figure(&value)?, as_figure(&by)?);
        Ok::<_, Error>(
            match by.measured {
                Some(by) if by.value != 0.0 => figure.map(|i| i.scaled(1.0 / by.value)),
                _ => Figure { measured: None, ..by },
            }
            .into_value(),
        )
    });
    env.add_filter("rounded", |value: Value| {
        let round =
            |i: Interval| Interval { value: i.value.round(), low: i.low.round(), high: i.high.round(), ..i };
        Ok::<_, Error>(as_figure(&value)?.map(round).into_value())
    });
    // Bounds of a median: the inverse of a ratio has the inverse ones.
    env.add_filter("inverse", |value: Value| {
        let inverse =
            |i: Interval| Interval { value: 1.0 / i.value, low: 1.0 / i.high, high: 1.0 / i.low, ..i };
        Ok::<_, Error>(as_figure(&value)?.map(inverse).into_value())
    });
    let s = Arc::clone(scope);
    env.add_filter("stated", move |value: Value| s.write(&value, |_| Ok(String::new())));
    env.add_filter("ceil", |number: f64| number.ceil() as i64);
    env.add_filter("median", |values: Vec<f64>| {
        let mut values = values;
        values.sort_by(f64::total_cmp);
        stats_median(&values)
    });
    let s = Arc::clone(scope);
    env.add_filter("sorted", move |mut schemes: Vec<String>, w: &str, metric: &str, to: Option<String>| {
        let value = |scheme: &String| s.order(w, scheme, metric, to.as_deref());
        schemes.sort_by(|a, b| value(a).total_cmp(&value(b)));
        schemes
    });
    let s = Arc::clone(scope);
    env.add_filter("least", move |mut schemes: Vec<String>, w: &str, metric: &str| {
        let value = |scheme: &String| s.order(w, scheme, metric, None);
        let least = schemes.iter().map(value).fold(f64::INFINITY, f64::min);
        schemes.retain(|scheme| least.is_finite() && value(scheme) <= least);
        schemes
    });
    env.add_filter("replace", |text: &str, from: &str, to: &str| {
        let most = text.len().saturating_add(text.matches(from).count().saturating_mul(to.len()));
        if most > MOST_BYTES {
            Err(invalid(format!("a text of more than {MOST_BYTES} bytes")))
        } else {
            Ok(text.replace(from, to))
        }
    });
    env.add_filter("head", |id: &str| id.split('/').next().unwrap_or_default().to_owned());
    env.add_filter("tail", |id: &str| id.rsplit('/').next().unwrap_or_default().to_owned());
    env.add_filter("numbered", |ids: Vec<String>, name: &str| {
        let number = |id: &str| id.strip_prefix(name)?.strip_prefix('@')?.parse::<u64>().ok();
        let of_name = ids.into_iter().filter_map(|id| Some((number(&id)?, id)));
        let by_number: BTreeMap<u64, String> = of_name.collect();
        by_number.into_values().collect::<Vec<_>>()
    });
    env.add_filter("number", |size: &str| {
        let (digits, unit) = size.split_at(size.find(|c: char| !c.is_ascii_digit()).unwrap_or(size.len()));
        let unit = match unit {
            "" => 1.0,
            "Ki" => 1024.0,
            "Mi" => 1_048_576.0,
            "Gi" => 1_073_741_824.0,
            _ => return Value::UNDEFINED,
        };
        digits.parse::<u32>().map_or(Value::UNDEFINED, |digits| Value::from(f64::from(digits) * unit))
    });
    env.add_filter("lines", |text: &str| {
        text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect::<Vec<_>>()
    });
    env.add_filter("keep", |list: Vec<String>, known: Vec<String>| {
        list.into_iter().filter(|id| known.contains(id)).collect::<Vec<_>>()
    });
    let s = Arc::clone(scope);
    env.add_test("measured_on", move |scheme: &str, workload: &str, metric: &str| {
        s.raw(workload, scheme, metric).measured.is_some()
    });
}

fn bounds(
    own: &BTreeMap<String, Vec<formats::Step>>,
    name: &str,
    interval: Interval,
) -> Result<String, String> {
    // An unknown format is said once, and not written into the bounds.
    formats::write(own, name, interval.low)?;
    formats::write(own, name, interval.high)?;
    Ok(format::interval(interval, |bound| formats::write(own, name, bound).unwrap_or_default()))
}
