//! What disturbs figures, as random numbers.

use rand::RngExt;
use rand_chacha::ChaCha8Rng;

/// A shape of noise. Each has mean 0, so that whoever adds it to a truth knows
/// what an interval has to cover.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Noise {
    /// Normal, standard deviation 1.
    Normal,
    /// Uniform, from -1 to 1.
    Uniform,
    /// Two normal humps of one height, 6 of their standard deviations apart: two
    /// states of the host.
    Bimodal,
    /// Student's t with so many degrees of freedom: heavy tails on both sides.
    HeavyTailed(u32),
    /// Exponential: one-sided.
    Exponential,
    /// Log-normal with sigma 1: one-sided, with a long tail.
    LogNormal,
    /// Normal, each value correlated by so much with the one before.
    Autocorrelated(f64),
    /// Normal, on a straight rise of so many standard deviations over the series.
    Rising(f64),
    /// Normal, on a random walk whose step is half a standard deviation.
    Walking,
    /// Normal with sd 0.01, and with this probability ln 10 more: a run that
    /// takes ten times as long.
    Stalling(f64),
}

impl Noise {
    /// So many values in the order of time.
    pub fn series(self, rng: &mut ChaCha8Rng, n: usize) -> Vec<f64> {
        match self {
            Self::Autocorrelated(rho) => autoregression(rng, n, rho),
            Self::Rising(rise) => {
                let slope = rise / as_float(n);
                let centre = (as_float(n) - 1.0) / 2.0;
                (0..n)
                    .map(|i| slope * (as_float(i) - centre) + normal(rng))
                    .collect()
            }
            Self::Walking => {
                let mut place = 0.0;
                let mut step = || {
                    place += 0.5 * normal(rng);
                    place + normal(rng)
                };
                (0..n).map(|_| step()).collect()
            }
            independent => (0..n).map(|_| independent.value(rng)).collect(),
        }
    }

    /// One value of a noise without memory; of the others their noise alone.
    fn value(self, rng: &mut ChaCha8Rng) -> f64 {
        match self {
            Self::Normal | Self::Autocorrelated(_) | Self::Rising(_) | Self::Walking => normal(rng),
            Self::Uniform => 2.0 * uniform(rng) - 1.0,
            Self::Bimodal => normal(rng) + if uniform(rng) < 0.5 { 3.0 } else { -3.0 },
            Self::HeavyTailed(freedom) => student(rng, freedom),
            Self::Exponential => -(1.0 - uniform(rng)).ln() - 1.0,
            Self::LogNormal => normal(rng).exp() - 0.5_f64.exp(),
            Self::Stalling(share) => {
                let stall = if uniform(rng) < share { 1.0 } else { 0.0 };
                0.01 * normal(rng) + (stall - share) * 10.0_f64.ln()
            }
        }
    }
}

/// A number from 0 (included) to 1.
pub fn uniform(rng: &mut ChaCha8Rng) -> f64 {
    rng.random()
}

/// A standard normal number.
pub fn normal(rng: &mut ChaCha8Rng) -> f64 {
    let (radius, angle) = on_the_plane(rng);
    radius * angle.cos()
}

/// Two independent ones, sooner than one after the other.
pub fn two_normals(rng: &mut ChaCha8Rng) -> [f64; 2] {
    let (radius, angle) = on_the_plane(rng);
    let (sine, cosine) = angle.sin_cos();
    [radius * cosine, radius * sine]
}

/// Where two standard normal numbers lie (Box and Muller 1958).
fn on_the_plane(rng: &mut ChaCha8Rng) -> (f64, f64) {
    let radius = (-2.0 * (1.0 - uniform(rng)).ln()).sqrt();
    (radius, std::f64::consts::TAU * uniform(rng))
}

/// A number from Student's t: a normal one over the root of a chi-square one.
fn student(rng: &mut ChaCha8Rng, freedom: u32) -> f64 {
    let squares: f64 = (0..freedom).map(|_| normal(rng).powi(2)).sum();
    normal(rng) / (squares / f64::from(freedom)).sqrt()
}

/// A series with memory of one step, begun in its steady state.
fn autoregression(rng: &mut ChaCha8Rng, n: usize, rho: f64) -> Vec<f64> {
    let fresh = (1.0 - rho * rho).sqrt();
    let mut last = normal(rng);
    let mut next = || {
        last = rho * last + fresh * normal(rng);
        last
    };
    (0..n).map(|_| next()).collect()
}

/// A small number as a factor.
#[expect(clippy::cast_precision_loss, reason = "no series has 2^52 values")]
pub(crate) fn as_float(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::SeedableRng;
    use tare_stats::{lag1, mean, sd, skewness};

    const N: usize = 100_000;

    fn drawn(noise: Noise) -> Vec<f64> {
        noise.series(&mut ChaCha8Rng::seed_from_u64(1), N)
    }

    #[test]
    fn the_mean_is_nought() {
        use Noise::*;
        for noise in [
            Normal,
            Uniform,
            Bimodal,
            HeavyTailed(3),
            HeavyTailed(5),
            Exponential,
            LogNormal,
            Autocorrelated(0.4),
            Rising(3.0),
            Stalling(0.1),
        ] {
            let values = drawn(noise);
            let mean = mean(&values).expect("a mean");
            // Five standard errors, twice that where values hang together.
            let bound = 10.0 * sd(&values).expect("a spread") / as_float(N).sqrt();
            assert!(mean.abs() < bound, "{noise:?}: {mean}");
        }
    }

    #[test]
    fn two_normal_numbers_have_nothing_in_common() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let pairs: Vec<[f64; 2]> = (0..N).map(|_| two_normals(&mut rng)).collect();
        let of = |figure: fn(&[f64; 2]) -> f64| mean(&pairs.iter().map(figure).collect::<Vec<_>>());
        for (figure, right) in [
            (of(|[x, _]| *x), 0.0),
            (of(|[_, y]| *y), 0.0),
            (of(|[x, _]| x * x), 1.0),
            (of(|[_, y]| y * y), 1.0),
            (of(|[x, y]| x * y), 0.0),
            (of(|[x, y]| x * x * y * y), 1.0),
        ] {
            let found = figure.expect("a figure");
            assert!((found - right).abs() < 0.05, "{found}, not {right}");
        }
    }

    #[test]
    fn each_shape_is_what_it_is_called() {
        let about = |found: Option<f64>, right: f64, within: f64| {
            let found = found.expect("a figure");
            assert!((found - right).abs() < within, "{found}, not {right}");
        };
        about(sd(&drawn(Noise::Normal)), 1.0, 0.02);
        about(sd(&drawn(Noise::Bimodal)), 10.0_f64.sqrt(), 0.02);
        about(sd(&drawn(Noise::HeavyTailed(5))), (5.0_f64 / 3.0).sqrt(), 0.05);
        about(skewness(&drawn(Noise::Exponential)), 2.0, 0.2);
        about(lag1(&drawn(Noise::Autocorrelated(0.4))), 0.4, 0.02);
        about(sd(&drawn(Noise::Autocorrelated(0.4))), 1.0, 0.02);
        about(
            sd(&drawn(Noise::Rising(7.0))),
            (1.0_f64 + 49.0 / 12.0).sqrt(),
            0.03,
        );
    }
}
