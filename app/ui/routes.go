package ui

import (
	"net/http"
	"path"
	"strings"

	"deedkeep/app/title"
	"deedkeep/web"
)

// need says who may have a page.
type need string

// The needs. A viewer has mayRead, staff mayWrite besides, an administrator all.
const (
	anyone        need = ""
	signedIn      need = "signed in" // also while a second factor has to be set up first
	mayRead            = need(title.MayRead)
	mayWrite           = need(title.MayWrite)
	mayAdminister      = need(title.MayAdminister)
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
func (p *pages) routes() []route {
	return []route{
		{"GET /{$}", mayRead, p.desk, false},
		{"GET /sign-in", anyone, p.signInPage, false},
		{"POST /sign-in", anyone, p.signIn, false},
		{"POST /sign-out", signedIn, p.signOut, false},

		{"GET /trash", mayWrite, p.trashList, false},
		{"POST /trash", mayWrite, p.restoreTrash, false},
		{"GET /admin/templates", mayAdminister, p.templateList, false},
		{"POST /admin/templates", mayAdminister, p.createTemplate, false},
		{"GET /admin/templates/{n}", mayAdminister, p.templatePage, false},
		{"POST /admin/templates/{n}", mayAdminister, p.changeTemplate, false},
		{"POST /admin/templates/{n}/{use}", mayAdminister, p.useTemplate, false},
		{"GET /admin/fields", mayAdminister, p.orderFieldPage, false},
		{"POST /admin/fields", mayAdminister, p.changeOrderFields, false},
		{"GET /admin/statuses", mayAdminister, p.orderStatusPage, false},
		{"POST /admin/statuses", mayAdminister, p.changeOrderStatuses, false},
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
	}
}

func isAsset(path string) bool { return strings.HasPrefix(path, web.AssetPath) }

// mount registers the table.
func (p *pages) mount() {
	p.mux = http.NewServeMux()
	for _, r := range p.routes() {
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
	who, err := p.visitor(r)
	switch {
	case err != nil:
	case said.status == http.StatusMethodNotAllowed:
		w.Header()["Allow"] = said.header["Allow"]
		err = &errForm{http.StatusMethodNotAllowed, "This cannot be done here", "This address is not used that way."}
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

// admit asks in order: was it sent from here, who is it, may they; and reads the form.
func (p *pages) admit(to route) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		who, err := p.let(to, w, r)
		if err == nil {
			err = to.handle(w, r, who)
		}
		if err != nil {
			p.fail(w, r, who, err)
		}
	})
}

func (p *pages) let(to route, w http.ResponseWriter, r *http.Request) (who visitor, err error) {
	if err := p.origins.Check(r); err != nil {
		leaveForm(w, r)
		return who, &title.Error{Kind: title.Forbidden, Message: "This was not sent from a page of this service. Open the page anew and try again.", Err: err}
	}
	if who, err = p.visitor(r); err != nil {
		leaveForm(w, r)
		return who, err
	}
	if err := may(who, to.need); err != nil {
		leaveForm(w, r)
		return who, err
	}
	if to.raw || r.Method == http.MethodGet || r.Method == http.MethodHead {
		return who, nil
	}
	return who, readForm(w, r, p.FormBytes)
}

// may is nil when the visitor may have a page of that need.
func may(who visitor, need need) error {
	switch {
	case need == anyone:
		return nil
	case !who.Known():
		return errSignIn
	case need == signedIn:
		return nil
	case who.Role == "":
		return errEnrol
	case !who.Role.May(title.Right(need)):
		return &title.Error{Kind: title.Forbidden, Message: "Your role does not allow this. An administrator of this service can change that."}
	}
	return nil
}
