//! The drawings of the page, as inline SVG. Lengths are in the units of their view boxes.

use std::fmt::Write as _;
use std::time::Duration;

use maud::{Markup, html};

use super::HUES;
use super::course::Course;
use crate::report::TickReport;
use crate::summary::{Summary, time};

/// The parts of a tick from the bottom up: its stages in their order, then the engine's own share.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bands {
    parts: Vec<(&'static str, Duration)>,
}

impl Bands {
    pub(super) fn of(report: &TickReport) -> Bands {
        let stages = report.stages.iter().map(|stage| (stage.name, stage.wall));
        Bands { parts: stages.chain(std::iter::once(("engine", report.engine))).collect() }
    }

    pub(super) fn sum(&self) -> Duration {
        self.parts.iter().map(|&(_, part)| part).sum()
    }

    /// Each part's name with where it begins and where it ends.
    fn spans(&self) -> impl Iterator<Item = (&'static str, Duration, Duration)> + '_ {
        self.parts.iter().scan(Duration::ZERO, |end, &(name, part)| {
            let from = *end;
            *end += part;
            Some((name, from, *end))
        })
    }

    fn text(&self) -> String {
        let parts: Vec<_> = self.parts.iter().map(|&(name, part)| format!("{name} {}", time(part))).collect();
        parts.join(", ")
    }
}

/// Space left of a chart for its scale.
const LEFT: f64 = 70.0;
const WIDTH: f64 = 930.0;

/// Where times lie on a chart.
struct Scale {
    top: Duration,
    height: f64,
}

impl Scale {
    /// A scale that holds all of `times`, or, if a few are far out, cuts those: the worst tick is
    /// often the first, and would press all others flat.
    fn of(mut times: Vec<Duration>, height: f64) -> Scale {
        times.sort_unstable();
        let longest = times.last().copied().unwrap_or_default();
        let most = times.get((times.len() * 99).div_ceil(100).saturating_sub(1)).copied().unwrap_or_default();
        let top = if longest > most * 3 { most * 2 } else { longest };
        Scale { top: round(top / 4) * 4, height }
    }

    fn y(&self, value: Duration) -> f64 {
        self.height * (1.0 - value.min(self.top).as_secs_f64() / self.top.as_secs_f64())
    }

    fn marks(&self) -> Markup {
        html! {
            @for quarter in 0..=4_u32 {
                @let value = self.top * quarter / 4;
                @let y = format!("{:.1}", self.y(value));
                line.grid x1=(LEFT) x2=(LEFT + WIDTH) y1=(y) y2=(y) {}
                text x=(LEFT - 6.0) y=(y) text-anchor="end" dominant-baseline="middle" { (time(value)) }
            }
        }
    }

