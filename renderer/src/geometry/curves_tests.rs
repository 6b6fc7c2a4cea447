//! Tubes against dense chains of cones, and their partials against neighbouring rays.

use super::*;
use crate::sampler::Sampler;

struct Random(Sampler);

impl Random {
    fn signed(&mut self) -> f32 {
        self.0.next_1d() * 2.0 - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.signed(), self.signed(), self.signed())
    }
}

/// A gently bent piece, its radius changing along it.
fn piece(random: &mut Random) -> CurvePiece {
    let along = random.vector().normalize_or(Vec3::X) * 0.5;
    let start = random.vector() * 0.3 - along * 1.5;
    let mut strand = Curves::default();
    let points: Vec<Vec4> = (0..4)
        .map(|i| (start + along * i as f32 + random.vector() * 0.25).extend(0.05 + 0.03 * random.signed()))
        .collect();
    strand.add_strand(Basis::Bezier, &points).expect("four points are a piece");
    strand.pieces[0]
}

/// The nearest hit of a ray with many short cones whose rims are circles of the tube, in f64.
fn brute_force(p: &CurvePiece, o: DVec3, d: DVec3) -> Option<f64> {
    // Cones overlap their neighbours by half, or there would be gaps on the outside of bends.
    const N: usize = 1500;
    let points = p.exact();
    let rings: Vec<DVec4> = (0..=N).map(|i| evaluate(&points, i as f64 / N as f64).value).collect();
    let cone = |a: DVec4, b: DVec4| {
        // |w⊥|² = (r₀ + k h)², with h the height over the first ring.
        let axis = (b - a).truncate();
        let height = axis.length();
        let (axis, k) = (axis / height, (b.w - a.w) / height);
        let w = o - a.truncate();
        let (dh, wh) = (d.dot(axis), w.dot(axis));
        let (dp, wp) = (d - axis * dh, w - axis * wh);
        let (r, dr) = (a.w + k * wh, k * dh);
        let (qa, qb, qc) = (dp.dot(dp) - dr * dr, dp.dot(wp) - r * dr, wp.dot(wp) - r * r);
        let root = (qb * qb - qa * qc).sqrt();
        let within = |t: &f64| t.is_finite() && *t > 0.0 && (-0.5 * height..=1.5 * height).contains(&(wh + t * dh));
        [(-qb - root) / qa, (-qb + root) / qa].into_iter().filter(within).reduce(f64::min)
    };
    rings.windows(2).filter_map(|r| cone(r[0], r[1])).reduce(f64::min)
}

#[test]
fn tubes_are_met_where_a_dense_chain_of_cones_is() {
    let mut random = Random(Sampler::new(41, (0, 0), 0));
    let (mut met, mut differ) = (0, 0);
    for case in 0..40 {
        let p = piece(&mut random);
        for _ in 0..25 {
            let s = f64::from(random.signed()) * 0.5 + 0.5;
            let aim = evaluate(&p.exact(), s).value.truncate() + random.vector().as_dvec3() * 0.06;
            let o = random.vector().as_dvec3() * 4.0;
            let d = (aim - o).normalize();
            let (got, want) = (p.nearest(o, d, 0.0, f64::INFINITY), brute_force(&p, o, d));
            met += u32::from(want.is_some());
            match (got, want) {
                (Some((t, s)), Some(want)) if (t - want).abs() < 2e-4 => {
                    // On the surface that the definition says.
                    let at = evaluate(&p.exact(), s);
                    let q = o + d * t - at.value.truncate();
                    assert!((q.length() - at.value.w).abs() < 1e-8, "case {case}");
                    assert!(q.dot(at.first.truncate()).abs() < 1e-8 || s == 0.0 || s == 1.0, "case {case}");
                }
                (None, None) => {}
                _ => differ += 1,
            }
        }
    }
    assert!(met > 400 && differ <= met / 400, "{differ} of {met} differ");
}

#[test]
fn far_and_thin_and_unnormalised_rays_meet_the_same() {
    let mut random = Random(Sampler::new(42, (0, 0), 0));
    for _ in 0..50 {
        let p = piece(&mut random);
        let aim = evaluate(&p.exact(), 0.4).value.truncate();
        let away = random.vector().as_dvec3().normalize();
        if away.dot(evaluate(&p.exact(), 0.4).first.truncate().normalize()).abs() > 0.9 {
            continue;
        }
        for far in [2.0, 1e3, 1e6] {
            let (t, _) = p.nearest(aim + away * far, -away, 0.0, f64::INFINITY).expect("it is aimed at");
            assert!((t - far).abs() < 0.3, "{t} from {far}");
            let (stretched, _) =
                p.nearest(aim + away * far, away * -7.5, 0.0, f64::INFINITY).expect("it is the same ray");
            assert!((stretched * 7.5 - t).abs() < 1e-9 * far);
        }
    }
}

