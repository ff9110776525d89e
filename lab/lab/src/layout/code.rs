//! Templates and expressions of a study file, compiled.

use super::figure::{self, Figure};
use super::scope::{MARK, MOST_ITEMS};
use hashlane_stats::format;
use minijinja::value::Value;
use minijinja::{Environment, Error, ErrorKind, Expression, Template};
use std::collections::BTreeMap;
use std::fmt;

/// Reason why a part of a file cannot be drawn: the field, and what is wrong with it.
#[derive(Debug)]
pub(super) struct Fault {
    pub(super) field: &'static str,
    pub(super) error: Error,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let detail = self.error.detail().map_or_else(String::new, |detail| format!(": {detail}"));
        write!(f, "{}: {}{detail}", self.field, self.error.kind())
    }
}

/// Imports the macros of the file, where a text calls one.
const IMPORT: &str = "{% import 'words' as words %}";

/// Longest text: what compiles it goes one call deeper for each term of an expression.
const MOST_TEXT: usize = 16 << 10;

fn check_length(source: &str) -> Result<(), Error> {
    if source.len() > MOST_TEXT {
        let why = format!("a text of more than {MOST_TEXT} bytes; make it shorter, or several");
        return Err(Error::new(ErrorKind::InvalidOperation, why));
    }
    Ok(())
}

/// Compiles a text, which is its own name.
fn compile<'env>(env: &'env Environment<'static>, source: &str) -> Result<Template<'env, 'env>, Error> {
    check_length(source)?;
    env.get_template(&format!("{MARK}{source}"))
}

fn calls_words(source: &str) -> bool {
    source.contains("words.")
}

/// Variables of a text, which the loops around it set.
#[derive(Clone, Debug, Default)]
pub(super) struct Vars(Vec<(&'static str, Value)>);

impl Vars {
    /// These and one more.
    pub(super) fn and(&self, name: &'static str, value: &Value) -> Self {
        let mut all = self.0.clone();
        all.push((name, value.clone()));
        Self(all)
    }

    fn context(&self) -> Value {
        self.0.iter().cloned().collect::<BTreeMap<&str, Value>>().into()
    }
}

/// A text with holes.
pub(super) struct Text<'env> {
    field: &'static str,
    template: Template<'env, 'env>,
}

impl<'env> Text<'env> {
    pub(super) fn new(
        env: &'env Environment<'static>,
        field: &'static str,
        source: &str,
    ) -> Result<Self, Fault> {
        let source = if calls_words(source) { format!("{IMPORT}{source}") } else { source.to_owned() };
        let template = compile(env, &source).map_err(|error| Fault { field, error })?;
        Ok(Self { field, template })
    }

    pub(super) fn render(&self, vars: &Vars) -> Result<String, Fault> {
        self.template.render(vars.context()).map_err(|error| Fault { field: self.field, error })
    }

    /// The words of the text, with one space between them.
    pub(super) fn words(&self, vars: &Vars) -> Result<String, Fault> {
        Ok(self.render(vars)?.split_whitespace().collect::<Vec<_>>().join(" "))
    }
}

/// An expression.
pub(super) struct Code<'env> {
    field: &'static str,
    form: Form<'env>,
}

enum Form<'env> {
    Expression(Expression<'env, 'env>),
    /// One that calls macros: a template that sets `result`.
    Template(Template<'env, 'env>),
}

impl<'env> Code<'env> {
    pub(super) fn new(
        env: &'env Environment<'static>,
        field: &'static str,
        source: &str,
    ) -> Result<Self, Fault> {
        let fault = |error| Fault { field, error };
        let form = if calls_words(source) {
            let source = format!("{IMPORT}{{% set result = ({source}) %}}");
            Form::Template(compile(env, &source).map_err(fault)?)
        } else {
            check_length(source).map_err(fault)?;
            Form::Expression(env.compile_expression_owned(source.to_owned()).map_err(fault)?)
        };
        Ok(Self { field, form })
    }

    pub(super) fn value(&self, vars: &Vars) -> Result<Value, Fault> {
        let fault = |error| Fault { field: self.field, error };
        match &self.form {
            Form::Expression(expression) => expression.eval(vars.context()).map_err(fault),
            Form::Template(template) => {
                let captured = template.render_captured(vars.context()).map_err(fault)?;
                Ok(captured.state().lookup("result").unwrap_or_default())
            }
        }
    }

    /// The value; `None` of a figure that is not there.
    pub(super) fn measured(&self, vars: &Vars) -> Result<Option<Value>, Fault> {
        match self.value(vars) {
            Ok(value) => Ok(Some(value)),
            Err(fault) if figure::doubt(&fault.error).is_some() => Ok(None),
            Err(fault) => Err(fault),
        }
    }

    /// The value, if there is one: neither undefined nor `none`.
    fn present(&self, vars: &Vars) -> Result<Option<Value>, Fault> {
        Ok(self.measured(vars)?.filter(|value| !value.is_undefined() && !value.is_none()))
    }

    fn invalid(&self, why: String) -> Fault {
        Fault { field: self.field, error: Error::new(ErrorKind::InvalidOperation, why) }
    }

    /// The items of a list; of a figure that is not there, none.
    pub(super) fn list(&self, vars: &Vars) -> Result<Vec<Value>, Fault> {
        let Some(value) = self.present(vars)? else { return Ok(Vec::new()) };
        let items = value.try_iter().map_err(|error| Fault { field: self.field, error })?;
        let list: Vec<Value> = items.take(MOST_ITEMS + 1).collect();
        if list.len() > MOST_ITEMS || value.as_str().is_some() {
            return Err(self.invalid(format!("a list of at most {MOST_ITEMS} items is expected")));
        }
        Ok(list)
    }

    /// A cell of a table: its text, or the dash.
    pub(super) fn cell(&self, vars: &Vars) -> Result<String, Fault> {
        match self.present(vars)? {
            None => Ok(format::none()),
            Some(value) if value.downcast_object_ref::<Figure>().is_some() => {
                Err(self.invalid(figure::UNFORMATTED.to_owned()))
            }
            Some(value) => Ok(value.to_string()),
        }
    }

    /// A condition. One on a figure that is not there does not hold.
    pub(super) fn holds(&self, vars: &Vars) -> Result<bool, Fault> {
        Ok(self.measured(vars)?.is_some_and(|value| value.is_true()))
    }
}
