//! Our renderer of DNS messages, with any compressor, behind the front that other people's have.

use crate::workload::Corpus;
use hashlane_dns::render::{Compressor, Message, Options, RenderError, Renderer, Writer};
use hashlane_dns::wire::{Class, Content, Header, Rdata, Record, RecordType, Section};
use hashlane_name::dns::{Case, Name, NameBuf};
use hashlane_peers::dns::Render;

/// The names of a corpus, one after the other in memory, as a server keeps a zone's names.
pub(crate) struct Packed {
    bytes: Vec<u8>,
}

impl Packed {
    /// Packs names, or the questions and owners of messages, in their order.
    pub(crate) fn new(corpus: &Corpus) -> Self {
        let mut bytes = Vec::new();
        let mut push = |name: &NameBuf| bytes.extend_from_slice(name.as_bytes());
        match corpus {
            Corpus::Names(names) => names.iter().for_each(&mut push),
            Corpus::Messages(messages) => {
                for content in messages {
                    content.questions.iter().for_each(|question| push(&question.name));
                    content.records.iter().for_each(|record| push(&record.owner));
                }
            }
        }
        Self { bytes }
    }

    fn names(&self) -> impl Iterator<Item = Name<'_>> {
        let mut rest = self.bytes.as_slice();
        std::iter::from_fn(move || {
            let name = Name::parse_first(rest).ok()?;
            rest = rest.get(name.len()..)?;
            Some(name)
        })
    }
}

/// Names one after the other, after a header's worth of zeros: the operation that the source times.
pub(crate) struct Names<'a, C> {
    names: Vec<Name<'a>>,
    compressor: C,
    buffer: Vec<u8>,
}

impl<'a, C: Compressor> Names<'a, C> {
    /// With room for all of them as they are.
    pub(crate) fn new(packed: &'a Packed, compressor: C) -> Self {
        Self { names: packed.names().collect(), compressor, buffer: vec![0; 12 + packed.bytes.len()] }
    }

    /// The compressor, with the names of the last rendering.
    pub(crate) fn compressor(&self) -> &C {
        &self.compressor
    }
}

impl<C: Compressor> Render for Names<'_, C> {
    fn render(&mut self, _: usize) -> Result<&[u8], String> {
        let mut writer = Writer::new(&mut self.buffer, 0, &mut self.compressor, Case::Ignored);
        let mut write = || {
            writer.bytes(&[0; 12])?;
            self.names.iter().try_for_each(|name| writer.name(*name))
        };
        match write() {
            Ok(()) => Ok(writer.finish()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// A message made ready.
struct Ready<'a> {
    header: Header,
    questions: Vec<(Name<'a>, RecordType, Class)>,
    records: Vec<ReadyRecord<'a>>,
}

/// A record made ready: its data checked, and its owner among the others.
struct ReadyRecord<'a> {
    owner: Name<'a>,
    rdata: Rdata<'a>,
    section: Section,
    rtype: RecordType,
    class: Class,
    ttl: u32,
}

/// Messages, made ready.
pub(crate) struct Messages<'a, C> {
    messages: Vec<Ready<'a>>,
    renderer: Renderer<C>,
}

impl<'a, C: Compressor> Messages<'a, C> {
    /// # Errors
    /// A record's data do not have the form of its type; the error says so in words.
    pub(crate) fn new(messages: &'a [Content], packed: &'a Packed, compressor: C) -> Result<Self, String> {
        let mut names = packed.names();
        let mut name = || names.next().ok_or("a name is missing");
        let ready = |content: &'a Content| {
            let rdata = content.rdata().map_err(|error| error.to_string())?;
            let questions =
                content.questions.iter().map(|question| Ok((name()?, question.rtype, question.class)));
            let questions = questions.collect::<Result<_, String>>()?;
            let records = content.records.iter().zip(rdata).map(|(record, rdata)| {
                let Record { section, rtype, class, ttl, .. } = *record;
                Ok(ReadyRecord { owner: name()?, rdata, section, rtype, class, ttl })
            });
            Ok(Ready { header: content.header, questions, records: records.collect::<Result<_, String>>()? })
        };
        let messages = messages.iter().map(ready).collect::<Result<_, String>>()?;
        Ok(Self { messages, renderer: Renderer::with(compressor) })
    }
}

impl Ready<'_> {
    fn write<C: Compressor>(&self, message: &mut Message<'_, C>) -> Result<(), RenderError> {
        for (name, rtype, class) in &self.questions {
            message.question(*name, *rtype, *class)?;
        }
        for record in &self.records {
            let ReadyRecord { owner, rdata, section, rtype, class, ttl } = record;
            message.record(*section, *owner, *rtype, *class, *ttl, rdata)?;
        }
        Ok(())
    }
}

impl<C: Compressor> Render for Messages<'_, C> {
    fn render(&mut self, message: usize) -> Result<&[u8], String> {
        let ready = self.messages.get(message).ok_or("there is no such message")?;
        let options = Options { limit: hashlane_dns::MAX_MESSAGE_LEN, ..Options::default() };
        let mut message = self.renderer.start(ready.header, options);
        match ready.write(&mut message) {
            Ok(()) => Ok(message.finish()),
            Err(error) => Err(error.to_string()),
        }
    }
}
