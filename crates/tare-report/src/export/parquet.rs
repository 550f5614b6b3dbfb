//! Rows as a Parquet file: every column optional, dictionaries for text.

use super::{Column, Rows, Values};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::{self, Write};
use std::sync::Arc;

/// A file that groups of rows are written into; their columns are those of the first.
pub(super) enum Parquet<W: Write + Send> {
    Empty(W),
    Begun(SerializedFileWriter<W>),
    Broken,
}

impl<W: Write + Send> Parquet<W> {
    pub const fn new(to: W) -> Self {
        Self::Empty(to)
    }

    /// Adds a group of rows.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn write(&mut self, rows: &Rows) -> io::Result<()> {
        let mut file = match std::mem::replace(self, Self::Broken) {
            Self::Empty(to) => begun(to, rows).map_err(of_io)?,
            Self::Begun(file) => file,
            Self::Broken => return Err(io::Error::other("an earlier group could not be written")),
        };
        add(&mut file, rows).map_err(of_io)?;
        *self = Self::Begun(file);
        Ok(())
    }

    /// Ends the file; one without rows stays empty.
    ///
    /// # Errors
    /// As [`Self::write`].
    pub fn finish(self) -> io::Result<()> {
        match self {
            Self::Begun(file) => file.close().map(drop).map_err(of_io),
            _ => Ok(()),
        }
    }
}

/// The error of what is written into, where it is that.
fn of_io(error: ParquetError) -> io::Error {
    match error {
        ParquetError::External(inner) => match inner.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(other) => io::Error::other(other),
        },
        other => io::Error::other(other),
    }
}

fn begun<W: Write + Send>(to: W, rows: &Rows) -> Result<SerializedFileWriter<W>, ParquetError> {
    let fields: Result<Vec<Arc<Type>>, ParquetError> = rows.columns.iter().map(field).collect();
    let schema = Type::group_type_builder("tare").with_fields(fields?).build()?;
    let properties = WriterProperties::builder()
        .set_created_by(format!("tare {}", tare_model::VERSION))
        .build();
    SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties))
}

fn add<W: Write + Send>(file: &mut SerializedFileWriter<W>, rows: &Rows) -> Result<(), ParquetError> {
    let mut group = file.next_row_group()?;
    for column in &rows.columns {
        write(&mut group, &column.values)?;
    }
    group.close()?;
    Ok(())
}

fn field(column: &Column) -> Result<Arc<Type>, ParquetError> {
    let (physical, logical) = match column.values {
        Values::Text(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
        Values::Whole(_) => (Physical::INT64, None),
        Values::Number(_) => (Physical::DOUBLE, None),
        Values::Time(_) => (
            Physical::INT64,
            Some(LogicalType::Timestamp {
                is_adjusted_to_u_t_c: true,
                unit: TimeUnit::NANOS,
            }),
        ),
    };
    let built = Type::primitive_type_builder(column.name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build()?;
    Ok(Arc::new(built))
}

fn write<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: &Values,
) -> Result<(), ParquetError> {
    match values {
        Values::Text(values) => {
            let bytes = |text: &String| ByteArray::from(text.as_str());
            put::<ByteArrayType, W>(group, values.iter().map(|text| text.as_ref().map(bytes)))
        }
        Values::Whole(values) | Values::Time(values) => put::<Int64Type, W>(group, values.iter().copied()),
        Values::Number(values) => put::<DoubleType, W>(group, values.iter().copied()),
    }
}

/// Writes a column: a level of 1 for each value that is there, 0 for each that is missing.
fn put<T: DataType, W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    values: impl Iterator<Item = Option<T::T>>,
) -> Result<(), ParquetError> {
    let values: Vec<Option<T::T>> = values.collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let present: Vec<T::T> = values.into_iter().flatten().collect();
    let Some(mut column) = group.next_column()? else {
        return Ok(());
    };
    column.typed::<T>().write_batch(&present, Some(&levels), None)?;
    column.close()
}
