//! Messages in wire form; a message longer than the limit is split into pieces.

use super::compressor::{Answer, Recorder};
use anyhow::{Context, Result, bail};
use hashlane_dns::render::{self, Options, RenderError, Renderer};
use hashlane_dns::wire::{Content, HEADER_LEN, Header, Question, Rdata, Record};

/// A message in wire form: a message of the input, or a part of one.
pub(super) struct Piece<'a> {
    pub(super) header: Header,
    /// Questions and records, in order.
    pub(super) entries: Vec<Entry<'a>>,
    pub(super) octets: Vec<u8>,
    /// Positions and forms of its names.
    pub(super) answers: Vec<Answer>,
    /// Set if the message began in an earlier piece.
    pub(super) continues: bool,
}

#[derive(Clone, Copy)]
pub(super) enum Entry<'a> {
    Question(&'a Question),
    Record(&'a Record),
}

impl Piece<'_> {
    pub(super) fn records(&self) -> usize {
        self.entries.iter().filter(|entry| matches!(entry, Entry::Record(_))).count()
    }

    /// Length of the message without compression, in bytes.
    pub(super) fn whole_len(&self) -> usize {
        HEADER_LEN + self.entries.iter().map(Entry::whole_len).sum::<usize>()
    }
}

impl Entry<'_> {
    fn whole_len(&self) -> usize {
        match self {
            Self::Question(question) => question.name.as_bytes().len() + 4,
            Self::Record(record) => record.owner.as_bytes().len() + 10 + record.data.len(),
        }
    }

    fn write(&self, message: &mut render::Message<'_, Recorder>) -> Result<(), RenderError> {
        match self {
            Self::Question(question) => {
                message.question(question.name.view(), question.rtype, question.class)
            }
            Self::Record(record) => {
                let Record { section, owner, rtype, class, ttl, .. } = record;
                // Data that do not fit their type were rejected when they were read; they would be written
                // unchanged.
                let rdata = Rdata::parse(*rtype, &record.data).unwrap_or(Rdata::opaque(&record.data));
                message.record(*section, owner.view(), *rtype, *class, *ttl, &rdata)
            }
        }
    }

    fn shown(&self) -> String {
        match self {
            Self::Question(question) => format!("the question {} {}", question.name, question.rtype),
            Self::Record(record) => format!("the record {} {}", record.owner, record.rtype),
        }
    }
}

/// Renders a message. An entry that does not fit below the limit begins another message with the same header.
pub(super) fn render<'a>(
    message: &'a Content,
    renderer: &mut Renderer<Recorder>,
    options: Options,
) -> Result<Vec<Piece<'a>>> {
    let questions = message.questions.iter().map(Entry::Question);
    let entries: Vec<Entry<'a>> = questions.chain(message.records.iter().map(Entry::Record)).collect();
    let mut rest = &entries[..];
    let mut pieces = Vec::new();
    loop {
        let mut wire = renderer.start(message.header, options);
        let mut taken = 0;
        for entry in rest {
            match entry.write(&mut wire) {
                Ok(()) => taken += 1,
                Err(RenderError::Full) if taken > 0 => break,
                Err(RenderError::Full) => bail!(
                    "{} has {} bytes and does not fit into one message: the limit is {} bytes, 12 of them header{}",
                    entry.shown(),
                    entry.whole_len(),
                    options.limit,
                    if options.limit < hashlane_dns::MAX_MESSAGE_LEN { "; raise --limit" } else { "" }
                ),
                Err(error) => return Err(error).with_context(|| entry.shown()),
            }
        }
        let octets = wire.finish().to_vec();
        let (here, later) = rest.split_at(taken);
        pieces.push(Piece {
            header: message.header,
            entries: here.to_vec(),
            octets,
            answers: renderer.compressor().answers().to_vec(),
            continues: !pieces.is_empty(),
        });
        if later.is_empty() {
            return Ok(pieces);
        }
        rest = later;
    }
}
