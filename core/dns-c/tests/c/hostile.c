/*
 * Every wrong use that the library promises to refuse, and random calls: as many rounds as the argument says.
 * Prints each result that was not expected, and their number.
 */
#include "hashlane_dns.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int wrong;

static void expect(int line, int expected, int status) {
    if (status != expected) {
        wrong++;
        printf("line %d: %d (%s) in place of %d\n", line, status, hashlane_dns_error(status), expected);
    }
}

#define EXPECT(expected, call) expect(__LINE__, HASHLANE_DNS_##expected, call)

static const uint8_t key[16] = {7};
static const uint8_t name[] = "\1a\7example";
/* More than a name can have, all of it in labels of 63 bytes. */
static uint8_t long_name[320];

/* Names that are none, each with its length. */
static const struct {
    const char *bytes;
    size_t len;
} malformed[] = {{"", 0},        {"\1", 1},         {"\1a", 2},           {"\1a\0\0", 4}, {"\300\14", 2},
                 {"\100a\0", 3}, {"\200a\0", 3},    {"\77abc\0", 5},      {"a", 1},       {"\1a\0x", 4},
                 {"\0\0", 2},    {"\1a\300\14", 4}, {"\377\377\377", 3}};

static void compressor(void) {
    static const uint8_t message[70000];
    size_t literal = 99;
    uint16_t pointer = 99;
    hashlane_dns_compressor *c = hashlane_dns_compressor_new(key);
    if (hashlane_dns_compressor_new(NULL) != NULL) wrong++;
    hashlane_dns_compressor_free(NULL);
    EXPECT(NULL, hashlane_dns_compressor_start(NULL, 0));
    EXPECT(NULL, hashlane_dns_compressor_truncate(NULL, 0));
    EXPECT(NOT_STARTED, hashlane_dns_compressor_truncate(c, 0));
    EXPECT(NOT_STARTED, hashlane_dns_compressor_compress(c, message, 12, name, sizeof name, &literal, &pointer));
    EXPECT(OK, hashlane_dns_compressor_start(c, 0));
    EXPECT(NULL, hashlane_dns_compressor_compress(NULL, message, 12, name, sizeof name, &literal, &pointer));
    EXPECT(NULL, hashlane_dns_compressor_compress(c, NULL, 12, name, sizeof name, &literal, &pointer));
    EXPECT(NULL, hashlane_dns_compressor_compress(c, message, 12, NULL, sizeof name, &literal, &pointer));
    EXPECT(NULL, hashlane_dns_compressor_compress(c, message, 12, NULL, 0, &literal, &pointer));
    EXPECT(NULL, hashlane_dns_compressor_compress(c, message, 12, name, sizeof name, NULL, &pointer));
    EXPECT(NULL, hashlane_dns_compressor_compress(c, message, 12, name, sizeof name, &literal, NULL));
    EXPECT(NAME, hashlane_dns_compressor_compress(c, message, 12, name, SIZE_MAX, &literal, &pointer));
    EXPECT(NAME, hashlane_dns_compressor_compress(c, message, 12, long_name, sizeof long_name, &literal, &pointer));
    EXPECT(ARGUMENT, hashlane_dns_compressor_compress(c, message, 65536, name, sizeof name, &literal, &pointer));
    EXPECT(ARGUMENT, hashlane_dns_compressor_compress(c, message, SIZE_MAX, name, sizeof name, &literal, &pointer));
    for (size_t at = 0; at < sizeof malformed / sizeof *malformed; at++)
        EXPECT(NAME, hashlane_dns_compressor_compress(c, message, 12, (const uint8_t *)malformed[at].bytes,
                                                      malformed[at].len, &literal, &pointer));
    /* No result was written. */
    if (literal != 99 || pointer != 99) wrong++;
    /* A message without a header is short, and no error. */
    EXPECT(OK, hashlane_dns_compressor_compress(c, NULL, 0, name, sizeof name, &literal, &pointer));
    EXPECT(OFFSET, hashlane_dns_compressor_compress(c, message, 3, name, sizeof name, &literal, &pointer));
    EXPECT(OK, hashlane_dns_compressor_compress(c, message, 12, name, sizeof name, &literal, &pointer));
    EXPECT(OFFSET, hashlane_dns_compressor_compress(c, message, 20, name, sizeof name, &literal, &pointer));
    EXPECT(OK, hashlane_dns_compressor_truncate(c, SIZE_MAX));
    EXPECT(OFFSET, hashlane_dns_compressor_compress(c, message, 20, name, sizeof name, &literal, &pointer));
    EXPECT(OK, hashlane_dns_compressor_truncate(c, 12));
    EXPECT(OK, hashlane_dns_compressor_compress(c, message, 12, name, sizeof name, &literal, &pointer));
    if (literal != sizeof name || pointer != 0) wrong++;
    EXPECT(OK, hashlane_dns_compressor_compress(c, message, 65535, name, sizeof name, &literal, &pointer));
    hashlane_dns_compressor_free(c);
}

