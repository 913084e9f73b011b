//! Rows, Parquet and SQL over the analyses of many bundles.
//!
//! It knows nothing of diagnosis: an analysis comes in as `report.json` ([`analysed::Analysed`]), usually through
//! another process ([`worker`]), and becomes rows of documented tables ([`schema`], [`rows`]), Parquet files
//! ([`columns`]) in a folder or object storage ([`store`]), written by shards that may be killed and started again at
//! any time ([`shard`]). [`inbox`] does the same for a desk, one report a bundle. [`sql`] and [`odd`] read what is there.

pub mod analysed;
pub mod columns;
pub mod commit;
pub mod entry;
pub mod fingerprint;
pub mod fleet_odd;
pub mod hook;
pub mod inbox;
pub mod names;
pub mod odd;
pub mod plan;
pub mod rows;
pub mod schema;
pub mod shard;
pub mod sql;
pub mod store;
pub mod template;
pub mod worker;
