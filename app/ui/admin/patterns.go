package admin

import (
	"net/http"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/extract"
	"deedkeep/app/httpx"
	"deedkeep/app/settings"
	"deedkeep/app/ui/page"
)

const patternsPath = page.SettingsPath + "/patterns"

// patternsView is the template data of the page of county patterns.
type patternsView struct {
	Text, Seen   string
	Problems     []string
	File         settings.PatternsFile
	FileProblems []string

	Sample settings.Sample
	Tried  bool
	Found  []settings.SampleField

	Proposed  bool
	Proposals settings.Proposals
	Added     bool // a proposal was added to Text
}

// maxCompared is the maximum number of recorded instruments that proposals are made from.
const maxCompared = 50

func (p *Pages) newPatternsView() patternsView {
	now := p.App.Stored.Patterns()
	return patternsView{Text: now.Text, Seen: now.Version, Problems: problemTexts(now.Problems), File: now.File,
		FileProblems: problemTexts(now.File.Problems)}
}

// problemTexts returns problems as sentences, with their lines.
func problemTexts(list []extract.Problem) (texts []string) {
	for _, problem := range list {
		texts = append(texts, sentence(problem.String()))
	}
	return texts
}

// patternsPage shows the county patterns.
func (p *Pages) patternsPage(r *page.Request) error {
	return p.showPatterns(r, http.StatusOK, p.newPatternsView())
}

func (p *Pages) showPatterns(r *page.Request, status int, view patternsView) error {
	return p.RenderPage(r, status, "county-patterns.html", page.Page{
		Heading: "County patterns", Section: "admin", Data: view, Styles: adminStyles,
	})
}

// changePatterns stores the county patterns, or tries them on a sample.
func (p *Pages) changePatterns(r *page.Request) error {
	view := p.newPatternsView()
	view.Text, view.Problems = r.PostForm.Get("patterns"), nil
	if seen := r.PostForm.Get("seen"); seen != "" {
		view.Seen = seen
	}
	view.Sample = settings.Sample{Text: r.PostForm.Get("sample"), County: strings.TrimSpace(r.PostForm.Get("county")),
		State: strings.TrimSpace(r.PostForm.Get("state"))}
	switch {
	case r.PostForm.Has("try"):
		return p.tryPatterns(r, view)
	case r.PostForm.Has("propose"):
		return p.proposePatterns(r, view)
	case r.PostForm.Has("add"):
		view.Added = true
		view.Text = strings.TrimLeft(strings.TrimRight(view.Text, " \r\n")+"\n"+r.PostForm.Get("add"), "\n")
		return p.showPatterns(r, http.StatusOK, view)
	}
	problems, err := p.App.Stored.SetPatterns(r.Context(), r.Actor, view.Text, view.Seen)
	switch kind := errs.KindOf(err); {
	case kind == errs.PreconditionFailed:
		latest := p.newPatternsView()
		latest.Problems = append([]string{errs.UserMessage(err) + " This is the latest version. Make your change again."}, latest.Problems...)
		latest.Sample = view.Sample
		return p.showPatterns(r, httpx.StatusByKind[kind], latest)
	case err != nil:
		return err
	case len(problems) > 0:
		view.Problems = problemTexts(problems)
		return p.showPatterns(r, http.StatusUnprocessableEntity, view)
	}
	return p.RedirectWithNotice(r, patternsPath, "County patterns saved.")
}

// tryPatterns shows what is read in the sample with the patterns of the form.
func (p *Pages) tryPatterns(r *page.Request, view patternsView) error {
	types, err := p.App.Instruments.Types(r.Context())
	if err != nil {
		return err
	}
	view.Sample.Types = types
	found, problems := p.App.Stored.TryPatterns(view.Text, view.Sample)
	if view.Problems = problemTexts(problems); len(problems) > 0 {
		return p.showPatterns(r, http.StatusUnprocessableEntity, view)
	}
	view.Tried, view.Found = true, found
	return p.showPatterns(r, http.StatusOK, view)
}

// proposePatterns shows patterns for the county of the form that would read what people recorded.
func (p *Pages) proposePatterns(r *page.Request, view patternsView) error {
	county, state := view.Sample.County, view.Sample.State
	recorded := func() ([]extract.RecordedInstrument, error) {
		if county == "" {
			return nil, nil
		}
		return p.App.Instruments.RecordedPages(r.Context(), county, state, maxCompared)
	}
	proposals, problems, err := p.App.Stored.Propose(r.Context(), view.Text, county, state, recorded)
	if err != nil {
		return err
	}
	if view.Problems = problemTexts(problems); len(problems) > 0 {
		return p.showPatterns(r, http.StatusUnprocessableEntity, view)
	}
	view.Proposed, view.Proposals = true, proposals
	return p.showPatterns(r, http.StatusOK, view)
}
