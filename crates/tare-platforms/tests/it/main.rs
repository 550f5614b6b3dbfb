//! The order of the modules. `wish_to_stop.rs` is a binary of its own: it interrupts its whole process.

mod layers;
