package titlework

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault/phrases"
)

// maxPhraseMatches is the maximum number of phrases that a row offers for the words that were typed.
const maxPhraseMatches = 10

// phraseSearch is what a row of a form shows about phrases.
type phraseSearch struct {
	Text    string         // name or words that were typed
	Matches []model.Phrase // to choose from
	Problem string
}

// Blanks returns the placeholders of the row's text that aren't filled in.
func (r Row) Blanks() []string { return phrases.Blanks(r.values["text"]) }

// moreRequirements handles the buttons that insert a phrase and fill in placeholders. A phrase that was typed is inserted
// before the form is saved, so that the Enter key inserts it.
func (p *Pages) moreRequirements(r *page.Request, _ source, view *Rows, rows []Row) (edited []Row, done bool, err error) {
	do := r.PostForm.Get("do")
	if n, ok := rowOf(do, "fill-", rows); ok {
		rows[n-1].values["text"], err = p.fillPhrase(r, rows[n-1].values["text"], rows[n-1])
		view.FocusRow = n
		return rows, true, err
	}
	if rest, ok := strings.CutPrefix(do, "insert-"); ok {
		number, name, _ := strings.Cut(rest, "-")
		if n, ok := rowOf(number, "", rows); ok {
			rows[n-1].Phrase.Text = name
			return rows, true, p.insertPhrase(r, view, rows, n)
		}
	}
	if n, ok := rowOf(do, "phrase-", rows); ok {
		return rows, true, p.insertPhrase(r, view, rows, n)
	}
	if do != "" && do != "save" {
		return rows, false, nil
	}
	for n := range rows {
		if rows[n].Phrase.Text != "" && len(view.Phrases) > 0 {
			if done, err = true, p.insertPhrase(r, view, rows, n+1); err != nil {
				return rows, true, err
			}
		}
	}
	return rows, done, nil
}

// insertPhrase inserts the phrase that was typed in the nth row, or offers those that have its words.
func (p *Pages) insertPhrase(r *page.Request, view *Rows, rows []Row, n int) error {
	row := &rows[n-1]
	view.FocusRow = n
	found := phrases.Find(view.Phrases, row.Phrase.Text)
	switch {
	case row.Phrase.Text == "":
		row.Phrase.Problem = "Enter a phrase name or words from its text."
	case len(found) == 0:
		row.Phrase.Problem = "No phrase has these words. Try other words, or clear the field."
	case len(found) > 1:
		row.Phrase.Matches = found[:min(len(found), maxPhraseMatches)]
		if len(found) > maxPhraseMatches {
			row.Phrase.Problem = fmt.Sprintf("%d phrases have these words. Add a word to narrow the list.", len(found))
		}
	default:
		text, err := p.fillPhrase(r, found[0].Text, *row)
		if err != nil {
			return err
		}
		if row.Phrase = (phraseSearch{}); row.values["text"] == "" {
			row.values["kind"] = found[0].Kind
		} else {
			text = row.values["text"] + "\n" + text
		}
		row.values["text"] = text
	}
	return nil
}

// fillPhrase fills in the placeholders of a text from the instrument of a row.
func (p *Pages) fillPhrase(r *page.Request, text string, row Row) (string, error) {
	id, err := strconv.ParseUint(row.values["instrument_id"], 10, 63)
	if err != nil {
		return text, nil //nolint:nilerr // without an instrument, the placeholders stay
	}
	i, err := p.App.Instruments.Get(r.Context(), id)
	if errs.KindOf(err) == errs.NotFound {
		return text, nil
	}
	return phrases.Fill(text, i.Instrument, i.Type), err
}

// offerPhrases adds the phrases that a form offers.
func (p *Pages) offerPhrases(r *page.Request, view *Rows) error {
	if !isEditing(r) && r.Method != "POST" {
		return nil
	}
	now, err := p.App.Phrases.Get(r.Context())
	view.Phrases = slices.Clone(now.List)
	return err
}
