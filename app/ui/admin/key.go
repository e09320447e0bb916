package admin

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// ability is a scope of an API key with its description.
type ability struct{ Name, Text string }

// abilities returns all scopes (model.Abilities) with their descriptions.
func abilities() []ability {
	texts := map[string]string{
		model.AbilityAPI:     "Full access: read, upload, change, and delete",
		model.AbilityRead:    "Read-only access: lists, records, and documents",
		model.AbilityEvents:  "Audit log",
		model.AbilityMetrics: "Monitoring metrics",
	}
	var list []ability
	for _, name := range model.Abilities() {
		list = append(list, ability{name, texts[name]})
	}
	return list
}

// option is an option of an HTML select element.
type option struct{ Value, Text string }

var (
	keyLifetimes   = []option{{"30", "30 days"}, {"90", "90 days"}, {"365", "1 year"}, {"never", "Never"}}
	overlapChoices = []option{{"0", "Immediately"}, {"1", "In 1 day"}, {"7", "In 7 days"}, {"30", "In 30 days"}}
)

// parseDays parses a value that must be one of the choices. For other values, it returns an Invalid
// error for the named field.
func parseDays(choices []option, value, field string) (time.Duration, error) {
	if !slices.ContainsFunc(choices, func(c option) bool { return c.Value == value }) {
		return 0, errs.InvalidField(field, "Select one of the options.")
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, nil //nolint:nilerr // "never" is a valid choice but not a number
	}
	return time.Duration(n) * page.Day, nil
}

// keyRow is an API key in the list of keys.
type keyRow struct {
	model.Key
	State string // active, soon (expires within 14 days), expired, revoked
}

// expiresSoon is how long before its expiration a key is marked as expiring soon.
const expiresSoon = 14 * page.Day

func (p *Pages) newKeyRow(key model.Key) keyRow {
	now, line := p.Now(), keyRow{Key: key, State: "active"}
	switch {
	case key.RevokedAt != nil:
		line.State = "revoked"
	case !key.Active(now):
		line.State = "expired"
	case key.ExpiresAt != nil && key.ExpiresAt.Sub(now) < expiresSoon:
		line.State = "soon"
	}
	return line
}

func (p *Pages) keyListPage(r *page.Request) error {
	list, err := p.App.Keys.List(r.Context())
	if err != nil {
		return err
	}
	lines := make([]keyRow, 0, len(list))
	for _, key := range slices.Backward(list) { // newest first; active keys are moved to the top below
		lines = append(lines, p.newKeyRow(key))
	}
	slices.SortStableFunc(lines, func(a, b keyRow) int { return endedRank(a) - endedRank(b) })
	return p.RenderPage(r, http.StatusOK, "keys.html", page.Page{Heading: "API keys", Section: "admin", Data: lines})
}

func endedRank(k keyRow) int {
	if k.State == "revoked" || k.State == "expired" {
		return 1
	}
	return 0
}

// newKeyForm is the template data of the page that creates a key.
type newKeyForm struct {
	Name     string
	Chosen   []string
	Life     string
	Once     string // identifies this form, so that submitting it twice creates only one key
	Problems map[string]string
}

// Abilities returns all available scopes.
func (newKeyForm) Abilities() []ability { return abilities() }

// Lives returns the available key lifetimes.
func (newKeyForm) Lives() []option { return keyLifetimes }

// Has reports whether a scope is selected.
func (f newKeyForm) Has(name string) bool { return slices.Contains(f.Chosen, name) }

func (p *Pages) newKeyPage(r *page.Request) error {
	return p.showNewKeyForm(r, http.StatusOK, newKeyForm{Chosen: []string{model.AbilityAPI}, Life: "365", Once: rand.Text()})
}

func (p *Pages) showNewKeyForm(r *page.Request, status int, form newKeyForm) error {
	return p.RenderPage(r, status, "key-new.html", page.Page{Heading: "Create API key", Section: "admin", Data: form})
}

