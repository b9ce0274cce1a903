//! Addresses as texts.

use alloy_primitives::Address;

use crate::value;

/// The error for a text that is no address of an EVM chain.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum AddressError {
    /// The text has another form.
    #[error("got {got:?}, expected 0x and 40 hexadecimal digits")]
    Form {
        /// The text, at most 80 characters of it.
        got: String,
    },
    /// The case of the letters is no checksum.
    #[error(
        "got {got:?}, whose letters have another case than their checksum (EIP-55): a digit may be wrong; compare the \
         address with its source, or write it in lower case"
    )]
    Checksum {
        /// The text.
        got: String,
    },
    /// The address is zero, which no key owns.
    #[error("got the zero address, which no key owns; expected another one")]
    Zero,
}

/// Checks an address: 20 bytes in hexadecimal, other than zero. Letters in both cases must be the checksum of EIP-55.
///
/// ```
/// use runstate_evm::{AddressError, check_address};
///
/// check_address("0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266")?;
/// check_address("0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266")?;
/// let wrong = check_address("0xF39Fd6e51aad88F6F4ce6aB8827279cffFb92266");
/// assert!(matches!(wrong, Err(AddressError::Checksum { .. })));
/// assert!(matches!(check_address("0xbeef"), Err(AddressError::Form { .. })));
/// # Ok::<(), AddressError>(())
/// ```
///
/// # Errors
/// [`AddressError`] with the text.
pub fn check_address(text: &str) -> Result<(), AddressError> {
    parse(text).map(drop)
}

/// Reads an address, as [`check_address`].
pub(crate) fn parse(text: &str) -> Result<Address, AddressError> {
    let got = || text.chars().take(80).collect();
    // The reader of the library takes a second prefix for a part of the first one.
    let digits = value::digits(text).ok_or_else(|| AddressError::Form { got: got() })?;
    let address: Address = digits.parse().map_err(|_| AddressError::Form { got: got() })?;
    let has = |case: fn(&u8) -> bool| digits.as_bytes().iter().any(case);
    let is_mixed = has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase);
    if is_mixed && Address::parse_checksummed(text, None).is_err() {
        return Err(AddressError::Checksum { got: got() });
    }
    if address.is_zero() { Err(AddressError::Zero) } else { Ok(address) }
}
