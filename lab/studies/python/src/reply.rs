//! Lines that a script writes.

use std::str::FromStr;

/// A line of a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reply {
    /// `ok NAME=VALUE …`
    Done(Fields),
    /// `missing PACKAGE …`
    Missing(Vec<String>),
    /// `error TEXT`: an exception.
    Raised(String),
}

/// Names and values of a line, in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields(Vec<(String, String)>);

impl Fields {
    /// Value of a name.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Value of a name as a number.
    ///
    /// # Errors
    /// There is no such name, or its value is no number.
    pub(crate) fn number<N: FromStr>(&self, name: &str) -> Result<N, String> {
        let value = self.text(name).ok_or_else(|| format!("no field {name} in its answer"))?;
        value.parse().map_err(|_| format!("{name}={value} in its answer is no number"))
    }

    /// All names and values.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl FromStr for Reply {
    type Err = String;

    fn from_str(line: &str) -> Result<Self, String> {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "ok" => {
                let field = |word: &str| {
                    let (name, value) = word.split_once('=')?;
                    Some((name.to_owned(), value.to_owned()))
                };
                let fields: Option<Vec<_>> = rest.split_whitespace().map(field).collect();
                fields.map(|fields| Self::Done(Fields(fields))).ok_or_else(|| unexpected(line))
            }
            "missing" if !rest.trim().is_empty() => {
                Ok(Self::Missing(rest.split_whitespace().map(str::to_owned).collect()))
            }
            "error" => Ok(Self::Raised(rest.to_owned())),
            _ => Err(unexpected(line)),
        }
    }
}

fn unexpected(line: &str) -> String {
    let start: String = line.chars().take(80).collect();
    format!("it wrote {start:?}; expected a line that begins with ok, missing or error")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_fields_in_order() {
        let Ok(Reply::Done(fields)) = "ok ns=1200 sum=18446744073709551615 x=-0.5".parse() else {
            panic!("no fields")
        };
        assert_eq!((fields.number("ns"), fields.number("sum")), (Ok(1200_u64), Ok(u64::MAX)));
        assert_eq!(fields.number("x"), Ok(-0.5));
        assert_eq!(fields.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["ns", "sum", "x"]);
        assert_eq!(fields.number::<u64>("y").unwrap_err(), "no field y in its answer");
        assert_eq!(fields.number::<u64>("x").unwrap_err(), "x=-0.5 in its answer is no number");
        assert_eq!("ok".parse(), Ok(Reply::Done(Fields::default())));
    }

    #[test]
    fn reads_missing_packages_and_exceptions() {
        let missing = Reply::Missing(vec!["mmh3".into(), "ray".into()]);
        assert_eq!("missing mmh3 ray".parse(), Ok(missing));
        assert_eq!("error ValueError: no = sign".parse(), Ok(Reply::Raised("ValueError: no = sign".into())));
    }

    #[test]
    fn refuses_other_lines() {
        for line in ["", "okay ns=1", "ok ns", "missing", "missing  ", "Traceback (most recent call last):"] {
            assert!(line.parse::<Reply>().unwrap_err().contains("expected a line"), "{line}");
        }
        let long = "x".repeat(1 << 20).parse::<Reply>().unwrap_err();
        assert!(long.len() < 200);
    }
}
