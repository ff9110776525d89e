//! Response policy zones as text: triggers on the queried name, line by line.
//!
//! A record is one line; lines inside parentheses belong to the record before them, and are no rules. A
//! quotation ends with its line. This is enough for the rules of a zone. A zone file with all its data is
//! read by a name server.

use crate::entry::{Entry, Line, Rule, before, without_entry, words};
use crate::reason::Reason;
use alloc::vec::Vec;
use hashlane_name_map::{MAX_LEN, Target};

/// Last labels of the triggers besides the queried name.
const TRIGGERS: [&[u8]; 4] = [b"rpz-ip", b"rpz-client-ip", b"rpz-nsdname", b"rpz-nsip"];

/// Types of records that belong to the zone, signatures included.
const ZONE: [&[u8]; 9] =
    [b"SOA", b"RRSIG", b"NSEC", b"NSEC3", b"NSEC3PARAM", b"DNSKEY", b"CDS", b"CDNSKEY", b"ZONEMD"];

/// The owner of a record inside the zone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Owner {
    /// None yet.
    #[default]
    Missing,
    /// The name of the zone.
    Apex,
    /// A name below the zone, which is the trigger.
    Trigger,
    Outside,
    Escaped,
}

/// The state of a zone between its lines.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rpz {
    /// The name of the zone, once it is known; names are then compared with it.
    apex: Option<Vec<u8>>,
    /// The origin of relative names, once it is known, without the dot at its end.
    origin: Option<Vec<u8>>,
    owner: Owner,
    /// The trigger, relative to the zone.
    trigger: Vec<u8>,
    /// Parentheses that are open.
    open: usize,
}

