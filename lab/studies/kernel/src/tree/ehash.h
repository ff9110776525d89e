/*
 * What inet6_ehashfn() is in the kernels of hashlane's study flow-kernel, and what it is asked there.
 *
 * Included by net/ipv6/inet6_hashtables.c in place of the function of that name. hashlane_scheme.h, which is written for each
 * kernel, says which one it is to be. Each gives bit for bit what the crates `baseline` and `flow` give under the same secrets.
 */
#include <linux/jhash.h>
#include <linux/siphash.h>

#define HASHLANE_BASE 1
#define HASHLANE_V1 2
#define HASHLANE_JHASH2 3
#define HASHLANE_HSIPHASH 4
#define HASHLANE_SIPHASH 5
#define HASHLANE_FLAT 6
#define HASHLANE_OURS 7

#include "hashlane_scheme.h"

/* Drawn when the hash is first needed, as in any kernel. A scheme draws what it uses. */
static u32 hashlane_ehash_secret __read_mostly;
static u32 hashlane_ipv6_secret __read_mostly;
static u64 hashlane_key[2] __read_mostly __aligned(16);

#define HASHLANE_DRAW(secret) net_get_random_once(&(secret), sizeof(secret))

/* One word of each end, and the ports: what all schemes of 2023 end with. */
static __always_inline u32 hashlane_join(const struct net *net, u32 local, u32 foreign, u32 ports)
{
	return jhash_3words(local, foreign, ports, hashlane_ehash_secret + net_hash_mix(net));
}

u32 inet6_ehashfn(const struct net *net, const struct in6_addr *laddr, const u16 lport,
		  const struct in6_addr *faddr, const __be16 fport)
{
	const u32 *local = (__force const u32 *)laddr->s6_addr32;
	const u32 *foreign = (__force const u32 *)faddr->s6_addr32;
	const u32 ports __maybe_unused = (u32)lport << 16 | (__force u32)fport;

#if HASHLANE_SCHEME == HASHLANE_BASE
	HASHLANE_DRAW(hashlane_ehash_secret);
	HASHLANE_DRAW(hashlane_ipv6_secret);
	return hashlane_join(net, local[3],
			     jhash_3words(foreign[0] ^ foreign[1], foreign[2], foreign[3], hashlane_ipv6_secret), ports);

#elif HASHLANE_SCHEME == HASHLANE_V1
	HASHLANE_DRAW(hashlane_ehash_secret);
	HASHLANE_DRAW(hashlane_ipv6_secret);
	return hashlane_join(net, jhash_3words(local[3], ports, foreign[0], hashlane_ipv6_secret),
			     jhash_3words(foreign[1], foreign[2], foreign[3], hashlane_ipv6_secret), ports);

#elif HASHLANE_SCHEME == HASHLANE_JHASH2
	HASHLANE_DRAW(hashlane_ehash_secret);
	HASHLANE_DRAW(hashlane_ipv6_secret);
	return hashlane_join(net, local[3], jhash2(foreign, 4, hashlane_ipv6_secret), ports);

#elif HASHLANE_SCHEME == HASHLANE_HSIPHASH
	HASHLANE_DRAW(hashlane_ehash_secret);
	HASHLANE_DRAW(hashlane_key);
	return hashlane_join(net, local[3],
			     hsiphash_4u32(foreign[0], foreign[1], foreign[2], foreign[3],
					   (const hsiphash_key_t *)hashlane_key),
			     ports);

#elif HASHLANE_SCHEME == HASHLANE_SIPHASH
	HASHLANE_DRAW(hashlane_ehash_secret);
	HASHLANE_DRAW(hashlane_key);
	return hashlane_join(net, local[3],
			     (u32)siphash_2u64((u64)foreign[1] << 32 | foreign[0], (u64)foreign[3] << 32 | foreign[2],
					       (const siphash_key_t *)hashlane_key),
			     ports);

#elif HASHLANE_SCHEME == HASHLANE_FLAT
	/* All words in one jhash; the local port is added, so that a search for a free one is a walk over buckets. */
	u32 a, b, c;

	HASHLANE_DRAW(hashlane_ipv6_secret);
	a = b = c = hashlane_ipv6_secret;
	a += local[0] ^ net_hash_mix(net);
	b += local[1];
	c += local[2];
	__jhash_mix(a, b, c);
	a += local[3];
	b += foreign[0];
	c += foreign[1];
	__jhash_mix(a, b, c);
	a += foreign[2];
	b += foreign[3];
	c += (__force u32)fport;
	__jhash_final(a, b, c);
	return lport + c;

#elif HASHLANE_SCHEME == HASHLANE_OURS
	/* SipHash-1-3 over the 36 octets of the tuple, every bit of it under a key of 128 bits. */
	u64 v0, v1, v2, v3;
	unsigned int i;
	const u64 words[5] = {
		(u64)local[1] << 32 | local[0],
		(u64)local[3] << 32 | local[2],
		(u64)foreign[1] << 32 | foreign[0],
		(u64)foreign[3] << 32 | foreign[2],
		(u64)36 << 56 | (u64)(__force u16)fport << 16 | (__force u16)htons(lport),
	};

#define HASHLANE_ROUND() do { \
		v0 += v1; v1 = rol64(v1, 13); v1 ^= v0; v0 = rol64(v0, 32); \
		v2 += v3; v3 = rol64(v3, 16); v3 ^= v2; \
		v0 += v3; v3 = rol64(v3, 21); v3 ^= v0; \
		v2 += v1; v1 = rol64(v1, 17); v1 ^= v2; v2 = rol64(v2, 32); \
	} while (0)

	HASHLANE_DRAW(hashlane_key);
	v0 = hashlane_key[0] ^ 0x736f6d6570736575ULL;
	v1 = hashlane_key[1] ^ 0x646f72616e646f6dULL;
	v2 = hashlane_key[0] ^ 0x6c7967656e657261ULL;
	v3 = hashlane_key[1] ^ 0x7465646279746573ULL;
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		v3 ^= words[i];
		HASHLANE_ROUND();
		v0 ^= words[i];
	}
	v2 ^= 0xff;
	HASHLANE_ROUND();
	HASHLANE_ROUND();
	HASHLANE_ROUND();
	return (u32)(v0 ^ v1 ^ v2 ^ v3) ^ net_hash_mix(net);

#else
#error "no such scheme"
#endif
}
EXPORT_SYMBOL_GPL(inet6_ehashfn);
