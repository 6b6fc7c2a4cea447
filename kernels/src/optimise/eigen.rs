//! Eigenvalues of small symmetric matrices, by Jacobi's rotations (Golub and Van Loan, Matrix Computations, 8.5).

/// The eigenvalues of a symmetric matrix, and to each its eigenvector of length 1, in no order.
pub(super) fn eigen(mut a: Vec<Vec<f64>>) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = a.len();
    // Its rows become the eigenvectors.
    let mut v: Vec<Vec<f64>> = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..SWEEPS {
        let off: f64 = (0..n).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| a[i][j] * a[i][j]).sum();
        if off < 1e-24 {
            break;
        }
        for p in 0..n {
            for q in p + 1..n {
                rotate(&mut a, &mut v, p, q);
            }
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), v)
}

/// Each sweep makes the elements off the diagonal much smaller; ten suffice for any matrix.
const SWEEPS: usize = 30;

/// Makes the element (p, q) zero.
fn rotate(a: &mut [Vec<f64>], v: &mut [Vec<f64>], p: usize, q: usize) {
    if a[p][q] == 0.0 {
        return;
    }
    let theta = (a[q][q] - a[p][p]) / (2.0 * a[p][q]);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for row in a.iter_mut() {
        (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q]);
    }
    let turn = |rows: &mut [Vec<f64>]| {
        let (before, behind) = rows.split_at_mut(q);
        for (x, y) in before[p].iter_mut().zip(&mut behind[0]) {
            (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
        }
    };
    turn(a);
    turn(v);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A v = λ v, and vectors are orthogonal, of matrices with equal and with negative eigenvalues.
    #[test]
    fn eigenvectors_are_stretched_by_their_eigenvalues() {
        let matrices = [
            vec![vec![1.0, 1.0], vec![1.0, 1.0]],
            vec![vec![2.0, 0.0, 0.0], vec![0.0, 3.0, 4.0], vec![0.0, 4.0, 9.0]],
            vec![
                vec![1.0, 0.0, 1.0, 0.0],
                vec![0.0, 1.0, 0.0, 1.0],
                vec![1.0, 0.0, 1.0, 0.0],
                vec![0.0, 1.0, 0.0, 1.0],
            ],
            vec![vec![0.0, -3.0], vec![-3.0, 0.0]],
        ];
        for a in matrices {
            let (values, vectors) = eigen(a.clone());
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            for (i, (value, vector)) in values.iter().zip(&vectors).enumerate() {
                for (row, x) in a.iter().zip(vector) {
                    assert!((dot(row, vector) - value * x).abs() < 1e-12, "{a:?}: {value} {vector:?}");
                }
                for (j, other) in vectors.iter().enumerate() {
                    assert!((dot(vector, other) - f64::from(u8::from(i == j))).abs() < 1e-12, "{a:?}: {vectors:?}");
                }
            }
        }
        assert_eq!(eigen(Vec::new()), (Vec::new(), Vec::new()));
    }
}