static void renderer(void) {
    static uint8_t buffer[512];
    static const uint8_t data[66000];
    uint64_t mark = 0, early = 0, late = 0;
    size_t len = 99;
    hashlane_dns_renderer *r = hashlane_dns_renderer_new(key);
    if (hashlane_dns_renderer_new(NULL) != NULL) wrong++;
    hashlane_dns_renderer_free(NULL);

    EXPECT(NULL, hashlane_dns_renderer_start(NULL, buffer, sizeof buffer, 512, 0));
    EXPECT(NULL, hashlane_dns_renderer_header(NULL, 0, 0));
    EXPECT(NULL, hashlane_dns_renderer_question(NULL, name, sizeof name, 1, 1));
    EXPECT(NULL, hashlane_dns_renderer_record(NULL, 1, name, sizeof name, 1, 1, 0, data, 4));
    EXPECT(NULL, hashlane_dns_renderer_reserve(NULL, 0));
    EXPECT(NULL, hashlane_dns_renderer_edns(NULL, 512, 0, 0, 0, NULL, 0));
    EXPECT(NULL, hashlane_dns_renderer_mark(NULL, &mark));
    EXPECT(NULL, hashlane_dns_renderer_rollback(NULL, 1));
    EXPECT(NULL, hashlane_dns_renderer_length(NULL, &len));
    EXPECT(NULL, hashlane_dns_renderer_finish(NULL, &len));

    EXPECT(NOT_STARTED, hashlane_dns_renderer_header(r, 0, 0));
    EXPECT(NOT_STARTED, hashlane_dns_renderer_question(r, name, sizeof name, 1, 1));
    EXPECT(NOT_STARTED, hashlane_dns_renderer_record(r, 1, name, sizeof name, 1, 1, 0, data, 4));
    EXPECT(NOT_STARTED, hashlane_dns_renderer_reserve(r, 0));
    EXPECT(NOT_STARTED, hashlane_dns_renderer_edns(r, 512, 0, 0, 0, NULL, 0));
    EXPECT(NOT_STARTED, hashlane_dns_renderer_mark(r, &mark));
    EXPECT(NOT_STARTED, hashlane_dns_renderer_rollback(r, 1));
    EXPECT(NOT_STARTED, hashlane_dns_renderer_length(r, &len));
    EXPECT(NOT_STARTED, hashlane_dns_renderer_finish(r, &len));

    EXPECT(NULL, hashlane_dns_renderer_start(r, NULL, 512, 512, 0));
    EXPECT(ARGUMENT, hashlane_dns_renderer_start(r, buffer, sizeof buffer, 11, 0));
    EXPECT(ARGUMENT, hashlane_dns_renderer_start(r, buffer, sizeof buffer, 65536, 0));
    EXPECT(ARGUMENT, hashlane_dns_renderer_start(r, buffer, sizeof buffer, 512, 4));
    EXPECT(FULL, hashlane_dns_renderer_start(r, buffer, 0, 512, 0));
    EXPECT(FULL, hashlane_dns_renderer_start(r, buffer, 11, 512, 0));
    EXPECT(FULL, hashlane_dns_renderer_start(r, buffer, 13, 512, HASHLANE_DNS_STREAM));
    EXPECT(NOT_STARTED, hashlane_dns_renderer_finish(r, &len));
    if (len != 99) wrong++;

    EXPECT(OK, hashlane_dns_renderer_start(r, buffer, sizeof buffer, 65535, 0));
    EXPECT(NULL, hashlane_dns_renderer_question(r, NULL, 0, 1, 1));
    EXPECT(NULL, hashlane_dns_renderer_record(r, 1, NULL, 1, 1, 1, 0, data, 4));
    EXPECT(NULL, hashlane_dns_renderer_record(r, 1, name, sizeof name, 1, 1, 0, NULL, 4));
    EXPECT(NULL, hashlane_dns_renderer_edns(r, 512, 0, 0, 0, NULL, 1));
    EXPECT(NULL, hashlane_dns_renderer_mark(r, NULL));
    EXPECT(NULL, hashlane_dns_renderer_length(r, NULL));
    EXPECT(NULL, hashlane_dns_renderer_finish(r, NULL));
    for (size_t at = 0; at < sizeof malformed / sizeof *malformed; at++) {
        const uint8_t *bytes = (const uint8_t *)malformed[at].bytes;
        EXPECT(NAME, hashlane_dns_renderer_question(r, bytes, malformed[at].len, 1, 1));
        EXPECT(NAME, hashlane_dns_renderer_record(r, 1, bytes, malformed[at].len, 1, 1, 0, data, 4));
        if (malformed[at].len > 0)
            EXPECT(RDATA, hashlane_dns_renderer_record(r, 1, name, sizeof name, 2, 1, 0, bytes, malformed[at].len));
    }
    EXPECT(NAME, hashlane_dns_renderer_question(r, long_name, sizeof long_name, 1, 1));
    EXPECT(NAME, hashlane_dns_renderer_question(r, name, SIZE_MAX / 2, 1, 1));
    EXPECT(RDATA, hashlane_dns_renderer_record(r, 1, name, sizeof name, 6, 1, 0, data, 21));
    EXPECT(RDATA, hashlane_dns_renderer_record(r, 1, name, sizeof name, 15, 1, 0, data, 2));
    EXPECT(RDATA_TOO_LONG, hashlane_dns_renderer_record(r, 1, name, sizeof name, 1, 1, 0, data, 65536));
    EXPECT(RDATA_TOO_LONG, hashlane_dns_renderer_record(r, 1, name, sizeof name, 1, 1, 0, data, SIZE_MAX));
    EXPECT(RDATA_TOO_LONG, hashlane_dns_renderer_edns(r, 512, 0, 0, 0, data, SIZE_MAX));
    EXPECT(ARGUMENT, hashlane_dns_renderer_edns(r, 512, 0, 4096, 0, NULL, 0));
    EXPECT(FULL, hashlane_dns_renderer_record(r, 1, name, sizeof name, 1, 1, 0, data, 65535));
    EXPECT(FULL, hashlane_dns_renderer_edns(r, 512, 0, 0, 0, data, 65535));
    EXPECT(FULL, hashlane_dns_renderer_reserve(r, SIZE_MAX));
    EXPECT(FULL, hashlane_dns_renderer_reserve(r, 501));
    EXPECT(ARGUMENT, hashlane_dns_renderer_record(r, 0, name, sizeof name, 1, 1, 0, data, 4));
    EXPECT(ARGUMENT, hashlane_dns_renderer_record(r, 4, name, sizeof name, 1, 1, 0, data, 4));
    EXPECT(ARGUMENT, hashlane_dns_renderer_record(r, -1, name, sizeof name, 1, 1, 0, data, 4));
    EXPECT(OVERLAP, hashlane_dns_renderer_question(r, buffer, 1, 1, 1));
    EXPECT(OVERLAP, hashlane_dns_renderer_record(r, 1, name, sizeof name, 1, 1, 0, buffer + 511, 1));
    EXPECT(OVERLAP, hashlane_dns_renderer_edns(r, 512, 0, 0, 0, buffer + 40, 9));
    EXPECT(OK, hashlane_dns_renderer_length(r, &len));
    /* Nothing but the header. */
    if (len != 12) wrong++;

    EXPECT(MARK, hashlane_dns_renderer_rollback(r, 0));
    EXPECT(MARK, hashlane_dns_renderer_rollback(r, UINT64_MAX));
    EXPECT(OK, hashlane_dns_renderer_mark(r, &early));
    EXPECT(OK, hashlane_dns_renderer_record(r, 2, name, sizeof name, 1, 1, 0, data, 4));
    EXPECT(SECTION_ORDER, hashlane_dns_renderer_record(r, 1, name, sizeof name, 1, 1, 0, data, 4));
    EXPECT(SECTION_ORDER, hashlane_dns_renderer_question(r, name, sizeof name, 1, 1));
    EXPECT(OK, hashlane_dns_renderer_mark(r, &late));
    EXPECT(OK, hashlane_dns_renderer_rollback(r, early));
    EXPECT(MARK, hashlane_dns_renderer_rollback(r, late));
    EXPECT(OK, hashlane_dns_renderer_rollback(r, early));
    EXPECT(OK, hashlane_dns_renderer_question(r, name, sizeof name, 1, 1));
    EXPECT(OK, hashlane_dns_renderer_mark(r, &mark));
    EXPECT(OK, hashlane_dns_renderer_finish(r, &len));
    EXPECT(NOT_STARTED, hashlane_dns_renderer_finish(r, &len));
    EXPECT(NOT_STARTED, hashlane_dns_renderer_rollback(r, mark));
    /* The next message refuses marks of the last one, and may have its name in the old buffer. */
    static uint8_t second[70000];
    EXPECT(OK, hashlane_dns_renderer_start(r, second, sizeof second, 65535, HASHLANE_DNS_STREAM));
    EXPECT(MARK, hashlane_dns_renderer_rollback(r, mark));
    EXPECT(OK, hashlane_dns_renderer_question(r, buffer + 12, sizeof name, 1, 1));
    /* Another one in place of it. */
    EXPECT(OK, hashlane_dns_renderer_start(r, buffer, sizeof buffer, 512, 0));
    hashlane_dns_renderer_free(r);
}

