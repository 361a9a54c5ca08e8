//! Times as `date`, `ts` and scripts write them, at the start of a line.

/// A time as a file writes it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Stamp {
    /// A number, whose unit follows from the whole record.
    Number(f64),
    /// Seconds since 1970, by a calendar.
    Calendar(f64),
    /// Seconds of a day.
    Clock(f64),
}

/// What bare numbers count, with how many of them are in a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Unit(f64);

/// Turns what a file writes into seconds that do not go back.
#[derive(Clone, Debug)]
pub(crate) struct Clock {
    unit: Unit,
    newest: Option<Stamp>,
    /// Seconds at the midnights that were passed.
    days_s: f64,
}

/// Finds the unit of bare numbers: by their size, and by the counters of milliseconds beside them.
#[derive(Clone, Debug, Default)]
pub(crate) struct UnitSearch {
    newest: Option<f64>,
    largest: f64,
    least_gap: Option<f64>,
    /// How much the numbers grew between samples of a socket, the least that passed meanwhile by
    /// its counters, and how many pairs of samples there were.
    grown: f64,
    passed_ms: f64,
    pairs: f64,
}

/// A time at the start of a line, maybe between dashes or in brackets, and the rest of the line.
pub(crate) fn stamp(line: &str) -> Option<(Stamp, &str)> {
    let (stamp, rest) = bare(line.trim_start_matches(FRAME))?;
    // The frame's end stands alone: what follows a stamp begins otherwise.
    let framed = rest.trim_end_matches(FRAME).is_empty();
    Some((stamp, if framed { "" } else { rest.trim_start_matches([']', ' ', '\t']) }))
}

fn bare(line: &str) -> Option<(Stamp, &str)> {
    let begin = line.as_bytes().first()?;
    if !begin.is_ascii_digit() {
        return named(line).or_else(|| calendar(line));
    }
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let number = word.trim_end_matches([']', ':', ',']);
    if let Some(number) = decimal(number) {
        return Some((Stamp::Number(number), rest.trim_start()));
    }
    iso(line).or_else(|| of_day(line)).or_else(|| calendar(line))
}

/// As `time:1764122400`.
fn named(line: &str) -> Option<(Stamp, &str)> {
    let (name, rest) = line.split_once([':', '='])?;
    let known = ["time", "timestamp", "ts", "t", "date", "now"];
    let known = known.iter().any(|known| name.trim().eq_ignore_ascii_case(known));
    if known && !rest.trim_start().is_empty() { stamp(rest) } else { None }
}

/// Digits with a point or a comma among them.
fn decimal(word: &str) -> Option<f64> {
    let plain = |byte: u8| byte.is_ascii_digit() || byte == b'.' || byte == b',';
    if !word.bytes().all(plain) {
        return None;
    }
    let number = if word.contains(',') { word.replace(',', ".").parse() } else { word.parse() };
    number.ok()
}

/// As `2025-08-09T21:57:44,100000000+00:00` (ISO 8601), with a space for the T, with or without a
/// fraction and a zone.
fn iso(line: &str) -> Option<(Stamp, &str)> {
    let (year, rest) = number(line, 4..=4)?;
    let separator = rest.get(..1).filter(|it| ["-", "/"].contains(it))?;
    let (month, rest) = number(&rest[1..], 2..=2)?;
    let (day, rest) = number(rest.strip_prefix(separator)?, 2..=2)?;
    let (Stamp::Clock(second), rest) = of_day(rest.get(1..)?)? else { return None };
    let (east_s, rest) = zone(rest);
    Some((Stamp::Calendar(days(year, month, day)? * DAY_S + second - east_s), rest.trim_start()))
}

