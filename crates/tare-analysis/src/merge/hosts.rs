//! Which files are of one host, and what a host says.

use super::OfHost;
use crate::brief::Brief;
use crate::run::Estimate;
use tare_model::study::Cell;
use tare_stats::{HostEstimate, Interval, LEVEL, PairedInference, t_quantile};

pub(super) struct Host {
    /// What tells it from others; absent where its file does not say.
    pub identity: Option<String>,
    /// Places of its files.
    pub files: Vec<usize>,
}

impl Host {
    /// The hosts of some files, in the order in which they occur.
    pub fn of(files: &[Brief]) -> Vec<Self> {
        let mut hosts: Vec<Self> = Vec::new();
        for (i, file) in files.iter().enumerate() {
            let identity = file.host.clone();
            let known = hosts
                .iter_mut()
                .find(|h| identity.is_some() && h.identity == identity);
            match known {
                Some(host) => host.files.push(i),
                None => hosts.push(Self {
                    identity,
                    files: vec![i],
                }),
            }
        }
        hosts
    }
}

/// What a host says of a cell: the mean of what its files say.
pub(super) fn estimate_of(index: usize, host: &Host, files: &[Brief], cell: &Cell) -> Option<OfHost> {
    let of = |file: &usize| {
        let cost = files.get(*file)?.cost(cell)?;
        Some((cost.n, cost.inference?))
    };
    let files: Vec<(usize, PairedInference)> = host.files.iter().filter_map(of).collect();
    let estimates: Vec<HostEstimate> = files
        .iter()
        .filter_map(|(_, inference)| HostEstimate::of(inference))
        .collect();
    #[expect(clippy::cast_precision_loss, reason = "a few files")]
    let files_of_host = Some(estimates.len() as f64).filter(|n| *n > 0.0)?;
    let mean = estimates.iter().map(|e| e.mean).sum::<f64>() / files_of_host;
    let error = estimates.iter().map(|e| e.error.powi(2)).sum::<f64>().sqrt() / files_of_host;
    let n = files.iter().map(|(n, _)| n).sum();
    let half = t_quantile(f64::midpoint(1.0, LEVEL), usize::max(n, 2) - 1)? * error;
    let interval = Interval {
        low: mean - half,
        high: mean + half,
    };
    Some(OfHost {
        host: index,
        n,
        cost: Estimate::of_logs(mean, interval),
        p_alike: None,
        estimate: HostEstimate { mean, error },
    })
}
