//! Which parser reads which entry: the first whose glob matches the path.

use std::cell::RefCell;

use globset::{GlobSet, GlobSetBuilder};

use super::{PARSERS, Parser};

thread_local! {
    /// The last path that a thread asked for, and the place of its parser: an entry comes in many pieces. All routers have
    /// the same parsers.
    static LAST: RefCell<(String, Option<usize>)> = const { RefCell::new((String::new(), None)) };
}

/// Which parser reads which entry.
pub struct Router {
    globs: GlobSet,
    parsers: Vec<&'static Parser>,
}

impl Router {
    /// Compiles the globs of all parsers.
    pub fn new() -> Result<Self, globset::Error> {
        let mut builder = GlobSetBuilder::new();
        let mut parsers = Vec::new();
        for parser in PARSERS {
            for glob in parser.reads {
                let path = glob.path();
                let mut glob = globset::GlobBuilder::new(&path);
                builder.add(glob.literal_separator(true).build()?);
                parsers.push(*parser);
            }
        }
        Ok(Self {
            globs: builder.build()?,
            parsers,
        })
    }

    /// The first registered parser that reads this entry.
    pub fn parser(&self, path: &str) -> Option<&'static Parser> {
        let first = LAST.with_borrow_mut(|(last, first)| {
            if last != path {
                path.clone_into(last);
                *first = self.globs.matches(path).into_iter().min();
            }
            *first
        });
        Some(self.parsers[first?])
    }
}
