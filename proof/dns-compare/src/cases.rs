//! Queries whose verdict by a validating resolver is stated.

/// Expected verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// The answer is secure.
    Secure,
    /// The answer is not signed, and that is proved.
    Insecure,
    /// Secure, or insecure where the zone opts out.
    Proof,
    /// SERVFAIL: there is no server, or no end.
    Failed,
}

/// Names of the zones with everything in them, types, the rcode and the verdict.
pub(crate) const CASES: [(&str, u16, u16, Expected); 59] = [
    // The apex.
    ("@", 6, 0, Expected::Secure),
    ("@", 2, 0, Expected::Secure),
    ("@", 48, 0, Expected::Secure),
    ("@", 33, 0, Expected::Proof),
    // Names with and without the type.
    ("www", 1, 0, Expected::Secure),
    ("www", 15, 0, Expected::Secure),
    ("types", 65_281, 0, Expected::Secure),
    ("large99", 1, 0, Expected::Secure),
    ("*.wild", 47, 0, Expected::Proof),
    ("www", 43, 0, Expected::Secure),
    // Empty non-terminals.
    ("b.c.ent", 1, 0, Expected::Proof),
    ("c.ent", 43, 0, Expected::Proof),
    ("under.empty", 1, 0, Expected::Proof),
    ("ent.dn", 1, 0, Expected::Proof),
    // NXDOMAIN at several depths.
    ("nothing", 1, 3, Expected::Proof),
    ("a.b.nothing", 28, 3, Expected::Proof),
    ("x.b.c.ent", 1, 3, Expected::Proof),
    ("1.2.3.4.5.6.7.8.www", 1, 3, Expected::Proof),
    // Wildcards: made records, other types, names that hide them, empty ones, aliases.
    ("x.wild", 1, 0, Expected::Proof),
    ("x.y.wild", 16, 0, Expected::Proof),
    ("x.wild", 28, 0, Expected::Proof),
    ("*.wild", 1, 0, Expected::Secure),
    ("*.wild", 28, 0, Expected::Proof),
    ("here.wild", 1, 0, Expected::Secure),
    ("x.here.wild", 1, 3, Expected::Proof),
    ("sub.*.wild", 1, 0, Expected::Secure),
    ("x.wildmx", 1, 0, Expected::Proof),
    ("x.a.b.wild2", 1, 0, Expected::Proof),
    ("x.b.wild2", 16, 3, Expected::Proof),
    ("x.entwild", 1, 0, Expected::Proof),
    ("x.wildcname", 1, 0, Expected::Proof),
    ("x.wildcname", 28, 0, Expected::Proof),
    ("x.wildcname2", 1, 0, Expected::Proof),
    ("x.wildcname", 5, 0, Expected::Proof),
    ("x.wildcnamenx", 1, 3, Expected::Proof),
    // Aliases.
    ("alias3", 28, 0, Expected::Secure),
    ("chain0", 1, 0, Expected::Secure),
    ("tonx2", 1, 3, Expected::Proof),
    ("tonodata", 28, 0, Expected::Proof),
    ("toent", 1, 0, Expected::Proof),
    ("towild", 1, 0, Expected::Proof),
    ("towildnodata", 1, 0, Expected::Proof),
    ("alias", 5, 0, Expected::Secure),
    // DNAME.
    ("dname", 39, 0, Expected::Secure),
    ("dname", 1, 0, Expected::Secure),
    ("dname", 28, 0, Expected::Proof),
    ("x.dname", 1, 0, Expected::Secure),
    ("c.dname", 1, 0, Expected::Secure),
    ("y.w.dname", 1, 0, Expected::Proof),
    ("nothing.dname", 1, 3, Expected::Proof),
    ("x.dnamechain", 1, 0, Expected::Secure),
    // Delegations.
    ("secure", 43, 0, Expected::Secure),
    ("insecure", 43, 0, Expected::Proof),
    ("cut.under.empty", 43, 0, Expected::Proof),
    ("cut2.under.empty", 43, 0, Expected::Secure),
    // Names below delegations to servers that do not exist.
    ("host.secure", 1, 2, Expected::Failed),
    ("x.insecure", 1, 2, Expected::Failed),
    // Aliases without an end.
    ("loop", 1, 2, Expected::Failed),
    ("x.wildloop", 1, 2, Expected::Failed),
];

/// Names of the families of zones, queries for A, the rcode and the verdict.
pub(crate) const FAMILY: [(&str, u16, Expected); 12] = [
    ("www", 0, Expected::Secure),
    ("www.child", 0, Expected::Secure),
    ("www.grand.child", 0, Expected::Secure),
    ("nothing.child", 3, Expected::Secure),
    ("nothing.grand.child", 3, Expected::Proof),
    ("x.w.child", 0, Expected::Secure),
    ("www.plain", 0, Expected::Insecure),
    ("nothing.plain", 3, Expected::Insecure),
    ("www.under.an.empty", 0, Expected::Insecure),
    ("down", 0, Expected::Secure),
    ("downplain", 0, Expected::Insecure),
    ("www.dname", 0, Expected::Secure),
];
