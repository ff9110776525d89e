//! The renderer: whole messages in the caller's buffers.

use crate::Status;
use crate::input::{allocate, bytes, free, guard, handle, key, name, place};
use hashlane_dns::MAX_MESSAGE_LEN;
use hashlane_dns::render::{Edns, Framing, Mark, Message, Options, Renderer, SuffixTable};
use hashlane_dns::wire::{Class, Flags, HEADER_LEN, Header, Rcode, Rdata, RecordType, Section};
use hashlane_name::dns::{Case, MAX_NAME_LEN, Name};
use std::ffi::c_int;
use std::ops::Range;
use std::ptr::NonNull;
use std::slice;

/// Option: two bytes of length before the message.
const STREAM: u32 = 1;

/// Option: names that differ in the case of letters share nothing.
const CASE_SENSITIVE: u32 = 2;

/// Maximum length of record data in bytes.
const MAX_DATA: usize = u16::MAX as usize;

/// `hashlane_dns_renderer` of the header.
pub struct MessageRenderer {
    /// The message that was started. It borrows the renderer below and the caller's buffer, and is dropped
    /// before either is used otherwise.
    message: Option<Message<'static, SuffixTable>>,
    /// Addresses of the buffer.
    buffer: Range<usize>,
    /// Marks of the message with their numbers, which rise, and so do the lengths of the message.
    marks: Vec<(u64, usize, Mark)>,
    /// Number of the last mark, of any message.
    last_mark: u64,
    /// A box of this handle.
    renderer: NonNull<Renderer>,
}

// The header allows calls from one thread after another.
const _: () = {
    const fn is_send<T: Send>() {}
    is_send::<(Renderer, Message<'static, SuffixTable>, Mark)>();
};

impl Drop for MessageRenderer {
    fn drop(&mut self) {
        self.message = None;
        // SAFETY: `new` made the pointer of a box; the message, which borrowed it, is dropped.
        drop(unsafe { Box::from_raw(self.renderer.as_ptr()) });
    }
}

impl MessageRenderer {
    fn new(renderer: Renderer) -> Self {
        let renderer = NonNull::from(Box::leak(Box::new(renderer)));
        Self { message: None, buffer: 0..0, marks: Vec::new(), last_mark: 0, renderer }
    }

    /// Starts a message in a buffer, in place of one that was not finished.
    ///
    /// # Safety
    /// `buffer` is null, or points to `capacity` bytes that may be written and that nothing else uses until
    /// the message is dropped.
    unsafe fn start(&mut self, buffer: *mut u8, capacity: usize, options: Options) -> Result<(), Status> {
        if buffer.is_null() {
            return Err(Status::Null);
        }
        let prefix = if options.framing == Framing::Stream { 2 } else { 0 };
        let len = capacity.min(prefix + options.limit);
        if len < prefix + HEADER_LEN {
            return Err(Status::Full);
        }
        self.forget();
        // SAFETY: as the caller promises, the bytes may be written. They may have no values before.
        unsafe { buffer.write_bytes(0, len) };
        // SAFETY: the bytes have values now, and nothing else uses them while the message is there. The
        // lifetime ends with the message, which `forget`, `finish` and `drop` drop.
        let bytes: &'static mut [u8] = unsafe { slice::from_raw_parts_mut(buffer, len) };
        // SAFETY: the box is there as long as the handle, and only the message uses it until it is dropped.
        let renderer: &'static mut Renderer = unsafe { self.renderer.as_mut() };
        self.message = Some(renderer.start_in(bytes, Header::query(0), options)?);
        self.buffer = buffer.addr()..buffer.addr().saturating_add(len);
        Ok(())
    }

    /// Drops the message.
    fn forget(&mut self) {
        self.message = None;
        self.buffer = 0..0;
        self.marks.clear();
    }

    /// Refuses bytes that overlap the buffer. More than `limit` are refused later, and none is read.
    fn check_apart(&self, bytes: *const u8, len: usize, limit: usize) -> Result<(), Status> {
        let (start, end) = (bytes.addr(), bytes.addr().saturating_add(len));
        match len <= limit && start < self.buffer.end && self.buffer.start < end {
            true => Err(Status::Overlap),
            false => Ok(()),
        }
    }

    /// A name that is not in the buffer.
    ///
    /// # Safety
    /// `bytes` is null, or points to `len` bytes with values, which nothing changes for `'a`.
    unsafe fn name<'a>(&self, bytes: *const u8, len: usize) -> Result<Name<'a>, Status> {
        self.check_apart(bytes, len, MAX_NAME_LEN)?;
        // SAFETY: the caller promises the same.
        unsafe { name(bytes, len) }
    }

    /// Data that are not in the buffer.
    ///
    /// # Safety
    /// As for [`name`](Self::name).
    unsafe fn data<'a>(&self, data: *const u8, len: usize) -> Result<&'a [u8], Status> {
        self.check_apart(data, len, MAX_DATA)?;
        // SAFETY: the caller promises the same.
        unsafe { bytes(data, len, MAX_DATA, Status::RdataTooLong) }
    }

    fn message(&mut self) -> Result<&mut Message<'static, SuffixTable>, Status> {
        self.message.as_mut().ok_or(Status::NotStarted)
    }

    /// Number of a mark at the present length.
    fn mark(&mut self) -> Result<u64, Status> {
        let message = self.message()?;
        let (len, mark) = (message.len(), message.mark());
        // No second mark at the same length: there are at most as many marks as entries.
        if let Some((number, last, _)) = self.marks.last()
            && *last == len
        {
            return Ok(*number);
        }
        self.last_mark += 1;
        self.marks.push((self.last_mark, len, mark));
        Ok(self.last_mark)
    }

    fn rollback(&mut self, number: u64) -> Result<(), Status> {
        let place = self.marks.binary_search_by_key(&number, |(number, ..)| *number);
        let message = self.message.as_mut().ok_or(Status::NotStarted)?;
        let place = place.map_err(|_| Status::Mark)?;
        if let Some((_, _, mark)) = self.marks.get(place) {
            message.rollback(*mark)?;
        }
        self.marks.truncate(place + 1);
        Ok(())
    }
}

