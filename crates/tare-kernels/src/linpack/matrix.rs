//! LINPACK's matrix, made from a linear congruential generator.

/// With more columns than the generator's period of 2^14 has numbers, columns
/// repeat and the matrix is singular.
pub const MAX_ORDER: u64 = (1 << 14) - 1;

/// The elements by columns. It is cheaper to draw them again than to keep a
/// second matrix.
#[derive(Debug)]
pub struct Columns {
    order: usize,
    draw: u32,
}

impl Columns {
    pub fn new(order: usize) -> Self {
        Self { order, draw: 1325 }
    }

    /// Hands each element of the next column to `each`, with its row.
    ///
    /// After a column of even order one draw is dropped, which LINPACK does not
    /// do: the order would share factors with the period, and from 2^14 over the
    /// largest power of 2 in it columns would repeat (2000: after 1024).
    #[inline(always)]
    pub fn next_column(&mut self, mut each: impl FnMut(usize, f64)) {
        for row in 0..self.order {
            each(row, self.next());
        }
        if self.order.is_multiple_of(2) {
            self.next();
        }
    }

    /// In [-2, 2).
    #[inline(always)]
    fn next(&mut self) -> f64 {
        self.draw = 3125 * self.draw % 65536;
        (f64::from(self.draw) - 32768.0) / 16384.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_rows(order: usize, columns: usize, rows: usize) -> Vec<Vec<u64>> {
        let mut all = Columns::new(order);
        let mut column = || {
            let mut kept = Vec::new();
            all.next_column(|row, x| {
                if row < rows {
                    kept.push(x.to_bits());
                }
            });
            kept
        };
        (0..columns).map(|_| column()).collect()
    }

    #[test]
    fn the_first_elements_are_linpacks() {
        let bits = |draw: u32| ((f64::from(draw) - 32768.0) / 16384.0).to_bits();
        // 3125 * 1325 mod 65536 and its successor.
        assert_eq!(first_rows(100, 1, 2), [[bits(11857), bits(25285)]]);
    }

    #[test]
    fn columns_do_not_repeat() {
        for order in [999, 1000, 1024, 2000] {
            let mut columns = first_rows(order, order, 4);
            columns.sort();
            columns.dedup();
            assert_eq!(columns.len(), order);
        }
    }
}