/// As `21:57:44.123`; `AM` or `PM` may follow.
fn of_day(line: &str) -> Option<(Stamp, &str)> {
    let (hour, rest) = number(line.trim_start(), 1..=2)?;
    let (minute, rest) = number(rest.strip_prefix(':')?, 1..=2)?;
    let (second, rest) = number(rest.strip_prefix(':')?, 1..=2)?;
    if hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let (fraction, rest) = fraction(rest);
    // A leap second counts as the one before.
    let second = f64::from(hour * 3600 + minute * 60 + second.min(59)) + fraction;
    let (second, rest) = match rest.trim_start().get(..2) {
        Some("AM" | "am") => (second % HALF_DAY_S, &rest.trim_start()[2..]),
        Some("PM" | "pm") => (second % HALF_DAY_S + HALF_DAY_S, &rest.trim_start()[2..]),
        _ => (second, rest),
    };
    Some((Stamp::Clock(second), rest.strip_prefix([':', ']']).unwrap_or(rest)))
}

/// As `date` writes a time, in several countries, and `ts`: `Sat Aug  9 21:57:44 UTC 2025`,
/// `Sat 09 Aug 2025 09:57:44 PM UTC`, `Aug 09 21:57:44`.
fn calendar(line: &str) -> Option<(Stamp, &str)> {
    let date =
        word(line, &WEEKDAYS).map_or(line, |(_, rest)| rest.strip_prefix(',').unwrap_or(rest));
    let date = date.trim_start();
    let (month, day, own_year, rest) = match word(date, &MONTHS) {
        Some((month, rest)) => {
            let (day, rest) = number(rest.trim_start(), 1..=2)?;
            (month, day, None, rest)
        }
        None => {
            let (day, rest) = number(date, 1..=2)?;
            let (month, rest) = word(rest.trim_start(), &MONTHS)?;
            let year = number(rest.trim_start(), 4..=4);
            (month, day, year.map(|(year, _)| year), year.map_or(rest, |(_, rest)| rest))
        }
    };
    let (Stamp::Clock(second), rest) = of_day(rest)? else { return None };
    let (east_s, rest) = if own_year.is_some() { zone(rest) } else { (0.0, rest) };
    let (year, rest) = year(rest);
    let day = days(own_year.or(year).unwrap_or(SOME_YEAR), month + 1, day)?;
    Some((Stamp::Calendar(day * DAY_S + second - east_s), rest.trim_start()))
}

/// One of these words, of three letters in either case, at the start of a line.
fn word<'a>(line: &'a str, words: &[&str]) -> Option<(u32, &'a str)> {
    let first = line.get(..3)?;
    let place = (0..).zip(words).find(|(_, word)| word.eq_ignore_ascii_case(first))?.0;
    Some((place, &line[3..]))
}

/// Reads a number at the start of a line, whose count of digits must be in `digits`. Returns it and
/// what follows; `None` if there are fewer digits.
fn number(line: &str, digits: std::ops::RangeInclusive<usize>) -> Option<(u32, &str)> {
    let length = line.bytes().take(*digits.end()).take_while(u8::is_ascii_digit).count();
    let number = digits.contains(&length).then(|| line[..length].parse().ok()).flatten()?;
    Some((number, &line[length..]))
}

/// A year, maybe behind the name of a zone, which is the same in all lines.
fn year(rest: &str) -> (Option<u32>, &str) {
    for skip in 0..2 {
        let mut words = rest.trim_start().splitn(3, char::is_whitespace);
        let zone = (skip == 1).then(|| words.next()).flatten().unwrap_or("");
        let word = words.next().filter(|word| word.len() == 4 && zone.len() <= 6);
        let word = word.filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
        if let Some(year) = word.and_then(|word| word.parse().ok()) {
            let end = rest.find(word.unwrap_or_default()).map_or(rest.len(), |at| at + 4);
            return (Some(year), &rest[end..]);
        }
    }
    (None, rest)
}

/// How far east of Greenwich a zone is, seconds. One with a name is the same in all lines.
fn zone(rest: &str) -> (f64, &str) {
    let text = rest.trim_start();
    if let Some(rest) = text.strip_prefix('Z') {
        return (0.0, rest);
    }
    if let Some(found) = offset(text) {
        return found;
    }
    // A word that nothing follows.
    let named = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphabetic());
    (0.0, if named { "" } else { rest })
}

