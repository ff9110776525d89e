//! Encoding components as a name.

use alloc::vec::Vec;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::marker::PhantomData;

use crate::component::{Component, DIGEST_LEN};
use crate::error::BuildError;
use crate::layout::Layout;
use crate::ndn::is_digest;
use crate::view::Name;
use crate::{MAX_COMPONENTS, MAX_NAME_LEN};

/// Appends the name of `components` to `out`, in time linear in its bytes and without any other allocation.
/// The iterator is cloned, and walked twice or three times.
///
/// # Errors
/// The first rule that the components break; `out` is then as it was.
pub fn encode_into<'c, E: Layout>(
    out: &mut Vec<u8>,
    components: impl Iterator<Item = Component<'c>> + Clone,
) -> Result<(), BuildError> {
    let mut size = Size::default();
    for component in components.clone() {
        size.add::<E>(component)?;
    }
    out.reserve(E::name_len(size.body));
    E::write(components, size.count, size.body, out);
    Ok(())
}

/// Running totals over the components of a name.
#[derive(Clone, Copy, Default)]
struct Size {
    count: usize,
    body: usize,
}

impl Size {
    /// Adds `component`, or leaves all as it was and says which rule it breaks.
    #[inline]
    fn add<E: Layout>(&mut self, component: Component<'_>) -> Result<(), BuildError> {
        let index = self.count;
        let len = component.value.len();
        if index == MAX_COMPONENTS {
            return Err(BuildError::TooManyComponents);
        }
        if component.typ == 0 {
            return Err(BuildError::ZeroType { index });
        }
        if E::CHECKS_DIGESTS && is_digest(component.typ) && len != DIGEST_LEN {
            return Err(BuildError::DigestLength { index, len });
        }
        // The value alone first: then no sum can overflow.
        if len > MAX_NAME_LEN || E::name_len(self.body + E::component_len(component)) > MAX_NAME_LEN {
            return Err(BuildError::NameTooLong { index });
        }
        self.count += 1;
        self.body += E::component_len(component);
        Ok(())
    }
}

/// Takes components one at a time.
///
/// ```
/// use hashlane_name::{build::NameBuilder, component::Component, ndn::Ndn};
///
/// let mut builder = NameBuilder::<Ndn>::new();
/// builder.push(Component::generic(b"hello"))?;
/// builder.push(Component { typ: 54, value: &[3] })?;
/// assert_eq!(builder.finish().as_bytes(), b"\x07\x0a\x08\x05hello\x36\x01\x03");
/// # Ok::<(), hashlane_name::error::BuildError>(())
/// ```
pub struct NameBuilder<E> {
    values: Vec<u8>,
    /// The type of each component, and the end of its value in `values`.
    index: Vec<(u16, usize)>,
    size: Size,
    encoding: PhantomData<E>,
}

impl<E: Layout> NameBuilder<E> {
    /// A name without components.
    pub const fn new() -> Self {
        Self {
            values: Vec::new(),
            index: Vec::new(),
            size: Size { count: 0, body: 0 },
            encoding: PhantomData,
        }
    }

    /// Adds a component at the end.
    ///
    /// # Errors
    /// The rule that the component breaks; the builder is then as it was.
    pub fn push(&mut self, component: Component<'_>) -> Result<(), BuildError> {
        self.size.add::<E>(component)?;
        self.values.extend_from_slice(component.value);
        self.index.push((component.typ, self.values.len()));
        Ok(())
    }

    /// The name.
    pub fn finish(self) -> OwnedName<E> {
        let mut bytes = Vec::with_capacity(E::name_len(self.size.body));
        E::write(self.components(), self.size.count, self.size.body, &mut bytes);
        OwnedName { bytes, count: self.size.count as u8, encoding: PhantomData }
    }

    fn components(&self) -> impl Iterator<Item = Component<'_>> + Clone {
        let mut start = 0;
        self.index.iter().map(move |&(typ, end)| {
            let value = self.values.get(start..end).unwrap_or_default();
            start = end;
            Component { typ, value }
        })
    }
}

impl<E: Layout> Default for NameBuilder<E> {
    fn default() -> Self {
        Self::new()
    }
}

/// A name that owns its bytes.
pub struct OwnedName<E> {
    bytes: Vec<u8>,
    count: u8,
    encoding: PhantomData<E>,
}

impl<E: Layout> OwnedName<E> {
    /// The name of `components`.
    ///
    /// # Errors
    /// The first rule that the components break.
    pub fn from_components<'c>(
        components: impl IntoIterator<Item = Component<'c>, IntoIter: Clone>,
    ) -> Result<Self, BuildError> {
        let components = components.into_iter();
        let mut bytes = Vec::new();
        encode_into::<E>(&mut bytes, components.clone())?;
        Ok(Self { bytes, count: components.count() as u8, encoding: PhantomData })
    }

    /// The encoded name, all of it.
    #[inline]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The encoded name, all of it.
    #[inline]
    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }

    /// The name as a view, without checking it again.
    #[inline]
    pub fn view(&self) -> Name<'_, E> {
        Name::checked(&self.bytes, self.count)
    }
}

impl<E: Layout> From<&Name<'_, E>> for OwnedName<E> {
    fn from(name: &Name<'_, E>) -> Self {
        Self { bytes: name.as_bytes().to_vec(), count: name.len() as u8, encoding: PhantomData }
    }
}

impl<E: Layout> Clone for OwnedName<E> {
    fn clone(&self) -> Self {
        Self { bytes: self.bytes.clone(), count: self.count, encoding: PhantomData }
    }
}

impl<E: Layout> fmt::Debug for OwnedName<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.view(), f)
    }
}

impl<E: Layout> fmt::Display for OwnedName<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.view(), f)
    }
}

impl<E: Layout> PartialEq for OwnedName<E> {
    fn eq(&self, other: &Self) -> bool {
        self.bytes == other.bytes
    }
}

impl<E: Layout> Eq for OwnedName<E> {}

impl<E: Layout> Hash for OwnedName<E> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bytes.hash(state);
    }
}
