//! `thread`: making a thread that does nothing, and waiting for its end.
//!
//! By pthread_create and pthread_join of the C library that is part of the binary, hence
//! the same in every box: a stack is mapped, a thread made, and all of it undone. On one
//! CPU, so that the thread runs when its maker waits, and not at once or somewhat later on
//! another CPU, as the scheduler likes and as others use that CPU.

use crate::error::KernelError;
use crate::gate::{Sliced, timed_alone};
use crate::report;
use crate::switch::stay_on_one_cpu;
use std::ffi::c_void;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use tare_wire::gate::Part;
use tare_wire::kernel::Check;

/// Bytes of a thread's stack: C libraries differ in their own choice.
const STACK: usize = 128 << 10;

/// The kernel, of which a unit is a thread.
pub struct Slices {
    attributes: Attributes,
    threads: usize,
    wrong: u64,
}

impl Slices {
    /// # Errors
    /// [`KernelError::System`] if the process cannot stay on one CPU, or the C library
    /// refuses the size of the stack.
    pub fn new() -> Result<Self, KernelError> {
        stay_on_one_cpu()?;
        Ok(Self {
            attributes: Attributes::new()?,
            threads: 0,
            wrong: 0,
        })
    }

    /// So many threads, one after the other; counts those that did not pass back what
    /// they were given.
    fn make(&mut self, threads: u64) -> Result<u64, KernelError> {
        let mut wrong = 0;
        for _ in 0..threads {
            self.threads = self.threads.wrapping_add(1);
            let given = ptr::without_provenance_mut(self.threads);
            wrong += u64::from(make_and_join(&self.attributes, given)? != given);
        }
        Ok(wrong)
    }
}

impl Sliced for Slices {
    fn work(&mut self, units: u64, parts: &mut [Part]) -> Result<(), KernelError> {
        self.wrong += timed_alone(parts, units as f64, || self.make(units))?;
        Ok(())
    }

    fn check(&mut self) -> Check {
        let what = "threads that returned a wrong value";
        report::check(what, self.wrong as f64, 0.0)
    }
}

/// What each thread is made with.
struct Attributes(libc::pthread_attr_t);

impl Attributes {
    fn new() -> Result<Self, KernelError> {
        let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
        // SAFETY: the first call makes what it is given sound.
        done("pthread_attr_init", unsafe {
            libc::pthread_attr_init(attributes.as_mut_ptr())
        })?;
        // SAFETY: it is sound since that call succeeded.
        let mut attributes = unsafe { attributes.assume_init() };
        // SAFETY: as above.
        done("pthread_attr_setstacksize", unsafe {
            libc::pthread_attr_setstacksize(&mut attributes, STACK)
        })?;
        Ok(Self(attributes))
    }
}

/// What a thread that was given `given` passed back.
fn make_and_join(attributes: &Attributes, given: *mut c_void) -> Result<*mut c_void, KernelError> {
    let mut thread = MaybeUninit::<libc::pthread_t>::uninit();
    // SAFETY: the attributes are sound; the function takes and returns a number and
    // touches nothing else.
    done("pthread_create", unsafe {
        libc::pthread_create(thread.as_mut_ptr(), &attributes.0, pass_back, given)
    })?;
    let mut back = ptr::null_mut();
    // SAFETY: the thread was made by the call above and is joined once.
    done("pthread_join", unsafe {
        libc::pthread_join(thread.assume_init(), &mut back)
    })?;
    Ok(back)
}

extern "C" fn pass_back(given: *mut c_void) -> *mut c_void {
    given
}

/// Of calls that return the number of their error.
fn done(what: &'static str, error: i32) -> Result<(), KernelError> {
    if error == 0 {
        return Ok(());
    }
    let source = io::Error::from_raw_os_error(error);
    Err(KernelError::System { what, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_thread_passes_back_what_it_was_given() {
        let mut slices = Slices::new().unwrap();
        let mut parts = [Part::from((0.0, 0, 0))];
        slices.work(1, &mut parts).unwrap();
        slices.work(200, &mut parts).unwrap();
        assert_eq!((parts[0].work, slices.check().found), (201.0, 0.0));
        assert_eq!(slices.threads, 201);
    }

    #[test]
    fn a_call_that_fails_is_named() {
        let error = done("pthread_create", libc::EAGAIN).unwrap_err().to_string();
        assert!(error.starts_with("pthread_create failed: "), "{error}");
    }
}
