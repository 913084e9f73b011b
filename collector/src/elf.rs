//! What an ELF file asks of the machine that shall run it: its loader, its libraries, and how new a glibc it needs.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;

use object::elf::{DT_NEEDED, FileHeader32, FileHeader64, VER_FLG_BASE};
use object::read::elf::{Dyn as _, FileHeader, ProgramHeader as _};
use object::read::{ReadCache, ReadRef};
use object::{Endianness, FileKind};
use serde::Serialize;

/// Names taken from one file.
const MAX_NAMES: usize = 500;

/// What a file is, as far as starting it goes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Binary {
    /// `elf`, `script` or `other`.
    pub(crate) kind: &'static str,
    /// `x86_64`, `aarch64` or the ELF number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) machine: Option<String>,
    /// The loader that it names, or a script's interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) interpreter: Option<String>,
    /// Libraries that it names.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) needed: Vec<String>,
    /// The newest `GLIBC_` version among its symbols, as `2.34`: an older glibc cannot start it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) needs_glibc: Option<String>,
    /// The newest `GLIBC_` version that it defines: of a libc, its version.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) provides_glibc: Option<String>,
}

/// Looks at an open file.
pub(crate) fn inspect(mut file: File) -> Result<Binary, String> {
    let mut start = Vec::new();
    let by_ref = std::io::Read::by_ref(&mut file);
    by_ref
        .take(256)
        .read_to_end(&mut start)
        .map_err(|error| error.to_string())?;
    if let Some(rest) = start.strip_prefix(b"#!") {
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        return Ok(Binary {
            kind: "script",
            interpreter: Some(String::from_utf8_lossy(line).trim().to_owned()),
            ..Binary::default()
        });
    }
    let cache = ReadCache::new(file);
    let read = match FileKind::parse(&cache) {
        Ok(FileKind::Elf64) => elf::<FileHeader64<Endianness>, _>(&cache),
        Ok(FileKind::Elf32) => elf::<FileHeader32<Endianness>, _>(&cache),
        _ => {
            return Ok(Binary {
                kind: "other",
                ..Binary::default()
            });
        }
    };
    read.map_err(|error| format!("not a whole ELF file: {error}"))
}

fn elf<'data, Elf, R>(data: R) -> object::read::Result<Binary>
where
    Elf: FileHeader<Endian = Endianness>,
    R: ReadRef<'data>,
{
    let header = Elf::parse(data)?;
    let endian = header.endian()?;
    let mut binary = Binary {
        kind: "elf",
        machine: Some(machine(header.e_machine(endian))),
        ..Binary::default()
    };
    for segment in header.program_headers(endian, data)? {
        if let Some(path) = segment.interpreter(endian, data)? {
            binary.interpreter = Some(text(path));
        }
    }
    let sections = header.sections(endian, data)?;
    if let Some((entries, link)) = sections.dynamic(endian, data)? {
        let strings = sections.strings(endian, data, link)?;
        for entry in entries.iter().take(10 * MAX_NAMES) {
            if entry.tag(endian) == DT_NEEDED && binary.needed.len() < MAX_NAMES {
                binary.needed.push(text(entry.string(endian, strings)?));
            }
        }
    }
    let mut needs = BTreeSet::new();
    if let Some((mut files, link)) = sections.gnu_verneed(endian, data)? {
        let strings = sections.strings(endian, data, link)?;
        while let Some((_, mut versions)) = files.next()? {
            while let Some(version) = versions.next()?.filter(|_| needs.len() < MAX_NAMES) {
                needs.extend(glibc(version.name(endian, strings)?));
            }
        }
    }
    let mut provides = BTreeSet::new();
    if let Some((mut definitions, link)) = sections.gnu_verdef(endian, data)? {
        let strings = sections.strings(endian, data, link)?;
        while let Some((definition, mut names)) = definitions.next()? {
            let base = definition.vd_flags.get(endian) & VER_FLG_BASE != 0;
            if let Some(name) = names
                .next()?
                .filter(|_| !base && provides.len() < MAX_NAMES)
            {
                provides.extend(glibc(name.name(endian, strings)?));
            }
        }
    }
    binary.needs_glibc = newest(&needs);
    binary.provides_glibc = newest(&provides);
    Ok(binary)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes)
        .trim_end_matches('\0')
        .to_owned()
}

