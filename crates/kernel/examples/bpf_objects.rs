//! How many maps, programs and links of BPF the kernel holds: what `cargo xtask soak` compares.

use libbpf_rs::query::{LinkInfoIter, MapInfoIter, ProgInfoIter};

fn main() {
    let (maps, programs) = (MapInfoIter::default().count(), ProgInfoIter::default().count());
    println!("maps {maps} programs {programs} links {}", LinkInfoIter::default().count());
}
