//! Pages with places for the tables of grid files: between `<!-- measured: FILE.toml -->` and
//! `<!-- end of what is measured -->` stand all tables of that file, and between
//! `<!-- measured: FILE.toml#NAME -->` and the end those of that name.

use std::path::Path;

/// The grid files that a page has places for, each once.
pub fn grid_files(page: &str) -> Vec<&str> {
    let mut files = Vec::new();
    for (file, _) in page.split(BEGIN).skip(1).filter_map(place) {
        if !files.contains(&file) {
            files.push(file);
        }
    }
    files
}

/// The page with these tables, each with its name, where it has places for them and this grid file;
/// `None` if it has none, or one without an end. A place for tables of another name stays as it is.
pub fn into_page(page: &str, file: &Path, tables: &[(String, String)]) -> Option<String> {
    let mut parts = page.split(BEGIN);
    let mut text = parts.next()?.to_owned();
    let mut has_place = false;
    for part in parts {
        text += BEGIN;
        let is_of = |name: Option<&str>, own: &str| name.is_none_or(|name| name == own);
        let own = place(part).filter(|(own, _)| file.ends_with(own));
        let shown = tables.iter().filter(|(name, _)| own.is_some_and(|(_, it)| is_of(it, name)));
        let shown: Vec<&str> = shown.map(|(_, table)| table.as_str()).collect();
        if shown.is_empty() {
            text += part;
            continue;
        }
        let (mark, rest) = part.split_once('\n')?;
        let (_, after) = rest.split_once(END)?;
        text += &format!("{mark}\n{}\n{END}{after}", shown.concat().trim_end());
        has_place = true;
    }
    has_place.then_some(text)
}

/// The grid file and the name of tables behind the begin of a mark.
fn place(part: &str) -> Option<(&str, Option<&str>)> {
    let (name, _) = part.split_once(" -->")?;
    Some(name.split_once('#').map_or((name, None), |(file, name)| (file, Some(name))))
}

const BEGIN: &str = "<!-- measured: ";
const END: &str = "<!-- end of what is measured -->";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_stand_where_the_page_has_places_for_them() {
        let page = |one: &str, all: &str| {
            format!(
                "a\n{BEGIN}x/y.toml#one -->\n{one}\n{END}\nb\n{BEGIN}z.toml -->\nold\n{END}\n\
                 {BEGIN}x/y.toml -->\n{all}\n{END} c\n"
            )
        };
        let tables = [("one", "\n1\n"), ("", "\n2\n")].map(|(name, table)| {
            let [name, table] = [name, table].map(str::to_owned);
            (name, table)
        });
        let file = Path::new("w/x/y.toml");
        let new = into_page(&page("old", "old"), file, &tables);
        assert_eq!(new, Some(page("\n1", "\n1\n\n2")));
        assert_eq!(grid_files(&page("", "")), ["x/y.toml", "z.toml"]);
        let all = [(String::new(), "\nx".to_owned())];
        assert_eq!(into_page(&page("1", "2"), file, &all), Some(page("1", "\nx")));
        assert_eq!(into_page("no place", file, &tables), None);
        assert_eq!(into_page(&format!("{BEGIN}y.toml -->\nno end"), file, &tables), None);
    }
}
