//! The place of a definition.
//!
//! Each definition imports this module, and its submodule finds the name below in the module around it. Inside a function
//! it does not: then the name is the message of the compiler.

#[expect(non_camel_case_types, reason = "the name is read as a sentence")]
#[derive(Debug)]
pub struct a_lifecycle_in_a_function_stands_in_a_mod_of_its_own;
