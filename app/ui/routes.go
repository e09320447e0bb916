package ui

import (
	"errors"
	"net/http"
	"path"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/web"
)

// need says who may have a page.
type need string

// The needs. A viewer has mayRead, staff mayWrite besides, an administrator all.
const (
	anyone        need = ""
	invited       need = "invited"   // anyone, also before there is an administrator
	signedIn      need = "signed in" // also while a second factor has to be set up first
	mayRead            = need(model.PermRead)
	mayWrite           = need(model.PermWrite)
	mayAdminister      = need(model.PermAdmin)
)

// handler answers a request of somebody who may have the page; its error becomes one
// in failure.go.
type handler func(w http.ResponseWriter, r *http.Request, who visitor) error

// route is one line of the table. The pattern is that of http.ServeMux. A handler
// whose body is raw reads it by itself; of any other POST the form was read.
type route struct {
	pattern string
	need    need
	handle  handler
	raw     bool
}

// routes is every page and every form behind it.
func (p *pages) routes() []route { //nolint:funlen // a table
	return []route{
		{"GET /{$}", mayRead, p.desk, false},
		{"GET /documents/latest", mayRead, p.deskLatest, false},
		{"GET /sign-in", anyone, p.signInPage, false},
		{"POST /sign-in", anyone, p.signIn, false},
		{"GET /sign-in/code", anyone, p.codePage, false},
		{"POST /sign-in/code", anyone, p.code, false},
		{"POST /sign-out", signedIn, p.signOut, false},

		{"GET /join/{token}", invited, p.joinPage, false},
		{"POST /join/{token}", invited, p.join, true},

		{"GET /docs", invited, p.docs, false},

		{"GET /trash", mayWrite, p.trashList, false},
		{"POST /trash", mayWrite, p.restoreTrash, false},
		{"GET " + purgePath, mayAdminister, p.purgePage, false},
		{"POST " + purgePath, mayAdminister, p.purge, false},
		{"GET " + emptyPath, mayAdminister, p.emptyTrashPage, false},
		{"POST " + emptyPath, mayAdminister, p.emptyTrash, false},
		{"GET /admin/templates", mayAdminister, p.templateList, false},
		{"POST /admin/templates", mayAdminister, p.createTemplate, false},
		{"GET /admin/templates/{n}", mayAdminister, p.templatePage, false},
		{"POST /admin/templates/{n}", mayAdminister, p.changeTemplate, false},
		{"POST /admin/templates/{n}/{use}", mayAdminister, p.useTemplate, false},
		{"GET /admin/fields", mayAdminister, p.orderFieldPage, false},
		{"POST /admin/fields", mayAdminister, p.changeOrderFields, false},
		{"GET /admin/statuses", mayAdminister, p.orderStatusPage, false},
		{"POST /admin/statuses", mayAdminister, p.changeOrderStatuses, false},
		{"GET /me", signedIn, p.account, false},
		{"POST /me/password", signedIn, p.changePassword, false},
		{"POST /me/second-factor", signedIn, p.beginFactor, false},
		{"POST /me/second-factor/confirm", signedIn, p.confirmFactor, false},
		{"POST /me/second-factor/codes", signedIn, p.newCodes, false},
		{"POST /me/second-factor/codes.txt", signedIn, p.saveCodes, false},
		{"POST /me/second-factor/remove", signedIn, p.removeFactor, false},
		{"POST /me/sessions/end", signedIn, p.endSession, false},
		{"POST /me/sessions/end-others", signedIn, p.endOthers, false},
		{"POST /me/sessions/end-all", signedIn, p.endAll, false},

		{"GET /admin", mayAdminister, p.admin, false},
		{"GET /admin/users", mayAdminister, p.users, false},
		{"POST /admin/users", mayAdminister, p.invite, false},
		{"GET /admin/users/new", mayAdminister, p.newUser, false},
		{"GET /admin/users/{n}", mayAdminister, p.user, false},
		{"POST /admin/users/{n}/name", mayAdminister, p.renameUser, false},
		{"POST /admin/users/{n}/role", mayAdminister, p.setRole, false},
		{"POST /admin/users/{n}/reset", mayAdminister, p.resetUser, false},
		{"POST /admin/users/{n}/disable", mayAdminister, p.disableUser, false},
		{"POST /admin/users/{n}/enable", mayAdminister, p.enableUser, false},
		{"GET /admin/keys", mayAdminister, p.keys, false},
		{"POST /admin/keys", mayAdminister, p.createKey, false},
		{"GET /admin/keys/new", mayAdminister, p.newKey, false},
		{"GET /admin/keys/{n}", mayAdminister, p.key, false},
		{"POST /admin/keys/{n}/rotate", mayAdminister, p.rotateKey, false},
		{"POST /admin/keys/{n}/revoke", mayAdminister, p.revokeKey, false},
		{"GET /find", mayRead, p.find, false},
		{"GET /find/box", mayRead, p.findBox, false},
		{"GET /find/how", mayRead, p.findHow, false},
		{"POST /documents/retry", mayWrite, p.retryAll, false},
		{"GET /orders", mayRead, p.orderList, false},
		{"POST /orders", mayWrite, p.createOrder, false},
		{"GET /orders/new", mayWrite, p.newOrderPage, false},
		{"GET /orders/number", mayRead, p.orderNumber, false},
		{"GET /orders/{id}", mayRead, p.orderPage, false},
		{"POST /orders/{id}", mayWrite, p.changeOrder, false},
		{"POST /orders/{id}/status", mayWrite, p.orderStatus, false},
		{"POST /orders/{id}/trash", mayWrite, p.trashOrder, false},
		{"POST /orders/{id}/restore", mayWrite, p.restoreOrder, false},
		{"GET /orders/{id}/history", mayRead, p.orderHistory, false},
		{"GET /documents/{n}", mayRead, p.document, false},
		{"GET /documents/{n}/pages/{page}", mayRead, p.pagePicture, false},
		{"GET /documents/{n}/pages/{page}/marks", mayRead, p.marks, false},
		{"GET /documents/{n}/find", mayRead, p.findIn, false},
		{"GET /documents/{n}/thumbnail", mayRead, p.thumbnail, false},
		{"GET /documents/{n}/text", mayRead, p.readText, false},
		{"GET /documents/{n}/download", mayRead, p.saved, false},
		{"GET /documents/{n}/original", mayRead, p.original, false},
		{"GET /documents/{n}/print", mayRead, p.printed, false},
		{"GET /documents/{n}/row", mayRead, p.documentRow, false},
		{"POST /documents/{n}/rename", mayWrite, p.renameDocument, false},
		{"POST /documents/{n}/trash", mayWrite, p.trashDocument, false},
		{"POST /documents/{n}/restore", mayWrite, p.restoreDocument, false},
		{"POST /documents/{n}/retry", mayWrite, p.retryDocument, false},
		{"GET /abstracts/{id}/zip", mayRead, p.zipAbstract, false},
		{"GET /abstracts", mayRead, p.abstractList, false},
		{"POST /abstracts", mayWrite, p.createAbstract, false},
		{"GET /abstracts/new", mayWrite, p.newAbstractPage, false},
		{"POST /abstracts/new", mayWrite, p.newAbstractAgain, false},
		{"GET /abstracts/{id}", mayRead, p.abstract, false},
		{"POST /abstracts/{id}", mayWrite, p.changeAbstract, false},
		{"POST /abstracts/{id}/status", mayWrite, p.abstractStatus, false},
		{"POST /abstracts/{id}/order", mayWrite, p.abstractOrder, false},
		{"POST /abstracts/{id}/trash", mayWrite, p.trashAbstract, false},
		{"POST /abstracts/{id}/restore", mayWrite, p.restoreAbstract, false},
		{"GET /abstracts/{id}/history", mayRead, p.abstractHistory, false},
		{"GET /abstracts/{id}/documents", mayRead, p.documentsState, false},
		{"OPTIONS /uploads", anyone, p.uploadOptions, true},
		{"POST /uploads", anyone, p.tus(p.uploadBegin), true},
		{"GET /uploads/{id}", anyone, p.tus(p.uploadShow), true},
		{"PATCH /uploads/{id}", anyone, p.tus(p.uploadWrite), true},
		{"DELETE /uploads/{id}", anyone, p.tus(p.uploadCancel), true},
		{"POST /abstracts/{id}/documents", mayWrite, p.sendToAbstract, true},
		{"GET /vault", mayRead, p.folder, false},
		{"POST /vault", mayWrite, p.createFolder, false},
		{"GET /vault/{n}", mayRead, p.folder, false},
		{"POST /vault/{n}/rename", mayWrite, p.renameFolder, false},
		{"POST /vault/{n}/move", mayWrite, p.moveFolder, false},
		{"POST /vault/{n}/remove", mayWrite, p.removeFolder, false},
		{"GET /vault/{n}/zip", mayRead, p.zipFolder, false},
		{"POST /documents/move", mayWrite, p.moveDocuments, false},
		{"POST /documents/trash", mayWrite, p.trashDocuments, false},
		{"POST /vault/documents", mayWrite, p.sendToFolder, true},
		{"POST /vault/{n}/documents", mayWrite, p.sendToFolder, true},

		{"GET /admin/activity", mayAdminister, p.activity, false},
		{"GET /admin/activity.csv", mayAdminister, p.activityCSV, false},
		{"GET /admin/activity/verify", mayAdminister, p.activityCheck, false},
		{"POST /admin/activity/verify", mayAdminister, p.verifyActivity, false},
		{"GET /admin/backups", mayAdminister, p.backups, false},
		{"GET /admin/backups/{part}", mayAdminister, p.backupPart, false},
		{"POST /admin/backups", mayAdminister, p.runBackup, false},
		{"POST /admin/backups/verify", mayAdminister, p.verifyBackup, false},
		{"GET /admin/settings", mayAdminister, p.settings, false},
		{"POST /admin/settings", mayAdminister, p.examine, false},
		{"GET /admin/search", mayAdminister, p.searchCard, false},
		{"POST /admin/search", mayAdminister, p.reindex, false},
	}
}

