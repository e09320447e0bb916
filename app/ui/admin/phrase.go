package admin

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
	"deedkeep/app/vault/phrases"
)

const phrasesPath = "/admin/phrases"

// phrasesPage is the template data of the page of phrases.
type phrasesPage struct {
	Path         string
	List         []model.Phrase
	Kinds        [][2]string // values with their names
	Placeholders string
	Open         string // name of the phrase whose form is open; "" for a new one
	Form         model.Phrase
	Lacking      int // number of standard phrases that the list doesn't have
	Problems     map[string]string
	Was          string        // fingerprint of the phrase that is open, as it is stored
	Theirs       *model.Phrase // the stored phrase, after another user changed it in the meantime; nil otherwise
}

// KindName returns the name of a kind of phrases.
func (p phrasesPage) KindName(kind string) string {
	for _, k := range p.Kinds {
		if k[0] == kind {
			return k[1]
		}
	}
	return kind
}

func (p *Pages) phrasesPage(r *page.Request) error {
	return p.showPhrases(r, http.StatusOK, phrasesPage{Open: r.URL.Query().Get("phrase")})
}

// showPhrases renders the page. If no problems are shown, the open form has the stored values.
func (p *Pages) showPhrases(r *page.Request, status int, view phrasesPage) error {
	now, err := p.App.Phrases.Get(r.Context())
	if err != nil {
		return err
	}
	stored, found := phrases.ByName(now.List, view.Open)
	view.Open = stored.Name
	if found {
		view.Was = phraseFingerprint(stored)
		if status == http.StatusPreconditionFailed {
			view.Theirs = &stored
		} else if view.Problems == nil {
			view.Form = stored
		}
	}
	view.Path, view.List, view.Placeholders = phrasesPath, now.List, strings.Join(phrases.Placeholders(), ", ")
	view.Kinds = [][2]string{{model.RequirementKind, "Requirement (B-I)"}, {model.ExceptionKind, "Exception (B-II)"}}
	view.Lacking = len(phrases.WithStandard(now.List)) - len(now.List)
	return p.RenderPage(r, status, "phrases.html", page.Page{
		Heading: "Phrases", Section: "admin", Data: view, Styles: adminStyles,
		Libraries: []string{"sortable.min.js"}, Scripts: []string{"definitions.js"},
	})
}

// changePhrases makes the change that the form field "do" requests.
func (p *Pages) changePhrases(r *page.Request) error {
	var index int
	var notice string
	err := vault.RetryEdit(func() error {
		now, err := p.App.Phrases.Get(r.Context())
		if err != nil {
			return err
		}
		list, at, done, err := applyPhraseChange(slices.Clone(now.List), r.PostForm)
		if index, notice = at, done; err != nil {
			return err
		}
		_, err = p.App.Phrases.Set(r.Context(), r.Actor, phrases.Input(list), vault.MatchVersion(now.Version))
		return err
	})
	if problem, ok := errors.AsType[*errs.Error](err); ok && problem.Kind == errs.Invalid {
		view := phrasesPage{Open: r.PostForm.Get("phrase"), Form: phraseForm(r.PostForm),
			Problems: rowProblems(problem.Fields, fmt.Sprintf("rows.%d.", index), "name", "kind", "text")}
		return p.showPhrases(r, http.StatusUnprocessableEntity, view)
	}
	if errors.Is(err, errPhraseChanged) {
		view := phrasesPage{Open: r.PostForm.Get("phrase"), Form: phraseForm(r.PostForm)}
		return p.showPhrases(r, http.StatusPreconditionFailed, view)
	}
	if err != nil {
		return err
	}
	return p.RedirectWithNotice(r, phrasesPath, notice)
}

// errPhraseChanged is returned if another user has changed the phrase since its form was opened.
var errPhraseChanged = &errs.Error{Kind: errs.Conflict, Message: "Someone else changed this phrase."}

// phraseFingerprint returns what the form of a phrase sends back, to find out whether another user has changed it.
func phraseFingerprint(p model.Phrase) string {
	return page.Fingerprint(model.Paragraph, []string{p.Name, p.Kind, p.Text})
}

// phraseForm returns the values of the form for one phrase.
func phraseForm(form url.Values) model.Phrase {
	return model.Phrase{Name: strings.TrimSpace(form.Get("name")), Kind: form.Get("kind"),
		Text: strings.TrimSpace(strings.ReplaceAll(form.Get("text"), "\r\n", "\n"))}
}

// applyPhraseChange returns the changed list, the index of the changed phrase, and a notice.
func applyPhraseChange(list []model.Phrase, form url.Values) (changed []model.Phrase, index int, notice string, err error) {
	nameOf := func(p model.Phrase) string { return p.Name }
	index = slices.IndexFunc(list, func(p model.Phrase) bool { return p.Name == form.Get("phrase") })
	action := form.Get("do")
	switch {
	case action == "standard":
		return phrases.WithStandard(list), 0, "Standard phrases added.", nil
	case action == "order":
		changed, err = reordered(list, form["order"], nameOf)
		return changed, 0, "Phrases reordered.", err
	case action == "add":
		p := phraseForm(form)
		if _, taken := phrases.ByName(list, p.Name); taken { // otherwise, the problem would be that of the other phrase
			return nil, len(list), "", errs.InvalidField(fmt.Sprintf("rows.%d.name", len(list)), errs.Taken)
		}
		return append(list, p), len(list), fmt.Sprintf("Phrase %q added.", p.Name), nil
	case index < 0:
		return nil, 0, "", errDefinitionGone
	case action == "save":
		was, now := form.Get("was"), phraseFingerprint(list[index])
		if was != "" && was != now && now != phraseFingerprint(phraseForm(form)) {
			return nil, index, "", errPhraseChanged
		}
		list[index] = phraseForm(form)
		other := slices.Delete(slices.Clone(list), index, index+1)
		if _, taken := phrases.ByName(other, list[index].Name); taken {
			return nil, index, "", errs.InvalidField(fmt.Sprintf("rows.%d.name", index), errs.Taken)
		}
		return list, index, fmt.Sprintf("Phrase %q saved.", list[index].Name), nil
	}
	changed, notice, err = moveOrRemove(list, index, "phrase", list[index].Name, action)
	return changed, index, notice, err
}
