//! Workloads that are held together.

use super::{DesignError, list, refuse_twice};
use crate::workload_file;
use tare_model::study::{Effect, Study};
use tare_model::template::Missing;

/// The effects by the names that the study's workloads have. One of a workload that the study
/// leaves out is left out with it.
pub(super) fn effects(wished: &[Effect], study: &Study) -> Result<Vec<Effect>, DesignError> {
    let mut effects = Vec::new();
    for (index, wish) in wished.iter().enumerate() {
        let Some([of, against]) = both(wish, study, index)? else {
            continue;
        };
        if of == against {
            let name = of;
            return Err(DesignError::EffectOfItself { name, index });
        }
        effects.push(Effect {
            name: wish.name.clone(),
            of,
            against,
        });
    }
    refuse_twice("effect", &effects)?;
    Ok(effects)
}

/// The names of both workloads; `None` where one is left out.
fn both(wish: &Effect, study: &Study, index: usize) -> Result<Option<[String; 2]>, DesignError> {
    let names = [&wish.of, &wish.against].map(|asked| workload_file::full_name(asked));
    for name in &names {
        if is_left_out(name, study) {
            return Ok(None);
        }
        if study.workloads.iter().all(|workload| workload.name != *name) {
            return Err(DesignError::NoSuchEffect {
                effect: wish.name.clone(),
                name: name.clone(),
                known: list(&study.workloads.iter().map(|w| w.name()).collect::<Vec<_>>()),
                index,
            });
        }
    }
    Ok(Some(names))
}

fn is_left_out(name: &str, study: &Study) -> bool {
    let mut left_out = study.template.iter().flat_map(|template| &template.left_out);
    left_out.any(|item| item.what == Missing::Workload && item.name == name)
}
