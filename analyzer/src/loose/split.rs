//! Sections of a text: what one command printed, what stands in one fence, what one file holds.

use std::cell::Cell;

use crate::form::Form;

/// A stretch of a text that one command or one person put there.
#[derive(Debug, Default)]
pub(super) struct Section<'a> {
    /// The command as typed, without its prompt.
    pub(super) command: Option<&'a str>,
    /// The host that the prompt names.
    pub(super) host: Option<&'a str>,
    /// The file whose content follows, from a caption or from `cat FILE`.
    pub(super) file: Option<&'a str>,
    /// Number of its first line in the text, from 1.
    first: u32,
    lines: Vec<&'a str>,
    /// Lines that recognisers looked at so far, those looked at again counted again.
    looked_at: Cell<usize>,
}

impl<'a> Section<'a> {
    /// How many lines it has.
    pub(super) fn len(&self) -> usize {
        self.lines.len()
    }

    /// A line, counted from 0; empty behind the end.
    pub(super) fn line(&self, at: usize) -> &'a str {
        self.lines.get(at).copied().unwrap_or("")
    }

    /// The lines of a range that lies in the section.
    pub(super) fn range(&self, from: usize, to: usize) -> Vec<&'a str> {
        let to = to.min(self.lines.len());
        self.look(to.saturating_sub(from));
        self.lines[from.min(to)..to].to_vec()
    }

    fn look(&self, lines: usize) {
        self.looked_at
            .set(self.looked_at.get().saturating_add(lines));
    }

    /// Whether more was looked at than any honest text asks for: what begins something at every line and
    /// ends nothing would otherwise be read once a line.
    pub(super) fn is_exhausted(&self) -> bool {
        const FREE: usize = 20_000;
        const TIMES: usize = 24;
        self.looked_at.get() > FREE + TIMES * self.lines.len()
    }

    /// The number of a line in the text, from 1.
    pub(super) fn number(&self, at: usize) -> u32 {
        self.first
            .saturating_add(u32::try_from(at).unwrap_or(u32::MAX))
    }

    /// How many lines from here on fulfil a condition.
    pub(super) fn run(&self, from: usize, mut wanted: impl FnMut(&str) -> bool) -> usize {
        let rest = self.lines.get(from..).unwrap_or(&[]);
        let lines = rest.iter().take_while(|line| wanted(line)).count();
        self.look(lines);
        lines
    }

    /// Whether the command prints a file or output as it is, not a part of it.
    pub(super) fn is_whole(&self) -> bool {
        self.command.is_none_or(|command| !command.contains('|'))
    }
}

static PROMPT: Form = Form::new(
    r"^\s*(?:\([\w.-]+\)\s*)?(?:\[?[A-Za-z_][\w.-]*@(?P<host>[\w.-]+)[: ][^$#%]{0,200}[$#%]|\$)\s+(?P<command>[^\s$].*)$",
);
/// A command without a prompt, or behind the `#` of root: only programs that nodes are looked at with.
static BARE: Form = Form::new(
    r"^(?:# ?)?(?P<command>(?:sudo (?:-\w+ )*)?(?:kubectl|oc|cat|nvidia-smi|journalctl|dmesg|iptables-save|ip6tables-save|sysctl|systemctl|helm|crictl|containerd|ufw|ps|df|ip|lsmod|uname|microk8s kubectl|k3s kubectl|k8s kubectl|head|tail|grep)(?:\s+[\w./~$'*=<{\[-][^:]*)?)$",
);
static CAPTION: Form = Form::new(
    r"^(?:==> (?P<tail>/\S+) <==|[#*\s`]*(?P<file>/(?:etc|var|run|usr|lib|opt|proc|sys|home)/[\w./@+-]+)[`*]*:?\s*)$",
);
static CAT: Form = Form::new(
    r"^(?:sudo (?:-\w+ )*)?(?:cat|head|tail|less|more)\s+(?:-\S+\s+(?:\d+\s+)?)*(?P<file>/[\w./@+-]+)\s*(?P<rest>\|.*)?$",
);

/// Cuts a text into its sections, in order.
pub(super) fn sections(text: &str) -> Vec<Section<'_>> {
    let mut all = Vec::new();
    let mut open = Section {
        first: 1,
        ..Section::default()
    };
    for (line, number) in text.lines().zip(1u32..) {
        let before = open.lines.last().copied().unwrap_or("");
        match boundary(line).filter(|next| !(next.is_caption && continues(before, line))) {
            Some(next) => {
                let host = next.host.or(open.host);
                // A fence around a command's output belongs to the command or caption above it.
                let blank = open.lines.iter().all(|line| line.trim().is_empty());
                let carried = if next.is_fence && blank {
                    (open.command, open.file)
                } else {
                    (next.command, next.file)
                };
                close(&mut all, std::mem::take(&mut open));
                open = Section {
                    command: carried.0,
                    host,
                    file: carried.1,
                    first: number.saturating_add(1),
                    ..Section::default()
                };
            }
            None => open.lines.push(line),
        }
    }
    close(&mut all, open);
    all
}

fn close<'a>(all: &mut Vec<Section<'a>>, section: Section<'a>) {
    if !section.lines.is_empty() {
        all.push(section);
    }
}

