/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _NET_INET_EHASH_H
#define _NET_INET_EHASH_H

/*
 * Hash of an established connection: one jhash over both addresses and the foreign port, every bit
 * of them, under a secret of 128 bits: one word in each lane, and one with the last words. The
 * caller adds the local port, so that a search for a free one is an addition for each port.
 *
 * jhash makes no claim against somebody who learns hashes. A secret of 128 bits is too long to be
 * searched for, as one of 32 can be.
 */

#include <linux/in6.h>
#include <linux/jhash.h>
#include <linux/types.h>

struct inet_ehash_key {
	u32 word[4];
};

static __always_inline u32 inet6_ehash(const struct in6_addr *laddr,
				       const struct in6_addr *faddr, __be16 fport,
				       const struct inet_ehash_key *key)
{
	const u32 *local = (__force const u32 *)laddr->s6_addr32;
	const u32 *foreign = (__force const u32 *)faddr->s6_addr32;
	u32 a = key->word[0] + local[0];
	u32 b = key->word[1] + local[1];
	u32 c = key->word[2] + local[2];

	__jhash_mix(a, b, c);
	a += local[3];
	b += foreign[0];
	c += foreign[1];
	__jhash_mix(a, b, c);
	a += foreign[2];
	b += foreign[3];
	c += key->word[3] ^ (__force u16)fport;
	__jhash_final(a, b, c);
	return c;
}

static __always_inline u32 inet4_ehash(__be32 laddr, __be32 faddr, __be16 fport,
				       const struct inet_ehash_key *key)
{
	u32 a = key->word[0] + (__force u32)laddr;
	u32 b = key->word[1] + (__force u32)faddr;
	u32 c = key->word[2] + (__force u16)fport;

	__jhash_mix(a, b, c);
	c += key->word[3];
	__jhash_final(a, b, c);
	return c;
}

#endif /* _NET_INET_EHASH_H */
