//! Colours of roles in the light and the dark theme: those of the web viewer and of the pages.

use agon_core::drawing::ThemeColor;

/// Red, green, blue.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PixelColor(pub u8, pub u8, pub u8);

/// A theme.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Theme {
    /// Dark on light.
    Light,
    /// Light on dark.
    #[default]
    Dark,
}

/// Colours of a page around a board.
#[derive(Clone, Copy, Debug)]
pub struct PageColors {
    /// Behind everything.
    pub paper: PixelColor,
    /// Behind a board or a list.
    pub card: PixelColor,
    /// Behind a row that is highlighted.
    pub raised: PixelColor,
    /// Text.
    pub ink: PixelColor,
    /// Less important text.
    pub quiet: PixelColor,
    /// Thin lines.
    pub line: PixelColor,
    /// Name of the site, progress.
    pub accent: PixelColor,
    /// Marks of the first three places.
    pub medals: [PixelColor; 3],
}

const fn rgb(hex: u32) -> PixelColor {
    PixelColor((hex >> 16) as u8, (hex >> 8) as u8, hex as u8)
}

impl Theme {
    /// The theme of this name: `light` or `dark`.
    pub fn by_name(name: &str) -> Option<Self> {
        match name {
            "light" => Some(Self::Light),
            "dark" => Some(Self::Dark),
            _ => None,
        }
    }

    /// Name of the theme.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    /// Colour of a role in a drawing.
    pub const fn color(self, role: ThemeColor) -> PixelColor {
        let (light, dark) = match role {
            ThemeColor::Background => (0xff_ffff, 0x1d_2027),
            ThemeColor::Board => (0xd9_c9a8, 0x5a_5040),
            ThemeColor::Cell => (0xf1_eee7, 0x2a_2e37),
            ThemeColor::Floor => (0xff_ffff, 0x34_3a47),
            ThemeColor::Wall => (0x55_504a, 0x6f_6a61),
            ThemeColor::Fog => (0x3a_3d45, 0x05_0608),
            ThemeColor::Ink => (0x1b_1d22, 0xec_eae4),
            ThemeColor::Muted => (0x5d_6068, 0xa5_a8b0),
            ThemeColor::Line => (0xcf_cac0, 0x45_4a56),
            ThemeColor::Edge => (0x10_1216, 0xf4_f1ea),
            ThemeColor::Accent => (0x15_59d6, 0x8d_b8ff),
            ThemeColor::Glow => (0xff_d75e, 0xff_d75e),
            ThemeColor::Good => (0x0c_7a4b, 0x5f_d39a),
            ThemeColor::Bad => (0xc0_261a, 0xff_8577),
        };
        rgb(match self {
            Self::Light => light,
            Self::Dark => dark,
        })
    }

    /// Colours around a board.
    pub const fn page(self) -> PageColors {
        match self {
            Self::Light => PageColors {
                paper: rgb(0xf5_f3ed),
                card: rgb(0xff_ffff),
                raised: rgb(0xec_e8dd),
                ink: rgb(0x1d_2026),
                quiet: rgb(0x56_5c67),
                line: rgb(0xdd_d8cc),
                accent: rgb(0x21_50ad),
                medals: [rgb(0xc4_941a), rgb(0x8b_929c), rgb(0xa5_673a)],
            },
            Self::Dark => PageColors {
                paper: rgb(0x12_1419),
                card: rgb(0x1d_2027),
                raised: rgb(0x2a_2e37),
                ink: rgb(0xea_e8e2),
                quiet: rgb(0xa7_adb8),
                line: rgb(0x33_3842),
                accent: rgb(0x86_b1f2),
                medals: [rgb(0xe5_bd4b), rgb(0xb9_c0ca), rgb(0xd3_9a6b)],
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn themes_are_found_by_name() {
        for theme in [Theme::Light, Theme::Dark] {
            assert_eq!(Theme::by_name(theme.name()), Some(theme));
        }
        assert_eq!(Theme::by_name("Dark"), None);
        assert_eq!(Theme::Light.color(ThemeColor::Board), PixelColor(0xd9, 0xc9, 0xa8));
    }
}
