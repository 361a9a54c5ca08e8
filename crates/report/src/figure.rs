//! Figures: series on stacked panels that share one x axis.

use std::ops::RangeInclusive;

/// A picture: one x axis and one or more panels stacked above it.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Figure {
    /// File name and anchor: letters, digits, `-`, `_` and `.`; unique on a page.
    pub id: String,
    /// One line above the picture.
    pub title: String,
    /// The conditions it was measured under: path, profile; below the title, in every form of the
    /// picture. May be empty.
    pub subtitle: String,
    /// Sentences below the picture; may be empty.
    pub caption: String,
    /// The command line that makes this picture again; may be empty.
    pub command: String,
    /// The axis all panels share.
    pub x: Axis,
    /// The panels, from top to bottom.
    pub panels: Vec<Panel>,
}

/// One of the stacked drawings of a figure, with its own y axis.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Panel {
    /// The vertical axis.
    pub y: Axis,
    /// What is drawn, the first at the bottom.
    pub series: Vec<Series>,
    /// Where the y axis ends although values go on: a few spikes would else leave all the rest in
    /// its lowest part. They are drawn up to the edge.
    pub top: Option<f64>,
}

/// What an axis measures.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Axis {
    /// The quantity, for example `time`.
    pub name: String,
    /// Its unit, for example `s`; empty for a pure number.
    pub unit: String,
    /// How values become positions.
    pub scale: Scale,
}

/// How values become positions on an axis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scale {
    /// Equal differences are equally long.
    #[default]
    Linear,
    /// Equal ratios are equally long; values not above zero are left out.
    Log,
}

/// A named list of points.
///
/// The name is the identity: series of one name have one colour and one legend entry in all
/// panels of a figure.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Series {
    /// The legend entry.
    pub name: String,
    /// Pairs of x and y; a value that is not finite interrupts the line.
    pub points: Vec<(f64, f64)>,
    /// How the points are drawn.
    pub style: Style,
    /// The name of the series whose colour this one takes.
    pub like: Option<String>,
}

/// How the points of a series are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// Joined by straight lines.
    Line,
    /// Each value holds until the next point.
    Steps,
    /// Markers only.
    Points,
    /// A dashed line with markers if the points are few: published values, limits.
    Reference,
}

impl Style {
    /// The word for it in data: `line`, `steps`, `points` or `reference`.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Line => "line",
            Self::Steps => "steps",
            Self::Points => "points",
            Self::Reference => "reference",
        }
    }
}

/// How many points a line may have to get markers. A line of two points is a limit, and the markers
/// of very many would hide the line.
const MARKED: RangeInclusive<usize> = 3..=40;

impl Figure {
    /// An empty figure over the given x axis.
    pub fn new(id: impl Into<String>, title: impl Into<String>, x: Axis) -> Self {
        Self {
            id: id.into(),
            title: title.into(),
            subtitle: String::new(),
            caption: String::new(),
            command: String::new(),
            x,
            panels: Vec::new(),
        }
    }

    /// Sets the conditions below the title.
    #[must_use]
    pub fn subtitle(mut self, text: impl Into<String>) -> Self {
        self.subtitle = text.into();
        self
    }

    /// Sets the sentences below the picture.
    #[must_use]
    pub fn caption(mut self, text: impl Into<String>) -> Self {
        self.caption = text.into();
        self
    }

    /// Sets the command line that makes this picture again.
    #[must_use]
    pub fn command(mut self, line: impl Into<String>) -> Self {
        self.command = line.into();
        self
    }

    /// Adds a panel below those already there.
    #[must_use]
    pub fn panel(mut self, panel: Panel) -> Self {
        self.panels.push(panel);
        self
    }
}

impl Panel {
    /// An empty panel with the given y axis.
    pub fn new(y: Axis) -> Self {
        Self { y, series: Vec::new(), top: None }
    }

    /// Ends the y axis at a value, if there are values above it.
    #[must_use]
    pub fn up_to(mut self, top: f64) -> Self {
        let values = self.series.iter().flat_map(|series| &series.points).map(|(_, y)| *y);
        let most = values.filter(|y| y.is_finite()).fold(f64::NEG_INFINITY, f64::max);
        self.top = (most > top).then_some(top);
        self
    }

    /// Adds a series above those already there.
    #[must_use]
    pub fn with(mut self, series: Series) -> Self {
        self.series.push(series);
        self
    }
}

impl Axis {
    /// A linear axis; an empty unit means a pure number.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into(), scale: Scale::Linear }
    }

    /// Gives the axis a logarithmic scale.
    #[must_use]
    pub fn log(mut self) -> Self {
        self.scale = Scale::Log;
        self
    }

    /// The text beside the axis, for example `time (s)`.
    pub fn label(&self) -> String {
        if self.unit.is_empty() {
            return self.name.clone();
        }
        format!("{} ({})", self.name, self.unit)
    }
}

impl Series {
    /// A series drawn with straight lines.
    pub fn line(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { name: name.into(), points, style: Style::Line, like: None }
    }

    /// A series whose values hold until the next point.
    pub fn steps(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { style: Style::Steps, ..Self::line(name, points) }
    }

    /// A series drawn as markers.
    pub fn points(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { style: Style::Points, ..Self::line(name, points) }
    }

    /// Published values or limits, dashed; grey unless [`Series::like`] gives a colour.
    pub fn reference(name: impl Into<String>, points: Vec<(f64, f64)>) -> Self {
        Self { style: Style::Reference, ..Self::line(name, points) }
    }

    /// Whether single points are marked: always without a line, else while they are few.
    pub(crate) fn has_markers(&self) -> bool {
        match self.style {
            Style::Points => true,
            Style::Steps => false,
            Style::Line | Style::Reference => MARKED.contains(&self.points.len()),
        }
    }

    /// Gives this series the colour of another one in its figure.
    #[must_use]
    pub fn like(mut self, name: impl Into<String>) -> Self {
        self.like = Some(name.into());
        self
    }
}
