//! Normal and Student's t distribution, as far as needed here.

/// Probability that a standard normal variable is below `z` (Chebyshev series of erfc; error below 1.2e-7).
pub fn normal_cdf(z: f64) -> f64 {
    const SERIES: [f64; 9] = [
        1.000_023_68,
        0.374_091_96,
        0.096_784_18,
        -0.186_288_06,
        0.278_868_07,
        -1.135_203_98,
        1.488_515_87,
        -0.822_152_23,
        0.170_872_77,
    ];
    let x = z.abs() / std::f64::consts::SQRT_2;
    let t = 1.0 / (1.0 + 0.5 * x);
    let sum = SERIES.iter().rev().fold(0.0, |sum, c| sum * t + c);
    let upper = 0.5 * t * (-x * x - 1.265_512_23 + t * sum).exp();
    if z > 0.0 { 1.0 - upper } else { upper }
}

/// Quantile `p` of the standard normal distribution (Acklam's rational approximation: nine digits).
pub fn normal_quantile(p: f64) -> f64 {
    const A: [f64; 6] = [
        -39.696_830_286_653_76,
        220.946_098_424_520_5,
        -275.928_510_446_968_7,
        138.357_751_867_269,
        -30.664_798_066_147_16,
        2.506_628_277_459_239,
    ];
    const B: [f64; 6] = [
        -54.476_098_798_224_06,
        161.585_836_858_040_9,
        -155.698_979_859_886_6,
        66.801_311_887_719_72,
        -13.280_681_552_885_72,
        1.0,
    ];
    const C: [f64; 6] = [
        -0.007_784_894_002_430_293,
        -0.322_396_458_041_136_5,
        -2.400_758_277_161_838,
        -2.549_732_539_343_734,
        4.374_664_141_464_968,
        2.938_163_982_698_783,
    ];
    const D: [f64; 5] = [
        0.007_784_695_709_041_462,
        0.322_467_129_070_039_8,
        2.445_134_137_142_996,
        3.754_408_661_907_416,
        1.0,
    ];
    let poly = |c: &[f64], x: f64| c.iter().fold(0.0, |sum, c| sum * x + c);
    if p <= 0.0 {
        f64::NEG_INFINITY
    } else if p >= 1.0 {
        f64::INFINITY
    } else if p < 0.02425 {
        let q = (-2.0 * p.ln()).sqrt();
        poly(&C, q) / poly(&D, q)
    } else if p > 1.0 - 0.02425 {
        -normal_quantile(1.0 - p)
    } else {
        let q = p - 0.5;
        q * poly(&A, q * q) / poly(&B, q * q)
    }
}

/// Two-sided `alpha` quantile of Student's t distribution, by Hill's algorithm 396. Infinite below one degree of freedom.
pub fn student_quantile(alpha: f64, freedom: f64) -> f64 {
    use std::f64::consts::{FRAC_PI_2, PI};
    if freedom < 1.0 {
        return f64::INFINITY;
    }
    let n = freedom;
    if n < 2.0 {
        return (alpha * FRAC_PI_2).cos() / (alpha * FRAC_PI_2).sin();
    }
    if n < 3.0 {
        return (2.0 / (alpha * (2.0 - alpha)) - 2.0).max(0.0).sqrt();
    }
    let a = 1.0 / (n - 0.5);
    let b = 48.0 / (a * a);
    let mut c = ((20_700.0 * a / b - 98.0) * a - 16.0) * a + 96.36;
    let d = ((94.5 / (b + c) - 3.0) / b + 1.0) * (a * PI / 2.0).sqrt() * n;
    let mut x = d * alpha;
    let mut y = x.powf(2.0 / n);
    if y > 0.05 + a {
        x = -normal_quantile(1.0 - alpha / 2.0);
        y = x * x;
        if n < 5.0 {
            c += 0.3 * (n - 4.5) * (x + 0.6);
        }
        c += (((0.05 * d * x - 5.0) * x - 7.0) * x - 2.0) * x + b;
        y = (((((0.4 * y + 6.3) * y + 36.0) * y + 94.5) / c - y - 3.0) / b + 1.0) * x;
        y = (a * y * y).exp_m1();
    } else {
        y = ((1.0 / (((n + 6.0) / (n * y) - 0.089 * d - 0.822) * (n + 2.0) * 3.0) + 0.5 / (n + 4.0)) * y
            - 1.0)
            * (n + 1.0)
            / (n + 2.0)
            + 1.0 / y;
    }
    (n * y).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_match_tables() {
        for (p, table) in [(0.5, 0.0), (0.975, 1.959_964), (0.001, -3.090_232), (0.999_995, 4.417_173)] {
            assert!((normal_quantile(p) - table).abs() < 1e-5, "{p}: {}", normal_quantile(p));
            assert!((normal_cdf(table) - p).abs() < 1e-6, "{table}: {}", normal_cdf(table));
        }
        let table = [
            (0.05, 1.0, 12.7062),
            (0.05, 2.0, 4.302_65),
            (0.05, 3.0, 3.182_45),
            (0.05, 9.0, 2.262_16),
            (0.05, 29.0, 2.045_23),
            (0.05, 1e6, 1.959_97),
            (0.001, 5.0, 6.868_83),
            (0.001, 99.0, 3.391_53),
        ];
        for (alpha, freedom, quantile) in table {
            let ours = student_quantile(alpha, freedom);
            assert!((ours / quantile - 1.0).abs() < 2e-4, "{alpha} {freedom}: {ours}, not {quantile}");
        }
    }
}
