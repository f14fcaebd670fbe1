//! What holds whatever replicas, network and clock do, and what a read costs.

mod allocations;
mod reads;
