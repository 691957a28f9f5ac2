//! Teams of several accounts, and invitations to them.

use std::time::Duration;

use agon_site_db::{AccountId, NotificationKind, TeamId, TeamInvitation, TeamInvitee, token_hash};
use agon_store::Timestamp;
use axum::extract::State;
use axum::http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::audit::append_audit;
use super::people::{ProfileBot, TeamName, count_medals, find_person, profile_bots};
use crate::caller::Caller;
use crate::error::{ApiError, ApiResult, ErrorBody};
use crate::extract::{Json, Path};
use crate::middleware::cookie;
use crate::notify::{self, Notice};
use crate::state::AppState;

/// Time in which an invitation can be accepted.
const INVITATION_TIMEOUT: Duration = Duration::from_hours(14 * 24);

/// Routes of this module.
pub fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::default()
        .routes(routes!(my_teams))
        .routes(routes!(create_team))
        .routes(routes!(team, edit_team))
        .routes(routes!(invite_to_team))
        .routes(routes!(remove_team_member))
        .routes(routes!(change_team_owner))
        .routes(routes!(team_invitation))
        .routes(routes!(join_team_by_link))
        .routes(routes!(join_team, remove_team_invitation))
}

/// A team.
#[derive(Debug, Serialize, ToSchema)]
pub struct TeamPage {
    /// Id of the team.
    pub id: i64,
    /// Its name.
    pub name: String,
    /// A short text.
    pub about: String,
    /// When it was created.
    pub since: i64,
    /// Whether its last member has left.
    pub dissolved: bool,
    /// Members, the owner first.
    pub members: Vec<TeamMemberBody>,
    /// Whether the caller is a member.
    pub mine: bool,
    /// Whether the caller owns it.
    pub owner: bool,
    /// Open invitations, for the owner.
    pub invitations: Vec<TeamInvitationBody>,
    /// Bots that the caller may see, newest first.
    pub bots: Vec<ProfileBot>,
    /// Numbers of medals in finished competitions: gold, silver, bronze.
    pub medals: [u32; 3],
}

/// A member of a team.
#[derive(Debug, Serialize, ToSchema)]
pub struct TeamMemberBody {
    /// Id of the account.
    pub id: i64,
    /// Name of the account.
    pub name: String,
    /// Whether the account owns the team.
    pub owner: bool,
    /// When it joined.
    pub since: i64,
}

/// An invitation to a team.
#[derive(Debug, Serialize, ToSchema)]
pub struct TeamInvitationBody {
    /// Id of the invitation.
    pub id: i64,
    /// The team.
    pub team: TeamName,
    /// Name of the invited account; null for a link.
    pub account: Option<String>,
    /// Name of the account that invites.
    pub by: String,
    /// When it expires.
    pub expires: i64,
    /// Address of the link; only in the response that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub link: Option<String>,
}

/// The caller's teams.
#[derive(Debug, Serialize, ToSchema)]
pub struct MyTeams {
    /// Teams of the caller.
    pub teams: Vec<TeamName>,
    /// Open invitations of the caller.
    pub invitations: Vec<TeamInvitationBody>,
}

/// Name and text of a team.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TeamBody {
    /// Name: 1 to 40 characters, unlike those of all other teams and accounts.
    #[schema(min_length = 1, max_length = 40)]
    name: String,
    /// A short text.
    #[schema(max_length = 500)]
    about: String,
}

/// Whom to invite.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TeamInviteBody {
    /// Name of an account; null creates a link that anyone with an account can use.
    account: Option<String>,
}

/// The new owner of a team.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct TeamOwnerBody {
    /// Id of a member's account.
    account: i64,
}

async fn invitation_body(app: &AppState, one: TeamInvitation) -> ApiResult<TeamInvitationBody> {
    let team = app.site_db.team(one.team).await?;
    Ok(TeamInvitationBody {
        id: one.id,
        team: TeamName { id: team.id.0, name: team.name },
        account: one.account_name,
        by: one.by,
        expires: one.expires.0,
        link: None,
    })
}

