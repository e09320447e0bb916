package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// folderRows is how many documents a page of a folder shows.
const folderRows = 100

// folderSheet is what the page of a folder works with.
type folderSheet struct {
	vault.Shelf
	Files      []documentRow
	Row        *documentRow // alone, as an answer
	Total      int          // documents in it
	From, To   int          // of those shown, from 1
	Sort       vault.FolderSort
	Down       bool
	Sorts      []folderSort
	Prev, Next string
	Address    string // of this page of the list, to come back to
	Refresh    string // of the list alone
	Processing int    // shown ones that are being processed
	Targets    []folderTarget
	Parents    []folderTarget // where the folder itself may go
	In         string         // as the viewer and uploads name it
	NewName    string
	OwnName    string
	Open       string            // the form that is open: new, rename or move
	Problems   map[string]string // of that form
	Again      bool              // only what changes by itself is shown
}

// Path is where the folder is shown.
func (s folderSheet) Path() string { return folderOr(s.Folder.ID) }

// Empty reports whether there is nothing in the folder at all.
func (s folderSheet) Empty() bool { return s.Total == 0 && len(s.Inside) == 0 }

// folderSort is one way to sort, as a link.
type folderSort struct {
	Label, Address, Aria string
}

// folderTarget is a folder that something may be moved to.
type folderTarget struct {
	ID   uint64
	Name string // indented by depth
}

func folderOr(id uint64) string {
	if id == 0 {
		return "/vault"
	}
	return folderPath(id)
}

// folderID reads the folder of the path, 0 where it names none.
func folderID(r *http.Request) (uint64, error) {
	if r.PathValue("n") == "" {
		return 0, nil
	}
	return number(r)
}

// folder shows the vault, or one of its folders.
func (p *pages) folder(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := folderID(r)
	if err != nil {
		return err
	}
	return p.showFolder(w, r, who, id, nameRefusal{})
}

func (p *pages) showFolder(w http.ResponseWriter, r *http.Request, who visitor, id uint64, refused nameRefusal) error {
	sheet, err := p.folderSheet(r, id, r.URL.Query().Get("do"))
	if err != nil {
		return err
	}
	refused.in(sheet.Files)
	if isPart(r) {
		sheet.Again = true
		return p.part(w, r, who, http.StatusOK, "folder.html", "again", sheet)
	}
	sheet.Open = r.URL.Query().Get("do")
	return p.wholeFolder(w, r, who, refused.status(), sheet)
}

func (p *pages) wholeFolder(w http.ResponseWriter, r *http.Request, who visitor, status int, sheet folderSheet) error {
	scripts := []string{"tus.min.js", "upload.js", "abstract.js", "folder.js", "choose.js"}
	if !who.MayWrite() {
		scripts = nil
	}
	heading := sheet.Folder.Name
	if sheet.Folder.ID == 0 {
		heading = "Vault"
	}
	return p.show(w, r, who, status, "folder.html", page{Heading: heading, Section: "vault", Data: sheet, Scripts: scripts})
}

// folderSheet reads a folder, and what the open form needs.
func (p *pages) folderSheet(r *http.Request, id uint64, form string) (s folderSheet, err error) {
	asked := r.URL.Query()
	s = folderSheet{Sort: vault.FolderSort(asked.Get("sort")), Down: asked.Get("dir") == "down", In: p.called(place{folder: id})}
	if !slices.Contains([]vault.FolderSort{vault.ByName, vault.ByDate, vault.BySize}, s.Sort) {
		s.Sort = vault.ByName
	}
	if s.Shelf, err = p.Vault.Folders.Shelf(r.Context(), id); err != nil {
		return s, err
	}
	s.OwnName = s.Folder.Name
	at, err := strconv.Atoi(asked.Get("page"))
	if err != nil || at < 1 || at > 1<<20 {
		at = 1
	}
	row, err := p.Vault.Folders.Row(r.Context(), id, s.Sort, s.Down, (at-1)*folderRows, folderRows)
	if err != nil {
		return s, err
	}
	s.fill(row)
	if s.Files, err = p.documentRows(r.Context(), row.Files, s.Address, asked.Get("rename")); err != nil {
		return s, err
	}
	if len(s.Files) > 0 || form == "move" {
		err = p.folderTargets(r, &s)
	}
	return s, err
}