func isAsset(address string) bool { return strings.HasPrefix(address, web.AssetPath) }

// mount registers a table of pages.
func (p *pages) mount(table []route) {
	p.mux = http.NewServeMux()
	for _, r := range table {
		p.mux.Handle(r.pattern, p.admit(r))
	}
}

// serve finds the page of an address as it was sent: http.ServeMux would lead other
// spellings to it. What is not in the table is a page that says so.
func (p *pages) serve(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/") && path.Clean(r.URL.Path) == r.URL.Path {
		h, pattern := p.mux.Handler(r)
		if pattern != "" {
			p.mux.ServeHTTP(w, r)
			return
		}
		p.nowhere(w, r, h)
		return
	}
	p.nowhere(w, r, http.NotFoundHandler())
}

// nowhere answers what no page answers; h knows whether it is the address or the
// method that there is none of.
func (p *pages) nowhere(w http.ResponseWriter, r *http.Request, h http.Handler) {
	said := &verdict{header: http.Header{}}
	h.ServeHTTP(said, r)
	leaveForm(w, r)
	who, err := p.whoever(r)
	switch {
	case err != nil:
	case said.status == http.StatusMethodNotAllowed:
		w.Header()["Allow"] = said.header["Allow"]
		err = &formError{http.StatusMethodNotAllowed, "This cannot be done here", "This address is not used that way."}
	default:
		err = absentPath(r)
	}
	p.fail(w, r, who, err)
}

