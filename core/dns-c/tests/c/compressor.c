/* A writer of messages that uses the compressor. Prints the names that it was given, and the message. */
#include "hashlane_dns.h"
#include <stdio.h>
#include <string.h>

static uint8_t message[1024];
static size_t end = 12;

static int put(hashlane_dns_compressor *compressor, const uint8_t *name, size_t len) {
    size_t literal;
    uint16_t pointer;
    int status = hashlane_dns_compressor_compress(compressor, message, end, name, len, &literal, &pointer);
    if (status) return status;
    memcpy(message + end, name, literal);
    end += literal;
    if (pointer != 0) {
        message[end++] = pointer >> 8;
        message[end++] = pointer & 0xff;
    }
    return 0;
}

int main(void) {
    static const char *const names[] = {"\7example\3com", "\3www\7Example\3COM", "\2ns\3www\7example\3com",
                                        "\4late\5other",  "\7example\3com",       "\4late\5other", ""};
    static const uint8_t key[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
    hashlane_dns_compressor *compressor = hashlane_dns_compressor_new(key);
    int status = hashlane_dns_compressor_start(compressor, 0);
    for (size_t at = 0; at < sizeof names / sizeof *names && !status; at++) {
        size_t before = end;
        status = put(compressor, (const uint8_t *)names[at], strlen(names[at]) + 1);
        if (at == 3 && !status) {
            /* As of a record that does not fit. */
            end = before;
            status = hashlane_dns_compressor_truncate(compressor, end);
        }
    }
    hashlane_dns_compressor_free(compressor);
    if (status) return fprintf(stderr, "%s\n", hashlane_dns_error(status)), 1;
    for (size_t at = 0; at < end; at++) printf("%02x", message[at]);
    return 0;
}