// fill tells which part of the documents it is, and makes the addresses of the others.
func (s *folderSheet) fill(row vault.Row) {
	s.Total, s.From, s.To = row.Total, row.From+1, row.From+len(row.Files)
	for _, f := range row.Files {
		if f.Processing {
			s.Processing++
		}
	}
	at := row.From/folderRows + 1
	s.Address = s.at(s.Sort, s.Down, at)
	s.Refresh = s.Address
	if at > 1 {
		s.Prev = s.at(s.Sort, s.Down, at-1)
	}
	if s.To < s.Total {
		s.Next = s.at(s.Sort, s.Down, at+1)
	}
	for _, one := range []struct {
		by    vault.FolderSort
		label string
	}{{vault.ByName, "Name"}, {vault.ByDate, "Filed"}, {vault.BySize, "Size"}} {
		link := folderSort{Label: one.label, Address: s.at(one.by, one.by == vault.ByDate, 1)}
		if one.by == s.Sort {
			link.Address, link.Aria = s.at(one.by, !s.Down, 1), "ascending"
			if s.Down {
				link.Aria = "descending"
			}
		}
		s.Sorts = append(s.Sorts, link)
	}
}

// at is the address of a page of the folder.
func (s *folderSheet) at(by vault.FolderSort, down bool, page int) string {
	values := url.Values{}
	if by != vault.ByName {
		values.Set("sort", string(by))
	}
	if down {
		values.Set("dir", "down")
	}
	if page > 1 {
		values.Set("page", strconv.Itoa(page))
	}
	return address(s.Path(), values)
}

// mostIndented is how deep a list of folders shows where each lies.
const mostIndented = 12

// folderTargets are where documents, and the folder itself, may be moved to.
func (p *pages) folderTargets(r *http.Request, s *folderSheet) error {
	all, err := p.Vault.Folders.List(r.Context())
	if err != nil {
		return err
	}
	in := map[uint64][]model.Folder{}
	for _, folder := range all {
		in[folder.ParentID] = append(in[folder.ParentID], folder)
	}
	var walk func(parent uint64, depth int, beneath bool)
	walk = func(parent uint64, depth int, beneath bool) {
		for _, folder := range in[parent] {
			target := folderTarget{folder.ID, strings.Repeat("\u2003", min(depth, mostIndented)) + folder.Name}
			own := beneath || folder.ID == s.Folder.ID
			if folder.ID != s.Folder.ID {
				s.Targets = append(s.Targets, target)
			}
			if !own && folder.ID != s.Folder.ParentID {
				s.Parents = append(s.Parents, target)
			}
			walk(folder.ID, depth+1, own)
		}
	}
	walk(0, 0, false)
	return nil
}

// refusedFolder shows the folder again with what is wrong with the form; any other
// error is given back.
func (p *pages) refusedFolder(w http.ResponseWriter, r *http.Request, who visitor, id uint64, form string, err error, fill func(*folderSheet)) error {
	var named *errs.Error
	if !errors.As(err, &named) || named.Kind != errs.Invalid && named.Kind != errs.Conflict {
		return err
	}
	sheet, failed := p.folderSheet(r, id, form)
	if failed != nil {
		return failed
	}
	sheet.Open, sheet.Problems = form, problems(named.Fields)
	if len(sheet.Problems) == 0 {
		sheet.Problems = map[string]string{"": plainly(named.Message)}
	}
	fill(&sheet)
	return p.wholeFolder(w, r, who, http.StatusUnprocessableEntity, sheet)
}

