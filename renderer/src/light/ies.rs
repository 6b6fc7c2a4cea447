//! Photometric files as manufacturers of luminaires publish them: ANSI/IES LM-63 of any year, photometry of type C.

use super::profile::Profile;
use ssl_compiler::input;
use std::path::Path;
use std::str::SplitWhitespace;

/// Directions that a file may have; real ones have some thousands.
const MAX_DIRECTIONS: usize = 1 << 20;
/// Bytes that a file may have.
const MAX_BYTES: u64 = 1 << 26;

/// Reads a file; intensities in candela. The error is a sentence for the user, here and below.
pub fn load(path: &Path) -> Result<Profile, String> {
    // Texts within may be in any encoding; what counts is ASCII.
    let bytes = input::bytes(path, MAX_BYTES).map_err(|e| e.to_string())?;
    parse(&String::from_utf8_lossy(&bytes))
}

/// Of the text of a file.
pub fn parse(text: &str) -> Result<Profile, String> {
    let (tilt, rest) = after_labels(text).ok_or("it has no line `TILT=`, as photometric files do")?;
    let numbers = rest.replace(',', " ");
    let mut numbers = Numbers(numbers.split_whitespace());
    if tilt.eq_ignore_ascii_case("INCLUDE") {
        skip_tilt(&mut numbers)?;
    }
    let _lamps = numbers.next("number of lamps")?;
    let _lumens = numbers.next("lumens of a lamp")?;
    let multiplier = numbers.next("factor of the intensities")?;
    let vertical = numbers.count("number of vertical angles")?;
    let horizontal = numbers.count("number of horizontal angles")?;
    let photometry = numbers.next("type of photometry")?;
    if photometry != 1.0 {
        return Err(format!("its photometry is of type {photometry}, not of type 1, which is C"));
    }
    for what in ["type of units", "width", "length", "height"] {
        numbers.next(what)?;
    }
    let ballast = numbers.next("ballast factor")?;
    for what in ["file generation type", "input power"] {
        numbers.next(what)?;
    }
    if vertical.checked_mul(horizontal).is_none_or(|n| n > MAX_DIRECTIONS) {
        return Err(format!("it has {vertical} by {horizontal} directions, more than {MAX_DIRECTIONS}"));
    }
    let vertical = numbers.list(vertical, "vertical angle")?;
    let horizontal = numbers.list(horizontal, "horizontal angle")?;
    let intensities = numbers.list(vertical.len() * horizontal.len(), "intensity")?;
    Profile::new(vertical, horizontal, intensities.into_iter().map(|i| i * (multiplier * ballast)).collect())
}

/// What stands behind `TILT=`, and all lines after that.
fn after_labels(text: &str) -> Option<(&str, &str)> {
    let mut from = 0;
    for line in text.split_inclusive('\n') {
        from += line.len();
        let (key, value) = line.split_once('=').unwrap_or((line, ""));
        if key.trim().eq_ignore_ascii_case("TILT") {
            return Some((value.trim(), &text[from..]));
        }
    }
    None
}

/// How the lamp dims where the luminaire is tilted, which nobody says.
fn skip_tilt(numbers: &mut Numbers<'_>) -> Result<(), String> {
    numbers.next("position of the lamp")?;
    let angles = numbers.count("number of tilts")?;
    (0..2 * angles.min(MAX_DIRECTIONS)).try_for_each(|_| numbers.next("tilt").map(|_| ()))
}

/// What stands between blanks, line ends being such.
struct Numbers<'a>(SplitWhitespace<'a>);

