//! Reproduction of the papers.