#[derive(Default)]
struct Boundary<'a> {
    command: Option<&'a str>,
    host: Option<&'a str>,
    file: Option<&'a str>,
    is_fence: bool,
    is_caption: bool,
}

/// Whether a line that is indented goes on with what the line before it says: a path in a description or a list is an
/// argument there and no caption.
fn continues(before: &str, line: &str) -> bool {
    line.starts_with([' ', '\t']) && !before.trim().is_empty()
}

/// What a line that stands between pieces says of the next one; none for a line of a piece.
fn boundary(line: &str) -> Option<Boundary<'_>> {
    const LONGEST: usize = 600;
    let line = line.trim_end();
    if line.is_empty() || line.len() > LONGEST {
        return None;
    }
    let start = line.trim_start();
    if start.starts_with("```") || start.starts_with("~~~") {
        return Some(Boundary {
            is_fence: true,
            ..Boundary::default()
        });
    }
    // A prompt ends with a sign, and a host stands before it.
    let may_be_typed = start.starts_with(['$', '(']) || line.contains('@');
    if let Some(found) = may_be_typed.then(|| PROMPT.rare_captures(line)).flatten() {
        let command = found.name("command").map(|one| one.as_str());
        return Some(Boundary {
            host: found.name("host").map(|one| one.as_str()),
            ..of_command(command)
        });
    }
    if let Some(found) = may_be_bare(line)
        .then(|| BARE.rare_captures(line))
        .flatten()
    {
        return Some(of_command(found.name("command").map(|one| one.as_str())));
    }
    let caption = may_be_caption(start).then(|| CAPTION.rare_captures(line))??;
    let file = caption.name("tail").or_else(|| caption.name("file"))?;
    Some(Boundary {
        file: Some(file.as_str()),
        is_caption: true,
        ..Boundary::default()
    })
}

/// Whether a line begins as [`BARE`] does.
fn may_be_bare(line: &str) -> bool {
    line.starts_with(|first: char| first == '#' || first.is_ascii_lowercase())
}

/// The same of [`CAPTION`], without the blanks that a line begins with.
fn may_be_caption(line: &str) -> bool {
    line.starts_with(['=', '#', '*', '`', '/'])
}

fn of_command(command: Option<&str>) -> Boundary<'_> {
    let cat = command.and_then(|command| CAT.captures(command));
    let file = cat
        .and_then(|cat| cat.name("file"))
        .map(|file| file.as_str());
    Boundary {
        command,
        file,
        ..Boundary::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Host, command, file and first line of a section.
    type Told<'a> = (Option<&'a str>, Option<&'a str>, Option<&'a str>, u32);

    fn commands(text: &str) -> Vec<Told<'_>> {
        let all = sections(text);
        all.iter()
            .map(|one| (one.host, one.command, one.file, one.first))
            .collect()
    }

    #[test]
    fn prompts_of_users_roots_and_no_one_start_a_section() {
        let text = "root@gpu-1:~# cat /etc/a.toml\nx\n[me@gpu-2 ~]$ kubectl get pods\ny\n$ sudo dmesg | tail\nz\n";
        assert_eq!(
            commands(text),
            [
                (
                    Some("gpu-1"),
                    Some("cat /etc/a.toml"),
                    Some("/etc/a.toml"),
                    2
                ),
                (Some("gpu-2"), Some("kubectl get pods"), None, 4),
                (Some("gpu-2"), Some("sudo dmesg | tail"), None, 6),
            ]
        );
    }

    #[test]
    fn a_caption_holds_over_the_fence_below_it() {
        let text = "`/etc/containerd/config.toml`:\n```toml\nversion = 2\n```\nthanks\n";
        let all = commands(text);
        assert_eq!(all[0], (None, None, Some("/etc/containerd/config.toml"), 3));
        assert_eq!(all[1].2, None);
    }

    #[test]
    fn a_path_among_the_arguments_of_a_description_is_no_caption() {
        let text =
            "  proxy:\n    Args:\n      --config\n      /etc/istio/proxy\n    State:  Running\n";
        assert_eq!(commands(text), [(None, None, None, 1)]);
        let text = "notes\n\n  /etc/containerd/config.toml:\nversion = 2\n";
        assert_eq!(commands(text)[1].2, Some("/etc/containerd/config.toml"));
    }

    proptest::proptest! {
        #[test]
        fn no_line_is_passed_over_that_an_expression_takes(
            line in "(# ?|sudo |-n |==> |[ *`#]|\t){0,3}(kubectl|cat|ip|k3s kubectl|/etc/a|/var/b|/x)?( <==|`:| get|[ :a-z])?",
        ) {
            proptest::prop_assert!(may_be_bare(&line) || !BARE.is_match(&line), "{}", line);
            let start = line.trim_start();
            proptest::prop_assert!(may_be_caption(start) || !CAPTION.is_match(&line), "{}", line);
        }
    }

    #[test]
    fn an_error_of_a_program_is_no_command() {
        assert!(boundary("cat: /etc/x: No such file or directory").is_none());
        assert!(boundary("# comment: kubectl is used here").is_none());
        assert!(boundary("  runtime_type = \"io.containerd.runc.v2\"").is_none());
    }
}
