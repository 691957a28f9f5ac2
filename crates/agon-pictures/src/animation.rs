//! Animated GIFs: one palette for all frames, and of each frame only the pixels that changed.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use gif::{DisposalMethod, Encoder, Frame, Repeat};

use crate::PictureError;
use crate::canvas::PixelCanvas;

/// Colours of the palette. One more index means: not changed.
const MAX_COLORS: usize = 255;
/// Number of frames whose colours make the palette.
const SAMPLED_FRAMES: usize = 6;
/// Colours nearer than this (sum of the squares of the differences) share an entry of the palette.
const NEAR: u32 = 48;

/// A frame: red, green and blue of a pixel as one number.
type Pixels = Vec<u32>;

/// What a GIF may cost.
#[derive(Clone, Copy, Debug)]
pub struct GifLimits {
    /// Maximum size in bytes.
    pub bytes: usize,
    /// Time after which the work stops with an error.
    pub deadline: Option<Instant>,
}

/// Makes a GIF of `frames` pictures of the same size, each of which is shown for a time. The pictures are made on demand, some
/// of them twice.
pub fn encode(
    frames: usize,
    limits: GifLimits,
    mut delay: impl FnMut(usize) -> Duration,
    mut picture: impl FnMut(usize) -> Result<PixelCanvas, PictureError>,
) -> Result<Vec<u8>, PictureError> {
    let first = picture(0)?;
    let (width, height) = (first.width(), first.height());
    let wrong_size = PictureError::Size { width, height };
    let (Ok(gif_width), Ok(gif_height)) = (u16::try_from(width), u16::try_from(height)) else {
        return Err(wrong_size);
    };
    let mut palette = Palette::of(frames, &limits, &mut picture)?;
    let out = LimitedBytes { bytes: Vec::new(), most: limits.bytes };
    let failed = |error: gif::EncodingError| match error {
        gif::EncodingError::Io(error) if error.kind() == io::ErrorKind::FileTooLarge => {
            PictureError::TooLarge { most: limits.bytes }
        }
        error => PictureError::Encoding(error.to_string()),
    };
    let mut encoder = Encoder::new(out, gif_width, gif_height, &palette.bytes()).map_err(failed)?;
    encoder.set_repeat(Repeat::Infinite).map_err(failed)?;
    let mut before: Option<Vec<u8>> = None;
    for index in 0..frames.max(1) {
        check_time(&limits)?;
        let canvas = picture(index)?;
        if (canvas.width(), canvas.height()) != (width, height) {
            return Err(PictureError::Size { width: canvas.width(), height: canvas.height() });
        }
        let now = palette.indices(&canvas);
        let area = changed_area(before.as_deref(), &now, width as usize);
        let transparent = palette.unchanged();
        let pixels = cut(before.as_deref(), &now, width as usize, area, transparent);
        let frame = Frame {
            delay: u16::try_from(delay(index).as_millis() / 10).unwrap_or(u16::MAX),
            dispose: DisposalMethod::Keep,
            transparent: Some(transparent),
            left: area.left as u16,
            top: area.top as u16,
            width: area.width as u16,
            height: area.height as u16,
            buffer: pixels.into(),
            ..Frame::default()
        };
        encoder.write_frame(&frame).map_err(failed)?;
        before = Some(now);
    }
    let out = encoder.into_inner().map_err(failed)?;
    Ok(out.bytes)
}

fn check_time(limits: &GifLimits) -> Result<(), PictureError> {
    match limits.deadline {
        Some(deadline) if Instant::now() > deadline => Err(PictureError::TooSlow),
        _ => Ok(()),
    }
}

fn pixels(canvas: &PixelCanvas) -> Pixels {
    canvas.rgba().chunks_exact(4).map(|p| u32::from_be_bytes([0, p[0], p[1], p[2]])).collect()
}

/// Up to 255 colours, and the nearest of them for each colour that has been asked for.
struct Palette {
    colors: Vec<u32>,
    nearest: HashMap<u32, u8>,
}

impl Palette {
    /// The most frequent colours of some of the frames. Colours that look alike count once.
    fn of(
        frames: usize,
        limits: &GifLimits,
        picture: &mut impl FnMut(usize) -> Result<PixelCanvas, PictureError>,
    ) -> Result<Self, PictureError> {
        let mut counts: HashMap<u32, u64> = HashMap::new();
        let last = frames.saturating_sub(1);
        let mut sampled: Vec<usize> = (0..SAMPLED_FRAMES).map(|i| last * i / (SAMPLED_FRAMES - 1)).collect();
        sampled.dedup();
        for index in sampled {
            check_time(limits)?;
            let canvas = picture(index)?;
            for run in pixels(&canvas).chunk_by(|a, b| a == b) {
                if let Some(color) = run.first() {
                    *counts.entry(*color).or_default() += run.len() as u64;
                }
            }
        }
        let mut by_count: Vec<(u64, u32)> = counts.into_iter().map(|(color, count)| (count, color)).collect();
        by_count.sort_unstable_by_key(|(count, color)| (std::cmp::Reverse(*count), *color));
        let mut colors: Vec<u32> = Vec::with_capacity(MAX_COLORS);
        for (_, color) in by_count {
            if colors.len() >= MAX_COLORS {
                break;
            }
            if colors.iter().all(|known| distance(*known, color) >= NEAR) {
                colors.push(color);
            }
        }
        Ok(Self { colors, nearest: HashMap::new() })
    }

    /// Red, green and blue of each colour, and of the index that means: not changed.
    fn bytes(&self) -> Vec<u8> {
        let colors = self.colors.iter().chain(std::iter::once(&0));
        let parts = |color: &u32| {
            let [_, r, g, b] = color.to_be_bytes();
            [r, g, b]
        };
        colors.flat_map(parts).collect()
    }