fn machine(number: u16) -> String {
    match number {
        object::elf::EM_X86_64 => "x86_64".to_owned(),
        object::elf::EM_AARCH64 => "aarch64".to_owned(),
        object::elf::EM_386 => "i386".to_owned(),
        object::elf::EM_PPC64 => "ppc64".to_owned(),
        other => other.to_string(),
    }
}

/// `GLIBC_2.34` as numbers; `GLIBC_PRIVATE` is none.
fn glibc(name: &[u8]) -> Option<Vec<u32>> {
    let version = std::str::from_utf8(name).ok()?.strip_prefix("GLIBC_")?;
    version.split('.').map(|part| part.parse().ok()).collect()
}

fn newest(versions: &BTreeSet<Vec<u32>>) -> Option<String> {
    let parts: Vec<_> = versions.last()?.iter().map(u32::to_string).collect();
    Some(parts.join("."))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(path: &str) -> Option<Binary> {
        let file = File::open(path).ok()?;
        Some(inspect(file).unwrap_or_else(|error| panic!("{path}: {error}")))
    }

    #[test]
    fn this_machines_programs_and_libc_are_understood() {
        // The test itself is a dynamically linked program where its target is a glibc one.
        let own = std::env::current_exe().expect("has a path");
        let own = of(own.to_str().expect("is text")).expect("is there");
        assert_eq!(own.kind, "elf");
        if cfg!(target_env = "gnu") && cfg!(not(target_feature = "crt-static")) {
            assert!(
                own.interpreter.is_some()
                    && own.needed.iter().any(|name| name.starts_with("libc.so")),
                "{own:?}"
            );
            assert!(
                own.needs_glibc
                    .as_deref()
                    .is_some_and(|version| version.starts_with("2.")),
                "{own:?}"
            );
        }
        let libc = [
            "/lib/x86_64-linux-gnu/libc.so.6",
            "/lib64/libc.so.6",
            "/lib/aarch64-linux-gnu/libc.so.6",
        ];
        let Some(libc) = libc.iter().find_map(|path| of(path)) else {
            return;
        };
        let provides = libc.provides_glibc.expect("a libc defines its version");
        let numbers = |text: &str| glibc(format!("GLIBC_{text}").as_bytes());
        assert!(
            numbers(&provides) >= own.needs_glibc.as_deref().and_then(numbers),
            "{provides}"
        );
    }

    #[test]
    fn versions_are_compared_by_number() {
        let versions: BTreeSet<_> = [
            "GLIBC_2.4",
            "GLIBC_2.34",
            "GLIBC_PRIVATE",
            "GLIBC_2.2.5",
            "CXXABI_1.3",
        ]
        .iter()
        .filter_map(|name| glibc(name.as_bytes()))
        .collect();
        assert_eq!(newest(&versions).as_deref(), Some("2.34"));
    }

    #[test]
    fn scripts_and_broken_files_are_said_to_be_that() {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("x");
        std::fs::write(&path, "#!/bin/sh -e\nexec true\n").expect("written");
        let script = of(path.to_str().expect("is text")).expect("is there");
        assert_eq!(
            (script.kind, script.interpreter.as_deref()),
            ("script", Some("/bin/sh -e"))
        );
        std::fs::write(&path, b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0cut").expect("written");
        assert!(inspect(File::open(&path).expect("opens")).is_err());
        std::fs::write(&path, b"nothing").expect("written");
        assert_eq!(
            of(path.to_str().expect("is text")).expect("is there").kind,
            "other"
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(mut bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..2000)) {
            if bytes.len() > 64 {
                bytes[..16].copy_from_slice(b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0");
            }
            let mut file = tempfile::tempfile().expect("a file");
            std::io::Write::write_all(&mut file, &bytes).expect("written");
            std::io::Seek::rewind(&mut file).expect("rewound");
            // Any answer will do, as long as there is one.
            let _ = inspect(file);
        }
    }
}
