//! Instruction sets: which ones this CPU has, and one version of a function for
//! each of them.

use crate::error::KernelError;
use tare_wire::kernel::Isa;

/// An instruction set that this CPU was found to have. Holding one is what
/// makes calling code generated for it sound.
#[derive(Debug, Clone, Copy)]
pub struct Granted(Isa);

impl Granted {
    pub fn level(self) -> Isa {
        self.0
    }

    /// Whether products and sums are fused into one rounding.
    pub fn fused(self) -> bool {
        ALWAYS_FUSED || self.0 >= Isa::V3
    }
}

/// Grants `isa` if this CPU has it. Nothing else is ever taken in its place:
/// boxes that ran different code could not be compared.
///
/// # Errors
/// [`KernelError::UnsupportedIsa`] if the CPU, as the box shows it, lacks it.
pub fn require(isa: Isa) -> Result<Granted, KernelError> {
    if available(isa) {
        Ok(Granted(isa))
    } else {
        Err(KernelError::UnsupportedIsa(isa))
    }
}

/// The highest instruction set of this CPU that kernels are built for.
pub fn highest() -> Isa {
    [Isa::V4, Isa::V3]
        .into_iter()
        .find(|isa| available(*isa))
        .unwrap_or(Isa::Baseline)
}

/// Whether this CPU, and the system's support for its registers, has all of `isa`.
pub fn available(isa: Isa) -> bool {
    match isa {
        Isa::Baseline => true,
        Isa::V3 => has_v3(),
        Isa::V4 => has_v3() && has_v4(),
    }
}

/// The features of x86-64-v3 beyond v2, by the System V psABI.
#[cfg(target_arch = "x86_64")]
fn has_v3() -> bool {
    is_x86_feature_detected!("avx")
        && is_x86_feature_detected!("avx2")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
        && is_x86_feature_detected!("f16c")
        && is_x86_feature_detected!("fma")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("movbe")
}

/// The features of x86-64-v4 beyond v3, by the System V psABI.
#[cfg(target_arch = "x86_64")]
fn has_v4() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512cd")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_v3() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn has_v4() -> bool {
    false
}

/// Defines a function of a [`Granted`] that runs `$body::<LANES>` as compiled
/// for that instruction set, which `$body` knows by the `f64`s in one of its
/// vectors. `$body` and what it calls must be `#[inline(always)]`, since only
/// what is inlined takes on the caller's features.
macro_rules! per_isa {
    ($vis:vis fn $name:ident($($arg:ident: $type:ty),* $(,)?) $(-> $ret:ty)? = $body:ident) => {
        $vis fn $name(isa: $crate::isa::Granted, $($arg: $type),*) $(-> $ret)? {
            #[inline(never)]
            fn baseline($($arg: $type),*) $(-> $ret)? {
                $body::<2>($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,f16c,fma,lzcnt,movbe")]
            fn v3($($arg: $type),*) $(-> $ret)? {
                $body::<4>($($arg),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,bmi1,bmi2,f16c,fma,lzcnt,movbe")]
            #[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl")]
            fn v4($($arg: $type),*) $(-> $ret)? {
                $body::<8>($($arg),*)
            }

            match isa.level() {
                tare_wire::kernel::Isa::Baseline => baseline($($arg),*),
                // SAFETY: a `Granted` exists only for what this CPU has, and
                // `require` looks for every feature that is enabled above.
                #[cfg(target_arch = "x86_64")]
                tare_wire::kernel::Isa::V3 => unsafe { v3($($arg),*) },
                // SAFETY: as above.
                #[cfg(target_arch = "x86_64")]
                tare_wire::kernel::Isa::V4 => unsafe { v4($($arg),*) },
                #[cfg(not(target_arch = "x86_64"))]
                _ => unreachable!("never granted on this architecture"),
            }
        }
    };
}

/// Every arm64 has the instruction.
const ALWAYS_FUSED: bool = cfg!(target_arch = "aarch64");

/// `a * b + c`, in one rounding from AVX2 on, as gcc does it: this compiler never
/// fuses by itself, and without the instruction it would call a slow routine.
#[inline(always)]
pub fn mul_add<const LANES: usize>(a: f64, b: f64, c: f64) -> f64 {
    if ALWAYS_FUSED || LANES >= 4 {
        a.mul_add(b, c)
    } else {
        a * b + c
    }
}

pub(crate) use per_isa;

#[cfg(test)]
pub fn granted() -> Vec<Granted> {
    let all = [Isa::Baseline, Isa::V3, Isa::V4];
    all.into_iter().filter_map(|isa| require(isa).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_refused_rather_than_replaced() {
        for isa in [Isa::Baseline, Isa::V3, Isa::V4] {
            match require(isa) {
                Ok(granted) => assert!(available(isa) && granted.level() == isa),
                Err(e) => assert!(!available(isa) && e.to_string().contains(&isa.to_string())),
            }
        }
    }

    #[test]
    fn a_level_includes_those_below() {
        assert!(available(Isa::Baseline));
        assert!(!available(Isa::V4) || available(Isa::V3));
        assert!(available(highest()));
    }
}
