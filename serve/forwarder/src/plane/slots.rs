//! Values with numbers: a value keeps its number, and the number of a removed one is given out again.

/// Sockets by their numbers, which stand in tokens and in the ports of faces.
#[derive(Debug)]
pub(super) struct Slots<T> {
    values: Vec<Option<T>>,
    /// Numbers of removed values.
    free: Vec<usize>,
}

impl<T> Slots<T> {
    /// No values.
    pub(super) fn new() -> Self {
        Self { values: Vec::new(), free: Vec::new() }
    }

    /// Adds a value. Returns its number.
    pub(super) fn insert(&mut self, value: T) -> usize {
        let number = self.next_number();
        match self.values.get_mut(number) {
            Some(place) => {
                *place = Some(value);
                self.free.pop();
            }
            None => self.values.push(Some(value)),
        }
        number
    }

    /// Number of the next value that is added.
    pub(super) fn next_number(&self) -> usize {
        self.free.last().copied().unwrap_or(self.values.len())
    }

    /// Removes a value; `None` if the number has no value.
    pub(super) fn remove(&mut self, number: usize) -> Option<T> {
        let removed = self.values.get_mut(number)?.take()?;
        self.free.push(number);
        Some(removed)
    }

    /// The value of a number.
    #[inline]
    pub(super) fn get(&self, number: usize) -> Option<&T> {
        self.values.get(number)?.as_ref()
    }

    /// The value of a number, to change it.
    #[inline]
    pub(super) fn get_mut(&mut self, number: usize) -> Option<&mut T> {
        self.values.get_mut(number)?.as_mut()
    }

    /// All values, with their numbers.
    pub(super) fn iter(&self) -> impl Iterator<Item = (usize, &T)> {
        self.values.iter().enumerate().filter_map(|(number, value)| Some((number, value.as_ref()?)))
    }

    /// All values, to change them.
    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.values.iter_mut().flatten()
    }

    /// Numbers of all values.
    pub(super) fn numbers(&self) -> impl Iterator<Item = usize> {
        self.iter().map(|(number, _)| number)
    }
}

impl<T> FromIterator<T> for Slots<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self { values: values.into_iter().map(Some).collect(), free: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removed_number_is_given_out_again_and_the_others_stay() {
        let mut slots: Slots<char> = "abc".chars().collect();
        assert_eq!((slots.remove(1), slots.remove(1), slots.remove(9)), (Some('b'), None, None));
        assert!(slots.get(1).is_none() && slots.get(2) == Some(&'c'));
        assert!(slots.numbers().eq([0, 2]));
        assert_eq!((slots.next_number(), slots.insert('d'), slots.insert('e')), (1, 1, 3));
        assert!(slots.iter().eq([(0, &'a'), (1, &'d'), (2, &'c'), (3, &'e')]));
        for _ in 0..1000 {
            let number = slots.insert('f');
            assert_eq!((number, slots.remove(number)), (4, Some('f')), "it does not grow");
        }
    }
}
