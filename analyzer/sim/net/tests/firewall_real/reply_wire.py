# Sends packets from a client through a node, answers them where they are meant for a server, and tells which answers
# reached the client.
# argv: namespaces of the client, the node and the backend.
# Input line: `PROTO SRC SPORT DST DPORT` (PROTO tcp|udp); answer: words `ADDRESS:PORT`, sorted, or `none`.
import ctypes, os, select, socket, struct, subprocess, sys

libc = ctypes.CDLL(None, use_errno=True)
# Packets of one processor are delivered in the order in which they were sent.
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})

def enter(name):
    fd = os.open("/run/netns/" + name, os.O_RDONLY)
    if libc.setns(fd, 0x40000000) != 0:
        sys.exit("setns failed")
    os.close(fd)

client, node, backend = sys.argv[1:4]
services = []

def serve(name, ports):
    enter(name)
    for port in ports:
        udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        udp.setsockopt(socket.IPPROTO_IP, 8, 1)
        udp.bind(("0.0.0.0", port))
        udp.setblocking(False)
        services.append(udp)
        tcp = socket.socket()
        tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        tcp.bind(("0.0.0.0", port))
        tcp.listen(4000)
        services.append(tcp)

serve(node, (9000,))
serve(backend, (9000,))
serve(client, (9000,))
raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
sniffers = []
for link in ("eth0", "eth1"):
    sniff = socket.socket(socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(0x0800))
    sniff.bind((link, 0x0800))
    sniff.setblocking(False)
    sniffers.append(sniff)
# A link of its own, whose frames follow the others through the same queue.
ends = []
for link in ("wire0", "wire1"):
    end = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x88b5))
    end.bind((link, 0x88b5))
    ends.append(end)

def settle():
    # Every frame that is received was queued behind all packets sent before it: each pass takes them one hop further.
    frame = b"\xff" * 6 + b"\x02" + b"\0" * 5 + b"\x88\xb5" + b"\0" * 46
    for _ in range(12):
        ends[0].send(frame)
        while True:
            select.select([ends[1]], [], [])
            if ends[1].recvfrom(2048)[1][2] != 4:
                break

def checksum(data):
    if len(data) % 2:
        data += b"\0"
    total = sum(struct.unpack("!%dH" % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF

def packet(proto, src, sport, dst, dport):
    a, b = socket.inet_aton(src), socket.inet_aton(dst)
    if proto == "udp":
        payload = struct.pack("!HHHH", sport, dport, 10, 0) + b"hi"
        number = 17
    else:
        head = struct.pack("!HHIIBBHHH", sport, dport, 1, 0, 0x50, 2, 65535, 0, 0)
        pseudo = a + b + struct.pack("!BBH", 0, 6, len(head))
        payload = head[:16] + struct.pack("!H", checksum(pseudo + head)) + head[18:]
        number = 6
    return struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(payload), 1, 0, 64, number, 0, a, b) + payload

def answer():
    for service in services:
        if service.type != socket.SOCK_DGRAM:
            continue
        try:
            while True:
                data, info, _, peer = service.recvmsg(100, 200)
                try:
                    service.sendmsg([data], [(0, 8, struct.pack("=I", 0) + info[0][2][8:12] + b"\0" * 4)], 0, peer)
                except OSError:
                    pass
        except BlockingIOError:
            pass
        except OSError:
            pass

def drain(port):
    found = set()
    for sniff in sniffers:
        try:
            while True:
                data, address = sniff.recvfrom(2048)
                if address[2] == 4 or len(data) < 28 or data[9] not in (6, 17):
                    continue
                source, target = struct.unpack("!HH", data[20:24])
                if target == port and (data[9] == 17 or data[33] & 0x12 == 0x12):
                    found.add("%s:%d" % (socket.inet_ntoa(data[12:16]), source))
        except BlockingIOError:
            pass
    return found

print("ready", flush=True)
for line in sys.stdin:
    proto, src, sport, dst, dport = line.split()
    drain(0)
    raw.sendto(packet(proto, src, int(sport), dst, int(dport)), (dst, 0))
    settle()
    answer()
    settle()
    print(" ".join(sorted(drain(int(sport)))) or "none", flush=True)
