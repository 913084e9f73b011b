//! A folder: an unpacked bundle, read like a packed one.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use walkdir::WalkDir;

use super::piece::BufPool;
use super::problem::ReadProblem;
use super::stream::Counted;
use super::unpack::{self, Inside};
use super::walk::Walk;
use crate::HEADER_PATH;

const BLOCK: usize = 1 << 20;
/// Folders inside folders; deeper ones cannot have a valid path anyway.
const MAX_DEPTH: usize = 256;

/// Reads all regular files below `root`, sorted by name; links are not followed.
pub(crate) fn read_folder(root: &Path, walk: &mut Walk<'_>) {
    let root = bundle_root(root);
    let bufs = BufPool::new(BLOCK);
    let nests = !root.join(HEADER_PATH).is_file();
    let files = WalkDir::new(&root)
        .follow_links(false)
        .sort_by_file_name()
        .max_depth(MAX_DEPTH)
        .min_depth(1);
    for file in files {
        if walk.stopped() || !walk.count_entry() {
            break;
        }
        let file = match file {
            Ok(file) => file,
            Err(error) => {
                let path = error
                    .path()
                    .map_or_else(String::new, |p| relative(&root, p));
                let message = error
                    .io_error()
                    .map_or_else(|| error.to_string(), ToString::to_string);
                walk.problem(ReadProblem::Unreadable { path, message });
                continue;
            }
        };
        let raw = raw_name(&root, file.path());
        let kind = file.file_type();
        let Some(path) = walk.name(&raw, kind.is_dir()) else {
            continue;
        };
        if kind.is_dir() {
            continue;
        }
        if !kind.is_file() {
            let path = path.to_string();
            let kind = if kind.is_symlink() {
                "symbolic link"
            } else {
                "special file"
            };
            walk.problem(ReadProblem::NotRegular {
                path,
                kind: kind.to_owned(),
            });
            continue;
        }
        let shown = path.to_string();
        match File::open(file.path()) {
            Ok(content) => {
                let size = file.metadata().ok().map(|m| m.len());
                let mut content = Counted::new(content, walk.source());
                if nests {
                    unpack::read(&mut content, Inside::entry(path, size, 0), walk);
                } else if walk.begin(path, size) {
                    read_file(content, &shown, &bufs, walk);
                }
            }
            Err(error) => {
                let message = error.to_string();
                walk.problem(ReadProblem::Unreadable {
                    path: shown,
                    message,
                });
            }
        }
    }
}

fn read_file(mut file: impl Read, path: &str, bufs: &BufPool, walk: &mut Walk<'_>) {
    let mut read = 0_u64;
    loop {
        let mut buf = bufs.take();
        match file.read(buf.space()) {
            Ok(0) => return walk.end(true),
            Ok(len) => {
                buf.set_len(len);
                read = read.saturating_add(len as u64);
                walk.count_inner(len);
                walk.content(&Arc::new(buf), 0..len);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => {
                let message = format!("cannot be read on at byte {read}: {error}");
                walk.problem(ReadProblem::Unreadable {
                    path: path.to_owned(),
                    message,
                });
                return walk.end(false);
            }
        }
        if walk.stopped() || walk.unwanted() {
            return walk.end(!walk.stopped());
        }
    }
}

/// `root`, or its only child when that holds the bundle: what `tar xzf` in an empty folder leaves.
fn bundle_root(root: &Path) -> PathBuf {
    if root.join(HEADER_PATH).is_file() {
        return root.to_owned();
    }
    let mut children = std::fs::read_dir(root).into_iter().flatten().flatten();
    match (children.next(), children.next()) {
        (Some(only), None)
            if only.file_type().is_ok_and(|t| t.is_dir())
                && only.path().join(HEADER_PATH).is_file() =>
        {
            only.path()
        }
        _ => root.to_owned(),
    }
}

fn relative(root: &Path, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .display()
        .to_string()
}

#[cfg(unix)]
fn raw_name(root: &Path, path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    path.strip_prefix(root)
        .unwrap_or(path)
        .as_os_str()
        .as_bytes()
        .to_vec()
}

#[cfg(not(unix))]
fn raw_name(root: &Path, path: &Path) -> Vec<u8> {
    relative(root, path).replace('\\', "/").into_bytes()
}
