//! A placeholder.

fn main() {}
