//! Our renderer of DNS messages, with any compressor, behind the front that other people's have.

use dns::render::{Compressor, Options, Renderer, Writer};
use dns::wire::{Content, Rdata};
use name::dns::{Case, NameBuf};
use peers::dns::Render;

/// Names one after the other, after a header's worth of zeros: what the source times.
pub struct Names<'a, C> {
    names: &'a [NameBuf],
    compressor: C,
    buffer: Vec<u8>,
}

impl<'a, C: Compressor> Names<'a, C> {
    /// With room for all of them as they are.
    pub fn new(names: &'a [NameBuf], compressor: C) -> Self {
        let octets: usize = names.iter().map(|name| name.as_bytes().len()).sum();
        Self { names, compressor, buffer: vec![0; 12 + octets] }
    }
}

impl<C: Compressor> Render for Names<'_, C> {
    fn render(&mut self, _: usize) -> Result<&[u8], String> {
        let mut writer = Writer::new(&mut self.buffer, 0, &mut self.compressor, Case::Ignored);
        let mut write = || {
            writer.octets(&[0; 12])?;
            self.names.iter().try_for_each(|name| writer.name(name.view()))
        };
        match write() {
            Ok(()) => Ok(writer.finish()),
            Err(error) => Err(error.to_string()),
        }
    }
}

/// Messages, the data of their records made ready.
pub struct Messages<'a, C> {
    messages: Vec<(&'a Content, Vec<Rdata<'a>>)>,
    renderer: Renderer<C>,
}

impl<'a, C: Compressor> Messages<'a, C> {
    /// # Errors
    /// Where the data of a record are not such as its type has, in words.
    pub fn new(messages: &'a [Content], compressor: C) -> Result<Self, String> {
        let ready = messages.iter().map(|content| Ok((content, content.rdata().map_err(|e| e.to_string())?)));
        Ok(Self { messages: ready.collect::<Result<_, String>>()?, renderer: Renderer::with(compressor) })
    }
}

impl<C: Compressor> Render for Messages<'_, C> {
    fn render(&mut self, message: usize) -> Result<&[u8], String> {
        let (content, rdata) = self.messages.get(message).ok_or("there is no such message")?;
        let options = Options { limit: dns::MAX_MESSAGE_LEN, ..Options::default() };
        let mut message = self.renderer.start(content.header, options);
        match content.render(rdata, &mut message) {
            Ok(()) => Ok(message.finish()),
            Err(error) => Err(error.to_string()),
        }
    }
}