// verdict takes down what a handler says, without its words.
type verdict struct {
	header http.Header
	status int
}

func (v *verdict) Header() http.Header         { return v.header }
func (v *verdict) Write(b []byte) (int, error) { return len(b), nil }
func (v *verdict) WriteHeader(status int)      { v.status = status }

// admit asks in order: is anybody at home, who is it, was it sent from here, may they;
// and reads the form.
func (p *pages) admit(to route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := p.let(to, w, r)
		if back, ok := errors.AsType[*unsent](err); ok {
			defer back.done()
		}
		if err == nil && to.form(r) {
			var done func()
			if done, err = p.form(w, r, who, to.need); err == nil {
				defer done()
			}
		}
		if err == nil {
			err = to.handle(w, r, who)
		}
		if err != nil {
			p.fail(w, r, who, err)
		}
	})
}

func (p *pages) let(to route, w http.ResponseWriter, r *http.Request) (who visitor, err error) {
	if who, err = p.whoever(r); err != nil && (to.need != invited || !errors.Is(err, errClosed)) {
		leaveForm(w, r)
		return who, err
	}
	if err := p.origins.Check(r); err != nil {
		leaveForm(w, r)
		return who, &errs.Error{Kind: errs.Forbidden, Message: "This was not sent from a page of this service. Open the page anew and try again.", Err: err}
	}
	if err := may(who, to.need); err != nil {
		if errors.Is(err, errSignIn) {
			if held := p.held(to, w, r); held != nil {
				return who, held
			}
		}
		leaveForm(w, r)
		if errors.Is(err, errSignIn) && p.token(r) != "" {
			err = errEnded
		}
		return who, err
	}
	if to.reads() {
		return who, p.tooFast(w, who)
	}
	return who, nil
}

// form reports whether a request brings a form that is read for its handler.
func (to route) form(r *http.Request) bool {
	return !to.raw && r.Method != http.MethodGet && r.Method != http.MethodHead
}

// may is nil when the visitor may have a page of that need.
func may(who visitor, need need) error {
	switch {
	case need == anyone, need == invited:
		return nil
	case !who.Known():
		return errSignIn
	case need == signedIn:
		return nil
	case who.Role == "":
		return errEnroll
	case !who.Role.Can(model.Permission(need)):
		return &errs.Error{Kind: errs.Forbidden, Message: "Your role does not allow this. An administrator of this service can change that."}
	}
	return nil
}
