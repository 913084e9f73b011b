//! GPUs and their driver: what `nvidia-smi` reports in each of its forms, which Xid came first and what followed from
//! it, and which parts of the driver stack do not fit one another.
//!
//! Pure: texts and versions in, explained statements out. A value that is not understood is not read; it never becomes
//! a wrong one.

pub mod lspci;
pub mod smi;
pub mod stack;
pub mod version;
pub mod xid;
