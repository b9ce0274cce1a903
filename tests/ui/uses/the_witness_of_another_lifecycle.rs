include!("../door.rs");

pub mod outside {
    use runstate::kernel::{Stateful, Proof};

    #[cfg(illegal)]
    pub fn named() -> &'static runstate::kernel::Witness {
        &super::door::__WITNESS
    }

    #[cfg(illegal)]
    pub fn of_a_documented_lifecycle() -> Proof<super::AnyDoor> {
        Proof::new(&runstate::tool_call::tool_call::__WITNESS)
    }

    #[cfg(not(illegal))]
    pub fn proven() -> Proof<super::AnyDoor> {
        super::AnyDoor::PROOF
    }
}
