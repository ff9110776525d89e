#include "hashlane_dns.h"
#include <stdio.h>

/* The zero byte that ends a string is the root of the name. */
static const uint8_t zone[] = "\7example\3com", server[] = "\2ns\7example\3com", address[] = {192, 0, 2, 1};

int main(void) {
    uint8_t buffer[512];
    size_t len = 0;
    hashlane_dns_renderer *renderer = hashlane_dns_renderer_new_random();
    int status = hashlane_dns_renderer_start(renderer, buffer, sizeof buffer, 512, 0);
    if (!status) status = hashlane_dns_renderer_header(renderer, 0x1234, HASHLANE_DNS_QR | HASHLANE_DNS_AA);
    if (!status) status = hashlane_dns_renderer_question(renderer, zone, sizeof zone, 2, 1);
    if (!status) status = hashlane_dns_renderer_record(renderer, HASHLANE_DNS_ANSWER, zone, sizeof zone, 2, 1,
                                                       300, server, sizeof server);
    if (!status) status = hashlane_dns_renderer_record(renderer, HASHLANE_DNS_ADDITIONAL, server,
                                                       sizeof server, 1, 1, 300, address, sizeof address);
    if (!status) status = hashlane_dns_renderer_finish(renderer, &len);
    hashlane_dns_renderer_free(renderer);
    if (status) return fprintf(stderr, "%s\n", hashlane_dns_error(status)), 1;
    for (size_t at = 0; at < len; at++) printf("%02x", buffer[at]);
    return 0;
}
