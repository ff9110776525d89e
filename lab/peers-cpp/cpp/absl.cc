// absl::flat_hash_map.
#include <absl/container/flat_hash_map.h>

#include "table.h"

namespace {

// Abseil's own hash of the bytes.
struct AbslHash {
    uint64_t operator()(const hashlane::Key &key) const {
        const char *bytes = reinterpret_cast<const char *>(key.words);
        return absl::Hash<absl::string_view>{}(absl::string_view(bytes, sizeof key.words));
    }
};

template <class Hash> using Map = absl::flat_hash_map<hashlane::Key, uint32_t, Hash>;
template <class Hash> using Table = hashlane::MapTable<Map<Hash>>;

template <class Hash> Table<Hash> *make(size_t room, Hash hash) {
    auto *table = new Table<Hash>{Map<Hash>(0, hash)};
    table->map.reserve(room);
    return table;
}

} // namespace

HASHLANE_TABLE(absl_siphash13, Table<hashlane::SipHash13>, make(room, (hashlane::SipHash13{k0, k1})))
HASHLANE_TABLE(absl_absl, Table<AbslHash>, make(room, AbslHash{}))
