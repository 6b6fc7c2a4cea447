//! The loss over the steps, as a table and as a picture.

use super::Point;
use std::fmt::Write;

/// Lines of step, loss and PSNR, which is empty where there is none.
pub(super) fn csv(points: &[Point]) -> String {
    let mut out = "step,loss,psnr\n".to_owned();
    for point in points {
        let psnr = point.psnr.map_or(String::new(), |psnr| format!("{psnr:.4}"));
        // Writing to a text does not fail.
        let _ = writeln!(out, "{},{},{psnr}", point.step, point.loss);
    }
    out
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 16.0;
const TOP: f64 = 16.0;
const BOTTOM: f64 = 44.0;

/// A curve over linear steps. The axis of the loss is logarithmic if all losses are positive, and spans at least half a
/// decade.
pub(super) fn svg(points: &[Point]) -> String {
    let losses = || points.iter().map(|point| point.loss);
    let log = losses().all(|loss| loss > 0.0) && !points.is_empty();
    let height_of = |loss: f64| if log { loss.log10() } else { loss };
    let (low, high) = bounds(losses().map(height_of), if log { 0.5 } else { 1e-12 });
    let last = points.last().map_or(1, |point| point.step.max(1)) as f64;
    let x = |step: f64| LEFT + (WIDTH - LEFT - RIGHT) * step / last;
    let y = |height: f64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * (height - low) / (high - low);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n"
    );
    for tick in ticks(0.0, last) {
        let at = x(tick);
        let _ = writeln!(
            out,
            "<path d=\"M{at:.1} {TOP}V{:.1}\" stroke=\"#ddd\"/><text x=\"{at:.1}\" y=\"{:.1}\" \
             text-anchor=\"middle\">{tick}</text>",
            HEIGHT - BOTTOM,
            HEIGHT - BOTTOM + 16.0,
        );
    }
    let heights = if log { decades(low, high) } else { ticks(low, high).iter().map(|x| (*x, *x)).collect() };
    for (height, loss) in heights {
        let at = y(height);
        let _ = writeln!(
            out,
            "<path d=\"M{LEFT} {at:.1}H{:.1}\" stroke=\"#ddd\"/><text x=\"{:.1}\" y=\"{:.1}\" \
             text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0,
            figure(loss),
        );
    }
    let line: Vec<String> =
        points.iter().map(|p| format!("{:.1},{:.1}", x(p.step as f64), y(height_of(p.loss)))).collect();
    let _ = write!(
        out,
        "<polyline points=\"{}\" fill=\"none\" stroke=\"#1f5fbf\" stroke-width=\"1.5\"/>\n\
         <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">step</text>\n\
         <text transform=\"translate(14 {:.1}) rotate(-90)\" text-anchor=\"middle\">loss</text>\n</svg>\n",
        line.join(" "),
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 8.0,
        (TOP + HEIGHT - BOTTOM) / 2.0,
    );
    out
}

/// The least and the largest number, at least so far apart.
fn bounds(numbers: impl Iterator<Item = f64>, apart: f64) -> (f64, f64) {
    let (low, high) = numbers.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)));
    if !(low.is_finite() && high.is_finite()) {
        return (0.0, 1.0);
    }
    let missing = (apart - (high - low)).max(0.0) / 2.0;
    (low - missing, high + missing)
}

/// About five round numbers.
fn ticks(low: f64, high: f64) -> Vec<f64> {
    let rough = (high - low) / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|step| *step >= rough).unwrap_or(power);
    let first = (low / step).ceil() as i64;
    (first..).map(|i| i as f64 * step).take_while(|x| *x <= high * (1.0 + 1e-12)).take(16).collect()
}

/// Powers of ten, with 2 and 5 times these if there are few; as logarithms and as numbers.
fn decades(low: f64, high: f64) -> Vec<(f64, f64)> {
    let factors: &[f64] = match high - low {
        few if few < 2.5 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let all = (low.floor() as i64..=high.ceil() as i64)
        .flat_map(|power| factors.iter().map(move |factor| factor * 10f64.powi(power as i32)));
    all.map(|loss| (loss.log10(), loss)).filter(|(height, _)| (low..=high).contains(height)).collect()
}

fn figure(x: f64) -> String {
    match x.abs() {
        size if size == 0.0 || (0.001..100_000.0).contains(&size) => format!("{}", (x * 1e6).round() / 1e6),
        _ => format!("{x:.0e}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(losses: &[f64]) -> Vec<Point> {
        let point = |(i, loss): (usize, &f64)| Point { step: 10 * i as u64, loss: *loss, psnr: Some(1.0) };
        losses.iter().enumerate().map(point).collect()
    }

    #[test]
    fn a_table_has_a_line_for_each_point() {
        let mut points = points(&[0.5, 0.25]);
        points[1].psnr = None;
        assert_eq!(csv(&points), "step,loss,psnr\n0,0.5,1.0000\n10,0.25,\n");
    }

    /// The ends of the curve, from the formula of the axes.
    #[test]
    fn the_curve_spans_the_picture() {
        let svg = svg(&points(&[1.0, 0.1, 0.01]));
        assert!(svg.contains("points=\"76.0,16.0 350.0,166.0 624.0,316.0\""), "{svg}");
        assert!(svg.contains(">0.1</text>"), "{svg}");
    }

    #[test]
    fn any_losses_can_be_drawn() {
        for losses in [&[][..], &[0.0], &[1.0], &[-1.0, 2.0], &[0.0, 0.0], &[1e-30, 1e30], &[f64::MAX, 1.0]] {
            let svg = svg(&points(losses));
            assert!(svg.ends_with("</svg>\n") && !svg.contains("NaN") && !svg.contains("inf"), "{losses:?}: {svg}");
        }
    }
}
