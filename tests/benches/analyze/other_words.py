#!/usr/bin/env python3
"""other_words.py DIR SEED : about 400 MB of another cluster's data, in the layout that ../shared/bench/gen_bundle_data.py writes.

DIR/nodes/<node>/journal/<unit>.json, DIR/logs/<ns>/<pod>/<ctr>.log, DIR/cluster/{pods,events}.json, DIR-compact/{pods,events}.json (so that
../shared/bench/as_bundle.py packs it), and DIR-needles.jsonl: where the true trouble is (kind, file, line, text).
An on-prem GPU cluster of six large nodes (three with containerd, three with CRI-O). Deterministic by SEED. Standard library only.
Environment: GEN_PROCS (default 2) processes; GEN_SCALE (default 1.0) scales the sizes.

Templates are one a line, "WEIGHT [PRIORITY] TEXT". In TEXT <name> and <name:args> are filled in (see TOK), and
\u23ce is a newline, \u21e5 a tab, \u241b an escape, \u240d a carriage return.
"""
import copy, json, os, re, sys, datetime, random, itertools, math
from multiprocessing import Pool
ROOT = sys.argv[1].rstrip('/') if len(sys.argv) > 1 else 'data'
SEED = sys.argv[2] if len(sys.argv) > 2 else '1'
SCALE = float(os.environ.get('GEN_SCALE', '1'))
R = random.Random(SEED + '-boot'); rnd = R.random; grb = R.getrandbits
enc = json.encoder.encode_basestring
NODES = ['hx01.ai.zrh.corp.example', 'hx02.ai.zrh.corp.example', 'hx03.ai.zrh.corp.example', 'hx04.ai.zrh.corp.example', 'lmem-a7.ai.zrh.corp.example', 'lmem-b2.ai.zrh.corp.example']
NIP = {n: f'172.23.40.{11 + i}' for i, n in enumerate(NODES)}
RT = {n: ('containerd' if i % 2 == 0 else 'crio') for i, n in enumerate(NODES)}
T0 = 1716940800; DAY = 86400          # 2024-05-29T00:00:00Z; one day up to 2024-05-30T00:00:00Z

# ------------------------------------------------------------------ vocabulary
V = random.Random(SEED + '-vocab')
ADJ = 'amber brisk calm deep eager fleet grand humble ivory jolly keen lunar mellow noble opal prime quiet rapid silent terse urban vivid warm xenial young zesty alpine boreal cobalt delta electric frozen global hidden inner jade'.split()
NOUN = 'anchor beacon catalog delta engine falcon garden harbor index journal kernel ledger mirror nexus orbit parser quarry router signal tracker union vault window yard zephyr billing checkout customer delivery discount forecast fraud geo identity inventory loyalty matching notifier order payment pricing profile ranking recommender refund returns risk search session shipping sms stock tax tenant vision voice warehouse webhook speech translate caption embedding retriever rerank tokenizer evaluator curator labeler annotator feature offline online stream batch'.split()
ROLE = 'api svc worker gateway cache sync exporter loader backend ui bff cron writer reader proxy broker indexer adapter'.split()
SYL = 'ba be bi bo bu ca ce ci co da de di do fa fe fi ga ge go ha he hi ka ke ki ko la le li lo lu ma me mi mo mu na ne ni no nu pa pe pi po ra re ri ro ru sa se si so su ta te ti to tu va ve vi vo wa we za ze zi zo'.split()
def uniq(n, f):
    out, seen = [], set()
    while len(out) < n:
        x = f()
        if x not in seen: seen.add(x); out.append(x)
    return out
