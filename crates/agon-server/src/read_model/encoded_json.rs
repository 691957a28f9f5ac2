//! Serialised JSON responses, plain and gzipped, with `ETags`.

use std::io::{Read as _, Write as _};

use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::assets::{accepts_gzip, etag_matches};
use crate::error::{ApiError, ApiResult};

/// A serialised JSON response.
#[derive(Clone, Debug)]
pub struct EncodedJson {
    plain: Option<Bytes>,
    gzipped: Bytes,
    etag: HeaderValue,
    gzip_etag: HeaderValue,
}

impl EncodedJson {
    /// Serialises a value, plain and gzipped. The `ETag` is a hash of the content.
    pub fn from_value(value: &impl Serialize) -> ApiResult<Self> {
        let plain = serde_json::to_vec(value).map_err(ApiError::internal)?;
        let name = short_hex(&Sha256::digest(&plain));
        let (etag, gzip_etag) = etags(&name)?;
        Ok(Self { gzipped: gzip(&plain, Compression::default()), plain: Some(plain.into()), etag, gzip_etag })
    }

    /// Serialises a large value, gzipped only. `name` becomes the `ETag`; it consists of letters and digits.
    pub fn gzip_only(value: &impl Serialize, name: &str) -> ApiResult<Self> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::new(5));
        serde_json::to_writer(std::io::BufWriter::with_capacity(1 << 16, &mut encoder), value)
            .map_err(ApiError::internal)?;
        let (etag, gzip_etag) = etags(name)?;
        let gzipped = encoder.finish().map_err(ApiError::internal)?.into();
        Ok(Self { plain: None, gzipped, etag, gzip_etag })
    }

    /// Size in memory, in bytes.
    pub fn size(&self) -> usize {
        self.gzipped.len() + self.plain.as_ref().map_or(0, Bytes::len)
    }

    /// The response in the encoding that the client accepts, or 304 if it already has this version.
    pub fn response(&self, request_headers: &HeaderMap) -> Response {
        let use_gzip = accepts_gzip(request_headers);
        let etag = if use_gzip { &self.gzip_etag } else { &self.etag };
        let mut headers = HeaderMap::with_capacity(6);
        headers.insert(header::ETAG, etag.clone());
        headers.insert(header::VARY, HeaderValue::from_static("Accept-Encoding"));
        if etag_matches(request_headers, etag.to_str().unwrap_or_default()) {
            return (StatusCode::NOT_MODIFIED, headers).into_response();
        }
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if use_gzip {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            return (headers, self.gzipped.clone()).into_response();
        }
        match &self.plain {
            Some(plain) => (headers, plain.clone()).into_response(),
            None => (headers, gunzip(&self.gzipped)).into_response(),
        }
    }
}

/// 304 if the client already has the version with this name.
pub fn not_modified(request_headers: &HeaderMap, name: &str) -> Option<Response> {
    let (etag, gzip_etag) = etags(name).ok()?;
    let etag = if accepts_gzip(request_headers) { gzip_etag } else { etag };
    let has = etag_matches(request_headers, etag.to_str().unwrap_or_default());
    has.then(|| (StatusCode::NOT_MODIFIED, [(header::ETAG, etag)]).into_response())
}

/// `ETags` of the plain and the gzipped body. Another encoding is another body, so it needs another `ETag`.
fn etags(name: &str) -> ApiResult<(HeaderValue, HeaderValue)> {
    let etag = |text: String| HeaderValue::try_from(text).map_err(ApiError::internal);
    Ok((etag(format!("\"{name}\""))?, etag(format!("\"{name}-gz\""))?))
}

/// The first 16 bytes of a hash in hexadecimal.
pub fn short_hex(hash: &[u8]) -> String {
    use std::fmt::Write as _;
    let mut text = String::with_capacity(32);
    for byte in hash.iter().take(16) {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

fn gzip(bytes: &[u8], level: Compression) -> Bytes {
    let mut encoder = GzEncoder::new(Vec::new(), level);
    // Writing to memory cannot fail.
    encoder.write_all(bytes).and_then(|()| encoder.finish()).unwrap_or_default().into()
}

/// Decompresses on demand: few clients do not accept gzip.
fn gunzip(gzipped: &Bytes) -> Bytes {
    let mut plain = Vec::new();
    // The bytes were gzipped by this server, so this cannot fail.
    let _ = GzDecoder::new(&gzipped[..]).read_to_end(&mut plain);
    plain.into()
}
