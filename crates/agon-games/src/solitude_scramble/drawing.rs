//! The board as shapes: four sides, five platforms, and where the bots of the last turn went.

use agon_core::drawing::{Color, Drawing, Shape, ThemeColor};
use agon_core::{Seat, Viewpoint};

use super::SolitudeScramble;
use super::board::{Platform, Side};
use super::history::four_names;
use super::state::{Deal, SEATS, State, Turn};

const WIDTH: f32 = 600.0;
const HEIGHT: f32 = 490.0;
/// Places of the bots of a collision around the centre of the platform, in turn.
const AROUND: [[f32; 2]; SEATS] = [[0.0, -26.0], [30.0, 0.0], [0.0, 26.0], [-30.0, 0.0]];

const fn side_at(side: Side) -> [f32; 2] {
    match side {
        Side::North => [300.0, 84.0],
        Side::East => [510.0, 240.0],
        Side::South => [300.0, 396.0],
        Side::West => [90.0, 240.0],
    }
}

const fn platform_at(platform: Platform) -> [f32; 2] {
    match platform {
        Platform::Nw => [90.0, 84.0],
        Platform::Ne => [510.0, 84.0],
        Platform::Center => [300.0, 240.0],
        Platform::Sw => [90.0, 396.0],
        Platform::Se => [510.0, 396.0],
    }
}

impl SolitudeScramble {
    /// The last turn with its points, or before the first turn the deal. A player who must choose sees the deal.
    pub(super) fn shapes(&self, state: &State, viewpoint: Viewpoint, names: &[String]) -> Drawing {
        let chooses = viewpoint != Viewpoint::All && !self.is_over(state);
        let turn = state.history().last().filter(|_| !chooses);
        let deal = turn.map_or(state.deal(), |turn| &turn.deal);
        let number = turn.map_or(state.history().len() + 1, |turn| usize::from(turn.number));
        let title = format!("Solitude Scramble, turn {number} of {}", self.turns());
        let mut drawing = Drawing::new(WIDTH, HEIGHT).titled(title);
        add_ways(&mut drawing);
        for side in Side::ALL {
            add_side(&mut drawing, side);
        }
        for platform in Platform::ALL {
            add_platform(&mut drawing, platform, deal, turn);
        }
        let names = four_names(names);
        for (seat, name) in Seat::all(SEATS).zip(&names) {
            add_token(&mut drawing, seat, name, deal, turn);
        }
        if let Some(turn) = turn {
            for platform in Platform::ALL.into_iter().filter(|&p| turn.visitors(p).count() > 1) {
                add_cross(&mut drawing, platform_at(platform), 9.0, 6.0);
            }
        }
        drawing
    }
}

/// Draws a line from each side to each platform that can be reached from it.
fn add_ways(drawing: &mut Drawing) {
    for side in Side::ALL {
        for chosen in super::board::Move::ALL {
            let way = Shape::line(side_at(side), platform_at(side.platform(chosen)));
            drawing.add(way.stroke(ThemeColor::Line, 2.0));
        }
    }
}

fn add_side(drawing: &mut Drawing, side: Side) {
    let [x, y] = side_at(side);
    let square = Shape::rect(x - 46.0, y - 46.0, 92.0, 92.0).rounded(14.0);
    drawing.add(square.fill(ThemeColor::Cell).stroke(ThemeColor::Line, 2.0));
    let label = if side == Side::South { y + 64.0 } else { y - 52.0 };
    drawing.add(Shape::text(x, label, 15.0, side.name()).fill(ThemeColor::Muted));
}

