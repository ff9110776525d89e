//! One turn of a connection: queries read and answered, responses and transfers sent.

use super::connection::Connection;
use super::parts::Parts;
use crate::framing::MAX_QUEUED;
use crate::tls::{Channel, padding};
use crate::transfers::special::{Received, Reply};
use hashlane_dns::query::BATCH;
use hashlane_dns::slices::Parts as _;
use std::time::Instant;

/// Rounds of reading and answering that a connection has in one turn: a query is read, answered, and its
/// response sent.
const ROUNDS: usize = 3;

/// Result of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Turn {
    /// An event reports more.
    Wait,
    /// More is to be done at once.
    Again,
    Close,
}

/// Serves a connection. Returns true, too, if a query was answered.
pub(super) fn serve(
    connection: &mut Connection,
    parts: &mut Parts,
    scratch: &mut [u8],
    (queries, now): (usize, Instant),
) -> (Turn, bool) {
    let mut was_active = false;
    for _ in 0..ROUNDS {
        match connection.flush(now) {
            Ok(true) => {}
            Ok(false) if !connection.framing.has_room() => return (Turn::Wait, was_active),
            Ok(false) => {}
            Err(_) => return (Turn::Close, was_active),
        }
        if connection.transfer.is_some() {
            was_active = true;
            connection.framing.renew(now);
            if !go_on(connection, parts) {
                // The client would wait for the rest.
                return (Turn::Close, was_active);
            }
            continue;
        }
        if answer(connection, parts, queries, now) {
            was_active = true;
            continue;
        }
        match connection.read(scratch, now) {
            Ok(true) => {}
            Ok(false) if connection.framing.is_ended() => {
                let turn = if connection.is_flushed() { Turn::Close } else { Turn::Wait };
                return (turn, was_active);
            }
            Ok(false) => return (Turn::Wait, was_active),
            Err(_) => return (Turn::Close, was_active),
        }
    }
    (Turn::Again, was_active)
}

/// Queues the next messages of a transfer. Returns false if it breaks off.
#[cold]
fn go_on(connection: &mut Connection, parts: &mut Parts) -> bool {
    let Some(transfer) = &mut connection.transfer else { return true };
    let mut output = connection.framing.take_output();
    let (sent, before) = (connection.framing.sent(), output.len());
    let more = parts.special.send(transfer, sent + MAX_QUEUED, &mut output);
    parts.counters.sent_bytes.add((output.len() - before) as u64);
    connection.framing.put_output(output);
    if more {
        return true;
    }
    let is_complete = transfer.is_complete();
    parts.counters.completed_transfers.add(u64::from(is_complete));
    parts.counters.broken_transfers.add(u64::from(!is_complete));
    parts.free(connection.transfer.take());
    is_complete
}

/// Answers complete messages, at most `most`, and at most a batch of them. Returns true if there were any.
fn answer(connection: &mut Connection, parts: &mut Parts, most: usize, now: Instant) -> bool {
    let Parts { answerer, special, view, counters, clock, .. } = parts;
    if connection.framing.messages().next().is_none() {
        return false;
    }
    // After the query was read: a secondary that was told of a version asks for it before the next event.
    view.refresh();
    let mut output = connection.framing.take_output();
    let sent = connection.framing.sent();
    let (peer, channel) = (connection.peer, connection.stream.channel());
    let (mut messages, mut received) = ([(peer, &[][..]); BATCH], 0);
    for (place, message) in messages.iter_mut().take(most).zip(connection.framing.messages()) {
        *place = (peer, message);
        received += 1;
    }
    let messages = messages.part(..received);
    let (mut answered, mut is_query, mut is_special) = (0, true, false);
    let seconds = clock.now().seconds;
    answerer.run(view, counters, (seconds, channel.into()), messages, |number, response| {
        let len = response.message.len();
        if response.reply.is_special {
            is_special = true;
            return false;
        }
        answered += 1;
        if len == 0 {
            // What is no query would be followed by more of it.
            is_query = false;
            return false;
        }
        counters.rcode(response.reply.rcode);
        counters.truncated.add(u64::from(response.reply.truncated));
        counters.sent.add(1);
        // A response is at most 65,535 bytes.
        output.extend_from_slice(&(len as u16).to_be_bytes());
        let start = output.len();
        output.extend_from_slice(response.message);
        if channel != Channel::Clear
            && let Some((_, query)) = messages.get(number)
        {
            padding::pad(query, &mut output, len);
        }
        counters.sent_bytes.add((output.len() - start) as u64);
        output.len() - sent < MAX_QUEUED
    });
    if let Some((from, message)) = messages.get(answered).copied().filter(|_| is_special) {
        answered += 1;
        let longest = hashlane_dns::MAX_MESSAGE_LEN;
        match special.reply(answerer, view, counters, Received { message, from, channel, seconds, longest }) {
            Reply::Transfer(transfer) => connection.transfer = Some(transfer),
            Reply::Message(response) => {
                counters.sent.add(1);
                counters.sent_bytes.add(response.len() as u64);
                // A response is at most 65,535 bytes.
                output.extend_from_slice(&(response.len() as u16).to_be_bytes());
                output.extend_from_slice(&response);
            }
        }
    }
    let consumed: usize = connection.framing.messages().take(answered).map(|message| 2 + message.len()).sum();
    connection.framing.put_output(output);
    if answered > 0 {
        connection.framing.consume(consumed, now);
    }
    if !is_query {
        connection.framing.end();
    }
    answered > 0
}
