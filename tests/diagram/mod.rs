//! The parser of Mermaid state diagrams and what is made of its diagrams.

mod reading;
