use runstate::kernel::Rehydration;

#[cfg(illegal)]
pub fn literal() -> Rehydration {
    Rehydration(())
}

#[cfg(illegal)]
pub fn made() -> Rehydration {
    Rehydration::permit()
}

#[cfg(illegal)]
pub fn defaulted() -> Rehydration {
    Default::default()
}

#[cfg(not(illegal))]
pub fn named(permit: Rehydration) -> String {
    format!("{permit:?}")
}