fn add_platform(drawing: &mut Drawing, platform: Platform, deal: &Deal, turn: Option<&Turn>) {
    let [x, y] = platform_at(platform);
    let visitors = turn.map_or(0, |turn| turn.visitors(platform).count());
    let circle = Shape::circle(x, y, 56.0).fill(ThemeColor::Background);
    drawing.add(match visitors {
        0 => circle.stroke(ThemeColor::Ink, 2.5),
        1 => circle.stroke(ThemeColor::Good, 5.0),
        _ => circle.stroke(ThemeColor::Bad, 4.0).dashed(6.0, 5.0),
    });
    if platform != Platform::Center {
        let label = if y > HEIGHT / 2.0 { y + 80.0 } else { y - 64.0 };
        drawing.add(Shape::text(x, label, 15.0, platform.name()).fill(ThemeColor::Muted));
    }
    let points = deal.scores().of(platform).to_string();
    if visitors == 0 {
        drawing.add(Shape::text(x, y + 14.0, 42.0, points).bold().fill(ThemeColor::Ink));
    } else {
        let (x, y) = (x + 41.0, y - 41.0);
        drawing.add(Shape::circle(x, y, 17.0).fill(ThemeColor::Background).stroke(ThemeColor::Ink, 2.0));
        drawing.add(Shape::text(x, y + 6.0, 18.0, points).bold().fill(ThemeColor::Ink));
    }
}

/// Where a bot stands at the end of the turn: on its platform, beside the others of a collision, or at home.
fn token_at(seat: Seat, deal: &Deal, turn: Option<&Turn>) -> [f32; 2] {
    let home = side_at(deal.side(seat));
    let Some((turn, platform)) = turn.and_then(|turn| Some((turn, turn.platform_of(seat)?))) else {
        return home;
    };
    let [x, y] = platform_at(platform);
    let sharing: Vec<Seat> = turn.visitors(platform).collect();
    if sharing.len() < 2 {
        return [x, y];
    }
    // Two bots stand opposite each other.
    let index = sharing.iter().position(|&other| other == seat).unwrap_or(0);
    let place = if sharing.len() == 2 { 2 * index } else { index };
    let [dx, dy] = AROUND.get(place).copied().unwrap_or_default();
    [x + dx, y + dy]
}

fn add_token(drawing: &mut Drawing, seat: Seat, name: &str, deal: &Deal, turn: Option<&Turn>) {
    let home = side_at(deal.side(seat));
    let [x, y] = token_at(seat, deal, turn);
    if turn.is_some_and(|turn| turn.platform_of(seat).is_some()) {
        drawing.add(Shape::line(home, [x, y]).stroke(seat, 5.0).opacity(0.55));
    }
    let forfeited = turn.is_some_and(|turn| turn.platform_of(seat).is_none());
    let circle = Shape::circle(x, y, 23.0).fill(seat).title(name);
    drawing.add(if forfeited || turn.is_some_and(|turn| turn.collided(seat)) {
        circle.stroke(ThemeColor::Bad, 4.0).dashed(5.0, 4.0)
    } else {
        circle.stroke(ThemeColor::Background, 2.5)
    });
    if forfeited {
        add_cross(drawing, [x, y], 26.0, 4.0);
    }
    drawing.add(Shape::mark(x - 12.5, y - 12.5, 25.0, name).fill(Color::OnSeat(seat.0)));
    let letter = char::from(b'A' + seat.0 % SEATS as u8).to_string();
    drawing.add(
        Shape::circle(x + 17.0, y - 17.0, 10.0).fill(ThemeColor::Background).stroke(ThemeColor::Ink, 2.0),
    );
    drawing.add(Shape::text(x + 17.0, y - 12.0, 14.0, letter).bold().fill(ThemeColor::Ink));
    let points = turn.and_then(|turn| turn.awards.get(seat.index()).copied()).unwrap_or(0);
    if points > 0 {
        let text = Shape::text(x, y + 46.0, 26.0, format!("+{points}")).bold();
        drawing.add(text.fill(ThemeColor::Good).stroke(ThemeColor::Background, 4.0));
    }
}

fn add_cross(drawing: &mut Drawing, [x, y]: [f32; 2], size: f32, width: f32) {
    for (dx, dy) in [(size, size), (size, -size)] {
        let line = Shape::line([x - dx, y - dy], [x + dx, y + dy]);
        drawing.add(line.stroke(ThemeColor::Bad, width));
    }
}
