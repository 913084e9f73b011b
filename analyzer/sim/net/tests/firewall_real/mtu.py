# Sends datagrams that must not be fragmented, and TCP, from one namespace to another.
# argv: namespaces; the first sends, the last receives; then the receiver's address.
# Input lines and answers: `udp SIZE` (of the whole IP packet): `arrived`, `sender MTU`, `told MTU ADDRESS` or `lost`;
# `tcp`: `passed` or `stalled`.
import ctypes, errno, os, select, socket, struct, sys, time

libc = ctypes.CDLL(None, use_errno=True)
names, address = sys.argv[1:-1], sys.argv[-1]

def enter(name):
    fd = os.open("/run/netns/" + name, os.O_RDONLY)
    if libc.setns(fd, 0x40000000) != 0:
        sys.exit("setns failed")
    os.close(fd)

# Segments that a device would cut only later are no packets of their size.
def whole_packets(device):
    import fcntl
    control = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    for command in (0x1F, 0x24, 0x2C):  # ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO
        value = ctypes.create_string_buffer(struct.pack("II", command, 0))
        request = struct.pack("16sP", device.encode(), ctypes.addressof(value))
        try:
            fcntl.ioctl(control, 0x8946, request + bytes(16))
        except OSError:
            pass

flushers = []
for name in names:
    enter(name)
    for _, device in socket.if_nameindex():
        whole_packets(device)
    flushers.append(os.open("/proc/sys/net/ipv4/route/flush", os.O_WRONLY))

def flush():
    for fd in flushers:
        os.pwrite(fd, b"1\n", 0)

enter(names[-1])
sink = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sink.bind((address, 9))
listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
listener.bind((address, 9))
listener.listen()
enter(names[0])

IP_MTU_DISCOVER, IP_PMTUDISC_DO, IP_RECVERR, IP_MTU = 10, 2, 11, 14

def udp(size):
    flush()
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(0, IP_MTU_DISCOVER, IP_PMTUDISC_DO)
    sender.setsockopt(0, IP_RECVERR, 1)
    sender.connect((address, 9))
    mark = os.urandom(8)
    try:
        sender.send(mark + bytes(size - 28 - 8))
    except OSError as error:
        # What the sender's own link drops is told to those who ask for errors, and to no TCP.
        if error.errno == errno.ENOBUFS:
            return "lost"
        if error.errno != errno.EMSGSIZE:
            return "failed %s" % error
        return "sender %d" % sender.getsockopt(0, IP_MTU)
    end = time.monotonic() + 0.25
    while time.monotonic() < end:
        ready, _, wrong = select.select([sink], [], [sender], 0.01)
        if ready and sink.recv(70000)[:8] == mark:
            return "arrived"
        try:
            _, ancillary, _, _ = sender.recvmsg(1, 512, socket.MSG_ERRQUEUE | socket.MSG_DONTWAIT)
        except BlockingIOError:
            continue
        for level, kind, data in ancillary:
            number, origin, kind, code, _, info, _ = struct.unpack("IBBBBII", data[:16])
            if origin == 2 and (kind, code) == (3, 4):
                return "told %d %s" % (info, socket.inet_ntoa(data[20:24]))
            return "failed %d %d %d" % (origin, kind, code)
    return "lost"

def tcp():
    flush()
    client = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    client.settimeout(2)
    try:
        client.connect((address, 9))
    except OSError as error:
        return "failed %s" % error
    server, _ = listener.accept()
    client.setblocking(False)
    left, got, quiet = 100_000, 0, time.monotonic()
    while got < 100_000 and time.monotonic() - quiet < 1.7:
        ready, writable, _ = select.select([server], [client] if left else [], [], 0.05)
        if writable:
            left -= client.send(bytes(min(left, 30_000)))
        if ready:
            got += len(server.recv(100_000))
            quiet = time.monotonic()
    client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    client.close()
    server.close()
    return "passed" if got == 100_000 else "stalled"

for line in sys.stdin:
    words = line.split()
    print(udp(int(words[1])) if words[0] == "udp" else tcp(), flush=True)
