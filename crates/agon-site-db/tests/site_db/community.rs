//! Profiles, teams, comments, search.

use agon_site_db::{
    AccountId, AccountProfile, CompetitionState, MAX_COMMENT_CHARS, MAX_TEAM_MEMBERS, NewComment,
    PageRequest, Role, SearchKind, SignUpGrant, SiteDb, SiteDbError, TeamId, TeamInvitee,
};
use agon_store::Timestamp;

use super::{account, competition, enter, hash, new_account, new_entrant, open_site_db, run};

const NOW: Timestamp = Timestamp(10_000);
const LATER: Timestamp = Timestamp(90_000);

/// Adds an account to a team by invitation.
async fn join(
    site_db: &SiteDb,
    team: TeamId,
    owner: AccountId,
    account: AccountId,
) -> Result<(), SiteDbError> {
    let invited = site_db.invite_to_team(team, owner, TeamInvitee::Account(account), LATER, NOW).await?;
    site_db.join_team(invited.id, account, NOW).await.map(|_| ())
}

async fn enter_for(
    site_db: &SiteDb,
    cup: &str,
    account: AccountId,
    team: TeamId,
    name: &str,
) -> Result<(), SiteDbError> {
    let new = new_entrant(cup, account, name);
    site_db.add_entrant_for(&new, Some(team), &[CompetitionState::Open]).await.map(|_| ())
}

async fn enter_alone(site_db: &SiteDb, cup: &str, account: AccountId, name: &str) -> Result<(), SiteDbError> {
    site_db.add_entrant(&new_entrant(cup, account, name), &[CompetitionState::Open]).await.map(|_| ())
}

#[test]
fn profile_is_empty_until_it_is_set() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await;
        assert_eq!(site_db.profile(ada.id).await.unwrap(), AccountProfile::default());
        let profile = AccountProfile {
            shown: "Ada L.".to_owned(),
            about: "Engines\nand notes".to_owned(),
            link: Some("https://example.org/ada".to_owned()),
            list_bots: false,
        };
        site_db.set_profile(ada.id, &profile).await.unwrap();
        assert_eq!(site_db.profile(ada.id).await.unwrap(), profile);
        for wrong in [
            AccountProfile { shown: " x".to_owned(), ..profile.clone() },
            AccountProfile { about: "x".repeat(501), ..profile.clone() },
            AccountProfile { link: Some("javascript:alert(1)".to_owned()), ..profile.clone() },
        ] {
            let error = site_db.set_profile(ada.id, &wrong).await.unwrap_err();
            assert!(matches!(error, SiteDbError::Invalid { .. }), "{wrong:?}: {error}");
        }
    });
}

#[test]
fn team_has_one_owner_who_alone_invites_removes_and_renames() {
    run(async {
        let site_db = open_site_db().await;
        let [ada, bob, eve] = [
            account(&site_db, "Ada", Role::Author).await.id,
            account(&site_db, "Bob", Role::Author).await.id,
            account(&site_db, "Eve", Role::Author).await.id,
        ];
        let team = site_db.create_team(ada, "Reds", "", NOW).await.unwrap().id;
        join(&site_db, team, ada, bob).await.unwrap();
        let members = site_db.team_members(team).await.unwrap();
        let shown: Vec<(&str, bool)> = members.iter().map(|one| (one.name.as_str(), one.owner)).collect();
        assert_eq!(shown, [("Ada", true), ("Bob", false)]);
        for by in [bob, eve] {
            assert!(join(&site_db, team, by, eve).await.is_err());
            assert!(site_db.edit_team(team, by, "Blues", "").await.is_err());
            assert!(site_db.remove_team_member(team, ada, by, NOW).await.is_err());
            assert!(site_db.change_team_owner(team, by, by).await.is_err());
        }
        let stays = site_db.remove_team_member(team, ada, ada, NOW).await.unwrap_err();
        assert!(stays.to_string().contains("owner"), "{stays}");
        site_db.change_team_owner(team, bob, ada).await.unwrap();
        assert!(site_db.edit_team(team, ada, "Blues", "").await.is_err());
        site_db.edit_team(team, bob, "REDS", "now in capitals").await.unwrap();
        site_db.remove_team_member(team, ada, ada, NOW).await.unwrap();
        assert!(site_db.team(team).await.unwrap().dissolved.is_none());
        site_db.remove_team_member(team, bob, bob, NOW).await.unwrap();
        assert_eq!(site_db.team(team).await.unwrap().dissolved, Some(NOW));
    });
}

