//! Rows as a Parquet file: one row group, every column optional, dictionaries for text.

use super::{Column, Rows, Values};
use parquet::basic::{LogicalType, Repetition, TimeUnit, Type as Physical};
use parquet::data_type::{ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::Type;
use std::io::Write;
use std::sync::Arc;

/// The file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct Unwritten(#[from] ParquetError);

/// Writes rows.
///
/// # Errors
/// [`Unwritten`].
pub fn parquet(rows: &Rows, to: impl Write + Send) -> Result<(), Unwritten> {
    let fields: Result<Vec<Arc<Type>>, ParquetError> = rows.columns.iter().map(field).collect();
    let schema = Type::group_type_builder("tare").with_fields(fields?).build()?;
    let properties = WriterProperties::builder()
        .set_created_by(format!("tare {}", tare_model::VERSION))
        .build();
    let mut file = SerializedFileWriter::new(to, Arc::new(schema), Arc::new(properties))?;
    let mut group = file.next_row_group()?;
    for column in &rows.columns {
        write(&mut group, &column.values)?;
    }
    group.close()?;
    file.close()?;
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
