//! Wavefront OBJ files: as one mesh, or in parts by material and object.

use super::TriangleMesh;
use super::normals::Smoothing;
use super::obj_vertices::OnVertices;
use formats::obj::{self, Piece, Statements, Text, Vertex};
use glam::{Vec2, Vec3};
use rustc_hash::FxHashMap;
use std::ops::Range;

/// Reads a file in its own space. Polygons are cut into triangles; points and lines are left out; missing texture
/// coordinates are 0; missing normals are computed, smooth within the groups of the file's `s` statements. With
/// [`Smoothing::Flat`], every face gets its own normal; normals and groups of the file have no effect.
///
/// The error is a sentence for the user.
pub fn load<T: Text + ?Sized>(text: &T, smoothing: Smoothing, variables: &OnVertices) -> Result<TriangleMesh, String> {
    mesh(obj::read(text, false)?, smoothing, variables)
}

/// A part of a file: triangles between a `usemtl` and the next, and with them all others of the same names.
pub struct ObjPart {
    pub mesh: TriangleMesh,
    /// As `usemtl` names it.
    pub material: Option<String>,
    /// As `o` or `g` names it, if asked for.
    pub object: Option<String>,
}

/// A file in parts.
pub struct ObjFile {
    pub parts: Vec<ObjPart>,
    /// The files that `mtllib` names.
    pub libraries: Vec<String>,
}

/// As [`load`], in parts by the names of their materials, and of those objects and groups that are `wanted`. Normals that
/// the file does not give are as smooth between parts as within them.
pub fn load_parts<T: Text + ?Sized>(
    text: &T,
    smoothing: Smoothing,
    wanted: &[&str],
    variables: &OnVertices,
) -> Result<ObjFile, String> {
    let mut statements = obj::read(text, true)?;
    let (pieces, libraries) = (std::mem::take(&mut statements.pieces), std::mem::take(&mut statements.libraries));
    let whole = mesh(statements, smoothing, variables)?;
    let object = |piece: &Piece| piece.object.as_deref().filter(|name| wanted.contains(name)).map(str::to_owned);
    let ends = pieces.iter().skip(1).map(|next| next.first).chain([whole.indices.len()]);
    // The triangles of each part, in the order of the file.
    let mut triangles: Vec<(Names, Vec<Range<usize>>)> = Vec::new();
    let mut numbers: FxHashMap<Names, usize> = FxHashMap::default();
    for (piece, end) in pieces.iter().zip(ends) {
        let names = (piece.material.clone(), object(piece));
        let number = *numbers.entry(names.clone()).or_insert(triangles.len());
        if number == triangles.len() {
            triangles.push((names, Vec::new()));
        }
        triangles[number].1.push(piece.first..end);
    }
    let part = |((material, object), ranges): (Names, Vec<Range<usize>>)| ObjPart {
        mesh: whole.part(ranges.into_iter().flatten()),
        material,
        object,
    };
    let parts = match <[_; 1]>::try_from(triangles) {
        Ok([((material, object), _)]) => vec![ObjPart { mesh: whole, material, object }],
        Err(several) => several.into_iter().map(part).collect(),
    };
    Ok(ObjFile { parts, libraries })
}

/// Of a part: its material's, and its object's.
type Names = (Option<String>, Option<String>);

