//! The half of the paths on which rules are changed, and the half that is held back until they are
//! done.

use std::error::Error;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::RngCore as _;

use super::{FAST, GENTLE, MUCH_LONGER, REFERENCE, beside, held_to, hostile, listed, measured};
use super::{paths, ratios, table, together};

/// A half of a set, by the seed of the paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Half {
    /// Rules are changed by what is seen on it.
    Working,
    /// It is looked at once, when they are as they stay.
    Held,
}

impl Half {
    /// What of a set is in this half.
    pub(super) fn of<T>(self, set: Vec<T>) -> Vec<T> {
        // The second stream: the first has drawn the paths.
        let mut random = Pcg64::new(paths::SEED.into(), 2);
        let mut order: Vec<(u64, usize)> =
            (0..set.len()).map(|at| (random.next_u64(), at)).collect();
        order.sort_unstable();
        let mut is_working = vec![false; set.len()];
        for (_, at) in &order[..set.len().div_ceil(2)] {
            is_working[*at] = true;
        }
        let here =
            |(item, is_working): (T, bool)| (is_working == (self == Self::Working)).then_some(item);
        set.into_iter().zip(is_working).filter_map(here).collect()
    }
}

impl std::str::FromStr for Half {
    type Err = ();

    fn from_str(word: &str) -> Result<Self, ()> {
        match word {
            "working" => Ok(Self::Working),
            "held" => Ok(Self::Held),
            _ => Err(()),
        }
    }
}

/// The tables of these controls over one half of every set, and the worst paths of the last one.
/// Words that name tables choose among them.
pub(crate) fn tables_of_half(half: Half, words: &[&str]) -> Result<String, Box<dyn Error>> {
    let is_table = |word: &&str| TABLES.contains(word);
    let (tables, own): (Vec<&str>, Vec<&str>) = words.iter().partition(|word| is_table(word));
    let asked = |name| tables.is_empty() || tables.contains(&name);
    let with = |others: &[&'static str]| -> Vec<&str> {
        others.iter().copied().chain(own.iter().copied()).collect()
    };
    let mut text = String::new();
    if asked(TABLES[0]) {
        text += &of_paths(half, &with(&[REFERENCE, FAST, GENTLE]), &own)?;
    }
    if asked(TABLES[1]) {
        text += &beside::rivals(&with(&[REFERENCE]), Some(half))?;
    }
    if asked(TABLES[2]) {
        text += &together::table(&with(&[REFERENCE]))?;
    }
    if asked(TABLES[3]) {
        text += &hostile::table(&with(&["slow-start+cubic"]))?;
    }
    Ok(text)
}

fn of_paths(half: Half, controls: &[&str], own: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut sets = paths::sets();
    for set in &mut sets {
        set.paths = half.of(std::mem::take(&mut set.paths));
    }
    let runs = measured(&sets, controls)?;
    let mut worst = ratios(&sets, controls, &runs, own.last().unwrap_or(&REFERENCE));
    worst.sort_by(|one, other| other.0.total_cmp(&one.0));
    worst.retain(|(ratio, ..)| *ratio > MUCH_LONGER);
    let held = held_to(&sets, controls, &runs, own);
    Ok(format!("{}\n{held}\n{}\n", table(&sets, controls, &runs), listed(&worst)))
}

/// What can be asked for.
const TABLES: [&str; 4] = ["paths", "beside", "together", "hostile"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_halves_of_a_set_are_all_of_it_and_share_nothing() {
        for count in [0, 1, 2, 9, 200] {
            let [mut working, held] =
                [Half::Working, Half::Held].map(|half| half.of((0..count).collect::<Vec<i32>>()));
            assert_eq!((working.len() as i32, held.len() as i32), ((count + 1) / 2, count / 2));
            working.extend(held);
            working.sort_unstable();
            assert_eq!(working, (0..count).collect::<Vec<i32>>());
        }
    }
}
