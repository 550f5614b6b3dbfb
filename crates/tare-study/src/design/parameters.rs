//! A kernel with its parameters behind its name, as in `tcp-rr?ends=client-outside&size=1K`.

use super::{DesignError, WorkloadWish};
use tare_model::kernel::Kernel;
use tare_model::size::parse_memory;
use tare_model::suggest;
use tare_model::topology::Topology;

/// The parameters that a kernel can have.
const ALL: [&str; 3] = [Topology::PARAMETER, "size", "threads"];

/// A wish with the parameters that stand behind its name.
pub(super) fn taken(wish: &WorkloadWish) -> Result<WorkloadWish, DesignError> {
    let Some((name, options)) = wish.kernel.split_once('?') else {
        return Ok(wish.clone());
    };
    let kernel: Kernel = name.parse()?;
    let mut taken = WorkloadWish {
        kernel: name.to_owned(),
        ..wish.clone()
    };
    for pair in options.split('&') {
        set(&mut taken, kernel, pair).map_err(|why| DesignError::KernelOption { kernel, why })?;
    }
    Ok(taken)
}

fn set(wish: &mut WorkloadWish, kernel: Kernel, pair: &str) -> Result<(), String> {
    let form = || format!("'{pair}' is not a parameter: write NAME?key=value&key=value");
    let (key, value) = pair.split_once('=').ok_or_else(form)?;
    let number = || format!("'{value}' is not a number for {key}");
    match key {
        Topology::PARAMETER => wish.ends = Some(value.parse()?),
        "size" if kernel.sizes().is_some_and(|sizes| sizes.in_bytes) => {
            wish.size = Some(parse_memory(value).map_err(|e| e.to_string())?);
        }
        "size" => wish.size = Some(value.parse().map_err(|_| number())?),
        "threads" => wish.threads = Some(value.parse().map_err(|_| number())?),
        _ => {
            let near = suggest::among(key, &ALL, "the parameters");
            return Err(format!("there is no parameter '{key}': {near}"));
        }
    }
    Ok(())
}
