#!/bin/bash
# SPDX-License-Identifier: GPL-2.0 OR MIT
#
# Cost of a SYN behind hostile ones, in the table of TCP connections.
#
# A server that owns a prefix (AnyIP) gets SYNs that differ in the upper bits of the destination address
# alone. A hash that leaves these bits out puts all requests into one bucket, and each further SYN walks
# through them. The same number of SYNs to random addresses is the yardstick, and IPv4, whose hash takes the
# whole tuple, the control. No SYN leaves the network namespace that the test makes for itself.
#
# Also shown, without a verdict: the cost of a port in the scan of connect() for a free one.
#
# Usage: inet_ehash_flood.sh [SYNS], 4096 to 16384, 8192 by default. Needs root, ip, and python3; takes about
# ten seconds, and at most two minutes. Exits with 0 if nothing collapsed, 1 if something did, 4 if skipped.

readonly KSFT_PASS=0
readonly KSFT_FAIL=1
readonly KSFT_SKIP=4

readonly SYNS="${1:-8192}"
# Behind hostile SYNs a SYN may cost this many times as much as behind random ones.
readonly LIMIT=4
NS=""
ret=$KSFT_PASS

skip()
{
	echo "SKIP: $1"
	exit $KSFT_SKIP
}

cleanup()
{
	[ -n "$NS" ] && ip netns del "$NS" 2>/dev/null
	NS=""
}

setup()
{
	cleanup
	NS="ehash-$(head -c 6 /dev/urandom | od -An -tx1 | tr -d ' \n')"
	ip netns add "$NS" 2>/dev/null || { NS=""; skip "cannot make a network namespace"; }
	# Answers go into a pair whose other end takes nothing.
	ip -n "$NS" link add veth0 type veth peer name veth1 2>/dev/null || skip "no veth"
	ip netns exec "$NS" sysctl -qw net.ipv6.conf.veth1.disable_ipv6=1 net.ipv4.tcp_syncookies=0 \
		net.ipv4.tcp_max_syn_backlog=1048576 net.core.somaxconn=1048576 \
		net.ipv4.conf.all.rp_filter=0 net.ipv4.conf.default.rp_filter=0 \
		net.ipv4.ip_local_port_range="20000 24095" || skip "cannot set the namespace up"
	ip -n "$NS" link set lo up
	ip -n "$NS" link set veth0 arp off up
	ip -n "$NS" link set veth1 arp off up
	ip -n "$NS" -6 addr add 2001:db8:1::1/64 dev veth0 nodad || skip "no IPv6"
	ip -n "$NS" -6 route add default dev veth0
	ip -n "$NS" -6 route add local 2001:db8:2::/64 dev lo || skip "no AnyIP"
	ip -n "$NS" addr add 198.19.0.1/24 dev veth0
	ip -n "$NS" route add default dev veth0
	ip -n "$NS" route add local 198.18.0.0/16 dev lo
}

