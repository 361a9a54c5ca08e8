//! Loading and unloading over and over leaves nothing in the kernel: no name, no map.
//!
//! Four cycles, or as many as FIRSTFLIGHT_CYCLES says. Skipped, and said so, where BPF cannot be
//! had; with FIRSTFLIGHT_REQUIRE_BPF=1 it fails there instead.

use std::thread::sleep;
use std::time::Duration;

use firstflight_control::Control;
use firstflight_kernel::catalogue::available;
use firstflight_kernel::load::Options;
use firstflight_kernel::{KernelControl, Registered, requirements};
use libbpf_rs::query::MapInfoIter;
use libbpf_rs::{MapCore as _, MapFlags, MapHandle};

/// A knob that no other test sets: by it its maps are known.
const CONTROL: &str = "astart(ere.N=83)";

/// Maps in the kernel that hold this control's name in full.
fn maps() -> usize {
    let holds = |id: u32| {
        let map = MapHandle::from_map_id(id).ok()?;
        let value = map.lookup(&[0; 4], MapFlags::ANY).ok()??;
        Some(value.windows(CONTROL.len()).any(|window| window == CONTROL.as_bytes()))
    };
    let infos = MapInfoIter::default();
    let loaded = infos.filter(|info| info.name.to_string_lossy().starts_with(".rodata"));
    loaded.filter(|info| holds(info.id) == Some(true)).count()
}

#[test]
fn loading_and_unloading_leaves_nothing() {
    if let Err(lack) = requirements::check() {
        eprintln!("skipped: {lack}");
        let required = std::env::var_os("FIRSTFLIGHT_REQUIRE_BPF").is_some();
        assert!(!required, "BPF is required here: {lack}");
        return;
    }
    let cycles = std::env::var("FIRSTFLIGHT_CYCLES").map_or(4, |text| text.parse().unwrap());
    let control = KernelControl::new(&Control::named(CONTROL).unwrap()).unwrap();
    let name = format!("ff_c_{}", std::process::id() % 100_000);
    for cycle in 0..cycles {
        // In turn as kernels with links and as those without.
        let without_link = cycle % 2 == 1;
        let options = Options { name: Some(name.clone()), without_link, ..Options::default() };
        let loaded = Registered::load(&control, &options);
        let loaded = loaded.unwrap_or_else(|error| panic!("cycle {cycle}: {error}"));
        assert!(cycle > 0 || maps() == 1, "the map is not found while loaded");
        drop(loaded);
        assert!(!available().contains(&name), "cycle {cycle}: still registered");
    }
    // The kernel frees maps a grace period after their last user.
    for _ in 0..600 {
        if maps() == 0 {
            println!("{cycles} cycles, nothing left");
            return;
        }
        sleep(Duration::from_millis(100));
    }
    panic!("{} maps left of {cycles} cycles", maps());
}
