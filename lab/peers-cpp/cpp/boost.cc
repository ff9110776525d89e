// boost::unordered_flat_map, from Boost 1.81.
#include <boost/unordered/unordered_flat_map.hpp>

#include "table.h"

namespace {

template <class Hash> using Map = boost::unordered_flat_map<hashlane::Key, uint32_t, Hash>;
template <class Hash> using Table = hashlane::MapTable<Map<Hash>>;

template <class Hash> Table<Hash> *make(size_t room, Hash hash) {
    auto *table = new Table<Hash>{Map<Hash>(0, hash)};
    table->map.reserve(room);
    return table;
}

} // namespace

HASHLANE_TABLE(boost_siphash13, Table<hashlane::SipHash13>, make(room, (hashlane::SipHash13{k0, k1})))
HASHLANE_TABLE(boost_crc32c, Table<hashlane::Crc32c>, make(room, hashlane::Crc32c{}))
