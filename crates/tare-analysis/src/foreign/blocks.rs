//! The order of blocks: by number where all labels are numbers, else by file.

/// The blocks, in order.
#[derive(Debug, Default)]
pub(super) struct Blocks {
    /// Labels, in the order of the blocks. Of several for one number, such as
    /// `1` and `1.0`, the first.
    labels: Vec<String>,
    /// Whether the labels are names: their order is that of the file.
    pub named: bool,
}

impl Blocks {
    pub fn count(&self) -> usize {
        self.labels.len()
    }

    pub fn label(&self, place: u32) -> &str {
        self.labels.get(place as usize).map_or("", String::as_str)
    }
}

pub(super) struct Order {
    pub blocks: Blocks,
    /// The place of each label, by its number.
    pub places: Vec<u32>,
}

/// Puts labels in order. The order matters: the flags and the widening for
/// autocorrelation look at neighbouring blocks.
pub(super) fn order(labels: &[String]) -> Order {
    let whole = |label: &String| label.parse::<i128>().ok();
    let number = |label: &String| label.parse::<f64>().ok().filter(|n| n.is_finite());
    if let Some(keys) = labels.iter().map(whole).collect::<Option<Vec<i128>>>() {
        // Exactly: times in nanoseconds have more digits than a float.
        return sorted(labels, &keys, i128::cmp);
    }
    match labels.iter().map(number).collect::<Option<Vec<f64>>>() {
        // 0 and -0 are one block.
        Some(keys) => sorted(
            labels,
            &keys.iter().map(|k| k + 0.0).collect::<Vec<_>>(),
            f64::total_cmp,
        ),
        None => Order {
            blocks: Blocks {
                labels: labels.to_vec(),
                named: true,
            },
            places: (0..).take(labels.len()).collect(),
        },
    }
}

fn sorted<K: Copy>(labels: &[String], keys: &[K], compare: impl Fn(&K, &K) -> std::cmp::Ordering) -> Order {
    let mut by_key: Vec<usize> = (0..labels.len()).collect();
    by_key.sort_by(|a, b| compare(&keys[*a], &keys[*b]));
    let mut places = vec![0; labels.len()];
    let mut blocks = Blocks::default();
    let mut last: Option<usize> = None;
    for label in by_key {
        if last.is_none_or(|last| compare(&keys[last], &keys[label]).is_ne()) {
            blocks.labels.push(labels[label].clone());
        }
        // Never more than there are labels, which are numbered in 32 bits.
        places[label] = u32::try_from(blocks.labels.len() - 1).unwrap_or(u32::MAX);
        last = Some(label);
    }
    Order { blocks, places }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ordered(labels: &[&str]) -> (Vec<String>, bool) {
        let labels: Vec<String> = labels.iter().map(ToString::to_string).collect();
        let order = order(&labels);
        (order.blocks.labels, order.blocks.named)
    }

    #[test]
    fn numbers_are_ordered_as_numbers() {
        assert_eq!(ordered(&["10", "9", "-1"]).0, ["-1", "9", "10"]);
        assert_eq!(ordered(&["1.5", "1", "1e-3"]).0, ["1e-3", "1", "1.5"]);
        let near = ["1700000000000000001", "1700000000000000000"];
        assert_eq!(ordered(&near).0, [near[1], near[0]]);
    }

    #[test]
    fn one_number_is_one_block() {
        assert_eq!(ordered(&["1", "01", "2"]).0, ["1", "2"]);
        assert_eq!(ordered(&["0", "-0.0", "0.50", ".5"]).0, ["0", "0.50"]);
    }

    #[test]
    fn names_keep_the_order_of_the_file() {
        assert_eq!(
            ordered(&["tuesday", "monday", "1"]),
            (
                vec!["tuesday".to_owned(), "monday".to_owned(), "1".to_owned()],
                true
            )
        );
        assert!(ordered(&["1", "nan"]).1);
    }
}
