//! Sums over stretches of points, and the least squares that follow from them in a few operations.

/// Sums over a stretch of points.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sums {
    pub(super) n: f64,
    pub(super) u: f64,
    pub(super) v: f64,
    pub(super) uu: f64,
    pub(super) uv: f64,
    pub(super) vv: f64,
}

impl Sums {
    pub(super) fn minus(self, other: Self) -> Self {
        Self {
            n: self.n - other.n,
            u: self.u - other.u,
            v: self.v - other.v,
            uu: self.uu - other.uu,
            uv: self.uv - other.uv,
            vv: self.vv - other.vv,
        }
    }

    /// Squares about the mean.
    pub(super) fn about_mean(self) -> f64 {
        (self.vv - self.v * self.v / self.n).max(0.0)
    }

    /// Squares about the plateau that begins at `at`, of the points up to there, with those of `all`.
    pub(super) fn plateau_at(self, at: f64, all: Self) -> f64 {
        let ramp = self.u - self.n * at;
        let square = self.uu - 2.0 * at * self.u + self.n * at * at;
        let product = self.uv - at * self.v;
        let square = square - ramp * ramp / all.n;
        let product = product - ramp * all.v / all.n;
        (all.about_mean() - product * product / square).max(0.0)
    }

    /// Squares about two slopes that meet at `at`, of the points up to there, with those of `all`.
    pub(super) fn two_slopes_at(self, at: f64, all: Self) -> f64 {
        // The ramp that is 0 up to `at` and rises by 1 beyond.
        let beyond = all.minus(self);
        let ramp = beyond.u - beyond.n * at;
        let ramp_ramp = beyond.uu - 2.0 * at * beyond.u + beyond.n * at * at - ramp * ramp / all.n;
        let ramp_u = beyond.uu - at * beyond.u - ramp * all.u / all.n;
        let ramp_v = beyond.uv - at * beyond.v - ramp * all.v / all.n;
        let uu = all.uu - all.u * all.u / all.n;
        let uv = all.uv - all.u * all.v / all.n;
        let determinant = uu * ramp_ramp - ramp_u * ramp_u;
        let slope = (uv * ramp_ramp - ramp_v * ramp_u) / determinant;
        let bend = (ramp_v * uu - uv * ramp_u) / determinant;
        (all.about_mean() - slope * uv - bend * ramp_v).max(0.0)
    }

    /// Slope of the line, and squares about it.
    pub(super) fn line(self) -> (f64, f64) {
        let uu = self.uu - self.u * self.u / self.n;
        let uv = self.uv - self.u * self.v / self.n;
        (uv / uu, (self.about_mean() - uv * uv / uu).max(0.0))
    }
}
