//! Parquet files: the same rows give the same bytes.

use bytes::Bytes;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::Compression;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use sha2::{Digest, Sha256};

use arrow::array::RecordBatch;

use crate::fingerprint::hex;
use crate::rows::Rows;
use crate::schema::{Table, VERSION};

/// Key in the metadata of each file, with the version of the schema.
const VERSION_KEY: &str = "casefile.schema";

/// Why a file cannot be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ColumnsError {
    /// The writer or reader says no.
    #[error("Parquet: {0}")]
    Parquet(#[from] parquet::errors::ParquetError),
    /// Rows that do not fit their table.
    #[error("rows of the table do not fit its columns: {0}")]
    Arrow(#[from] arrow::error::ArrowError),
    /// A column is there with another type, which no version of the schema does.
    #[error(
        "column `{column}` holds {found}, and the schema says {expected}: not a file of this program, or a broken one"
    )]
    Foreign {
        /// The column.
        column: String,
        /// What the file has.
        found: String,
        /// What it should be.
        expected: String,
    },
}

/// The rows of a table as a Parquet file. They are written in the order in which they are.
///
/// # Errors
/// [`ColumnsError`].
pub fn write(table: &Table, rows: &Rows) -> Result<Vec<u8>, ColumnsError> {
    let properties = WriterProperties::builder()
        .set_compression(Compression::SNAPPY)
        .set_created_by("casefile-fleet".to_owned())
        .set_key_value_metadata(Some(vec![
            KeyValue::new(VERSION_KEY.to_owned(), VERSION.to_string()),
            KeyValue::new("casefile.table".to_owned(), table.name.to_owned()),
        ]))
        .build();
    let batch = rows.batch(table)?;
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), Some(properties))?;
    writer.write(&batch)?;
    writer.close()?;
    Ok(file)
}

/// The name that a content has: the first 20 hexadecimal digits of its SHA-256.
pub fn name(content: &[u8]) -> String {
    hex(&Sha256::digest(content))[..20].to_owned()
}

/// Version of the schema and number of rows of a file, and whether its columns are the table's.
///
/// # Errors
/// [`ColumnsError`]: no Parquet, or columns of other types. Columns that are missing or that this release does not
/// know are none.
pub fn check(table: &Table, file: Bytes) -> Result<(u32, i64), ColumnsError> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)?;
    let expected = table.schema();
    for field in reader.schema().fields() {
        if let Ok(known) = expected.field_with_name(field.name())
            && known.data_type() != field.data_type()
        {
            return Err(ColumnsError::Foreign {
                column: field.name().clone(),
                found: field.data_type().to_string(),
                expected: known.data_type().to_string(),
            });
        }
    }
    let metadata = reader.metadata().file_metadata();
    let version = metadata
        .key_value_metadata()
        .and_then(|all| all.iter().find(|one| one.key == VERSION_KEY))
        .and_then(|one| one.value.as_deref()?.parse().ok());
    Ok((version.unwrap_or(0), metadata.num_rows()))
}

/// Everything that a file holds.
///
/// # Errors
/// [`ColumnsError::Parquet`].
pub fn read(file: Bytes) -> Result<Vec<RecordBatch>, ColumnsError> {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)?.build()?;
    reader.map(|batch| batch.map_err(Into::into)).collect()
}
