# Sends raw packets in two namespaces and tells which of them arrived.
# argv: namespaces of the pod, of the outside and of the router between them, then the router's addresses.
# Input lines: `send SIDE SRC DST PROTO SPORT DPORT FLAGS ID` (SIDE pod|out) and `seen`.
# Answer to `seen`: one line of words `ID:arrived` and `ID:refused`, when everything that was sent has come to its end.
import ctypes, os, select, socket, struct, sys

libc = ctypes.CDLL(None, use_errno=True)
# Packets of one processor are delivered in the order in which they were sent.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

def enter(name):
    fd = os.open("/run/netns/" + name, os.O_RDONLY)
    if libc.setns(fd, 0x40000000) != 0:
        sys.exit("setns failed")
    os.close(fd)

def sockets(name):
    enter(name)
    sniff = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    sniff.bind(("eth0", 0x0800))
    sniff.setblocking(False)
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    sniff6 = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x86DD))
    sniff6.bind(("eth0", 0x86DD))
    sniff6.setblocking(False)
    raw6 = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
    return sniff, raw, sniff6, raw6

pod, out = sockets(sys.argv[1]), sockets(sys.argv[2])
# A link of its own, whose frames follow the packets through the same queue.
ends = []
for link in ("wire0", "wire1"):
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88B5))
    end.bind((link, 0x88B5))
    ends.append(end)

def settle():
    # A frame that is received was queued behind all that was sent before it: each round takes packets one hop further,
    # and the longest way (solicitation, answer, packet, refusal) has fewer hops than there are rounds.
    frame = b"\xff" * 6 + b"\x02" + b"\0" * 5 + b"\x88\xb5" + b"\0" * 46
    for _ in range(12):
        ends[0].send(frame)
        while True:
            select.select([ends[1]], [], [])
            if ends[1].recvfrom(2048)[1][2] != 4:
                break

enter(sys.argv[3])
services, served, routers = [], set(), set(sys.argv[4:])
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
raw6 = socket.socket(socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_RAW)
router = (None, raw, None, raw6)
def serve(port):
    # A port that nobody serves is refused by the host itself, which is no word of the rules.
    if port in served:
        return
    served.add(port)
    service = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    service.bind(("0.0.0.0", port))
    service.setblocking(False)
    services.append(service)
    service = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
    service.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
    service.bind(("::", port))
    service.setblocking(False)
    services.append(service)
for port in (53, 10250):
    serve(port)

def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF

def packet(src, dst, proto, sport, dport, flags, ident):
    a, b = socket.inet_aton(src), socket.inet_aton(dst)
    if proto == 17:
        payload = struct.pack("!HHHHH", sport, dport, 10, 0, ident)
    elif proto == 6:
        head = struct.pack("!HHIIBBHHH", sport, dport, ident, 0, 0x50, flags, 65535, 0, 0)
        pseudo = a + b + struct.pack("!BBH", 0, 6, len(head))
        payload = head[:16] + struct.pack("!H", checksum(pseudo + head)) + head[18:]
    else:
        head = struct.pack("!BBHHH", dport, 0, 0, ident, 1)
        payload = head[:2] + struct.pack("!H", checksum(head)) + head[4:]
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), ident, 0, 64, proto, 0, a, b) + payload

# The identity of a packet stands in its flow label.
def packet6(src, dst, proto, sport, dport, flags, ident):
    a, b = socket.inet_pton(socket.AF_INET6, src), socket.inet_pton(socket.AF_INET6, dst)
    def summed(head, at):
        pseudo = a + b + struct.pack("!IxxxB", len(head), proto)
        return head[:at] + struct.pack("!H", checksum(pseudo + head)) + head[at + 2:]
    if proto == 17:
        payload = summed(struct.pack("!HHHHH", sport, dport, 10, 0, ident), 6)
    elif proto == 6:
        payload = summed(struct.pack("!HHIIBBHHH", sport, dport, ident, 0, 0x50, flags, 65535, 0, 0), 16)
    else:
        payload = summed(struct.pack("!BBHHH", dport, 0, 0, ident, 1), 2)
    return struct.pack("!IHBB", 6 << 28 | ident, len(payload), proto, 64) + a + b + payload

sent = {}

def drain6(side, events):
    while True:
        try:
            data, address = side[2].recvfrom(2048)
        except BlockingIOError:
            return
        # The hosts' own multicast listeners and neighbours are not what was sent.
        if address[2] == 4 or len(data) < 48 or data[6] not in (6, 17, 58):
            continue
        proto, ident = data[6], struct.unpack("!I", data[:4])[0] & 0xFFFFF
        if proto == 58 and data[40] == 1 and len(data) >= 88:
            events.append("%d:refused" % (struct.unpack("!I", data[48:52])[0] & 0xFFFFF))
        elif proto == 6 and data[53] & 4 and struct.unpack("!HH", data[40:44]) in sent:
            events.append("%d:refused" % sent[struct.unpack("!HH", data[40:44])])
        elif proto != 58 or data[40] in (128, 129):
            events.append("%d:arrived" % ident)

def drain(side, events):
    while True:
        try:
            data, address = side[0].recvfrom(2048)
        except BlockingIOError:
            return
        if address[2] == 4 or len(data) < 28:
            continue
        proto, ident = data[9], struct.unpack("!H", data[4:6])[0]
        if proto == 1 and data[20] == 3 and len(data) >= 48:
            events.append("%d:refused" % struct.unpack("!H", data[32:34])[0])
        elif proto == 6 and data[33] & 4 and (struct.unpack("!HH", data[20:24])) in sent:
            events.append("%d:refused" % sent[struct.unpack("!HH", data[20:24])])
        else:
            events.append("%d:arrived" % ident)

for line in sys.stdin:
    words = line.split()
    if words[0] == "send":
        side, src, dst = {"pod": pod, "out": out, "router": router}[words[1]], words[2], words[3]
        proto, sport, dport, flags, ident = map(int, words[4:9])
        sent[(dport, sport)] = ident
        if proto == 17 and dst in routers:
            serve(dport)
        try:
            if ":" in dst:
                side[3].sendto(packet6(src, dst, proto, sport, dport, flags, ident), (dst, 0, 0, 0))
            else:
                side[1].sendto(packet(src, dst, proto, sport, dport, flags, ident), (dst, 0))
        except OSError:
            # Who sends hears of it where a rule of his own host stops the packet.
            pass
    else:
        settle()
        events = []
        drain(pod, events)
        drain(out, events)
        drain6(pod, events)
        drain6(out, events)
        for service in services:
            try:
                while True:
                    events.append("%d:arrived" % struct.unpack("!H", service.recv(64)))
            except BlockingIOError:
                pass
        print(" ".join(events), flush=True)