impl Numbers<'_> {
    fn next(&mut self, what: &str) -> Result<f32, String> {
        let word = self.0.next().ok_or_else(|| format!("it ends before its {what}"))?;
        let number = word.parse::<f32>().ok().filter(|x| x.is_finite());
        number.ok_or_else(|| format!("`{word}` stands where its {what} should, which is a number"))
    }

    fn count(&mut self, what: &str) -> Result<usize, String> {
        let number = self.next(what)?;
        if number.fract() != 0.0 || !(1.0..=1e6).contains(&number) {
            return Err(format!("its {what} is {number}"));
        }
        Ok(number as usize)
    }

    fn list(&mut self, count: usize, what: &str) -> Result<Vec<f32>, String> {
        (0..count).map(|_| self.next(what)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    const LABELS: &str = "IESNA:LM-63-1995\n[TEST] by hand\n[MANUFAC] nobody\nTILT=NONE\n";

    #[test]
    fn files_of_all_years_are_read() {
        // 2 × 0.5 × 0.9 of what the table says.
        let body = "1 1000 0.5\n 3 2, 1 2 0.1 0.1 0\n0.9 1.0 50\n0 45\n90\n0\n 180\n 10 20 30\n40 50\n60\n";
        for text in [
            format!("{LABELS}{body}"),
            format!("IESNA91\r\nTILT=NONE\r\n{}", body.replace('\n', "\r\n")),
            // 1986: no label in front; the lamp's dimming within the file.
            format!("a title\n TILT = INCLUDE\n1\n3\n0 45 90\n1.0 0.9 0.8\n{body}"),
            format!("TILT=lamp.tlt\n{body}\n"),
        ] {
            let profile = parse(&text).unwrap_or_else(|why| panic!("{why}: {text}"));
            for (d, expected) in [
                (Vec3::NEG_Y, 10.0),
                (Vec3::X, 30.0),
                (Vec3::NEG_X, 60.0),
                (Vec3::new(1.0, -1.0, 0.0).normalize(), 20.0),
                // Halfway between both planes.
                (Vec3::Z, 45.0),
                (Vec3::Y, 0.0),
            ] {
                let found = profile.intensity(d);
                assert!((found - 0.45 * expected).abs() < 1e-3, "{d}: {found}");
            }
        }
    }

    #[test]
    fn what_is_wrong_with_a_file_is_said() {
        let table = "0 90 0 10 10";
        for (text, words) in [
            (String::new(), "no line `TILT=`"),
            ("# a mesh\nv 0 0 0\n".to_owned(), "no line `TILT=`"),
            (format!("{LABELS}1 1000 1 2 1 1 2 0 0 0 1 1 50 0 90 0 10"), "ends before its intensity"),
            (format!("{LABELS}1 1000 x 2 1 1 2 0 0 0 1 1 50 {table}"), "`x` stands where its factor"),
            (format!("{LABELS}1 1000 1 2 1 2 2 0 0 0 1 1 50 {table}"), "of type 2"),
            (format!("{LABELS}1 1000 1 2.5 1 1 2 0 0 0 1 1 50 {table}"), "number of vertical angles is 2.5"),
            (format!("{LABELS}1 1000 1 999999 999999 1 2 0 0 0 1 1 50 {table}"), "more than 1048576"),
            (format!("{LABELS}1 1000 1 2 1 1 2 0 0 0 1 1 50 90 0 0 10 10"), "do not ascend"),
            (format!("{LABELS}1 1000 1 2 1 1 2 0 0 0 1 1 50 0 270 0 10 10"), "vertical angles"),
            (format!("{LABELS}1 1000 1 2 1 1 2 0 0 0 1 1 50 0 90 45 10 10"), "horizontal angles"),
            (format!("{LABELS}1 1000 1 2 1 1 2 0 0 0 1 1 50 0 90 0 10 -1"), "below 0"),
            (format!("{LABELS}1 1000 1 2 1 1 2 0 0 0 1 1 50 0 90 0 10 nan"), "`nan` stands"),
            ("TILT=INCLUDE\n1 1000000 0".to_owned(), "ends before its tilt"),
        ] {
            let why = parse(&text).expect_err(&text);
            assert!(why.contains(words), "{why}");
        }
    }
}