/// As `+0200` or `-07:00`.
fn offset(text: &str) -> Option<(f64, &str)> {
    let east = text.strip_prefix('+');
    let (hours, rest) = number(east.or_else(|| text.strip_prefix('-'))?, 2..=2)?;
    let (minutes, rest) = number(rest.strip_prefix(':').unwrap_or(rest), 2..=2)?;
    let seconds = f64::from(hours * 3600 + minutes * 60);
    (hours < 26 && minutes < 60).then_some((if east.is_some() { seconds } else { -seconds }, rest))
}

/// A fraction of a second behind a point or a comma.
fn fraction(rest: &str) -> (f64, &str) {
    let Some(digits) = rest.strip_prefix(['.', ',']) else { return (0.0, rest) };
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let share = format!("0.{}", &digits[..length]).parse();
    (share.unwrap_or(0.0), &digits[length..])
}

/// Days from 1970 to a day of the Gregorian calendar, if there is such a day. Years begin in March,
/// so that a leap day is the last of its year.
fn days(year: u32, month: u32, day: u32) -> Option<f64> {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let lengths = [31, 28 + u32::from(is_leap), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let length = *lengths.get(month.checked_sub(1)? as usize)?;
    let (year, month) =
        if month > 2 { (year, month - 3) } else { (year.wrapping_sub(1), month + 9) };
    let year = i64::from(year.cast_signed());
    let leap_days = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let in_year = i64::from((153 * month + 2) / 5 + day);
    (1..=length).contains(&day).then_some((365 * year + leap_days + in_year - TO_1970) as f64)
}

impl Clock {
    pub(crate) fn new(unit: Unit) -> Self {
        Self { unit, newest: None, days_s: 0.0 }
    }

    /// The time of a stamp in seconds. A stamp in another form than the ones before it, or earlier
    /// than one of them, has none.
    pub(crate) fn seconds(&mut self, stamp: Stamp) -> Option<f64> {
        let before = self.newest;
        let seconds = match (stamp, before) {
            (Stamp::Number(now), None) => now / self.unit.0,
            (Stamp::Number(now), Some(Stamp::Number(before))) if now >= before => now / self.unit.0,
            (Stamp::Calendar(now), None) => now,
            (Stamp::Calendar(now), Some(Stamp::Calendar(before))) if now >= before => now,
            (Stamp::Clock(now), None) => now,
            (Stamp::Clock(now), Some(Stamp::Clock(before))) if now >= before => now + self.days_s,
            // Past midnight.
            (Stamp::Clock(now), Some(Stamp::Clock(before))) if before - now > HALF_DAY_S => {
                self.days_s += DAY_S;
                now + self.days_s
            }
            _ => return None,
        };
        self.newest = Some(stamp);
        Some(seconds)
    }
}

impl Default for Unit {
    fn default() -> Self {
        Self(1.0)
    }
}

impl UnitSearch {
    pub(crate) fn number(&mut self, now: f64) {
        let grown = self.newest.map(|before| now - before).filter(|grown| *grown > 0.0);
        self.least_gap = self.least_gap.into_iter().chain(grown).reduce(f64::min);
        self.largest = self.largest.max(now);
        self.newest = Some(now);
    }

    /// The numbers grew by so much between two samples of a socket, and at least so many
    /// milliseconds passed by its counters.
    pub(crate) fn passed(&mut self, grown: f64, at_least_ms: f64) {
        if grown > 0.0 && at_least_ms > 0.0 {
            self.grown += grown;
            self.passed_ms += at_least_ms;
            self.pairs += 1.0;
        }
    }

    /// What the numbers count. What is too large for seconds since 1970 is something finer; so is
    /// what would have more than an hour between any two samples. The counters know better: more
    /// time cannot have passed than by them, nor a thousand times as much.
    pub(crate) fn unit(&self) -> Unit {
        let by_size = if self.largest >= LAST_SECOND {
            UNITS.iter().find(|unit| self.largest / **unit < LAST_SECOND)
        } else {
            let least = self.least_gap.unwrap_or(0.0);
            UNITS.iter().find(|unit| least / **unit <= 3600.0)
        };
        let by_size = *by_size.unwrap_or(&1.0);
        let passed_s = self.passed_ms / 1e3;
        let over = |unit: f64| self.grown / unit / passed_s;
        if self.passed_ms < SURE_MS * self.pairs || self.pairs == 0.0 {
            return Unit(by_size);
        }
        if (LEAST_OVER..1e3).contains(&over(by_size)) {
            return Unit(by_size);
        }
        let finest = UNITS.into_iter().rev().find(|unit| over(*unit) >= LEAST_OVER);
        Unit(finest.unwrap_or(by_size))
    }
}

/// What scripts write around a time.
const FRAME: [char; 9] = ['[', ']', '(', ')', '#', '=', '-', '*', ' '];
/// Units in a second: seconds, milliseconds, microseconds, nanoseconds.
const UNITS: [f64; 4] = [1.0, 1e3, 1e6, 1e9];
/// Seconds since 1970 in the year 5138; as milliseconds that is 1973.
const LAST_SECOND: f64 = 1e11;
/// The least share of what passed by the counters that the times must have: `ss` runs a little
/// after the time was taken, and not always equally long.
const LEAST_OVER: f64 = 0.9;
/// Counters decide the unit if by them so much has passed between two samples: each counts whole
/// milliseconds, and begins again with each packet.
const SURE_MS: f64 = 5.0;
const DAY_S: f64 = 86_400.0;
const HALF_DAY_S: f64 = 43_200.0;
/// Where no year is given; a leap year.
const SOME_YEAR: u32 = 2024;
/// Days from 1 March of the year 0, less one, to 1970.
const TO_1970: i64 = 719_469;
const WEEKDAYS: [&str; 7] = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"];
const MONTHS: [&str; 12] =
    ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const AT: f64 = 1_754_776_664.0;

    #[test]
    fn every_usual_form_is_the_same_time() {
        for line in [
            "2025-08-09T21:57:44,000000000+00:00",
            "2025-08-09T21:57:44Z",
            "2025-08-09 23:57:44.000 +0200",
            "2025-08-09T14:57:44.0-07:00",
            "2025/08/09 21:57:44",
            "Sat Aug  9 21:57:44 UTC 2025",
            "Sat Aug  9 09:57:44 PM UTC 2025",
            "Sat 09 Aug 2025 09:57:44 PM UTC",
            "Sat  9 Aug 21:57:44 CEST 2025",
            "Sat, 09 Aug 2025 21:57:44 +0000",
            "[2025-08-09T21:57:44]",
            "time: 2025-08-09T21:57:44Z",
        ] {
            let (found, rest) = stamp(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((found, rest), (Stamp::Calendar(AT), ""), "{line}");
        }
    }

    proptest! {
        /// Held against jiff, which writes each of the forms.
        #[test]
        fn what_jiff_writes_is_read_as_the_same_second(
            at in 0_i64..95_617_584_000,
            east in -25..26_i8,
        ) {
            let zone = jiff::tz::offset(east).to_time_zone();
            let when = jiff::Timestamp::from_second(at).unwrap().to_zoned(zone);
            for form in [
                "%Y-%m-%dT%H:%M:%S%:z",
                "%Y/%m/%d %H:%M:%S %z",
                "%a, %d %b %Y %H:%M:%S %z",
                "%a %d %b %Y %I:%M:%S %p %z",
                "%a %d %b %Y %H:%M:%S%z",
            ] {
                let line = when.strftime(form).to_string();
                prop_assert_eq!(stamp(&line), Some((Stamp::Calendar(at as f64), "")), "{}", line);
            }
            let local = at as f64 + f64::from(east) * 3600.0;
            for form in [
                "%a %b %e %H:%M:%S UTC %Y",
                "%a %e %b %H:%M:%S CEST %Y",
                "%b %d %H:%M:%S %Y",
            ] {
                let line = when.strftime(form).to_string();
                prop_assert_eq!(stamp(&line), Some((Stamp::Calendar(local), "")), "{}", line);
            }
        }

        #[test]
        fn nothing_ends_in_a_panic(line in "[ -~\u{e4}]{0,40}|[0-9:./TZ+ -]{0,30}") {
            stamp(&line);
        }
    }

    #[test]
    fn days_that_there_are_not_are_no_time() {
        for line in ["2025-02-29 21:57:44", "2025-13-01 21:57:44", "2025-04-31 21:57:44"] {
            assert_eq!(stamp(line), None, "{line}");
        }
        assert!(stamp("2024-02-29 23:59:60").is_some());
    }

    #[test]
    fn a_stamp_leaves_the_rest_of_the_line() {
        for (line, expected, rest) in [
            ("1754776664.5 ESTAB 0 0", Stamp::Number(AT + 0.5), "ESTAB 0 0"),
            ("1754776664,5", Stamp::Number(AT + 0.5), ""),
            ("[1754776664.5] ESTAB", Stamp::Number(AT + 0.5), "ESTAB"),
            ("time:1754776664000000000", Stamp::Number(AT * 1e9), ""),
            ("21:57:44.250 ESTAB 0 0", Stamp::Clock(79_064.25), "ESTAB 0 0"),
            ("2025-08-09T21:57:44Z ESTAB 0", Stamp::Calendar(AT), "ESTAB 0"),
            ("=== 1754776664.5 ===", Stamp::Number(AT + 0.5), ""),
            ("# 2025-08-09T21:57:44Z", Stamp::Calendar(AT), ""),
            ("--- Time: 21:57:44.250 ---", Stamp::Clock(79_064.25), ""),
        ] {
            let (found, left) = stamp(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((found, left.trim()), (expected, rest), "{line}");
        }
        let (found, rest) = stamp("Aug 09 21:57:44 ESTAB 0 0 a:1 b:2").unwrap();
        assert!(matches!(found, Stamp::Calendar(_)) && rest == "ESTAB 0 0 a:1 b:2", "{rest}");
        for none in [
            "",
            "cubic wscale:7,7",
            "inf",
            "nan",
            "1e9",
            "ESTAB 0 0",
            "date:",
            "\u{e4}\u{e4}\u{e4}",
            "2025-08",
        ] {
            assert_eq!(stamp(none), None, "{none}");
        }
    }

    #[test]
    fn midnight_does_not_go_back() {
        let mut clock = Clock::new(Unit::default());
        let at = |clock: &mut Clock, line| clock.seconds(stamp(line).unwrap().0);
        assert_eq!(at(&mut clock, "23:59:59.5"), Some(86_399.5));
        assert_eq!(at(&mut clock, "00:00:00.5"), Some(86_400.5));
        assert_eq!(at(&mut clock, "00:00:00.4"), None);
        assert_eq!(at(&mut clock, "1754776664"), None, "another form");
    }

    fn unit(numbers: &[f64], passed: &[(f64, f64)]) -> f64 {
        let mut search = UnitSearch::default();
        numbers.iter().for_each(|now| search.number(*now));
        passed.iter().for_each(|(grown, ms)| search.passed(*grown, *ms));
        search.unit().0
    }

    #[test]
    fn numbers_tell_their_unit_and_counters_tell_it_better() {
        assert_eq!(unit(&[AT, AT + 0.1], &[]), 1.0);
        assert_eq!(unit(&[AT * 1e3, AT * 1e3 + 100.0], &[]), 1e3);
        assert_eq!(unit(&[AT * 1e6], &[]), 1e6);
        assert_eq!(unit(&[AT * 1e9], &[]), 1e9);
        assert_eq!(unit(&[0.0, 7200.0, 14_400.0], &[]), 1e3, "hours between any two samples");
        // The time since the machine began, in microseconds, and a `busy` in milliseconds.
        assert_eq!(unit(&[2e9, 2.0001e9], &[(1e5, 100.0)]), 1e6);
        assert_eq!(unit(&[0.0, 100.0], &[(100.0, 96.0)]), 1e3);
        assert_eq!(unit(&[AT, AT + 0.1], &[(0.1, 98.0)]), 1.0);
        assert_eq!(unit(&[AT, AT + 100.0], &[(100.0, 1.0)]), 1.0, "hardly busy");
    }
}
