package records

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/ui/page"
	"deedkeep/app/vault"
)

// documentsPerFolderPage is the number of documents shown on one page of a folder.
const documentsPerFolderPage = 100

// folderView is the template data of a folder's page.
type folderView struct {
	vault.FolderView
	Files      []page.DocumentRow
	Row        *page.DocumentRow // the only row, if the request is for a single row
	Total      int               // number of documents in the folder
	From, To   int               // positions of the first and last shown documents, from 1
	Sort       vault.FolderSort
	Down       bool
	Sorts      []folderSort
	Prev, Next string
	Address    string // address of this page of the list
	Refresh    string // address that a script polls to refresh the list
	Processing int    // number of shown documents that are being processed
	Targets    []folderTarget
	Parents    []folderTarget // folders that this folder can be moved to
	In         string         // this folder as a place; see page.Place
	NewName    string
	OwnName    string
	Open       string            // which form is open: new, rename, or move
	Problems   map[string]string // problems in the open form
	Again      bool              // render only the parts that are refreshed automatically
}

// Path returns the address of the folder.
func (fv folderView) Path() string { return page.FolderOrVaultPath(fv.Folder.ID) }

// Empty reports whether the folder has neither documents nor subfolders.
func (fv folderView) Empty() bool { return fv.Total == 0 && len(fv.Subfolders) == 0 }

// folderSort is a link that changes the sort order of the list.
type folderSort struct {
	Label, Address, Aria string
}

// folderTarget is a folder that a document or folder can be moved to.
type folderTarget struct {
	ID   uint64
	Name string // indented by the folder's depth
}

// folderPage serves the page of a folder or of the vault's top level.
func (p *Pages) folderPage(r *page.Request) error { return p.showFolder(r, page.NameProblem{}) }

func (p *Pages) showFolder(r *page.Request, rejected page.NameProblem) error {
	view, err := p.newFolderView(r, r.PathID, r.URL.Query().Get("do"))
	if err != nil {
		return err
	}
	rejected.ApplyTo(view.Files)
	if r.IsPart() {
		view.Again = true
		return p.RenderPart(r, http.StatusOK, "folder.html", "again", view)
	}
	view.Open = r.URL.Query().Get("do")
	return p.renderFolder(r, rejected.Status(), view)
}

func (p *Pages) renderFolder(r *page.Request, status int, view folderView) error {
	var libraries, scripts []string
	if r.MayWrite() {
		libraries, scripts = []string{"tus.min.js"}, []string{"upload.js", "abstract.js", "folder.js", "choose.js"}
	}
	heading := view.Folder.Name
	if view.Folder.ID == 0 {
		heading = "Vault"
	}
	return p.RenderPage(r, status, "folder.html", page.Page{Heading: heading, Section: "vault", Data: view, Libraries: libraries, Scripts: scripts,
		Follows: []string{vault.FileOps.Name, "folder"}})
}

// newFolderView reads a folder and the data that the open form needs.
func (p *Pages) newFolderView(r *page.Request, id uint64, form string) (s folderView, err error) {
	query := r.URL.Query()
	s = folderView{Sort: vault.FolderSort(query.Get("sort")), Down: query.Get("dir") == "down", In: p.FormatPlace(page.Place{Folder: id})}
	if !slices.Contains([]vault.FolderSort{vault.ByName, vault.ByDate, vault.BySize}, s.Sort) {
		s.Sort = vault.ByName
	}
	if s.FolderView, err = p.App.Folders.View(r.Context(), id); err != nil {
		return s, err
	}
	s.OwnName = s.Folder.Name
	at, err := strconv.Atoi(query.Get("page"))
	if err != nil || at < 1 || at > 1<<20 {
		at = 1
	}
	row, err := p.App.Folders.FilePage(r.Context(), id, s.Sort, s.Down, (at-1)*documentsPerFolderPage, documentsPerFolderPage)
	if err != nil {
		return s, err
	}
	s.setPage(row)
	if s.Files, err = p.documentRows(r.Context(), row.Files, s.Address, query.Get("rename")); err != nil {
		return s, err
	}
	if len(s.Files) > 0 || form == "move" {
		err = p.folderTargets(r, &s)
	}
	return s, err
}

// setPage sets the documents of the shown page and the links to other pages and sort orders.
func (fv *folderView) setPage(row vault.FilePage) {
	fv.Total, fv.From, fv.To = row.Total, row.Offset+1, row.Offset+len(row.Files)
	for _, f := range row.Files {
		if f.Processing {
			fv.Processing++
		}
	}
	at := row.Offset/documentsPerFolderPage + 1
	fv.Address = fv.pageAddress(fv.Sort, fv.Down, at)
	fv.Refresh = fv.Address
	if at > 1 {
		fv.Prev = fv.pageAddress(fv.Sort, fv.Down, at-1)
	}
	if fv.To < fv.Total {
		fv.Next = fv.pageAddress(fv.Sort, fv.Down, at+1)
	}
	for _, column := range []struct {
		by    vault.FolderSort
		label string
	}{{vault.ByName, "Name"}, {vault.ByDate, "Uploaded"}, {vault.BySize, "Size"}} {
		link := folderSort{Label: column.label, Address: fv.pageAddress(column.by, column.by == vault.ByDate, 1)}
		if column.by == fv.Sort {
			link.Address, link.Aria = fv.pageAddress(column.by, !fv.Down, 1), "ascending"
			if fv.Down {
				link.Aria = "descending"
			}
		}
		fv.Sorts = append(fv.Sorts, link)
	}
}

