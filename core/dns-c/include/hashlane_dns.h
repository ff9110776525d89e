/*
 * hashlane_dns.h: name compression and rendering of DNS messages (RFC 1035).
 *
 * There are two interfaces. A program that writes its messages itself uses the compressor: for each name it
 * gives the number of bytes to write and the pointer after them. A program that has none uses the renderer,
 * which writes whole messages into the program's buffers, record by record.
 *
 * Names are in wire form: labels of 1 to 63 bytes, each after its length, and the root, a zero byte; 1 to 255
 * bytes in all, without pointers. Lengths and offsets count bytes. Numbers are in the order of the host.
 *
 * Errors: functions return HASHLANE_DNS_OK, 0, or the reason for which they did nothing, which
 * hashlane_dns_error gives as text. Null pointers, malformed names and data, lengths and offsets out of range
 * and calls in a wrong order are such reasons. A pointer that is not null must lead to memory of the length
 * beside it. If memory runs out, the program is aborted.
 *
 * Threads: the library has no global state that callers could see. A compressor or renderer may be used by
 * one thread after the other, and not by two at a time.
 *
 * Ownership: keys, names, data and messages belong to the caller, and are read during the call alone. The
 * buffer of a renderer is in use from start to finish; see there.
 *
 * Link with libhashlane_dns_c.a, -lpthread, -ldl and -lm.
 */
#ifndef HASHLANE_DNS_H
#define HASHLANE_DNS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Results of the functions. */
enum {
    HASHLANE_DNS_OK = 0,
    HASHLANE_DNS_NULL = 1,             /* a required pointer is null */
    HASHLANE_DNS_NAME = 2,             /* a name is not in wire form */
    HASHLANE_DNS_RDATA = 3,            /* record data do not have the fields of their type */
    HASHLANE_DNS_RDATA_TOO_LONG = 4,   /* record data or options of more than 65,535 bytes */
    HASHLANE_DNS_ARGUMENT = 5,         /* a section, limit, offset, rcode or option out of range */
    HASHLANE_DNS_NOT_STARTED = 6,      /* no message was started, or it was finished */
    HASHLANE_DNS_OFFSET = 7,           /* a name before the end of an earlier one, without a truncate */
    HASHLANE_DNS_FULL = 8,             /* no room; the message is as before the call */
    HASHLANE_DNS_SECTION_ORDER = 9,    /* a section before one that already has entries */
    HASHLANE_DNS_TOO_MANY_RECORDS = 10, /* 65,535 entries in the section */
    HASHLANE_DNS_MARK = 11,            /* a mark of another message, or of a part that was rolled back */
    HASHLANE_DNS_OVERLAP = 12,         /* a name or data in the buffer of the message */
    HASHLANE_DNS_INTERNAL = 13         /* a defect of the library; the message is lost */
};

/* The text of a result: one line in English, valid for ever. Never null, also for other numbers. */
const char *hashlane_dns_error(int status);

/*
 * The compressor.
 *
 * It remembers the names of one message. For each name it finds the longest suffix that the message has below
 * offset 0x4000, in time linear in the bytes of the names, whoever chose them. It takes 22 KiB of memory, and
 * at most 344 KiB after messages full of names.
 */
typedef struct hashlane_dns_compressor hashlane_dns_compressor;

/*
 * Make a compressor whose hash table is under `key`, 16 secret random bytes, or under random bytes of the
 * operating system. One serves any number of messages. Null if `key` is null, or if there are no random
 * numbers.
 */
hashlane_dns_compressor *hashlane_dns_compressor_new(const uint8_t key[16]);
hashlane_dns_compressor *hashlane_dns_compressor_new_random(void);

/* Frees a compressor, or does nothing with null. */
void hashlane_dns_compressor_free(hashlane_dns_compressor *compressor);

/*
 * Begins a message, and forgets the names of the last one. With `case_sensitive` 0, names that differ only in
 * the case of letters share their bytes, as usual (RFC 4343); otherwise they do not.
 */
int hashlane_dns_compressor_start(hashlane_dns_compressor *compressor, int case_sensitive);

/*
 * Compresses the name that goes to `offset` in `message`. `message` has the header and all that was written
 * after it, `offset` bytes, at most 65,535; two bytes of length before it (TCP) are no part of it.
 *
 * `*literal` is the number of bytes of the name to write as they are. `*pointer` is the number to write
 * after them in two bytes, the high one first, or 0 for none. The name must then be written in this form, or
 * removed by hashlane_dns_compressor_truncate.
 *
 *     memcpy(message + offset, name, literal);
 *     offset += literal;
 *     if (pointer != 0) {
 *         message[offset++] = pointer >> 8;
 *         message[offset++] = pointer & 0xff;
 *     }
 */
int hashlane_dns_compressor_compress(hashlane_dns_compressor *compressor, const uint8_t *message,
                                     size_t offset, const uint8_t *name, size_t name_len, size_t *literal,
                                     uint16_t *pointer);

