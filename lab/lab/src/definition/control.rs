//! The A/A control of a study: one scheme that is timed twice in every round, under two ids.

/// Suffix of the control's id, after the id of its scheme.
const AGAIN: &str = "/again";

/// Id of the control of a scheme.
pub(super) fn again(scheme: &str) -> String {
    format!("{scheme}{AGAIN}")
}

/// Id of the scheme that implements `id`: the same but for an A/A control.
pub fn subject(id: &str) -> &str {
    id.strip_suffix(AGAIN).unwrap_or(id)
}

/// Adds the control to schemes that have its counterpart, and lack the control.
pub(super) fn add_to(schemes: &mut Vec<String>, control: Option<&(String, String)>) {
    if let Some((of, to)) = control
        && schemes.contains(to)
        && !schemes.contains(of)
    {
        schemes.push(of.clone());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample;

    #[test]
    fn the_control_is_measured_and_not_listed() {
        let definition = sample::definition();
        let control = "foo/by-element/summed/again";
        assert_eq!(definition.measured_schemes().last().map(String::as_str), Some(control));
        assert!(definition.is_control(control) && !definition.schemes.iter().any(|id| id == control));
        assert!(definition.ratio_pairs().contains(&(control, "foo/by-element/summed")));
        assert_eq!(subject(control), "foo/by-element/summed");
    }
}
