"""Compares flows that another program has read with those that we have exported.

    flows.py EXPECTED KIND FILE

EXPECTED has our JSON lines. KIND is nfdump-biflow or nfdump (its JSON), nfacctd (its JSON lines), ipfix (an
IPFIX file, read by the package of that name), or parquet (read by pyarrow).
"""

import calendar
import json
import re
import sys
import time

FLAGS = "CEUAPRSF"
PROTOCOLS = {"tcp": 6, "udp": 17, "icmp": 1, "ipv6-icmp": 58}


def milliseconds(text):
    """Milliseconds since 1970 of a time of RFC 3339 in UTC, with or without its Z."""
    seconds, fraction = re.fullmatch(r"(.{19})\.(\d+)Z?", text).groups()
    whole = calendar.timegm(time.strptime(seconds.replace(" ", "T"), "%Y-%m-%dT%H:%M:%S"))
    return whole * 1000 + int(fraction[:3].ljust(3, "0"))


def ours(path):
    """Flows with both directions, as in our JSON lines."""
    with open(path) as lines:
        for line in lines:
            flow = json.loads(line)
            version = flow["ipVersion"]
            icmp = flow.get(f"icmpTypeIPv{version}")
            code = None if icmp is None else icmp * 256 + flow[f"icmpCodeIPv{version}"]
            yield {
                "source": flow[f"sourceIPv{version}Address"],
                "destination": flow[f"destinationIPv{version}Address"],
                "protocol": flow["protocolIdentifier"],
                "ports": (flow.get("sourceTransportPort", 0), flow.get("destinationTransportPort", 0)),
                "icmp": code,
                "start": milliseconds(flow["flowStartNanoseconds"]),
                "end": milliseconds(flow["flowEndNanoseconds"]),
                "packets": flow["packetDeltaCount"],
                "bytes": flow["octetDeltaCount"],
                "flags": flow.get("tcpControlBits", 0),
                "back": (flow.get("reversePacketDeltaCount", 0), flow.get("reverseOctetDeltaCount", 0)),
                "reverse": {
                    "start": milliseconds(flow["reverseFlowStartNanoseconds"]),
                    "end": milliseconds(flow["reverseFlowEndNanoseconds"]),
                    "packets": flow["reversePacketDeltaCount"],
                    "bytes": flow["reverseOctetDeltaCount"],
                    "flags": flow.get("reverseTcpControlBits", 0),
                }
                if "reversePacketDeltaCount" in flow
                else None,
                "vlan": flow.get("dot1qVlanId", 0),
                "interface": flow.get("ingressInterface", 0),
                "reason": flow["flowEndReason"],
            }


def in_one_direction(flows):
    """A flow for each direction with packets, as NetFlow v9 has them."""
    for flow in flows:
        yield {**flow, "back": (0, 0)}
        if flow["reverse"]:
            yield {
                **flow,
                **flow["reverse"],
                "source": flow["destination"],
                "destination": flow["source"],
                "ports": flow["ports"][::-1],
                "back": (0, 0),
            }


def nfdump(path):
    with open(path) as file:
        flows = json.load(file)
    for flow in flows:
        icmp = "icmp_type" in flow
        flags = enumerate(flow.get("tcp_flags", ""))
        yield {
            "source": flow.get("src4_addr") or flow["src6_addr"],
            "destination": flow.get("dst4_addr") or flow["dst6_addr"],
            "protocol": flow["proto"],
            "ports": (0, 0) if icmp else (flow["src_port"], flow["dst_port"]),
            "icmp": flow["icmp_type"] * 256 + flow["icmp_code"] if icmp else None,
            "start": milliseconds(flow["first"]),
            "end": milliseconds(flow["last"]),
            "packets": flow["in_packets"],
            "bytes": flow["in_bytes"],
            "flags": sum(1 << 7 - at for at, flag in flags if flag == FLAGS[at]),
            "back": (flow.get("out_packets", 0), flow.get("out_bytes", 0)),
            "interface": flow.get("input_snmp", 0),
        }


