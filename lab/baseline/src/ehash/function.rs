//! Hashes of connections by the names of their functions, for tuples of either version of IP.

use super::{Secrets, base, flat, hsiphash, jhash2, lport, siphash, v1, v4, v4_lport};
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use hashlane_flow::tuple::Tuple;

type Hash = fn(&Tuple, &Secrets) -> u32;

/// Ids, functions for IPv6, functions for IPv4.
const KNOWN: [(&str, Hash, Hash); 7] = [
    ("base", base, v4),
    ("v1", v1, v4),
    ("jhash2", jhash2, v4),
    ("hsiphash", hsiphash, v4),
    ("siphash", siphash, v4),
    ("lport", lport, v4_lport),
    ("flat", flat, v4_lport),
];

/// A pair of `inet6_ehashfn` and `inet_ehashfn` as a version of Linux has it, by its id.
#[derive(Clone, Copy)]
pub struct Function {
    id: &'static str,
    of_six: Hash,
    of_four: Hash,
}

impl Function {
    /// The functions with this id: `base`, `v1`, `jhash2`, `hsiphash`, `siphash`, `lport` or `flat`.
    ///
    /// # Errors
    /// The id is another.
    pub fn of(id: &str) -> Result<Self, UnknownFunction> {
        let found = KNOWN.iter().find(|(known, ..)| *known == id);
        let &(id, of_six, of_four) =
            found.ok_or_else(|| UnknownFunction { id: id.chars().take(64).collect() })?;
        Ok(Self { id, of_six, of_four })
    }

    /// Ids of all functions.
    pub fn ids() -> impl Iterator<Item = &'static str> {
        KNOWN.iter().map(|(id, ..)| *id)
    }

    /// Tests if the function uses [`Secrets::key`].
    pub fn has_key(&self) -> bool {
        matches!(self.id, "hsiphash" | "siphash")
    }

    /// Hash of a connection. Addresses that are IPv4-mapped are IPv4.
    #[inline]
    pub fn hash(&self, tuple: &Tuple, secrets: &Secrets) -> u32 {
        if tuple.is_v4() { (self.of_four)(tuple, secrets) } else { (self.of_six)(tuple, secrets) }
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Function({})", self.id)
    }
}

/// An id that no function has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnknownFunction {
    /// The id, its first 64 characters.
    pub id: String,
}

impl fmt::Display for UnknownFunction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "unknown function {:?}; known: {}", self.id, Function::ids().collect::<Vec<_>>().join(", "))
    }
}

impl core::error::Error for UnknownFunction {}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString as _;

    #[test]
    fn each_version_of_ip_has_the_function_of_its_kernel() {
        let six = Tuple::CHECK;
        let four = Tuple::v4([192, 0, 2, 1].into(), 80, [192, 0, 2, 2].into(), 4000);
        let secrets = Secrets::SOURCE;
        for id in Function::ids() {
            let function = Function::of(id).unwrap();
            let expected = if matches!(id, "lport" | "flat") { v4_lport } else { v4 };
            assert_eq!(function.hash(&four, &secrets), expected(&four, &secrets), "{id}");
            assert_ne!(function.hash(&six, &secrets), function.hash(&six.reversed(), &secrets), "{id}");
        }
        assert_eq!(Function::of("flat").unwrap().hash(&six, &secrets), flat(&six, &secrets));
    }

    #[test]
    fn an_unknown_function_is_named() {
        let error = Function::of("md5").unwrap_err().to_string();
        assert!(error.starts_with("unknown function \"md5\"; known: base, v1,"), "{error}");
    }
}