    /// The index that means: not changed.
    fn unchanged(&self) -> u8 {
        self.colors.len() as u8
    }

    /// Indices of the colours of a picture.
    fn indices(&mut self, canvas: &PixelCanvas) -> Vec<u8> {
        let pixels = pixels(canvas);
        let mut indices = Vec::with_capacity(pixels.len());
        for run in pixels.chunk_by(|a, b| a == b) {
            let index = run.first().map_or(0, |color| self.index_of(*color));
            indices.resize(indices.len() + run.len(), index);
        }
        indices
    }

    fn index_of(&mut self, color: u32) -> u8 {
        if let Some(index) = self.nearest.get(&color) {
            return *index;
        }
        let nearest = self.colors.iter().enumerate().min_by_key(|(_, known)| distance(**known, color));
        let index = nearest.map_or(0, |(index, _)| index as u8);
        self.nearest.insert(color, index);
        index
    }
}

/// Sum of the squares of the differences, weighted as the eye does.
fn distance(a: u32, b: u32) -> u32 {
    let ([_, ar, ag, ab], [_, br, bg, bb]) = (a.to_be_bytes(), b.to_be_bytes());
    let square = |a: u8, b: u8| u32::from(a.abs_diff(b)).pow(2);
    2 * square(ar, br) + 4 * square(ag, bg) + square(ab, bb)
}

/// A rectangle of pixels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Area {
    left: usize,
    top: usize,
    width: usize,
    height: usize,
}

/// The smallest rectangle around all changes; one pixel if nothing changed.
fn changed_area(before: Option<&[u8]>, now: &[u8], width: usize) -> Area {
    let width = width.max(1);
    let Some(before) = before else { return Area { left: 0, top: 0, width, height: now.len() / width } };
    let (mut left, mut right, mut top, mut bottom) = (width, 0, usize::MAX, 0);
    for (y, (old, new)) in before.chunks_exact(width).zip(now.chunks_exact(width)).enumerate() {
        let Some(first) = old.iter().zip(new).position(|(a, b)| a != b) else { continue };
        let last = old.iter().zip(new).rposition(|(a, b)| a != b).unwrap_or(first);
        (left, right) = (left.min(first), right.max(last));
        (top, bottom) = (top.min(y), y);
    }
    if top == usize::MAX {
        return Area { left: 0, top: 0, width: 1, height: 1 };
    }
    Area { left, top, width: right - left + 1, height: bottom - top + 1 }
}

/// The indices of an area. Pixels that did not change have the index `unchanged`, which makes long runs.
fn cut(before: Option<&[u8]>, now: &[u8], width: usize, area: Area, unchanged: u8) -> Vec<u8> {
    let mut out = Vec::with_capacity(area.width * area.height);
    for y in area.top..area.top + area.height {
        let start = y * width + area.left;
        let row = start..start + area.width;
        let Some(new) = now.get(row.clone()) else { continue };
        match before.and_then(|before| before.get(row)) {
            None => out.extend_from_slice(new),
            Some(old) => out.extend(old.iter().zip(new).map(|(a, b)| if a == b { unchanged } else { *b })),
        }
    }
    out
}

/// Bytes up to a maximum.
struct LimitedBytes {
    bytes: Vec<u8>,
    most: usize,
}

impl Write for LimitedBytes {
    fn write(&mut self, data: &[u8]) -> io::Result<usize> {
        if self.bytes.len() + data.len() > self.most {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(data);
        Ok(data.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::theme::PixelColor;

    fn square(at: f32) -> Result<PixelCanvas, PictureError> {
        let mut canvas = PixelCanvas::new(20, 10, PixelColor(10, 20, 30))?;
        canvas.fill_pixels([at, 2.0, at + 3.0, 5.0], PixelColor(200, 100, 0), 1.0);
        Ok(canvas)
    }

    const LIMITS: GifLimits = GifLimits { bytes: 100_000, deadline: None };

    fn animation(frames: usize, limits: GifLimits) -> Result<Vec<u8>, PictureError> {
        encode(frames, limits, |_| Duration::from_millis(200), |index| square(index as f32))
    }

    #[test]
    fn a_frame_has_only_the_pixels_that_changed() {
        let bytes = animation(4, LIMITS).unwrap();
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::Indexed);
        let mut decoder = options.read_info(&bytes[..]).unwrap();
        let mut areas = Vec::new();
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            assert_eq!(frame.delay, 20);
            areas.push((frame.left, frame.top, frame.width, frame.height));
        }
        assert_eq!(areas, [(0, 0, 20, 10), (0, 2, 4, 3), (1, 2, 4, 3), (2, 2, 4, 3)]);
    }

    #[test]
    fn a_gif_has_a_maximum_size_and_time() {
        assert!(matches!(
            animation(4, GifLimits { bytes: 60, ..LIMITS }),
            Err(PictureError::TooLarge { most: 60 })
        ));
        let past = Instant::now().checked_sub(Duration::from_secs(1));
        assert!(matches!(animation(4, GifLimits { deadline: past, ..LIMITS }), Err(PictureError::TooSlow)));
    }

    #[test]
    fn the_same_pictures_give_the_same_bytes() {
        assert_eq!(animation(4, LIMITS).unwrap(), animation(4, LIMITS).unwrap());
    }

    #[test]
    fn pictures_of_different_sizes_are_an_error() {
        let picture = |index: usize| PixelCanvas::new(10 + index as u32, 10, PixelColor(0, 0, 0));
        let result = encode(2, LIMITS, |_| Duration::ZERO, picture);
        assert!(matches!(result, Err(PictureError::Size { .. })));
    }
}