#[test]
fn team_and_account_never_have_the_same_name() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        for taken in ["Ada", "ＡＤＡ"] {
            let error = site_db.create_team(ada, taken, "", NOW).await.unwrap_err();
            assert!(matches!(error, SiteDbError::Taken { what: "name" }), "{taken}: {error}");
        }
        let team = site_db.create_team(ada, "Reds", "", NOW).await.unwrap().id;
        let reds = new_account("reds", SignUpGrant::Open(Role::Author));
        assert!(matches!(site_db.create_account(&reds).await, Err(SiteDbError::Taken { .. })));
        site_db.remove_team_member(team, ada, ada, NOW).await.unwrap();
        site_db.create_account(&reds).await.unwrap();
    });
}

#[test]
fn bot_of_a_team_counts_for_each_member_and_leaving_frees_no_place() {
    run(async {
        let site_db = open_site_db().await;
        let [ada, bob] = [
            account(&site_db, "Ada", Role::Author).await.id,
            account(&site_db, "Bob", Role::Author).await.id,
        ];
        competition(&site_db, "cup", Some(2)).await;
        let reds = site_db.create_team(ada, "Reds", "", NOW).await.unwrap().id;
        join(&site_db, reds, ada, bob).await.unwrap();
        enter_for(&site_db, "cup", ada, reds, "One").await.unwrap();
        enter_alone(&site_db, "cup", bob, "Two").await.unwrap();
        // Bob has two bots: one of his own, and one of the team.
        let full =
            |done: Result<(), SiteDbError>| assert!(matches!(done, Err(SiteDbError::TooMany { limit: 2 })));
        full(enter_alone(&site_db, "cup", bob, "Three").await);
        full(enter_for(&site_db, "cup", ada, reds, "Three").await);
        // Neither a second team nor leaving the first gives more.
        let blues = site_db.create_team(bob, "Blues", "", NOW).await.unwrap().id;
        full(enter_for(&site_db, "cup", bob, blues, "Three").await);
        site_db.remove_team_member(reds, bob, bob, NOW).await.unwrap();
        full(enter_alone(&site_db, "cup", bob, "Three").await);
        assert_eq!(site_db.counted_entrants("cup", bob).await.unwrap().len(), 2);
        // Ada has one place left.
        enter_alone(&site_db, "cup", ada, "Four").await.unwrap();
        full(enter_alone(&site_db, "cup", ada, "Five").await);
    });
}

#[test]
fn account_cannot_join_a_team_whose_bots_exceed_its_limit() {
    run(async {
        let site_db = open_site_db().await;
        let [ada, bob] = [
            account(&site_db, "Ada", Role::Author).await.id,
            account(&site_db, "Bob", Role::Author).await.id,
        ];
        competition(&site_db, "cup", Some(1)).await;
        let reds = site_db.create_team(ada, "Reds", "", NOW).await.unwrap().id;
        enter_for(&site_db, "cup", ada, reds, "One").await.unwrap();
        enter_alone(&site_db, "cup", bob, "Two").await.unwrap();
        let error = join(&site_db, reds, ada, bob).await.unwrap_err();
        assert!(error.to_string().contains("The cup"), "{error}");
        // A finished competition does not matter.
        site_db.set_state("cup", &[CompetitionState::Open], CompetitionState::Finished, None).await.unwrap();
        join(&site_db, reds, ada, bob).await.unwrap();
    });
}

