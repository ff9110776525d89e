//! The window over a capture, and the frames in it.

use super::Frame;
use super::error::{CaptureError, FormatError, Problem};
use super::format::Format;
use super::limits::LONGEST;
use super::pcap::Pcap;
use super::pcapng::PcapNg;
use super::step::Step;
use std::io::{self, Read};
use std::mem;
use std::ops::Range;

/// Length of the window in bytes: two of the longest packets.
const WINDOW: usize = 2 * LONGEST;

/// Bytes of one read at most: what is read stays in a second-level cache until it is parsed.
const READ: usize = 256 << 10;

/// Format of a capture, with the state that later packets need.
#[derive(Clone, Debug)]
enum State {
    Pcap(Pcap),
    PcapNg(PcapNg),
}

/// Reads a capture from a stream.
#[derive(Debug)]
pub struct Reader<R> {
    from: R,
    /// [`WINDOW`] bytes.
    window: Vec<u8>,
    /// Offset of the window in the capture.
    offset: u64,
    /// The part of the window that was read and not yet passed.
    start: usize,
    end: usize,
    cursor: Cursor,
}

#[derive(Clone, Debug)]
struct Cursor {
    state: State,
    /// Bytes behind the window that hold no frame.
    skip: usize,
    /// `true` if a frame may remain in the window.
    more: bool,
    failed: Option<Problem>,
    done: bool,
}

impl<R: Read> Reader<R> {
    /// Reads the header of a capture. While the stream returns [`io::ErrorKind::WouldBlock`], it is read
    /// again at once.
    ///
    /// # Errors
    /// The stream fails, or does not begin as a capture does.
    pub fn new(mut from: R) -> Result<Self, FormatError> {
        let mut window = vec![0; WINDOW];
        let mut end = 0;
        while end < Pcap::HEADER {
            match fill(&mut from, &mut window, &mut end) {
                Ok(0) => break,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
                Err(error) => return Err(FormatError::Read(error)),
            }
        }
        let head = window.get(..end).unwrap_or_default();
        let (state, start) = begin(head).map_err(FormatError::NotACapture)?;
        let cursor = Cursor { state, skip: 0, more: true, failed: None, done: false };
        Ok(Self { from, window, offset: 0, start, end, cursor })
    }

    /// The next frames, at least those that one read of the stream brings; there may be none among them, as
    /// when the stream returns [`io::ErrorKind::WouldBlock`]. `None` at the end of the capture.
    ///
    /// # Errors
    /// The capture ends early. The next call returns `None`.
    pub fn next_batch(&mut self) -> Result<Option<Batch<'_>>, CaptureError> {
        if self.cursor.done {
            return Ok(None);
        }
        if let Err(error) = self.refill() {
            self.cursor.done = true;
            return Err(error);
        }
        if self.cursor.done {
            return Ok(None);
        }
        let Self { window, start, end, cursor, .. } = self;
        Ok(Some(Batch { window: window.get(..*end).unwrap_or_default(), start, cursor }))
    }

    /// Acts as [`next_batch`](Self::next_batch), and gives the bytes away, for another thread to find the
    /// frames in them. The reader takes the memory of `chunk` in exchange. Returns false at the end of the
    /// capture.
    ///
    /// # Errors
    /// The capture ends early. The next call returns false.
    pub fn next_chunk(&mut self, chunk: &mut Chunk) -> Result<bool, CaptureError> {
        chunk.cursor = None;
        let Some(batch) = self.next_batch()? else { return Ok(false) };
        let (first, cursor) = (*batch.start, batch.cursor.clone());
        // Finds the end of the last record.
        batch.for_each(drop);
        chunk.places = first..self.start;
        chunk.cursor = Some(cursor);
        mem::swap(&mut self.window, &mut chunk.window);
        self.window.resize(WINDOW, 0);
        let rest = chunk.window.get(self.start..self.end).unwrap_or_default();
        if let Some(place) = self.window.get_mut(..rest.len()) {
            place.copy_from_slice(rest);
        }
        self.offset += self.start as u64;
        (self.start, self.end) = (0, rest.len());
        Ok(true)
    }

    /// Offset in the capture of the first byte that was not passed.
    pub fn offset(&self) -> u64 {
        self.offset + self.start as u64
    }

    fn refill(&mut self) -> Result<(), CaptureError> {
        if let Some(problem) = self.cursor.failed {
            return Err(CaptureError::Broken { at: self.offset(), problem });
        }
        if self.cursor.more {
            return Ok(());
        }
        // Less than a record is left.
        self.window.copy_within(self.start..self.end, 0);
        self.offset += self.start as u64;
        (self.start, self.end) = (0, self.end - self.start);
        debug_assert!(self.end < LONGEST, "a record that fits was not passed");
        let at = self.offset;
        let read = match fill(&mut self.from, &mut self.window, &mut self.end) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
            read => read.map_err(|error| CaptureError::Read { at: at + self.end as u64, error })?,
        };
        if read == 0 {
            self.cursor.done = true;
            let whole = self.end == 0 && self.cursor.skip == 0;
            return if whole { Ok(()) } else { Err(CaptureError::CutOff { at }) };
        }
        self.cursor.more = true;
        Ok(())
    }
}

