package admin

import (
	"cmp"
	"net"
	"net/http"
	"net/url"
	"slices"

	"deedkeep/app/config"
	"deedkeep/app/demo"
	"deedkeep/app/ui/page"
)

// setupStep is a page of the setup, which leads the first administrator through the settings that a new server needs.
// Each step can be skipped.
type setupStep struct {
	Name, Label, Text string
	Keys              []string // settings of the step
}

// setupSteps returns the steps in their order.
func setupSteps() []setupStep {
	return []setupStep{
		{"firm", "Your firm", "Pages, search certificates, and prints show who you are, and times are those of your office.",
			[]string{"firm.name", "firm.address", "firm.phone", "firm.email", "time_zone"}},
		{"two-factor", "Two-factor authentication", "A code from your phone protects your account if someone learns your password.", nil},
		{"access", "Access", "Choose which computers can open deedkeep.", nil},
		{"backup", "Backups", "A copy on another disk or a share protects your records if this computer fails.",
			[]string{"backup.to", "backup.every"}},
		{"retention", "Retention", "deedkeep keeps abstracts and their documents for a minimum time, even if someone deletes them.",
			[]string{"trash.keep", "retention.keep"}},
		{"done", "Ready", "You can change all of this later under Settings.", nil},
	}
}

// setupView is the template data of a step.
type setupView struct {
	setupStep
	Number, Of     int
	Previous, Next string // addresses; "" for none
	Form           settingForm
	TwoFactor      bool           // whether the user has set it up
	Reach          []accessChoice // for the step "access"
	Host           string         // public name that was entered
	Pending        []config.Editable
	MayRestart     bool
	MayFill        bool // whether the vault can be filled with an example firm
}

// accessChoice is a way to reach the server, with the settings for it.
type accessChoice struct {
	Name, Label, Text string
	Chosen            bool
	values            func(port, host string) map[string]string
}

// accessChoices returns the ways to reach the server. A certificate from Let's Encrypt needs the usual ports.
func accessChoices() []accessChoice {
	return []accessChoice{
		{Name: "computer", Label: "This computer only", Text: "Others can't connect.",
			values: func(port, _ string) map[string]string { return map[string]string{"listen": "127.0.0.1:" + port} }},
		{Name: "office", Label: "The office network, with HTTPS",
			Text: "deedkeep creates its own certificate. Each browser asks once whether to trust it.",
			values: func(port, _ string) map[string]string {
				return map[string]string{"listen": ":" + port, "tls.self_signed": "true"}
			}},
		{Name: "public", Label: "The internet, with HTTPS",
			Text: "For a public host name that points to this computer, with ports 80 and 443 open. The certificate is from Let's Encrypt.",
			values: func(_, host string) map[string]string {
				return map[string]string{"listen": ":443", "tls.automatic": "true", "tls.redirect_listen": ":80", "public_url": "https://" + host}
			}},
		{Name: "proxy", Label: "A reverse proxy on this computer", Text: "nginx, Caddy, or IIS provides HTTPS for the public host name.",
			values: func(port, host string) map[string]string {
				return map[string]string{"listen": "127.0.0.1:" + port, "trusted_proxies": "127.0.0.1", "public_url": "https://" + host}
			}},
	}
}

// setupPage shows a step of the setup.
func (p *Pages) setupPage(r *page.Request) error {
	view, err := p.newSetupView(r)
	if err != nil {
		return err
	}
	return p.showSetup(r, http.StatusOK, view)
}

func (p *Pages) newSetupView(r *page.Request) (view setupView, err error) {
	steps := setupSteps()
	at := slices.IndexFunc(steps, func(s setupStep) bool { return s.Name == r.PathValue("step") })
	if at < 0 {
		return view, page.NotFound(r)
	}
	view = setupView{setupStep: steps[at], Number: at + 1, Of: len(steps), Pending: p.App.Stored.Pending(), MayRestart: p.Restart != nil}
	if at > 0 {
		view.Previous = page.SetupPath + "/" + steps[at-1].Name
	}
	if at+1 < len(steps) {
		view.Next = page.SetupPath + "/" + steps[at+1].Name
	}
	view.Form = p.newSettingForm(view.group())
	switch view.Name {
	case "two-factor":
		user, err := p.App.Users.Get(r.Context(), r.Actor.ID)
		if err != nil {
			return view, err
		}
		view.TwoFactor = user.TwoFactor != nil
	case "done":
		view.MayFill = demo.Check(r.Context(), p.App) == nil
	case "access":
		view.showAccess(p.App.Stored.Current())
	}
	return view, nil
}

// group returns the settings of the step.
func (s setupStep) group() (group config.Group) {
	for _, g := range config.Groups() {
		for _, e := range g.Settings {
			if slices.Contains(s.Keys, e.Key) || s.Name == "access" && g.Name == "access" {
				group.Settings = append(group.Settings, e)
			}
		}
	}
	return group
}

// showAccess selects the choice that the settings are like.
func (v *setupView) showAccess(c config.Config) {
	chosen := ""
	switch {
	case c.TLS.Automatic:
		chosen = "public"
	case c.TLS.SelfSigned:
		chosen = "office"
	case len(c.TrustedProxies) > 0:
		chosen = "proxy"
	case c.OnLoopback():
		chosen = "computer"
	}
	v.choose(chosen)
	if address, err := url.Parse(c.PublicURL); err == nil {
		v.Host = address.Host
	}
}

func (v *setupView) choose(name string) {
	v.Reach = accessChoices()
	for n := range v.Reach {
		v.Reach[n].Chosen = v.Reach[n].Name == name
	}
}

func (p *Pages) showSetup(r *page.Request, status int, view setupView) error {
	return p.RenderPage(r, status, "setup.html", page.Page{
		Heading: view.Label, Section: "admin", Data: view, Styles: adminStyles, Scripts: []string{"account.js"},
	})
}

// submitSetup stores the settings of a step and leads to the next one.
func (p *Pages) submitSetup(r *page.Request) error {
	view, err := p.newSetupView(r)
	if err != nil {
		return err
	}
	if view.Name == "access" && !p.chooseAccess(r, &view) {
		view.Form.Problem = "Choose who can connect."
		return p.showSetup(r, http.StatusUnprocessableEntity, view)
	}
	group := view.group()
	form, status, err := p.saveSettings(r, group)
	if err != nil {
		return err
	}
	if status != 0 {
		view.Form = form
		return p.showSetup(r, status, view)
	}
	if r.PostForm.Has("test") {
		return p.testBackup(r, r.URL.Path)
	}
	return r.Redirect(cmp.Or(view.Next, r.URL.Path))
}

// chooseAccess sets the form values of the settings for the choice that was submitted. It returns false if there is none.
func (p *Pages) chooseAccess(r *page.Request, view *setupView) (chosen bool) {
	view.choose(r.PostForm.Get("reach"))
	view.Host = r.PostForm.Get("host")
	_, port, err := net.SplitHostPort(p.App.Stored.Current().Listen)
	if err != nil {
		return false
	}
	for _, choice := range view.Reach {
		if !choice.Chosen {
			continue
		}
		chosen = true
		values := choice.values(port, view.Host)
		for _, key := range view.group().Keys() {
			r.PostForm.Set(key, values[key])
		}
	}
	return chosen
}
