// Package admin serves the pages for administrators: templates, fields, statuses, users, API keys,
// activity, backups, and settings.
package admin

import (
	"net/http"
	"sync"

	"deedkeep/app/demo"
	"deedkeep/app/txn"
	"deedkeep/app/ui/page"
)

// Pages contains the handlers of this package's pages.
type Pages struct {
	*page.Site
	diagnosing sync.Mutex // held while the diagnostics are running
	example    txn.Task[demo.Result]
}

// New returns the handlers of this package's pages.
func New(s *page.Site) *Pages {
	p := &Pages{Site: s}
	if s.App != nil { // it is nil in tests of the routes
		p.example.DB = s.App.DB
	}
	return p
}

// Routes returns the routes of the pages.
func (p *Pages) Routes() []page.Route {
	return append(p.userRoutes(), []page.Route{
		page.NewRoute("GET /admin/templates", page.MayAdminister, p.templateListPage),
		page.NewRoute("POST /admin/templates", page.MayAdminister, p.createTemplate),
		page.NewRoute("GET /admin/templates/{n}", page.MayAdminister, p.showDefinitions(p.templateEditor)),
		page.NewRoute("POST /admin/templates/{n}", page.MayAdminister, p.changeDefinitions(p.templateEditor)),
		page.NewRoute("POST /admin/templates/{n}/{use}", page.MayAdminister, p.setTemplateUse),
		page.NewRoute("GET /admin/fields", page.MayAdminister, p.showDefinitions(p.orderFieldEditor)),
		page.NewRoute("POST /admin/fields", page.MayAdminister, p.changeDefinitions(p.orderFieldEditor)),
		page.NewRoute("GET /admin/statuses", page.MayAdminister, p.showDefinitions(p.orderStatusEditor)),
		page.NewRoute("POST /admin/statuses", page.MayAdminister, p.changeDefinitions(p.orderStatusEditor)),
		page.NewRoute("GET "+typesPath, page.MayAdminister, p.documentTypesPage),
		page.NewRoute("POST "+typesPath, page.MayAdminister, p.changeTypes),
		page.NewRoute("GET "+phrasesPath, page.MayAdminister, p.phrasesPage),
		page.NewRoute("POST "+phrasesPath, page.MayAdminister, p.changePhrases),
		page.NewRoute("GET /admin", page.MayAdminister, p.adminPage),
		page.NewRoute("GET /admin/keys", page.MayAdminister, p.keyListPage),
		page.NewRoute("POST /admin/keys", page.MayAdminister, p.createKey),
		page.NewRoute("GET /admin/keys/new", page.MayAdminister, p.newKeyPage),
		page.NewRoute("GET /admin/keys/{n}", page.MayAdminister, p.keyPage),
		page.NewRoute("POST /admin/keys/{n}/rotate", page.MayAdminister, p.rotateKey),
		page.NewRoute("POST /admin/keys/{n}/revoke", page.MayAdminister, p.revokeKey),
		page.NewRoute("GET /admin/activity", page.MayAdminister, p.activityPage),
		page.NewRoute("GET /admin/activity.csv", page.MayAdminister, p.activityCSV),
		page.NewRoute("GET /admin/activity/verify", page.MayAdminister, p.auditVerificationPart),
		page.NewRoute("POST /admin/activity/verify", page.MayAdminister, p.verifyAuditLog),
		page.NewRoute("GET /admin/backups", page.MayAdminister, p.backupPage),
		page.NewRoute("GET /admin/backups/{part}", page.MayAdminister, p.backupPart),
		page.NewRoute("POST /admin/backups", page.MayAdminister, p.runBackup),
		page.NewRoute("POST /admin/backups/verify", page.MayAdminister, p.verifyBackup),
		page.NewRoute("GET /admin/settings", page.MayAdminister, p.settingsPage),
		page.NewRoute("POST /admin/settings", page.MayAdminister, p.runDiagnostics),
		page.NewRoute("GET /admin/settings/{group}", page.MayAdminister, p.settingGroupPage),
		page.NewRoute("POST /admin/settings/{group}", page.MayAdminister, p.changeSettings),
		page.NewRawRoute("POST /admin/settings/firm", page.MayAdminister, p.changeFirm),
		page.NewRoute("GET /logo/{version}", page.Anyone, p.logo),
		page.NewRoute("GET /admin/settings/patterns", page.MayAdminister, p.patternsPage),
		page.NewRoute("POST /admin/settings/patterns", page.MayAdminister, p.changePatterns),
		page.NewRoute("GET /admin/settings/restart", page.MayAdminister, p.restartPage),
		page.NewRoute("POST /admin/settings/restart", page.MayAdminister, p.restartServer),
		page.NewRoute("GET /admin/setup/{step}", page.MayAdminister, p.setupPage),
		page.NewRoute("POST /admin/setup/{step}", page.MayAdminister, p.submitSetup),
		page.NewRawRoute("POST /admin/setup/firm", page.MayAdminister, p.submitFirm),
		page.NewRoute("GET /admin/setup/example", page.MayAdminister, p.examplePage),
		page.NewRoute("POST /admin/setup/example", page.MayAdminister, p.fillExample),
		page.NewRoute("GET /admin/search", page.MayAdminister, p.searchIndexPart),
		page.NewRoute("POST /admin/search", page.MayAdminister, p.reindex),
	}...)
}

// userRoutes returns the routes of the pages of users.
func (p *Pages) userRoutes() []page.Route {
	return []page.Route{
		page.NewRoute("GET /admin/users", page.MayAdminister, p.userListPage),
		page.NewRoute("POST /admin/users", page.MayAdminister, p.inviteUser),
		page.NewRoute("GET /admin/users/new", page.MayAdminister, p.newUserPage),
		page.NewRoute("GET /admin/users/{n}", page.MayAdminister, p.userPage),
		page.NewRoute("POST /admin/users/{n}/name", page.MayAdminister, p.renameUser),
		page.NewRoute("POST /admin/users/{n}/profile", page.MayAdminister, p.setProfile),
		page.NewRoute("POST /admin/users/{n}/away", page.MayAdminister, p.setAway),
		page.NewRoute("POST /admin/users/{n}/role", page.MayAdminister, p.setRole),
		page.NewRoute("POST /admin/users/{n}/reset", page.MayAdminister, p.resetUser),
		page.NewRoute("POST /admin/users/{n}/disable", page.MayAdminister, p.disableUser),
		page.NewRoute("POST /admin/users/{n}/enable", page.MayAdminister, p.enableUser),
	}
}

// adminPage shows links to all administration pages.
func (p *Pages) adminPage(r *page.Request) error {
	return p.RenderPage(r, http.StatusOK, "admin.html", page.Page{Heading: "Administration", Section: "admin"})
}