/// Reads once into the free part of the window.
fn fill(from: &mut impl Read, window: &mut [u8], end: &mut usize) -> io::Result<usize> {
    loop {
        let most = window.len().min(end.saturating_add(READ));
        match from.read(window.get_mut(*end..most).unwrap_or_default()) {
            Ok(read) => {
                *end += read;
                return Ok(read);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The format by the first bytes of a stream, and the offset of the first record.
fn begin(head: &[u8]) -> Result<(State, usize), String> {
    match Format::of(head) {
        Some(Format::Pcap) => {
            let header = head.first_chunk().ok_or("its header is cut off")?;
            let pcap = Pcap::new(header).ok_or("unknown magic number")?;
            Ok((State::Pcap(pcap), Pcap::HEADER))
        }
        Some(Format::PcapNg) => {
            let magic = head.get(8..).and_then(<[u8]>::first_chunk).ok_or("its header is cut off")?;
            PcapNg::order_of(*magic).ok_or("unknown byte order of its first section")?;
            Ok((State::PcapNg(PcapNg::default()), 0))
        }
        None if head.is_empty() => Err("the file is empty".to_owned()),
        None => {
            let number: String = head.iter().take(4).map(|byte| format!("{byte:02x}")).collect();
            Err(format!("bad magic number 0x{number}"))
        }
    }
}

/// Part of a capture: whole records, and the state of the capture before them.
#[derive(Debug, Default)]
pub struct Chunk {
    window: Vec<u8>,
    places: Range<usize>,
    /// None in a chunk that was not filled.
    cursor: Option<Cursor>,
}

impl Chunk {
    /// The frames, in order, each once; `None` if it was not filled.
    pub fn frames(&mut self) -> Option<Batch<'_>> {
        let Self { window, places, cursor } = self;
        let Range { start, end } = places;
        let window = window.get(..*end).unwrap_or_default();
        cursor.as_mut().map(|cursor| Batch { window, start, cursor })
    }
}

/// Frames in the window of a [`Reader`]. All of them stay until the batch is dropped; those not taken are in
/// the next batch.
#[derive(Debug)]
pub struct Batch<'a> {
    window: &'a [u8],
    start: &'a mut usize,
    cursor: &'a mut Cursor,
}

impl<'a> Iterator for Batch<'a> {
    type Item = Frame<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Frame<'a>> {
        loop {
            let rest = self.window.get(*self.start..).unwrap_or_default();
            let cursor = &mut *self.cursor;
            if cursor.skip > 0 {
                let skipped = cursor.skip.min(rest.len());
                cursor.skip -= skipped;
                *self.start += skipped;
                if cursor.skip > 0 {
                    cursor.more = false;
                    return None;
                }
                continue;
            }
            let step = match &mut cursor.state {
                State::Pcap(pcap) => pcap.step(rest),
                State::PcapNg(pcapng) => pcapng.step(rest),
            };
            match step {
                Step::Frame { frame, used } => {
                    *self.start += used;
                    return Some(frame);
                }
                Step::Skip(bytes) => cursor.skip = bytes,
                Step::Short => {
                    cursor.more = false;
                    return None;
                }
                Step::Bad(problem) => {
                    cursor.failed = Some(problem);
                    return None;
                }
            }
        }
    }
}