impl Rpz {
    /// The entry of a line.
    pub(crate) fn entries(&mut self, line: &[u8], each: &mut (impl FnMut(Entry<'_>) + ?Sized)) -> Line {
        let was_open = self.open > 0;
        let text = self.without_comment(line);
        if text.trim_ascii().is_empty() {
            return without_entry(line);
        }
        if was_open {
            return Line::Header;
        }
        match self.record(text) {
            Some(entry) => each(entry),
            None => return Line::Header,
        }
        Line::Entries
    }

    /// The name of the last trigger, without the wildcard before it.
    pub(crate) fn name(&self) -> &[u8] {
        self.trigger.strip_prefix(b"*.").unwrap_or(&self.trigger)
    }

    /// The line before its comment. Counts its parentheses; a quotation and an escape have neither.
    fn without_comment<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        let (mut is_quoted, mut is_escaped) = (false, false);
        for (at, byte) in line.iter().enumerate() {
            match byte {
                _ if is_escaped => is_escaped = false,
                b'\\' => is_escaped = true,
                b'"' => is_quoted = !is_quoted,
                _ if is_quoted => {}
                b';' => return line.get(..at).unwrap_or(line),
                b'(' => self.open += 1,
                b')' => self.open = self.open.saturating_sub(1),
                _ => {}
            }
        }
        line
    }

    /// The entry of a record or directive. `None` if it belongs to the zone.
    fn record<'a>(&'a mut self, text: &[u8]) -> Option<Entry<'a>> {
        let mut words = words(text);
        let owner = if text.first().is_some_and(u8::is_ascii_whitespace) { None } else { words.next() };
        if let Some(directive @ [b'$', ..]) = owner {
            return self.directive(directive, words.next()).err().map(Err);
        }
        let mut words = words.skip_while(|word| is_ttl_or_class(word));
        let Some(rtype) = words.next() else { return Some(Err(Reason::NotARecord)) };
        let is_soa = rtype.eq_ignore_ascii_case(b"SOA");
        if let Some(owner) = owner {
            self.set_owner(owner, is_soa);
        }
        let is_zone = ZONE.iter().any(|zone| zone.eq_ignore_ascii_case(rtype));
        (!is_zone && self.owner != Owner::Apex).then(|| self.entry(rtype, words.next()))
    }

    fn directive(&mut self, directive: &[u8], value: Option<&[u8]>) -> Result<(), Reason> {
        if directive.eq_ignore_ascii_case(b"$ORIGIN") {
            let origin = value.ok_or(Reason::NotARecord)?;
            let origin = self.absolute(origin).ok_or(Reason::OutsideZone)?;
            // An origin that is relative to the last one is longer.
            if origin.len() > MAX_LEN {
                return Err(Reason::TooLong);
            }
            self.origin = Some(origin);
            return Ok(());
        }
        if directive.eq_ignore_ascii_case(b"$TTL") { Ok(()) } else { Err(Reason::Directive) }
    }

    /// A name without the dot at its end. `None` if it is relative to an origin that is not known.
    fn absolute(&self, name: &[u8]) -> Option<Vec<u8>> {
        if let Some(name) = name.strip_suffix(b".") {
            return Some(name.to_vec());
        }
        let origin = self.origin.as_deref()?;
        Some(match name {
            b"@" => origin.to_vec(),
            name if origin.is_empty() => name.to_vec(),
            name => [name, b".", origin].concat(),
        })
    }

    fn set_owner(&mut self, name: &[u8], is_soa: bool) {
        self.trigger.clear();
        self.owner = Owner::Outside;
        if name.contains(&b'\\') {
            self.owner = Owner::Escaped;
            return;
        }
        let absolute = self.absolute(name);
        if is_soa {
            self.apex.clone_from(&absolute);
            self.origin = self.origin.take().or_else(|| absolute.clone());
        } else if self.apex.is_none() {
            self.apex.clone_from(&self.origin);
        }
        match (absolute, &self.apex) {
            _ if is_soa => self.owner = Owner::Apex,
            // Nothing names the zone: names are relative to it.
            (None, None) if name == b"@" => self.owner = Owner::Apex,
            (None, None) => {
                self.trigger.extend_from_slice(name);
                self.owner = Owner::Trigger;
            }
            (Some(name), Some(apex)) => {
                let Some((relative, end)) = name.len().checked_sub(apex.len()).map(|at| name.split_at(at))
                else {
                    return;
                };
                if !end.eq_ignore_ascii_case(apex) {
                    return;
                }
                if relative.is_empty() {
                    self.owner = Owner::Apex;
                } else if let Some(relative) =
                    relative.strip_suffix(b".").or(apex.is_empty().then_some(relative))
                {
                    self.trigger.extend_from_slice(relative);
                    self.owner = Owner::Trigger;
                }
            }
            _ => {}
        }
    }

    /// The rule of the last owner, for a record of this type.
    fn entry<'a>(&'a self, rtype: &[u8], data: Option<&[u8]>) -> Entry<'a> {
        match self.owner {
            Owner::Missing => return Err(Reason::NotARecord),
            Owner::Escaped => return Err(Reason::Character),
            Owner::Outside | Owner::Apex => return Err(Reason::OutsideZone),
            Owner::Trigger => {}
        }
        let last = self.trigger.rsplit(|byte| *byte == b'.').next().unwrap_or_default();
        if TRIGGERS.iter().any(|trigger| trigger.eq_ignore_ascii_case(last)) {
            return Err(Reason::RpzTrigger);
        }
        if !rtype.eq_ignore_ascii_case(b"CNAME") {
            return Err(if rtype.iter().all(u8::is_ascii_alphanumeric) {
                Reason::RpzData
            } else {
                Reason::NotARecord
            });
        }
        let is = |action: &[u8]| data.is_some_and(|data| data.eq_ignore_ascii_case(action));
        let exception = is(b"rpz-passthru.");
        if is(b"rpz-tcp-only.") {
            return Err(Reason::RpzAction);
        }
        if !exception && !is(b".") && !is(b"*.") && !is(b"rpz-drop.") {
            return Err(if data.is_some() { Reason::RpzData } else { Reason::NotARecord });
        }
        let rule = crate::domains::rule(&self.trigger, Target::Exact)?;
        Ok(Rule { exception, ..rule })
    }
}

/// Tests if a word before the type of a record is a TTL, such as 60 or 1h, or a class.
fn is_ttl_or_class(word: &[u8]) -> bool {
    let is_ttl = word.first().is_some_and(u8::is_ascii_digit) && word.iter().all(u8::is_ascii_alphanumeric);
    is_ttl || [b"IN", b"CH", b"HS"].iter().any(|class| class.eq_ignore_ascii_case(word))
}

