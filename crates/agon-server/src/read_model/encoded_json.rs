//! Bytes that are ready to be sent, plain and packed, to any number of people.

use std::io::{Read as _, Write as _};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::assets::{has_it, wants_gzip};
use crate::error::{ApiError, ApiResult};

/// JSON, ready to be sent.
#[derive(Clone, Debug)]
pub struct EncodedJson {
    plain: Option<Bytes>,
    packed: Bytes,
    tag: HeaderValue,
    packed_tag: HeaderValue,
}

impl EncodedJson {
    /// Both ways; known by what is in it.
    pub fn json(value: &impl Serialize) -> ApiResult<Self> {
        let plain = serde_json::to_vec(value).map_err(ApiError::broke)?;
        let name = short(&Sha256::digest(&plain));
        let (tag, packed_tag) = tags(&name)?;
        Ok(Self {
            packed: packed(&plain, Compression::default()),
            plain: Some(plain.into()),
            tag,
            packed_tag,
        })
    }

    /// Only packed, for what is large; known by this name, of letters and digits.
    pub fn large(value: &impl Serialize, name: &str) -> ApiResult<Self> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::new(5));
        serde_json::to_writer(std::io::BufWriter::with_capacity(1 << 16, &mut packer), value)
            .map_err(ApiError::broke)?;
        let (tag, packed_tag) = tags(name)?;
        let packed = packer.finish().map_err(ApiError::broke)?.into();
        Ok(Self { plain: None, packed, tag, packed_tag })
    }

    /// How many bytes it keeps.
    pub fn size(&self) -> usize {
        self.packed.len() + self.plain.as_ref().map_or(0, Bytes::len)
    }

    /// As whoever asks takes it; that they have it already, if they have.
    pub fn answer(&self, asked: &HeaderMap) -> Response {
        let packs = wants_gzip(asked);
        let tag = if packs { &self.packed_tag } else { &self.tag };
        let mut headers = HeaderMap::with_capacity(6);
        headers.insert(header::ETAG, tag.clone());
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        if has_it(asked, tag.to_str().unwrap_or_default()) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if packs {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            return (headers, self.packed.clone()).into_response();
        }
        match &self.plain {
            Some(plain) => (headers, plain.clone()).into_response(),
            None => (headers, unpacked(&self.packed)).into_response(),
        }
    }
}

/// That whoever asks has what is known by this name already.
pub fn not_modified(asked: &HeaderMap, name: &str) -> Option<Response> {
    let (tag, packed_tag) = tags(name).ok()?;
    let tag = if wants_gzip(asked) { packed_tag } else { tag };
    let has = has_it(asked, tag.to_str().unwrap_or_default());
    has.then(|| (StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response())
}

/// Another encoding is another body, so it has another tag.
fn tags(name: &str) -> ApiResult<(HeaderValue, HeaderValue)> {
    let tag = |text: String| HeaderValue::try_from(text).map_err(ApiError::broke);
    Ok((tag(format!("\"{name}\""))?, tag(format!("\"{name}-gz\""))?))
}

/// The beginning of a hash, in hexadecimal digits.
pub fn short(hash: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(32);
    for byte in hash.iter().take(16) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn packed(bytes: &[u8], level: Compression) -> Bytes {
    let mut packer = GzEncoder::new(Vec::new(), level);
    // Writing to memory does not fail.
    packer.write_all(bytes).and_then(|()| packer.finish()).unwrap_or_default().into()
}

/// Few clients take no gzip: it is unpacked for them when they come.
fn unpacked(packed: &Bytes) -> Bytes {
    let mut plain = Vec::new();
    // It was packed here.
    let _ = GzDecoder::new(&packed[..]).read_to_end(&mut plain);
    plain.into()
}
