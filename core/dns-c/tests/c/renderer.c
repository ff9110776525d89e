/* A message with everything that the renderer has. Prints it, after two bytes of length. */
#include "hashlane_dns.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME(text) (const uint8_t *)(text), sizeof(text)

static void check(int status, int expected, const char *call) {
    if (status != expected) {
        fprintf(stderr, "%s: %s\n", call, hashlane_dns_error(status));
        exit(1);
    }
}

#define CHECK(expected, call) check(call, expected, #call)

int main(void) {
    static uint8_t buffer[2 + 300];
    static const uint8_t text[200] = {199};
    static const uint8_t cookie[] = {0, 10, 0, 8, 1, 2, 3, 4, 5, 6, 7, 8};
    uint64_t mark, other;
    size_t before, len;
    hashlane_dns_renderer *renderer = hashlane_dns_renderer_new_random();
    CHECK(0, hashlane_dns_renderer_start(renderer, buffer, sizeof buffer, 65535, HASHLANE_DNS_STREAM));
    CHECK(0, hashlane_dns_renderer_question(renderer, NAME("\7example\3com"), 15, 1));
    CHECK(0, hashlane_dns_renderer_reserve(renderer, 11 + sizeof cookie));
    CHECK(0, hashlane_dns_renderer_record(renderer, HASHLANE_DNS_ANSWER, NAME("\7EXAMPLE\3com"), 15, 1, 300,
                                          NAME("\0\12\4mail\7example\3com")));
    CHECK(0, hashlane_dns_renderer_record(renderer, HASHLANE_DNS_ANSWER, NAME("\4_sip\7example\3com"), 33, 1,
                                          300, NAME("\0\1\0\2\0\65\4mail\7example\3com")));
    CHECK(0, hashlane_dns_renderer_mark(renderer, &mark));
    CHECK(0, hashlane_dns_renderer_mark(renderer, &other));
    CHECK(1, mark == other);
    CHECK(0, hashlane_dns_renderer_length(renderer, &before));
    CHECK(0, hashlane_dns_renderer_record(renderer, HASHLANE_DNS_AUTHORITY, NAME("\4late\5other"), 2, 1, 300,
                                          NAME("\2ns\4late\5other")));
    CHECK(HASHLANE_DNS_FULL, hashlane_dns_renderer_record(renderer, HASHLANE_DNS_AUTHORITY, NAME("\1x"), 16, 1,
                                                          300, text, sizeof text));
    CHECK(0, hashlane_dns_renderer_rollback(renderer, mark));
    CHECK(0, hashlane_dns_renderer_length(renderer, &len));
    CHECK(1, before == len);
    CHECK(0, hashlane_dns_renderer_record(renderer, HASHLANE_DNS_AUTHORITY, NAME("\4late\5other"), 6, 1, 300,
                                          NAME("\2ns\4late\5other\0\4host\5other\0aaaabbbbccccddddeee")));
    CHECK(0, hashlane_dns_renderer_record(renderer, HASHLANE_DNS_AUTHORITY, NAME(""), 10, 1, 0, NULL, 0));
    CHECK(0, hashlane_dns_renderer_edns(renderer, 1232, 0, 16, 1, cookie, sizeof cookie));
    CHECK(0, hashlane_dns_renderer_header(renderer, 0xbeef, HASHLANE_DNS_QR | HASHLANE_DNS_RD));
    CHECK(0, hashlane_dns_renderer_finish(renderer, &len));
    hashlane_dns_renderer_free(renderer);
    for (size_t at = 0; at < len; at++) printf("%02x", buffer[at]);
    return 0;
}