// createFolder makes a folder in the one that the form names.
func (p *pages) createFolder(w http.ResponseWriter, r *http.Request, who visitor) error {
	parent, err := formFolder(r, "parent")
	if err != nil {
		return err
	}
	draft := model.FolderDraft{Name: model.StringInput(r.PostForm.Get("name")), ParentID: folderNumber(parent)}
	made, err := p.Vault.Folders.Create(r.Context(), who.Actor, draft, vault.Keep[model.Folder]{})
	if err != nil {
		return p.refusedFolder(w, r, who, parent, "new", err, func(s *folderSheet) { s.NewName = r.PostForm.Get("name") })
	}
	return p.see(w, r, folderPath(made.ID), "The folder is made.")
}

func folderNumber(id uint64) model.IDInput {
	return model.IDInput{Present: id != 0, Valid: true, Value: int64(id)} // #nosec G115 -- read from 63 bits
}

// formFolder is a folder that a form names; 0 for "".
func formFolder(r *http.Request, name string) (uint64, error) {
	text := r.PostForm.Get(name)
	if text == "" {
		return 0, nil
	}
	id, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		return 0, errs.InvalidField(name, "Choose a folder of the list.")
	}
	return id, nil
}

func (p *pages) renameFolder(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	patch := model.FolderPatch{Name: model.Some(model.StringInput(r.PostForm.Get("name")))}
	if _, err := p.Vault.Folders.Patch(r.Context(), who.Actor, id, patch, vault.Match{}); err != nil {
		return p.refusedFolder(w, r, who, id, "rename", err, func(s *folderSheet) { s.OwnName = r.PostForm.Get("name") })
	}
	return p.see(w, r, folderPath(id), "Renamed.")
}

func (p *pages) moveFolder(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	parent, err := formFolder(r, "parent")
	if err != nil {
		return err
	}
	was, err := p.Vault.Folders.Get(r.Context(), id)
	if err != nil {
		return err
	}
	patch := model.FolderPatch{ParentID: model.Some(folderNumber(parent))}
	now, err := p.Vault.Folders.Patch(r.Context(), who.Actor, id, patch, vault.Match{})
	if err != nil {
		return p.refusedFolder(w, r, who, id, "move", err, func(*folderSheet) {})
	}
	undo := ""
	if was.ParentID != now.ParentID {
		undo = undoOf(folderPath(id)+"/move", url.Values{"parent": {strconv.FormatUint(was.ParentID, 10)}})
	}
	return p.seeUndo(w, r, back(r, folderPath(id)), fmt.Sprintf("“%s” was moved.", now.Name), undo)
}

func (p *pages) removeFolder(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	folder, err := p.Vault.Folders.Get(r.Context(), id)
	if err != nil {
		return err
	}
	if err := p.Vault.Folders.Remove(r.Context(), who.Actor, id, vault.Match{}); err != nil {
		return p.refusedFolder(w, r, who, id, "remove", err, func(*folderSheet) {})
	}
	return p.see(w, r, folderOr(folder.ParentID), fmt.Sprintf("The folder “%s” is removed.", folder.Name))
}

// mostZipped is how many documents one zip of a folder holds.
const mostZipped = 20_000

// zipFolder sends all documents of a folder and of those beneath it.
func (p *pages) zipFolder(w http.ResponseWriter, r *http.Request, who visitor) error {
	id, err := number(r)
	if err != nil {
		return err
	}
	folder, err := p.Vault.Folders.Get(r.Context(), id)
	if err != nil {
		return err
	}
	under, err := p.Vault.Folders.Under(r.Context(), id, mostZipped)
	if err != nil {
		return err
	}
	list := make([]zipped, 0, len(under))
	for _, one := range under {
		list = append(list, zipped{Folder: one.Way, File: one.File})
	}
	return p.zip(w, r, who, folder.Name, list)
}
