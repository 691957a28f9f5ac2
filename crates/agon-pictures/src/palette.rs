//! Distinct colours for seats and bots: the same numbers give the same colours as in the web viewer (`web/src/palette.ts`).

use crate::theme::PixelColor;

/// Twenty colours, ordered so that neighbours differ strongly. Further colours are generated.
const COLORS: [PixelColor; 20] = [
    PixelColor(0x2f, 0x6f, 0xde),
    PixelColor(0xf0, 0x8a, 0x24),
    PixelColor(0x1d, 0x9a, 0x6c),
    PixelColor(0xd6, 0x33, 0x6c),
    PixelColor(0xf2, 0xc5, 0x3d),
    PixelColor(0x7a, 0x4f, 0xd0),
    PixelColor(0x45, 0xc4, 0xd6),
    PixelColor(0x8a, 0x5a, 0x2b),
    PixelColor(0x9a, 0xd1, 0x4b),
    PixelColor(0xe8, 0x9b, 0xd0),
    PixelColor(0x17, 0x42, 0x7f),
    PixelColor(0xc8, 0x32, 0x1f),
    PixelColor(0x0f, 0x6b, 0x5c),
    PixelColor(0xb7, 0xa0, 0xf2),
    PixelColor(0x7d, 0x86, 0x00),
    PixelColor(0xff, 0xb5, 0x9a),
    PixelColor(0x5a, 0x64, 0x72),
    PixelColor(0x7f, 0xe0, 0xb5),
    PixelColor(0x6e, 0x1f, 0x4f),
    PixelColor(0xbd, 0xb3, 0x8f),
];

/// The colour of a number.
pub fn color(number: u16) -> PixelColor {
    COLORS.get(usize::from(number)).copied().unwrap_or_else(|| generated(number))
}

/// Legible text colour on the colour of a number: black or white.
pub fn on(number: u16) -> PixelColor {
    let PixelColor(r, g, b) = color(number);
    let [r, g, b] = [r, g, b].map(|value| linear(f64::from(value) / 255.0));
    if 0.2126 * r + 0.7152 * g + 0.0722 * b > 0.179 {
        PixelColor(0x10, 0x12, 0x16)
    } else {
        PixelColor(255, 255, 255)
    }
}

fn linear(value: f64) -> f64 {
    if value <= 0.040_45 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
}

/// A colour beyond the list: hues spread by the golden angle.
fn generated(number: u16) -> PixelColor {
    let hue = (f64::from(number) * 137.5).round() % 360.0;
    let saturation = 0.55 + f64::from(number % 3) * 0.15;
    let lightness = 0.38 + f64::from(number % 4) * 0.11;
    let part = |n: f64| {
        let k = (n + hue / 30.0) % 12.0;
        let share = (k - 3.0).min(9.0 - k).clamp(-1.0, 1.0);
        let value = lightness - saturation * f64::min(lightness, 1.0 - lightness) * share;
        (255.0 * value).round().clamp(0.0, 255.0) as u8
    };
    PixelColor(part(0.0), part(8.0), part(4.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_are_those_of_the_web_viewer() {
        let source = include_str!("../../../web/src/palette.ts");
        for PixelColor(r, g, b) in COLORS {
            assert!(source.contains(&format!("'#{r:02x}{g:02x}{b:02x}'")), "#{r:02x}{g:02x}{b:02x}");
        }
        assert_eq!(color(0), COLORS[0]);
        // hsl(230 85% 38%).
        assert_eq!(color(20), PixelColor(15, 42, 179));
    }

    #[test]
    fn text_is_dark_on_light_colours_and_white_on_dark_ones() {
        assert_eq!(on(4), PixelColor(0x10, 0x12, 0x16));
        assert_eq!(on(10), PixelColor(255, 255, 255));
    }
}