/// The caller's teams, and invitations to others.
#[utoipa::path(
    get, path = "/me/teams", tag = "people", operation_id = "my_teams",
    responses((status = 200, description = "Teams and invitations.", body = MyTeams)),
)]
async fn my_teams(State(app): State<AppState>, caller: Caller) -> ApiResult<Json<MyTeams>> {
    let me = caller.signed_in()?;
    let teams = app.site_db.teams_of(me.account()).await?;
    let mut invitations = Vec::new();
    for one in app.site_db.team_invitations_for(me.account(), Timestamp::now()).await? {
        invitations.push(invitation_body(&app, one).await?);
    }
    let teams = teams.into_iter().map(|team| TeamName { id: team.id.0, name: team.name }).collect();
    Ok(Json(MyTeams { teams, invitations }))
}

/// Creates a team. The caller owns it.
#[utoipa::path(
    post, path = "/teams", tag = "people", operation_id = "create_team", request_body = TeamBody,
    responses(
        (status = 201, description = "Created.", body = TeamPage),
        (status = 403, description = "Spectators have no teams.", body = ErrorBody),
        (status = 409, description = "The name is taken, or the caller has too many teams.", body = ErrorBody),
        (status = 422, description = "The name or the text is not valid.", body = ErrorBody),
    ),
)]
async fn create_team(
    State(app): State<AppState>,
    caller: Caller,
    Json(body): Json<TeamBody>,
) -> ApiResult<(StatusCode, Json<TeamPage>)> {
    let me = caller.author()?;
    let team =
        app.site_db.create_team(me.account(), body.name.trim(), body.about.trim(), Timestamp::now()).await?;
    append_audit(&app, me, "team.new", &team.name, &serde_json::json!({"id": team.id.0})).await?;
    Ok((StatusCode::CREATED, Json(team_page(&app, &caller, team.id).await?)))
}

/// A team, its members and its bots.
#[utoipa::path(
    get, path = "/teams/{id}", tag = "people", operation_id = "team",
    params(("id" = i64, Path, description = "The team.")),
    responses((status = 200, description = "The team.", body = TeamPage), (status = 404, description = "There is no such team.", body = ErrorBody)),
)]
async fn team(State(app): State<AppState>, caller: Caller, Path(id): Path<i64>) -> ApiResult<Json<TeamPage>> {
    Ok(Json(team_page(&app, &caller, TeamId(id)).await?))
}

async fn team_page(app: &AppState, caller: &Caller, id: TeamId) -> ApiResult<TeamPage> {
    let team = app.site_db.team(id).await?;
    let members = app.site_db.team_members(id).await?;
    let own = members.iter().find(|member| caller.is_account(Some(member.account.0)));
    let (mine, owner) = (own.is_some(), own.is_some_and(|member| member.owner));
    let mut invitations = Vec::new();
    if owner {
        for one in app.site_db.team_invitations(id, Timestamp::now()).await? {
            invitations.push(invitation_body(app, one).await?);
        }
    }
    let bots = profile_bots(app, caller, app.site_db.entrants_of_team(id).await?).await?;
    Ok(TeamPage {
        id: team.id.0,
        name: team.name,
        about: team.about,
        since: team.created.0,
        dissolved: team.dissolved.is_some(),
        members: members
            .into_iter()
            .map(|one| TeamMemberBody {
                id: one.account.0,
                name: one.name,
                owner: one.owner,
                since: one.joined.0,
            })
            .collect(),
        mine,
        owner,
        invitations,
        medals: count_medals(&bots),
        bots,
    })
}

/// Changes the name and the text of a team. For its owner.
#[utoipa::path(
    put, path = "/teams/{id}", tag = "people", operation_id = "edit_team", request_body = TeamBody,
    params(("id" = i64, Path, description = "The team.")),
    responses(
        (status = 200, description = "The team now.", body = TeamPage),
        (status = 404, description = "The caller has no such team.", body = ErrorBody),
        (status = 409, description = "The name is taken, or the caller does not own the team.", body = ErrorBody),
    ),
)]
async fn edit_team(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
    Json(body): Json<TeamBody>,
) -> ApiResult<Json<TeamPage>> {
    let me = caller.signed_in()?;
    app.site_db.edit_team(TeamId(id), me.account(), body.name.trim(), body.about.trim()).await?;
    show_members(&app, TeamId(id)).await?;
    Ok(Json(team_page(&app, &caller, TeamId(id)).await?))
}

