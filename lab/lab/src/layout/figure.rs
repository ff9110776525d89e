//! A figure of the records as templates and expressions have it.

use crate::evidence::Doubt;
use hashlane_stats::Interval;
use minijinja::value::{Object, Value};
use minijinja::{Error, ErrorKind};
use std::error::Error as _;
use std::sync::Arc;

/// Fault of a figure that is written without a format.
pub(super) const UNFORMATTED: &str = "a figure without a format, such as `|figure`";

/// A figure, or the reason why it is missing. Attributes: `value`, `low`, `high`, `samples`; `measured`;
/// `ok`, which is `false` if no sentence may state it; `why`: `""`, `"not measured"` or `"undecided"`.
#[derive(Clone, Debug)]
pub(super) struct Figure {
    pub(super) measured: Option<Interval>,
    pub(super) samples: u64,
    /// Reason for which a sentence may not state it.
    pub(super) doubt: Option<Doubt>,
}

impl Figure {
    /// A number without uncertainty.
    pub(super) fn exact(value: f64) -> Self {
        Self { measured: Some(Interval::exact(value)), samples: 1, doubt: None }
    }

    /// No figure; `what` names it.
    pub(super) fn missing(what: String) -> Self {
        Self { measured: None, samples: 0, doubt: Some(Doubt::NotMeasured { figure: what }) }
    }

    /// The interval, unless there is a doubt.
    pub(super) fn stated(&self) -> Result<Interval, Error> {
        match (&self.doubt, self.measured) {
            (None, Some(interval)) => Ok(interval),
            (Some(doubt), _) => Err(doubtful(doubt.clone())),
            (None, None) => Err(doubtful(Doubt::NotMeasured { figure: "a figure".to_owned() })),
        }
    }

    /// The figure, with `change` applied to its interval.
    pub(super) fn map(&self, change: impl Fn(Interval) -> Interval) -> Self {
        Self { measured: self.measured.map(change), ..self.clone() }
    }

    fn bound(&self, of: impl Fn(Interval) -> f64) -> Value {
        match self.stated() {
            Ok(interval) => Value::from(of(interval)),
            Err(error) => Value::from(error),
        }
    }
}

impl Object for Figure {
    fn get_value_by_str(self: &Arc<Self>, key: &str) -> Option<Value> {
        Some(match key {
            "value" => self.bound(|i| i.value),
            "low" => self.bound(|i| i.low),
            "high" => self.bound(|i| i.high),
            "samples" => Value::from(self.samples),
            "measured" => Value::from(self.measured.is_some()),
            "conclusive" => Value::from(self.measured.is_some_and(|i| i.is_conclusive())),
            "ok" => Value::from(self.doubt.is_none() && self.measured.is_some()),
            "why" => Value::from(match (&self.doubt, self.measured) {
                (None, Some(_)) => "",
                (Some(Doubt::NotMeasured { .. }), _) | (None, None) => "not measured",
                (Some(_), Some(_) | None) => "undecided",
            }),
            other => Value::from(Error::new(
                ErrorKind::InvalidOperation,
                format!(
                    "no field {other:?} of a figure; there are value, low, high, samples, measured, ok, why"
                ),
            )),
        })
    }

    fn get_value(self: &Arc<Self>, key: &Value) -> Option<Value> {
        self.get_value_by_str(key.as_str()?)
    }

    fn is_true(self: &Arc<Self>) -> bool {
        self.measured.is_some()
    }
}

impl Figure {
    /// The figure as a value of templates.
    pub(super) fn into_value(self) -> Value {
        Value::from_object(self)
    }
}

/// The error of a text that a doubt withholds.
pub(super) fn doubtful(doubt: Doubt) -> Error {
    Error::new(ErrorKind::InvalidOperation, doubt.to_string()).with_source(doubt)
}

/// The doubt that an error comes from.
pub(super) fn doubt(error: &Error) -> Option<Doubt> {
    let mut source = error.source();
    while let Some(cause) = source {
        if let Some(doubt) = cause.downcast_ref::<Doubt>() {
            return Some(doubt.clone());
        }
        source = cause.source();
    }
    None
}
