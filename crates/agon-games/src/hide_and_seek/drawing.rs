//! The map as shapes: walls, what is in view, the fog, footprints, last known positions and the two players.

use agon_core::drawing::{Color, Drawing, Shape, ThemeColor};
use agon_core::{Seat, Viewpoint};

use super::HideAndSeek;
use super::cells::{Cell, CellSet, SIDE};
use super::state::{Ending, HIDER, SEEKER, State, enemy};
use super::vision::field_of_view;

/// Side of a cell.
const CELL: f32 = 24.0;
const MARGIN: f32 = 4.0;
const WIDTH: f32 = SIDE as f32 * CELL + 2.0 * MARGIN;
/// Numbers of the palette of seeker and hider when nothing else is known: red and blue.
const COLORS: [u16; 2] = [11, 0];
/// Opacity of the fog, of what a player sees, and of a footprint.
const FOG_OPACITY: f32 = 0.45;
const VIEW_OPACITY: f32 = 0.2;
const FOOTPRINT_OPACITY: f32 = 0.75;

fn centre(cell: Cell) -> [f32; 2] {
    [MARGIN + (cell.x() as f32 + 0.5) * CELL, MARGIN + (cell.y() as f32 + 0.5) * CELL]
}

/// A set of cells in one colour.
fn cell_set(set: &CellSet, color: impl Into<Color>) -> Shape {
    let cells = Cell::all().map(|cell| u8::from(set.contains(cell))).collect();
    Shape::cells(MARGIN, MARGIN, CELL, SIDE, vec![None, Some(color.into())], cells)
}

impl HideAndSeek {
    /// The map as a viewpoint sees it.
    pub(super) fn shapes(&self, state: &State, viewpoint: Viewpoint) -> Drawing {
        let title = format!("Hide and Seek, step {} of {}", state.step, self.steps());
        let mut drawing = Drawing::new(WIDTH, WIDTH).titled(title);
        drawing.colors = COLORS.to_vec();
        let inner = WIDTH - 2.0 * MARGIN;
        let map = Shape::rect(MARGIN, MARGIN, inner, inner);
        drawing.add(map.clone().fill(ThemeColor::Floor));
        let shown = |seat: &Seat| viewpoint == Viewpoint::All || viewpoint == Viewpoint::Seat(*seat);
        let watchers: Vec<Seat> = [SEEKER, HIDER].into_iter().filter(shown).collect();
        add_views(&mut drawing, state, &watchers);
        drawing.add(cell_set(state.map().walls(), ThemeColor::Wall));
        for &seat in &watchers {
            add_footprints(&mut drawing, state, seat);
        }
        add_sight_line(&mut drawing, state, viewpoint);
        for &seat in &watchers {
            let hidden = if viewpoint == Viewpoint::All {
                !state.see_each_other()
            } else {
                !state.enemy_sighting(seat).enemy_is_visible
            };
            if hidden {
                add_last_known(&mut drawing, state, seat);
            }
        }
        for seat in [HIDER, SEEKER] {
            if let Some(cell) = visible_cell(state, seat, watchers.contains(&seat)) {
                add_runner(&mut drawing, seat, cell);
            }
        }
        if state.ending == Some(Ending::Caught) {
            let [x, y] = centre(state.cell(SEEKER));
            drawing.add(Shape::circle(x, y, 20.0).stroke(ThemeColor::Bad, 5.0));
        }
        drawing.add(map.stroke(ThemeColor::Ink, 3.0));
        drawing
    }
}

/// Where a player is drawn: its own cell for itself and for spectators, else where the enemy sees it.
fn visible_cell(state: &State, seat: Seat, is_watcher: bool) -> Option<Cell> {
    let sight = state.enemy_sighting(enemy(seat));
    if is_watcher { Some(state.cell(seat)) } else { sight.enemy_is_visible.then_some(sight.enemy_pos) }
}

/// Draws what the watchers see in their colours, and fog over the rest.
fn add_views(drawing: &mut Drawing, state: &State, watchers: &[Seat]) {
    let mut seen = CellSet::EMPTY;
    for &seat in watchers {
        let view = field_of_view(state.map(), state.cell(seat));
        drawing.add(cell_set(&view, seat).opacity(VIEW_OPACITY));
        seen = seen.union(&view);
    }
    drawing.add(cell_set(&seen.complement(), ThemeColor::Fog).opacity(FOG_OPACITY));
}

fn add_footprints(drawing: &mut Drawing, state: &State, seat: Seat) {
    let Some(trail) = state.trails.get(seat.index()) else { return };
    for [x, y] in trail.iter().map(centre) {
        let mark = match seat {
            SEEKER => Shape::rect(x - 3.5, y - 3.5, 7.0, 7.0).rounded(1.5),
            _ => Shape::circle(x, y, 3.5),
        };
        drawing.add(mark.fill(seat).stroke(ThemeColor::Background, 1.0).opacity(FOOTPRINT_OPACITY));
    }
}

/// Draws the line between the players while they see each other, as far as this viewpoint knows.
fn add_sight_line(drawing: &mut Drawing, state: &State, viewpoint: Viewpoint) {
    let ends = match viewpoint {
        Viewpoint::All if state.see_each_other() => (state.cell(SEEKER), state.cell(HIDER)),
        Viewpoint::Seat(seat) if state.turn == seat && state.enemy_sighting(seat).enemy_is_visible => {
            (state.cell(seat), state.enemy_sighting(seat).enemy_pos)
        }
        _ => return,
    };
    let line = Shape::line(centre(ends.0), centre(ends.1));
    drawing.add(line.clone().stroke(ThemeColor::Background, 6.0));
    drawing.add(line.stroke(ThemeColor::Ink, 2.5).dashed(3.0, 3.0));
}

/// Draws where a player last saw its enemy.
fn add_last_known(drawing: &mut Drawing, state: &State, seat: Seat) {
    let [x, y] = centre(state.enemy_sighting(seat).enemy_pos);
    let ghost =
        Shape::circle(x, y, 11.0).fill(ThemeColor::Background).stroke(enemy(seat), 2.5).dashed(4.0, 3.0);
    drawing.add(ghost);
    let letter = if enemy(seat) == SEEKER { "s" } else { "h" };
    drawing.add(Shape::text(x, y + 5.0, 15.0, letter).fill(ThemeColor::Ink));
}

fn add_runner(drawing: &mut Drawing, seat: Seat, cell: Cell) {
    let [x, y] = centre(cell);
    let (form, letter) = match seat {
        SEEKER => (Shape::rect(x - 11.0, y - 11.0, 22.0, 22.0).rounded(4.0), "S"),
        _ => (Shape::circle(x, y, 11.5), "H"),
    };
    drawing.add(form.fill(seat).stroke(ThemeColor::Edge, 2.0));
    drawing.add(Shape::text(x, y + 5.5, 15.0, letter).bold().fill(Color::OnSeat(seat.0)));
}
