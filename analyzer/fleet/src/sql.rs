//! SQL over the tables, by DataFusion: the reduce step, and every question that is not a rule.

use std::collections::BTreeMap;
use std::sync::Arc;

use datafusion::arrow::array::{Array, ArrayRef, AsArray, RecordBatch};
use datafusion::arrow::datatypes::{DataType, Int64Type, SchemaRef};
use datafusion::datasource::MemTable;
use datafusion::datasource::TableProvider;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::error::DataFusionError;
use datafusion::execution::runtime_env::RuntimeEnvBuilder;
use datafusion::prelude::{DataFrame, SQLOptions, SessionConfig, SessionContext};
use serde_json::Value;
use tokio::runtime::Runtime;

use crate::rows::Rows;
use crate::schema::{TABLES, Table};
use crate::store::Store;

/// Most memory that a question may take, in bytes; beyond it, sorts and joins go to the disk or the question fails.
const MEMORY: usize = 2 << 30;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum SqlError {
    /// The engine says no.
    #[error("{0}")]
    Engine(String),
    /// No thread or timer.
    #[error("the engine does not start: {0}")]
    Start(#[source] std::io::Error),
}

impl From<DataFusionError> for SqlError {
    fn from(error: DataFusionError) -> Self {
        SqlError::Engine(error.strip_backtrace())
    }
}

/// Where rows are.
pub enum Source<'a> {
    /// Parquet files by table.
    Files(&'a Store, BTreeMap<String, Vec<String>>),
    /// Rows of bundles that were just read.
    Rows(Rows),
}

/// An engine that knows all tables.
pub struct Engine {
    context: SessionContext,
    runtime: Runtime,
}

/// An answer.
pub struct Answer {
    /// Its columns.
    pub schema: SchemaRef,
    /// Its rows.
    pub batches: Vec<RecordBatch>,
}

impl Engine {
    /// Makes every table known; one of which there is no file is empty. A bundle that is there twice, in one source or
    /// in several, counts once.
    ///
    /// # Errors
    /// [`SqlError`]: a file that cannot be read, with its name.
    pub fn open(sources: Vec<Source<'_>>) -> Result<Self, SqlError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .enable_all()
            .build()
            .map_err(SqlError::Start)?;
        // The generic dialect takes `SELECT node, cluster` for a list that ends before a CLUSTER BY.
        let settings = SessionConfig::new()
            .with_information_schema(true)
            .set_bool(
                "datafusion.execution.parquet.schema_force_view_types",
                false,
            )
            .set_str("datafusion.sql_parser.dialect", "PostgreSQL");
        let memory = RuntimeEnvBuilder::new()
            .with_memory_limit(MEMORY, 1.0)
            .build_arc()?;
        let context = SessionContext::new_with_config_rt(settings, memory);
        for source in &sources {
            if let Source::Files(store, _) = source
                && store.folder().is_none()
            {
                let (client, url) = store.client();
                context.register_object_store(url, client);
            }
        }
        let engine = Self { context, runtime };
        for table in TABLES {
            engine.runtime.block_on(engine.register(table, &sources))?;
        }
        engine.once_each()?;
        Ok(engine)
    }

    async fn register(&self, table: &Table, sources: &[Source<'_>]) -> Result<(), SqlError> {
        let mut all: Option<DataFrame> = None;
        for source in sources {
            let provider: Arc<dyn TableProvider> = match source {
                Source::Rows(rows) => {
                    let batch = rows
                        .batch(table)
                        .map_err(|error| SqlError::Engine(error.to_string()))?;
                    Arc::new(MemTable::try_new(table.schema(), vec![vec![batch]])?)
                }
                Source::Files(store, files) => match files.get(table.name) {
                    Some(files) if !files.is_empty() => listing(store, files, table)?,
                    _ => continue,
                },
            };
            let part = self.context.read_table(provider)?;
            all = Some(match all {
                Some(all) => all.union(part)?,
                None => part,
            });
        }
        let provider = match all {
            Some(all) => all.into_view(),
            None => {
                let none = RecordBatch::new_empty(table.schema());
                Arc::new(MemTable::try_new(table.schema(), vec![vec![none]])?)
            }
        };
        self.context.register_table(table.name, provider)?;
        Ok(())
    }

    /// Where bundles are there twice, lets each table show them once: of rows that agree in all columns one, of a
    /// bundle's own row the one with the first name.
    fn once_each(&self) -> Result<(), SqlError> {
        let twice = self.integers("SELECT count(*) - count(DISTINCT bundle) FROM bundles")?;
        if twice.first() == Some(&0) {
            return Ok(());
        }
        for table in TABLES {
            let raw = format!("{}_as_written", table.name);
            let Some(provider) = self.context.deregister_table(table.name)? else {
                continue;
            };
            self.context.register_table(raw.as_str(), provider)?;
            let question = if table.name == "bundles" {
                format!("SELECT DISTINCT ON (bundle) * FROM {raw} ORDER BY bundle, input")
            } else {
                format!("SELECT DISTINCT * FROM {raw}")
            };
            let view = self
                .runtime
                .block_on(self.context.sql(&question))?
                .into_view();
            self.context.register_table(table.name, view)?;
        }
        Ok(())
    }

    /// Asks; only questions are taken, nothing that writes.
    ///
    /// # Errors
    /// [`SqlError::Engine`] with what the engine says.
    pub fn ask(&self, sql: &str) -> Result<Answer, SqlError> {
        let reading = SQLOptions::new()
            .with_allow_ddl(false)
            .with_allow_dml(false)
            .with_allow_statements(false);
        self.runtime.block_on(async {
            let frame = self.context.sql_with_options(sql, reading).await?;
            let schema = Arc::clone(frame.schema().inner());
            let batches = frame.collect().await?;
            Ok(Answer { schema, batches })
        })
    }

    fn integers(&self, sql: &str) -> Result<Vec<i64>, SqlError> {
        let answer = self.ask(sql)?;
        let column = answer.batches.iter().map(|batch| batch.column(0));
        Ok(column
            .flat_map(|array| array.as_primitive::<Int64Type>().values().to_vec())
            .collect())
    }
}

impl Answer {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.batches.iter().map(RecordBatch::num_rows).sum()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Every row as texts; null is empty.
    ///
    /// # Errors
    /// [`SqlError::Engine`] for a type that has no text.
    pub fn texts(&self) -> Result<Vec<Vec<String>>, SqlError> {
        let rows = self.cells()?.into_iter();
        Ok(rows
            .map(|row| row.into_iter().map(Option::unwrap_or_default).collect())
            .collect())
    }

    /// Every row as a JSON object: numbers and truth values as such, null where nothing is known, all else as text.
    ///
    /// # Errors
    /// [`SqlError::Engine`] for a type that has no text.
    pub fn objects(&self) -> Result<Vec<Value>, SqlError> {
        let fields = self.schema.fields();
        let object = |row: Vec<Option<String>>| {
            let named = fields.iter().zip(row).map(|(field, cell)| {
                let kind = field.data_type();
                let is_plain = kind.is_numeric() || *kind == DataType::Boolean;
                let plain = cell.as_deref().filter(|_| is_plain);
                let value = plain.and_then(|text| serde_json::from_str(text).ok());
                (field.name().clone(), value.unwrap_or_else(|| cell.into()))
            });
            Value::Object(named.collect())
        };
        Ok(self.cells()?.into_iter().map(object).collect())
    }

    fn cells(&self) -> Result<Vec<Vec<Option<String>>>, SqlError> {
        let mut rows = Vec::new();
        for batch in &self.batches {
            let columns = batch
                .columns()
                .iter()
                .map(as_text)
                .collect::<Result<Vec<_>, _>>()?;
            for row in 0..batch.num_rows() {
                let cell = |column: &ArrayRef| {
                    let column = column.as_string::<i32>();
                    (!column.is_null(row)).then(|| column.value(row).to_owned())
                };
                rows.push(columns.iter().map(cell).collect());
            }
        }
        Ok(rows)
    }
}

fn as_text(column: &ArrayRef) -> Result<ArrayRef, SqlError> {
    datafusion::arrow::compute::cast(column, &DataType::Utf8)
        .map_err(|error| SqlError::Engine(error.to_string()))
}

/// The files of a table as one; columns that a file lacks are null.
fn listing(
    store: &Store,
    files: &[String],
    table: &Table,
) -> Result<Arc<dyn TableProvider>, SqlError> {
    let urls = files
        .iter()
        .map(|file| match store.folder() {
            Some(folder) => match url::Url::from_file_path(folder.join(file)) {
                Ok(url) => ListingTableUrl::parse(url),
                Err(()) => ListingTableUrl::parse(folder.join(file).display().to_string()),
            },
            None => {
                let (_, url) = store.client();
                let host = &url[..url::Position::BeforePath];
                ListingTableUrl::parse(format!("{host}/{}", store.key(file)))
            }
        })
        .collect::<Result<Vec<_>, _>>()?;
    let options = ListingOptions::new(Arc::new(ParquetFormat::default()));
    let config = ListingTableConfig::new_with_multi_paths(urls)
        .with_listing_options(options)
        .with_schema(table.schema());
    Ok(Arc::new(ListingTable::try_new(config)?))
}