/// Invites an account, or creates a link. For the owner.
#[utoipa::path(
    post, path = "/teams/{id}/invitations", tag = "people", operation_id = "invite_to_team", request_body = TeamInviteBody,
    params(("id" = i64, Path, description = "The team.")),
    responses(
        (status = 201, description = "Invited. A link is shown only here.", body = TeamInvitationBody),
        (status = 404, description = "The caller has no such team, or there is no such account.", body = ErrorBody),
        (status = 409, description = "The account is a member, there are too many invitations, or the caller does not own the team.", body = ErrorBody),
    ),
)]
async fn invite_to_team(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
    Json(body): Json<TeamInviteBody>,
) -> ApiResult<(StatusCode, Json<TeamInvitationBody>)> {
    let me = caller.signed_in()?;
    let now = Timestamp::now();
    let expires = Timestamp(now.0 + INVITATION_TIMEOUT.as_millis() as i64);
    let mut link = None;
    let invitee = if let Some(name) = &body.account {
        let account = find_person(&app, &Caller::anonymous(), name).await;
        TeamInvitee::Account(account.map_err(|error| error.field("account"))?.id)
    } else {
        let code = cookie::random_secret()?;
        link = Some(format!("{}/join-team/{code}", app.config.url()));
        TeamInvitee::Link(token_hash(&code))
    };
    let made = app.site_db.invite_to_team(TeamId(id), me.account(), invitee, expires, now).await?;
    let made = TeamInvitationBody { link, ..invitation_body(&app, made).await? };
    if let TeamInvitee::Account(account) = invitee {
        let notice = Notice {
            kind: NotificationKind::TeamInvitation,
            topic: format!("team/{id}"),
            link: "/me/teams".to_owned(),
            text: format!("{} invites you to the team {}.", me.name, made.team.name),
        };
        notify::send(&app, account, &notice).await;
    }
    Ok((StatusCode::CREATED, Json(made)))
}

/// Removes a member from a team. Members can leave, the owner can remove others. The owner can leave only as the last member.
#[utoipa::path(
    delete, path = "/teams/{id}/members/{account}", tag = "people", operation_id = "remove_team_member",
    params(("id" = i64, Path, description = "The team."), ("account" = i64, Path, description = "The member's account.")),
    responses(
        (status = 204, description = "Removed. The team's bots stay in the team."),
        (status = 404, description = "The caller has no such team, or it has no such member.", body = ErrorBody),
        (status = 409, description = "The caller does not own the team, or owns it and has to name another owner first.", body = ErrorBody),
    ),
)]
async fn remove_team_member(
    State(app): State<AppState>,
    caller: Caller,
    Path((id, account)): Path<(i64, i64)>,
) -> ApiResult<StatusCode> {
    let me = caller.signed_in()?;
    let (id, account) = (TeamId(id), AccountId(account));
    if !app.site_db.is_member(id, me.account()).await? {
        return Err(ApiError::not_found("team"));
    }
    let team = app.site_db.remove_team_member(id, account, me.account(), Timestamp::now()).await?;
    let detail = serde_json::json!({"team": id.0, "account": account.0});
    append_audit(&app, me, "team.leave", &team.name, &detail).await?;
    show_members(&app, id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes another member the owner. For the owner.
#[utoipa::path(
    put, path = "/teams/{id}/owner", tag = "people", operation_id = "change_team_owner", request_body = TeamOwnerBody,
    params(("id" = i64, Path, description = "The team.")),
    responses(
        (status = 200, description = "The team now.", body = TeamPage),
        (status = 404, description = "The caller has no such team, or it has no such member.", body = ErrorBody),
        (status = 409, description = "The caller does not own the team.", body = ErrorBody),
    ),
)]
async fn change_team_owner(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
    Json(body): Json<TeamOwnerBody>,
) -> ApiResult<Json<TeamPage>> {
    let me = caller.signed_in()?;
    app.site_db.change_team_owner(TeamId(id), AccountId(body.account), me.account()).await?;
    Ok(Json(team_page(&app, &caller, TeamId(id)).await?))
}

