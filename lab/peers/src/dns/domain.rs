//! Compressors behind the `MessageBuilder` of the crate `domain`.

use super::{Input, Render};
use core::fmt::Display;
use domain::base::name::FlattenInto;
use domain::base::wire::Composer;
use domain::base::{Header, Message, MessageBuilder, Name, ParsedName, Question, Record};
use domain::rdata::AllRecordData;

type Owned = Name<Vec<u8>>;
type OwnedRecord = Record<Owned, AllRecordData<Vec<u8>, Owned>>;

/// A message in the types of the crate.
struct Content {
    header: Header,
    questions: Vec<Question<Owned>>,
    /// The records of the three sections.
    records: [Vec<OwnedRecord>; 3],
}

/// The messages to render.
enum Work {
    Names(Vec<Owned>),
    Messages(Vec<Content>),
}

struct Renderer<C, F, N> {
    work: Work,
    first: F,
    next: N,
    compressor: Option<C>,
}

/// A renderer of `input`, built by `MessageBuilder`. `first` makes the first compressor around an empty
/// buffer, `next` the compressor of each further message from the last message's, whose buffer it keeps.
///
/// # Errors
/// The reason that it cannot take the input.
pub fn renderer<'a, C: Composer + 'a>(
    first: impl Fn(Vec<u8>) -> C + 'a,
    next: impl Fn(C) -> C + 'a,
    input: Input<'_>,
) -> Result<Box<dyn Render + 'a>, String> {
    let work = match input {
        Input::Names(names) => {
            let names = names.iter().map(|name| Owned::from_octets(name.as_bytes().to_vec()));
            Work::Names(names.collect::<Result<_, _>>().map_err(words)?)
        }
        Input::Messages(messages) => {
            Work::Messages(messages.iter().map(|bytes| content(bytes)).collect::<Result<_, _>>()?)
        }
    };
    Ok(Box::new(Renderer { work, first, next, compressor: None }))
}

/// The buffer, without its content: for compressors that each message has anew.
pub fn cleared(mut buffer: Vec<u8>) -> Vec<u8> {
    buffer.clear();
    buffer
}

/// Reads a message into the types of the crate, and returns the number of its records.
pub(super) fn read(bytes: &[u8]) -> Result<usize, String> {
    Ok(content(bytes)?.records.iter().map(Vec::len).sum())
}

fn words(error: impl Display) -> String {
    error.to_string()
}

fn content(bytes: &[u8]) -> Result<Content, String> {
    let message = Message::from_octets(bytes).map_err(words)?;
    let header = message.header();
    let mut questions = Vec::new();
    for question in message.question() {
        let question = question.map_err(words)?;
        let name: Owned = question.qname().try_flatten_into().map_err(|_| "no memory for a name")?;
        questions.push(Question::new(name, question.qtype(), question.qclass()));
    }
    let mut records = [const { Vec::new() }; 3];
    let mut section = message.answer().map_err(words)?;
    for records in &mut records {
        for record in section.by_ref() {
            let record = record.map_err(words)?;
            type Parsed<'a> = AllRecordData<&'a [u8], ParsedName<&'a [u8]>>;
            let record = record.into_any_record::<Parsed<'_>>().map_err(words)?;
            let owner: Owned = record.owner().try_flatten_into().map_err(|_| "no memory for a name")?;
            let (class, ttl) = (record.class(), record.ttl());
            let data = record.into_data();
            let data: AllRecordData<Vec<u8>, Owned> =
                data.try_flatten_into().map_err(|_| "no memory for data")?;
            records.push(Record::new(owner, class, ttl, data));
        }
        match section.next_section().map_err(words)? {
            Some(next) => section = next,
            None => break,
        }
    }
    Ok(Content { header, questions, records })
}

impl<C: Composer, F: Fn(Vec<u8>) -> C, N: Fn(C) -> C> Render for Renderer<C, F, N> {
    fn render(&mut self, message: usize) -> Result<&[u8], String> {
        let compressor = match self.compressor.take() {
            Some(last) => (self.next)(last),
            None => (self.first)(Vec::with_capacity(1 << 17)),
        };
        let compressor = match &self.work {
            Work::Names(names) => write_names(compressor, names)?,
            Work::Messages(messages) => {
                let content = messages.get(message).ok_or_else(|| format!("no message {message}"))?;
                build(compressor, content)?
            }
        };
        let compressor: &C = self.compressor.insert(compressor);
        Ok(compressor.as_ref())
    }
}

fn write_names<C: Composer>(mut compressor: C, names: &[Owned]) -> Result<C, String> {
    let full = |_| "the target is full".to_string();
    compressor.append_slice(&[0; 12]).map_err(full)?;
    for name in names {
        compressor.append_compressed_name(name).map_err(full)?;
    }
    Ok(compressor)
}

fn build<C: Composer>(compressor: C, content: &Content) -> Result<C, String> {
    let mut builder = MessageBuilder::from_target(compressor).map_err(|_| "no room for a header")?;
    *builder.header_mut() = content.header;
    let mut question = builder.question();
    for entry in &content.questions {
        question.push(entry).map_err(words)?;
    }
    let [answer, authority, additional] = &content.records;
    let mut section = question.answer();
    for record in answer {
        section.push(record).map_err(words)?;
    }
    let mut section = section.authority();
    for record in authority {
        section.push(record).map_err(words)?;
    }
    let mut section = section.additional();
    for record in additional {
        section.push(record).map_err(words)?;
    }
    Ok(section.finish())
}
