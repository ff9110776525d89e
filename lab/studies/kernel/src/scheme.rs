//! The hashes that a kernel is built with.

use hashlane_baseline::ehash::{self, Secrets};
use hashlane_flow::ehash::{SipHash13, TupleHash};
use hashlane_flow::tuple::Tuple;
use std::fmt;
use std::str::FromStr;

/// Replacement of `inet6_ehashfn` in a kernel of the study.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KernelScheme {
    /// Linux to 6.4.
    Base,
    /// q2ven/inet6_ehashfn src/v1.c.
    V1,
    /// Linux since 6.5, and the stable kernels that took the fix of CVE-2023-1206.
    Jhash2,
    /// Considered in 2023.
    HSipHash,
    /// Considered in 2023.
    SipHash,
    /// Linux after 6.18, as reported.
    Flat,
    /// SipHash-1-3 over the whole tuple: [`hashlane_flow::ehash::SipHash13`]. The mix of the network
    /// namespace joins the result.
    SipHash13,
}

impl KernelScheme {
    /// All of them, the reference first.
    pub const ALL: [Self; 7] =
        [Self::Base, Self::V1, Self::Jhash2, Self::HSipHash, Self::SipHash, Self::Flat, Self::SipHash13];

    /// The id in study files.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Base => "base",
            Self::V1 => "v1",
            Self::Jhash2 => "jhash2",
            Self::HSipHash => "hsiphash",
            Self::SipHash => "siphash",
            Self::Flat => "flat",
            Self::SipHash13 => "siphash-1-3",
        }
    }

    /// Contents of `hashlane_scheme.h` for it.
    pub(crate) fn header(self) -> String {
        let number = match self {
            Self::Base => "BASE",
            Self::V1 => "V1",
            Self::Jhash2 => "JHASH2",
            Self::HSipHash => "HSIPHASH",
            Self::SipHash => "SIPHASH",
            Self::Flat => "FLAT",
            Self::SipHash13 => "OURS",
        };
        format!("#define HASHLANE_SCHEME HASHLANE_{number}\n#define HASHLANE_NAME \"{}\"\n", self.id())
    }

    /// Hash that a kernel with these secrets must return.
    pub(crate) fn hash(self, tuple: &Tuple, secrets: &Secrets) -> u32 {
        match self {
            Self::Base => ehash::base(tuple, secrets),
            Self::V1 => ehash::v1(tuple, secrets),
            Self::Jhash2 => ehash::jhash2(tuple, secrets),
            Self::HSipHash => ehash::hsiphash(tuple, secrets),
            Self::SipHash => ehash::siphash(tuple, secrets),
            Self::Flat => ehash::flat(tuple, secrets),
            Self::SipHash13 => SipHash13::new(&secrets.key).hash(tuple) as u32 ^ secrets.mix,
        }
    }
}

impl fmt::Display for KernelScheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// No kernel is built with a hash of that id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownKernelScheme;

impl FromStr for KernelScheme {
    type Err = UnknownKernelScheme;

    fn from_str(id: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|scheme| scheme.id() == id).ok_or(UnknownKernelScheme)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scheme_has_its_id_and_its_place_in_the_tree() {
        let tree = include_str!("tree/ehash.h");
        for scheme in KernelScheme::ALL {
            assert_eq!(scheme.id().parse(), Ok(scheme));
            let header = scheme.header();
            let name = header.split_whitespace().nth(2).unwrap();
            assert!(
                tree.contains(&format!("#if HASHLANE_SCHEME == {name}\n"))
                    || tree.contains(&format!("#elif HASHLANE_SCHEME == {name}\n")),
                "{name}"
            );
        }
        assert_eq!("".parse::<KernelScheme>(), Err(UnknownKernelScheme));
    }
}