static uint32_t state = 1;

/* A number below `limit`, the same on every machine. */
static size_t draw(size_t limit) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state % limit;
}

/* Bytes that are often a name, of which many share suffixes. Returns their length, 0 to 300. */
static size_t draw_name(uint8_t *bytes) {
    size_t len = 0;
    for (size_t labels = draw(draw(8) == 0 ? 60 : 5); labels > 0; labels--) {
        size_t bytes_of_label = 1 + draw(draw(16) == 0 ? 63 : 2);
        if (len + bytes_of_label + 1 > 290) break;
        bytes[len++] = (uint8_t)bytes_of_label;
        while (bytes_of_label-- > 0) bytes[len++] = (uint8_t)("aAbB.\0\377"[draw(7)]);
    }
    bytes[len++] = 0;
    if (draw(8) == 0) bytes[draw(len)] = (uint8_t)draw(256);
    return draw(16) == 0 ? draw(len) : len;
}

static int unexpected(int status) {
    return status == HASHLANE_DNS_INTERNAL || status < 0 || status > HASHLANE_DNS_INTERNAL;
}

static void random_compressor(long rounds) {
    uint8_t bytes[300], *message = malloc(65535);
    hashlane_dns_compressor *c = hashlane_dns_compressor_new(key);
    size_t end = 0, literal;
    uint16_t pointer;
    for (size_t at = 0; at < 65535; at++) message[at] = (uint8_t)draw(4);
    while (rounds-- > 0) {
        size_t len = draw_name(bytes);
        size_t offset = draw(8) == 0 ? draw(66000) : end + draw(4);
        int status;
        switch (draw(20)) {
        case 0:
            status = hashlane_dns_compressor_start(c, (int)draw(2));
            end = 12;
            break;
        case 1:
            status = hashlane_dns_compressor_truncate(c, offset);
            end = offset < end ? offset : end;
            break;
        default:
            status = hashlane_dns_compressor_compress(c, message, offset, bytes, len, &literal, &pointer);
            if (status) break;
            if (literal > len || (pointer != 0 && (pointer < 0xc00c || (size_t)(pointer & 0x3fff) >= offset)))
                wrong++;
            /* Sometimes the caller writes something else than promised. */
            if (draw(4) != 0 && offset + literal <= 65535) memcpy(message + offset, bytes, literal);
            end = offset + literal + (pointer != 0 ? 2 : 0);
        }
        if (unexpected(status)) wrong++;
    }
    hashlane_dns_compressor_free(c);
    free(message);
}