/// Tests if a line looks like one of a zone with rules.
pub(crate) fn is_likely(line: &[u8]) -> bool {
    let text = before(line, b';');
    if [&b"$TTL "[..], b"$ORIGIN "].iter().any(|start| text.starts_with(start)) {
        return true;
    }
    let mut words = words(text).skip(usize::from(text.first().is_some_and(|byte| *byte > b' ')));
    let rtype = words.find(|word| !is_ttl_or_class(word)).unwrap_or_default();
    let is_type = [&b"CNAME"[..], b"SOA"].iter().any(|known| known.eq_ignore_ascii_case(rtype));
    is_type && words.next().is_some()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entry::tests::shown;
    use std::string::String;

    fn read(zone: &str) -> Vec<String> {
        let mut rpz = Rpz::default();
        zone.lines().flat_map(|line| shown(|each| rpz.entries(line.as_bytes(), each)).1).collect()
    }

    #[test]
    fn names_are_blocked_or_passed() {
        let zone = "\
$TTL 1h ; soon
@ IN SOA localhost. root.localhost. (
    1 ; serial
    2h 3h 4w 1h )
    IN NS localhost.
a.example CNAME .
*.A.example 60 IN CNAME . ; below
b.example IN 60 cname *.
c.example CNAME rpz-drop.
good.a.example CNAME RPZ-passthru.
    CNAME .
*.good.a.example CNAME rpz-passthru.
";
        let expected = [
            "Exact a.example",
            "Below A.example",
            "Exact b.example",
            "Exact c.example",
            "!Exact good.a.example",
            "Exact good.a.example",
            "!Below good.a.example",
        ];
        assert_eq!(read(zone), expected);
    }

    #[test]
    fn owners_are_relative_to_the_zone() {
        let zone = "$ORIGIN rpz.test.\n@ SOA a. b. 1 2 3 4 5\na CNAME .\nb.RPZ.test. CNAME .\n\
            c.example. CNAME .\nxrpz.test. CNAME .\n$ORIGIN com.rpz.test.\nd CNAME .\n$ORIGIN net\n@ CNAME .";
        let expected = ["Exact a", "Exact b", "outside-zone", "outside-zone", "Exact d.com", "Exact net.com"];
        assert_eq!(read(zone), expected);
        let zone = "rpz.test. SOA a. b. 1 2 3 4 5\na.rpz.test. CNAME .\nb CNAME .";
        assert_eq!(read(zone), ["Exact a", "Exact b"]);
        let zone = "$ORIGIN .\nrpz.test SOA a. b. 1 2 3 4 5\n$ORIGIN rpz.test.\na CNAME .\n@ TXT x";
        assert_eq!(read(zone), ["Exact a"]);
        assert_eq!(read("a CNAME .\nb.rpz.test. CNAME ."), ["Exact a", "outside-zone"]);
    }

    #[test]
    fn quotations_have_neither_comments_nor_parentheses() {
        let zone = r#"
@ TXT "a list (c; see b)"
a CNAME .
b TXT "x\"(" ; ( "
c CNAME .
d\(e TXT x
f CNAME . ; "(
g TXT ( "\\"
    ")" )
h CNAME .
"#;
        let expected = ["Exact a", "rpz-data", "Exact c", "character", "Exact f", "rpz-data", "Exact h"];
        assert_eq!(read(zone), expected);
    }

    #[test]
    fn other_records_have_their_reasons() {
        for (line, reason) in [
            ("32.1.2.0.192.rpz-ip CNAME .", "rpz-trigger"),
            ("ns.example.rpz-nsdname CNAME .", "rpz-trigger"),
            ("a CNAME rpz-tcp-only.", "rpz-action"),
            ("a CNAME garden.example.", "rpz-data"),
            ("a A 192.0.2.1", "rpz-data"),
            ("a CNAME", "not-a-record"),
            ("a", "not-a-record"),
            ("  CNAME .", "not-a-record"),
            ("* CNAME .", "all-names"),
            ("a\\.b CNAME .", "character"),
            ("$INCLUDE other", "directive"),
            ("$ORIGIN", "not-a-record"),
            ("$ORIGIN a", "outside-zone"),
        ] {
            assert_eq!(read(line), [reason], "{line}");
        }
        let deeper = ["$ORIGIN a.", &"\n$ORIGIN b".repeat(127)].concat();
        assert_eq!(read(&deeper), ["too-long"]);
        assert_eq!(shown(|each| Rpz::default().entries(b"; a CNAME .", each)).0, Line::Comment);
        assert_eq!(shown(|each| Rpz::default().entries(b"\t", each)).0, Line::Blank);
    }
}
