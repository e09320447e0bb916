package ui

import (
	"crypto/rand"
	"net/http"
	"slices"
	"strconv"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
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

// choice is one line of a select.
type choice struct{ Value, Text string }

// oneDay is as long as keys count it.
const oneDay = 24 * time.Hour

var (
	keyLives = []choice{{"30", "30 days"}, {"90", "90 days"}, {"365", "1 year"}, {"never", "Never"}}
	overlaps = []choice{{"0", "At once"}, {"1", "In 1 day"}, {"7", "In 7 days"}, {"30", "In 30 days"}}
)

// days reads a choice of days; Invalid names the field for what is none of the choices.
func days(choices []choice, value, field string) (time.Duration, error) {
	if !slices.ContainsFunc(choices, func(c choice) bool { return c.Value == value }) {
		return 0, errs.InvalidField(field, "Choose one of the list.")
	}
	n, err := strconv.Atoi(value)
	if err != nil {
		return 0, nil //nolint:nilerr // "never" is a choice and no number
	}
	return time.Duration(n) * oneDay, nil
}

// keyLine is a key as administrators see one.
type keyLine struct {
	model.Key
	State string // active, soon (it expires within 14 days), expired, revoked
}

// soon is how long before its end a key is marked.
const soon = 14 * oneDay

func (p *pages) keyLine(key model.Key) keyLine {
	now, line := p.Now(), keyLine{Key: key, State: "active"}
	switch {
	case key.RevokedAt != nil:
		line.State = "revoked"
	case !key.Active(now):
		line.State = "expired"
	case key.ExpiresAt != nil && key.ExpiresAt.Sub(now) < soon:
		line.State = "soon"
	}
	return line
}

func (p *pages) keys(w http.ResponseWriter, r *http.Request, who visitor) error {
	list, err := p.Vault.Keys.List(r.Context())
	if err != nil {
		return err
	}
	lines := make([]keyLine, 0, len(list))
	for _, key := range slices.Backward(list) { // the newest first, and what has ended last
		lines = append(lines, p.keyLine(key))
	}
	slices.SortStableFunc(lines, func(a, b keyLine) int { return ended(a) - ended(b) })
	return p.show(w, r, who, http.StatusOK, "keys.html", page{Heading: "API keys", Section: "admin", Data: lines})
}

func ended(k keyLine) int {
	if k.State == "revoked" || k.State == "expired" {
		return 1
	}
	return 0
}

// newKeyForm is what the page of making a key shows.
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
func (newKeyForm) Lives() []choice { return keyLives }

// Has reports whether an ability is chosen.
func (f newKeyForm) Has(name string) bool { return slices.Contains(f.Chosen, name) }

func (p *pages) newKey(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.newKeyForm(w, r, who, http.StatusOK, newKeyForm{Chosen: []string{model.AbilityAPI}, Life: "365", Once: rand.Text()})
}

func (p *pages) newKeyForm(w http.ResponseWriter, r *http.Request, who visitor, status int, form newKeyForm) error {
	return p.show(w, r, who, status, "keynew.html", page{Heading: "Make an API key", Section: "admin", Data: form})
}

// createKey makes a key and shows it, once.
func (p *pages) createKey(w http.ResponseWriter, r *http.Request, who visitor) error {
	form := newKeyForm{Name: r.PostForm.Get("name"), Chosen: r.PostForm["ability"], Life: r.PostForm.Get("life"), Once: r.PostForm.Get("once")}
	return p.once(w, r, who, keyDone, func() (string, error) {
		text, key, err := p.makeKey(r, who, form)
		if err == nil {
			return keyPath(key.ID), p.keyShown(w, r, who, "The key is made", text, key)
		}
		status, problems := refusal(err)
		if problems == nil {
			return "", err
		}
		form.Problems = problems
		return "", p.newKeyForm(w, r, who, status, form)
	})
}

// keyDone answers a key's form that was sent before.
var keyDone = onceDone{Text: "This key was made already. It was shown once, and is shown no more.", Path: "/admin/keys", Link: "See it among the API keys"}

func keyPath(id uint64) string { return "/admin/keys/" + strconv.FormatUint(id, 10) }

func (p *pages) makeKey(r *http.Request, who visitor, form newKeyForm) (text string, key model.Key, err error) {
	if len(form.Chosen) == 0 { // the vault would give it all of the API
		return "", key, errs.InvalidField("abilities", "Choose what the key may do.")
	}
	life, err := days(keyLives, form.Life, "life")
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

// shownKey is a key in full.
type shownKey struct {
	model.Key
	Text    string
	Example string // an address to try it with
}

// keyShown shows a key in full; it is told here and kept nowhere.
func (p *pages) keyShown(w http.ResponseWriter, r *http.Request, who visitor, heading, text string, key model.Key) error {
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
	return p.show(w, r, who, http.StatusOK, "keyshown.html", page{Heading: heading, Section: "admin", Data: shownKey{key, text, example}})
}

// keyPage is what the page of one key shows.
type keyPage struct {
	keyLine
	Once     string // of the form that rotates it
	Problems map[string]string
}

// Overlaps are the times after which the key before a new one can end.
func (keyPage) Overlaps() []choice { return overlaps }

func (p *pages) key(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.keyWith(w, r, who, http.StatusOK, nil)
}

// keyWith shows one key, with what was wrong in one of the forms.
func (p *pages) keyWith(w http.ResponseWriter, r *http.Request, who visitor, status int, problems map[string]string) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	list, err := p.Vault.Keys.List(r.Context())
	if err != nil {
		return err
	}
	at := slices.IndexFunc(list, func(k model.Key) bool { return k.ID == id })
	if at < 0 {
		return absentPath(r)
	}
	return p.show(w, r, who, status, "key.html", page{Heading: list[at].Name, Section: "admin", Data: keyPage{p.keyLine(list[at]), rand.Text(), problems}})
}

func (p *pages) rotateKey(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	return p.once(w, r, who, keyDone, func() (string, error) {
		var text string
		var fresh model.Key
		overlap, err := days(overlaps, r.PostForm.Get("overlap"), "overlap")
		if err == nil {
			text, fresh, err = p.Vault.Keys.Rotate(r.Context(), who.Actor, id, overlap)
		}
		if err == nil {
			return keyPath(fresh.ID), p.keyShown(w, r, who, "The new key", text, fresh)
		}
		status, problems := refusal(err)
		if problems == nil {
			return "", err
		}
		return "", p.keyWith(w, r, who, status, problems)
	})
}

// revokeKey wants a tick besides: what was revoked never works again.
func (p *pages) revokeKey(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	if r.PostForm.Get("sure") != "yes" {
		return p.keyWith(w, r, who, http.StatusUnprocessableEntity, map[string]string{"sure": "Tick this to revoke the key."})
	}
	key, err := p.Vault.Keys.Revoke(r.Context(), who.Actor, id)
	if err != nil {
		return err
	}
	return p.see(w, r, "/admin/keys", "The key "+key.Name+" is revoked and opens nothing any more.")
}
