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

// ability is one that a key may have, in words.
type ability struct{ Name, Text string }

// abilities are those of title.Abilities, in words.
func abilities() []ability {
	texts := map[string]string{
		model.AbilityAPI:     "Everything in the API: read, file, change, move to the trash",
		model.AbilityRead:    "Read only: lists, records, documents",
		model.AbilityEvents:  "The log of who did what",
		model.AbilityMetrics: "Figures for monitoring",
	}
	var list []ability
	for _, name := range model.Abilities() {
		list = append(list, ability{name, texts[name]})
	}
	return list
}

// option is one line of a select.
type option struct{ Value, Text string }

var (
	keyLifetimes   = []option{{"30", "30 days"}, {"90", "90 days"}, {"365", "1 year"}, {"never", "Never"}}
	overlapChoices = []option{{"0", "At once"}, {"1", "In 1 day"}, {"7", "In 7 days"}, {"30", "In 30 days"}}
)

// parseDays reads a choice of days; Invalid names the field for what is none of the choices.
func parseDays(choices []option, value, field string) (time.Duration, error) {
	if !slices.ContainsFunc(choices, func(c option) bool { return c.Value == value }) {
		return 0, errs.InvalidField(field, "Choose one of the list.")
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, nil //nolint:nilerr // "never" is a choice and no number
	}
	return time.Duration(n) * page.Day, nil
}

// newKeyRow is a key as administrators see one.
type keyRow struct {
	model.Key
	State string // active, soon (it expires within 14 days), expired, revoked
}

// expiresSoon is how long before its end a key is marked.
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

func (p *Pages) keyListPage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	list, err := p.Vault.Keys.List(r.Context())
	if err != nil {
		return err
	}
	lines := make([]keyRow, 0, len(list))
	for _, key := range slices.Backward(list) { // the newest first, and what has ended last
		lines = append(lines, p.newKeyRow(key))
	}
	slices.SortStableFunc(lines, func(a, b keyRow) int { return endedRank(a) - endedRank(b) })
	return p.RenderPage(w, r, who, http.StatusOK, "keys.html", page.Page{Heading: "API keys", Section: "admin", Data: lines})
}

func endedRank(k keyRow) int {
	if k.State == "revoked" || k.State == "expired" {
		return 1
	}
	return 0
}

// showNewKeyForm is what the page of making a key shows.
type newKeyForm struct {
	Name     string
	Chosen   []string
	Life     string
	Once     string // of this form: sent twice, it makes one key
	Problems map[string]string
}

// Abilities are all that can be chosen.
func (newKeyForm) Abilities() []ability { return abilities() }

// Lives are the times after which a key can end.
func (newKeyForm) Lives() []option { return keyLifetimes }

// Has reports whether an ability is chosen.
func (f newKeyForm) Has(name string) bool { return slices.Contains(f.Chosen, name) }

func (p *Pages) newKeyPage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	return p.showNewKeyForm(w, r, who, http.StatusOK, newKeyForm{Chosen: []string{model.AbilityAPI}, Life: "365", Once: rand.Text()})
}

func (p *Pages) showNewKeyForm(w http.ResponseWriter, r *http.Request, who page.Visitor, status int, form newKeyForm) error {
	return p.RenderPage(w, r, who, status, "keynew.html", page.Page{Heading: "Make an API key", Section: "admin", Data: form})
}

// createKey makes a key and shows it, once.
func (p *Pages) createKey(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	form := newKeyForm{Name: r.PostForm.Get("name"), Chosen: r.PostForm["ability"], Life: r.PostForm.Get("life"), Once: r.PostForm.Get("once")}
	return p.SubmitOnce(w, r, who, keyAlreadyShown, func() (string, error) {
		text, key, err := p.createKeyFromForm(r, who, form)
		if err == nil {
			return page.KeyPath(key.ID), p.showNewKey(w, r, who, "The key is made", text, key)
		}
		status, problems := page.FormProblems(err)
		if problems == nil {
			return "", err
		}
		form.Problems = problems
		return "", p.showNewKeyForm(w, r, who, status, form)
	})
}

