package admin

import (
	"context"
	"net/http"

	"deedkeep/app/demo"
	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

// examplePath is the page where administrators fill a vault without records with an example firm.
const examplePath = page.SetupPath + "/example"

// examplePage is the template data of that page.
type examplePage struct {
	taskView[demo.Result]
	Example  bool   // whether this vault is that of an example firm
	Problem  string // why the vault can't be filled, or ""
	Home     string // data directory
	Links    []exampleLink
	HasLinks bool // the links can still be shown
}

// exampleLink is the one-time link of a user of the example firm.
type exampleLink struct {
	demo.User
	Address string
}

// examplePage shows whether the vault can be filled, the progress, or the result.
func (p *Pages) examplePage(r *page.Request) error {
	return p.showExample(r, http.StatusOK, nil)
}

func (p *Pages) showExample(r *page.Request, status int, links []exampleLink) error {
	view := examplePage{taskView: newTaskView(p.example.Progress()), Example: p.App.IsExample(), Home: p.App.Dir, Links: links}
	view.HasLinks = len(view.Result.Users) > 0
	if err := demo.Check(r.Context(), p.App); err != nil {
		if view.Problem = page.ErrorSentence(err); errs.KindOf(err) != errs.Conflict {
			return err
		}
	}
	if view.Running {
		r.W.Header().Set("Refresh", "2")
	}
	return p.RenderPage(r, status, "example.html", page.Page{Heading: "Example firm", Section: "admin", Data: view})
}

// fillExample starts to fill the vault or, when that is done, shows the links of the users once.
func (p *Pages) fillExample(r *page.Request) error {
	if r.PostForm.Has("links") {
		return p.showExampleLinks(r)
	}
	if err := demo.Check(r.Context(), p.App); err != nil {
		return err
	}
	actor := r.Actor
	err := p.example.Start(actor, func(ctx context.Context, report func(done, total int64)) (demo.Result, error) {
		return demo.Fill(ctx, p.App, actor, func(done, total int) { report(int64(done), int64(total)) })
	})
	if err != nil && errs.KindOf(err) != errs.Locked {
		return err
	}
	return r.Redirect(examplePath)
}

// showExampleLinks shows the links and forgets them.
func (p *Pages) showExampleLinks(r *page.Request) error {
	origin, err := p.Origin(r.Request)
	if err != nil {
		return err
	}
	var links []exampleLink
	for _, user := range p.example.TakeResult().Users {
		links = append(links, exampleLink{user, origin + model.PasswordLinkPath + user.Token})
	}
	return p.showExample(r, http.StatusOK, links)
}
