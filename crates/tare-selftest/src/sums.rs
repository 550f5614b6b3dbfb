//! What many draws add up to, and the figures that follow with their errors.

/// The sums over all draws of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct Total {
    /// Number of draws.
    pub draws: u32,
    pub sums: Vec<f64>,
}

/// A figure found by simulation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Found {
    /// The figure.
    pub value: f64,
    /// Its standard error.
    pub error: f64,
}

impl Total {
    /// The share of draws that counted 1 in this sum, the others 0.
    pub fn share(&self, sum: usize) -> Found {
        let n = f64::from(self.draws);
        // The error as if two draws more had counted and two had not (Agresti and Coull
        // 1998): what occurred always or never in few draws need not do so for ever.
        let near = (self.sums[sum] + 2.0) / (n + 4.0);
        Found {
            value: self.sums[sum] / n,
            error: (near * (1.0 - near) / (n + 4.0)).sqrt(),
        }
    }

    /// The mean of what one sum holds, the next one holding its squares.
    pub fn mean(&self, sum: usize) -> Found {
        let n = f64::from(self.draws);
        let value = self.sums[sum] / n;
        let variance = (self.sums[sum + 1] / n - value * value).max(0.0);
        Found {
            value,
            error: (variance / n).sqrt(),
        }
    }
}

/// Adds a value and its square, for [`Total::mean`].
pub(crate) fn add(sums: &mut [f64], at: usize, value: f64) {
    sums[at] += value;
    sums[at + 1] += value * value;
}

/// Adds 1 if it is so, for [`Total::share`].
pub(crate) fn count(sums: &mut [f64], at: usize, it_is: bool) {
    sums[at] += f64::from(u8::from(it_is));
}