// pageAddress returns the address of page n of the folder with the given sort order.
func (fv *folderView) pageAddress(by vault.FolderSort, down bool, n int) string {
	values := url.Values{}
	if by != vault.ByName {
		values.Set("sort", string(by))
	}
	if down {
		values.Set("dir", "down")
	}
	if n > 1 {
		values.Set("page", strconv.Itoa(n))
	}
	return page.WithQuery(fv.Path(), values)
}

// maxIndent is the maximum folder depth that lists indent. Deeper folders are indented like that
// depth.
const maxIndent = 12

// folderTargets sets the folders that the documents and the folder itself can be moved to.
func (p *Pages) folderTargets(r *page.Request, s *folderView) error {
	all, err := p.App.Folders.List(r.Context())
	if err != nil {
		return err
	}
	in := map[uint64][]model.Folder{}
	for _, folder := range all {
		in[folder.ParentID] = append(in[folder.ParentID], folder)
	}
	var walk func(parent uint64, depth int, inside bool)
	walk = func(parent uint64, depth int, inside bool) {
		for _, folder := range in[parent] {
			target := folderTarget{folder.ID, strings.Repeat("\u2003", min(depth, maxIndent)) + folder.Name}
			excluded := inside || folder.ID == s.Folder.ID
			if folder.ID != s.Folder.ID {
				s.Targets = append(s.Targets, target)
			}
			if !excluded && folder.ID != s.Folder.ParentID {
				s.Parents = append(s.Parents, target)
			}
			walk(folder.ID, depth+1, excluded)
		}
	}
	walk(0, 0, false)
	return nil
}

// showFolderProblem shows the folder page with the form and the problems that err reports. If err
// is not about the form, it is returned.
func (p *Pages) showFolderProblem(r *page.Request, id uint64, form string, err error, fill func(*folderView)) error {
	_, problems := page.FormProblems(err)
	if problems == nil {
		return err
	}
	view, err := p.newFolderView(r, id, form)
	if err != nil {
		return err
	}
	view.Open, view.Problems = form, problems
	fill(&view)
	return p.renderFolder(r, http.StatusUnprocessableEntity, view)
}

// createFolder creates a folder in the parent folder that the form specifies.
func (p *Pages) createFolder(r *page.Request) error {
	parent, err := formFolderID(r, "parent")
	if err != nil {
		return err
	}
	draft := model.FolderDraft{Name: model.StringInput(r.PostForm.Get("name")), ParentID: model.NewIDInput(parent)}
	created, err := p.App.Folders.Create(r.Context(), r.Actor, draft, vault.Idempotency[model.Folder]{})
	if err != nil {
		return p.showFolderProblem(r, parent, "new", err, func(s *folderView) { s.NewName = r.PostForm.Get("name") })
	}
	return p.RedirectWithNotice(r, page.FolderPath(created.ID), "Folder created.")
}

// formFolderID returns the folder ID in the named form field, or 0 if the field is empty.
func formFolderID(r *page.Request, name string) (uint64, error) {
	text := r.PostForm.Get(name)
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, errs.InvalidField(name, "Select a folder from the list.")
	}
	return id, nil
}

func (p *Pages) renameFolder(r *page.Request) error {
	patch := model.FolderPatch{Name: model.Some(model.StringInput(r.PostForm.Get("name")))}
	if _, err := p.App.Folders.Patch(r.Context(), r.Actor, r.PathID, patch, vault.Match{}); err != nil {
		return p.showFolderProblem(r, r.PathID, "rename", err, func(s *folderView) { s.OwnName = r.PostForm.Get("name") })
	}
	return p.RedirectWithNotice(r, page.FolderPath(r.PathID), "Folder renamed.")
}

func (p *Pages) moveFolder(r *page.Request) error {
	parent, err := formFolderID(r, "parent")
	if err != nil {
		return err
	}
	before, err := p.App.Folders.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	if was := r.PostForm.Get("was"); r.Undoes && was != strconv.FormatUint(before.ParentID, 10) {
		return &errs.Error{Kind: errs.Conflict, Message: "The folder was moved again in the meantime."}
	}
	patch := model.FolderPatch{ParentID: model.Some(model.NewIDInput(parent))}
	moved, err := p.App.Folders.Patch(r.Context(), r.Actor, r.PathID, patch, vault.MatchVersion(before.Version))
	if err != nil {
		return p.showFolderProblem(r, r.PathID, "move", err, func(*folderView) {})
	}
	undo := ""
	if before.ParentID != moved.ParentID {
		undo = page.UndoAddress(page.FolderPath(r.PathID)+"/move", url.Values{
			"parent": {strconv.FormatUint(before.ParentID, 10)}, "was": {strconv.FormatUint(moved.ParentID, 10)}})
	}
	return p.RedirectWithUndo(r, page.ReturnAddress(r, page.FolderPath(r.PathID)), fmt.Sprintf("Folder “%s” moved.", moved.Name), undo)
}

func (p *Pages) removeFolder(r *page.Request) error {
	folder, err := p.App.Folders.Get(r.Context(), r.PathID)
	if err != nil {
		return err
	}
	if err := p.App.Folders.Remove(r.Context(), r.Actor, r.PathID, vault.Match{}); err != nil {
		return p.showFolderProblem(r, r.PathID, "remove", err, func(*folderView) {})
	}
	return p.RedirectWithNotice(r, page.FolderOrVaultPath(folder.ParentID), fmt.Sprintf("Folder “%s” removed.", folder.Name))
}