static void random_renderer(long rounds) {
    uint8_t bytes[300], data[600], *buffer = NULL;
    hashlane_dns_renderer *r = hashlane_dns_renderer_new(key);
    size_t capacity = 0, len;
    uint64_t marks[4] = {0};
    while (rounds-- > 0) {
        size_t name_len = draw_name(bytes), data_len = draw_name(data);
        int status;
        switch (draw(32)) {
        case 0:
            if (draw(4) != 0) {
                status = hashlane_dns_renderer_length(r, &len);
            } else {
                status = hashlane_dns_renderer_finish(r, &len);
            }
            if (!status && len > capacity) wrong++;
            break;
        case 1: {
            /* A block of exactly the capacity, on whose ends valgrind looks. */
            size_t next = draw(4) == 0 ? draw(70000) : draw(600);
            uint8_t *block = malloc(next + 1);
            status = hashlane_dns_renderer_start(r, block, next, draw(66000), (uint32_t)draw(5));
            /* An error leaves the old message as it is. */
            if (status) {
                free(block);
            } else {
                free(buffer);
                buffer = block;
                capacity = next;
            }
            break;
        }
        case 2:
            status = hashlane_dns_renderer_mark(r, &marks[draw(4)]);
            break;
        case 3:
            status = hashlane_dns_renderer_rollback(r, marks[draw(4)]);
            break;
        case 4:
            status = hashlane_dns_renderer_edns(r, 1232, 0, (uint16_t)draw(5000), 1, data, data_len);
            break;
        case 5:
            status = hashlane_dns_renderer_reserve(r, draw(100));
            break;
        case 6:
            status = hashlane_dns_renderer_header(r, (uint16_t)draw(65536), (uint16_t)draw(65536));
            break;
        case 7:
            status = hashlane_dns_renderer_question(r, bytes, name_len, 1, 1);
            break;
        default:
            /* Mostly answers, of a type whose data are a name or any bytes. */
            status = hashlane_dns_renderer_record(r, draw(8) == 0 ? (int)draw(5) : 1, bytes, name_len,
                                                  (uint16_t)draw(20), 1, 60, data, data_len);
        }
        if (unexpected(status)) wrong++;
    }
    hashlane_dns_renderer_free(r);
    free(buffer);
}

int main(int count, char **arguments) {
    long rounds = count > 1 ? atol(arguments[1]) : 1000;
    memset(long_name, 63, sizeof long_name - 1);
    compressor();
    renderer();
    random_compressor(rounds);
    random_renderer(rounds);
    printf("%d wrong\n", wrong);
    return wrong != 0;
}
