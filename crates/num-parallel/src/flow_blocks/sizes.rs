//! Sizes: how many flows, links and entries go together. They decide the time; those of the layout decide the order of
//! sums too.

/// Bytes of a cache line.
pub(super) const LINE: usize = 64;
/// Entries that 16 bits can number. Tables end with so many more than are used: a window that begins at any entry is
/// whole, and no entry in it needs a check.
pub(super) const WINDOW: usize = 1 << u16::BITS;

// Loops.

/// Flows whose numbers stand together, and are gathered, responded to and scattered together.
pub(super) const ABREAST: usize = 4;
/// Flows that are gathered, then responded to, then scattered, where that is long.
pub(super) const POWERS: usize = 64;
/// Links whose sums are taken, then cleared while they are in the first-level cache.
pub(super) const TAKEN: usize = 256;

/// Flows with several paths whose numbers stand together: two vectors of the widest, since each of the long chains of
/// their exponentials waits for itself.
pub(super) const LANES: usize = 16;

// The layout.

/// A problem of fewer flows is not worth tables.
pub(super) const FEWEST_FLOWS: usize = 5000;
/// A block has at least this many flows; where there are more than two, at least twice as many as entries, of which it
/// keeps a copy.
pub(super) const FLOWS_PER_BLOCK: usize = 20_000;
/// The most blocks, and threads that have one.
pub(super) const MOST_BLOCKS: usize = 64;
/// So many pairs, with their sums 3 MB, are worth their place in the caches. With twice as many, and 4 to 11 flows for
/// each, a response takes 1.1 to 1.4 times as long as link by link, with eight times as many 1.3 to 1.7.
pub(super) const MOST_PAIRS: usize = 1 << 17;
/// Beyond so many links, fewer than [`FEW_PAIRS`] links per entry tell that links are in no order.
pub(super) const MOST_SCATTERED: usize = 1 << 14;
pub(super) const FEW_PAIRS: f64 = 1.5;
/// A table of as many pairs begins where a line of the caches does.
pub(super) const ENTRIES_OF_LINES: usize = LINE / size_of::<f32>();
/// Paths that are looked at for each link, and for each combination of windows.
pub(super) const SAMPLE: usize = 8;
/// The most paths whose windows are looked at.
pub(super) const LOOKED_AT: usize = 8192;

// All flows of a problem into blocks.

/// Consecutive flows that are sorted by block at a time: their links stay in the second-level cache.
pub(super) const PIECE: usize = 1 << 14;
/// Buckets that are remembered for each block, about.
pub(super) const REMEMBERED: usize = 1 << 8;
