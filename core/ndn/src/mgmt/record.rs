//! Records: elements with typed fields.

use crate::tlv::{Element, Elements, WireError, single, write_element, write_integer, write_nested};
use crate::wire::NAME;
use alloc::string::String;
use alloc::vec::Vec;
use hashlane_name::build::OwnedName;
use hashlane_name::ndn::{Ndn, NdnName};

/// Record of the management protocol.
///
/// Fields are written in the order of the protocol, and accepted in any order, as by the common client
/// libraries. A repeated field or an unknown critical field is an error; other unknown fields are ignored.
pub trait Record: Sized {
    /// TLV-TYPE of the record.
    const TYPE: u32;

    /// Parses the fields.
    ///
    /// # Errors
    /// The first rule that they break.
    fn parse_fields(fields: Elements<'_>) -> Result<Self, WireError>;

    /// Appends the fields.
    fn write_fields(&self, out: &mut Vec<u8>);

    /// Parses a record from `bytes`.
    ///
    /// # Errors
    /// The first rule that they break.
    fn parse(bytes: &[u8]) -> Result<Self, WireError> {
        Self::parse_element(single(bytes)?)
    }

    /// Parses a record from an element.
    ///
    /// # Errors
    /// The first rule that it breaks.
    fn parse_element(element: Element<'_>) -> Result<Self, WireError> {
        if element.typ != Self::TYPE {
            return Err(WireError::UnexpectedType { typ: element.typ });
        }
        Self::parse_fields(element.elements())
    }

    /// Parses consecutive records, the content of a dataset.
    ///
    /// # Errors
    /// The first rule that one of them breaks.
    fn parse_all(bytes: &[u8]) -> Result<Vec<Self>, WireError> {
        let mut elements = Elements::new(bytes);
        let mut records = Vec::new();
        while let Some(element) = elements.next()? {
            if element.typ == Self::TYPE {
                records.push(Self::parse_fields(element.elements())?);
            } else {
                element.ignored()?;
            }
        }
        Ok(records)
    }

    /// Appends the record.
    fn write(&self, out: &mut Vec<u8>) {
        write_nested(Self::TYPE, out, |out| self.write_fields(out));
    }

    /// Encodes the record.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.write(&mut out);
        out
    }
}

/// Type of a field.
pub(crate) trait Field: Sized {
    /// Parses the value of an element.
    fn read(element: Element<'_>) -> Result<Self, WireError>;

    /// Appends the field.
    fn write(&self, typ: u32, out: &mut Vec<u8>);

    /// Adds an element of the field's type.
    fn add(field: &mut Option<Self>, element: Element<'_>) -> Result<(), WireError> {
        if field.is_some() {
            return Err(WireError::Critical { typ: element.typ, at: element.at });
        }
        *field = Some(Self::read(element)?);
        Ok(())
    }

    /// Completes the field after the last element.
    fn finish(field: Option<Self>, typ: u32) -> Result<Self, WireError> {
        field.ok_or(WireError::Missing { typ })
    }
}

impl Field for u64 {
    fn read(element: Element<'_>) -> Result<Self, WireError> {
        element.number()
    }

    fn write(&self, typ: u32, out: &mut Vec<u8>) {
        write_integer(typ, *self, out);
    }
}

impl Field for String {
    fn read(element: Element<'_>) -> Result<Self, WireError> {
        let text = core::str::from_utf8(element.value).map_err(|_| element.wrong_value())?;
        Ok(text.into())
    }

    fn write(&self, typ: u32, out: &mut Vec<u8>) {
        write_element(typ, self.as_bytes(), out);
    }
}

/// A name is stored directly if the field's type is Name, else inside an element of the field's type.
impl Field for OwnedName<Ndn> {
    fn read(element: Element<'_>) -> Result<Self, WireError> {
        let name = if element.typ == NAME {
            element
        } else {
            let first = element.elements().next()?;
            first.filter(|first| first.typ == NAME).ok_or(WireError::Missing { typ: NAME })?
        };
        let mut bytes = Vec::with_capacity(name.value.len() + 10);
        write_element(NAME, name.value, &mut bytes);
        let view = NdnName::parse(&bytes).map_err(|error| WireError::Name { at: name.at, error })?;
        Ok(Self::from(&view))
    }

    fn write(&self, typ: u32, out: &mut Vec<u8>) {
        if typ == NAME {
            out.extend_from_slice(self.as_bytes());
        } else {
            write_element(typ, self.as_bytes(), out);
        }
    }
}

impl<F: Field> Field for Option<F> {
    fn read(element: Element<'_>) -> Result<Self, WireError> {
        F::read(element).map(Some)
    }

    fn write(&self, typ: u32, out: &mut Vec<u8>) {
        if let Some(field) = self {
            field.write(typ, out);
        }
    }

    fn finish(field: Option<Self>, _typ: u32) -> Result<Self, WireError> {
        Ok(field.flatten())
    }
}

impl<R: Record> Field for Vec<R> {
    fn read(element: Element<'_>) -> Result<Self, WireError> {
        Ok(Self::from([R::parse_element(element)?]))
    }

    fn write(&self, _typ: u32, out: &mut Vec<u8>) {
        self.iter().for_each(|record| record.write(out));
    }

    fn add(field: &mut Option<Self>, element: Element<'_>) -> Result<(), WireError> {
        field.get_or_insert_default().push(R::parse_element(element)?);
        Ok(())
    }

    fn finish(field: Option<Self>, _typ: u32) -> Result<Self, WireError> {
        // A list without elements is empty.
        Ok(field.unwrap_or_default())
    }
}

/// Defines a record with its fields and their TLV-TYPEs.
macro_rules! record {
    (
        $(#[$meta:meta])*
        $name:ident = $typ:literal { $($(#[$field_meta:meta])* $field:ident: $kind:ty = $field_typ:literal,)+ }
    ) => {
        $(#[$meta])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $name {
            $($(#[$field_meta])* pub $field: $kind,)+
        }

        impl $crate::mgmt::record::Record for $name {
            const TYPE: u32 = $typ;

            fn parse_fields(
                mut fields: $crate::tlv::Elements<'_>,
            ) -> Result<Self, $crate::tlv::WireError> {
                use $crate::mgmt::record::Field;
                $(let mut $field: Option<$kind> = None;)+
                while let Some(element) = fields.next()? {
                    match element.typ {
                        $($field_typ => <$kind as Field>::add(&mut $field, element)?,)+
                        _ => element.ignored()?,
                    }
                }
                Ok(Self { $($field: <$kind as Field>::finish($field, $field_typ)?,)+ })
            }

            fn write_fields(&self, out: &mut alloc::vec::Vec<u8>) {
                use $crate::mgmt::record::Field;
                $(self.$field.write($field_typ, out);)+
            }
        }
    };
}
pub(crate) use record;
