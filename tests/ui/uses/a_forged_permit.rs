use runstate::kernel::Rehydration;
use runstate::tool_call::AnyToolCall;

#[cfg(illegal)]
pub fn literal() -> Rehydration<AnyToolCall> {
    Rehydration { of: std::marker::PhantomData }
}

#[cfg(illegal)]
pub fn made() -> Rehydration<AnyToolCall> {
    Rehydration::permit()
}

#[cfg(illegal)]
pub fn defaulted() -> Rehydration<AnyToolCall> {
    Default::default()
}

#[cfg(not(illegal))]
pub fn named(permit: Rehydration<AnyToolCall>) -> String {
    format!("{permit:?}")
}