/// Values where the neighbouring ray meets the tube.
fn traced(p: &CurvePiece, o: DVec3, d: DVec3, about: f64) -> Option<[DVec3; 5]> {
    let (t, s) = p.nearest(o, d, about - 0.05, about + 0.05)?;
    let point = p.point(o + d * t, s);
    let (position, _, [n, tangent, bitangent]) = p.values(&point);
    // In f64, and without the wrap of v.
    let e = p.reference.as_dvec3();
    let axis = point.at.first.truncate().normalize();
    let v = point.q.dot(e.cross(axis)).atan2(point.q.dot(e)) / TAU;
    Some([position, DVec3::new(point.s, v, 0.0), n, tangent, bitangent])
}

#[test]
fn partials_match_neighbouring_rays() {
    let mut random = Random(Sampler::new(43, (0, 0), 0));
    let mut checked = 0;
    for case in 0..200 {
        let p = piece(&mut random);
        let aim = evaluate(&p.exact(), 0.5).value.truncate() + random.vector().as_dvec3() * 0.02;
        let away = random.vector().as_dvec3().normalize();
        let (o, d) = (aim + away * 3.0, -away);
        let Some((t, s)) = p.nearest(o, d, 0.0, f64::INFINITY) else { continue };
        let point = p.point(o + d * t, s);
        if point.normal.normalize().dot(d).abs() < 0.3 || !(0.05..0.95).contains(&s) {
            continue;
        }
        let turn = random.vector().as_dvec3();
        let ray = RayPartial {
            direction: d,
            d_origin: random.vector().as_dvec3() * 0.1,
            d_direction: (turn - d * d.dot(turn)) * 0.1,
        };
        let m = p.members_at(&point, t, &ray);
        let h = 1e-6;
        let beside = |e: f64| traced(&p, o + ray.d_origin * e, d + ray.d_direction * e, t);
        let (Some(plus), Some(minus)) = (beside(h), beside(-h)) else { continue };
        let exact = [m.position, m.uvw, m.normal, m.tangent, m.bitangent];
        for (i, exact) in exact.into_iter().enumerate() {
            let mut difference = plus[i] - minus[i];
            if i == 1 {
                difference.y -= difference.y.round();
            }
            let error = (difference / (2.0 * h) - exact).length() / exact.length().max(1.0);
            assert!(error < 1e-5, "case {case}, member {i}: {} against {exact}", difference / (2.0 * h));
        }
        checked += 1;
    }
    assert!(checked > 60, "only {checked}");
}

#[test]
fn strands_are_cut_into_pieces_that_meet() {
    let points: Vec<Vec4> = (0..7).map(|i| Vec4::new(i as f32, (i * i) as f32 * 0.1, 0.0, 0.1)).collect();
    let mut spline = Curves::default();
    spline.add_strand(Basis::BSpline, &points).expect("seven points are four pieces");
    assert_eq!(spline.pieces.len(), 4);
    for pair in spline.pieces.windows(2) {
        assert!((pair[0].points[3] - pair[1].points[0]).length() < 1e-6 && pair[0].along[1] == pair[1].along[0]);
        let slopes = [pair[0].points[3] - pair[0].points[2], pair[1].points[1] - pair[1].points[0]];
        assert!((slopes[0] - slopes[1]).length() < 1e-6);
    }
    let mut bezier = Curves::default();
    bezier.add_strand(Basis::Bezier, &points).expect("seven points are two pieces");
    assert_eq!((bezier.pieces.len(), bezier.pieces[1].along), (2, [0.5, 1.0]));
    assert!(bezier.add_strand(Basis::Bezier, &points[..6]).is_err());
    assert!(bezier.add_strand(Basis::BSpline, &points[..3]).is_err());
    assert!(bezier.add_strand(Basis::BSpline, &[Vec4::splat(f32::NAN); 4]).is_err());
    // v counts from the axis that the strand follows least, outwards along it where it is 0.
    let middle = bezier.pieces[0];
    assert_eq!(middle.reference, Vec3::Z);
    let c = evaluate(&middle.exact(), 0.5).value.truncate().as_vec3();
    let s = middle.surface(c + Vec3::Z * 0.1, 0.5);
    assert!(s.uv.y.min(1.0 - s.uv.y) < 1e-6 && (s.uv.x - 0.25).abs() < 1e-6 && (s.normal - Vec3::Z).length() < 1e-6);
}