    /// The budget of a tick as a line, where it lies on the scale.
    fn budget(&self, budget: Duration) -> Markup {
        html! {
            @if budget <= self.top {
                @let y = format!("{:.1}", self.y(budget));
                line.budget x1=(LEFT) x2=(LEFT + WIDTH) y1=(y) y2=(y) {}
            }
        }
    }
}

/// The least time that is no shorter and reads well as a step of a scale.
fn round(step: Duration) -> Duration {
    let nanoseconds = step.as_nanos().max(1);
    let digits = 10_u128.pow(nanoseconds.ilog10());
    let tenths = [10, 15, 20, 25, 30, 40, 50, 60, 80, 100];
    let rounded = tenths.into_iter().map(|part| part * digits / 10).find(|&rounded| rounded >= nanoseconds);
    Duration::from_nanos(u64::try_from(rounded.unwrap_or(nanoseconds)).unwrap_or(u64::MAX))
}

/// The wall times of ticks, stage upon stage. A column that is cut at the top has a mark there.
pub(super) fn ticks(course: &Course, summary: &Summary) -> Markup {
    const HEIGHT: f64 = 260.0;
    let scale = Scale::of(course.columns.iter().map(|column| column.bands.sum()).collect(), HEIGHT);
    let width = WIDTH / course.columns.len().max(1) as f64;
    let parts = course.columns.first().map_or(0, |column| column.bands.parts.len());
    let mut paths = vec![String::new(); parts];
    for (column, place) in course.columns.iter().zip(0_u32..) {
        let x = LEFT + width * f64::from(place);
        for (path, (_, from, to)) in paths.iter_mut().zip(column.bands.spans()) {
            let (low, high) = (scale.y(from), scale.y(to));
            if low > high {
                // Writing to a string cannot fail.
                let _ = write!(path, "M{x:.2} {low:.1}V{high:.1}h{width:.2}V{low:.1}z");
            }
        }
    }
    html! {
        svg viewBox=(format!("0 -10 1000 {}", HEIGHT + 32.0)) role="img" aria-label="wall time of ticks by stage" {
            (scale.marks())
            @for (place, path) in paths.iter().enumerate() { path class={ "s" (place % HUES) } d=(path) {} }
            (scale.budget(summary.tick_length))
            @for (place, column) in course.columns.iter().enumerate() {
                @let x = LEFT + width * place as f64;
                @if column.bands.sum() > scale.top {
                    path.cut d=(format!("M{:.2} -8l4 7h-8z", x + width / 2.0)) {}
                }
                rect.hover x=(format!("{x:.2}")) y="-10" width=(format!("{width:.2}")) height=(HEIGHT + 10.0) {
                    title { "tick " (column.tick) ": " (time(column.bands.sum())) " (" (column.bands.text()) ")" }
                }
            }
            (tick_numbers(course, HEIGHT))
        }
        @if course.columns.iter().any(|column| column.bands.sum() > scale.top) {
            p.note { "A mark at the top: longer than the scale, which would press all others flat." }
        }
    }
}

/// The longest gaps before the ticks of each column.
pub(super) fn gaps(course: &Course, summary: &Summary) -> Markup {
    const HEIGHT: f64 = 80.0;
    let scale = Scale::of(course.columns.iter().map(|column| column.gap).collect(), HEIGHT);
    let width = WIDTH / course.columns.len().max(1) as f64;
    let mut line = String::new();
    for (column, place) in course.columns.iter().zip(0_u32..) {
        let command = if place == 0 { 'M' } else { 'L' };
        let x = LEFT + width * (f64::from(place) + 0.5);
        let _ = write!(line, "{command}{x:.2} {:.1}", scale.y(column.gap));
    }
    html! {
        p.note { "Longest gap from the start of one tick to the start of the next." }
        svg viewBox=(format!("0 -10 1000 {}", HEIGHT + 32.0)) role="img" aria-label="gaps between ticks" {
            (scale.marks())
            path.line d=(line) {}
            (scale.budget(summary.tick_length))
            (tick_numbers(course, HEIGHT))
        }
    }
}

/// Numbers of a few ticks below a chart.
fn tick_numbers(course: &Course, height: f64) -> Markup {
    let columns = course.columns.len();
    let width = WIDTH / columns.max(1) as f64;
    html! {
        @for place in (0..columns).step_by(columns.div_ceil(8).max(1)) {
            text x=(format!("{:.1}", LEFT + width * place as f64)) y=(height + 16.0) {
                (place as u64 * course.ticks_per_column)
            }
        }
    }
}

/// A tick as a bar; `longest` would fill the whole width.
pub(super) fn stacked_bar(bands: &Bands, longest: Duration) -> Markup {
    let whole = longest.as_secs_f64().max(1e-9);
    let x = |value: Duration| value.as_secs_f64() / whole * 1000.0;
    html! {
        svg.bar viewBox="0 0 1000 20" preserveAspectRatio="none" role="img" aria-label=(bands.text()) {
            @for (place, (name, from, to)) in bands.spans().enumerate() {
                rect class={ "s" (place % HUES) } x=(format!("{:.2}", x(from))) y="0" height="20" width=(format!("{:.2}", x(to) - x(from))) {
                    title { (name) " " (time(to - from)) }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn milliseconds(times: &[u64]) -> Vec<Duration> {
        times.iter().map(|&time| Duration::from_millis(time)).collect()
    }

    #[test]
    fn a_scale_holds_all_times_unless_a_few_are_far_out() {
        assert_eq!(Scale::of(milliseconds(&[5, 6, 7, 12]), 100.0).top, Duration::from_millis(12));
        let mut times = vec![6; 300];
        times[0] = 90;
        let scale = Scale::of(milliseconds(&times), 100.0);
        assert_eq!(scale.top, Duration::from_millis(12));
        assert_eq!([0, 6, 12, 90].map(|time| scale.y(Duration::from_millis(time))), [100.0, 50.0, 0.0, 0.0]);
        assert!(Scale::of(Vec::new(), 100.0).top > Duration::ZERO);
    }

    #[test]
    fn the_steps_of_a_scale_read_well() {
        let rounded = [0, 1, 9, 57_000, 2_100_001, 999_999_999].map(|step| round(Duration::from_nanos(step)));
        assert_eq!(rounded.map(|step| step.as_nanos()), [1, 1, 10, 60_000, 2_500_000, 1_000_000_000]);
    }

    #[test]
    fn bands_lie_on_each_other_and_end_at_the_wall_time() {
        let report = TickReport {
            wall: Duration::from_nanos(60),
            engine: Duration::from_nanos(10),
            stages: [("a", 20), ("b", 30)]
                .map(|(name, wall)| crate::report::StageReport {
                    name,
                    wall: Duration::from_nanos(wall),
                    ..Default::default()
                })
                .into(),
            ..TickReport::default()
        };
        let bands = Bands::of(&report);
        let spans: Vec<_> =
            bands.spans().map(|(name, from, to)| (name, from.as_nanos(), to.as_nanos())).collect();
        assert_eq!(spans, [("a", 0, 20), ("b", 20, 50), ("engine", 50, 60)]);
        assert_eq!(bands.sum(), report.wall);
    }
}