// createKey creates an API key and shows it. The key can't be shown again.
func (p *Pages) createKey(r *page.Request) error {
	form := newKeyForm{Name: r.PostForm.Get("name"), Chosen: r.PostForm["ability"], Life: r.PostForm.Get("life"), Once: r.PostForm.Get("once")}
	return p.SubmitOnce(r, keyAlreadyShown, func() (string, error) {
		secret, key, err := p.createKeyFromForm(r, form)
		if err == nil {
			return p.RecordPath("key", key.ID), p.showNewKey(r, "API key created", secret, key)
		}
		return "", page.ShowProblems(r, err, func(r *page.Request, status int, problems map[string]string) error {
			form.Problems = problems
			return p.showNewKeyForm(r, status, form)
		})
	})
}

// keyAlreadyShown is the page shown when the form for a key is submitted twice.
var keyAlreadyShown = page.AlreadySubmitted{Text: "This key was already created and can't be shown again.", Path: "/admin/keys", Link: "Go to API key"}

func (p *Pages) createKeyFromForm(r *page.Request, form newKeyForm) (secret string, key model.Key, err error) {
	if len(form.Chosen) == 0 { // the vault would otherwise grant access to the complete API
		return "", key, errs.InvalidField("abilities", "Select at least one permission.")
	}
	lifetime, err := parseDays(keyLifetimes, form.Life, "life")
	if err != nil {
		return "", key, err
	}
	draft := model.KeyDraft{Name: form.Name, Abilities: form.Chosen}
	if lifetime > 0 {
		end := p.Now().Add(lifetime)
		draft.ExpiresAt = &end
	}
	return p.App.Keys.Create(r.Context(), r.Actor, draft)
}

// newKeyView is the template data of the page that shows a new key.
type newKeyView struct {
	model.Key
	Text    string
	Example string // example address for testing the key
}

// showNewKey shows a new key. It can't be shown again because the server stores only its hash.
func (p *Pages) showNewKey(r *page.Request, heading, secret string, key model.Key) error {
	origin, err := p.Origin(r.Request)
	if err != nil {
		return err
	}
	example := ""
	switch has := func(name string) bool { return slices.Contains(key.Abilities, name) }; {
	case has(model.AbilityAPI), has(model.AbilityRead):
		example = origin + "/v1/abstracts"
	case has(model.AbilityEvents):
		example = origin + "/v1/events"
	}
	return p.RenderPage(r, http.StatusOK, "key-shown.html", page.Page{
		Heading: heading, Section: "admin", Data: newKeyView{key, secret, example},
	})
}

// keyPage is the template data of a key's page.
type keyPage struct {
	keyRow
	Once     string // identifies the form that rotates the key
	Problems map[string]string
}

// Overlaps returns how long the old key may remain valid after a rotation.
func (keyPage) Overlaps() []option { return overlapChoices }

func (p *Pages) keyPage(r *page.Request) error {
	return p.showKey(r, http.StatusOK, nil)
}

// showKey shows the page of a key with the problems of one of its forms, if any.
func (p *Pages) showKey(r *page.Request, status int, problems map[string]string) error {
	list, err := p.App.Keys.List(r.Context())
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(k model.Key) bool { return k.ID == r.PathID })
	if at < 0 {
		return page.NotFound(r)
	}
	return p.RenderPage(r, status, "key.html", page.Page{
		Heading: list[at].Name, Section: "admin", Data: keyPage{p.newKeyRow(list[at]), rand.Text(), problems},
	})
}

func (p *Pages) rotateKey(r *page.Request) error {
	return p.SubmitOnce(r, keyAlreadyShown, func() (string, error) {
		var secret string
		var newKey model.Key
		overlap, err := parseDays(overlapChoices, r.PostForm.Get("overlap"), "overlap")
		if err == nil {
			secret, newKey, err = p.App.Keys.Rotate(r.Context(), r.Actor, r.PathID, overlap)
		}
		if err == nil {
			return p.RecordPath("key", newKey.ID), p.showNewKey(r, "Replacement key created", secret, newKey)
		}
		return "", page.ShowProblems(r, err, p.showKey)
	})
}

// revokeKey revokes a key permanently. The form must contain a confirmation.
func (p *Pages) revokeKey(r *page.Request) error {
	if r.PostForm.Get("sure") != "yes" {
		return p.showKey(r, http.StatusUnprocessableEntity, map[string]string{"sure": "Select this box to revoke the key."})
	}
	key, err := p.App.Keys.Revoke(r.Context(), r.Actor, r.PathID)
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, "/admin/keys", "API key revoked: "+key.Name+".")
}