#[test]
fn invitation_is_for_one_account_or_for_everyone_with_the_link_until_it_expires() {
    run(async {
        let site_db = open_site_db().await;
        let [ada, bob, eve] = [
            account(&site_db, "Ada", Role::Author).await.id,
            account(&site_db, "Bob", Role::Author).await.id,
            account(&site_db, "Eve", Role::Author).await.id,
        ];
        let team = site_db.create_team(ada, "Reds", "", NOW).await.unwrap().id;
        let own = site_db.invite_to_team(team, ada, TeamInvitee::Account(bob), LATER, NOW).await.unwrap();
        assert!(site_db.join_team(own.id, eve, NOW).await.is_err(), "it is for Bob");
        assert!(site_db.join_team(own.id, bob, LATER).await.is_err(), "it has expired");
        site_db.join_team(own.id, bob, NOW).await.unwrap();
        assert!(site_db.join_team(own.id, bob, NOW).await.is_err(), "it was used");
        let link = TeamInvitee::Link(hash("code"));
        let link = site_db.invite_to_team(team, ada, link, LATER, NOW).await.unwrap();
        assert_eq!(site_db.team_invitation_by_code(hash("code"), NOW).await.unwrap(), Some(link.clone()));
        assert_eq!(site_db.team_invitation_by_code(hash("code"), LATER).await.unwrap(), None);
        assert!(site_db.remove_team_invitation(link.id, bob).await.is_err());
        site_db.join_team(link.id, eve, NOW).await.unwrap();
        site_db.remove_team_invitation(link.id, ada).await.unwrap();
        assert_eq!(site_db.team_invitations(team, NOW).await.unwrap(), []);
    });
}

#[test]
fn team_has_a_maximum_number_of_members() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada", Role::Author).await.id;
        let team = site_db.create_team(ada, "Reds", "", NOW).await.unwrap().id;
        for number in 1..MAX_TEAM_MEMBERS {
            let other = account(&site_db, &format!("Member {number}"), Role::Author).await.id;
            join(&site_db, team, ada, other).await.unwrap();
        }
        let more = account(&site_db, "One more", Role::Author).await.id;
        assert!(matches!(join(&site_db, team, ada, more).await, Err(SiteDbError::TooMany { .. })));
    });
}

fn comment(account: AccountId, text: &str, parent: Option<i64>) -> NewComment {
    NewComment {
        competition: "cup".to_owned(),
        subject: "bot/1".to_owned(),
        account,
        parent,
        text: text.to_owned(),
        at: NOW,
    }
}

