//! The configuration that is made.

use crate::config::{Anchor, KeyCondition, NameCondition, PacketKind, TrustPolicy, TrustRule};
use serde::Serialize;
use std::fmt::Write as _;
use toml::Value;

/// Tables with values, in the order of the new configuration. The empty name is the top of the file.
const TABLES: [&str; 15] = [
    "",
    "server",
    "faces.unix",
    "faces.udp",
    "faces.udp_multicast",
    "faces.ether",
    "faces.tcp",
    "faces.websocket",
    "faces.congestion",
    "cs",
    "management",
    "rib",
    "rib.propagate",
    "strategies",
    "trust",
];

/// Privileges of a certificate.
#[derive(Debug)]
pub(super) struct Authorize {
    pub(super) certificate: String,
    pub(super) modules: Vec<String>,
}

/// The configuration so far.
#[derive(Debug, Default)]
pub(super) struct Model {
    /// Tables, keys and values.
    values: Vec<(&'static str, String, String)>,
    pub(super) authorize: Vec<Authorize>,
    /// Policies by their tables.
    pub(super) trust: Vec<(&'static str, TrustPolicy)>,
}

impl Model {
    /// Sets a key; it replaces an earlier value.
    pub(super) fn set(&mut self, table: &'static str, key: &str, value: impl Into<Value>) {
        debug_assert!(TABLES.contains(&table), "{table}");
        self.values.retain(|(of, known, _)| (*of, known.as_str()) != (table, key));
        self.values.push((table, key.to_owned(), value.into().to_string()));
    }

    /// The text of the configuration.
    pub(super) fn into_toml(self) -> String {
        let mut out = String::new();
        for table in TABLES {
            let values: Vec<_> = self.values.iter().filter(|(of, ..)| *of == table).collect();
            if values.is_empty() {
                continue;
            }
            if !table.is_empty() {
                let _ = writeln!(out, "[{table}]");
            }
            for (_, key, value) in values {
                let _ = writeln!(out, "{} = {value}", key_text(key));
            }
            out.push('\n');
        }
        for Authorize { certificate, modules } in &self.authorize {
            let _ = writeln!(
                out,
                "[[management.authorize]]\ncertificate = {}",
                Value::from(certificate.as_str())
            );
            let _ = writeln!(out, "modules = {}\n", Value::from(modules.clone()));
        }
        for (table, policy) in &self.trust {
            write_policy(table, policy, &mut out);
        }
        out.truncate(out.trim_end().len());
        if !out.is_empty() {
            out.push('\n');
        }
        out
    }
}

/// A key, in quotes if it needs them.
fn key_text(key: &str) -> String {
    let is_bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    match !key.is_empty() && key.bytes().all(is_bare) {
        true => key.to_owned(),
        false => Value::from(key).to_string(),
    }
}

fn write_policy(table: &str, policy: &TrustPolicy, out: &mut String) {
    let TrustPolicy { any, anchors, rules } = policy;
    if *any {
        let _ = writeln!(out, "[{table}]\nany = true\n");
    }
    for anchor in anchors {
        let Anchor { file, base64, folder, refresh_s } = anchor;
        let _ = writeln!(out, "[[{table}.anchors]]");
        write_value(out, "file", file);
        write_value(out, "base64", base64);
        write_value(out, "folder", folder);
        write_value(out, "refresh_s", refresh_s);
        out.push('\n');
    }
    for TrustRule { id, kind, filters, checkers } in rules {
        let kind = if *kind == PacketKind::Interest { "interest" } else { "data" };
        let _ = writeln!(out, "[[{table}.rules]]\nid = {}\nfor = \"{kind}\"", Value::from(id.as_str()));
        let filters: Vec<&NameCondition> = filters.iter().collect();
        if !filters.is_empty() {
            write_value(out, "filters", &Some(filters));
        }
        for checker in checkers {
            let _ = writeln!(out, "[[{table}.rules.checkers]]");
            write_value(out, "type", &Some(checker.kind));
            write_value(out, "signature", &Some(checker.signature));
            let key: &Option<KeyCondition> = &checker.key;
            write_value(out, "key", key);
        }
        out.push('\n');
    }
}

/// Writes a key with its value, if there is one.
fn write_value<V: Serialize>(out: &mut String, key: &str, value: &Option<V>) {
    let Some(value) = value else { return };
    match Value::try_from(value) {
        Ok(value) => {
            let _ = writeln!(out, "{key} = {value}");
        }
        Err(error) => debug_assert!(false, "{key}: values of the configuration have a text: {error}"),
    }
}
