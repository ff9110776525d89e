//! Tables of a layout.

use super::code::{Code, Fault, Text, Vars};
use super::file::{ColumnSpec, TableSpec};
use super::scope::{Context, Scope};
use crate::report::facts::without_empty_columns;
use crate::report::{Shown, Table};
use hashlane_stats::format;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind};

/// A column: a template of its head, and an expression of its cells.
struct Column<'env> {
    each: Option<Code<'env>>,
    head: Option<Text<'env>>,
    cell: Option<Code<'env>>,
    columns: Vec<Column<'env>>,
}

impl<'env> Column<'env> {
    fn new(env: &'env Environment<'static>, spec: &ColumnSpec) -> Result<Self, Fault> {
        let code = |field, source: &Option<String>| {
            source.as_ref().map(|source| Code::new(env, field, source)).transpose()
        };
        Ok(Self {
            each: code("columns.each", &spec.each)?,
            head: spec.head.as_ref().map(|head| Text::new(env, "columns.head", head)).transpose()?,
            cell: code("columns.cell", &spec.cell)?,
            columns: spec.columns.iter().map(|column| Self::new(env, column)).collect::<Result<_, _>>()?,
        })
    }

    /// Appends the heads, or the cells of `vars`' row.
    fn append(&self, scope: &Scope, vars: &Vars, is_head: bool, out: &mut Vec<String>) -> Result<(), Fault> {
        let each = match &self.each {
            None => vec![None],
            Some(each) => few(scope, each.list(vars)?).into_iter().map(Some).collect(),
        };
        for column in each {
            let vars = column.map_or_else(|| vars.clone(), |column| vars.and("column", &column));
            match (&self.head, &self.cell) {
                (Some(head), _) if is_head => out.push(head.words(&vars)?),
                (_, Some(cell)) if !is_head => out.push(cell.cell(&vars)?),
                _ => {}
            }
            for column in &self.columns {
                column.append(scope, &vars, is_head, out)?;
            }
        }
        Ok(())
    }
}

/// The items of a list: of one that is pretended, the first.
pub(super) fn few(scope: &Scope, list: Vec<Value>) -> Vec<Value> {
    let most = if scope.pretends() { 2 } else { usize::MAX };
    list.into_iter().take(most).collect()
}

/// The visibility of that name.
fn visibility(name: &str) -> Option<Shown> {
    match name {
        "open" => Some(Shown::Open),
        "folded" => Some(Shown::Folded),
        "page-only" => Some(Shown::PageOnly),
        _ => None,
    }
}

/// The visibility that a name or an expression says.
pub(super) fn visible(env: &Environment<'static>, spec: &str, vars: &Vars) -> Result<Shown, Fault> {
    if let Some(shown) = visibility(spec) {
        return Ok(shown);
    }
    let value = Code::new(env, "shown", spec)?.value(vars)?;
    value.as_str().and_then(visibility).ok_or_else(|| Fault {
        field: "shown",
        error: Error::new(
            ErrorKind::InvalidOperation,
            format!("no visibility {value}; there are open, folded, page-only"),
        ),
    })
}

/// The tables of one `[[table]]`.
pub(super) fn tables(context: Context<'_>, spec: &TableSpec) -> Result<Vec<Table>, Fault> {
    let mut tables = Vec::new();
    for vars in each(context, spec.each.as_ref())? {
        tables.extend(table(context, spec, &vars)?);
    }
    Ok(tables)
}

/// Tests a condition; an absent one holds.
pub(super) fn holds(env: &Environment<'static>, when: Option<&String>, vars: &Vars) -> Result<bool, Fault> {
    when.map_or(Ok(true), |when| Code::new(env, "when", when)?.holds(vars))
}

/// The variable `it` for each item of a list; once without one.
pub(super) fn each(context: Context<'_>, list: Option<&String>) -> Result<Vec<Vars>, Fault> {
    let none = Vars::default();
    let items = match list {
        None => vec![Value::from(())],
        Some(list) => few(context.scope, Code::new(context.env, "each", list)?.list(&none)?),
    };
    Ok(items.iter().map(|it| none.and("it", it)).collect())
}

/// Items of `rows` for which `filter` holds.
pub(super) fn filtered(
    context: Context<'_>,
    name: &'static str,
    (list, filter): (&str, Option<&String>),
    vars: &Vars,
) -> Result<Vec<Value>, Fault> {
    let Context { env, scope } = context;
    let items = few(scope, Code::new(env, "rows", list)?.list(vars)?);
    let Some(filter) = filter else { return Ok(items) };
    let filter = Code::new(env, "where", filter)?;
    let mut kept = Vec::new();
    for item in items {
        if filter.holds(&vars.and(name, &item))? {
            kept.push(item);
        }
    }
    Ok(kept)
}

fn table(context: Context<'_>, spec: &TableSpec, vars: &Vars) -> Result<Option<Table>, Fault> {
    let Context { env, scope } = context;
    if !holds(env, spec.when.as_ref(), vars)? {
        return Ok(None);
    }
    let columns: Vec<Column<'_>> =
        spec.columns.iter().map(|column| Column::new(env, column)).collect::<Result<_, _>>()?;
    let mut heads = Vec::new();
    for column in &columns {
        column.append(scope, vars, true, &mut heads)?;
    }
    let mut rows = Vec::new();
    for row in filtered(context, "row", (&spec.rows, spec.filter.as_ref()), vars)? {
        let (vars, mut cells) = (vars.and("row", &row), Vec::with_capacity(heads.len()));
        for column in &columns {
            column.append(scope, &vars, false, &mut cells)?;
        }
        rows.push(cells);
    }
    for more in &spec.more {
        let cells: Vec<Code<'_>> =
            more.cells.iter().map(|cell| Code::new(env, "more.cells", cell)).collect::<Result<_, _>>()?;
        for row in filtered(context, "row", (&more.rows, more.filter.as_ref()), vars)? {
            let vars = vars.and("row", &row);
            let mut cells: Vec<String> =
                cells.iter().map(|cell| cell.cell(&vars)).collect::<Result<_, _>>()?;
            cells.resize(heads.len(), format::none());
            rows.push(cells);
        }
    }
    let figures = |row: &Vec<String>| row.iter().skip(spec.left).any(|cell| *cell != format::NONE);
    if rows.is_empty() || !spec.empty && !rows.iter().any(figures) {
        return Ok(None);
    }
    let table = Table {
        caption: Text::new(env, "caption", &spec.caption)?.words(vars)?,
        columns: heads,
        left: spec.left,
        rows,
        shown: visible(env, &spec.shown, vars)?,
    };
    Ok(Some(if spec.empty_columns { table } else { without_empty_columns(table) }))
}
