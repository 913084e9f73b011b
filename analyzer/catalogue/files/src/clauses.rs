//! Literals that a line must contain for a pattern to match, so that most lines never meet a regex.

use regex_syntax::Parser;
use regex_syntax::hir::{Class, Hir, HirKind};

/// A pattern needs a literal of at least this many bytes, or it would be tried on every line.
pub const MIN_LITERAL: usize = 3;

/// Sets of at most this many alternatives are kept; a wider alternation counts as having no literal.
const MAX_ALTERNATIVES: usize = 24;

/// Clauses of texts in lower case: a line that the pattern matches holds at least one text of every
/// clause. The first clause is the best one to look for.
///
/// Empty if there is no clause with every text at least [`MIN_LITERAL`] bytes long. Texts hold neither
/// quotes nor backslashes nor control characters, because a raw journal line escapes those.
pub fn clauses(pattern: &str) -> Vec<Vec<String>> {
    let hir = Parser::new().parse(pattern);
    hir.map_or_else(|_| Vec::new(), |hir| clauses_of(&hir))
}

/// The same of a pattern that was parsed.
pub fn clauses_of(hir: &Hir) -> Vec<Vec<String>> {
    let mut found = Vec::new();
    collect(hir, None, &mut found);
    // Rare before everyday, then long before short.
    found.sort_by_key(|texts| (is_everyday(texts), std::cmp::Reverse(shortest(texts))));
    found.dedup();
    found
}

/// Of the texts of the first clause, those that are looked for in logs.
pub fn rare(clauses: &[Vec<String>]) -> Vec<String> {
    let first = clauses.first().into_iter().flatten();
    first
        .filter(|text| !is_everyday_text(text))
        .cloned()
        .collect()
}

/// Whether some text of a clause is an everyday one.
fn is_everyday(clause: &[String]) -> bool {
    clause.iter().any(|text| is_everyday_text(text))
}

/// Whether a text stands in lines that every busy node logs all day, or is made of digits and signs
/// only. In logs nothing is tried because of such a text: it would be tried on a good part of all lines.
pub fn is_everyday_text(text: &str) -> bool {
    EVERYDAY.contains(text) || !text.bytes().any(|byte| byte.is_ascii_alphabetic())
}

/// Everyday lines of a healthy node, in lower case: klog, containerd, systemd, kernel, applications.
const EVERYDAY: &str = "\
{\"_hostname\":\"node\",\"priority\":\"6\",\"_pid\":\"1\",\"_transport\":\"stdout\",\"_comm\":\"kubelet\",\"__realtime_timestamp\":\"17\",\
\"_systemd_unit\":\"kubelet.service\",\"_boot_id\":\"b0\",\"__monotonic_timestamp\":\"1\",\"__cursor\":\"s=\",\"syslog_identifier\":\"containerd\",\"message\":\"x\"}
\"_systemd_unit\":\"containerd.service\" \"syslog_facility\":\"3\" \"_machine_id\":\"d\" \"_exe\":\"/usr/bin/containerd\" \"_cmdline\":\"/usr/bin/kubelet
e1120 10:00:00.000000       1 pod_workers.go:1301] error syncing pod, skipping err= failed to startcontainer for crashloopbackoff: back-off 5m0s restarting failed container=main pod=
i1120 10:00:00.000000    1234 kuberuntime_container.go:808] killing container with a grace period pod= containerid= containerd:// graceperiod=30
reconciler_common.go:299] volume detached for volume kube-api-access- on node devicepath operationexecutor.unmountvolume started for volume configmap secret host-path
kubelet.go:2450] syncloop (pleg): event for pod  syncloop add delete update source=api probe failed readiness liveness http statuscode: 200 output: \
time=2026-11-20t10:00:00z level=info msg= level=warning level=error level=debug stoppodsandbox for returns successfully removepodsandbox teardown network for sandbox successfully \
imageupdate event name: labels:{key:io.cri-containerd.image value:managed} imagecreate pullimage containerd version namespace id runtime type address \
runpodsandbox for &podsandboxmetadata{name: ,uid: ,namespace: kube-system,attempt:0,} returns sandbox id  createcontainer within sandbox for container &containermetadata startcontainer returns successfully \
container event discarded type=container_stopped_event unable to  could not  cannot  is not  was not  not found  does not exist  waiting for \
systemd[1]: started session of user root. starting  reloading  reached target  cri-containerd- .scope: deactivated successfully. consumed cpu time  run-containerd-runc-k8s.io \
audit: type=1400 apparmor=allowed operation=open profile=cri-containerd.apparmor.d name=/proc/ pid= comm=runc kernel: cni0: port 1(veth) entered forwarding state device left promiscuous mode blocking disabled \
ipv6: addrconf(netdev_change): eth0: link becomes ready cgroup memory usage  boot  firewall  driver  version  module loaded  nvidia gpu \
info error warn warning fatal debug trace  get /healthz http/1.1 200 ok post /api/v1/namespaces/default/pods/ services endpoints nodes events user-agent request response status client server token \
serviceaccount apiserver etcd controller scheduler leader election lock reason object deployment replicaset daemonset created scheduled pulled killing unhealthy warning normal  image registry \
setting up  loading  loaded  with  from  into  over  old  new  file  config  configuration  default  using  cluster  ip address  port  name  exists  already  invalid  unknown  skip  retry  retrying  attempt  \
deleted  remove  removed  restart  restarted  restarting  running  ready  pending  succeeded  failed  state  changed  health  check  metric  metrics  cache  sync  synced  resource  resources  limit  memory  cpu  disk  usage \
mount  mounted  unmount  path  directory  permission  allocate  allocated  device  devices  plugin  plugins  register  registered  registration  socket  listen  listening  discovery  index  step  train  loss  throughput  samples  seconds";