/// All of a file as one mesh, its triangles in their order.
fn mesh(file: Statements, smoothing: Smoothing, variables: &OnVertices) -> Result<TriangleMesh, String> {
    let Statements { positions, colors, coordinates, normals, vertices, triangles, groups, .. } = file;
    let uv = |v: &Vertex| coordinates.get(v.coordinates as usize).copied().filter(|uv| uv.is_finite());
    // A normal without a length is missing, too.
    let normal = |v: &Vertex| normals.get(v.normal as usize).map_or(Vec3::ZERO, |n| n.normalize_or_zero());
    let mut mesh = TriangleMesh {
        positions: vertices.iter().map(|v| positions[v.position as usize]).collect(),
        normals: vertices.iter().map(normal).collect(),
        uvs: vertices.iter().map(|v| uv(v).unwrap_or(Vec2::ZERO)).collect(),
        is_smooth_by_default: smoothing == Smoothing::Whole && normals.is_empty() && groups.is_empty(),
        colors: vertices.iter().filter_map(|v| colors.get(v.position as usize)).copied().collect(),
        variables: variables.variables(vertices.iter().map(|v| v.position), positions.len())?,
        indices: triangles,
        ..TriangleMesh::default()
    };
    mesh.complete_in_groups(smoothing, &groups);
    Ok(mesh)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_polygons_without_normals_or_coordinates() {
        let on = OnVertices::default();
        let mesh = load(&b"v 0 0 0\nv 1 0 0\nv 1 0 -1\nv 0 0 -1\nf 1 2 3 4\n"[..], Smoothing::Whole, &on)
            .expect("a well-formed file");
        assert_eq!(mesh.indices.len(), 2);
        assert!(mesh.normals.iter().all(|n| (*n - Vec3::Y).length() < 1e-6));
        assert!(mesh.uvs.iter().all(|uv| *uv == Vec2::ZERO));
        assert_eq!(
            load(&b"v 0 0 0\nv 1 0 0\nv 1 0 -1\nv 0 0 -1\nf 1 2 3 4\n"[..], Smoothing::Flat, &on)
                .expect("as before")
                .positions
                .len(),
            6
        );
    }

    fn read(text: &str) -> TriangleMesh {
        load(text.as_bytes(), Smoothing::Whole, &OnVertices::default()).expect("a well-formed file")
    }

    /// An arrow, a C, and an L whose first corner sees all of it.
    #[test]
    fn concave_polygons_are_covered_once() {
        for (text, area) in [
            ("v -.5 -.5 0\nv 0 0 0\nv .5 -.5 0\nv 0 .9 0\nf 1 2 3 4\n", 0.45),
            (
                "v 0 0 0\nv 3 0 0\nv 3 1 0\nv 1 1 0\nv 1 2 0\nv 3 2 0\nv 3 3 0\nv 0 3 0\nf -8 -7 -6 -5 -4 -3 -2 -1\n",
                7.0,
            ),
            ("v 0 0 0\nv 2 0 0\nv 2 1 0\nv 1 1 0\nv 1 2 0\nv 0 2 0\nf 4 5 6 1 2 3\n", 3.0),
        ] {
            let mesh = read(text);
            let sum: f32 = (0..mesh.indices.len()).map(|t| mesh.area(t)).sum();
            assert!((sum - area).abs() < 1e-5, "{text}: {sum}");
            assert!((0..mesh.indices.len()).all(|t| mesh.geometric_normal(t) == Vec3::Z));
            assert!(mesh.normals.iter().all(|n| (*n - Vec3::Z).length() < 1e-6));
        }
    }

    /// A corner without a normal, or with one of no length, gets that of the faces; the others keep theirs. Texture coordinates stay
    /// with their corners.
    #[test]
    fn corners_keep_what_they_have_beside_others_that_have_none() {
        let bent = Vec3::new(0.6, 0.0, 0.8);
        for lacking in ["f 1/1 2 4/2", "f 1/1/2 2//2 4/2/2", "f 1/1/0 2/0/2 4/2"] {
            let mesh = read(&format!(
                "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nvt 0.25 0.5\nvt 0.75 1\nvn 0.6 0 0.8\nvn 0 0 0\n\
                 {lacking}\nf 1//1 2/2/1 3/1/1\n"
            ));
            let (edge, uv) = ((Vec3::Z - Vec3::Y).normalize(), [Vec2::new(0.25, 0.5), Vec2::new(0.75, 1.0)]);
            let expected = [
                (Vec3::ZERO, edge, uv[0]),
                (Vec3::X, edge, Vec2::ZERO),
                (Vec3::Z, Vec3::NEG_Y, uv[1]),
                (Vec3::ZERO, bent, Vec2::ZERO),
                (Vec3::X, bent, uv[1]),
                (Vec3::Y, bent, uv[0]),
            ];
            for (corner, (position, normal, uv)) in mesh.indices.as_flattened().iter().zip(expected) {
                let i = *corner as usize;
                assert_eq!((mesh.positions[i], mesh.uvs[i]), (position, uv), "{lacking}");
                assert!((mesh.normals[i] - normal).length() < 1e-6, "{lacking}: {} for {normal}", mesh.normals[i]);
            }
        }
    }

    /// Two squares that share an edge, at a right angle: smooth where nothing is said or both are of a group, else with a hard edge.
    #[test]
    fn smoothing_groups_part_normals() {
        let corners = "v 0 0 0\nv 1 0 0\nv 1 0 -1\nv 0 0 -1\nv 0 -1 0\nv 1 -1 0\n";
        let (one, other, between) = (Vec3::Y, Vec3::Z, (Vec3::Y + Vec3::Z).normalize());
        for (first, second, smooth) in [
            ("", "", true),
            ("s 1", "", true),
            ("s 1", "s 01 # the same by another name", false),
            ("s 3", "s 3", true),
            ("s 1", "s 2", false),
            ("s off", "", false),
            ("s 0", "s 0", false),
            ("", "s 1", false),
            ("s 1", "s off", false),
        ] {
            let mesh = read(&format!("{corners}{first}\nf 1 2 3 4\n{second}\nf 1 5 6 2\n"));
            let of = |faces: std::ops::Range<usize>| mesh.indices[faces].as_flattened().iter().map(|i| *i as usize);
            for (i, flat) in of(0..2).zip([one; 6]).chain(of(2..4).zip([other; 6])) {
                let on_edge = mesh.positions[i].y == 0.0 && mesh.positions[i].z == 0.0;
                let expected = if smooth && on_edge { between } else { flat };
                assert!((mesh.normals[i] - expected).length() < 1e-6, "{first} {second}: {}", mesh.normals[i]);
            }
        }
        // Normals that are named and have no length, or are not there, are as good as none.
        for vn in ["vn 0 0 0\n", ""] {
            let mesh = read(&format!("{corners}{vn}s off\nf 1//1 2//1 3//1 4//1\nf 1//1 5//1 6//1 2//1\n"));
            for (triangle, flat) in [one, one, other, other].into_iter().enumerate() {
                assert!(mesh.indices[triangle].iter().all(|i| (mesh.normals[*i as usize] - flat).length() < 1e-6));
            }
        }
        // Normals of the file count for more, and take no further vertices.
        let mesh = read(&format!("{corners}vn 1 0 0\ns 1\nf 1//1 2//1 3//1 4//1\ns off\nf 1//1 5//1 6//1 2//1\n"));
        assert!(mesh.positions.len() == 6 && mesh.normals.iter().all(|n| *n == Vec3::X));
    }

    /// A vertex of many faces, each with a normal of its own: the last of them are still found again.
    #[test]
    fn a_corner_of_many_faces_takes_no_time_by_their_square() {
        let mut text = "v 0 0 0\nv 1 0 0\nv 0 1 0\n".to_owned();
        for i in 1..=300_000 {
            text.push_str(&format!("vn {i} 1 0\nf 1//{i} 2//{i} 3//{i}\nf 1//{i} 2//{i} 3//{i}\n"));
        }
        let mesh = read(&text);
        assert_eq!((mesh.indices.len(), mesh.positions.len()), (600_000, 900_000));
        assert_eq!(mesh.indices[599_999], mesh.indices[599_998]);
    }

    #[test]
    fn comments_and_marks_are_passed_over() {
        let text = "\u{feff}v 0 0 0 # the origin\nv 1 0 0#\n  v\t1 0 -1 1.0 # 4\n# v 9 9 9\nv 0 0 -2 2\nvt 0 0 # u v\nvn 0 1 0 #\n\
            s off # no smoothing\ng a # b\nusemtl red # 2\nf 1/1/1 2//1 3 4 # a square\nl 1 2 3 4 # and\np 1 2 3\nf 1 2 # no area\n";
        let parts = load_parts(text.as_bytes(), Smoothing::Whole, &["a # b"], &OnVertices::default())
            .expect("well-formed")
            .parts;
        assert_eq!(parts.len(), 1);
        // Names may have the sign in them.
        assert_eq!((parts[0].material.as_deref(), parts[0].object.as_deref()), (Some("red # 2"), Some("a # b")));
        let mesh = &parts[0].mesh;
        assert_eq!(mesh.positions, [Vec3::ZERO, Vec3::X, Vec3::new(1.0, 0.0, -1.0), Vec3::NEG_Z]);
        assert_eq!(mesh.indices, [[0, 1, 2], [0, 2, 3]]);
        assert!(mesh.normals.iter().all(|n| (*n - Vec3::Y).length() < 1e-6), "{:?}", mesh.normals);
    }

    /// The square above, and the library of its material, in lines that go on in the next.
    #[test]
    fn reads_lines_that_go_on() {
        let text = b"mtllib \\\na.mtl\nv 0 0 \\\n0\nv 1 \\\r\n0 0\nv 1 0 -1\nv 0 0 -1\nf 1 \\\n  2 3\\\n 4\n";
        let ObjFile { parts, libraries } =
            load_parts(&text[..], Smoothing::Whole, &[], &OnVertices::default()).expect("a well-formed file");
        assert_eq!((libraries, parts.len()), (vec!["a.mtl".to_owned()], 1));
        let mesh = &parts[0].mesh;
        assert_eq!((mesh.positions.len(), mesh.indices.len()), (4, 2));
        assert!(mesh.positions.contains(&Vec3::X) && mesh.normals.iter().all(|n| (*n - Vec3::Y).length() < 1e-6));
    }

    /// Two squares side by side, of two materials, the border's normals between them shared.
    #[test]
    fn parts_have_their_names_and_what_belongs_to_them() {
        let text = b"mtllib a.mtl\nmtllib b c.mtl\nv 0 0 0\nv 1 0 0\nv 1 0 -1\nv 0 0 -1\nv 2 1 0\nv 2 1 -1\n\
            o left\nusemtl red\nf 1 2 3 4\no right\nusemtl blue\nf 2 5 6 3\nusemtl red\nf 1 2 3\n";
        let ObjFile { parts, libraries } =
            load_parts(&text[..], Smoothing::Whole, &[], &OnVertices::default()).expect("a well-formed file");
        assert_eq!(libraries, ["a.mtl", "b c.mtl"]);
        let names: Vec<_> = parts.iter().map(|p| p.material.as_deref()).collect();
        assert_eq!((names, parts[0].mesh.indices.len()), (vec![Some("red"), Some("blue")], 3));
        let at_border = |mesh: &TriangleMesh| {
            let i = mesh.positions.iter().position(|p| *p == Vec3::X).expect("both have the corner");
            mesh.normals[i]
        };
        assert!((at_border(&parts[0].mesh) - at_border(&parts[1].mesh)).length() < 1e-6);
        let parts =
            load_parts(&text[..], Smoothing::Whole, &["right"], &OnVertices::default()).expect("as before").parts;
        let names: Vec<_> = parts.iter().map(|p| (p.material.as_deref(), p.object.as_deref())).collect();
        assert_eq!(names, [(Some("red"), None), (Some("blue"), Some("right")), (Some("red"), Some("right"))]);
    }

    #[test]
    fn refuses_bad_files_with_a_sentence() {
        for bad in [
            &b"v 0 0"[..],
            b"f 1 2 3",
            b"",
            b"\xff\xfe\x00",
            b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3",
            b"v 1 0 0\nf 1 1 9",
            b"v 1 0 0\nf 1 1 -2",
            b"v 1 0 0\nf 1 1 0",
            b"v 1 0 0\nvt 0 0\nf 1/1 1/1 1/2",
            b"v 1 0 0\nf 1 1 1\nf",
            b"v 1 0 0\nf 1 1 x",
            b"v 1 0 0\nf 1 1 1/1/1/1",
            b"v 1 0 0\nf 1 1 99999999999999999999",
            b"v 1 0 0 0\nf 1 1 1",
            b"v 1 0 0 0.5 0.5\nf 1 1 1",
            b"v 1 0 0\nv 1 0 0 0.5 0.5 0.5\nf 1 1 1",
            b"v 1 0 0\nvn 0 1\nf 1 1 1",
            b"usemtl\nv 1 0 0\nf 1 1 1",
            b"v 1 0 0\nl 1 1 1",
            b"v 2e9 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3",
            b"v 0 0 0 nan 0 0\nv 1 0 0 0 0 0\nv 0 1 0 0 0 0\nf 1 2 3",
        ] {
            assert!(load(bad, Smoothing::Whole, &OnVertices::default()).is_err(), "{:?}", String::from_utf8_lossy(bad));
        }
    }
}