#[test]
fn comment_is_changed_by_its_author_and_hidden_by_an_organiser() {
    run(async {
        let site_db = open_site_db().await;
        let [ada, bob, org] = [
            account(&site_db, "Ada", Role::Author).await.id,
            account(&site_db, "Bob", Role::Author).await.id,
            account(&site_db, "Org", Role::Organiser).await.id,
        ];
        competition(&site_db, "cup", None).await;
        let first = site_db.add_comment(&comment(ada, " Well\r\nplayed. ", None)).await.unwrap();
        assert_eq!((first.comment.text.as_str(), first.author.as_str()), ("Well\nplayed.", "Ada"));
        let answer = site_db.add_comment(&comment(bob, "Thanks.", Some(first.id))).await.unwrap();
        let nested = site_db.add_comment(&comment(ada, "Welcome.", Some(answer.id))).await.unwrap();
        assert_eq!(nested.comment.parent, Some(first.id), "answers have one level");
        assert!(site_db.edit_comment(first.id, bob, "no", LATER).await.is_err());
        assert!(site_db.delete_comment(first.id, bob, LATER).await.is_err());
        let edited = site_db.edit_comment(first.id, ada, "Well done.", LATER).await.unwrap();
        assert_eq!((edited.comment.text.as_str(), edited.edited), ("Well done.", Some(LATER)));
        assert!(site_db.report_comment(first.id, ada, "mine", NOW).await.is_err());
        site_db.report_comment(first.id, bob, "rude", NOW).await.unwrap();
        site_db.report_comment(first.id, bob, "very rude", NOW).await.unwrap();
        let page = PageRequest::default();
        assert_eq!(site_db.reported_comments(page).await.unwrap().items.len(), 1);
        assert_eq!(site_db.report_reasons(first.id).await.unwrap(), ["very rude"]);
        let hidden = site_db.hide_comment(first.id, org, Some("rude"), LATER).await.unwrap();
        assert_eq!((hidden.reason.as_deref(), hidden.reports), (Some("rude"), 0));
        assert!(site_db.edit_comment(first.id, ada, "x", LATER).await.is_err(), "it is hidden");
        assert!(site_db.add_comment(&comment(bob, "x", Some(first.id))).await.is_err());
        assert_eq!(site_db.reported_comments(page).await.unwrap().items, []);
        site_db.delete_comment(answer.id, bob, LATER).await.unwrap();
        let listed = site_db.comments("cup", "bot/1", page).await.unwrap().items;
        let texts: Vec<&str> = listed.iter().map(|one| one.comment.text.as_str()).collect();
        assert_eq!(texts, ["Welcome.", "", "Well done."]);
        site_db.switch_comments("cup", false).await.unwrap();
        assert!(!site_db.has_comments("cup").await.unwrap());
        assert!(site_db.add_comment(&comment(ada, "x", None)).await.is_err());
        site_db.switch_comments("cup", true).await.unwrap();
        for wrong in ["", "  ", "a\0b", "x".repeat(MAX_COMMENT_CHARS + 1).as_str()] {
            assert!(site_db.add_comment(&comment(ada, wrong, None)).await.is_err());
        }
    });
}

#[test]
fn search_finds_names_by_the_beginnings_of_words_and_hides_what_is_not_public() {
    run(async {
        let site_db = open_site_db().await;
        let ada = account(&site_db, "Ada Lovelace", Role::Author).await.id;
        account(&site_db, "Zoë", Role::Author).await;
        competition(&site_db, "spring-cup", None).await;
        let bot = enter(&site_db, "spring-cup", ada, "Lovely Engine").await;
        site_db.create_team(ada, "Reds", "", NOW).await.unwrap();
        let names = async |query: &str, kind, all| -> Vec<String> {
            let found = site_db.search(query, kind, all, 50).await.unwrap();
            found.into_iter().map(|hit| hit.name).collect()
        };
        assert_eq!(names("love", SearchKind::Person, false).await, ["Ada Lovelace"]);
        assert_eq!(names("LOVE ad", SearchKind::Person, false).await, ["Ada Lovelace"]);
        assert_eq!(names("zoe", SearchKind::Person, false).await, ["Zoë"]);
        assert_eq!(names("red", SearchKind::Team, false).await, ["Reds"]);
        assert_eq!(names("spring", SearchKind::Competition, false).await, ["The spring-cup"]);
        for nothing in ["", "ovelace", "\" OR *", "ada bob"] {
            assert_eq!(names(nothing, SearchKind::Person, false).await, [""; 0], "{nothing}");
        }
        assert_eq!(names("lovely", SearchKind::Bot, false).await, [""; 0], "it was never accepted");
        site_db.rename_entrant(bot.id, "Analytical").await.unwrap();
        assert_eq!(names("lovely", SearchKind::Bot, true).await, [""; 0], "it has another name");
        site_db.set_disabled(ada, true, NOW).await.unwrap();
        assert_eq!(names("love", SearchKind::Person, false).await, [""; 0]);
        assert_eq!(names("love", SearchKind::Person, true).await, ["Ada Lovelace"]);
        let hide = agon_site_db::CompetitionPatch { public: Some(false), ..Default::default() };
        site_db.edit_competition("spring-cup", CompetitionState::ALL, &hide).await.unwrap();
        assert_eq!(names("spring", SearchKind::Competition, false).await, [""; 0]);
        assert_eq!(names("spring", SearchKind::Competition, true).await, ["The spring-cup"]);
    });
}
