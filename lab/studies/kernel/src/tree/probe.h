/*
 * Files under /proc/hashlane, by which hashlane's study flow-kernel queries the kernels that it builds.
 *
 * Included at the end of net/ipv6/inet6_hashtables.c. A tuple is 36 octets as 72 hexadecimal digits: local address, foreign
 * address, local port, foreign port. It is written to `tuple`, and the others tell of it:
 *
 *   tuple    its hash, and the secrets: the kernel is nobody's but the study's
 *   cycles   counts of the time-stamp counter, as TOTAL/CALLS of each repetition
 *   table    entries in all, in the tuple's bucket, and in the fullest one
 */
#include <linux/kernel.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <net/net_namespace.h>
#include <net/tcp.h>

#define HASHLANE_REPETITIONS 40
#define HASHLANE_CALLS 10000
/* Calls of a repetition are few enough for it to take no more than about so many counts. */
#define HASHLANE_COUNTS 1000000
#define HASHLANE_OCTETS 36

struct hashlane_tuple {
	struct in6_addr local, foreign;
	__be16 local_port, foreign_port;
};

static struct hashlane_tuple hashlane_tuple;
static u64 hashlane_sink;

static inline u64 hashlane_counter(void)
{
	u32 low, high;

	asm volatile("lfence\n\trdtsc\n\tlfence" : "=a" (low), "=d" (high) : : "memory");
	return (u64)high << 32 | low;
}

/* What is timed: `calls` of it, one after the other. */
typedef u64 hashlane_work(inet6_ehashfn_t *hash, struct hashlane_tuple tuple, unsigned int calls);

/* No call waits for the one before it. */
static noinline u64 hashlane_independent(inet6_ehashfn_t *hash, struct hashlane_tuple tuple, unsigned int calls)
{
	const u16 local_port = ntohs(tuple.local_port);
	u64 sum = 0;
	unsigned int i;

	for (i = 0; i < calls; i++)
		sum += hash(&init_net, &tuple.local, local_port, &tuple.foreign, (__force __be16)i);
	return sum;
}

/* Each call takes a word of the foreign address from the result of the one before it. */
static noinline u64 hashlane_dependent(inet6_ehashfn_t *hash, struct hashlane_tuple tuple, unsigned int calls)
{
	const u16 local_port = ntohs(tuple.local_port);
	u32 last = 0;
	unsigned int i;

	for (i = 0; i < calls; i++) {
		tuple.foreign.s6_addr32[0] = (__force __be32)last;
		last = hash(&init_net, &tuple.local, local_port, &tuple.foreign, tuple.foreign_port);
	}
	return last;
}

/* The lookup of an established connection, as a segment that comes in makes it. */
static noinline u64 hashlane_lookup(inet6_ehashfn_t *hash, struct hashlane_tuple tuple, unsigned int calls)
{
	u64 found = 0;
	unsigned int i;

	for (i = 0; i < calls; i++) {
		struct sock *sk = __inet6_lookup_established(&init_net, &tcp_hashinfo, &tuple.foreign, tuple.foreign_port,
							     &tuple.local, ntohs(tuple.local_port), 1, 0);
		if (sk) {
			found++;
			sock_gen_put(sk);
		}
	}
	return found;
}

static void hashlane_time(struct seq_file *file, const char *name, hashlane_work *work)
{
	inet6_ehashfn_t *hash = inet6_ehashfn;
	unsigned int calls = HASHLANE_CALLS, repetition;

	/* The compiler is not to know what is called: else it may hash once. */
	OPTIMIZER_HIDE_VAR(hash);
	seq_puts(file, name);
	/* The first finds secrets not drawn and caches cold, and tells how long one call takes; it is not shown. */
	for (repetition = 0; repetition <= HASHLANE_REPETITIONS; repetition++) {
		const unsigned int now = repetition ? calls : 10;
		unsigned long flags;
		u64 begin, end;

		rcu_read_lock();
		local_irq_save(flags);
		begin = hashlane_counter();
		WRITE_ONCE(hashlane_sink, work(hash, hashlane_tuple, now));
		end = hashlane_counter();
		local_irq_restore(flags);
		rcu_read_unlock();
		if (repetition)
			seq_printf(file, " %llu/%u", end - begin, now);
		else
			calls = clamp_t(u64, 10ULL * HASHLANE_COUNTS / (end - begin + 1), 1, HASHLANE_CALLS);
		cond_resched();
	}
	seq_putc(file, '\n');
}

