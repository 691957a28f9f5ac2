//! Paged lists.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::{ApiError, ApiResult};

/// Maximum number of items per page.
const MAX_PAGE_SIZE: u32 = 200;
const DEFAULT_PAGE_SIZE: u32 = 50;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct PageBody<T> {
    /// The items of this page.
    pub items: Vec<T>,
    /// Value of `after` for the next page; null at the end.
    pub next: Option<String>,
}

/// Query parameters that select a page.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// `next` of the previous page.
    pub after: Option<String>,
    /// Maximum number of items.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
}

impl PageQuery {
    /// The number of items, or 422.
    pub fn limit(&self) -> ApiResult<u32> {
        match self.limit.unwrap_or(DEFAULT_PAGE_SIZE) {
            limit @ 1..=MAX_PAGE_SIZE => Ok(limit),
            _ => {
                Err(ApiError::invalid("limit", format!("`limit` must be a number from 1 to {MAX_PAGE_SIZE}")))
            }
        }
    }

    /// The key after which the page starts, for lists with numeric keys.
    pub fn after_number(&self) -> ApiResult<Option<u64>> {
        self.after
            .as_deref()
            .map(|text| {
                text.parse()
                    .map_err(|_| ApiError::invalid("after", "`after` must be `next` of the previous page"))
            })
            .transpose()
    }

    /// The same as a request to the site database.
    pub fn site_page(&self) -> ApiResult<agon_site_db::PageRequest> {
        let after = self.after_number()?.map(|after| i64::try_from(after).unwrap_or(i64::MAX));
        Ok(agon_site_db::PageRequest { after, limit: self.limit()? })
    }
}

impl<T> PageBody<T> {
    /// A page from the site database.
    pub fn from_site_page(items: Vec<T>, next: Option<i64>) -> Self {
        Self { items, next: next.map(|next| next.to_string()) }
    }

    /// A page from up to `limit + 1` items. The extra item only shows that there is a next page.
    pub fn from_lookahead(mut items: Vec<T>, limit: u32, key: impl Fn(&T) -> String) -> Self {
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        let next = if more { items.last().map(key) } else { None };
        Self { items, next }
    }
}