// keyAlreadyShown answers a key's form that was sent before.
var keyAlreadyShown = page.AlreadySubmitted{Text: "This key was made already. It was shown once, and is shown no more.", Path: "/admin/keys", Link: "See it among the API keys"}

func (p *Pages) createKeyFromForm(r *http.Request, who page.Visitor, form newKeyForm) (text string, key model.Key, err error) {
	if len(form.Chosen) == 0 { // the vault would give it all of the API
		return "", key, errs.InvalidField("abilities", "Choose what the key may do.")
	}
	life, err := parseDays(keyLifetimes, form.Life, "life")
	if err != nil {
		return "", key, err
	}
	draft := model.KeyDraft{Name: form.Name, Abilities: form.Chosen}
	if life > 0 {
		end := p.Now().Add(life)
		draft.ExpiresAt = &end
	}
	return p.Vault.Keys.Create(r.Context(), who.Actor, draft)
}

// newKeyView is a key in full.
type newKeyView struct {
	model.Key
	Text    string
	Example string // an address to try it with
}

// showNewKey shows a key in full; it is told here and kept nowhere.
func (p *Pages) showNewKey(w http.ResponseWriter, r *http.Request, who page.Visitor, heading, text string, key model.Key) error {
	origin, err := p.Origin(r)
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
	return p.RenderPage(w, r, who, http.StatusOK, "keyshown.html", page.Page{
		Heading: heading, Section: "admin", Data: newKeyView{key, text, example},
	})
}

// keyPage is what the page of one key shows.
type keyPage struct {
	keyRow
	Once     string // of the form that rotates it
	Problems map[string]string
}

// Overlaps are the times after which the key before a new one can end.
func (keyPage) Overlaps() []option { return overlapChoices }

func (p *Pages) keyPage(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	return p.showKey(w, r, who, http.StatusOK, nil)
}

// showKey shows one key, with what was wrong in one of the forms.
func (p *Pages) showKey(w http.ResponseWriter, r *http.Request, who page.Visitor, status int, problems map[string]string) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	list, err := p.Vault.Keys.List(r.Context())
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(k model.Key) bool { return k.ID == id })
	if at < 0 {
		return page.NotFound(r)
	}
	return p.RenderPage(w, r, who, status, "key.html", page.Page{
		Heading: list[at].Name, Section: "admin", Data: keyPage{p.newKeyRow(list[at]), rand.Text(), problems},
	})
}

func (p *Pages) rotateKey(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	return p.SubmitOnce(w, r, who, keyAlreadyShown, func() (string, error) {
		var text string
		var fresh model.Key
		overlap, err := parseDays(overlapChoices, r.PostForm.Get("overlap"), "overlap")
		if err == nil {
			text, fresh, err = p.Vault.Keys.Rotate(r.Context(), who.Actor, id, overlap)
		}
		if err == nil {
			return page.KeyPath(fresh.ID), p.showNewKey(w, r, who, "The new key", text, fresh)
		}
		status, problems := page.FormProblems(err)
		if problems == nil {
			return "", err
		}
		return "", p.showKey(w, r, who, status, problems)
	})
}

// revokeKey wants a tick besides: what was revoked never works again.
func (p *Pages) revokeKey(w http.ResponseWriter, r *http.Request, who page.Visitor) error {
	id, err := page.PathNumber(r)
	if err != nil {
		return err
	}
	if r.PostForm.Get("sure") != "yes" {
		return p.showKey(w, r, who, http.StatusUnprocessableEntity, map[string]string{"sure": "Tick this to revoke the key."})
	}
	key, err := p.Vault.Keys.Revoke(r.Context(), who.Actor, id)
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(w, r, "/admin/keys", "The key "+key.Name+" is revoked and opens nothing any more.")
}