/* Forgets the names that do not end within the first `len` bytes, to which the message was cut. */
int hashlane_dns_compressor_truncate(hashlane_dns_compressor *compressor, size_t len);

/*
 * The renderer.
 *
 * It writes a message into a buffer of the program: the header, questions, and records section after section.
 * An entry that does not fit is refused whole, and the message stays valid.
 */
typedef struct hashlane_dns_renderer hashlane_dns_renderer;

/* Make and free a renderer, as for the compressor. One serves any number of messages. */
hashlane_dns_renderer *hashlane_dns_renderer_new(const uint8_t key[16]);
hashlane_dns_renderer *hashlane_dns_renderer_new_random(void);
void hashlane_dns_renderer_free(hashlane_dns_renderer *renderer);

/* Options of hashlane_dns_renderer_start. */
#define HASHLANE_DNS_STREAM 1u         /* two bytes of length before the message, as over TCP */
#define HASHLANE_DNS_CASE_SENSITIVE 2u /* no name shares bytes with one of another case */

/*
 * Starts a message, in place of one that was not finished. It takes at most `limit` bytes, 12 to 65,535, and
 * what `capacity` has room for; the length before it on a stream counts for the capacity alone.
 *
 * `buffer` needs no values; as many bytes as the message may take are set to 0. Until the message is
 * finished, another one is started or the renderer is freed, the program must neither read nor write the
 * buffer, nor free it. Names and data of the calls must not be in it: that is HASHLANE_DNS_OVERLAP.
 */
int hashlane_dns_renderer_start(hashlane_dns_renderer *renderer, uint8_t *buffer, size_t capacity,
                                size_t limit, uint32_t options);

/* Flags of the header, with an opcode << 11 and an rcode of 0 to 15. */
#define HASHLANE_DNS_QR 0x8000u
#define HASHLANE_DNS_AA 0x0400u
#define HASHLANE_DNS_TC 0x0200u
#define HASHLANE_DNS_RD 0x0100u
#define HASHLANE_DNS_RA 0x0080u
#define HASHLANE_DNS_AD 0x0020u
#define HASHLANE_DNS_CD 0x0010u

/* Sets the identifier and the flags, at any time between start and finish. Both are 0 at first. */
int hashlane_dns_renderer_header(hashlane_dns_renderer *renderer, uint16_t id, uint16_t flags);

/* Adds a question. */
int hashlane_dns_renderer_question(hashlane_dns_renderer *renderer, const uint8_t *name, size_t name_len,
                                   uint16_t type, uint16_t class_);

/* Sections of records, in the order of the message. */
enum { HASHLANE_DNS_ANSWER = 1, HASHLANE_DNS_AUTHORITY = 2, HASHLANE_DNS_ADDITIONAL = 3 };

/*
 * Adds a record. `data` are the record's data in wire form with all names uncompressed. Names in the data of
 * the types of RFC 1035 (NS, CNAME, SOA, PTR, MX and others) are compressed, in those of no other type (RFC
 * 3597 section 4). No data, with `data_len` 0, are valid for any type.
 *
 * A set of records that is to be there whole or not at all begins with a mark.
 */
int hashlane_dns_renderer_record(hashlane_dns_renderer *renderer, int section, const uint8_t *owner,
                                 size_t owner_len, uint16_t type, uint16_t class_, uint32_t ttl,
                                 const uint8_t *data, size_t data_len);

/*
 * Keeps `len` bytes of the message free from now on, in place of an earlier reservation, for records that
 * must find room. hashlane_dns_renderer_edns uses them up; another record does after a reservation of 0.
 */
int hashlane_dns_renderer_reserve(hashlane_dns_renderer *renderer, size_t len);

/*
 * Adds the OPT record (RFC 6891) of 11 bytes and `options`, which are in wire form. `payload` is the longest
 * datagram that the sender takes, `rcode` 0 to 4095: its low four bits go to the flags of the header.
 * `dnssec_ok` is the flag DO, 0 or 1.
 */
int hashlane_dns_renderer_edns(hashlane_dns_renderer *renderer, uint16_t payload, uint8_t version,
                               uint16_t rcode, int dnssec_ok, const uint8_t *options, size_t options_len);

/*
 * Mark the end of the message, and remove all entries that were added since a mark: no later name points to a
 * name of them. A mark is valid until its message ends or a rollback goes before it. Flags and reservations
 * stay as they are.
 */
int hashlane_dns_renderer_mark(hashlane_dns_renderer *renderer, uint64_t *mark);
int hashlane_dns_renderer_rollback(hashlane_dns_renderer *renderer, uint64_t mark);

/* Sets `*len` to the bytes of the message so far, from the header on. */
int hashlane_dns_renderer_length(hashlane_dns_renderer *renderer, size_t *len);

/*
 * Ends the message, and sets `*len` to its bytes in the buffer, with the two bytes of length before it on a
 * stream. The buffer is the program's again.
 */
int hashlane_dns_renderer_finish(hashlane_dns_renderer *renderer, size_t *len);

#ifdef __cplusplus
}
#endif

#endif
