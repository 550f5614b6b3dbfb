//! Statistics against other programs, and properties that hold for any input.

mod inference;
mod properties;
mod reference;
mod rounds;
mod spread;