fn collect(hir: &Hir, before: Option<char>, found: &mut Vec<Vec<String>>) {
    match hir.kind() {
        HirKind::Literal(_) | HirKind::Class(_) => {
            let runs = runs(MIN_LITERAL, before, std::slice::from_ref(hir)).into_iter();
            found.extend(runs.map(|run| vec![run]));
        }
        HirKind::Concat(parts) => {
            let runs = runs(MIN_LITERAL, before, parts).into_iter();
            found.extend(runs.map(|run| vec![run]));
            others(before, parts).for_each(|(part, before)| collect(part, before, found));
        }
        HirKind::Capture(capture) => collect(&capture.sub, before, found),
        HirKind::Repetition(repetition) if repetition.min > 0 => {
            collect(&repetition.sub, None, found);
        }
        HirKind::Alternation(_) => found.extend(best(hir, before)),
        _ => {}
    }
}

/// The parts that are neither texts nor classes, each with the sign that stands right before it: with it a text that is
/// one of several is a longer one (`:(?:6443|2379)`), and stands in no number that happens to hold its digits.
pub(crate) fn others(
    before: Option<char>,
    parts: &[Hir],
) -> impl Iterator<Item = (&Hir, Option<char>)> {
    let is_plain = |part: &Hir| matches!(part.kind(), HirKind::Literal(_) | HirKind::Class(_));
    let behind = move |at: usize| {
        let mut parts = parts[..at].iter().rev();
        let wide = parts.find(|part| !matches!(part.kind(), HirKind::Look(_)));
        match wide.map(Hir::kind) {
            None => before,
            Some(HirKind::Literal(literal)) => literal.0.last().copied().and_then(sign),
            Some(_) => None,
        }
    };
    let others = parts
        .iter()
        .enumerate()
        .filter(move |(_, part)| !is_plain(part));
    others.map(move |(at, part)| (part, behind(at)))
}

/// A byte that is a sign and may stand in texts that are looked for.
fn sign(byte: u8) -> Option<char> {
    let is_sign = may_stand(byte) && !byte.is_ascii_alphanumeric();
    is_sign.then(|| char::from(byte))
}

/// Whether a byte may stand in texts that are looked for: a raw journal line escapes the others.
fn may_stand(byte: u8) -> bool {
    let is_visible = byte.is_ascii_graphic() || byte == b' ';
    is_visible && byte != b'"' && byte != b'\\'
}

fn usable(alternatives: &[String]) -> bool {
    !alternatives.is_empty()
        && alternatives.len() <= MAX_ALTERNATIVES
        && alternatives.iter().all(|text| text.len() >= MIN_LITERAL)
}

/// Length of the shortest text. The sign that it begins with says little.
fn shortest(alternatives: &[String]) -> usize {
    let length =
        |text: &String| text.len() - usize::from(text.bytes().next().and_then(sign).is_some());
    alternatives.iter().map(length).min().unwrap_or(0)
}

/// The best clause of a part, which may stand right behind a sign.
fn best(hir: &Hir, before: Option<char>) -> Option<Vec<String>> {
    if let HirKind::Alternation(parts) = hir.kind() {
        let mut all = Vec::new();
        for part in parts {
            all.extend(best(part, before)?);
        }
        all.sort();
        all.dedup();
        return usable(&all).then_some(all);
    }
    let mut found = Vec::new();
    collect(hir, before, &mut found);
    found
        .into_iter()
        .max_by_key(|clause| (!is_everyday(clause), shortest(clause)))
}

/// The stretches of neighbouring literals that are this long, in bytes, where a case-insensitive letter
/// counts as a literal; the first begins with the sign that stands before them.
pub(crate) fn runs(least: usize, before: Option<char>, parts: &[Hir]) -> Vec<String> {
    let mut found = Vec::new();
    let mut run: String = before.into_iter().collect();
    let end = |run: &mut String, found: &mut Vec<String>| {
        let ended = std::mem::take(run);
        if ended.len() >= least {
            found.push(ended);
        }
    };
    for part in parts {
        match part.kind() {
            HirKind::Literal(literal) => {
                for &byte in literal.0.iter() {
                    if may_stand(byte) {
                        run.push(char::from(byte.to_ascii_lowercase()));
                    } else {
                        end(&mut run, &mut found);
                    }
                }
            }
            HirKind::Class(class) => match case_pair(class) {
                Some(letter) => run.push(letter),
                None => end(&mut run, &mut found),
            },
            _ => end(&mut run, &mut found),
        }
    }
    end(&mut run, &mut found);
    found
}

/// The lower-case letter of a class that is one ASCII letter in both cases.
fn case_pair(class: &Class) -> Option<char> {
    let Class::Unicode(class) = class else {
        return None;
    };
    // `(?i)s` and `(?i)k` also hold a non-ASCII letter, which no log spells them with.
    let mut letters: Vec<char> = Vec::new();
    for range in class.ranges() {
        if range.start() != range.end() {
            return None;
        }
        if range.start().is_ascii() {
            letters.push(range.start().to_ascii_lowercase());
        }
    }
    letters.dedup();
    (letters.len() == 1).then(|| letters[0])
}