# measure FAMILY SET: nanoseconds of a SYN and the number of requests in the table; or, for the set
# "connect", nanoseconds of a port and the number of ports.
measure()
{
	timeout 60 ip netns exec "$NS" python3 - "$1" "$2" "$SYNS" <<'PYTHON'
import errno, os, random, resource, socket, statistics, struct, sys, time

family, kind, count = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
six = family == 6
af = socket.AF_INET6 if six else socket.AF_INET
PORT, ROUNDS, TIMED, BLOCK = 443, 3, 512, 32
# Not of time, and the same for both families.
rng = random.Random(2015)


def address(text):
    return socket.inet_pton(af, text)


def checksum(data):
    data += b"\0" * (len(data) % 2)
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def syn(source, sport, target):
    length = 20
    head = struct.pack("!HHIIBBHHH", sport, PORT, 1, 0, 5 << 4, 2, 65535, 0, 0)
    if six:
        pseudo = source + target + struct.pack("!II", length, socket.IPPROTO_TCP)
        outer = struct.pack("!IHBB", 6 << 28, length, socket.IPPROTO_TCP, 64) + source + target
    else:
        pseudo = source + target + struct.pack("!HH", socket.IPPROTO_TCP, length)
        outer = struct.pack("!BBHHHBBH", 0x45, 0, 20 + length, 0, 0, 64, socket.IPPROTO_TCP, 0)
        outer += source + target
        outer = outer[:10] + struct.pack("!H", checksum(outer)) + outer[12:]
    return outer + head[:16] + struct.pack("!H", checksum(pseudo + head)) + head[18:]


def tuples(number):
    """Random: the ends differ in all bits that may. Hostile: only in the upper bits of the server's own."""
    seen = set()
    while len(seen) < number:
        bits = rng.getrandbits(32)
        if six and kind == "hostile":
            one = (address("2001:db8:1::f"), 4000,
                   address("2001:db8:2::")[:8] + struct.pack("!II", bits, 443))
        elif six:
            one = (address("2001:db8:1::")[:8] + rng.randbytes(8), 1024 + bits % 60000,
                   address("2001:db8:2::")[:8] + rng.randbytes(8))
        elif kind == "hostile":
            one = (address("198.19.0.15"), 4000, address("198.18.0.0")[:2] + struct.pack("!H", bits & 0xFFFF))
        else:
            one = (address("198.19.0.0")[:2] + rng.randbytes(2), 1024 + bits % 60000,
                   address("198.18.0.0")[:2] + rng.randbytes(2))
        seen.add(one)
    return sorted(seen, key=lambda one: rng.random())


def requests():
    """Number of half-open connections of this namespace."""
    with open("/proc/net/tcp6") as tcp6, open("/proc/net/tcp") as tcp:
        lines = tcp6.readlines() + tcp.readlines()
    return sum(line.split()[3] == "03" for line in lines if ":" in line.split()[0])


def flood():
    listener = socket.socket(af, socket.SOCK_STREAM)
    listener.bind(("::" if six else "0.0.0.0", PORT))
    listener.listen(1 << 20)
    raw = socket.socket(af, socket.SOCK_RAW, socket.IPPROTO_RAW)
    if not six:
        raw.setsockopt(socket.IPPROTO_IP, socket.IP_HDRINCL, 1)
    packets = []
    for source, sport, target in tuples(count + ROUNDS * TIMED):
        to = (socket.inet_ntop(af, target), 0)
        packets.append((syn(source, sport, target), to))
    # Stops by itself: a collapsed table makes each SYN slower than the one before.
    end = time.monotonic() + 15
    sent = 0
    for packet, to in packets[:count]:
        raw.sendto(packet, to)
        sent += 1
        if time.monotonic() > end:
            break
    # The shortest block of several rounds, all before most requests are due for another answer (1 s): a busy
    # machine can only add to the walk through a bucket, and no SYN into a full one is spared that.
    times = []
    for start in range(count, count + ROUNDS * TIMED, BLOCK):
        if (start - count) % TIMED == 0:
            time.sleep(0.05)
        begun = time.perf_counter_ns()
        for packet, to in packets[start:start + BLOCK]:
            raw.sendto(packet, to)
        times.append((time.perf_counter_ns() - begun) / BLOCK)
    entries = requests()
    # The kernel may drop some on a busy machine; without most of them nothing was shown.
    if entries < sent // 4:
        print("skip only %d of %d SYNs left a request" % (entries, sent + ROUNDS * TIMED))
        return
    print(int(min(times)), entries)


def scan():
    """Takes every local port towards one address; the next connect() scans all in vain."""
    ports = 4096
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < ports + 64:
        print("skip no more than %d open files" % hard)
        return
    resource.setrlimit(resource.RLIMIT_NOFILE, (ports + 64, hard))
    to = ("2001:db8:3::f" if six else "203.0.113.15", PORT)

    def connect():
        opened = socket.socket(af, socket.SOCK_STREAM | socket.SOCK_NONBLOCK)
        return opened, opened.connect_ex(to)

    held = []
    for _ in range(ports):
        opened, error = connect()
        if error != errno.EINPROGRESS:
            print("skip connect: %s" % os.strerror(error))
            return
        held.append(opened)
    times = []
    for _ in range(15):
        begun = time.perf_counter_ns()
        opened, error = connect()
        times.append(time.perf_counter_ns() - begun)
        opened.close()
        if error != errno.EADDRNOTAVAIL:
            print("skip a port was free: %s" % os.strerror(error))
            return
    print(int(statistics.median(times) / ports), ports)


if kind == "connect":
    scan()
else:
    flood()
PYTHON
}

# figure FAMILY SET: sets NANOSECONDS and ENTRIES, or says why there are none.
figure()
{
	local said

	setup
	said=$(measure "$1" "$2" 2>&1 | tail -n 1)
	read -r NANOSECONDS ENTRIES <<< "$said"
	if ! [[ $NANOSECONDS =~ ^[0-9]+$ ]]; then
		echo "# IPv$1, $2: not measured: ${said#skip }"
		return 1
	fi
}

# run FAMILY: a verdict on one family.
run()
{
	local random random_entries

	figure "$1" random || return $KSFT_SKIP
	random=$NANOSECONDS
	random_entries=$ENTRIES
	figure "$1" hostile || return $KSFT_SKIP
	echo "# IPv$1: a SYN takes $random ns behind random ones ($random_entries requests)," \
		"$NANOSECONDS ns behind hostile ones ($ENTRIES requests)"
	if [ "$NANOSECONDS" -gt $((LIMIT * random)) ]; then
		printf "TEST: %-60s [FAIL]\n" "IPv$1: hostile SYNs do not share a bucket"
		return $KSFT_FAIL
	fi
	printf "TEST: %-60s [ OK ]\n" "IPv$1: hostile SYNs do not share a bucket"
}

scan()
{
	figure "$1" connect || return
	echo "# IPv$1: connect() takes $NANOSECONDS ns a port while it scans $ENTRIES ports in vain"
}

if ! [[ $SYNS =~ ^[0-9]+$ ]] || [ "$SYNS" -lt 4096 ] || [ "$SYNS" -gt 16384 ]; then
	skip "SYNS is $SYNS: give a number from 4096 to 16384"
fi
[ "$(id -u)" -eq 0 ] || skip "run as root"
for tool in ip python3 timeout sysctl; do
	command -v "$tool" > /dev/null || skip "$tool is not installed"
done
trap cleanup EXIT
trap 'exit $KSFT_SKIP' INT TERM

echo "# Linux $(uname -r), $SYNS SYNs"
skipped=0
for family in 4 6; do
	run "$family"
	case $? in
	"$KSFT_FAIL") ret=$KSFT_FAIL ;;
	"$KSFT_SKIP") skipped=1 ;;
	esac
done
for family in 4 6; do
	scan "$family"
done
[ "$ret" -eq "$KSFT_PASS" ] && [ "$skipped" -eq 1 ] && ret=$KSFT_SKIP
exit "$ret"
