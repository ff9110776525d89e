//! Rows of a chunk by their groups.

/// Order of rows in which each group stands together.
pub(super) struct Groups {
    rows: Vec<usize>,
    /// End of each group in `rows`.
    ends: Vec<usize>,
}

/// No group.
const FREE: usize = usize::MAX;

impl Groups {
    /// Groups `rows` by their states: `state` is a row's address of one. Groups stand in the order of their
    /// first rows, and rows within a group in theirs. Takes time in proportion to the rows.
    pub(super) fn of(rows: Vec<usize>, state: impl Fn(usize) -> usize) -> Self {
        let mut states = rows.iter().map(|row| state(*row));
        let first = states.next();
        if states.all(|other| Some(other) == first) {
            let ends = if rows.is_empty() { Vec::new() } else { vec![rows.len()] };
            return Self { rows, ends };
        }
        let (numbers, sizes) = number(&rows, state);
        let mut ends: Vec<usize> = sizes
            .iter()
            .scan(0, |from, size| {
                let begin = *from;
                *from += size;
                Some(begin)
            })
            .collect();
        let mut ordered = vec![0; rows.len()];
        for (row, number) in rows.into_iter().zip(numbers) {
            // The start of a group becomes its end.
            if let Some(end) = ends.get_mut(number) {
                if let Some(place) = ordered.get_mut(*end) {
                    *place = row;
                }
                *end += 1;
            }
        }
        Self { rows: ordered, ends }
    }

    /// The rows of each group.
    pub(super) fn iter(&self) -> impl Iterator<Item = &[usize]> {
        let starts = [0].into_iter().chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(from, to)| self.rows.get(from..*to).unwrap_or_default())
    }
}

/// The number of each row's group, and the sizes of the groups.
fn number(rows: &[usize], state: impl Fn(usize) -> usize) -> (Vec<usize>, Vec<usize>) {
    // Twice as many places as groups, at least.
    let bits = (2 * rows.len().max(2)).next_power_of_two().trailing_zeros();
    let mut table = vec![(0, FREE); 1 << bits];
    let mut sizes: Vec<usize> = Vec::new();
    let mask = table.len() - 1;
    let numbers = rows.iter().map(|row| {
        let address = state(*row);
        // Addresses are DuckDB's own: nobody can choose those that collide.
        let mut place = (address as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15) as usize >> (64 - bits);
        loop {
            let Some(entry) = table.get_mut(place & mask) else { return 0 };
            if entry.1 == FREE {
                *entry = (address, sizes.len());
                sizes.push(0);
            }
            if entry.0 == address {
                if let Some(size) = sizes.get_mut(entry.1) {
                    *size += 1;
                }
                return entry.1;
            }
            place += 1;
        }
    });
    (numbers.collect(), sizes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_a_group_stand_together_in_order() {
        let states = [7, 9, 7, 8, 9, 7, 0];
        let groups = Groups::of(vec![0, 1, 2, 3, 4, 6], |row| states[row] << 4);
        assert_eq!(groups.iter().collect::<Vec<_>>(), [&[0, 2][..], &[1, 4], &[3], &[6]]);
        assert_eq!(Groups::of(vec![2, 5], |row| states[row]).iter().collect::<Vec<_>>(), [&[2, 5]]);
        assert_eq!(Groups::of(Vec::new(), |row| states[row]).iter().count(), 0);
    }

    #[test]
    fn each_row_of_many_groups_stands_once() {
        for groups in [1, 2, 3, 100, 2048] {
            let found = Groups::of((0..2048).collect(), |row| 0x7f00_0000_0000 + row % groups * 16);
            let sizes: Vec<usize> = found.iter().map(<[usize]>::len).collect();
            assert_eq!((sizes.len(), sizes.iter().sum::<usize>()), (groups, 2048));
            let whole = |rows: &[usize]| rows.windows(2).all(|pair| pair[1] == pair[0] + groups);
            assert!(found.iter().all(whole), "{groups}");
        }
    }
}
