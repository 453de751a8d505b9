//! Bodies as a whole: the kernel against the reference, known trajectories, a published case, hostile values.

mod common;
mod hostile_values;
mod kernel_equals_reference;
mod merging;
mod published_case;
mod stage;
mod trajectories;
