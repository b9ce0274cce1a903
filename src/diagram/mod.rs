//! Mermaid state diagrams: reading, describing, comparing.
