// DPDK's rte_hash, in memory of 4 KiB pages and without any device.
#include <rte_eal.h>
#include <rte_hash.h>
#include <rte_hash_crc.h>

#include <sched.h>

#include <mutex>
#include <new>
#include <string>

#include "table.h"

namespace {

// Megabytes that the tables may take together; pages that no table uses are not in memory.
constexpr const char *MEGABYTES = "6144";

// Initializes the library once; false if it fails. It pins the calling thread, which is undone.
bool is_ready() {
    static bool ready = false;
    static std::once_flag once;
    std::call_once(once, [] {
        cpu_set_t before;
        sched_getaffinity(0, sizeof before, &before);
        std::string core = std::to_string(sched_getcpu());
        const char *words[] = {"hashlane",     "--no-huge", "--no-pci",       "--no-telemetry",
                               "--no-shconf",  "-m",        MEGABYTES,        "-l",
                               core.c_str(),   "--log-level=lib.*:error"};
        ready = rte_eal_init(sizeof words / sizeof *words, const_cast<char **>(words)) >= 0;
        sched_setaffinity(0, sizeof before, &before);
    });
    return ready;
}

// The key of the hash function, which rte_hash calls with 32 bits of its own alone.
hashlane::SipHash13 siphash_key{};

uint32_t siphash(const void *key, uint32_t, uint32_t) {
    return uint32_t(siphash_key(*static_cast<const hashlane::Key *>(key)));
}

struct Table {
    rte_hash *table;

    ~Table() { rte_hash_free(table); }

    void insert(const hashlane::Key *keys, size_t count, uint32_t first) {
        for (size_t at = 0; at < count; ++at) {
            rte_hash_add_key_data(table, &keys[at], reinterpret_cast<void *>(uintptr_t(first) + at));
        }
    }
    uint64_t find(const hashlane::Key *keys, size_t count, uint64_t *sum) const {
        uint64_t found = 0;
        while (count > 0) {
            const uint32_t burst = count < 32 ? uint32_t(count) : 32;
            const void *list[32];
            void *data[32];
            uint64_t hits = 0;
            for (uint32_t at = 0; at < burst; ++at) list[at] = &keys[at];
            rte_hash_lookup_bulk_data(table, list, burst, &hits, data);
            for (; hits != 0; hits &= hits - 1) {
                ++found;
                *sum += reinterpret_cast<uintptr_t>(data[__builtin_ctzll(hits)]);
            }
            keys += burst, count -= burst;
        }
        return found;
    }
    uint64_t remove(const hashlane::Key *keys, size_t count) {
        uint64_t removed = 0;
        for (size_t at = 0; at < count; ++at) removed += rte_hash_del_key(table, &keys[at]) >= 0;
        return removed;
    }
    size_t len() const { return size_t(rte_hash_count(table)); }
};

// An eighth more than the room, as a cuckoo table that is full to the last place refuses keys before.
Table *make(size_t room, rte_hash_function hash) {
    static unsigned number = 0;
    if (!is_ready()) return nullptr;
    const std::string name = "hashlane-" + std::to_string(number++);
    rte_hash_parameters parameters{};
    parameters.name = name.c_str();
    parameters.entries = uint32_t(room + room / 8 + 64);
    parameters.key_len = sizeof(hashlane::Key);
    parameters.hash_func = hash;
    rte_hash *table = rte_hash_create(&parameters);
    if (table == nullptr) return nullptr;
    return new Table{table};
}

Table *make_keyed(size_t room, uint64_t k0, uint64_t k1) {
    siphash_key = {k0, k1};
    return make(room, siphash);
}

} // namespace

HASHLANE_TABLE(dpdk_siphash13, Table, make_keyed(room, k0, k1))
HASHLANE_TABLE(dpdk_crc32c, Table, make(room, rte_hash_crc))
