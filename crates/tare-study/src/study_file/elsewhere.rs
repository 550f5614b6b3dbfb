//! Workloads that published studies ran and that tare does not have yet: a study
//! may name them, so that its plan tells what is missing.

use tare_model::template::{Capacity, Feature, Property};

/// Their names, and what each would show.
pub(super) const ELSEWHERE: [(&str, Feature); 2] = [
    ("hibench", of(Property::Application, Capacity::Latency)),
    (
        "spot-price-cleaning",
        of(Property::Application, Capacity::Latency),
    ),
];

const fn of(property: Property, capacity: Capacity) -> Feature {
    Feature { property, capacity }
}
