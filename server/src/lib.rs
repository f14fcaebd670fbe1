//! What every helenus runtime shares: services, replies, registries and budgets, without I/O.
