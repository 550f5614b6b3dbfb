//! An image as platforms take it: a folder (`Image::rootfs`), a layer, a disk.

mod disk;
mod layer;
#[cfg(test)]
mod tests;

pub use layer::layer_tar;
