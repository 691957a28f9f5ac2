//! Lists that come page by page.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use crate::error::{ApiError, ApiResult};

/// At most so many at once.
const MOST: u32 = 200;
const USUAL: u32 = 50;

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub struct PageBody<T> {
    /// What is on it.
    pub items: Vec<T>,
    /// Goes into `after` for the next page; null at the end.
    pub next: Option<String>,
}

/// Which page.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// `next` of the page before.
    pub after: Option<String>,
    /// At most so many.
    #[param(minimum = 1, maximum = 200)]
    pub limit: Option<u32>,
}

impl PageQuery {
    /// How many.
    pub fn limit(&self) -> ApiResult<u32> {
        match self.limit.unwrap_or(USUAL) {
            limit @ 1..=MOST => Ok(limit),
            _ => Err(ApiError::invalid("limit", format!("`limit` is a number from 1 to {MOST}"))),
        }
    }

    /// Behind which, if the list's keys are numbers.
    pub fn after_number(&self) -> ApiResult<Option<u64>> {
        self.after
            .as_deref()
            .map(|text| {
                text.parse().map_err(|_| ApiError::invalid("after", "`after` is `next` of the page before"))
            })
            .transpose()
    }

    /// As the office wants it.
    pub fn of_office(&self) -> ApiResult<agon_store::site_db::PageRequest> {
        let after = self.after_number()?.map(|after| i64::try_from(after).unwrap_or(i64::MAX));
        Ok(agon_store::site_db::PageRequest { after, limit: self.limit()? })
    }
}

impl<T> PageBody<T> {
    /// Of what the office listed.
    pub fn listed(items: Vec<T>, next: Option<i64>) -> Self {
        Self { items, next: next.map(|next| next.to_string()) }
    }

    /// Of one more than were asked for: whether there are more is known by then.
    pub fn of(mut items: Vec<T>, limit: u32, key: impl Fn(&T) -> String) -> Self {
        let more = items.len() > limit as usize;
        items.truncate(limit as usize);
        let next = if more { items.last().map(key) } else { None };
        Self { items, next }
    }
}