ch = V.choice
WORD = uniq(3000, lambda: ''.join(V.choices(SYL, k=V.choice((2, 2, 3, 3, 4)))))
USER = uniq(90, lambda: ch('a b c d e f g h j k l m n p r s t v'.split()) + ch('meier huber kowalski tanaka garcia novak jensen rossi dubois singh chen okafor silva larsen weber fischer ivanov costa nguyen haddad moreau keller brunner schmid'.split()) + ch(['', '', '', '2', '-adm']))
SVC = uniq(420, lambda: f'{ch(NOUN)}-{ch(ROLE)}' if V.random() < .6 else f'{ch(ADJ)}-{ch(NOUN)}-{ch(ROLE)}')
MODEL = uniq(60, lambda: f"{ch('llama-3 mistral mixtral qwen2 gemma phi-3 bert whisper sdxl clip vit resnet yolo t5 deberta starcoder falcon nemotron'.split())}-{ch('7b 8b 13b 34b 70b base large xl small v2 instruct chat int8 awq fp8 onnx trt'.split())}-{ch(WORD)}")
DS = uniq(70, lambda: f"{ch('laion c4 pile imagenet coco librispeech redpajama dolma crm clickstream tickets radiology lidar invoices catalog webcrawl'.split())}_{ch(WORD)}_{ch('v1 v2 v3 2023q4 2024q1 dedup shard clean'.split())}")
DIRS = uniq(260, lambda: '/'.join([ch(['/mnt/weka', '/mnt/nfs/home', '/data', '/scratch', '/opt', '/srv', '/var/lib', '/mnt/lustre/proj', '/workspace'])] + [ch([ch(USER), ch(WORD), ch(NOUN), ch(DS)]) for _ in range(V.choice((1, 2, 2, 3)))]))
FEXT = 'py json yaml parquet arrow tar safetensors pt bin log csv txt cfg conf so jsonl npz db wal sst sock'.split()
FILES = uniq(1500, lambda: f"{ch(DIRS)}/{ch(WORD)}{ch(['_', '-', '.', ''])}{V.choice([V.randrange(10), V.randrange(1000), '%05d' % V.randrange(99999), ''])}.{ch(FEXT)}")
URLS = uniq(1200, lambda: '/' + '/'.join([ch(['api', 'v1', 'v2', 'api/v1', 'rest', 'internal', 'graphql', 'static', 'oauth2', 'apis', 'ui'])] + [ch([ch(NOUN), ch(WORD), ch(NOUN) + 's', str(V.randrange(10 ** 6)), ch(MODEL)]) for _ in range(V.choice((1, 2, 3, 4, 5)))]))
QKEY = 'page size limit offset sort q filter fields lang token session_id trace utm_source utm_campaign from to step query start end include expand cursor tenant region variant client_version'.split()
QS = uniq(900, lambda: '&'.join(f"{k}={ch([str(V.randrange(1000)), ch(WORD), '%x' % V.getrandbits(64), ch(WORD) + '%2C' + ch(WORD), ch(NOUN) + '%20' + ch(ADJ) + '%3A' + ch(WORD)])}" for k in V.sample(QKEY, V.choice((1, 2, 3, 4, 6, 9)))))
PKG = uniq(60, lambda: f"{ch(['com.corp', 'ch.example', 'org.apache', 'io.netty', 'org.springframework', 'com.zaxxer', 'reactor.core', 'net.' + ch(WORD)])}.{ch(NOUN)}.{ch(WORD)}")
CLS = uniq(380, lambda: f"{ch(PKG)}.{''.join(w.capitalize() for w in V.sample(NOUN, V.choice((1, 2, 2))))}{ch(['Service', 'Impl', 'Controller', 'Repository', 'Handler', 'Factory', 'Client', 'Manager', 'Listener', 'Worker', 'Filter', 'Task', 'Job', 'Config', 'Adapter'])}")
METH = 'run call invoke doFilter process handle execute get put apply accept lambda$main$0 lambda$process$3 read write flush connect send poll submit onMessage doExecute invoke0 checkAndFire decode channelRead internalDoFilter proceed intercept'.split()
EXC = [f'{a}.{b}' for a, b in [('java.lang', 'NullPointerException'), ('java.lang', 'IllegalStateException'), ('java.util.concurrent', 'TimeoutException'), ('java.net', 'SocketTimeoutException'), ('java.io', 'IOException'), ('java.sql', 'SQLTransientConnectionException'), ('org.springframework.dao', 'DataIntegrityViolationException'), ('java.util', 'ConcurrentModificationException'), ('com.fasterxml.jackson.databind', 'JsonMappingException'), ('org.apache.kafka.common.errors', 'RetriableException'), ('java.lang', 'IllegalArgumentException')]]
PYF = uniq(120, lambda: f"/{ch(['usr/local/lib/python3.10/dist-packages', 'opt/conda/lib/python3.11/site-packages', 'workspace', 'app', 'home/ray/anaconda3/lib/python3.10/site-packages'])}/{ch('torch transformers accelerate deepspeed ray numpy pandas train data utils httpx uvicorn fastapi datasets megatron lightning vllm'.split())}/{ch('trainer engine loader comm distributed worker server model optim functional parallel_state checkpoint utils client _api base'.split())}.py")
PYFN = 'forward backward step _call_impl __next__ __getitem__ main train_one_epoch save_checkpoint all_reduce wrapper _run collate_fn load_state_dict request send _request handle_event __call__ run fetch'.split()
UA = ['Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36', 'Mozilla/5.0 (X11; Linux x86_64; rv:125.0) Gecko/20100101 Firefox/125.0', 'kube-probe/1.28', 'Go-http-client/1.1', 'python-requests/2.31.0', 'curl/7.81.0', 'Prometheus/2.51.2', 'okhttp/4.12.0', 'grpc-go/1.62.1', 'Apache-HttpClient/5.3 (Java/17.0.10)', 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15', 'tritonclient/2.45 python', 'aws-sdk-go/1.44.0 (go1.21; linux; amd64)', 'Ray/2.20 Serve-HealthCheck', 'axios/1.6.8']
NS = ['kube-system', 'default', 'calico-system', 'rook-ceph', 'istio-system', 'argo', 'argocd', 'ray-research', 'ray-prod', 'triton', 'llm-serving', 'kafka', 'shop-prod', 'shop-staging', 'gpu-operator', 'network-operator', 'observability', 'logging', 'jupyterhub', 'mlflow', 'vault', 'cert-manager', 'ingress', 'train-vision', 'train-nlp', 'train-speech', 'batch', 'harbor', 'keycloak', 'minio', 'databases', 'data-eng']
DEV = ['ens1f0np0', 'ens1f1np1', 'ibp24s0', 'ibp64s0', 'ibp79s0', 'ibp94s0', 'ibp154s0', 'ibp192s0', 'ibp206s0', 'ibp220s0', 'bond0', 'bond0.140']
PCI = ['0000:18:00', '0000:2a:00', '0000:3a:00', '0000:5d:00', '0000:9a:00', '0000:ab:00', '0000:ba:00', '0000:db:00']
COMM = 'python3 python java ray::IDLE raylet tritonserver kafka-server-st ceph-osd etcd envoy node pt_main_thread pt_data_worker containerd-shim runc conmon calico-node prometheus postgres'.split()
GOF = 'k8s.io/client-go/tools/cache/reflector.go k8s.io/kubernetes/pkg/kubelet/kubelet.go sigs.k8s.io/controller-runtime/pkg/internal/controller/controller.go net/http/server.go google.golang.org/grpc/server.go github.com/rook/rook/pkg/operator/ceph/cluster/controller.go main.go runtime/panic.go internal/poll/fd_unix.go net/fd_posix.go github.com/argoproj/argo-workflows/v3/workflow/controller/operator.go'.split()
GOFN = ['main.main()', 'k8s.io/apimachinery/pkg/util/wait.BackoffUntil(0x{:x}, {{0x{:x}, 0x{:x}}}, 0x1, 0x{:x})', 'net/http.(*conn).serve(0x{:x}, {{0x{:x}, 0x{:x}}})', 'google.golang.org/grpc.(*Server).handleStream(0x{:x}, {{0x{:x}, 0x{:x}}}, 0x{:x})', 'sigs.k8s.io/controller-runtime/pkg/internal/controller.(*Controller).processNextWorkItem(0x{:x}, {{0x{:x}, 0x{:x}}})', 'github.com/fsnotify/fsnotify.(*Watcher).readEvents(0x{:x})']

# ------------------------------------------------------------------ token functions
def ri(n): return int(rnd() * n)
def sk(p): return p[int(len(p) * rnd() ** 3)]
def uu(): return f'{grb(32):08x}-{grb(16):04x}-4{grb(12):03x}-{8 + grb(2):x}{grb(12):03x}-{grb(48):012x}'
def mac(): x = grb(48); return f'{x >> 40 & 254 | 2:02x}:{x >> 32 & 255:02x}:{x >> 24 & 255:02x}:{x >> 16 & 255:02x}:{x >> 8 & 255:02x}:{x & 255:02x}'
def jtrace(pre='\n\tat '):
    out = ''
    for _ in range(4 + int(22 * rnd() ** 2)):
        c = sk(CLS); out += f"{pre}{c}.{sk(METH)}({c.rsplit('.', 1)[1]}.java:{ri(900) + 12})"
    if rnd() < .35:
        c = pick(CLS); out += f"{pre[:-4]}Caused by: {pick(EXC)}: {sk(WORD)} {sk(NOUN)} not available{pre}{c}.{pick(METH)}({c.rsplit('.', 1)[1]}.java:{ri(400)}){pre[:-3]}... {ri(60) + 3} more"
    return out
def jtracej(): return jtrace('\\n\\tat ')
def pick(p): return p[int(len(p) * rnd())]
def pytrace(nl='\n'):
    out = 'Traceback (most recent call last):'
    for _ in range(2 + ri(7)):
        f = sk(PYFN); out += f'{nl}  File "{sk(PYF)}", line {ri(2400) + 1}, in {f}{nl}    {pick(("return", "self.out =", "result =", "loss =", "yield from", "await"))} {sk(PYFN)}({pick(("*args, **kwargs", "batch", "x, y", "self, request", "timeout=timeout", ""))})'
    return out
def gotrace():
    out = f'goroutine {ri(9000) + 1} [{pick(("running", "select", "IO wait", "chan receive, 12 minutes", "sync.Cond.Wait"))}]:'
    for _ in range(3 + ri(7)): out += '\n' + pick(GOFN).format(*(0xc000000000 + grb(32) for _ in range(4))) + f'\n\t/go/src/{sk(GOF)}:{ri(2000) + 10} +0x{grb(11):x}'
    return out
def ktrace(T, u):
    out = ''
    for _ in range(6 + ri(9)): out += f"\n {pick(('', '', '? '))}{pick(('schedule', '__schedule', 'io_schedule', 'rpc_wait_bit_killable', '__wait_on_bit', 'nfs_file_fsync', 'ext4_sync_file', 'do_syscall_64', 'entry_SYSCALL_64_after_hwframe', 'vfs_fsync_range', 'out_of_memory', 'mem_cgroup_oom', 'try_charge_memcg', 'nvidia_ioctl [nvidia]', 'uvm_unlocked_ioctl [nvidia_uvm]', 'mlx5_cmd_exec [mlx5_core]', 'jbd2_log_wait_commit'))}+0x{grb(9):x}/0x{grb(10):x}"
    return out
def bar(p): k = int(p * 10); return '\u2588' * k + ('\u258d' if k < 10 else '') + ' ' * (9 - k)
def status(): return STAT[int(rnd() * 100)]
STAT = [200] * 78 + [201, 201, 204, 204, 204, 301, 302, 304, 304, 304, 400, 401, 401, 403, 404, 404, 404, 404, 429, 500, 502, 503]
def tcp4(): return f'10.244.{ri(6) * 16 + ri(5)}.{ri(254) + 1}'
KONST = []
TOK = {
 'pod': 'P.pod', 'ns': 'P.ns', 'uid': 'P.uid', 'cid': 'P.cid', 'sid': 'P.sid', 'ctr': 'P.ctr', 'img': 'P.img', 'app': 'P.app', 'pip': 'P.ip', 'sfx': 'P.pod[-5:]', 'uid_': 'P.uid_', 'att': 'P.att',
 'node': 'G[0]', 'host': 'G[1]', 'nip': 'G[2]', 'kpid': 'G[3]', 'rpid': 'G[4]', 'onode': 'pick(NODES)', 'onip': 'f_onip()',
 'h64': 'grb(256):064x', 'h40': 'grb(160):040x', 'h32': 'grb(128):032x', 'h16': 'grb(64):016x', 'h12': 'grb(48):012x', 'h8': 'grb(32):08x', 'h4': 'grb(16):04x', 'uuid': 'uu()',
 'ip': 'tcp4()', 'ip6': 'f_ip6()', 'mac': 'mac()', 'port': '30000+ri(32000)', 'pid': '800+ri(4000000)', 'user': 'sk(USER)', 'svc': 'sk(SVC)', 'word': 'sk(WORD)', 'w2': 'pick(WORD)', 'noun': 'pick(NOUN)', 'file': 'sk(FILES)', 'dir': 'sk(DIRS)', 'url': 'sk(URLS)', 'qs': 'pick(QS)', 'cls': 'sk(CLS)', 'exc': 'sk(EXC)', 'ua': 'sk(UA)', 'model': 'sk(MODEL)', 'ds': 'sk(DS)', 'dev': 'pick(DEV)', 'pci': 'pick(PCI)', 'comm': 'sk(COMM)', 'rns': 'sk(NS)', 'pyf': 'sk(PYF)', 'gpu': 'ri(8)', 'ns0': 'ri(1000):03d',
 'status': 'status()', 'jtrace': 'jtrace()', 'jtracej': 'jtracej()', 'pytrace': 'pytrace()', 'pytracej': 'f_ptj()', 'gotrace': 'gotrace()', 'ktrace': 'ktrace(T,u)', 'meth': 'sk(METH)', 'pyfn': 'sk(PYFN)',
 'klog': 'T[1]}.{u:06d', 'iso': 'T[0]}.{u//1000:03d}Z{""', 'iso6': 'T[0]}.{u:06d}Z{""', 'iso9': 'T[0]}.{u:06d}{ri(1000):03d}Z{""', 'iso0': 'T[0]}Z{""', 'isos': 'T[0]', 'sp': 'T[3]', 'spms': 'T[3]},{u//1000:03d', 'spdot': 'T[3]}.{u//1000:03d', 'sp6': 'T[3]}.{u:06d', 'slash': 'T[2]', 'clf': 'T[4]', 'sys': 'T[5]', 'hms': 'T[6]', 'day': 'T[0][:10]', 'epoch': 't', 'epochf': 't}.{u//1000:03d', 'epochms': 't}{u//1000:03d', 'epoch6': 't}.{u:06d', 'us': 'u:06d', 'msl': 'rnd()**3*4000:.3f', 'msi': 'int(rnd()**4*9000)', 'bytes': 'int(rnd()**4*900000)',
 'step': 'P.nstep()', 'stepc': 'P.step', 'loss': 'P.loss():.4f', 'loss6': 'P.loss():.6f', 'lr': 'P.lr():.3e', 'epochn': 'P.step//2000', 'barp': 'P.step%2000//20', 'bar': 'bar(P.step%2000/2000)', 'stepm': 'P.step%2000', 'seq': 'P.nseq()', 'latin1': 'LATIN',
}
LATIN = 'caf\udce9 na\udcefve'
def f_onip(): return NIP[pick(NODES)]
def f_ip6(): return f'fe80::{grb(16):x}:{grb(8):x}ff:fe{grb(8):02x}:{grb(16):x}'
def f_ptj(): return pytrace('\\n').replace('"', '\\"')
TRX = re.compile(r'<([a-z]\w*?)(?::([^<>]*))?>')
def fesc(s):
    s = s.replace('\\', '\\\\').replace('"', '\\"').replace('{', '{{').replace('}', '}}')
    return s.replace('\u23ce', '\\n').replace('\u21e5', '\\t').replace('\u241b', '\\x1b').replace('\u240d', '\\r').replace('\n', '\\n')
def compile_t(text):
    out, pos = '', 0
    for m in TRX.finditer(text):
        k, a = m.group(1), m.group(2)
        if k in TOK and a is None: e = TOK[k]
        elif a is None: continue
        elif k == 'x': e = f'grb({4 * int(a)}):0{int(a)}x'
        elif k == 'n':
            q = [int(v) for v in a.split(':')]; e = f'ri({q[0]})' if len(q) == 1 else f'{q[0]}+ri({q[1] - q[0]})'
        elif k == 'q': e = f'int(rnd()**3*{int(a)})'        # skewed low
        elif k == 'z': w, n = a.split(':'); e = f'ri({n}):0{w}d'
        elif k == 'f': mx, d = a.split(':'); e = f'rnd()*{mx}:.{d}f'
        elif k in ('c', 's'): KONST.append(tuple(a.split('|'))); e = f"{'pick' if k == 'c' else 'sk'}(KONST[{len(KONST) - 1}])"
        else: continue
        out += fesc(text[pos:m.start()]) + '{' + e.replace('""', "''") + '}'; pos = m.end()
    return 'lambda P,T,u,t: f"' + out + fesc(text[pos:]) + '"'
NT = itertools.count()
TABLES = {}
class Table:
    def __init__(s, name, text, prio):
        s.name = name; s.w = []; s.p = []; s.f = []; s.raw = []; s.ids = []
        for l in text.strip('\n').split('\n'):
            if not l.strip(): continue
            m = re.match(r'(\d+(?:\.\d+)?) ' + (r'([0-7]) ' if prio else '()') + r'(.*)$', l)
            if not m: raise SystemExit(f'bad template in {name}: {l}')
            s.w.append(float(m.group(1))); s.p.append(int(m.group(2) or 6)); tx = m.group(3); s.ids.append(next(NT))
            s.f.append(eval(compile_t(tx), globals())); s.raw.append(bool(re.search('[\u241b\u240d]|<latin1>', tx)))
        s.cw = list(itertools.accumulate(s.w)); s.n = len(s.f); TABLES[name] = s
_sec = {}
def tsec(s):
    x = _sec.get(s)
    if x is None:
        if len(_sec) > 20000: _sec.clear()
        d = datetime.datetime.fromtimestamp(s, datetime.timezone.utc)
        x = _sec[s] = (f'{d:%Y-%m-%dT%H:%M:%S}', f'{d:%m%d %H:%M:%S}', f'{d:%Y/%m/%d %H:%M:%S}', f'{d:%Y-%m-%d %H:%M:%S}', f'{d:%d/%b/%Y:%H:%M:%S +0000}', f'{d:%b %d %H:%M:%S}', f'{d:%H:%M:%S}')
    return x
G = ['', '', '', 0, 0]

# ------------------------------------------------------------------ templates of journals
J_KUBELET = r'''
900 6 I<klog>  <kpid> kubelet.go:2428] "SyncLoop (PLEG): event for pod" pod="<ns>/<pod>" event={"ID":"<uid>","Type":"Container<c:Started|Died|Removed>","Data":"<cid>"}
620 6 I<klog>  <kpid> prober.go:114] "Probe failed" probeType="<c:Readiness|Liveness|Startup>" pod="<ns>/<pod>" podUID="<uid>" containerName="<ctr>" probeResult="failure" output="HTTP probe failed with statuscode: <c:500|503|404|502>"
430 6 I<klog>  <kpid> kubelet_getters.go:187] "Pod status updated" pod="<ns>/<pod>" status="<c:Running|Succeeded|Pending>"
380 6 I<klog>  <kpid> operation_generator.go:664] "MountVolume.SetUp succeeded for volume \"<s:kube-api-access|config|istio-token|istiod-ca-cert|workload-certs|tls|shm|scripts|trust-bundle>-<x:4>\" (UniqueName: \"kubernetes.io/<s:projected|configmap|secret|empty-dir>/<uid>-<s:kube-api-access|config|istio-token|tls>-<sfx>\") pod \"<pod>\" (UID: \"<uid>\") " pod="<ns>/<pod>"
260 6 I<klog>  <kpid> reconciler_common.go:245] "operationExecutor.VerifyControllerAttachedVolume started for volume \"<word>-<sfx>\" (UniqueName: \"kubernetes.io/configmap/<uid>-<word>\") pod \"<pod>\" (UID: \"<uid>\") " pod="<ns>/<pod>"
220 6 I<klog>  <kpid> pod_startup_latency_tracker.go:102] "Observed pod startup duration" pod="<ns>/<pod>" podStartSLOduration=<f:90:9> podStartE2EDuration="<f:90:9>s" podCreationTimestamp="<sp> +0000 UTC" firstStartedPulling="<sp6> +0000 UTC m=+<f:900000:6>" lastFinishedPulling="<sp6> +0000 UTC m=+<f:900000:6>" observedRunningTime="<sp6> +0000 UTC m=+<f:900000:6>" watchObservedRunningTime="<sp6> +0000 UTC m=+<f:900000:6>"
200 6 E<klog>  <kpid> pod_workers.go:1294] "Error syncing pod, skipping" err="failed to \"StartContainer\" for \"<ctr>\" with CrashLoopBackOff: \"back-off <c:10s|20s|40s|1m20s|2m40s|5m0s> restarting failed container=<ctr> pod=<pod>_<ns>(<uid>)\"" pod="<ns>/<pod>" podUID="<uid>"
150 6 I<klog>  <kpid> scope.go:115] "RemoveContainer" containerID="<cid>"
120 6 I<klog>  <kpid> reconciler_common.go:172] "operationExecutor.UnmountVolume started for volume \"<word>\" (UniqueName: \"kubernetes.io/csi/rook-ceph.rbd.csi.ceph.com^0001-0009-rook-ceph-<x:16>-<uuid>\") pod \"<uid>\" (UID: \"<uid>\") "
110 6 I<klog>  <kpid> operation_generator.go:878] UnmountVolume.TearDown succeeded for volume "kubernetes.io/projected/<uid>-kube-api-access-<sfx>" (OuterVolumeSpecName: "kube-api-access-<sfx>") pod "<uid>" (UID: "<uid>"). InnerVolumeSpecName "kube-api-access-<sfx>". PluginName "kubernetes.io/projected", VolumeGidValue "<n:3000>"
90 6 I<klog>  <kpid> reconciler_common.go:300] "Volume detached for volume \"<word>-<word>\" (UniqueName: \"kubernetes.io/empty-dir/<uid>-<word>\") on node \"<node>\" DevicePath \"\""
80 6 E<klog>  <kpid> kuberuntime_container.go:867] "Kill container failed" err="rpc error: code = DeadlineExceeded desc = context deadline exceeded" pod="<ns>/<pod>" podUID="<uid>" containerName="<ctr>" containerID={"Type":"containerd","ID":"<cid>"}
75 6 I<klog>  <kpid> kuberuntime_container.go:745] "Killing container with a grace period" pod="<ns>/<pod>" podUID="<uid>" containerName="<ctr>" containerID="cri-o://<cid>" gracePeriod=<c:30|60|5|300>
60 6 I<klog>  <kpid> kubelet.go:2407] "SyncLoop <c:ADD|UPDATE|DELETE|REMOVE>" source="api" pods=["<ns>/<pod>"]
55 6 W<klog>  <kpid> warnings.go:70] unknown field "spec.template.spec.containers[<n:4>].<word>"
50 6 I<klog>  <kpid> log.go:198] http: superfluous response.WriteHeader call from k8s.io/kubernetes/pkg/kubelet/server.(*Server).getContainerLogs (server.go:<n:900>)
45 6 I<klog>  <kpid> image_gc_manager.go:<n:200:420>] "Disk usage on image filesystem is over the high threshold, trying to free bytes down to the low threshold" usage=<n:80:91> highThreshold=85 amountToFree=<n:99999999999> lowThreshold=80
40 6 W<klog>  <kpid> container.go:586] Failed to update stats for container "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid_>.slice/cri-containerd-<cid>.scope": unable to determine device info for dir: /var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/<n:90000>/fs: stat failed on /var/lib/containerd/io.containerd.snapshotter.v1.overlayfs/snapshots/<n:90000>/fs with error: no such file or directory, continuing to push stats
40 6 I<klog>  <kpid> csi_attacher.go:380] kubernetes.io/csi: attacher.MountDevice STAGE_UNSTAGE_VOLUME capability not set. Skipping MountDevice...
36 6 I<klog>  <kpid> csi_plugin.go:100] kubernetes.io/csi: Trying to validate a new CSI Driver with name: <s:rook-ceph.rbd.csi.ceph.com|rook-ceph.cephfs.csi.ceph.com|csi.weka.io|nfs.csi.k8s.io> endpoint: /var/lib/kubelet/plugins/<word>/csi.sock versions: 1.0.0
34 6 I<klog>  <kpid> kubelet_volumes.go:163] "Cleaned up orphaned pod volumes dir" podUID="<uid>" path="/var/lib/kubelet/pods/<uid>/volumes"
30 6 E<klog>  <kpid> remote_runtime.go:<n:300:800>] "ContainerStatus from runtime service failed" err="rpc error: code = NotFound desc = an error occurred when try to find container \"<cid>\": not found" containerID="<cid>"
30 6 I<klog>  <kpid> pod_container_deletor.go:53] "DeleteContainer returned error" containerID={"Type":"containerd","ID":"<cid>"} err="failed to get container status \"<cid>\": rpc error: code = NotFound desc = could not find container \"<cid>\""
28 6 I<klog>  <kpid> transport.go:147] "Certificate rotation detected, shutting down client connections to start using new credentials"
26 6 I<klog>  <kpid> certificate_manager.go:356] kubernetes.io/kubelet-serving: Rotating certificates
25 6 I<klog>  <kpid> reflector.go:536] object-"<ns>"/"<word>-<noun>": watch of *v1.<c:ConfigMap|Secret> ended with: very short watch: object-"<ns>"/"<word>-<noun>": Unexpected watch close - watch lasted less than a second and no items received
22 6 W<klog>  <kpid> reflector.go:347] object-"<ns>"/"istio-ca-root-cert": watch of *v1.ConfigMap ended with: too old resource version: <n:900000000> (<n:900000000>)
22 6 I<klog>  <kpid> kubelet_node_status.go:632] "Recording event message for node" node="<node>" event="NodeHasSufficientMemory"
20 6 I<klog>  <kpid> setters.go:568] "Node became not ready" node="<node>" condition={"type":"Ready","status":"False","lastHeartbeatTime":"<iso0>","lastTransitionTime":"<iso0>","reason":"KubeletNotReady","message":"container runtime status check may not have completed yet"}
18 6 I<klog>  <kpid> eviction_manager.go:<n:170:400>] "Eviction manager: no observation found for eviction signal" signal="allocatableMemory.available"
18 6 I<klog>  <kpid> cpu_manager.go:<n:200:500>] "Dropping container from cpu set" containerID="<cid>" cpuset="<n:64>-<n:64:128>"
16 6 I<klog>  <kpid> topology_manager.go:215] "Topology Admit Handler" podUID="<uid>" podNamespace="<ns>" podName="<pod>"
16 6 I<klog>  <kpid> memory_manager.go:354] "RemoveStaleState removing state" podUID="<uid>" containerName="<ctr>"
14 6 E<klog>  <kpid> fsHandler.go:119] failed to collect filesystem stats - rootDiskErr: could not stat "/var/log/pods/<ns>_<pod>_<uid>/<ctr>/<n:9>.log" to get inode usage: stat /var/log/pods/<ns>_<pod>_<uid>/<ctr>: no such file or directory, extraDiskErr: <nil>
14 6 I<klog>  <kpid> manager.go:<n:200:900>] "Allocatable devices" resourceName="nvidia.com/<s:gpu|mig-1g.18gb|mig-3g.71gb>" count=<n:9>
12 6 I<klog>  <kpid> server.go:<n:90:150>] "Got registration request from device plugin with resource" resourceName="<s:nvidia.com/gpu|rdma/hca_shared_a|nvidia.com/mig-1g.18gb|intel.com/sriov_ib>"
12 6 W<klog>  <kpid> sysinfo.go:203] Nodes topology is not available, providing CPU topology
11 6 E<klog>  <kpid> summary_sys_containers.go:48] "Failed to get system container stats" err="failed to get cgroup stats for \"/system.slice/kubelet.service\": failed to get container info for \"/system.slice/kubelet.service\": unknown container \"/system.slice/kubelet.service\"" containerName="/system.slice/kubelet.service"
10 6 W<klog>  <kpid> volume_linux.go:49] Setting volume ownership for /var/lib/kubelet/pods/<uid>/volumes/kubernetes.io~csi/pvc-<uuid>/mount and fsGroup set. If the volume has a lot of files then setting volume ownership could be slow, see https://github.com/kubernetes/kubernetes/issues/69699
9 6 I<klog>  <kpid> trace.go:236] Trace[<n:2000000000>]: "Calculate volume metrics of <word> for pod <ns>/<pod>" (<sys>) (total time: <n:1000:9000>ms):⏎Trace[<n:2000000000>]: [<f:9:9>s] [<f:9:9>s] END
8 6 I<klog>  <kpid> nodeshutdown_manager_linux.go:<n:137:300>] "Creating node shutdown manager" shutdownGracePeriodRequested="0s" shutdownGracePeriodCriticalPods="0s"
8 6 I<klog>  <kpid> kubelet_pods.go:906] "Unable to retrieve pull secret, the image pull may not succeed." pod="<ns>/<pod>" secret="" err="secret \"<word>-regcred\" not found"
7 6 E<klog>  <kpid> goroutinemap.go:150] Operation for "/var/lib/kubelet/plugins_registry/<word>-reg.sock" failed. No retries permitted until <sp6> +0000 UTC m=+<f:900000:6> (durationBeforeRetry <c:500ms|1s|2s|4s|1m4s|2m2s>). Error: RegisterPlugin error -- dial failed at socket /var/lib/kubelet/plugins_registry/<word>-reg.sock, err: failed to dial socket /var/lib/kubelet/plugins_registry/<word>-reg.sock, err: context deadline exceeded
6 6 W<klog>  <kpid> dns.go:157] "Found more than one nameserver search path" search="<rns>.svc.cluster.local svc.cluster.local cluster.local ai.zrh.corp.example"
6 6 I<klog>  <kpid> util_unix.go:103] "Using this endpoint is deprecated, please consider using full URL format" endpoint="/run/<s:containerd/containerd|crio/crio>.sock" URL="unix:///run/<s:containerd/containerd|crio/crio>.sock"
5 6 E<klog>  <kpid> runtime.go:77] Observed a panic: "send on closed channel" (send on closed channel)⏎<gotrace>
4 6 I<klog>  <kpid> plugin_watcher.go:203] "Adding socket path or updating timestamp to desired state cache" path="/var/lib/kubelet/plugins_registry/<word>-reg.sock"
4 6 I<klog>  <kpid> kuberuntime_gc.go:<n:100:400>] "Removing sandbox" sandboxID="<sid>"
3 6 Flag --container-runtime-endpoint has been deprecated, This parameter should be set via the config file specified by the Kubelet's --config flag. See https://kubernetes.io/docs/tasks/administer-cluster/kubelet-config-file/ for more information.
3 6 E<klog>  <kpid> upgradeaware.go:426] Error proxying data from client to backend: readfrom tcp 127.0.0.1:<port>->127.0.0.1:<port>: write tcp 127.0.0.1:<port>->127.0.0.1:<port>: write: broken pipe
2 6 I<klog>  <kpid> apparmor.go:<n:90>] "AppArmor profile loaded" profile="cri-containerd.apparmor.d"
2 6 W<klog>  <kpid> feature_gate.go:241] Setting GA feature gate <c:CPUManager|TopologyManager|SeccompDefault|DownwardAPIHugePages>=true. It will be removed in a future release.
'''
J_CONTAINERD = r'''
500 6 time="<iso9>" level=info msg="StopPodSandbox for \"<sid>\" returns successfully"
450 6 time="<iso9>" level=info msg="CreateContainer within sandbox \"<sid>\" for container &ContainerMetadata{Name:<ctr>,Attempt:<q:400>,}"
430 6 time="<iso9>" level=info msg="CreateContainer within sandbox \"<sid>\" for &ContainerMetadata{Name:<ctr>,Attempt:<q:400>,} returns container id \"<cid>\""
400 6 time="<iso9>" level=info msg="StartContainer for \"<cid>\" returns successfully"
300 6 time="<iso9>" level=info msg="Exec process \"<h64>\" exits with exit code <s:0|0|1|2|137> and error <nil>"
240 6 time="<iso9>" level=info msg="TaskExit event &TaskExit{ContainerID:<cid>,ID:<cid>,Pid:<pid>,ExitStatus:<s:0|1|137|143|139>,ExitedAt:<sp6> +0000 UTC,XXX_unrecognized:[],}"
200 6 time="<iso9>" level=info msg="shim disconnected" id=<cid> namespace=k8s.io
180 6 time="<iso9>" level=info msg="cleaning up dead shim" namespace=k8s.io
120 6 time="<iso9>" level=info msg="RemoveContainer for \"<cid>\" returns successfully"
100 6 time="<iso9>" level=info msg="RunPodSandbox for &PodSandboxMetadata{Name:<pod>,Uid:<uid>,Namespace:<ns>,Attempt:<q:9>,} returns sandbox id \"<sid>\""
90 6 time="<iso9>" level=info msg="ImageUpdate event name:\"<img>\" labels:{key:\"io.cri-containerd.image\" value:\"managed\"}"
80 6 time="<iso9>" level=info msg="stop pulling image <img>: active requests=0, bytes read=<n:9999999999>"
70 6 time="<iso9>" level=info msg="Pulled image \"<img>\" with image id \"sha256:<h64>\", repo tag \"<img>\", repo digest \"registry.corp.example/<word>@sha256:<h64>\", size \"<n:9999999999>\" in <f:400:9>s"
60 6 time="<iso9>" level=info msg="trying next host - response was http.StatusNotFound" host=mirror.zrh.corp.example
55 4 time="<iso9>" level=warning msg="cleaning up after shim disconnected" id=<cid> namespace=k8s.io
40 4 time="<iso9>" level=warning msg="cleanup warnings time=\"<iso0>\" level=info msg=\"starting signal loop\" namespace=k8s.io pid=<pid> runtime=io.containerd.runc.v2\n"
36 3 time="<iso9>" level=error msg="ContainerStatus for \"<cid>\" failed" error="rpc error: code = NotFound desc = an error occurred when try to find container \"<cid>\": not found"
30 6 <iso9> [INFO][<n:9000>] k8s.go 386: Calico CNI found existing endpoint: &{{WorkloadEndpoint projectcalico.org/v3} {<host>-k8s-<app>-eth0 <app>-  <ns>  <uuid> <n:99999999> 0 <sp> +0000 UTC <nil> <nil> map[app:<app> pod-template-hash:<h8> projectcalico.org/namespace:<ns> projectcalico.org/orchestrator:k8s] map[] [] [] []} {k8s  <host>  <pod> eth0 default [] []   [kns.<ns> ksa.<ns>.<app>] cali<x:11>  [] []}} ContainerID="<sid>" Namespace="<ns>" Pod="<pod>" WorkloadEndpoint="<host>-k8s-<app>-"
28 6 <sp6> [INFO][<n:9000>] ipam_plugin.go 245: Auto assigning IP ContainerID="<sid>" HandleID="k8s-pod-network.<sid>" Workload="<host>-k8s-<app>-eth0"
26 6 <sp6> [INFO][<n:9000>] ipam.go 1203: Successfully claimed IPs: [<ip>/26] block=10.244.<n:96>.<c:0|64|128|192>/26 handle="k8s-pod-network.<sid>" host="<node>"
24 6 <sp6> [INFO][<n:9000>] dataplane_linux.go 68: Setting the host side veth name to cali<x:11> ContainerID="<sid>" Namespace="<ns>" Pod="<pod>" WorkloadEndpoint="<host>-k8s-<app>-eth0"
20 6 time="<iso9>" level=info msg="loading plugin \"io.containerd.<c:event.v1.publisher|ttrpc.v1.task|internal.v1.shutdown>\"..." runtime=io.containerd.runc.v2 type=io.containerd.<c:event.v1|ttrpc.v1|internal.v1>
18 6 time="<iso9>" level=info msg="starting signal loop" namespace=k8s.io path=/run/containerd/io.containerd.runtime.v2.task/k8s.io/<cid> pid=<pid> runtime=io.containerd.runc.v2
15 6 time="<iso9>" level=info msg="using experimental NVIDIA Container Runtime mode: cdi; injecting devices [nvidia.com/gpu=<gpu>] into <cid>"
12 3 time="<iso9>" level=error msg="collecting metrics for <cid>" error="cgroups: cgroup deleted: unknown"
10 4 time="<iso9>" level=warning msg="unknown status" status=0
8 6 time="<iso9>" level=info msg="No cni config template is specified, wait for other system components to drop the config."
7 3 time="<iso9>" level=error msg="ttrpc: received message on inactive stream" stream=<n:99>
6 4 time="<iso9>" level=warning msg="container event discarded" container=<cid> type=CONTAINER_<c:CREATED|STARTED|STOPPED|DELETED>_EVENT
5 3 time="<iso9>" level=error msg="Failed to handle event container_id:\"<cid>\" exit_status:<c:137|143> for task <word>" error="failed to stop container: context deadline exceeded"
4 6 <sp6> [WARNING][<n:9000>] k8s.go 549: CNI_CONTAINERID does not match WorkloadEndpoint ContainerID, don't delete WEP. ContainerID="<sid>" WorkloadEndpoint="<host>-k8s-<app>-eth0"
3 4 time="<iso9>" level=warning msg="Ignoring unknown key in TOML for plugin" error="strict mode: fields in the document are missing in the target struct" key="containerd runtimes nvidia options <word>" plugin=io.containerd.grpc.v1.cri
3 6 time="<iso9>" level=info msg="Migration of snapshot <n:90000> skipped for <dir>: nothing to do"
2 6 time="<iso9>" level=info msg="serving... address=/run/containerd/containerd.sock.ttrpc"
'''
J_CRIO = r'''
480 6 time="<sp6>Z" level=info msg="Checking image status: <img>" id=<uuid> name=/runtime.v1.ImageService/ImageStatus
400 6 time="<sp6>Z" level=info msg="Created container <cid>: <ns>/<pod>/<ctr>" id=<uuid> name=/runtime.v1.RuntimeService/CreateContainer
380 6 time="<sp6>Z" level=info msg="Started container" PID=<pid> containerID=<cid> description=<ns>/<pod>/<ctr> id=<uuid> name=/runtime.v1.RuntimeService/StartContainer sandboxID=<sid>
330 6 time="<sp6>Z" level=info msg="Removed container <cid>: <ns>/<pod>/<ctr>" id=<uuid> name=/runtime.v1.RuntimeService/RemoveContainer
260 6 time="<sp6>Z" level=info msg="Image status: &ImageStatusResponse{Image:&Image{Id:<h64>,RepoTags:[<img>],RepoDigests:[registry.corp.example/<word>@sha256:<h64>],Size_:<n:9999999999>,Uid:&Int64Value{Value:<n:65536>,},Username:,Spec:nil,},Info:map[string]string{},}" id=<uuid> name=/runtime.v1.ImageService/ImageStatus
200 6 time="<sp6>Z" level=info msg="Stopping pod sandbox: <sid>" id=<uuid> name=/runtime.v1.RuntimeService/StopPodSandbox
180 6 time="<sp6>Z" level=info msg="Got pod network &{Name:<pod> Namespace:<ns> ID:<sid> UID:<uid> NetNS:/var/run/netns/<uuid> Networks:[{Name:cbr0 Ifname:eth0}] RuntimeConfig:map[cbr0:{IP: MAC: PortMappings:[] Bandwidth:<nil> IpRanges:[]}] Aliases:map[]}"
150 6 time="<sp6>Z" level=info msg="Adding pod <ns>_<pod> to CNI network \"multus-cni-network\" (type=multus)"
110 6 time="<sp6>Z" level=info msg="Running pod sandbox: <ns>/<pod>/POD" id=<uuid> name=/runtime.v1.RuntimeService/RunPodSandbox
90 6 time="<sp6>Z" level=info msg="Pulled image: registry.corp.example/<word>@sha256:<h64>" id=<uuid> name=/runtime.v1.ImageService/PullImage
70 6 time="<sp6>Z" level=info msg="Trying to access \"<img>\""
60 4 time="<sp6>Z" level=warning msg="Allowed annotations are specified for workload [io.containers.trace-syscall io.kubernetes.cri-o.<word>]"
45 4 time="<sp6>Z" level=warning msg="Stopping container <cid> with stop signal timed out: timeout reached after <c:2|30|60> seconds waiting for container process to exit" id=<uuid> name=/runtime.v1.RuntimeService/StopContainer
40 6 <iso0> [verbose] Add: <ns>:<pod>:<uid>:k8s-pod-network(k8s-pod-network):eth0 {"cniVersion":"0.3.1","interfaces":[{"name":"cali<x:11>"}],"ips":[{"version":"4","interface":0,"address":"<ip>/32"}],"dns":{}}
32 6 I<klog>  <rpid> event.go:282] Event(v1.ObjectReference{Kind:"Pod", Namespace:"<ns>", Name:"<pod>", UID:"<uid>", APIVersion:"v1", ResourceVersion:"<n:99999999>", FieldPath:""}): type: 'Normal' reason: 'AddedInterface' Add eth0 [<ip>/32] from k8s-pod-network
26 4 time="<sp6>Z" level=warning msg="Failed to find container exit file for <cid>: timed out waiting for the condition" id=<uuid>
20 3 time="<sp6>Z" level=error msg="Failed to cleanup (probably retrying): failed to destroy network for pod sandbox k8s_<pod>_<ns>_<uid>_0(<sid>): error removing pod from CNI network \"multus-cni-network\": netplugin failed with no error message: signal: killed"
16 6 time="<sp6>Z" level=info msg="Deleting pod <ns>_<pod> from CNI network \"multus-cni-network\" (type=multus)"
12 3 time="<sp6>Z" level=error msg="Container creation error: time=\"<iso0>\" level=error msg=\"runc create failed: unable to start container process: exec: \\\"<word>\\\": executable file not found in $PATH\"\n" id=<uuid> name=/runtime.v1.RuntimeService/CreateContainer
9 6 time="<sp6>Z" level=info msg="Updated default CNI network name to multus-cni-network"
8 4 time="<sp6>Z" level=warning msg="The image <img> has no healthcheck, but <word> was requested" file="oci/container.go:<n:900>"
6 6 time="<sp6>Z" level=info msg="CNI monitoring event CREATE        \"/etc/kubernetes/cni/net.d/<word>.conflist\""
5 3 time="<sp6>Z" level=error msg="Failed to exec ExecSync in container <cid>: command error: EOF, stdout: , stderr: , exit code -1" id=<uuid> name=/runtime.v1.RuntimeService/ExecSync
4 4 conmon <h12> <nwarn>: Failed to open cgroups file: /sys/fs/cgroup/kubepods.slice/kubepods-pod<uid_>.slice/crio-<cid>.scope/container/memory.events
3 6 time="<sp6>Z" level=info msg="Starting seccomp notifier watcher"
'''
J_KERNEL = r'''
420 6 IPv6: ADDRCONF(NETDEV_CHANGE): cali<x:11>: link becomes ready
300 5 audit: type=1400 audit(<epochf>:<n:9999999>): apparmor="<c:ALLOWED|DENIED>" operation="<s:open|ptrace|signal|mount|exec>" class="file" profile="<s:cri-containerd.apparmor.d|/usr/sbin/chronyd|snap.lxd.daemon|/usr/bin/man>" name="<file>" pid=<pid> comm="<comm>" requested_mask="<c:r|w|rw|x>" denied_mask="<c:r|w>" fsuid=<n:70000> ouid=<n:70000>
260 4 IN=bond0.140 OUT= MAC=<mac>:<mac>:86:dd SRC=<ip6> DST=ff02:0000:0000:0000:0000:0001:ff<h4> LEN=<n:60:1400> TC=0 HOPLIMIT=<c:1|64|255> FLOWLBL=<n:999999> PROTO=<c:UDP|TCP|ICMPv6> SPT=<port> DPT=<c:5353|546|547|1900|22>
200 4 [nft-drop-v6] IN=<dev> OUT=cali<x:11> MAC=<mac>:<mac>:86:dd SRC=2001:0db8:<h4>:<h4>:0000:0000:0000:<h4> DST=2001:0db8:<h4>:0140:0000:0000:0000:<h4> LEN=<n:60:1400> TC=0 HOPLIMIT=<n:64> FLOWLBL=0 PROTO=TCP SPT=<port> DPT=<port> WINDOW=<n:65535> RES=0x00 SYN URGP=0
150 5 audit: type=1325 audit(<epochf>:<n:9999999>): table=<c:nat|filter|mangle|raw>:<n:9000> family=<c:2|10> entries=<n:4000> op=nft_register_rule pid=<pid> subj=unconfined comm="iptables-nft-re"
120 6 eth0: renamed from tmp<x:5>
100 6 device cali<x:11> <c:entered|left> promiscuous mode
90 6 overlayfs: fs on '/var/lib/containers/storage/overlay/compat<n:4000000000>/merged' does not support file handles, falling back to xino=off
60 6 XFS (rbd<n:40>): Mounting V5 Filesystem <uuid>
56 6 XFS (rbd<n:40>): Ending clean mount
52 6 EXT4-fs (rbd<n:40>): mounted filesystem <uuid> r/w with ordered data mode. Quota mode: none.
50 6 rbd: rbd<n:40>: capacity <n:9999999999999> features 0x<x:2>
46 6 libceph: mon<n:3> (1)<onip>:6789 session established
44 6 libceph: client<n:9999999> fsid <uuid>
40 6 TCP: request_sock_TCP: Possible SYN flooding on port <ip>:<port>. Sending cookies.
36 4 nfs: server nas0<n:1:6>.zrh.corp.example not responding, still trying
36 5 nfs: server nas0<n:1:6>.zrh.corp.example OK
30 6 NFS: state manager: check lease failed on NFSv4 server nas0<n:1:6>.zrh.corp.example with error <c:13|5|10052>
28 6 mlx5_core <pci>.0 <dev>: Link up
24 6 mlx5_core <pci>.0: mlx5_pcie_event:301:(pid <pid>): Detected insufficient power on the PCIe slot (<n:20:75>W).
22 6 mlx5_core <pci>.0: Port module event: module <n:8>, Cable <c:plugged|unplugged>
20 6 nvidia-modeset: WARNING: GPU:<gpu>: Unable to read EDID for display device DP-<n:4>
18 6 <comm>[<pid>]: segfault at <x:12> ip <x:16> sp <x:16> error <c:4|6|14|15> in libtorch_cpu.so[<x:12>+<x:7>] likely on CPU <n:192> (core <n:96>, socket <n:2>)
16 4 traps: <comm>[<pid>] general protection fault ip:<x:12> sp:<x:12> error:0 in libc.so.6[<x:12>+195000]
16 6 perf: interrupt took too long (<n:2500:9000> > <n:2500:9000>), lowering kernel.perf_event_max_sample_rate to <n:1000:80000>
14 4 <comm> (<pid>): drop_caches: 3
12 6 process '<file>' started with executable stack
12 4 clocksource: Long readout interval, skipping watchdog check: cs_nsec: <n:9999999999> wd_nsec: <n:9999999999>
10 6 usb 1-<n:9>.<n:4>: new high-speed USB device number <n:90> using xhci_hcd
9 6 sd <n:20>:0:<n:60>:0: [sd<c:a|b|c|aa|ab>] Attached SCSI disk
9 4 workqueue: <c:mlx5_cmd_work_handler [mlx5_core]|drm_fb_helper_damage_work|blk_mq_run_work_fn> hogged CPU for >10000us <n:4:99> times, consider switching to WQ_UNBOUND
8 5 random: <comm>: uninitialized urandom read (16 bytes read)
8 6 NVRM: loading NVIDIA UNIX x86_64 Kernel Module  550.54.15  Tue Mar  5 22:23:56 UTC 2024
7 4 ib_core: ibp<n:300>s0: GID table entry <n:99> is in use, cannot remove
7 6 IPVS: rr: UDP <ip>:53 - no destination available
6 4 net_ratelimit: <n:2:9000> callbacks suppressed
6 4 neighbour: arp_cache: neighbor table overflow is near: <n:900:1024> of 1024 entries
5 6 cgroup: fork rejected by pids controller in /kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid_>.slice/cri-containerd-<cid>.scope
5 4 ACPI Warning: SystemIO range 0x<x:16>-0x<x:16> conflicts with OpRegion (\_SB.PC<n:20>.<word>) (20230628/utaddress-204)
4 6 bond0: (slave <dev>): Enslaving as a backup interface with an up link
4 4 EDAC <c:MC0|MC1|MC2|MC3>: 1 CE memory read error on CPU_SrcID#<n:2>_MC#<n:4>_Chan#<n:3>_DIMM#<n:2> (channel:<n:3> slot:<n:2> page:0x<x:7> offset:0x<x:3> grain:32 syndrome:0x0 -  err_code:0x0101:0x0090  SystemAddress:0x<x:10> ProcessorSocketId:0x<n:2>)
3 6 systemd-journald[<n:400:999>]: File /var/log/journal/<h32>/system.journal corrupted or uncleanly shut down, renaming and replacing.
3 5 nvidia_uvm: module uses symbols nvUvmInterfaceDisableAccessCntr from proprietary module nvidia, inheriting taint.
2 4 WARNING: CPU: <n:192> PID: <pid> at net/core/dev.c:<n:4000> netif_set_real_num_tx_queues+0x<x:3>/0x<x:3>⏎Modules linked in: nvidia_uvm(PO) nvidia_peermem(PO) rbd libceph ceph mlx5_ib xt_comment nf_tables overlay⏎CPU: <n:192> PID: <pid> Comm: <comm> Tainted: P        W  O       6.5.0-35-generic #35~22.04.1-Ubuntu⏎Call Trace:⏎ <TASK><ktrace>⏎ </TASK>
'''
J_INIT = r'''
400 6 cri-containerd-<cid>.scope: Deactivated successfully.
320 6 Started libcontainer container <cid>.
260 6 run-containerd-runc-k8s.io-<cid>-runc.<word>.mount: Deactivated successfully.
220 6 var-lib-kubelet-pods-<uid_>-volume\x2dsubpaths-<word>-<ctr>-<n:9>.mount: Deactivated successfully.
160 6 crio-<cid>.scope: Consumed <f:4000:3>s CPU time.
120 6 Created slice libcontainer container kubepods-burstable-pod<uid_>.slice.
110 6 Removed slice libcontainer container kubepods-besteffort-pod<uid_>.slice.
60 6 Started Session <n:9000> of User <user>.
50 6 session-<n:9000>.scope: Deactivated successfully.
40 6 Starting <s:Daily apt download activities|Cleanup of Temporary Directories|system activity accounting tool|Rotate log files|Message of the Day|Discard unused blocks on filesystems from /etc/fstab>...
40 6 Finished <s:Daily apt download activities|Cleanup of Temporary Directories|system activity accounting tool|Rotate log files|Message of the Day>.
20 6 Reloading.
16 4 /etc/systemd/system/<word>.service:<n:40>: Unknown key name '<word>' in section 'Service', ignoring.
14 4 <word>-agent.service: Unit process <pid> (<comm>) remains running after unit stopped.
12 6 <word>-agent.service: Scheduled restart job, restart counter is at <n:900>.
12 4 <word>-agent.service: Main process exited, code=exited, status=<c:1/FAILURE|2/INVALIDARGUMENT|203/EXEC|143/n/a>
11 4 <word>-agent.service: Failed with result 'exit-code'.
9 3 Failed to start <word> telemetry agent.
7 6 Condition check resulted in <word> being skipped.
6 6 systemd-journald.service: Consumed <n:60>min <f:60:3>s CPU time.
5 4 Configuration file /lib/systemd/system/<word>.service is marked executable. Please remove executable permission bits. Proceeding anyway.
4 6 Listening on <word> activation socket.
3 6 Mounting /mnt/nfs/home/<user>...
2 4 systemd-udevd.service: Got notification message from PID <pid>, but reception only permitted for main PID
'''
J_SSH = r'''
200 6 Connection closed by <onip> port <port> [preauth]
160 6 Accepted publickey for <user> from 172.23.8.<n:254> port <port> ssh2: ED25519 SHA256:<x:43>
150 6 pam_unix(sshd:session): session opened for user <user>(uid=<n:1000:70000>) by (uid=0)
140 6 pam_unix(sshd:session): session closed for user <user>
90 6 Received disconnect from 172.23.8.<n:254> port <port>:11: disconnected by user
60 6 Failed password for invalid user <s:admin|oracle|test|ubuntu|git|postgres|deploy> from 10.9.<n:254>.<n:254> port <port> ssh2
40 6 Invalid user <word> from 10.9.<n:254>.<n:254> port <port>
26 4 pam_sss(sshd:auth): authentication failure; logname= uid=0 euid=0 tty=ssh ruser= rhost=172.23.8.<n:254> user=<user>
20 6 Disconnecting authenticating user <user> 172.23.8.<n:254> port <port>: Too many authentication failures [preauth]
10 3 error: kex_exchange_identification: Connection closed by remote host
8 3 error: maximum authentication attempts exceeded for <user> from 172.23.8.<n:254> port <port> ssh2 [preauth]
6 6 Unable to negotiate with 10.9.<n:254>.<n:254> port <port>: no matching host key type found. Their offer: ssh-rsa,ssh-dss [preauth]
3 6 Server listening on :: port 22.
2 6 banner exchange: Connection from 10.9.<n:254>.<n:254> port <port>: invalid format <latin1>
'''
J_SUDO = r'''
100 5    <user> : TTY=pts/<n:30> ; PWD=<dir> ; USER=root ; COMMAND=/usr/bin/<s:nvidia-smi -q -d ECC|crictl ps -a|journalctl -u kubelet --since -1h|systemctl status containerd|ibstat|dcgmi diag -r 1|tail -n 200 /var/log/syslog|lsof -nP>
90 6 pam_unix(sudo:session): session opened for user root(uid=0) by <user>(uid=<n:1000:70000>)
90 6 pam_unix(sudo:session): session closed for user root
20 5    <user> : TTY=pts/<n:30> ; PWD=<dir> ; USER=root ; COMMAND=/usr/local/bin/<word>.sh --path <file> --retries <n:9> --tag <h8>
6 1    <user> : user NOT in sudoers ; TTY=pts/<n:30> ; PWD=/home/<user> ; USER=root ; COMMAND=/usr/bin/<word>
3 5 pam_unix(sudo:auth): authentication failure; logname=<user> uid=<n:1000:70000> euid=0 tty=/dev/pts/<n:30> ruser=<user> rhost=  user=<user>
'''
J_CRON = r'''
100 6 (root) CMD (   cd / && run-parts --report /etc/cron.hourly)
90 6 pam_unix(cron:session): session opened for user root(uid=0) by (uid=0)
90 6 pam_unix(cron:session): session closed for user root
70 6 (<user>) CMD (<dir>/<word>.sh >> /var/log/<word>.log 2>&1)
40 6 (root) CMD (/usr/local/sbin/gpu-health-check --nodes <host> --json > /var/lib/node_exporter/textfile/gpu_<word>.prom)
10 6 (<user>) MAIL (mailed <n:9000> bytes of output but got status 0x004b from MTA⏎)
4 6 (CRON) info (No MTA installed, discarding output)
3 3 (<user>) ERROR (failed to open PAM security session: Success)
'''
J_CHRONY = r'''
60 6 Selected source 172.23.0.<n:1:9> (ntp<n:1:5>.zrh.corp.example)
40 6 Source 172.23.0.<n:1:9> online
30 4 Can't synchronise: no majority
20 6 System clock wrong by <f:0.02:6> seconds
16 6 Received KoD RATE from 172.23.0.<n:1:9>
9 6 Detected falseticker 172.23.0.<n:1:9>
4 6 Frequency <f:30:3> +/- <f:0.2:3> ppm read from /var/lib/chrony/chrony.drift
'''
J_AUDITD = r'''
300 6 SYSCALL arch=c000003e syscall=<n:440> success=<c:yes|no> exit=<n:99> a0=<x:12> a1=<x:12> a2=<x:6> a3=<x:3> items=<n:4> ppid=<pid> pid=<pid> auid=<n:4294967295> uid=<n:70000> gid=<n:70000> euid=0 suid=0 fsuid=0 egid=0 sgid=0 fsgid=0 tty=(none) ses=<n:9000> comm="<comm>" exe="<file>" subj=unconfined key="<s:exec|identity|mounts|time-change|perm_mod|modules>"
160 6 PATH item=<n:3> name="<file>" inode=<n:99999999> dev=<x:2>:<x:2> mode=0100<c:644|755|600> ouid=<n:70000> ogid=<n:70000> rdev=00:00 nametype=<c:NORMAL|CREATE|DELETE> cap_fp=0 cap_fi=0 cap_fe=0 cap_fver=0 cap_frootid=0
140 6 PROCTITLE proctitle=<h64><h32>
60 6 CWD cwd="<dir>"
50 6 USER_ACCT pid=<pid> uid=0 auid=<n:70000> ses=<n:9000> subj=unconfined msg='op=PAM:accounting grantors=pam_permit acct="<user>" exe="/usr/sbin/sshd" hostname=172.23.8.<n:254> addr=172.23.8.<n:254> terminal=ssh res=<c:success|failed>'
40 6 EXECVE argc=<n:9> a0="<word>" a1="--<word>" a2="<file>" a3="<h16>"
20 6 BPF prog-id=<n:99999> op=<c:LOAD|UNLOAD>
16 6 SERVICE_START pid=1 uid=0 auid=4294967295 ses=4294967295 subj=unconfined msg='unit=<word> comm="systemd" exe="/usr/lib/systemd/systemd" hostname=? addr=? terminal=? res=success'
8 4 ANOM_PROMISCUOUS dev=cali<x:11> prom=256 old_prom=0 auid=4294967295 uid=0 gid=0 ses=4294967295
3 4 NETFILTER_CFG table=<word>:<n:900> family=1 entries=<n:40> op=nft_unregister_chain pid=<pid> subj=unconfined comm="nft"
'''
J_YARN = r'''
300 6 <spms> INFO  [<s:ContainersMonitor|AsyncDispatcher event handler|DeletionService #2|NM Event dispatcher|IPC Server handler 7 on 8041>] <cls>: Container container_e<n:99>_<epochms>_<z:4:9999>_01_<z:6:999999> transitioned from <c:LOCALIZING|RUNNING|SCHEDULED|KILLING> to <c:RUNNING|EXITED_WITH_SUCCESS|CONTAINER_CLEANEDUP_AFTER_KILL|DONE>
200 6 <spms> DEBUG [Container Monitor] <cls>: Memory usage of ProcessTree <pid> for container-id container_<epochms>_<z:4:9999>_01_<z:6:999999>: <f:60:1> GB of 64 GB physical memory used; <f:120:1> GB of 134.4 GB virtual memory used
120 6 <spms> INFO  [LocalizerRunner] <cls>: Downloading public resource: { hdfs://nn<n:1:3>.zrh.corp.example:8020<file>, <epochms>, FILE, null }
60 4 <spms> WARN  [<word>-pool-<n:99>-thread-<n:40>] <cls>: <exc>: <word> <noun> did not answer in <n:90000> ms⏎<exc>: <word> <noun> did not answer<jtrace>
30 3 <spms> ERROR [Thread-<n:900>] <cls>: RECEIVED SIGNAL 15: SIGTERM while handling <word>/<noun> (attempt_<epochms>_<z:4:9999>_m_<z:6:999999>_<n:4>)<jtrace>
20 6 <spms> INFO  [JvmPauseMonitor] <cls>: Detected pause in JVM or host machine (eg GC): pause of approximately <n:1000:9000>ms⏎GC pool 'G1 Young Generation' had collection(s): count=<n:1:5> time=<n:9000>ms⏎GC pool 'G1 Old Generation' had collection(s): count=0 time=0ms
9 4 <spms> WARN  [qtp<n:2000000000>-<n:99>] <cls>: Ungültiger Header "X-<word>": größer als <n:9999> Zeichen — ignoriert
'''
J_HAPROXY = r'''
400 6 172.23.8.<n:254>:<port> [<clf>] fe_apiserver~ be_apiserver/hx0<n:1:4> <n:9>/0/<n:9>/<n:900>/<n:900> <bytes> -- <n:900>/<n:400>/<n:90>/<n:30>/0 0/0
260 6 172.23.8.<n:254>:<port> [<clf>] fe_ingress~ be_<word>/<svc> 0/0/<n:9>/<n:900>/<n:2000> <status> <bytes> - - ---- <n:900>/<n:400>/<n:90>/<n:30>/0 0/0 {<svc>.corp.example|<ua>} "<c:GET|POST|PUT> <url>?<qs> HTTP/<c:1.1|2.0>"
12 5 Server be_<word>/<host> is <c:UP|DOWN>, reason: Layer4 check passed, check duration: <n:90>ms. <n:4> active and 0 backup servers online. <n:9> sessions requeued, 0 total in queue.
4 4 Proxy fe_ingress reached process FD limit (maxsock=<n:99999>). Please check 'ulimit-n' and restart.
'''
J_MISC = r'''
120 6 accounts-daemon|Registered new session (id <h16>) for <word>@<host>; lifetime <n:9000>s
100 6 systemd-resolved|Using degraded feature set UDP instead of UDP+EDNS0 for DNS server 172.23.0.<n:1:9>.
90 6 systemd-resolved|Server returned error NXDOMAIN, mitigating potential DNS violation DVE-2018-0001, retrying transaction with reduced feature level UDP.
80 6 node_exporter|␛[32mINFO␛[0m ts=<iso> caller=<word>.go:<n:900> collector=<word> msg="collector <s:succeeded|failed>" duration_seconds=<f:1:9>
70 6 elastic-agent|{"log.level":"info","@timestamp":"<iso>","message":"Non-zero metrics in the last 30s","monitoring":{"metrics":{"beat":{"cgroup":{"memory":{"mem":{"usage":{"bytes":<n:999999999>}}}},"cpu":{"system":{"ticks":<n:9999999>},"user":{"ticks":<n:9999999>}},"handles":{"open":<n:99>}},"libbeat":{"output":{"events":{"acked":<n:9999>,"batches":<n:99>,"total":<n:9999>}}}}}}
60 6 telegraf|<iso6> I! [outputs.<word>] Wrote batch of <n:1000> metrics in <f:90:6>ms
40 4 telegraf|<iso0> W! [inputs.<word>] Collection took longer than expected; not complete after interval of <n:60>s
40 6 pacemakerd|state change from <c:active|reconnecting|joining> to <c:idle|active>: peer <onode> (<onip>) generation <n:900>
30 6 rsyslogd|action 'action-<n:9>-builtin:omfwd' resumed (module 'builtin:omfwd') [v8.2112.0 try https://www.rsyslog.com/e/2359 ]
24 4 rsyslogd|imjournal: <n:90000> messages lost due to rate-limiting (<n:20000> allowed within 600 seconds)
20 6 smartd|Device: /dev/nvme<n:9>n1, SMART/Health Information: Percentage Used <n:40>%, Available Spare <n:80:100>%, Temperature <n:30:70> Celsius
18 6 bird|BGP: neighbor <onip> (Internal AS 64512): state <c:OpenSent|OpenConfirm|Established> hold <n:240> keepalive <n:60>
14 6 sssd|<user>: lookup of passwd entry via LDAP took <n:9000> ms ("uid=<user>,ou=people,dc=corp,dc=example")
10 4 systemd-coredump|Process <pid> (<comm>) crashed and dumped core; stack trace of thread <pid>:⏎#0  0x<x:16> raise (libc.so.6 + 0x<x:5>)⏎#1  0x<x:16> abort (libc.so.6 + 0x<x:5>)⏎#2  0x<x:16> n/a (<file> + 0x<x:6>)⏎#3  0x<x:16> <pyfn> (libtorch_python.so + 0x<x:6>)
8 6 login|Benutzer „<user>“ hat sich angemeldet — Sitzung <n:9999>, Anmeldung über 控制台 (<word>)
6 6 pacemakerd|raw frame: <latin1> <h16> <word>
5 6 node-agent|␛[1;31m<word>␛[0m: retrying <noun> after <f:30:2>s ␛[2m(<n:9>/9)␛[0m
3 4 dbus-daemon|dbus-daemon: [system] Rejected send message, 2 matched rules; type="method_call", sender=":1.<n:9000>" (uid=<n:70000> pid=<pid> comm="<comm>") interface="org.freedesktop.login1.Manager" member="<word>" error name="(unset)"
'''
J_FM = r'''
40 6 [<sp>] [INFO] [tid <pid>] fabric manager heartbeat ok, <n:4> NVSwitch devices, <n:8:9> GPUs, partition state active, generation <n:9000>
20 6 [<sp>] [INFO] [tid <pid>] Sending inband message (Message header details: magic Id:<x:8> request Id:<x:12> status:0 type:<n:9> length:<n:90>)
6 6 [<sp>] [INFO] [tid <pid>] multicast group <n:900> is allocated for request id <n:99999999999>
3 4 [<sp>] [WARNING] [tid <pid>] request to query NVSwitch link <n:64> counters on device <x:2>:00.0 took <n:9000> ms
'''

# ------------------------------------------------------------------ templates of container logs, by style
LOGS = {
'torch': r'''
500 step <step>/500000 | epoch <epochn> | loss <loss6> | lr <lr> | grad_norm <f:9:4> | tokens/s <n:60000:90000> | mfu <f:0.5:3> | mem <f:139:2>GiB | data <f:90:1>ms | fwd <f:400:1>ms | bwd <f:900:1>ms
260 ␍Epoch <epochn>:  <barp>%|<bar>| <stepm>/2000 [<z:2:60>:<z:2:60><<z:2:60>:<z:2:60>,  <f:9:2>it/s, loss=<loss>, v_num=<n:99>]
120 [<spms>] [INFO] [logging.py:96:log_dist] [Rank 0] step=<step>, skipped=<q:20>, lr=[<lr>, <lr>], mom=[(0.9, 0.95), (0.9, 0.95)]
90 {"step": <step>, "rank": <n:64>, "train/loss": <loss6>, "train/ppl": <f:40:4>, "perf/step_time_s": <f:3:5>, "perf/tflops": <f:600:2>, "ds": "<ds>", "ts": "<iso>"}
70 <host>:<pid>:<pid> [<gpu>] NCCL INFO Channel <z:2:32>/0 : <n:64>[<gpu>] -> <n:64>[<gpu>] [<c:send|receive>] via NET/IB/<n:8>/GDRDMA
50 <host>:<pid>:<pid> [<gpu>] NCCL INFO Trees [0] <n:64>/-1/-1-><n:64>->-1 [1] -1/-1/-1-><n:64>-><n:64> [2] <n:64>/-1/-1-><n:64>->-1
40 [rank<n:64>]: W<klog> torch/distributed/distributed_c10d.py:<n:4000>] Warning: using barrier without device_id; collective <seq> took <f:90:2>s
36 validation | step <stepc> | ds <ds> | loss <loss> | acc@1 <f:100:2> | acc@5 <f:100:2> | bleu <f:50:2> | n=<n:99999>
24 saved checkpoint to <dir>/<word>/step_<stepc>/rank_<z:2:64>.pt (<f:90:2> GiB in <f:200:1>s, sha1 <h40>)
20 WARNING:<pyfn>:DataLoader worker (pid(s) <pid>) is slow: sample <n:9999999> of <ds> took <f:30:2>s to decode (<file>)
16 rank <n:64>: loss scale lowered from <n:65536> to <n:32768> (overflow in <word>.<word>.weight)
12 <pyf>:<n:900>: UserWarning: torch.<word> is deprecated and will be removed in a future release. It is the caller's responsibility to <word>.⏎  warnings.warn(
9 wandb: 🚀 View run <word>-<noun>-<n:900> at https://wandb.corp.example/<user>/<word>/runs/<h8>
6 <pytrace>⏎ValueError: sample <n:999999> of <ds> has no field '<word>' (skipped, <n:900> so far)
4 I<klog> <pid> CUDAAllocatorConfig.h:<n:90>] expandable_segments enabled, max_split_size_mb <n:900>
3 {"evt":"elastic_restart","group_rank":<n:8>,"restart_count":<n:4>,"rdzv_id":"<word>","endpoint":"<svc>.train-nlp.svc:29400","state":"HEALTHY"}
''',
'ray': r'''
300 [<spms> I <pid> <pid>] (raylet) node_manager.cc:<n:3000>: Worker <h32><h16> of job <z:8:99> finished lease, <n:64> cpus and <gpu> GPUs are free
200 ␛[36m(<cls0> pid=<pid>, ip=<ip>)␛[0m INFO <sp>,<z:3:999> -- <word> shard <n:900> done in <f:90:2>s
150 <spms>⇥INFO <s:autoscaler|monitor|gcs_utils|controller|proxy>.py:<n:900> -- Deployment '<noun>' in application '<word>': <n:32> replicas <c:running|updating|stopping>
120 INFO <spms> <svc> <w2>#<h8> <uuid> <url> replica.py:<n:900> - <c:GET|POST> <status> <f:900:1>ms
80 [<spms> W <pid> <pid>] (raylet) local_object_manager.cc:<n:400>: Spilled <n:90000> MiB, <n:900> objects, write throughput <n:2000> MiB/s. Set RAY_verbose_spill_logs=0 to disable this message.
60 ␛[2m␛[33m(raylet)␛[0m [<spms> E <pid> <pid>] (raylet) file_system_monitor.cc:111: /tmp/ray/session_<day>_<pid> is over <n:80:95>% full, available space: <n:99999999>; capacity: <n:999999999999>.
40 [<spms> I <pid> <pid>] (gcs_server) gcs_actor_manager.cc:<n:2000>: Finished creating actor, actor id = <h32>, job id = <z:8:99>
24 [<spms> I <pid> <pid>] (gcs_server) gcs_placement_group_mgr.cc:<n:900>: Registering placement group, placement group id = <h32><x:4>, name = <word>, strategy = <n:4>
14 ⏎== Status ==⏎Current time: <sp> (running for <n:24>:<z:2:60>:<z:2:60>.<n:99>)⏎Using AsyncHyperBand: num_stopped=<n:99>⏎Logical resource usage: <n:192>/192 CPUs, <gpu>/8 GPUs⏎Number of trials: <n:99>/<n:100:200> (<n:99> PENDING, <gpu> RUNNING)
9 ray.exceptions.RayTaskError(<exc0>): ␛[36mray::<pyfn>()␛[39m (pid=<pid>, ip=<ip>)⏎<pytrace>⏎KeyError: '<word>'
5 <spms> WARNING <word>.py:<n:900> -- The <noun> has been pending for <n:900>s because it needs {"CPU": <n:32>, "GPU": <gpu>}; cluster has <n:9> nodes
'''.replace('<cls0>', 'Trainer<n:64>').replace('<exc0>', 'KeyError'),
'triton': r'''
400 I<klog> 1 http_server.cc:<n:5000>] HTTP request: 2 /v2/models/<model>/infer
200 I<klog> 1 grpc_server.cc:<n:900>] Process for ModelInferHandler, rpc_ok=1, <n:99> step <c:START|COMPLETE|WRITTEN|ISSUED>
120 I<klog> 1 infer_request.cc:<n:900>] [request id: <uuid>] prepared: [0x0x<x:12>] request id: , model: <model>, requested version: -1, actual version: <n:9>, flags: 0x0, correlation id: <n:9999999>, batch size: <n:64>, priority: 0, timeout (us): 0⏎original inputs:⏎[0x0x<x:12>] input: <word>, type: FP16, original shape: [<n:64>,<n:4096>], batch + shape: [<n:64>,<n:4096>], shape: [<n:4096>]
50 I<klog> 1 model_lifecycle.cc:<n:900>] successfully loaded '<model>' version <n:9>
30 I<klog> 1 tensorrt.cc:<n:900>] TRITONBACKEND_ModelInstanceInitialize: <model>_<gpu> (GPU device <gpu>)
20 W<klog> 1 metrics.cc:<n:900>] Unable to get power limit for GPU <gpu>. Status:Success, value:0.000000
16 I<klog> 1 dynamic_batch_scheduler.cc:<n:900>] Starting dynamic-batcher thread at nice 0...
12 W<klog> 1 pinned_memory_manager.cc:<n:400>] failed to allocate pinned system memory, falling back to non-pinned system memory
8 +----------------------+---------+--------+⏎| Model                | Version | Status |⏎+----------------------+---------+--------+⏎| <model> | <n:9>       | READY  |⏎+----------------------+---------+--------+
4 I<klog> 1 trace.cc:<n:90>] trace flushed to <file>.<n:99>, <n:9000> spans
''',
'vllm': r'''
400 INFO <sys> metrics.py:<n:400>] Avg prompt throughput: <f:9000:1> tokens/s, Avg generation throughput: <f:3000:1> tokens/s, Running: <n:256> reqs, Swapped: <q:9> reqs, Pending: <q:400> reqs, GPU KV cache usage: <f:100:1>%, CPU KV cache usage: <f:9:1>%.
260 INFO:     <ip>:<port> - "POST /v1/<c:chat/completions|completions|embeddings> HTTP/1.1" <status>
200 INFO <sys> async_llm_engine.py:<n:900>] Received request cmpl-<h32>: prompt: '<word> <w2> <noun> <word> <w2> …', params: SamplingParams(n=1, best_of=1, presence_penalty=0.0, temperature=<f:1:2>, top_p=0.95, max_tokens=<n:4096>, stop=['</s>', '<word>']), prompt_token_ids: [1, <n:32000>, <n:32000>, <n:32000>, <n:32000>, <n:32000>], lora_request: None.
160 INFO <sys> async_llm_engine.py:<n:900>] Finished request cmpl-<h32>.
30 WARNING <sys> scheduler.py:<n:900>] Sequence group <h16> is preempted by PreemptionMode.RECOMPUTE mode because there is not enough KV cache space. total_num_cumulative_preemption=<n:999>
20 INFO <sys> async_llm_engine.py:<n:900>] Aborted request cmpl-<h32>.
8 WARNING <sys> tokenizer.py:<n:99>] Using a slow tokenizer for <model>. This might cause a significant slowdown.
5 ERROR:    Exception in ASGI application⏎<pytrace>⏎asyncio.exceptions.CancelledError
3 INFO <sys> model_runner.py:<n:900>] Graph capturing finished in <n:90> secs for <model> on GPU <gpu>
''',
'kafka': r'''
300 [<spms>] INFO [Partition <noun>-<w2>-<n:48> broker=<n:5>] ISR updated to <n:5>,<n:5>,<n:5> and version updated to <n:9999> (kafka.cluster.Partition)
240 [<spms>] INFO [LocalLog partition=<noun>.<word>.v<n:4>-<n:48>, dir=/var/lib/kafka/data/kafka-log<n:5>] Rolled new log segment at offset <n:999999999> in <n:90> ms. (kafka.log.LocalLog)
200 [<spms>] INFO [GroupCoordinator <n:5>]: Preparing to rebalance group <svc> in state PreparingRebalance with old generation <n:9999> (__consumer_offsets-<n:50>) (reason: Removing member consumer-<svc>-<n:9>-<uuid> on heartbeat expiration) (kafka.coordinator.group.GroupCoordinator)
160 [<spms>] INFO [GroupCoordinator <n:5>]: Stabilized group <svc> generation <n:9999> (__consumer_offsets-<n:50>) with <n:40> members (kafka.coordinator.group.GroupCoordinator)
100 [<spms>] INFO Deleted log <file>.deleted. (kafka.log.LogSegment)
60 [<spms>] INFO [SocketServer listenerType=ZK_BROKER, nodeId=<n:5>] Failed authentication with /<ip> (channelId=<ip>:9093-<ip>:<port>-<n:99999>) (SSL handshake failed) (org.apache.kafka.common.network.Selector)
40 [<spms>] WARN [ReplicaFetcher replicaId=<n:5>, leaderId=<n:5>, fetcherId=<n:4>] Error in response for fetch request (type=FetchRequest, replicaId=<n:5>, maxWait=500, minBytes=1, maxBytes=10485760, fetchData={}, isolationLevel=read_uncommitted, removed=, replaced=, metadata=(sessionId=<n:2000000000>, epoch=<n:99999>), rackId=) (kafka.server.ReplicaFetcherThread)⏎java.net.SocketTimeoutException: Failed to connect within 30000 ms<jtrace>
14 [<spms>] INFO [Controller id=<n:5>] Processing automatic preferred replica leader election (kafka.controller.KafkaController)
8 [<spms>] WARN Client session timed out, have not heard from server in <n:9000>ms for session id 0x<x:16> (org.apache.zookeeper.ClientCnxn)
''',
'spring': r'''
420 <spdot>  INFO <n:9> --- [<s:nio-8080-exec-|scheduling-|task-|kafka-consumer-|HikariPool-1-|reactor-http-epoll->-<n:30>] <cls>  : <c:Processed|Handled|Stored|Published|Skipped> <noun> <uuid> for tenant <word> in <msi> ms
260 <spdot> DEBUG <n:9> --- [nio-8080-exec-<n:90>] o.s.web.servlet.DispatcherServlet        : <c:GET|POST|PUT|DELETE> "<url>?<qs>", parameters={masked}
140 <spdot>  INFO <n:9> --- [   scheduling-1] <cls>  : <noun> sync: <n:9000> fetched, <n:900> updated, <q:90> failed, cursor=<h16>
110 <spdot>  WARN <n:9> --- [nio-8080-exec-<n:90>] <cls>  : <meth> took <msi> ms (threshold 500), <noun>=<word>, user=<user>
90 <spdot> ERROR <n:9> --- [nio-8080-exec-<n:90>] <cls>  : Unhandled exception for request <h16>⏎⏎<exc>: <word> <noun> <h8> is in state <c:CLOSED|PENDING|LOCKED><jtrace>⏎
70 {"@timestamp":"<iso>","@version":"1","message":"<c:Cache miss|Cache hit|Evicted> for key <noun>::<word>::<h12>","logger_name":"<cls>","thread_name":"lettuce-epollEventLoop-4-<n:9>","level":"<s:INFO|DEBUG|WARN>","level_value":20000,"traceId":"<h32>","spanId":"<h16>","tenant":"<word>"}
50 Hibernate: select <word>0_.id as id1_<n:30>_, <word>0_.<w2> as <w2>2_, <word>0_.created_at as created3_ from <noun> <word>0_ left outer join <noun>_<w2> x1_ on <word>0_.id=x1_.<noun>_id where <word>0_.tenant=? and <word>0_.state in (?, ?, ?) order by <word>0_.created_at desc limit ?
40 [<iso>][<n:900>.<z:3:999>s][info][gc] GC(<seq>) Pause Young (Normal) (G1 Evacuation Pause) <n:4000>M-><n:3000>M(8192M) <f:90:3>ms
24 {"@timestamp":"<iso>","message":"call to <svc> failed, circuit <word> is <c:HALF_OPEN|OPEN|CLOSED>","logger_name":"<cls>","level":"ERROR","stack_trace":"<exc>: <word> refused<jtracej>\n","traceId":"<h32>"}
16 <spdot>  INFO <n:9> --- [HikariPool-1 housekeeper] com.zaxxer.hikari.pool.HikariPool        : HikariPool-1 - Pool stats (total=<n:40>, active=<n:40>, idle=<n:40>, waiting=<q:40>)
9 <spdot>  WARN <n:9> --- [kafka-coordinator-heartbeat-thread | <svc>] <cls>  : [Consumer clientId=consumer-<svc>-<n:9>, groupId=<svc>] consumer poll timeout has expired. This means the time between subsequent calls to poll() was longer than the configured max.poll.interval.ms
6   .   ____          _            __ _ _⏎ /\\ / ___'_ __ _ _(_)_ __  __ _ \ \ \ \⏎( ( )\___ | '_ | '_| | '_ \/ _` | \ \ \ \⏎ \\/  ___)| |_)| | | | | || (_| |  ) ) ) )⏎  '  |____| .__|_| |_|_| |_\__, | / / / /⏎ =========|_|==============|___/=/_/_/_/⏎ :: Spring Boot ::                (v3.2.<n:9>)
4 <spdot>  INFO <n:9> --- [           main] <cls>  : Started <noun> application in <f:60:3> seconds (process running for <f:60:3>)
''',
'envoy': r'''
600 [<iso>] "<s:GET|POST|PUT|DELETE|PATCH> <url>?<qs> HTTP/<s:2|1.1>" <status> - via_upstream - "-" <q:90000> <bytes> <msi> <msi> "172.23.8.<n:254>" "<ua>" "<uuid>" "<svc>.shop-prod.svc.cluster.local:8080" "<ip>:8080" outbound|8080||<svc>.shop-prod.svc.cluster.local <ip>:<port> <ip>:8080 <ip>:<port> - default
260 {"start_time":"<iso>","method":"<s:GET|POST|PUT>","path":"<url>","protocol":"HTTP/2","response_code":<status>,"response_flags":"<s:-|-|-|UF|URX|DC|UC>","bytes_sent":<bytes>,"bytes_received":<q:90000>,"duration":<msi>,"upstream_service_time":"<msi>","x_forwarded_for":"172.23.8.<n:254>","user_agent":"<ua>","request_id":"<uuid>","authority":"<svc>.corp.example","upstream_cluster":"inbound|8080||","upstream_host":"<ip>:8080","route_name":"<word>"}
50 <iso6>⇥info⇥xdsproxy⇥connected to upstream XDS server: istiod.istio-system.svc:15012
40 <iso6>⇥info⇥ads⇥XDS: Incremental Pushing ConnectedEndpoints:<n:900> Version:<iso0>/<n:9999>
36 <iso6>⇥warning⇥envoy config external/envoy/source/common/config/grpc_stream.h:<n:190>⇥StreamAggregatedResources gRPC config stream to xds-grpc closed since <n:99>s ago: 14, connection error: desc = "transport: Error while dialing: dial tcp <ip>:15012: i/o timeout"⇥thread=<n:99>
20 <iso6>⇥info⇥cache⇥generated new workload certificate⇥latency=<f:90:6>ms ttl=23h59m59.<n:999999999>s
9 <iso6>⇥warn⇥Envoy proxy is NOT ready: config not received from XDS server (is Istiod running?): cds updates: <n:4> successful, <n:4> rejected; lds updates: <n:4> successful, 0 rejected
4 [<iso>][<n:99>][critical][assert] [source/common/<word>/<word>.cc:<n:900>] assert failure: <word> > 0. Details: ignored in release build
''',
'istiod': r'''
300 <iso6>⇥info⇥ads⇥<c:CDS|LDS|RDS|EDS|NDS>: PUSH for node:<pod>.<ns> resources:<n:900> size:<f:900:1>kB cached:<n:900>/<n:900>
160 <iso6>⇥info⇥ads⇥Push debounce stable[<seq>] <n:90> for config ServiceEntry/<ns>/<svc>.<ns>.svc.cluster.local and <n:90> more configs: <f:200:6>ms since last change, <f:900:6>ms since last push, full=<c:true|false>
60 <iso6>⇥info⇥delta⇥ADS: new delta connection for node:<pod>.<ns>-<n:9999>
30 <iso6>⇥warn⇥controllers⇥error handling <ns>/<word>, retrying (retry count: <n:9>): conflict on "<word>"⇥controller=<word>
12 <iso6>⇥error⇥validationController⇥Failed to update ValidatingWebhookConfiguration istio-validator-istio-system: the object has been modified
''',
'argo': r'''
300 time="<iso0>" level=info msg="Processing workflow" Phase=<s:Running|Succeeded|Failed> ResourceVersion=<n:99999999> namespace=<ns> workflow=<word>-<noun>-<x:5>
200 time="<iso0>" level=info msg="node <word>-<noun>-<x:5>-<n:4000000000> phase <c:Pending|Running> -> <c:Succeeded|Running|Failed>" namespace=<ns> workflow=<word>-<noun>-<x:5>
120 time="<iso0>" level=info msg="Created pod: <word>-<noun>[<n:9>].<w2> (<word>-<noun>-<x:5>-<n:4000000000>)" namespace=<ns> workflow=<word>-<noun>-<x:5>
80 time="<iso0>" level=info msg="TaskSet Reconciliation" namespace=<ns> workflow=<word>-<noun>-<x:5>
60 time="<iso0>" level=info msg="reconcile complete" app=argocd/<svc> dest-namespace=<rns> fields.level=<n:4> patch_ms=<n:90> setop_ms=<n:9> time_ms=<n:9000>
40 time="<iso0>" level=info msg="Comparing app state (cluster: https://kubernetes.default.svc, namespace: <rns>)" application=argocd/<svc>
30 time="<iso0>" level=warning msg="Non-transient error: <word>.argoproj.io \"<word>-<noun>\" already exists"
20 time="<iso0>" level=info msg="Skipping auto-sync: most recent sync already to <h40>" application=argocd/<svc>
10 time="<iso0>" level=error msg="failed to resolve {{inputs.parameters.<word>}} in template <w2>" namespace=<ns> workflow=<word>-<noun>-<x:5>
4 time="<iso0>" level=info msg="Manifest cache <c:hit|miss>: &ApplicationSource{RepoURL:https://git.corp.example/<user>/<word>.git,Path:deploy/<noun>,TargetRevision:main,Helm:nil,Kustomize:nil,Directory:nil,Plugin:nil,Chart:,Ref:,}/<h40>"
''',
'rook': r'''
160 <sp6> I | op-mon: parsing mon endpoints: a=10.96.<n:254>.<n:254>:6789,b=10.96.<n:254>.<n:254>:6789,c=10.96.<n:254>.<n:254>:6789
120 <sp6> D | ceph-cluster-controller: checking health of cluster
110 <sp6> D | exec: Running command: ceph status --format json --connect-timeout=15 --cluster=rook-ceph --conf=/var/lib/rook/rook-ceph/rook-ceph.config --name=client.admin --keyring=/var/lib/rook/rook-ceph/client.admin.keyring
60 <sp6> I | clusterdisruption-controller: all PGs are active+clean. Restoring default OSD pdb settings
30 <sp6> I | op-osd: OSD <n:36> will be updated on node "<node>" with image <img>
12 <sp6> E | ceph-crashcollector-controller: node reconcile failed on op "unchanged": Operation cannot be fulfilled on deployments.apps "rook-ceph-crashcollector-<word>": the object has been modified; please apply your changes to the latest version and try again
5 <sp6> W | op-k8sutil: OwnerReferences will not be set on resources created by <word>
''',
'ceph': r'''
300 debug <iso6> <x:12>  0 log_channel(cluster) log [DBG] : pgmap v<seq>: <n:900> pgs: <n:900> active+clean; <n:90> TiB data, <n:200> TiB used, <n:400> TiB / <n:400:700> TiB avail; <f:90:1> MiB/s rd, <f:900:1> MiB/s wr, <n:9000> op/s
160 debug <iso6> <x:12>  4 rocksdb: [db/compaction/compaction_job.cc:<n:2000>] [default] [JOB <seq>] Compacting <n:9>@<n:4> + <n:9>@<n:5> files to L<n:5>, score <f:2:2>
120 debug <iso6> <x:12>  1 mon.<c:a|b|c>@<n:3>(<c:leader|peon>).osd e<n:99999> _set_new_cache_sizes cache_size:1020054731 inc_alloc: <n:999999999> full_alloc: 348127232 kv_alloc: <n:999999999>
100 audit <iso6> mon.<c:a|b|c> (mon.<n:3>) <n:9999999> : audit [DBG] from='client.? <ip>:0/<n:4000000000>' entity='client.admin' cmd=[{"prefix": "<c:status|df|osd dump|quorum_status>", "format": "json"}]: dispatch
50 debug <iso6> <x:12>  0 log_channel(cluster) log [DBG] : <n:30>.<x:3> <c:scrub|deep-scrub> <c:starts|ok>
30 debug <iso6> <x:12> -1 osd.<n:36> <n:99999> heartbeat_check: no reply from <onip>:6804 osd.<n:36> ever on either front or back, first ping sent <iso6> (oldest deadline <iso6>)
20 debug <iso6> <x:12>  0 [dashboard INFO request] [<ip>:<port>] [GET] [<status>] [<f:1:3>s] [admin] [<n:9999>.0B] <url>
8 ** DB Stats **⏎Uptime(secs): <f:900000:1> total, 600.0 interval⏎Cumulative writes: <n:99>M writes, <n:99>M keys, <n:99>M commit groups, 1.0 writes per commit group, ingest: <f:90:2> GB, <f:1:2> MB/s⏎Cumulative stall: 00:00:0.000 H:M:S, 0.0 percent
''',
'calico': r'''
260 <sp6> [INFO][<n:99>] felix/summary.go 100: Summarising <n:90> dataplane reconciliation loops over 1m<f:9:1>s: avg=<n:99>ms longest=<n:900>ms (resync-<c:filter-v4,resync-ipsets-v4|nat-v4|mangle-v4,resync-raw-v4|routes-v4>)
200 <sp6> [INFO][<n:99>] felix/int_dataplane.go <n:2000>: Received *proto.WorkloadEndpointUpdate update from calculation graph msg=id:<orchestrator_id:"k8s" workload_id:"<ns>/<pod>" endpoint_id:"eth0" > endpoint:<state:"active" name:"cali<x:11>" profile_ids:"kns.<ns>" profile_ids:"ksa.<ns>.<app>" ipv4_nets:"<ip>/32" >
160 <sp6> [INFO][<n:99>] felix/endpoint_mgr.go <n:900>: Updating endpoint routes. chain="cali-tw-cali<x:11>" id=proto.WorkloadEndpointID{OrchestratorId:"k8s", WorkloadId:"<ns>/<pod>", EndpointId:"eth0"}
120 <sp6> [INFO][<n:99>] felix/route_table.go <n:900>: Syncing routes: found unexpected route; ignoring due to grace period. dest=<ip>/32 ifaceName="cali<x:11>" ifaceRegex="^cali.*" ipVersion=0x4 tableIndex=254
40 <sp6> [INFO][<n:99>] monitor-addresses/autodetection_methods.go 103: Using autodetected IPv4 address on interface bond0.140: <nip>/24
30 <sp6> [WARNING][<n:99>] felix/health.go <n:300>: Reporter is not ready: reporting non-ready. name="<word>"
20 bird: BGP: Unexpected connect from unknown address <onip> (port <port>)
12 bird: Mesh_<onip>: State changed to <c:start|feed|up>
8 <sp6> [ERROR][<n:99>] felix/daemon.go <n:900>: Typha connection dropped; will reconnect. error=EOF
''',
'nginx': r'''
700 172.23.8.<n:254> - <s:-|-|-|svc-ci|jmeier> [<clf>] "<s:GET|POST|PUT|HEAD|OPTIONS> <url>?<qs> HTTP/<s:1.1|2.0>" <status> <bytes> "https://<svc>.corp.example<url>" "<ua>" <n:4000> <f:3:3> [<rns>-<svc>-80] [] <ip>:8080 <bytes> <f:3:3> <status> <h32>
60 <slash> [warn] <n:99>#<n:99>: *<n:9999999> an upstream response is buffered to a temporary file /tmp/nginx/proxy-temp/<n:9>/<z:2:99>/<z:10:99999> while reading upstream, client: 172.23.8.<n:254>, server: <svc>.corp.example, request: "GET <url>?<qs> HTTP/1.1", upstream: "http://<ip>:8080<url>", host: "<svc>.corp.example"
40 <slash> [error] <n:99>#<n:99>: *<n:9999999> upstream timed out (110: Operation timed out) while reading response header from upstream, client: 172.23.8.<n:254>, server: <svc>.corp.example, request: "POST <url> HTTP/2.0", upstream: "http://<ip>:8080<url>", host: "<svc>.corp.example"
20 I<klog>       7 event.go:377] Event(v1.ObjectReference{Kind:"Ingress", Namespace:"<rns>", Name:"<svc>", UID:"<uuid>", APIVersion:"networking.k8s.io/v1", ResourceVersion:"<n:99999999>", FieldPath:""}): type: 'Normal' reason: 'Sync' Scheduled for sync
16 W<klog>       7 controller.go:<n:1200>] Service "<rns>/<svc>" does not have any active Endpoint.
6 I<klog>       7 nginx.go:<n:900>] "NGINX configuration diff" diff=<⏎⇥--- /etc/nginx/nginx.conf⇥<sp6> +0000⏎⇥+++ /tmp/new-nginx-cfg<n:999999999>⇥<sp6> +0000⏎⇥@@ -<n:900>,<n:9> +<n:900>,<n:9> @@⏎⇥-⇥⇥server_name <svc>.corp.example ;⏎⇥+⇥⇥server_name <svc>.corp.example <svc>.alias.example ;⏎ >
''',
'coredns': r'''
300 [INFO] <ip>:<port> - <n:65536> "<c:A|AAAA> IN <svc>.<rns>.svc.cluster.local. udp <n:40:120> false 512" <s:NOERROR|NXDOMAIN> qr,aa,rd <n:90:300> <f:0.01:9>s
120 [INFO] <ip>:<port> - <n:65536> "<c:A|AAAA|SRV|PTR> IN <svc>.corp.example.<rns>.svc.cluster.local. udp <n:40:120> false 1232" NXDOMAIN qr,aa,rd <n:90:300> <f:0.01:9>s
10 [INFO] plugin/reload: Running configuration SHA512 = <h64><h64>
8 [WARNING] No files matching import glob pattern: /etc/coredns/custom/*.override
4 [INFO] plugin/kubernetes: Watching Endpoints instead of EndpointSlices in k8s versions < 1.<n:30>
''',
'prom': r'''
160 ts=<iso> caller=compact.go:<n:900> level=info component=tsdb msg="write block" mint=<epochms> maxt=<epochms> ulid=01HZ<x:22> duration=<f:60:9>s
120 ts=<iso> caller=head.go:<n:2000> level=info component=tsdb msg="WAL checkpoint complete" first=<n:9999> last=<n:9999> duration=<f:60:9>s
110 ts=<iso> caller=scrape.go:<n:2000> level=warn component="scrape manager" scrape_pool=serviceMonitor/<rns>/<svc>/0 target=http://<ip>:9090/metrics msg="Error on ingesting samples that are too old or are too far into the future" num_dropped=<n:900>
90 level=info ts=<iso9> caller=metrics.go:159 component=querier org_id=<word> traceID=<h16> latency=<s:fast|slow> query="{namespace=\"<rns>\", app=\"<svc>\"} |= \"<word>\" | json | line_format \"{{.msg}}\"" query_type=filter range_type=range length=<n:24>h0m0s step=<n:900>s duration=<f:9:6>s status=200 limit=<n:5000> returned_lines=<n:5000> throughput=<f:900:1>MB total_bytes=<f:90:1>GB
60 logger=context userId=<n:900> orgId=1 uname=<user> t=<iso9> level=info msg="Request Completed" method=GET path=/api/datasources/proxy/uid/<h12>/api/v1/query_range status=<status> remote_addr=172.23.8.<n:254> time_ms=<msi> duration=<f:900:6>ms size=<bytes> referer="https://grafana.corp.example/d/<h8>/<noun>-<word>?orgId=1&<qs>" handler=/api/datasources/proxy/uid/:uid/*
30 ts=<iso> caller=manager.go:<n:900> level=warn component="rule manager" file=/etc/prometheus/rules/<rns>-<word>.yaml group=<noun> name=<word> index=<n:30> msg="Evaluating rule failed" rule="record: <noun>:<word>:rate5m\nexpr: sum by (pod) (rate(<word>_total{job=\"<svc>\"}[5m]))\n" err="found duplicate series for the match group"
20 ts=<iso> caller=dispatch.go:<n:600> level=debug component=dispatcher msg="Received alert" alert=<word>[<h8>][active]
9 level=error ts=<iso9> caller=flush.go:<n:400> component=ingester loop=<n:32> org_id=<word> msg="failed to flush" retries=<n:9> err="failed to flush chunks: store put chunk: Put \"http://minio.minio.svc:9000/loki/<word>/<h16>\": context deadline exceeded, num_chunks: 1, labels: {app=\"<svc>\", namespace=\"<rns>\"}"
''',
'etcd': r'''
260 {"level":"info","ts":"<iso6>","caller":"mvcc/kvstore_compaction.go:<n:90>","msg":"finished scheduled compaction","compact-revision":<n:999999999>,"took":"<f:900:6>ms","hash":<n:4000000000>,"current-db-size-bytes":<n:4000000000>,"current-db-size":"<f:4:1> GB","current-db-size-in-use-bytes":<n:4000000000>}
160 {"level":"warn","ts":"<iso6>","caller":"etcdserver/util.go:170","msg":"apply request took too long","took":"<f:900:6>ms","expected-duration":"100ms","prefix":"read-only range ","request":"key:\"/registry/<s:pods|events|configmaps|leases|secrets>/<ns>/<pod>\" ","response":"range_response_count:<n:2> size:<n:9000>"}
60 {"level":"info","ts":"<iso6>","caller":"traceutil/trace.go:171","msg":"trace[<n:2000000000>] linearizableReadLoop","detail":"{readStateIndex:<n:999999999>; appliedIndex:<n:999999999>; }","duration":"<f:900:6>ms","start":"<iso6>","end":"<iso6>","steps":["trace[<n:2000000000>] 'read index received'  (duration: <f:90:6>ms)","trace[<n:2000000000>] 'applied index is now lower than readState.Index'  (duration: <f:90:6>ms)"],"step_count":2}
16 {"level":"info","ts":"<iso6>","caller":"wal/wal.go:<n:900>","msg":"created a new WAL segment","path":"/var/lib/etcd/member/wal/<x:16>-<x:16>.wal"}
8 {"level":"warn","ts":"<iso6>","caller":"rafthttp/probing_status.go:68","msg":"prober detected unhealthy status","round-tripper-name":"ROUND_TRIPPER_SNAPSHOT","remote-peer-id":"<h16>","rtt":"<f:9:6>ms","error":"dial tcp <onip>:2380: i/o timeout"}
''',
'kube': r'''
300 I<klog>       1 httplog.go:132] "HTTP" verb="<s:GET|LIST|WATCH|PATCH|PUT|CREATE>" URI="/api/v1/namespaces/<ns>/<s:pods|configmaps|events|endpoints>/<pod>?<qs>" latency="<f:900:6>ms" userAgent="<word>/v1.28.<n:9> (linux/amd64) kubernetes/<x:7>" audit-ID="<uuid>" srcIP="<onip>:<port>" apf_pl="<word>" apf_fs="<word>" apf_iseats=1 apf_additionalLatency="0s" apf_execution_time="<f:90:6>ms" resp=<status>
140 I<klog>       1 trace.go:236] Trace[<n:2000000000>]: "<c:List|Get|Update|Patch>" accept:application/vnd.kubernetes.protobuf, */*,audit-id:<uuid>,client:<onip>,api-group:,api-version:v1,name:<pod>,subresource:,namespace:<ns>,protocol:HTTP/2.0,resource:pods,scope:resource,url:/api/v1/namespaces/<ns>/pods/<pod>,user-agent:<word>/v0.0.0,verb:GET (<sys>) (total time: <n:500:9000>ms):⏎Trace[<n:2000000000>]: ---"About to write a response" <n:900>ms (<hms>.<z:3:999>)⏎Trace[<n:2000000000>]: [<f:9:9>s] [<f:9:9>s] END
120 I<klog>       1 schedule_one.go:<n:900>] "Unable to schedule pod; no fit; waiting" pod="<ns>/<pod>" err="0/6 nodes are available: <n:6> Insufficient nvidia.com/gpu, <n:6> node(s) didn't match Pod's node affinity/selector. preemption: 0/6 nodes are available: 6 No preemption victims found for incoming pod.."
100 I<klog>       1 replica_set.go:676] "Finished syncing" kind="ReplicaSet" key="<ns>/<app>-<h8>" duration="<f:90:6>ms"
90 I<klog>       1 event.go:307] "Event occurred" object="<ns>/<app>" fieldPath="" kind="<c:ReplicaSet|Job|StatefulSet|CronJob>" apiVersion="apps/v1" type="Normal" reason="SuccessfulCreate" message="Created pod: <pod>"
60 E<klog>       1 memcache.go:287] couldn't get resource list for <c:custom|external>.metrics.k8s.io/v1beta1: the server is currently unable to handle the request
50 W<klog>       1 lease.go:265] Resetting endpoints for master service "kubernetes" to [172.23.40.11 172.23.40.12 172.23.40.13]
40 I<klog>       1 garbagecollector.go:549] "Processing item" item="[v1/Pod, namespace: <ns>, name: <pod>, uid: <uuid>]" virtual=false
30 W<klog>       1 logging.go:59] [core] [Channel #<n:99999> SubChannel #<n:99999>] grpc: addrConn.createTransport failed to connect to {Addr: "127.0.0.1:2379", ServerName: "127.0.0.1:2379", }. Err: connection error: desc = "transport: Error while dialing: dial tcp 127.0.0.1:2379: operation was canceled"
20 E<klog>       1 horizontal.go:<n:900>] failed to compute desired number of replicas based on listed metrics for Deployment/<rns>/<svc>: invalid metrics (1 invalid out of 1), first error is: failed to get cpu resource metric value: did not receive metrics for targeted pods (pods might be unready)
9 E<klog>       1 controller.go:<n:200>] error syncing '<rns>/<word>': <word>.<noun>.k8s.io "<word>" not found, requeuing⏎<gotrace>
''',
'csi': r'''
260 I<klog>       1 utils.go:<n:300>] ID: <seq> Req-ID: 0001-0009-rook-ceph-<x:16>-<uuid> GRPC call: /csi.v1.Node/<c:NodeStageVolume|NodePublishVolume|NodeUnpublishVolume|NodeGetVolumeStats>
240 I<klog>       1 utils.go:<n:300>] ID: <seq> Req-ID: 0001-0009-rook-ceph-<x:16>-<uuid> GRPC request: {"staging_target_path":"/var/lib/kubelet/plugins/kubernetes.io/csi/rook-ceph.rbd.csi.ceph.com/<h64>/globalmount","target_path":"/var/lib/kubelet/pods/<uid>/volumes/kubernetes.io~csi/pvc-<uuid>/mount","volume_capability":{"AccessType":{"Mount":{"fs_type":"ext4","mount_flags":["discard"]}},"access_mode":{"mode":1}},"volume_id":"0001-0009-rook-ceph-<x:16>-<uuid>"}
160 I<klog>       1 utils.go:<n:300>] ID: <seq> GRPC response: {"usage":[{"available":<n:999999999999>,"total":<n:999999999999>,"unit":1,"used":<n:99999999999>},{"available":<n:99999999>,"total":<n:99999999>,"unit":2,"used":<n:999999>}]}
60 I<klog>       1 proxier.go:<n:900>] "SyncProxyRules complete" elapsed="<f:900:6>ms"
40 I<klog>       1 endpointslicecache.go:<n:400>] "Setting endpoints for service port name" portName="<rns>/<svc>:http" endpoints=["<ip>:8080","<ip>:8080","<ip>:8080"]
20 W<klog>       1 rbd_attach.go:<n:400>] ID: <seq> Req-ID: 0001-0009-rook-ceph-<x:16>-<uuid> image <word>/csi-vol-<uuid> still has watchers [watcher=<ip>:0/<n:4000000000> client.<n:999999> cookie=<n:99999999999>]
8 I<klog>       1 main.go:<n:200>] Received NotifyRegistrationStatus call: &RegistrationStatus{PluginRegistered:true,Error:,}
5 I<klog>       1 proxy.go:<n:400>] http2: server: error reading preface from client <ip>:<port>: read tcp 127.0.0.1:9100-><ip>:<port>: read: connection reset by peer
''',
'postgres': r'''
200 <spdot> UTC [<pid>] <word>@<noun> LOG:  duration: <f:9000:3> ms  statement: SELECT "<word>"."id", "<word>"."<w2>" FROM "<word>" INNER JOIN "<noun>" ON ("<word>"."<noun>_id" = "<noun>"."id") WHERE ("<word>"."tenant" = '<uuid>' AND "<noun>"."state" IN ('a', 'b')) LIMIT <n:900>
120 <spdot> UTC [<n:99>] LOG:  checkpoint complete: wrote <n:9999> buffers (<f:50:1>%); 0 WAL file(s) added, <n:9> removed, <n:40> recycled; write=<f:270:3> s, sync=<f:2:3> s, total=<f:270:3> s; sync files=<n:300>, longest=<f:1:3> s, average=<f:1:3> s; distance=<n:900000> kB, estimate=<n:900000> kB
60 <spdot> UTC [<pid>] <word>@<noun> ERROR:  duplicate key value violates unique constraint "<word>_<w2>_key"⏎<spdot> UTC [<pid>] <word>@<noun> DETAIL:  Key (<w2>)=(<h12>) already exists.⏎<spdot> UTC [<pid>] <word>@<noun> STATEMENT:  INSERT INTO "<word>" ("id", "<w2>") VALUES ($1, $2)
30 <spdot> UTC [<pid>] <word>@<noun> LOG:  could not receive data from client: Connection reset by peer
14 <spdot> UTC [<pid>] LOG:  automatic vacuum of table "<noun>.public.<word>": index scans: <n:3>⏎⇥pages: 0 removed, <n:99999> remain, <n:9999> scanned (<f:90:2>% of total)⏎⇥tuples: <n:9999> removed, <n:999999> remain, <n:99> are dead but not yet removable⏎⇥avg read rate: <f:90:3> MB/s, avg write rate: <f:90:3> MB/s
6 <spdot> UTC [<pid>] <word>@<noun> FATAL:  sorry, too many clients already
''',
'redis': r'''
100 1:M <n:30> May 2024 <hms>.<z:3:999> * <n:9999> changes in 60 seconds. Saving...
90 <n:99>:C <n:30> May 2024 <hms>.<z:3:999> * Fork CoW for RDB: current <n:99> MB, peak <n:99> MB, average <n:99> MB
60 1:S <n:30> May 2024 <hms>.<z:3:999> * Connecting to MASTER <ip>:6379
20 1:M <n:30> May 2024 <hms>.<z:3:999> # Disconnecting timedout replica (full sync): <ip>:6379
10 1:M <n:30> May 2024 <hms>.<z:3:999> # Asynchronous AOF fsync is taking too long (disk is busy?). Writing the AOF buffer without waiting for fsync to complete, this may slow down Redis.
''',
'elastic': r'''
160 {"@timestamp":"<iso>", "log.level": "INFO", "message":"[<word>-<day>][<n:9>] starting replication to <n:3> replicas", "ecs.version": "1.2.0","service.name":"ES_ECS","event.dataset":"elasticsearch.server","process.thread.name":"elasticsearch[<host>][generic][T#<n:90>]","log.logger":"org.elasticsearch.<word>.<noun>","elasticsearch.cluster.uuid":"<h16>","elasticsearch.node.id":"<h16>","elasticsearch.node.name":"<pod>","elasticsearch.cluster.name":"logs"}
90 {"@timestamp":"<iso>", "log.level": "WARN", "message":"[gc][<seq>] overhead, spent [<n:900>ms] collecting in the last [1s]", "ecs.version": "1.2.0","service.name":"ES_ECS","log.logger":"org.elasticsearch.monitor.jvm.JvmGcMonitorService","elasticsearch.node.name":"<pod>"}
30 {"@timestamp":"<iso>", "log.level":"ERROR", "message":"failed to parse field [<word>.<w2>] of type [long] in document with id '<h16>'", "error.type":"<exc>","error.message":"For input string: \"<word>\"","error.stack_trace":"<exc>: For input string<jtracej>"}
''',
'zap': r'''
300 {"level":"info","ts":<epoch6>,"logger":"controller.<noun>","caller":"controllers/<word>_controller.go:<n:900>","msg":"Reconciled","<noun>":"<rns>/<svc>","reconcileID":"<uuid>","duration":"<f:900:6>ms"}
140 {"level":"debug","ts":"<iso>","logger":"<word>.<noun>","msg":"patching status","object":{"name":"<svc>","namespace":"<rns>"},"resourceVersion":"<n:99999999>"}
80 {"level":"error","ts":"<iso>","msg":"Reconciler error","controller":"<noun>","controllerGroup":"<word>.corp.example","controllerKind":"<noun>","namespace":"<rns>","name":"<svc>","reconcileID":"<uuid>","error":"Operation cannot be fulfilled on <noun>s.<word>.corp.example \"<svc>\": the object has been modified; please apply your changes to the latest version and try again","stacktrace":"sigs.k8s.io/controller-runtime/pkg/internal/controller.(*Controller).reconcileHandler\n\t/go/pkg/mod/sigs.k8s.io/controller-runtime@v0.17.2/pkg/internal/controller/controller.go:<n:400>\nsigs.k8s.io/controller-runtime/pkg/internal/controller.(*Controller).processNextWorkItem\n\t/go/pkg/mod/sigs.k8s.io/controller-runtime@v0.17.2/pkg/internal/controller/controller.go:<n:400>"}
60 <iso>⇥INFO⇥Starting workers⇥{"controller": "<noun>", "controllerGroup": "<word>.corp.example", "worker count": <n:16>}
40 <iso>⇥<c:DEBUG|INFO>⇥<word>.webhook⇥admitting⇥{"user": "system:serviceaccount:<rns>:<svc>", "uid": "<uuid>", "allowed": true}
30 I<klog>       1 leaderelection.go:<n:300>] successfully acquired lease <rns>/<word>.corp.example
12 time="<iso0>" level=info msg="feature discovery: <n:90> labels written" node=<node> labels="nvidia.com/gpu.product=NVIDIA-H200,feature.node.kubernetes.io/cpu-cpuid.<word>=true"
6 panic: runtime error: invalid memory address or nil pointer dereference [recovered]⏎[signal SIGSEGV: segmentation violation code=0x1 addr=0x<x:2> pc=0x<x:7>]⏎⏎<gotrace>
''',
'node': r'''
260 {"level":30,"time":<epochms>,"pid":<n:99>,"hostname":"<pod>","reqId":"req-<x:6>","req":{"method":"<s:GET|POST>","url":"<url>?<qs>","remoteAddress":"<ip>","remotePort":<port>},"msg":"incoming request"}
220 {"level":30,"time":<epochms>,"pid":<n:99>,"hostname":"<pod>","reqId":"req-<x:6>","res":{"statusCode":<status>},"responseTime":<msl>,"msg":"request completed"}
60 {"name":"<svc>","hostname":"<pod>","pid":<n:99>,"level":40,"msg":"slow query <word>.<w2>","elapsed":<msi>,"time":"<iso>","v":0}
30 {"level":50,"time":<epochms>,"pid":<n:99>,"hostname":"<pod>","err":{"type":"AxiosError","message":"Request failed with status code <c:500|502|503>","stack":"AxiosError: Request failed\n    at settle (/app/node_modules/axios/dist/node/axios.cjs:<n:2000>:12)\n    at IncomingMessage.handleStreamEnd (/app/node_modules/axios/dist/node/axios.cjs:<n:3000>:11)\n    at <meth> (/app/src/<word>/<noun>.js:<n:300>:<n:90>)"},"msg":"<svc> call failed"}
20 (node:<n:99>) [DEP0<z:3:190>] DeprecationWarning: <word>.<meth>() is deprecated. Use <w2> instead.⏎(Use `node --trace-deprecation ...` to show where the warning was created)
9 TypeError: Cannot read properties of undefined (reading '<word>')⏎    at <meth> (/app/src/<noun>/<word>.ts:<n:300>:<n:90>)⏎    at processTicksAndRejections (node:internal/process/task_queues:95:5)⏎    at async <meth> (/app/src/<noun>/<w2>.ts:<n:300>:<n:90>)
''',
'pyjson': r'''
260 {"timestamp": "<iso6>", "severity": "<s:INFO|DEBUG|WARNING>", "logger": "<word>.<w2>", "module": "<pyfn>", "line": <n:900>, "message": "<noun> batch <h12> <s:scored|stored|deduplicated|embedded|skipped>", "extra": {"rows": <n:9999>, "model": "<model>", "elapsed_ms": <msl>, "dataset": "<ds>"}}
160 <spms> - <word>.<noun> - <s:INFO|DEBUG|WARNING> - <pyfn>: wrote <n:9999> rows to <file> (<f:90:2> MB/s)
80 [<sp> +0000] [<n:99>] [INFO] Booting worker with pid: <n:9999>
70 <ip> - - [<clf>] "GET <url>?<qs> HTTP/1.1" <status> <bytes> "-" "<ua>"
50 [<spms>: <c:INFO|WARNING>/ForkPoolWorker-<n:64>] Task <word>.tasks.<pyfn>[<uuid>] <c:succeeded in|retry: Retry in> <f:90:9>s: {'<noun>': '<word>', 'rows': <n:9999>}
30 {"timestamp": "<iso6>", "severity": "ERROR", "logger": "<word>", "message": "unhandled", "exc_info": "<pytracej>\nTypeError: unsupported operand type(s) for +: 'NoneType' and 'int'"}
16 <pytrace>⏎requests.exceptions.ReadTimeout: HTTPSConnectionPool(host='<svc>.corp.example', port=443): Read timed out. (read timeout=<n:60>)
9 <file>: 解析失败: 第 <n:999> 行 («<word>») – valeur inattendue: <h8> ✗
4 ␛[94mDEBUG␛[0m:<word>:␛[1m<pyfn>␛[0m <w2>=<f:9:3>
''',
'gpuop': r'''
160 time="<iso0>" level=info msg="Collected <n:900> metrics for GPU-<uuid> in <n:900>ms" collector=dcgm hostname=<host>
90 I<klog>       1 main.go:<n:400>] Starting FS watcher on /var/lib/kubelet/device-plugins
60 I<klog>       1 server.go:<n:300>] Registered device plugin for 'nvidia.com/<s:gpu|mig-1g.18gb>' with Kubelet
50 time="<iso0>" level=warning msg="Failed to collect metrics with error: field <n:1100> DCGM_FI_PROF_<c:PIPE_TENSOR_ACTIVE|DRAM_ACTIVE|GR_ENGINE_ACTIVE> is not supported on GPU <gpu>"
30 {"level":"info","ts":<epochf>,"logger":"controllers.ClusterPolicy","msg":"GPU workload configuration","NodeName":"<node>","GpuWorkloadConfig":"container"}
20 time="<iso0>" level=info msg="Applying the selected MIG config to the node: all-<s:disabled|1g.18gb|balanced>"
9 {"level":"info","ts":<epochf>,"logger":"controllers.ClusterPolicy","msg":"ClusterPolicy isn't ready","states not ready":["state-<word>"],"requeueAfter":"5s"}
''',
'misc': r'''
120 [<slash>] [ info] [output:es:es.<n:4>] worker #<n:4> started, <n:900> chunks in <h12>
100 [<sp>] [<word>/<n:9>] <c:checkpoint|barrier|watermark> <seq> complete, <bytes> bytes, <msi> ms; lag <word>=<n:9999>
90 <iso>  <c:INFO|DEBUG> [org.keycloak.<word>] (executor-thread-<n:99>) type=<c:LOGIN|CODE_TO_TOKEN|REFRESH_TOKEN>, realmId=<uuid>, clientId=<svc>, userId=<uuid>, ipAddress=172.23.8.<n:254>, auth_method=openid-connect
80 <iso> [core/controllers/<word>/<noun>.go:<n:900>]: proxied /v2/<word>/<w2>/blobs/sha256:<h64>?<qs> for robot$<user>
70 level=info ts=<iso> component=replication policy=<n:90> msg="artifact <word>/<w2>@sha256:<h64> is <c:present|copied>"
60 [I <sp> JupyterHub log:<n:200>] <status> <c:GET|POST> /hub/api/users/<user>/activity (<user>@<ip>) <f:90:2>ms
50 [W <sp> SingleUserLabApp <word>:<n:900>] Kernel <uuid> has <n:9> connections, idle for <n:9999>s
40 API: PutObject(bucket=<word>, object=<file>)⏎Time: <hms> UTC <day>⏎DeploymentID: <uuid>⏎RequestID: <x:16>⏎RemoteHost: <ip>⏎Host: minio.minio.svc:9000⏎UserAgent: <ua>⏎Error: Storage resources are insufficient for the write operation <word>/<w2> (cmd.InsufficientWriteQuorum)⏎       4: internal/logger/logger.go:<n:300>:logger.LogIf()⏎       3: cmd/erasure-<word>.go:<n:900>:cmd.erasureObjects.<meth>()
30 <sp> [ 140<n:99>] {<h8>-<h4>-<h4>} <c:Debug|Trace|Information> executeQuery: (from [::ffff:<ip>]:<port>, user: <user>) SELECT <word>, count() FROM <noun>.<w2> WHERE d >= '<day>' GROUP BY <word> FORMAT Native (stage: Complete)
24 <iso> [INFO]  expiration: revoked lease: lease_id=auth/kubernetes/login/h<h64>
20 [<pid>] <slash> <hms>.<us> [INF] JETSTREAM cluster: new stream leader for '$G > <word>' is <pod>
16 <spms> INFO SparkContext: Starting job: <meth> at <cls>.scala:<n:900>
14 <spms> WARN TaskSetManager: Lost task <n:900>.<n:4> in stage <n:90>.0 (TID <n:99999>) (<ip> executor <n:40>): FetchFailed(BlockManagerId(<n:40>, <ip>, <port>, None), shuffleId=<n:40>, mapIndex=<n:900>, mapId=<n:99999>, reduceId=<n:900>, message=⏎org.apache.spark.shuffle.FetchFailedException<jtrace>⏎)
10 sync done: <ds> → <dir> (<n:9999> files, <f:900:1> GiB) ✓
8 <latin1> <word> <n:99>
6 level=warn msg="quota of <user> nearly reached" used=<n:80:99>% path=<dir>
5 -----BEGIN <word>-----⏎<h64>⏎<h64>⏎<h32>⏎-----END <word>-----
4 <word>[<n:99>]: usage: <word> [-<c:a|b|c>] [--<w2>=<noun>] file...
''',
}
LOGW = {'torch': 20, 'envoy': 15, 'spring': 12, 'nginx': 8, 'vllm': 6, 'triton': 5, 'ray': 5, 'kafka': 4, 'kube': 4, 'csi': 2, 'calico': 3, 'argo': 3, 'prom': 3, 'pyjson': 4, 'node': 4, 'zap': 3, 'ceph': 3, 'etcd': 2, 'istiod': 1, 'rook': 1, 'coredns': 1.5, 'postgres': 2, 'redis': .5, 'elastic': 1.5, 'gpuop': 1, 'misc': 2}

# ------------------------------------------------------------------ templates of events: "type|reason|kind|component|message"
EVENTS = r'''
300 Normal|Pulled|Pod|kubelet|Container image "<img>" already present on machine
260 Normal|Created|Pod|kubelet|Created container <ctr>
260 Normal|Started|Pod|kubelet|Started container <ctr>
240 Normal|Scheduled|Pod|default-scheduler|Successfully assigned <ns>/<pod> to <node>
200 Warning|BackOff|Pod|kubelet|Back-off restarting failed container <ctr> in pod <pod>_<ns>(<uid>)
190 Warning|Unhealthy|Pod|kubelet|<c:Readiness|Liveness|Startup> probe failed: HTTP probe failed with statuscode: <c:500|503|404>
150 Normal|Killing|Pod|kubelet|Stopping container <ctr>
140 Normal|SuccessfulCreate|ReplicaSet|replicaset-controller|Created pod: <pod>
110 Normal|Pulling|Pod|kubelet|Pulling image "<img>"
100 Normal|Completed|Job|job-controller|Job completed
90 Normal|SawCompletedJob|CronJob|cronjob-controller|Saw completed job: <noun>-<n:28600000>, status: Complete
80 Normal|AddedInterface|Pod|multus|Add eth0 [<ip>/32] from k8s-pod-network
70 Normal|ScalingReplicaSet|Deployment|deployment-controller|Scaled up replica set <app>-<h8> to <n:9> from <n:9>
60 Warning|Unhealthy|Pod|kubelet|Readiness probe errored: rpc error: code = NotFound desc = failed to exec in container: failed to load task: no running task found: task <cid> not found: not found
50 Normal|WorkflowNodeSucceeded|Workflow|workflow-controller|Succeeded node <word>-<noun>-<x:5>.<w2>
44 Normal|WorkflowRunning|Workflow|workflow-controller|Workflow Running
40 Normal|SuccessfulRescale|HorizontalPodAutoscaler|horizontal-pod-autoscaler|New size: <n:20>; reason: cpu resource utilization (percentage of request) above target
36 Warning|FailedGetResourceMetric|HorizontalPodAutoscaler|horizontal-pod-autoscaler|failed to get cpu utilization: did not receive metrics for targeted pods (pods might be unready)
30 Normal|Sync|Ingress|nginx-ingress-controller|Scheduled for sync
28 Normal|ExternalProvisioning|PersistentVolumeClaim|persistentvolume-controller|Waiting for a volume to be created either by the external provisioner 'rook-ceph.rbd.csi.ceph.com' or manually by the system administrator. If volume creation is delayed, please verify that the provisioner is running and correctly registered.
26 Normal|ProvisioningSucceeded|PersistentVolumeClaim|rook-ceph.rbd.csi.ceph.com_csi-rbdplugin-provisioner|Successfully provisioned volume pvc-<uuid>
24 Normal|SuccessfulAttachVolume|Pod|attachdetach-controller|AttachVolume.Attach succeeded for volume "pvc-<uuid>"
20 Normal|Issuing|Certificate|cert-manager-certificates-issuing|The certificate has been successfully issued
18 Normal|LeaderElection|Lease|<svc>|<pod>_<uuid> became leader
16 Normal|OperationCompleted|Application|argocd-application-controller|Sync operation to <h40> succeeded
16 Normal|ResourceUpdated|Application|argocd-application-controller|Updated health status: <c:Healthy|Progressing> -> <c:Degraded|Healthy>
14 Normal|NodeAllocatableEnforced|Node|kubelet|Updated Node Allocatable limit across pods
14 Normal|NodeHasSufficientMemory|Node|kubelet|Node <node> status is now: NodeHasSufficientMemory
12 Warning|InvalidDiskCapacity|Node|kubelet|invalid capacity 0 on image filesystem
12 Normal|Evicted|Workload|kueue-admission|Preempted to accommodate a workload (UID: <uuid>) due to prioritization in the ClusterQueue
10 Normal|QuotaReserved|Workload|kueue-admission|Quota reserved in ClusterQueue <word>, wait time since queued was <n:9999>s
9 Warning|PolicyViolation|Pod|kyverno-scan|policy <word>/<w2> fail: validation error: label '<noun>' is required. rule <w2> failed at path /metadata/labels/<noun>/
8 Normal|TaintManagerEviction|Pod|taint-eviction-controller|Cancelling deletion of Pod <ns>/<pod>
8 Warning|ProvisioningFailed|PersistentVolumeClaim|persistentvolume-controller|storageclass.storage.k8s.io "<word>" not found
7 Normal|RayClusterReconciled|RayCluster|raycluster-controller|Created worker Pod <pod>
6 Warning|RecreatingFailedPod|StatefulSet|statefulset-controller|StatefulSet <ns>/<app> is recreating failed Pod <pod>
5 Warning|VolumeResizeFailed|PersistentVolumeClaim|external-resizer rook-ceph.rbd.csi.ceph.com|resize volume pvc-<uuid> failed: rpc error: code = Aborted desc = an operation with the given Volume ID <h16> already exists
4 Normal|Rebooted|Node|kubelet|Node <node> has been rebooted, boot id: <uuid>
3 Warning|ClusterUnhealthy|CephCluster|rook-ceph-cluster-controller|cluster <word> is in HEALTH_WARN: <n:9> pgs not deep-scrubbed in time
'''
# ------------------------------------------------------------------ needles: "COUNT KIND SOURCE PRIORITY TEXT"
NEEDLES = r'''
5 xid-79 kernel 3 NVRM: Xid (PCI:<pci>): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.
4 xid-48 kernel 3 NVRM: Xid (PCI:<pci>): 48, pid=<pid>, name=<comm>, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at physical address 0x<x:9>.
4 xid-94-95 kernel 3 NVRM: Xid (PCI:<pci>): <c:94, pid=4127, Contained|95, pid=9932, Uncontained>: SM (0x1). RST: No, D-RST: No
4 xid-63-64 kernel 3 NVRM: Xid (PCI:<pci>): <c:63|64>, pid=<pid>, Row Remapper: New row (0x<x:8>) marked for remapping, reset gpu to activate.
6 xid-31 kernel 3 NVRM: Xid (PCI:<pci>): 31, pid=<pid>, name=<comm>, Ch <x:8>, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC<n:8> GPCCLIENT_T1_<n:9> faulted @ 0x7f<x:2>_<x:8>. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ
5 xid-13 kernel 3 NVRM: Xid (PCI:<pci>): 13, pid=<pid>, name=<comm>, Graphics SM Warp Exception on (GPC <n:8>, TPC <n:8>, SM <n:2>): Out Of Range Address
4 xid-119 kernel 3 NVRM: Xid (PCI:<pci>): 119, pid=<pid>, name=<comm>, Timeout after 6s of waiting for RPC response from GPU<gpu> GSP! Expected function 76 (GSP_RM_CONTROL) (0x<x:8> 0x<x:2>).
4 xid-74 kernel 3 NVRM: Xid (PCI:<pci>): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link <n:18>(0x<x:5>, 0x0, 0x0, 0x0, 0x0, 0x0, 0x0)
3 sxid kernel 3 nvidia-nvswitch<n:4>: SXid (PCI:0000:<x:2>:00.0): 20034, Fatal, Link <n:64> LTSSM Fault Up
8 kernel-oom kernel 3 <comm> invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=<n:1000>⏎memory: usage <n:67108864>kB, limit 67108864kB, failcnt <n:99999>⏎oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=cri-containerd-<cid>.scope,mems_allowed=0-1,oom_memcg=/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid_>.slice,task_memcg=/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod<uid_>.slice/cri-containerd-<cid>.scope,task=<comm>,pid=<pid>,uid=1000⏎Memory cgroup out of memory: Killed process <pid> (<comm>) total-vm:<n:99999999>kB, anon-rss:<n:67108864>kB, file-rss:<n:99999>kB, shmem-rss:0kB, UID:1000 pgtables:<n:99999>kB oom_score_adj:<n:1000>
3 hung-task kernel 3 INFO: task <comm>:<pid> blocked for more than 120 seconds.⏎      Tainted: P           OE      6.5.0-35-generic #35~22.04.1-Ubuntu⏎"echo 0 > /proc/sys/kernel/hung_task_timeout_secs" disables this message.
3 soft-lockup kernel 0 watchdog: BUG: soft lockup - CPU#<n:192> stuck for <n:22:90>s! [<comm>:<pid>]
4 nvme-io kernel 3 blk_update_request: critical medium error, dev nvme<n:8>n1, sector <n:9999999999> op 0x0:(READ) flags 0x80700 phys_seg <n:9> prio class 2
3 ext4-error kernel 2 EXT4-fs error (device nvme<n:8>n1p2): ext4_find_entry:<n:2000>: inode #<n:9999999>: comm <comm>: reading directory lblock 0
3 mce kernel 0 mce: [Hardware Error]: CPU <n:192>: Machine Check: 0 Bank <n:20>: be00000000800400
4 pcie-aer kernel 3 pcieport 0000:<x:2>:01.0: AER: Uncorrected (Fatal) error received: <pci>.0
4 mlx5-health kernel 3 mlx5_core <pci>.0: poll_health:<n:900>:(pid 0): device's health compromised - reached miss count
4 ib-link-down kernel 3 mlx5_core <pci>.0 ibp<n:24:220>s0: Link down
2 conntrack-full kernel 4 nf_conntrack: nf_conntrack: table full, dropping packet
2 ro-remount kernel 2 EXT4-fs (nvme<n:8>n1p2): Remounting filesystem read-only
2 rm-init kernel 3 NVRM: GPU <pci>.0: RmInitAdapter failed! (0x62:0x65:1860)
6 image-pull kubelet 6 E<klog>  <kpid> kuberuntime_image.go:53] "Failed to pull image" err="rpc error: code = Unknown desc = failed to pull and unpack image \"<img>\": failed to resolve reference \"<img>\": failed to do request: Head \"https://registry.corp.example/v2/<word>/manifests/latest\": tls: failed to verify certificate: x509: certificate signed by unknown authority" image="<img>"
5 image-pull-auth kubelet 6 E<klog>  <kpid> remote_image.go:167] "PullImage from image service failed" err="rpc error: code = Unknown desc = failed to pull and unpack image \"<img>\": failed to authorize: failed to fetch oauth token: unexpected status from GET request to https://registry.corp.example/service/token: 401 Unauthorized" image="<img>"
4 image-toomany kubelet 6 E<klog>  <kpid> remote_image.go:167] "PullImage from image service failed" err="rpc error: code = Unknown desc = reading manifest latest in docker.io/<word>/<noun>: toomanyrequests: You have reached your pull rate limit." image="docker.io/<word>/<noun>:latest"
6 disk-pressure kubelet 6 W<klog>  <kpid> eviction_manager.go:<n:300:400>] "Eviction manager: attempting to reclaim" resourceName="ephemeral-storage"⏎I<klog>  <kpid> eviction_manager.go:<n:300:400>] "Eviction manager: must evict pod(s) to reclaim" resourceName="ephemeral-storage"
5 cni-failure kubelet 6 E<klog>  <kpid> pod_workers.go:1294] "Error syncing pod, skipping" err="failed to \"CreatePodSandbox\" for \"<pod>_<ns>(<uid>)\" with CreatePodSandboxError: \"Failed to create sandbox for pod \\\"<pod>_<ns>(<uid>)\\\": rpc error: code = Unknown desc = failed to setup network for sandbox \\\"<sid>\\\": plugin type=\\\"calico\\\" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized\"" pod="<ns>/<pod>" podUID="<uid>"
3 cni-not-ready kubelet 6 E<klog>  <kpid> kubelet.go:2855] "Container runtime network not ready" networkReady="NetworkReady=false reason:NetworkPluginNotReady message:Network plugin returns error: cni plugin not initialized"
3 ipam-exhausted kubelet 6 E<klog>  <kpid> kuberuntime_sandbox.go:<n:45:90>] "Failed to create sandbox for pod" err="rpc error: code = Unknown desc = failed to setup network for sandbox \"<sid>\": plugin type=\"calico\" failed (add): failed to request IPv4 addresses: no configured Calico pools or all IPs are exhausted" pod="<ns>/<pod>"
3 pleg kubelet 6 E<klog>  <kpid> kubelet.go:2327] "Skipping pod synchronization" err="PLEG is not healthy: pleg was last seen active <n:3:9>m<f:60:3>s ago; threshold is 3m0s"
3 kubelet-cert kubelet 6 E<klog>  <kpid> kubelet_node_status.go:540] "Error updating node status, will retry" err="error getting node \"<node>\": Get \"https://172.23.40.10:6443/api/v1/nodes/<node>?resourceVersion=0&timeout=10s\": tls: failed to verify certificate: x509: certificate has expired or is not yet valid: current time <iso0> is after 2024-05-28T23:59:59Z"
4 gpu-admission kubelet 6 E<klog>  <kpid> kubelet.go:<n:2000:2400>] "Pod admission denied" podUID="<uid>" pod="<ns>/<pod>" reason="UnexpectedAdmissionError" message="Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected"
4 mount-timeout kubelet 6 E<klog>  <kpid> kubelet.go:1890] "Unable to attach or mount volumes for pod; skipping pod" err="unmounted volumes=[<word>], unattached volumes=[], failed to process volumes=[]: timed out waiting for the condition" pod="<ns>/<pod>"
5 nvidia-runtime rt 6 time="<iso9>" level=error msg="RunPodSandbox for &PodSandboxMetadata{Name:<pod>,Uid:<uid>,Namespace:<ns>,Attempt:0,} failed, error" error="rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for \"nvidia\" is configured"
5 nvidia-cli rt 6 time="<iso9>" level=error msg="StartContainer for \"<cid>\" failed" error="failed to create containerd task: failed to create shim task: OCI runtime create failed: runc create failed: unable to start container process: error during container init: error running hook #0: error running hook: exit status 1, stdout: , stderr: Auto-detected mode as 'legacy'\nnvidia-container-cli: initialization error: driver/library version mismatch: unknown"
4 no-space rt 3 time="<iso9>" level=error msg="failed to write layer" error="write /var/lib/containers/storage/overlay/<h64>/diff/<word>: no space left on device"
3 cdi-missing rt 6 time="<iso9>" level=error msg="CreateContainer within sandbox \"<sid>\" for &ContainerMetadata{Name:<ctr>,Attempt:0,} failed" error="rpc error: code = Unknown desc = failed to create containerd container: CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=<gpu>"
3 unit-oom init 4 <word>-agent.service: A process of this unit has been killed by the OOM killer.
3 unit-failed init 3 <c:containerd|crio|nvidia-persistenced|nvidia-fabricmanager>.service: Failed with result 'core-dump'.
3 fabricmanager fm 3 [<sp>] [ERROR] [tid <pid>] failed to configure all the available GPUs or NVSwitches, NVLink training failed for GPU <gpu>, fabric state is not usable
3 clock chrony 4 System clock wrong by <n:40:900>.<n:999999> seconds, adjustment started
3 smart node-agents 2 smartd|Device: /dev/nvme<n:9>n1, Critical Warning (0x04): device reliability has been degraded, NVM subsystem media errors <n:9999>
9 nccl-timeout log:torch 3 [rank<n:64>]:[E ProcessGroupNCCL.cpp:563] [Rank <n:64>] Watchdog caught collective operation timeout: WorkNCCL(SeqNum=<n:999999>, OpType=ALLREDUCE, NumelIn=<n:99999999>, NumelOut=<n:99999999>, Timeout(ms)=600000) ran for 600<n:999> milliseconds before timing out.
6 nccl-ib log:torch 3 <host>:<pid>:<pid> [<gpu>] transport/net_ib.cc:1295 NCCL WARN NET/IB : Got completion from peer <onip> with status=12 opcode=<n:200> len=<n:9999> vendor err 129 (Recv) localGid ::ffff:<onip>
5 nccl-sys log:torch 3 torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:<n:2000>, unhandled system error (run with NCCL_DEBUG=INFO for details), NCCL version 2.20.5
9 cuda-oom log:torch,ray,vllm 3 torch.cuda.OutOfMemoryError: CUDA out of memory. Tried to allocate <f:40:2> GiB. GPU <gpu> has a total capacity of 139.81 GiB of which <f:900:2> MiB is free. Process <pid> has <f:139:2> GiB memory in use.
5 cuda-ecc log:torch,vllm,triton 3 RuntimeError: CUDA error: uncorrectable ECC error encountered⏎CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.
4 cuda-driver log:torch,pyjson 3 RuntimeError: The NVIDIA driver on your system is too old (found version 11040). Please update your GPU driver by downloading and installing a new version
3 cuda-nodevice log:torch,vllm,pyjson 3 RuntimeError: No CUDA GPUs are available
4 shm log:torch 3 RuntimeError: DataLoader worker (pid <pid>) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.
3 no-kernel-image log:torch,vllm 3 RuntimeError: CUDA error: no kernel image is available for execution on the device
5 triton-load log:triton 3 E<klog> 1 model_lifecycle.cc:638] failed to load '<model>' version <n:9>: Internal: unable to load TensorRT engine: the engine plan file is not compatible with this version of TensorRT, expecting library version 8.6.3 got 8.5.1
4 glibc log:pyjson,triton,misc 3 /usr/bin/nvidia-smi: /lib/x86_64-linux-gnu/libc.so.6: version `GLIBC_2.34' not found (required by /usr/lib/x86_64-linux-gnu/libnvidia-ml.so.1)
8 dns-failure log:spring,pyjson,node,kafka 3 <c:java.net.UnknownHostException|socket.gaierror: [Errno -3]|Error: getaddrinfo EAI_AGAIN>: Temporary failure in name resolution <svc>.shop-prod.svc.cluster.local
6 dns-upstream log:coredns 3 [ERROR] plugin/errors: 2 <svc>.corp.example. A: read udp <ip>:<port>->172.23.0.<n:1:9>:53: i/o timeout
3 dns-loop log:coredns 3 [FATAL] plugin/loop: Loop (127.0.0.1:<port> -> :53) detected for zone ".", see https://coredns.io/plugins/loop#troubleshooting. Query: "HINFO <n:999999999999>.<n:999999999999>."
6 java-oom log:spring,kafka,elastic 3 java.lang.OutOfMemoryError: Java heap space⏎⇥at java.base/java.util.Arrays.copyOf(Arrays.java:3537)⏎Terminating due to java.lang.OutOfMemoryError: Java heap space
4 kafka-disk log:kafka 3 [<spms>] ERROR Error while appending records to <noun>-<n:48> in dir /var/lib/kafka/data/kafka-log<n:5> (org.apache.kafka.storage.internals.log.LogDirFailureChannel)⏎java.io.IOException: No space left on device
5 ceph-health log:ceph 3 debug <iso6> <x:12>  0 log_channel(cluster) log [WRN] : Health check failed: 1 osds down (OSD_DOWN) osd.<n:36> on <host>
4 ceph-slow log:ceph 3 debug <iso6> <x:12>  0 log_channel(cluster) log [WRN] : Health check update: <n:90> slow ops, oldest one blocked for <n:30:900> sec, daemons [osd.<n:36>,osd.<n:36>] have slow ops. (SLOW_OPS)
3 ceph-full log:ceph 3 debug <iso6> <x:12> -1 log_channel(cluster) log [ERR] : Health check failed: <n:1:4> full osd(s) (OSD_FULL)
4 etcd-space log:etcd 3 {"level":"warn","ts":"<iso6>","caller":"v3rpc/interceptor.go:197","msg":"request stats","error":"etcdserver: mvcc: database space exceeded"}
4 etcd-fsync log:etcd 3 {"level":"warn","ts":"<iso6>","caller":"wal/wal.go:805","msg":"slow fdatasync","took":"<n:1:9>.<n:999999999>s","expected-duration":"1s"}
3 etcd-leader log:etcd 3 {"level":"warn","ts":"<iso6>","caller":"etcdserver/raft.go:416","msg":"leader failed to send out heartbeat on time; took too long, leader is overloaded likely from slow disk","to":"<h16>","heartbeat-interval":"100ms","expected-duration":"200ms","exceeded-duration":"<f:900:6>ms"}
4 webhook log:kube 3 W<klog>       1 dispatcher.go:217] Failed calling webhook, failing closed <word>.corp.example: failed calling webhook "<word>.corp.example": failed to call webhook: Post "https://<svc>.<rns>.svc:443/mutate?timeout=10s": x509: certificate has expired or is not yet valid
4 istio-mtls log:envoy 3 [<iso>] "GET <url> HTTP/1.1" 503 UF,URX upstream_reset_before_response_started{remote_connection_failure,TLS_error:|268435581:SSL_routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED:TLS_error_end} - "TLS_error:|268435581:SSL routines:OPENSSL_internal:CERTIFICATE_VERIFY_FAILED:TLS_error_end" 0 167 9 - "-" "<ua>" "<uuid>" "<svc>:8080" "<ip>:8080" outbound|8080||<svc>.shop-prod.svc.cluster.local - <ip>:8080 <ip>:<port> - -
4 pg-disk log:postgres 3 <spdot> UTC [<pid>] PANIC:  could not write to file "pg_wal/xlogtemp.<n:9999>": No space left on device
4 calico-bgp log:calico 3 <sp6> [WARNING][<n:99>] felix/health.go <n:300>: Readiness: calico/node is not ready: BIRD is not ready: BGP not established with <onip>
4 device-plugin log:gpuop 3 E<klog>       1 nvml.go:<n:300>] XidCriticalError: Xid=79 on Device=GPU-<uuid>; marking device as unhealthy.
3 nvml-mismatch log:gpuop 3 E<klog>       1 factory.go:<n:200>] Failed to initialize NVML: Driver/library version mismatch.
3 dcgm log:gpuop 3 time="<iso0>" level=fatal msg="Error watching fields: Error with nvidia-hostengine connection: The connection to the host engine is not valid any longer"
4 ray-oom log:ray 3 [<spms> E <pid> <pid>] (raylet) node_manager.cc:<n:3000>: 1 Workers (tasks / actors) killed due to memory pressure (OOM), 0 Workers crashed due to other reasons at node (ID: <h32><h16>, IP: <onip>) over the last time period.
7 ev-image event - Warning|Failed|Pod|kubelet|Failed to pull image "<img>": rpc error: code = NotFound desc = failed to pull and unpack image "<img>": failed to resolve reference "<img>": <img>: not found
8 ev-sched-gpu event - Warning|FailedScheduling|Pod|default-scheduler|0/6 nodes are available: 2 node(s) had untolerated taint {corp.example/drain: gpu-fault}, 4 Insufficient nvidia.com/gpu. preemption: 0/6 nodes are available: 6 Preemption is not helpful for scheduling..
7 ev-sandbox event - Warning|FailedCreatePodSandBox|Pod|kubelet|Failed to create pod sandbox: rpc error: code = Unknown desc = failed to setup network for sandbox "<sid>": plugin type="calico" failed (add): error getting ClusterInformation: connection is unauthorized: Unauthorized
6 ev-runtime event - Warning|FailedCreatePodSandBox|Pod|kubelet|Failed to create pod sandbox: rpc error: code = Unknown desc = failed to get sandbox runtime: no runtime for "nvidia" is configured
6 ev-evicted event - Warning|Evicted|Pod|kubelet|The node was low on resource: ephemeral-storage. Threshold quantity: <n:99999999999>, available: <n:9999999>Ki. Container <ctr> was using <n:99999999>Ki, request is 0, has larger consumption of ephemeral-storage.
4 ev-diskpressure event - Warning|NodeHasDiskPressure|Node|kubelet|Node <node> status is now: NodeHasDiskPressure
4 ev-notready event - Normal|NodeNotReady|Node|node-controller|Node <node> status is now: NodeNotReady
4 ev-systemoom event - Warning|SystemOOM|Node|kubelet|System OOM encountered, victim process: <comm>, pid: <pid>
6 ev-mount event - Warning|FailedMount|Pod|kubelet|MountVolume.SetUp failed for volume "<word>" : secret "<word>-<noun>" not found
5 ev-attach event - Warning|FailedAttachVolume|Pod|attachdetach-controller|Multi-Attach error for volume "pvc-<uuid>" Volume is already exclusively attached to one node and can't be attached to another
4 ev-dns event - Warning|DNSConfigForming|Pod|kubelet|Nameserver limits were exceeded, some nameservers have been omitted, the applied nameserver line is: 172.23.0.1 172.23.0.2 172.23.0.3
4 ev-admission event - Warning|UnexpectedAdmissionError|Pod|kubelet|Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected
3 ev-quota event - Warning|FailedCreate|ReplicaSet|replicaset-controller|Error creating: pods "<app>-<sfx>" is forbidden: exceeded quota: <word>, requested: requests.nvidia.com/gpu=8, used: requests.nvidia.com/gpu=16, limited: requests.nvidia.com/gpu=16
3 ev-webhook event - Warning|FailedCreate|Job|job-controller|Error creating: Internal error occurred: failed calling webhook "<word>.corp.example": failed to call webhook: Post "https://<svc>.<rns>.svc:443/mutate?timeout=10s": no endpoints available for service "<svc>"
9 pod-oomkilled pod - oom
7 pod-imagepull pod - imagepull
4 pod-configerror pod - config
5 pod-evicted pod - evicted
4 pod-admission pod - admission
5 pod-cuda-crash pod - cuda
6 pod-unschedulable pod - pending
3 pod-init-crash pod - init
3 pod-runtime pod - runtime
'''
def read_needles():
    out = []
    for l in NEEDLES.strip().split('\n'):
        m = re.match(r'(\d+) (\S+) (\S+) (\S) (.*)$', l)
        if not m: raise SystemExit('bad needle: ' + l)
        c, k, s, p, tx = m.groups()
        out.append((int(c), k, s, int(p) if p != '-' else 6, eval(compile_t(tx), globals()), bool(re.search('[\u241b\u240d]|<latin1>', tx))))
    return out
ND = read_needles()

# ------------------------------------------------------------------ the world: pods and their containers
class Ctr:
    __slots__ = 'pod ns uid uid_ cid sid ctr img app ip node att style step s0 seq own gpu side rs'.split()
    def nstep(s): s.step += ri(3) + (rnd() < .5); return s.step
    def nseq(s): s.seq += 1 + ri(9); return s.seq
    def loss(s): return 1.2 + 9 / (1 + (s.step - s.s0 + 50) ** .35) + rnd() * rnd() * .3
    def lr(s): return 3e-4 * (0.5 + 0.5 * math.cos(min(s.step / 5e5, 1) * 3.14159))
# app, ns, owner, replicas (0: one a node), containers (name, style), gpus
INFRA = [('calico-node', 'calico-system', 'DaemonSet', 0, [('calico-node', 'calico')], 0), ('calico-typha', 'calico-system', 'Deployment', 3, [('calico-typha', 'calico')], 0), ('multus', 'kube-system', 'DaemonSet', 0, [('kube-multus', 'zap')], 0),
 ('kube-apiserver', 'kube-system', 'Node', 3, [('kube-apiserver', 'kube')], 0), ('kube-scheduler', 'kube-system', 'Node', 3, [('kube-scheduler', 'kube')], 0), ('kube-controller-manager', 'kube-system', 'Node', 3, [('kube-controller-manager', 'kube')], 0), ('etcd', 'kube-system', 'Node', 3, [('etcd', 'etcd')], 0), ('coredns', 'kube-system', 'Deployment', 4, [('coredns', 'coredns')], 0), ('kube-proxy', 'kube-system', 'DaemonSet', 0, [('kube-proxy', 'csi')], 0),
 ('rook-ceph-operator', 'rook-ceph', 'Deployment', 1, [('rook-ceph-operator', 'rook')], 0), ('rook-ceph-mon', 'rook-ceph', 'Deployment', 3, [('mon', 'ceph'), ('log-collector', 'misc')], 0), ('rook-ceph-mgr', 'rook-ceph', 'Deployment', 2, [('mgr', 'ceph'), ('watch-active', 'zap')], 0), ('rook-ceph-osd', 'rook-ceph', 'Deployment', 24, [('osd', 'ceph')], 0), ('csi-rbdplugin', 'rook-ceph', 'DaemonSet', 0, [('driver-registrar', 'csi'), ('csi-rbdplugin', 'csi'), ('liveness-prometheus', 'csi')], 0), ('csi-cephfsplugin', 'rook-ceph', 'DaemonSet', 0, [('driver-registrar', 'csi'), ('csi-cephfsplugin', 'csi')], 0),
 ('istiod', 'istio-system', 'Deployment', 3, [('discovery', 'istiod')], 0), ('istio-ingressgateway', 'istio-system', 'Deployment', 4, [('istio-proxy', 'envoy')], 0), ('workflow-controller', 'argo', 'Deployment', 2, [('workflow-controller', 'argo')], 0), ('argo-server', 'argo', 'Deployment', 2, [('argo-server', 'argo')], 0), ('argocd-application-controller', 'argocd', 'StatefulSet', 2, [('application-controller', 'argo')], 0), ('argocd-repo-server', 'argocd', 'Deployment', 3, [('repo-server', 'argo')], 0),
 ('ray-head', 'ray-prod', 'RayCluster', 2, [('ray-head', 'ray'), ('autoscaler', 'ray')], 0), ('ray-worker', 'ray-prod', 'RayCluster', 14, [('ray-worker', 'ray')], 2), ('ray-worker', 'ray-research', 'RayCluster', 10, [('ray-worker', 'ray')], 1), ('triton-server', 'triton', 'Deployment', 14, [('triton', 'triton'), ('istio-proxy', 'envoy')], 1), ('vllm', 'llm-serving', 'Deployment', 18, [('vllm-openai', 'vllm'), ('istio-proxy', 'envoy')], 2),
 ('kafka', 'kafka', 'StatefulSet', 5, [('kafka', 'kafka')], 0), ('kafka-mirror', 'kafka', 'StatefulSet', 3, [('kafka', 'kafka')], 0), ('entity-operator', 'kafka', 'Deployment', 1, [('topic-operator', 'kafka'), ('user-operator', 'kafka')], 0), ('strimzi-cluster-operator', 'kafka', 'Deployment', 1, [('strimzi-cluster-operator', 'kafka')], 0), ('cruise-control', 'kafka', 'Deployment', 2, [('cruise-control', 'kafka')], 0),
 ('nvidia-device-plugin-daemonset', 'gpu-operator', 'DaemonSet', 0, [('nvidia-device-plugin', 'gpuop')], 0), ('nvidia-dcgm-exporter', 'gpu-operator', 'DaemonSet', 0, [('nvidia-dcgm-exporter', 'gpuop')], 0), ('gpu-operator', 'gpu-operator', 'Deployment', 1, [('gpu-operator', 'gpuop')], 0), ('nvidia-mig-manager', 'gpu-operator', 'DaemonSet', 0, [('nvidia-mig-manager', 'gpuop')], 0), ('nfd-worker', 'gpu-operator', 'DaemonSet', 0, [('worker', 'zap')], 0), ('mofed-ubuntu22.04', 'network-operator', 'DaemonSet', 0, [('mofed-container', 'misc')], 0),
 ('prometheus-k8s', 'observability', 'StatefulSet', 2, [('prometheus', 'prom'), ('config-reloader', 'prom'), ('thanos-sidecar', 'prom')], 0), ('grafana', 'observability', 'Deployment', 2, [('grafana', 'prom')], 0), ('alertmanager-main', 'observability', 'StatefulSet', 3, [('alertmanager', 'prom')], 0), ('node-exporter', 'observability', 'DaemonSet', 0, [('node-exporter', 'prom'), ('kube-rbac-proxy', 'csi')], 0), ('loki-ingester', 'logging', 'StatefulSet', 6, [('ingester', 'prom')], 0), ('fluent-bit', 'logging', 'DaemonSet', 0, [('fluent-bit', 'misc')], 0), ('es-data', 'logging', 'StatefulSet', 6, [('elasticsearch', 'elastic')], 0),
 ('ingress-nginx-controller', 'ingress', 'DaemonSet', 0, [('controller', 'nginx')], 0), ('ingress-nginx-internal', 'ingress', 'Deployment', 8, [('controller', 'nginx')], 0), ('cert-manager', 'cert-manager', 'Deployment', 3, [('cert-manager-controller', 'zap')], 0), ('vault', 'vault', 'StatefulSet', 3, [('vault', 'misc')], 0), ('harbor-core', 'harbor', 'Deployment', 2, [('core', 'misc')], 0), ('keycloak', 'keycloak', 'StatefulSet', 3, [('keycloak', 'misc')], 0), ('minio', 'minio', 'StatefulSet', 4, [('minio', 'misc')], 0), ('hub', 'jupyterhub', 'Deployment', 1, [('hub', 'misc')], 0), ('jupyter', 'jupyterhub', 'Pod', 40, [('notebook', 'misc')], 1), ('mlflow', 'mlflow', 'Deployment', 2, [('mlflow', 'pyjson')], 0),
 ('pg-cluster', 'databases', 'StatefulSet', 9, [('postgres', 'postgres')], 0), ('redis-node', 'databases', 'StatefulSet', 6, [('redis', 'redis'), ('sentinel', 'redis')], 0), ('clickhouse', 'databases', 'StatefulSet', 4, [('clickhouse', 'misc')], 0), ('spark-exec', 'data-eng', 'Pod', 30, [('spark-kubernetes-executor', 'misc')], 0), ('airflow-worker', 'data-eng', 'StatefulSet', 6, [('worker', 'pyjson')], 0), ('kueue-controller-manager', 'batch', 'Deployment', 2, [('manager', 'zap')], 0),
 ('pretrain', 'train-nlp', 'Job', 24, [('pytorch', 'torch')], 8), ('sft', 'train-nlp', 'Job', 20, [('pytorch', 'torch')], 4), ('detector', 'train-vision', 'Job', 26, [('pytorch', 'torch'), ('tensorboard', 'pyjson')], 2), ('asr', 'train-speech', 'Job', 20, [('pytorch', 'torch')], 4)]
def world():
    global rnd, grb
    R.seed(f'{SEED}-world'); out = []
    apps = list(INFRA)
    for i, a in enumerate(SVC[:125]):
        ns = ['shop-prod', 'shop-prod', 'shop-staging', 'data-eng', 'default'][ri(5)]; st = ['spring', 'spring', 'spring', 'node', 'pyjson', 'zap'][ri(6)]
        apps.append((a, ns, 'Deployment', 1 + ri(7), [(a if rnd() < .5 else a.split('-')[-1], st)] + ([('istio-proxy', 'envoy')] if rnd() < .75 else []), 0))
    for i in range(90): apps.append((f'{pick(WORD)}-{pick(NOUN)}-{grb(20):05x}', ['batch', 'argo', 'data-eng'][ri(3)], 'Workflow', 1 + ri(4), [('main', ['pyjson', 'misc', 'torch'][ri(3)]), ('wait', 'argo')], ri(2)))
    for app, ns, own, n, cs, gpu in apps:
        rs = f'{grb(36):09x}'
        for k in range(n or 6):
            node = NODES[k] if not n else NODES[int(6 * rnd() ** 1.2)] if own != 'Node' else NODES[k]
            s5 = ''.join(R.choices('bcdfghjklmnpqrstvwxz2456789', k=5))
            name = {'Deployment': f'{app}-{rs}-{s5}', 'StatefulSet': f'{app}-{k}', 'DaemonSet': f'{app}-{s5}', 'Node': f'{app}-{node}', 'Job': f'{app}-{WORD[ri(3000)]}-{grb(16):04x}-worker-{k}', 'RayCluster': f'{ns}-cluster-{app}-{s5}', 'Workflow': f'{app}-{NOUN[ri(len(NOUN))]}-{grb(32)}', 'Pod': f'{app}-{pick(USER)}-{grb(20):x}'}[own]
            u = uu(); sid = f'{grb(256):064x}'; ip = NIP[node] if own in ('Node',) or app in ('calico-node', 'node-exporter', 'kube-proxy') else tcp4(); L = []
            for j, (c, st) in enumerate(cs):
                p = Ctr(); p.pod = name; p.ns = ns; p.uid = u; p.uid_ = u.replace('-', '_'); p.cid = f'{grb(256):064x}'; p.sid = sid; p.ctr = c; p.app = app; p.ip = ip; p.node = node; p.att = ri(9); p.style = st; p.step = p.s0 = ri(90000); p.seq = ri(90000); p.own = own; p.gpu = gpu if j == 0 else 0; p.side = j > 0; p.rs = rs
                base = {'torch': 'nvcr.io/nvidia/pytorch:24.04-py3', 'triton': 'nvcr.io/nvidia/tritonserver:24.04-py3', 'vllm': 'docker.io/vllm/vllm-openai:v0.4.2', 'envoy': 'registry.corp.example/istio/proxyv2:1.21.2', 'ray': 'registry.corp.example/ml/ray-ml:2.20.0-gpu', 'ceph': 'quay.io/ceph/ceph:v18.2.2', 'kafka': 'quay.io/strimzi/kafka:0.40.0-kafka-3.7.0', 'calico': 'docker.io/calico/node:v3.27.3', 'etcd': 'registry.k8s.io/etcd:3.5.12-0', 'kube': f'registry.k8s.io/{c}:v1.28.9'}
                p.img = base.get(st) or f'registry.corp.example/{ns}/{c}:{1 + ri(4)}.{ri(40)}.{ri(20)}-{grb(28):07x}'
                L.append(p)
            out.append(L)
    return out
W = world()
def rfc(back=30 * 86400): return tsec(T0 + DAY - 1 - int(back * rnd() ** 2))[0] + 'Z'
def owner(p):
    k = {'Deployment': 'ReplicaSet', 'Node': 'Node'}.get(p.own, p.own)
    if k == 'Pod': return None
    av = {'ReplicaSet': 'apps/v1', 'StatefulSet': 'apps/v1', 'DaemonSet': 'apps/v1', 'Job': 'batch/v1', 'Node': 'v1', 'RayCluster': 'ray.io/v1', 'Workflow': 'argoproj.io/v1alpha1'}[k]
    return [{'apiVersion': av, 'blockOwnerDeletion': True, 'controller': True, 'kind': k, 'name': f'{p.app}-{p.rs}' if k == 'ReplicaSet' else p.node if k == 'Node' else p.app, 'uid': uu()}]
EK = {'LOG_LEVEL': lambda p: pick(('info', 'debug', 'warn')), 'JAVA_TOOL_OPTIONS': lambda p: f'-XX:MaxRAMPercentage={50 + ri(40)} -XX:+UseG1GC -Xlog:gc*:file={pick(FILES)} -D{pick(WORD)}.{pick(WORD)}={grb(24):x}', 'SPRING_PROFILES_ACTIVE': lambda p: f'{p.ns},{pick(WORD)}', 'DATABASE_URL': lambda p: f'postgresql://{pick(WORD)}@pg-cluster-rw.databases:5432/{pick(NOUN)}?{pick(QS)}', 'KAFKA_BOOTSTRAP': lambda p: ','.join(f'kafka-{k}.kafka-brokers.kafka.svc:9093' for k in range(1 + ri(5))), 'OTEL_EXPORTER_OTLP_ENDPOINT': lambda p: f'http://otel-collector.observability.svc:{4317 + ri(2)}', 'OTEL_RESOURCE_ATTRIBUTES': lambda p: f'service.name={p.app},service.version={ri(9)}.{ri(40)},team={pick(USER)},deployment.environment={p.ns}', 'HTTP_PROXY': lambda p: f'http://proxy{ri(4)}.zrh.corp.example:3128', 'NO_PROXY': lambda p: '.svc,.cluster.local,10.0.0.0/8,172.23.0.0/16,' + pick(SVC) + '.corp.example', 'TZ': lambda p: pick(('Europe/Zurich', 'UTC')), 'S3_ENDPOINT': lambda p: 'http://minio.minio.svc:9000', 'S3_BUCKET': lambda p: f'{pick(WORD)}-{pick(NOUN)}', 'REDIS_ADDR': lambda p: f'redis-node-{ri(6)}.databases.svc:6379', 'FEATURE_FLAGS': lambda p: ','.join(f'{pick(WORD)}={pick(("on", "off"))}' for _ in range(1 + ri(12))), 'SENTRY_DSN': lambda p: f'https://{grb(128):032x}@sentry.corp.example/{ri(400)}', 'GOMAXPROCS': lambda p: str(1 + ri(32)), 'PYTHONUNBUFFERED': lambda p: '1', 'HF_HOME': lambda p: pick(DIRS), 'MODEL_NAME': lambda p: pick(MODEL), 'CACHE_DIR': lambda p: pick(DIRS), 'WORKERS': lambda p: str(1 + ri(64)), 'TIMEOUT_MS': lambda p: str(ri(60000)), 'UPSTREAM_URL': lambda p: f'https://{pick(SVC)}.{p.ns}.svc.cluster.local:{ri(9000) + 1000}{pick(URLS)}'}
EG = {'NCCL_DEBUG': lambda p: pick(('INFO', 'WARN')), 'NCCL_IB_HCA': lambda p: 'mlx5_0,mlx5_1,mlx5_4,mlx5_5', 'NCCL_SOCKET_IFNAME': lambda p: 'bond0.140', 'NCCL_IB_GID_INDEX': lambda p: '3', 'CUDA_DEVICE_MAX_CONNECTIONS': lambda p: '1', 'OMP_NUM_THREADS': lambda p: str(1 + ri(16)), 'MASTER_ADDR': lambda p: f'{p.app}-master-0.{p.ns}.svc', 'MASTER_PORT': lambda p: str(23456 + ri(9)), 'WORLD_SIZE': lambda p: str(8 << ri(4)), 'RANK': lambda p: p.pod.rsplit('-', 1)[1], 'TORCH_DISTRIBUTED_DEBUG': lambda p: pick(('OFF', 'DETAIL')), 'PYTORCH_CUDA_ALLOC_CONF': lambda p: 'expandable_segments:True', 'NVIDIA_VISIBLE_DEVICES': lambda p: 'all', 'WANDB_PROJECT': lambda p: pick(WORD)}
EKL = list(EK)
def env(p):
    e = [{'name': 'POD_NAME', 'valueFrom': {'fieldRef': {'apiVersion': 'v1', 'fieldPath': 'metadata.name'}}}, {'name': 'NODE_NAME', 'valueFrom': {'fieldRef': {'apiVersion': 'v1', 'fieldPath': 'spec.nodeName'}}}]
    for k in R.sample(EKL, 4 + ri(14)):
        v = EK[k](p); e.append({'name': k, 'value': v} if rnd() < .85 else {'name': k, 'valueFrom': {'secretKeyRef': {'key': pick(WORD), 'name': f'{p.app}-{pick(WORD)}', 'optional': rnd() < .2}}})
    if p.gpu: e += [{'name': k, 'value': f(p)} for k, f in EG.items()]
    if p.ctr == 'istio-proxy': e += [{'name': k, 'value': v} for k, v in (('PILOT_CERT_PROVIDER', 'istiod'), ('CA_ADDR', 'istiod.istio-system.svc:15012'), ('ISTIO_META_APP_CONTAINERS', p.app), ('ISTIO_META_MESH_ID', 'zrh-mesh'), ('TRUST_DOMAIN', 'cluster.local'), ('PROXY_CONFIG', '{"tracing":{"zipkin":{"address":"jaeger-collector.observability:9411"}},"holdApplicationUntilProxyStarts":true}\n'), ('ISTIO_META_POD_PORTS', '[\n    {"name":"http","containerPort":8080,"protocol":"TCP"}\n    ,{"name":"metrics","containerPort":9090,"protocol":"TCP"}\n]'), ('ISTIO_META_OWNER', f'kubernetes://apis/apps/v1/namespaces/{p.ns}/deployments/{p.app}'))]
    return e
def probe(): return {'failureThreshold': 1 + ri(30), **({'httpGet': {'path': pick(('/healthz', '/ready', '/actuator/health/liveness', '/v2/health/ready', '/-/healthy')), 'port': pick((8080, 'http', 9090, 15021)), 'scheme': 'HTTP'}} if rnd() < .75 else {'exec': {'command': ['/bin/sh', '-ec', f'{pick(WORD)}-check --timeout {ri(30)} || exit 1\n']}}), 'initialDelaySeconds': ri(90), 'periodSeconds': 5 + ri(30), 'successThreshold': 1, 'timeoutSeconds': 1 + ri(9)}
def cobj(p, vols):
    c = {'args': ['--v=2'] + [(f'--{pick(WORD)}={pick(WORD)}', f'--{pick(WORD)}-file={pick(FILES)}', f'--{pick(WORD)}-model={pick(MODEL)}', f'--{pick(NOUN)}-addr={pick(SVC)}.{p.ns}.svc:{ri(9999)}', f'--{pick(NOUN)}-{pick(WORD)}={grb(24):x}')[ri(5)] for _ in range(ri(10))]}
    if rnd() < .3: c['command'] = ['/bin/bash', '-c', f'set -euo pipefail\nsource {pick(FILES)}\nexec torchrun --nnodes={1 + ri(8)} --nproc_per_node={max(1, p.gpu)} --rdzv_id={pick(WORD)} {pick(FILES)} \\\n  --data {pick(DIRS)} --lr {rnd() * 1e-3:.2e}\n']
    c.update({'env': env(p), 'image': p.img, 'imagePullPolicy': pick(('IfNotPresent', 'Always')), 'livenessProbe': probe(), 'name': p.ctr, 'ports': [{'containerPort': 8080, 'name': 'http', 'protocol': 'TCP'}] + [{'containerPort': 1000 + ri(30000), 'name': pick(WORD)[:12], 'protocol': 'TCP'} for _ in range(ri(4))], 'readinessProbe': probe()})
    if rnd() < .3: c['envFrom'] = [{'configMapRef': {'name': f'{p.app}-env'}}]
    if rnd() < .2: c['lifecycle'] = {'preStop': {'exec': {'command': ['/bin/sleep', str(ri(40))]}}}
    g = {'nvidia.com/gpu': str(p.gpu), 'rdma/hca_shared_a': '1'} if p.gpu else {}
    m = pick(('512Mi', '2Gi', '8Gi', '64Gi', '512Gi'))
    c['resources'] = {'limits': {'cpu': str(1 + ri(32)), 'memory': m, **g}, 'requests': {'cpu': f'{50 + ri(2000)}m', 'memory': m, **g}}
    c['securityContext'] = {'allowPrivilegeEscalation': False, 'capabilities': {'drop': ['ALL'], **({'add': ['IPC_LOCK', 'SYS_RESOURCE']} if p.gpu else {})}, 'readOnlyRootFilesystem': rnd() < .5, 'runAsNonRoot': True, 'runAsUser': 1000 + ri(60000), 'seccompProfile': {'type': 'RuntimeDefault'}}
    c['terminationMessagePath'] = '/dev/termination-log'; c['terminationMessagePolicy'] = pick(('File', 'FallbackToLogsOnError'))
    c['volumeMounts'] = [{'mountPath': f'/{pick(WORD)}/{v["name"]}', 'name': v['name'], **({'readOnly': True} if rnd() < .5 else {}), **({'subPath': pick(WORD)} if rnd() < .15 else {})} for v in vols]
    return c
def pod_obj(L, trouble, aged=None):
    p = L[0]; t = rfc(); wf = p.own in ('Job', 'Workflow'); done = not trouble and wf and rnd() < .45
    vols = [{'name': f'kube-api-access-{p.pod[-5:]}', 'projected': {'defaultMode': 420, 'sources': [{'serviceAccountToken': {'expirationSeconds': 3607, 'path': 'token'}}, {'configMap': {'items': [{'key': 'ca.crt', 'path': 'ca.crt'}], 'name': 'kube-root-ca.crt'}}, {'downwardAPI': {'items': [{'fieldRef': {'apiVersion': 'v1', 'fieldPath': 'metadata.namespace'}, 'path': 'namespace'}]}}]}}]
    for _ in range(1 + ri(5)):
        w = f'{pick(WORD)}-{pick(WORD)}'
        vols.append([{'configMap': {'defaultMode': 420, 'items': [{'key': pick(WORD), 'path': f'{pick(WORD)}.yaml'}], 'name': f'{p.app}-{w}'}, 'name': w}, {'name': w, 'secret': {'defaultMode': 256, 'secretName': f'{w}-tls'}}, {'emptyDir': {'medium': 'Memory', 'sizeLimit': f'{ri(64) + 1}Gi'}, 'name': w}, {'name': w, 'persistentVolumeClaim': {'claimName': f'data-{p.pod}'}}, {'hostPath': {'path': pick(DIRS), 'type': 'DirectoryOrCreate'}, 'name': w}, {'name': w, 'nfs': {'path': pick(DIRS), 'server': f'nas0{1 + ri(5)}.zrh.corp.example'}}, {'csi': {'driver': 'secrets-store.csi.k8s.io', 'readOnly': True, 'volumeAttributes': {'secretProviderClass': w}}, 'name': w}, {'ephemeral': {'volumeClaimTemplate': {'metadata': {'creationTimestamp': None}, 'spec': {'accessModes': ['ReadWriteOnce'], 'resources': {'requests': {'storage': f'{ri(900)}Gi'}}, 'storageClassName': 'rook-ceph-block', 'volumeMode': 'Filesystem'}}}, 'name': w}][ri(8)])
    an = {'cni.projectcalico.org/containerID': p.sid, 'cni.projectcalico.org/podIP': p.ip + '/32', 'cni.projectcalico.org/podIPs': p.ip + '/32'}
    if rnd() < .6: an['k8s.v1.cni.cncf.io/network-status'] = json.dumps([{'name': 'k8s-pod-network', 'ips': [p.ip], 'default': True, 'dns': {}}] + ([{'name': f'{p.ns}/ib-{ri(8)}', 'interface': f'net{j}', 'mac': mac(), 'dns': {}} for j in range(1, 1 + p.gpu)] if p.gpu else []), indent=4)
    if rnd() < .5: an['checksum/' + pick(('config', 'secret', WORD[3]))] = f'{grb(256):064x}'
    if rnd() < .4: an['kubectl.kubernetes.io/restartedAt'] = rfc()
    if rnd() < .3: an['prometheus.io/scrape'] = 'true'; an['prometheus.io/port'] = str(ri(9999)); an['prometheus.io/path'] = '/metrics'
    if rnd() < .2: an[f'{pick(WORD)}.corp.example/notes'] = ' '.join(R.choices(WORD, k=8 + ri(50))).capitalize() + '.'
    if len(L) > 1 and L[-1].ctr == 'istio-proxy': an['sidecar.istio.io/status'] = '{"initContainers":["istio-init"],"containers":["istio-proxy"],"volumes":["workload-socket","credential-socket","workload-certs","istio-envoy","istio-data","istio-podinfo","istio-token","istiod-ca-cert"],"imagePullSecrets":null,"revision":"1-21-2"}'
    if p.own == 'Workflow': an['workflows.argoproj.io/node-name'] = f'{p.app}[{ri(9)}].{pick(WORD)}'; an['workflows.argoproj.io/outputs'] = json.dumps({'parameters': [{'name': pick(WORD), 'value': ' '.join(R.choices(WORD, k=1 + ri(40)))} for _ in range(1 + ri(4))], 'artifacts': [{'name': 'main-logs', 's3': {'key': pick(FILES)}}]})
    lb = {'app': p.app, 'app.kubernetes.io/name': p.app, 'app.kubernetes.io/instance': f'{p.app}-{p.ns}', 'app.kubernetes.io/version': f'{ri(9)}.{ri(40)}.{ri(20)}', 'app.kubernetes.io/managed-by': 'Helm', 'helm.sh/chart': f'{p.app}-{ri(9)}.{ri(90)}.{ri(9)}', 'cost-center': f'cc-{1000 + ri(9000)}', 'team': pick(USER)}
    if p.own == 'Deployment': lb['pod-template-hash'] = p.rs
    if p.own == 'StatefulSet': lb['controller-revision-hash'] = f'{p.app}-{grb(32):x}'; lb['statefulset.kubernetes.io/pod-name'] = p.pod
    if p.own == 'Job': lb['training.kubeflow.org/job-name'] = p.app; lb['training.kubeflow.org/replica-index'] = p.pod.rsplit('-', 1)[1]; lb['kueue.x-k8s.io/queue-name'] = pick(WORD)
    aff = {}
    if rnd() < .5: aff['nodeAffinity'] = {'requiredDuringSchedulingIgnoredDuringExecution': {'nodeSelectorTerms': [{'matchExpressions': [{'key': 'nvidia.com/gpu.product' if p.gpu else 'node-role.corp.example/' + pick(WORD), 'operator': 'In', 'values': ['NVIDIA-H200', 'NVIDIA-H100-80GB-HBM3'] if p.gpu else [pick(WORD)]}]}]}}
    if rnd() < .5: aff['podAntiAffinity'] = {'preferredDuringSchedulingIgnoredDuringExecution': [{'podAffinityTerm': {'labelSelector': {'matchExpressions': [{'key': 'app', 'operator': 'In', 'values': [p.app]}]}, 'topologyKey': 'kubernetes.io/hostname'}, 'weight': 1 + ri(100)}]}
    spec = {'affinity': aff, 'containers': [cobj(c, vols) for c in L], 'dnsPolicy': 'ClusterFirst', 'enableServiceLinks': rnd() < .5}
    if p.ip in NIP.values(): spec['hostNetwork'] = True; spec['dnsPolicy'] = 'ClusterFirstWithHostNet'
    if rnd() < .4 or trouble == 'init':
        ic = cobj(p, vols[:2]); ic['name'] = f'init-{pick(WORD)}'; ic.pop('livenessProbe'); ic.pop('readinessProbe'); ic.pop('ports'); spec['initContainers'] = [ic]
    spec.update({'nodeName': p.node, 'preemptionPolicy': 'PreemptLowerPriority', 'priority': ri(3) * 1000, 'priorityClassName': pick(('default', 'batch-low', 'system-node-critical')), 'restartPolicy': 'Never' if wf else 'Always', 'schedulerName': 'default-scheduler', 'securityContext': {'fsGroup': 1000 + ri(60000), 'fsGroupChangePolicy': 'OnRootMismatch', 'supplementalGroups': [ri(70000) for _ in range(ri(4))]}, 'serviceAccount': p.app, 'serviceAccountName': p.app, 'terminationGracePeriodSeconds': pick((30, 60, 120, 5)), 'tolerations': [{'effect': 'NoExecute', 'key': f'node.kubernetes.io/{k}', 'operator': 'Exists', 'tolerationSeconds': 300} for k in ('not-ready', 'unreachable')] + ([{'effect': 'NoSchedule', 'key': 'nvidia.com/gpu', 'operator': 'Exists'}] if p.gpu else []), 'volumes': vols})
    if rnd() < .3: spec['topologySpreadConstraints'] = [{'labelSelector': {'matchLabels': {'app': p.app}}, 'maxSkew': 1, 'topologyKey': 'topology.kubernetes.io/zone', 'whenUnsatisfiable': pick(('ScheduleAnyway', 'DoNotSchedule'))}]
    if rnd() < .3: spec['imagePullSecrets'] = [{'name': f'{pick(WORD)}-regcred'}]
    cst = []
    pre = ('containerd' if RT[p.node] == 'containerd' else 'cri-o') + '://'
    def term(code, reason, msg=None): return {'terminated': {'containerID': pre + f'{grb(256):064x}', 'exitCode': code, 'finishedAt': rfc(86400), **({'message': msg} if msg else {}), 'reason': reason, 'startedAt': rfc(86400)}}
    for i, c in enumerate(L):
        run = {'running': {'startedAt': rfc()}}; n = 0; last = {}; st = run; ok = True
        if done: st = term(0, 'Completed'); ok = False
        elif rnd() < .12: n = 1 + int(rnd() ** 3 * 40); last = term(pick((1, 0, 143, 2, 255)), 'Error', pick((None, None, f'{pick(WORD)}: exiting on signal terminated\n')))
        if trouble and i == 0:
            ok = False; n = 3 + ri(300); back = {'waiting': {'message': f'back-off 5m0s restarting failed container={c.ctr} pod={p.pod}_{p.ns}({p.uid})', 'reason': 'CrashLoopBackOff'}}
            if trouble == 'oom': last = term(137, 'OOMKilled'); st = back
            elif trouble == 'imagepull': st = {'waiting': {'message': f'Back-off pulling image "{c.img}"', 'reason': pick(('ImagePullBackOff', 'ErrImagePull'))}}; n = 0
            elif trouble == 'config': st = {'waiting': {'message': f'secret "{pick(WORD)}-{pick(WORD)}" not found', 'reason': 'CreateContainerConfigError'}}; n = 0
            elif trouble == 'cuda': last = term(1, 'Error', 'RuntimeError: CUDA error: uncorrectable ECC error encountered\n'); st = back
            elif trouble == 'runtime': last = term(128, 'StartError', 'failed to create containerd task: failed to create shim task: OCI runtime create failed: nvidia-container-cli: device error: 0000:9a:00.0: unknown device: unknown'); st = back
            elif trouble == 'init': st = {'waiting': {'reason': 'PodInitializing'}}; n = 0
        cst.append({**({'containerID': pre + c.cid} if 'waiting' not in st else {}), 'image': c.img, 'imageID': c.img.rsplit(':', 1)[0] + f'@sha256:{grb(256):064x}', 'lastState': last, 'name': c.ctr, 'ready': ok, 'restartCount': n, 'started': ok, 'state': st})
    allok = not trouble and not done
    cond = [{'lastProbeTime': None, 'lastTransitionTime': rfc(), **({'reason': 'PodCompleted'} if done else {}), 'status': 'True' if allok or x in ('Initialized', 'PodScheduled') else 'False', 'type': x} for x in ('Initialized', 'Ready', 'ContainersReady', 'PodScheduled')]
    S = {'conditions': cond, 'containerStatuses': cst, 'hostIP': NIP[p.node], 'phase': 'Succeeded' if done else 'Running', 'podIP': p.ip, 'podIPs': [{'ip': p.ip}], 'qosClass': pick(('Burstable', 'Guaranteed')), 'startTime': t}
    if trouble == 'evicted': S = {'message': f'The node was low on resource: ephemeral-storage. Threshold quantity: {grb(36)}, available: {grb(20)}Ki. ', 'phase': 'Failed', 'reason': 'Evicted', 'startTime': t}
    elif trouble == 'admission': S = {'message': 'Pod was rejected: Allocate failed due to no healthy devices present; cannot allocate unhealthy devices nvidia.com/gpu, which is unexpected', 'phase': 'Failed', 'reason': 'UnexpectedAdmissionError', 'startTime': t}
    elif trouble == 'pending':
        spec.pop('nodeName'); S = {'conditions': [{'lastProbeTime': None, 'lastTransitionTime': t, 'message': '0/6 nodes are available: 2 node(s) had untolerated taint {corp.example/drain: gpu-fault}, 4 Insufficient nvidia.com/gpu. preemption: 0/6 nodes are available: 6 No preemption victims found for incoming pod..', 'reason': 'Unschedulable', 'status': 'False', 'type': 'PodScheduled'}], 'phase': 'Pending', 'qosClass': 'Guaranteed'}
    elif trouble in ('imagepull', 'config'): S['phase'] = 'Pending'
    elif trouble == 'init':
        S['phase'] = 'Pending'; S['initContainerStatuses'] = [{'image': p.img, 'imageID': '', 'lastState': term(1, 'Error', f'dial tcp: lookup {pick(SVC)}.databases.svc.cluster.local on 10.96.0.10:53: server misbehaving\n'), 'name': spec['initContainers'][0]['name'], 'ready': False, 'restartCount': 5 + ri(90), 'started': False, 'state': {'waiting': {'message': f'back-off 5m0s restarting failed container=init pod={p.pod}_{p.ns}({p.uid})', 'reason': 'CrashLoopBackOff'}}}]; cond[0]['status'] = 'False'
    md = {'annotations': an, 'creationTimestamp': t, **({'generateName': p.pod[:-5]} if p.own in ('Deployment', 'DaemonSet') else {}), 'labels': lb, 'name': p.pod, 'namespace': p.ns, **({'ownerReferences': owner(p)} if p.own != 'Pod' else {}), 'resourceVersion': str(ri(9 * 10 ** 8)), 'uid': p.uid}
    return {'apiVersion': 'v1', 'kind': 'Pod', 'metadata': md, 'spec': spec, 'status': S}
TEV = None
def event_obj(f, P):
    s = T0 + int(DAY * rnd()); T = tsec(s); G[0] = P.node; G[1] = P.node.split('.')[0]; G[2] = NIP[P.node]
    ty, rs, kind, comp, msg = f(P, T, ri(10 ** 6), s).split('|', 4)
    ns = 'default' if kind == 'Node' else P.ns; new = rnd() < .22; iso = T[0] + 'Z'
    nm = {'Pod': P.pod, 'Node': P.node, 'PersistentVolumeClaim': f'data-{P.pod}', 'ReplicaSet': f'{P.app}-{P.rs}'}.get(kind, P.app)
    io = {'apiVersion': {'Pod': 'v1', 'Node': 'v1', 'PersistentVolumeClaim': 'v1', 'Deployment': 'apps/v1', 'ReplicaSet': 'apps/v1', 'StatefulSet': 'apps/v1', 'Job': 'batch/v1', 'CronJob': 'batch/v1'}.get(kind, 'corp.example/v1'), **({'fieldPath': 'spec.containers{%s}' % P.ctr} if kind == 'Pod' and comp == 'kubelet' and rnd() < .7 else {}), 'kind': kind, 'name': nm, **({'namespace': ns} if kind != 'Node' else {}), 'resourceVersion': str(ri(9 * 10 ** 8)), 'uid': P.uid if kind == 'Pod' else P.node if kind == 'Node' else uu()}
    cnt = 1 + int(rnd() ** (6 if ty == 'Warning' else 20) * (5000 if ty == 'Warning' else 40)); first = iso if cnt == 1 else tsec(max(T0 - 86400, s - cnt * (5 + ri(60))))[0] + 'Z'
    e = {'apiVersion': 'v1', **({} if new else {'count': cnt}), 'eventTime': f'{T[0]}.{ri(10 ** 6):06d}Z' if new else None, 'firstTimestamp': None if new else first, 'involvedObject': io, 'kind': 'Event', 'lastTimestamp': None if new else iso, 'message': msg}
    if new: e['action'] = pick(('Binding', 'Scheduling', 'Reconciling', rs)); e['series'] = {'count': 1 + ri(90), 'lastObservedTime': f'{T[0]}.{ri(10 ** 6):06d}Z'}
    md = {'creationTimestamp': iso, 'name': f'{nm}.17d{grb(52):013x}', 'namespace': ns, 'resourceVersion': str(ri(9 * 10 ** 8)), 'uid': uu()}
    if rnd() < .15: md['annotations'] = {f'{pick(WORD)}.corp.example/revision': str(ri(900))}
    e.update({'metadata': md, 'reason': rs, 'reportingComponent': comp, 'reportingInstance': f'{comp}-{pick(NODES)}' if new else P.node if comp == 'kubelet' else '', 'source': {} if new else {'component': comp, **({'host': P.node} if comp == 'kubelet' else {})}, 'type': ty})
    return e

# ------------------------------------------------------------------ files
J_BYTES = int(222_000_000 * SCALE); L_BYTES = int(132_000_000 * SCALE); N_EV = int(13000 * SCALE)
def units(node):
    rt = RT[node]
    return [('kubelet', 'kubelet', 'kubelet.service', .33), (rt, rt, rt + '.service', .22), ('kernel', 'kernel', '', .14), ('init', 'systemd', 'init.scope', .07), ('auditd', 'auditd', 'auditd.service', .06), ('yarn-nodemanager', 'java', 'yarn-nodemanager.service', .05), ('haproxy', 'haproxy', 'haproxy.service', .04), ('ssh', 'sshd', 'ssh.service', .03), ('node-agents', '', '', .03), ('sudo', 'sudo', 'session-{}.scope', .012), ('cron', 'CRON', 'cron.service', .01), ('nvidia-fabricmanager', 'nv-fabricmanager', 'nvidia-fabricmanager.service', .005), ('chrony', 'chronyd', 'chrony.service', .003)]
for _n, _t in (('kubelet', J_KUBELET), ('containerd', J_CONTAINERD), ('crio', J_CRIO), ('kernel', J_KERNEL), ('init', J_INIT), ('ssh', J_SSH), ('sudo', J_SUDO), ('cron', J_CRON), ('chrony', J_CHRONY), ('auditd', J_AUDITD), ('yarn-nodemanager', J_YARN), ('haproxy', J_HAPROXY), ('node-agents', J_MISC), ('nvidia-fabricmanager', J_FM)): Table(_n, _t, True)
for _n in LOGS: Table('log-' + _n, LOGS[_n], False)
Table('events', EVENTS, False)
N_TEMPLATES = next(NT)
NODEW = [1.3, 1.1, .9, 1.0, .6, .5]
def plan():
    """The list of files with their needles: deterministic, and the same in each process."""
    r = random.Random(f'{SEED}-plan'); J = []; Lg = []
    for i, n in enumerate(NODES):
        for u in units(n): J.append(['j', i, u, int(J_BYTES * u[3] * NODEW[i] / sum(NODEW)), []])
    by = {}
    for L in W:
        for c in L: by.setdefault(c.style, []).append(c)
    tw = sum(LOGW.values())
    for st in LOGW:
        b = L_BYTES * LOGW[st] / tw; cs = by[st][:]; r.shuffle(cs); k = max(1, min(len(cs), int(b / 380_000 / SCALE))); w = [r.expovariate(1) + .05 for _ in range(k)]
        for c, x in zip(cs, w): Lg.append(['l', c, st, int(b * x / sum(w)), []])
    ev = []; pods = []
    for ni, (cnt, kind, src, pr, f, raw) in enumerate(ND):
        for _ in range(cnt):
            if src == 'event': ev.append(ni)
            elif src == 'pod': pods.append(ni)
            elif src.startswith('log:'): r.choice([x for x in Lg if x[2] in src[4:].split(',')])[4].append((r.random(), ni))
            else:
                names = {'rt': ('containerd', 'crio'), 'fm': ('nvidia-fabricmanager',)}.get(src, (src,)); r.choice([x for x in J if x[2][0] in names])[4].append((r.random(), ni))
    for x in J + Lg: x[4].sort()
    return J, Lg, ev, pods
JOBS, LOGJOBS, EVN, PODN = plan()
NODEP = {n: [c for L in W for c in L if c.node == n] for n in NODES}
END = (T0 + DAY - 90) * 10 ** 6
def utf8(m): return m.encode('utf-8', 'surrogateescape')
def esc(m, raw): return '[' + ','.join(map(str, utf8(m))) + ']' if raw else enc(m)
def stream(tab, Ps, size, mean):
    """Endless (template, container, gap factor): a skewed choice with bursts of one template for one container."""
    n = tab.n; m = len(Ps)
    while True:
        for ti in R.choices(range(n), cum_weights=tab.cw, k=2048):
            P = Ps[int(m * rnd() ** 1.7)]
            yield ti, P, 1.0
            if rnd() < .04:
                for _ in range(1 + int(rnd() ** 3 * 25)): yield ti, P, .05
def avglen(tab, Ps):
    x = [len(tab.f[ti](P, tsec(T0), 1, T0)) for ti, P, _ in itertools.islice(stream(tab, Ps, 0, 0), 300)]
    return sum(x) / len(x) + 1
def journal(j):
    _, ni, (name, ident, unit, _s), size, need = j
    node = NODES[ni]; R.seed(f'{SEED}-j-{node}-{name}'); tab = TABLES[name]; style = ni % 3; Ps = [copy.copy(x) for x in NODEP[node]]
    G[:] = [node, node.split('.')[0], NIP[node], 1200 + ri(4000), 1000 + ri(3000)]
    boot, seqid, mach = (f'{grb(128):032x}' for _ in range(3)); inv = f'{grb(128):032x}'; cap = '1ffffffffff'
    d = f'{ROOT}/nodes/{node}/journal'; os.makedirs(d, exist_ok=True); rp = name in ('ssh', 'sudo', 'cron', 'node-agents'); fixed = {'kubelet': G[3], 'init': 1}.get(name, G[4])
    kern = name == 'kernel'; over = {0: 190, 1: 420, 2: 960}[style]
    mean = DAY * .95e6 / (size / (avglen(tab, Ps) + over)); t = T0 * 10 ** 6 + ri(10 ** 7); mono = ri(10 ** 13); i = grb(24); n = lines = 0; used = set(); ndl = []; who = ''
    def head(pr):
        idn = who if not ident else ident; pid = ri(4000000) + 900 if rp else fixed
        un = f'{idn}.service' if not ident else unit.format(ri(9000)) if '{' in unit else unit
        if kern:
            base = '"SYSLOG_IDENTIFIER":"kernel","_TRANSPORT":"kernel"'
            return base if style < 2 else base + f',"SYSLOG_FACILITY":"0","_MACHINE_ID":"{mach}","_HOSTNAME":"{G[1]}","_SOURCE_MONOTONIC_TIMESTAMP":"{mono}"' + (f',"_KERNEL_SUBSYSTEM":"pci","_KERNEL_DEVICE":"+pci:{pick(PCI)}.0","_UDEV_SYSNAME":"{pick(PCI)}.0"' if rnd() < .1 else '')
        if style == 0: return f'"_PID":"{pid}","_SYSTEMD_UNIT":"{un}","SYSLOG_IDENTIFIER":"{idn}"'
        if style == 1: return f'"SYSLOG_IDENTIFIER":"{idn}","_HOSTNAME":"{G[1]}","_SYSTEMD_UNIT":"{un}","_PID":"{pid}","_COMM":"{idn}"'
        return f'"_TRANSPORT":"{"syslog" if rp else "stdout"}","_UID":"0","_GID":"0","_COMM":"{idn}","_EXE":"/usr/bin/{idn}","_CMDLINE":"/usr/bin/{idn} --config=/etc/{idn}/config.yaml --v=2","_SELINUX_CONTEXT":"unconfined\\n","_CAP_EFFECTIVE":"{cap}","_SYSTEMD_CGROUP":"/system.slice/{un}","_SYSTEMD_SLICE":"system.slice","_SYSTEMD_UNIT":"{un}","_SYSTEMD_INVOCATION_ID":"{inv}","_MACHINE_ID":"{mach}","_HOSTNAME":"{G[1]}","_PID":"{pid}","SYSLOG_FACILITY":"{10 if name == "ssh" else 3}","SYSLOG_IDENTIFIER":"{idn}","_STREAM_ID":"{inv[::-1]}"'
    with open(f'{d}/{name}.json', 'w', buffering=1 << 20, encoding='utf-8', newline='\n') as f:
        def put(m, pr, raw, nullable=True):
            nonlocal n, lines, i, who
            if not ident: who, m = m.split('|', 1)
            i += 1; h = head(pr); M = 'null' if nullable and rnd() < .00004 else esc(m, raw)
            if style == 0: s = f'{{"__REALTIME_TIMESTAMP":"{t}","PRIORITY":"{pr}",{h},"MESSAGE":{M}}}\n'
            elif style == 1: s = f'{{"MESSAGE":{M},"__CURSOR":"s={seqid};i={i:x};b={boot};m={mono:x};t={t:x};x={grb(64):x}","PRIORITY":"{pr}","__MONOTONIC_TIMESTAMP":"{mono}",{h},"_BOOT_ID":"{boot}","__REALTIME_TIMESTAMP":"{t}"}}\n'
            else: s = f'{{"__CURSOR":"s={seqid};i={i:x};b={boot};m={mono:x};t={t:x};x={grb(64):x}","__REALTIME_TIMESTAMP":"{t}","__MONOTONIC_TIMESTAMP":"{mono}","_BOOT_ID":"{boot}",{h},"PRIORITY":"{pr}","MESSAGE":{M}}}\n'
            f.write(s); n += len(s); lines += 1
        for ti, P, g in stream(tab, Ps, size, mean):
            if lines & 31 == 31: mean = max(2000., (END - t) * (n / lines) / max(size - n, 1.5 * n / lines))
            dt = min(int(-math.log(1 - rnd()) * mean * g), max(0, END - t) >> 2) + 1; t += dt; mono += dt; s, u = divmod(t, 1000000); T = tsec(s)
            if rnd() < .15: P.cid = f'{grb(256):064x}'
            if need and n >= need[0][0] * size:
                _, _k, _src, pr, nf, raw = ND[need.pop(0)[1]]; m = nf(P, T, u, s); ndl.append((_k, f'nodes/{node}/journal/{name}.json', lines + 1, m if ident else m.split('|', 1)[1]))
                for x in (m.split('\n') if kern or 'Eviction manager' in m else (m,)): put(x, pr, raw, False)
                continue
            if n >= size: break
            m = tab.f[ti](P, T, u, s); used.add(tab.ids[ti])
            if kern and '\n' in m:
                for x in m.split('\n'): put(x, tab.p[ti], False)
            else: put(m, tab.p[ti], tab.raw[ti])
        for _, nix in need: raise SystemExit('needle left over')
    return 'journals', n, lines, ndl, used
def clog(j):
    _, c, st, size, need = j
    R.seed(f'{SEED}-l-{c.ns}-{c.pod}-{c.ctr}'); tab = TABLES['log-' + st]; node = c.node; G[:] = [node, node.split('.')[0], NIP[node], 1200, 1000]
    d = f'{ROOT}/logs/{c.ns}/{c.pod}'; os.makedirs(d, exist_ok=True); many = st in ('kube', 'argo', 'calico', 'istiod'); Ps = [copy.copy(p) for p in NODEP[node]] if many else [copy.copy(c)]
    mean = DAY * .95e6 / (size / (avglen(tab, Ps) + 32)); k32 = 0; t = T0 * 10 ** 6 + ri(10 ** 7); n = lines = 0; used = set(); ndl = []
    with open(f'{d}/{c.ctr}.log', 'w', buffering=1 << 20, encoding='utf-8', errors='surrogateescape', newline='\n') as f:
        for ti, P, g in stream(tab, Ps, size, mean):
            k32 += 1
            if k32 & 31 == 31: mean = max(2000., (END - t) * (n / k32) / max(size - n, 1.5 * n / k32))
            t += min(int(-math.log(1 - rnd()) * mean * g), max(0, END - t) >> 2) + 1; s, u = divmod(t, 1000000); T = tsec(s); hit = need and n >= need[0][0] * size
            if hit: _, _k, _src, pr, nf, raw = ND[need.pop(0)[1]]; m = nf(P, T, u, s); ndl.append((_k, f'logs/{c.ns}/{c.pod}/{c.ctr}.log', lines + 1, m))
            elif n >= size: break
            else: m = tab.f[ti](P, T, u, s); used.add(tab.ids[ti])
            h = f'{T[0]}.{u:06d}'
            if '\n' in m:
                k = ri(90); q = m.split('\n'); m = ''.join([f'{h}{min(999, k + 3 * z):03d}Z {x}\n' for z, x in enumerate(q)]); lines += len(q)
            else: m = f'{h}{ri(1000):03d}Z {m}\n'; lines += 1
            f.write(m); n += len(m)
    return 'logs', n, lines, ndl, used
def objects(j):
    kind = j[1]; R.seed(f'{SEED}-o-{kind}'); used = set(); ndl = []; os.makedirs(f'{ROOT}/cluster', exist_ok=True); os.makedirs(ROOT + '-compact', exist_ok=True)
    if kind == 'pods':
        order = list(range(len(W))); R.shuffle(order); tr = {}
        for nix in PODN:
            need = ND[nix][4](W[0][0], tsec(T0), 0, T0)
            x = next(o for o in order if o not in tr and (need not in ('admission', 'cuda', 'pending', 'runtime') or W[o][0].gpu)); tr[x] = (nix, need)
        items = []
        for q, L in enumerate(W):
            tb = tr.get(q); items.append(pod_obj(L, tb[1] if tb else None))
            if tb: ndl.append((ND[tb[0]][1], 'cluster/pods.json', q, f'{L[0].ns}/{L[0].pod}'))
    else:
        tab = TABLES['events']; flat = [L[0] for L in W]; at = {}
        for nix in EVN:
            q = ri(N_EV)
            while q in at: q = ri(N_EV)
            at[q] = nix
        items = []
        for q, ti in enumerate(R.choices(range(tab.n), cum_weights=tab.cw, k=N_EV)):
            P = flat[int(len(flat) * rnd() ** 1.5)]
            if q in at:
                e = event_obj(ND[at[q]][4], P); ndl.append((ND[at[q]][1], 'cluster/events.json', q, e['message']))
            else: e = event_obj(tab.f[ti], P); used.add(tab.ids[ti])
            items.append(e)
    o = {'apiVersion': 'v1', 'items': items, 'kind': 'List', 'metadata': {'resourceVersion': ''}}
    with open(f'{ROOT}/cluster/{kind}.json', 'w') as f: f.write(json.dumps(o, indent=4, ensure_ascii=False) + '\n')
    with open(f'{ROOT}-compact/{kind}.json', 'w') as f: f.write(json.dumps(o, separators=(',', ':'), ensure_ascii=False) + '\n')
    return kind, os.path.getsize(f'{ROOT}/cluster/{kind}.json'), len(items), ndl, used
def job(k):
    j = ALL[k]
    return {'j': journal, 'l': clog, 'o': objects}[j[0]](j)
ALL = [('o', 'pods'), ('o', 'events')] + sorted(JOBS, key=lambda x: -x[3]) + LOGJOBS
if __name__ == '__main__':
    if os.path.exists(ROOT): sys.exit(f'{ROOT} is there already')
    procs = int(os.environ.get('GEN_PROCS', '2')); tot = {}; nd = []; used = set()
    with (Pool(procs) if procs > 1 else open(os.devnull)) as p:
        for kind, n, lines, ndl, us in (p.imap(job, range(len(ALL))) if procs > 1 else map(job, range(len(ALL)))):
            a = tot.setdefault(kind, [0, 0, 0]); a[0] += n; a[1] += lines; a[2] += 1; nd += ndl; used |= us
    with open(ROOT + '-needles.jsonl', 'w') as f:
        for k, fn, ln, m in nd: f.write(json.dumps({'kind': k, 'file': fn, 'at': ln, 'text': m}) + '\n')
    for k, (n, l, c) in tot.items(): print(f'{k}: {n} bytes, {l} records, {c} files')
    print(f'{sum(x[0] for x in tot.values())} bytes, {N_TEMPLATES} templates ({len(used)} used), {len(ND)} kinds of needles, {len(nd)} needles')
    c = {}
    for x in nd: c[x[0]] = c.get(x[0], 0) + 1
    print(json.dumps(c))