/// The invitation of a link.
#[utoipa::path(
    get, path = "/team-links/{code}", tag = "people", operation_id = "team_invitation",
    params(("code" = String, Path, description = "The code of the link.")),
    responses(
        (status = 200, description = "The invitation.", body = TeamInvitationBody),
        (status = 404, description = "There is no such link, or it has expired.", body = ErrorBody),
    ),
)]
async fn team_invitation(
    State(app): State<AppState>,
    Path(code): Path<String>,
) -> ApiResult<Json<TeamInvitationBody>> {
    Ok(Json(invitation_body(&app, find_link(&app, &code).await?).await?))
}

async fn find_link(app: &AppState, code: &str) -> ApiResult<TeamInvitation> {
    let found = app.site_db.team_invitation_by_code(token_hash(code), Timestamp::now()).await?;
    found.ok_or_else(|| ApiError::not_found("invitation").hint("ask the owner of the team for a new link"))
}

/// Joins a team with a link.
#[utoipa::path(
    post, path = "/team-links/{code}/accept", tag = "people", operation_id = "join_team_by_link",
    params(("code" = String, Path, description = "The code of the link.")),
    responses(
        (status = 200, description = "The team.", body = TeamPage),
        (status = 404, description = "There is no such link, or it has expired.", body = ErrorBody),
        (status = 409, description = "The caller is a member, or a limit is reached.", body = ErrorBody),
    ),
)]
async fn join_team_by_link(
    State(app): State<AppState>,
    caller: Caller,
    Path(code): Path<String>,
) -> ApiResult<Json<TeamPage>> {
    caller.author()?;
    let invitation = find_link(&app, &code).await?;
    join(&app, &caller, invitation.id).await
}

/// Accepts an invitation of the caller.
#[utoipa::path(
    post, path = "/team-invitations/{id}", tag = "people", operation_id = "join_team",
    params(("id" = i64, Path, description = "The invitation.")),
    responses(
        (status = 200, description = "The team.", body = TeamPage),
        (status = 404, description = "The caller has no such invitation.", body = ErrorBody),
        (status = 409, description = "The caller is a member, or a limit is reached.", body = ErrorBody),
    ),
)]
async fn join_team(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
) -> ApiResult<Json<TeamPage>> {
    let me = caller.author()?;
    // A link cannot be used by its id, which could be guessed.
    let open = app.site_db.team_invitations_for(me.account(), Timestamp::now()).await?;
    if !open.iter().any(|one| one.id == id) {
        return Err(ApiError::not_found("invitation"));
    }
    join(&app, &caller, id).await
}

async fn join(app: &AppState, caller: &Caller, invitation: i64) -> ApiResult<Json<TeamPage>> {
    let me = caller.author()?;
    let team = app.site_db.join_team(invitation, me.account(), Timestamp::now()).await?;
    append_audit(app, me, "team.join", &team.name, &serde_json::json!({"team": team.id.0})).await?;
    show_members(app, team.id).await?;
    Ok(Json(team_page(app, caller, team.id).await?))
}

/// Declines an invitation, or takes one back as the owner of the team.
#[utoipa::path(
    delete, path = "/team-invitations/{id}", tag = "people", operation_id = "remove_team_invitation",
    params(("id" = i64, Path, description = "The invitation.")),
    responses(
        (status = 204, description = "Removed."),
        (status = 404, description = "The caller has no such invitation.", body = ErrorBody),
        (status = 409, description = "The caller does not own the team.", body = ErrorBody),
    ),
)]
async fn remove_team_invitation(
    State(app): State<AppState>,
    caller: Caller,
    Path(id): Path<i64>,
) -> ApiResult<StatusCode> {
    app.site_db.remove_team_invitation(id, caller.signed_in()?.account()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Makes the competitions of a team read its members and its name again.
async fn show_members(app: &AppState, team: TeamId) -> ApiResult<()> {
    for id in app.site_db.competitions_of_team(team).await? {
        if let Ok(handle) = app.competitions.get(&id) {
            handle.changed();
        }
    }
    Ok(())
}