static int hashlane_show_cycles(struct seq_file *file, void *unused)
{
	hashlane_time(file, "independent", hashlane_independent);
	hashlane_time(file, "dependent", hashlane_dependent);
	hashlane_time(file, "lookup", hashlane_lookup);
	seq_printf(file, "found %u\n", READ_ONCE(hashlane_sink) != 0);
	return 0;
}

static int hashlane_show_table(struct seq_file *file, void *unused)
{
	const unsigned int own = inet6_ehashfn(&init_net, &hashlane_tuple.local, ntohs(hashlane_tuple.local_port),
					       &hashlane_tuple.foreign, hashlane_tuple.foreign_port) & tcp_hashinfo.ehash_mask;
	unsigned int slot, entries = 0, bucket = 0, longest = 0;

	for (slot = 0; slot <= tcp_hashinfo.ehash_mask; slot++) {
		struct hlist_nulls_node *node;
		unsigned int here = 0;
		struct sock *sk;

		rcu_read_lock();
		sk_nulls_for_each_rcu(sk, node, &tcp_hashinfo.ehash[slot].chain)
			here++;
		rcu_read_unlock();
		entries += here;
		longest = max(longest, here);
		if (slot == own)
			bucket = here;
	}
	seq_printf(file, "entries %u\nbucket %u\nlongest %u\nbuckets %u\n", entries, bucket, longest, tcp_hashinfo.ehash_mask + 1);
	return 0;
}

static int hashlane_show_tuple(struct seq_file *file, void *unused)
{
	const u32 hash = inet6_ehashfn(&init_net, &hashlane_tuple.local, ntohs(hashlane_tuple.local_port),
				       &hashlane_tuple.foreign, hashlane_tuple.foreign_port);

	seq_printf(file, "scheme %s\nhash %08x\nehash %08x\nipv6 %08x\nmix %08x\nkey %016llx %016llx\n", HASHLANE_NAME, hash,
		   hashlane_ehash_secret, hashlane_ipv6_secret, net_hash_mix(&init_net), hashlane_key[0], hashlane_key[1]);
	return 0;
}

static int hashlane_open_tuple(struct inode *inode, struct file *file)
{
	return single_open(file, hashlane_show_tuple, NULL);
}

static ssize_t hashlane_write_tuple(struct file *file, const char __user *from, size_t count, loff_t *at)
{
	char digits[2 * HASHLANE_OCTETS];
	u8 octets[HASHLANE_OCTETS];

	BUILD_BUG_ON(sizeof(hashlane_tuple) != HASHLANE_OCTETS);
	if (count < sizeof(digits) || copy_from_user(digits, from, sizeof(digits)))
		return -EINVAL;
	if (hex2bin(octets, digits, sizeof(octets)))
		return -EINVAL;
	memcpy(&hashlane_tuple, octets, sizeof(octets));
	return count;
}

static const struct proc_ops hashlane_tuple_ops = {
	.proc_open = hashlane_open_tuple,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = hashlane_write_tuple,
};

static int __init hashlane_init(void)
{
	struct proc_dir_entry *folder = proc_mkdir("hashlane", NULL);

	if (!folder || !proc_create("tuple", 0600, folder, &hashlane_tuple_ops) ||
	    !proc_create_single("cycles", 0400, folder, hashlane_show_cycles) ||
	    !proc_create_single("table", 0400, folder, hashlane_show_table))
		return -ENOMEM;
	return 0;
}
late_initcall(hashlane_init);
