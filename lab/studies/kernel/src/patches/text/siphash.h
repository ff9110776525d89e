/* SPDX-License-Identifier: GPL-2.0 OR MIT */
#ifndef _NET_INET_EHASH_H
#define _NET_INET_EHASH_H

/*
 * Hash of an established connection: SipHash-1-3 over both addresses and the foreign port, every
 * bit of them, under a key of 128 bits. The caller adds the local port, so that a search for a free
 * one is an addition for each port.
 */

#include <linux/in6.h>
#include <linux/siphash.h>
#include <linux/types.h>

struct inet_ehash_key {
	u64 word[2];
};

static __always_inline u32 inet_ehash_words(const u64 *words, unsigned int count,
					    const struct inet_ehash_key *key)
{
	u64 v0 = SIPHASH_CONST_0 ^ key->word[0];
	u64 v1 = SIPHASH_CONST_1 ^ key->word[1];
	u64 v2 = SIPHASH_CONST_2 ^ key->word[0];
	u64 v3 = SIPHASH_CONST_3 ^ key->word[1];
	unsigned int i;

	for (i = 0; i < count; i++) {
		v3 ^= words[i];
		SIPHASH_PERMUTATION(v0, v1, v2, v3);
		v0 ^= words[i];
	}
	v2 ^= 0xff;
	for (i = 0; i < 3; i++)
		SIPHASH_PERMUTATION(v0, v1, v2, v3);
	return v0 ^ v1 ^ v2 ^ v3;
}

/* The last word holds the number of bytes in its upper eight bits, as in SipHash. */
static __always_inline u32 inet6_ehash(const struct in6_addr *laddr,
				       const struct in6_addr *faddr, __be16 fport,
				       const struct inet_ehash_key *key)
{
	const u32 *local = (__force const u32 *)laddr->s6_addr32;
	const u32 *foreign = (__force const u32 *)faddr->s6_addr32;
	const u64 words[] = {
		(u64)local[1] << 32 | local[0],
		(u64)local[3] << 32 | local[2],
		(u64)foreign[1] << 32 | foreign[0],
		(u64)foreign[3] << 32 | foreign[2],
		34ULL << 56 | (__force u16)fport,
	};

	return inet_ehash_words(words, 5, key);
}

static __always_inline u32 inet4_ehash(__be32 laddr, __be32 faddr, __be16 fport,
				       const struct inet_ehash_key *key)
{
	const u64 words[] = {
		(u64)(__force u32)faddr << 32 | (__force u32)laddr,
		10ULL << 56 | (__force u16)fport,
	};

	return inet_ehash_words(words, 2, key);
}

#endif /* _NET_INET_EHASH_H */
