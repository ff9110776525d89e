/* Whole messages, read by c-ares. */
#include <ares.h>
#include <ares_version.h>

#include "renderer.h"

HASHLANE_READER(hashlane_cares)

#if ARES_VERSION >= 0x011c00

int64_t hashlane_cares_read(const uint8_t *bytes, size_t len) {
    ares_dns_record_t *record = NULL;
    if (ares_dns_parse(bytes, len, 0, &record) != ARES_SUCCESS) {
        return -1;
    }
    size_t count = ares_dns_record_rr_cnt(record, ARES_SECTION_ANSWER) +
                   ares_dns_record_rr_cnt(record, ARES_SECTION_AUTHORITY) +
                   ares_dns_record_rr_cnt(record, ARES_SECTION_ADDITIONAL);
    ares_dns_record_destroy(record);
    return (int64_t)count;
}

#else

/* Before 1.28 the library has no parser of whole messages: its parsers of single types read each name by
   ares_expand_name(), as here. */

enum { HEADER = 12, NS = 2, CNAME = 5, PTR = 12 };

static unsigned int number(const uint8_t *bytes) { return (unsigned int)bytes[0] << 8 | bytes[1]; }

/* Reads a name; the offset after it, or -1. */
static long name(const uint8_t *bytes, long at, long len) {
    char *text = NULL;
    long taken = 0;
    if (at >= len || ares_expand_name(bytes + at, bytes, (int)len, &text, &taken) != ARES_SUCCESS) {
        return -1;
    }
    ares_free_string(text);
    return at + taken;
}

int64_t hashlane_cares_read(const uint8_t *bytes, size_t size) {
    if (size < HEADER || size > UINT16_MAX) {
        return -1;
    }
    long at = HEADER, len = (long)size;
    for (unsigned int left = number(bytes + 4); left > 0; left--) {
        at = name(bytes, at, len);
        if (at < 0 || len - at < 4) {
            return -1;
        }
        at += 4;
    }
    unsigned int records = number(bytes + 6) + number(bytes + 8) + number(bytes + 10);
    for (unsigned int left = records; left > 0; left--) {
        at = name(bytes, at, len);
        if (at < 0 || len - at < 10) {
            return -1;
        }
        unsigned int type = number(bytes + at), length = number(bytes + at + 8);
        at += 10;
        if (len - at < (long)length) {
            return -1;
        }
        if ((type == NS || type == CNAME || type == PTR) && name(bytes, at, len) != at + (long)length) {
            return -1;
        }
        at += length;
    }
    return records;
}

#endif
