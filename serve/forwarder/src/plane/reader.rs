//! The receiving ends of connections.

use super::pipeline::Pipeline;
use super::port::PortKind;
use super::socket::{Received, STREAM_QUEUE, Stream, WebSocket};
use hashlane_link::stream::{Filled, Framing, FramingError, StreamReader, StreamWriter};
use hashlane_ndn::time::Time;
use hashlane_ndn::tlv;
use hashlane_ndn::wire::MAX_LINK_PACKET;
use hashlane_ndn::wire::lp::LP_PACKET;
use hashlane_ndn::wire::{DATA, INTEREST};
use hashlane_ndn_fw::face::FaceId;
use hashlane_ndn_fw::forward::{Burst, DropReason};
use hashlane_ndn_fw::pit::Pit;
use std::cell::RefCell;
use std::os::fd::{AsRawFd, RawFd};
use std::rc::Rc;

/// Reads of a stream in one turn.
const STREAM_READS: usize = 2;
/// Messages of a WebSocket in one turn, and their bytes.
const MESSAGES: usize = 64;
const MESSAGE_BYTES: usize = 32 << 10;

/// The receiving end of a connection.
pub(super) struct Reader {
    source: Source,
    /// True if an event has reported the end of the stream. No event repeats that, so the stream is read to
    /// its end.
    closing: bool,
}

/// Source of the packets of a connection.
enum Source {
    Stream { stream: Rc<Stream>, reader: StreamReader },
    WebSocket(Rc<RefCell<WebSocket>>),
}

/// The sending and the receiving end of a stream, and its descriptor.
pub(super) fn stream_ends(stream: Stream) -> (PortKind, Reader, RawFd) {
    let stream = Rc::new(stream);
    let descriptor = stream.as_raw_fd();
    let kind = PortKind::Stream { stream: stream.clone(), writer: StreamWriter::new(STREAM_QUEUE) };
    let source = Source::Stream { stream, reader: StreamReader::new(MAX_LINK_PACKET) };
    (kind, Reader { source, closing: false }, descriptor)
}

/// The sending and the receiving end of a WebSocket, and its descriptor.
pub(super) fn websocket_ends(socket: WebSocket) -> (PortKind, Reader, RawFd) {
    let descriptor = socket.descriptor();
    let socket = Rc::new(RefCell::new(socket));
    let reader = Reader { source: Source::WebSocket(socket.clone()), closing: false };
    (PortKind::WebSocket(socket), reader, descriptor)
}

impl Reader {
    /// Notes that an event has reported the end of the stream.
    pub(super) fn note_end(&mut self) {
        self.closing = true;
    }

    /// Reads the packets of one turn and forwards them. Returns true if there may be more.
    ///
    /// # Errors
    /// The reason why the connection has ended. The packets before the end are forwarded.
    pub(super) fn receive<P: Pit>(
        &mut self,
        face: FaceId,
        pipeline: &mut Pipeline<P>,
    ) -> Result<bool, String> {
        match &mut self.source {
            Source::Stream { stream, reader } => {
                let more = receive_stream(face, stream, reader, self.closing, pipeline)?;
                if !more {
                    reader.give_room();
                }
                Ok(more)
            }
            Source::WebSocket(socket) => {
                let outcome = receive_messages(face, socket, self.closing, pipeline);
                // The library may have queued replies to pings.
                pipeline.ports.mark_dirty(face);
                outcome
            }
        }
    }
}

fn receive_stream<P: Pit>(
    face: FaceId,
    stream: &Stream,
    reader: &mut StreamReader,
    closing: bool,
    pipeline: &mut Pipeline<P>,
) -> Result<bool, String> {
    for _ in 0..STREAM_READS {
        let filled = reader.fill(&mut &*stream).map_err(|error| error.to_string())?;
        let (mut burst, mut packets, mut bytes, mut lost) = (Burst::new(), 0, 0, None);
        for packet in reader.frames(framing) {
            match packet {
                Ok(packet) => {
                    packets += 1;
                    bytes += packet.len();
                    pipeline.push(face, packet, &mut burst);
                }
                Err(error) => {
                    lost = Some(error);
                    break;
                }
            }
        }
        pipeline.forward(&mut burst);
        pipeline.count_received(face, packets, bytes);
        if let Some(error) = lost {
            let reason = match error {
                FramingError::TooLong { .. } => DropReason::TooLong,
                _ => DropReason::Malformed,
            };
            pipeline.count_drop(face, reason);
            return Err(error.to_string());
        }
        match filled {
            // A short read has emptied the socket: an event reports later bytes. Out-of-band data and
            // descriptors also make reads short; a peer that sends them delays only its own packets.
            Filled::Drained(bytes) if bytes == 0 || !closing => return Ok(false),
            Filled::Drained(_) | Filled::Full(_) => {}
            Filled::End => return Err("closed by the peer".into()),
        }
    }
    Ok(true)
}

fn receive_messages<P: Pit>(
    face: FaceId,
    socket: &RefCell<WebSocket>,
    closing: bool,
    pipeline: &mut Pipeline<P>,
) -> Result<bool, String> {
    let mut messages = Vec::new();
    let outcome = read_messages(&mut socket.borrow_mut(), closing, pipeline.ports.now, &mut messages);
    let mut burst = Burst::new();
    for message in &messages {
        pipeline.push(face, message, &mut burst);
    }
    pipeline.forward(&mut burst);
    pipeline.count_received(face, messages.len(), messages.iter().map(Vec::len).sum());
    outcome
}

/// Reads the messages of one turn. Returns true if there may be more.
///
/// # Errors
/// The reason why the connection has ended. The messages before the end are read.
fn read_messages(
    socket: &mut WebSocket,
    closing: bool,
    now: Time,
    messages: &mut Vec<Vec<u8>>,
) -> Result<bool, String> {
    socket.grant(MESSAGE_BYTES, closing, now);
    for _ in 0..MESSAGES {
        match socket.receive() {
            Received::Packet(packet) => messages.push(packet),
            Received::Nothing => {}
            Received::Drained => return Ok(socket.is_spent()),
            Received::Closed(why) => return Err(why),
        }
    }
    Ok(true)
}

/// Length of the packet at the start of `bytes`. A stream carries Interests, Data and link packets only. A
/// peer that speaks another protocol, such as a web page that posts commands, is cut off at its first byte.
#[inline]
fn framing(bytes: &[u8]) -> Framing {
    match *bytes {
        [] => return Framing::More,
        [typ, ..] if ![INTEREST, DATA, LP_PACKET].contains(&typ.into()) => return Framing::Lost,
        [_, len @ ..=252, ..] => return Framing::Packet(2 + usize::from(len)),
        _ => {}
    }
    match tlv::frame(bytes) {
        // A length that no address can hold is longer than any packet: the reader rejects it.
        Ok(Some(len)) => Framing::Packet(usize::try_from(len).unwrap_or(usize::MAX)),
        Ok(None) => Framing::More,
        Err(_) => Framing::Lost,
    }
}
