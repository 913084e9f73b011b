//! Captures of other tools in small, as their tools lay them out.