/// Runs the body of a function with the renderer. A panic drops the message.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses.
unsafe fn with(
    renderer: *mut MessageRenderer,
    body: impl FnOnce(&mut MessageRenderer) -> Result<(), Status>,
) -> Status {
    // SAFETY: the caller promises the same.
    let renderer = match unsafe { handle(renderer) } {
        Ok(renderer) => renderer,
        Err(status) => return status,
    };
    let status = guard(|| body(renderer));
    if status == Status::Internal {
        renderer.forget();
    }
    status
}

/// Makes a renderer under a key of 16 bytes; null if `key_bytes` is null.
///
/// # Safety
/// `key_bytes` is null, or points to 16 bytes with values.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_new(key_bytes: *const u8) -> *mut MessageRenderer {
    // SAFETY: the caller promises the same.
    let key = unsafe { key(key_bytes) };
    allocate(|| key.map(|key| MessageRenderer::new(Renderer::new(&key))))
}

/// Makes a renderer under a random key; null if the operating system provides no random numbers.
#[unsafe(no_mangle)]
pub extern "C" fn hashlane_dns_renderer_new_random() -> *mut MessageRenderer {
    allocate(|| Renderer::with_random_key().ok().map(MessageRenderer::new))
}

/// Frees a renderer; null does nothing.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_free(renderer: *mut MessageRenderer) {
    // SAFETY: the caller promises that it is a renderer, which `allocate` made, and not used again.
    unsafe { free(renderer) };
}

/// Starts a message in the caller's buffer.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses. `buffer` is null, or
/// points to `capacity` bytes that may be written and that nothing else uses until the message is finished,
/// another one is started, or the renderer is freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_start(
    renderer: *mut MessageRenderer,
    buffer: *mut u8,
    capacity: usize,
    limit: usize,
    options: u32,
) -> Status {
    let start = |renderer: &mut MessageRenderer| {
        if options & !(STREAM | CASE_SENSITIVE) != 0 || !(HEADER_LEN..=MAX_MESSAGE_LEN).contains(&limit) {
            return Err(Status::Argument);
        }
        let framing = if options & STREAM == 0 { Framing::Datagram } else { Framing::Stream };
        let case = if options & CASE_SENSITIVE == 0 { Case::Ignored } else { Case::Sensitive };
        // SAFETY: the caller promises the same of the buffer.
        unsafe { renderer.start(buffer, capacity, Options { limit, framing, case }) }
    };
    // SAFETY: the caller promises the same of the renderer.
    unsafe { with(renderer, start) }
}

/// Sets the identifier and the flags of the message.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_header(
    renderer: *mut MessageRenderer,
    id: u16,
    flags: u16,
) -> Status {
    let set = |renderer: &mut MessageRenderer| {
        *renderer.message()?.header_mut() = Header { id, flags: Flags(flags) };
        Ok(())
    };
    // SAFETY: the caller promises the same.
    unsafe { with(renderer, set) }
}