def nfacctd(path):
    with open(path) as lines:
        for line in lines:
            flow = json.loads(line)
            protocol = PROTOCOLS[flow["ip_proto"]]
            both = {
                "source": flow["ip_src"],
                "destination": flow["ip_dst"],
                "protocol": protocol,
                "start": round(float(flow["timestamp_start"]) * 1000),
                "end": round(float(flow["timestamp_end"]) * 1000),
                "packets": flow["packets"],
                "bytes": flow["bytes"],
                "vlan": flow["vlan"],
            }
            if protocol in (6, 17):
                both["ports"] = (flow["port_src"], flow["port_dst"])
                both["flags"] = int(flow["tcp_flags"])
            yield both


def ipfix(path):
    import ipfix.ie
    import ipfix.reader

    ipfix.ie.use_iana_default()
    ipfix.ie.use_5103_default()

    def time_of(value):
        return calendar.timegm(value.timetuple()) * 1000 + value.microsecond // 1000

    with open(path, "rb") as file:
        for flow in ipfix.reader.from_stream(file).namedict_iterator():
            version = 4 if "sourceIPv4Address" in flow else 6
            if f"sourceIPv{version}Address" not in flow:
                # Options.
                continue
            start = flow.get("reverseFlowStartMilliseconds")
            yield {
                "source": str(flow[f"sourceIPv{version}Address"]),
                "destination": str(flow[f"destinationIPv{version}Address"]),
                "protocol": flow["protocolIdentifier"],
                "ports": (flow.get("sourceTransportPort", 0), flow.get("destinationTransportPort", 0)),
                "icmp": flow.get(f"icmpTypeCodeIPv{version}"),
                "start": time_of(flow["flowStartMilliseconds"]),
                "end": time_of(flow["flowEndMilliseconds"]),
                "packets": flow["packetDeltaCount"],
                "bytes": flow["octetDeltaCount"],
                "flags": flow.get("tcpControlBits", 0),
                "reverse": {
                    "start": time_of(start),
                    "end": time_of(flow["reverseFlowEndMilliseconds"]),
                    "packets": flow["reversePacketDeltaCount"],
                    "bytes": flow["reverseOctetDeltaCount"],
                    "flags": flow.get("reverseTcpControlBits", 0),
                }
                if start
                else None,
                "vlan": flow.get("dot1qVlanId", 0),
                "interface": flow["ingressInterface"],
                "reason": flow["flowEndReason"],
            }


def parquet(path):
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.parquet.read_table(path)
    # The times as numbers: Python's have no nanoseconds.
    columns = {}
    for name in table.column_names:
        column = table.column(name)
        columns[name] = column.cast("int64") if pyarrow.types.is_timestamp(column.type) else column
    for flow in pyarrow.table(columns).to_pylist():
        version = flow["ipVersion"]
        yield {
            "source": flow[f"sourceIPv{version}Address"],
            "destination": flow[f"destinationIPv{version}Address"],
            "protocol": flow["protocolIdentifier"],
            "ports": (flow["sourceTransportPort"] or 0, flow["destinationTransportPort"] or 0),
            "start": flow["flowStartNanoseconds"] // 1_000_000,
            "end": flow["flowEndNanoseconds"] // 1_000_000,
            "packets": flow["packetDeltaCount"],
            "bytes": flow["octetDeltaCount"],
            "flags": flow["tcpControlBits"] or 0,
            "back": (flow["reversePacketDeltaCount"] or 0, flow["reverseOctetDeltaCount"] or 0),
            "vlan": flow["dot1qVlanId"] or 0,
            "interface": flow["ingressInterface"] or 0,
            "reason": flow["flowEndReason"],
        }


def main():
    expected_path, kind, path = sys.argv[1:]
    expected = list(ours(expected_path))
    if kind == "nfdump":
        expected = list(in_one_direction(expected))
    read = {"nfdump-biflow": nfdump, "nfdump": nfdump, "nfacctd": nfacctd, "ipfix": ipfix, "parquet": parquet}
    found = list(read[kind](path))

    def place(flow):
        return (flow["source"], flow["destination"], flow["start"])

    expected.sort(key=place)
    found.sort(key=place)
    if len(found) != len(expected):
        sys.exit(f"{kind}: {len(found)} flows, {len(expected)} expected")
    for one, other in zip(found, expected):
        for name, value in one.items():
            if value != other[name]:
                sys.exit(f"{kind}: {name} is {value}, {other[name]} expected:\n{one}\n{other}")
    names = ", ".join(sorted(found[0]))
    print(f"{kind}: {len(found)} flows agree in {names}")


main()
