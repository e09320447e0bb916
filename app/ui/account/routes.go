package account

import "deedkeep/app/ui/page"

// Pages contains the handlers of this package's pages.
type Pages struct{ *page.Site }

// New returns the handlers of this package's pages.
func New(s *page.Site) *Pages { return &Pages{Site: s} }

// Routes returns the routes of the pages.
func (p *Pages) Routes() []page.Route {
	return []page.Route{
		page.NewRoute("GET /sign-in", page.Anyone, p.signInPage),
		page.NewRoute("POST /sign-in", page.Anyone, p.signIn),
		page.NewRoute("GET /sign-in/code", page.Anyone, p.signInCodePage),
		page.NewRoute("POST /sign-in/code", page.Anyone, p.submitCode),
		page.NewRoute("POST /sign-out", page.SignedIn, p.signOut),
		page.NewRoute("GET /join/{token}", page.BeforeSetup, p.invitationPage),
		page.NewRawRoute("POST /join/{token}", page.BeforeSetup, p.acceptInvitation),
		page.NewRoute("GET /me", page.SignedIn, p.accountPage),
		page.NewRoute("POST /me/password", page.SignedIn, p.changePassword),
		page.NewRoute("POST /me/away", page.SignedIn, p.setAway),
		page.NewRoute("POST /me/second-factor", page.SignedIn, p.beginTwoFactor),
		page.NewRoute("POST /me/second-factor/confirm", page.SignedIn, p.confirmTwoFactor),
		page.NewRoute("POST /me/second-factor/codes", page.SignedIn, p.newRecoveryCodes),
		page.NewRoute("POST /me/second-factor/codes.txt", page.SignedIn, p.downloadRecoveryCodes),
		page.NewRoute("POST /me/second-factor/remove", page.SignedIn, p.removeTwoFactor),
		page.NewRoute("POST /me/sessions/end", page.SignedIn, p.endSession),
		page.NewRoute("POST /me/sessions/end-others", page.SignedIn, p.endOtherSessions),
		page.NewRoute("POST /me/sessions/end-all", page.SignedIn, p.endAllSessions),
	}
}