/// Adds a question.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses. `name_bytes` is null, or
/// points to `name_len` bytes with values, which nothing changes during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_question(
    renderer: *mut MessageRenderer,
    name_bytes: *const u8,
    name_len: usize,
    rtype: u16,
    class: u16,
) -> Status {
    let add = |renderer: &mut MessageRenderer| {
        // SAFETY: the caller promises the same of the name.
        let name = unsafe { renderer.name(name_bytes, name_len) }?;
        Ok(renderer.message()?.question(name, RecordType(rtype), Class(class))?)
    };
    // SAFETY: the caller promises the same of the renderer.
    unsafe { with(renderer, add) }
}

/// Adds a record, with its names compressed where the type allows it.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses. `owner` and `data` are
/// null, or point to `owner_len` and `data_len` bytes with values, which nothing changes during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_record(
    renderer: *mut MessageRenderer,
    section: c_int,
    owner: *const u8,
    owner_len: usize,
    rtype: u16,
    class: u16,
    ttl: u32,
    data: *const u8,
    data_len: usize,
) -> Status {
    let add = |renderer: &mut MessageRenderer| {
        let section = match section {
            1 => Section::Answer,
            2 => Section::Authority,
            3 => Section::Additional,
            _ => return Err(Status::Argument),
        };
        // SAFETY: the caller promises the same of the owner and the data.
        let (owner, data) = unsafe { (renderer.name(owner, owner_len)?, renderer.data(data, data_len)?) };
        let rtype = RecordType(rtype);
        let rdata = Rdata::parse(rtype, data).map_err(|_| Status::Rdata)?;
        Ok(renderer.message()?.record(section, owner, rtype, Class(class), ttl, &rdata)?)
    };
    // SAFETY: the caller promises the same of the renderer.
    unsafe { with(renderer, add) }
}

/// Reserves bytes for later records.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_reserve(renderer: *mut MessageRenderer, len: usize) -> Status {
    // SAFETY: the caller promises the same.
    unsafe { with(renderer, |renderer| Ok(renderer.message()?.reserve(len)?)) }
}

/// Adds the OPT record.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses. `options` is null, or
/// points to `options_len` bytes with values, which nothing changes during the call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_edns(
    renderer: *mut MessageRenderer,
    payload: u16,
    version: u8,
    rcode: u16,
    dnssec_ok: c_int,
    options: *const u8,
    options_len: usize,
) -> Status {
    let add = |renderer: &mut MessageRenderer| {
        // SAFETY: the caller promises the same of the options.
        let options = unsafe { renderer.data(options, options_len) }?;
        if rcode > 0xfff {
            return Err(Status::Argument);
        }
        let edns = Edns { payload, rcode: Rcode(rcode), version, dnssec_ok: dnssec_ok != 0, options };
        let message = renderer.message()?;
        message.edns(&edns)?;
        let flags = message.header_mut().flags;
        message.header_mut().flags = flags.with_rcode(Rcode(rcode));
        Ok(())
    };
    // SAFETY: the caller promises the same of the renderer.
    unsafe { with(renderer, add) }
}

/// Marks the present end of the message.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses. `mark` is null, or
/// points to a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_mark(
    renderer: *mut MessageRenderer,
    mark: *mut u64,
) -> Status {
    let take = |renderer: &mut MessageRenderer| {
        // SAFETY: the caller promises the same of the mark.
        let mark = unsafe { place(mark) }?;
        mark.set(renderer.mark()?);
        Ok(())
    };
    // SAFETY: the caller promises the same of the renderer.
    unsafe { with(renderer, take) }
}

/// Removes all entries since a mark.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_rollback(renderer: *mut MessageRenderer, mark: u64) -> Status {
    // SAFETY: the caller promises the same.
    unsafe { with(renderer, |renderer| renderer.rollback(mark)) }
}

/// The length of the message so far.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses. `len` is null, or points
/// to a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_length(
    renderer: *mut MessageRenderer,
    len: *mut usize,
) -> Status {
    let tell = |renderer: &mut MessageRenderer| {
        // SAFETY: the caller promises the same of the length.
        let len = unsafe { place(len) }?;
        len.set(renderer.message()?.len());
        Ok(())
    };
    // SAFETY: the caller promises the same of the renderer.
    unsafe { with(renderer, tell) }
}

/// Ends the message.
///
/// # Safety
/// `renderer` is null, or a renderer that was not freed and that no other call uses. `len` is null, or points
/// to a variable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashlane_dns_renderer_finish(
    renderer: *mut MessageRenderer,
    len: *mut usize,
) -> Status {
    let end = |renderer: &mut MessageRenderer| {
        // SAFETY: the caller promises the same of the length.
        let len = unsafe { place(len) }?;
        let message = renderer.message.take().ok_or(Status::NotStarted)?;
        let bytes = message.finish().len();
        renderer.forget();
        len.set(bytes);
        Ok(())
    };
    // SAFETY: the caller promises the same of the renderer.
    unsafe { with(renderer, end) }
}
