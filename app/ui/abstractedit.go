package ui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"deedkeep/app/title"
	"deedkeep/app/vault"
)

// mostTries is how often a change is tried again when others change the same abstract
// in between, without touching the same fields.
const mostTries = 5

// edited is a group of fields as somebody sent it, held against what is stored now.
type edited struct {
	group    fieldGroup
	sent     map[string][]string // what is to be changed, by name
	conflict bool
}

// changeAbstract saves one group of fields. Fields that others changed while the form
// was open are left alone where the form says nothing new of them; where it does,
// whoever sent it sees both and decides.
func (p *pages) changeAbstract(w http.ResponseWriter, r *http.Request, who visitor) error {
	for tries := 1; ; tries++ {
		filed, template, err := p.abstractRead(r)
		if err != nil {
			return err
		}
		sheet := p.abstractSheet(filed.Abstract, template)
		e := merged(sheet.Group(r.PostForm.Get("group")), r.PostForm)
		if e.group.Name == "" {
			return absentPath(r)
		}
		if e.conflict {
			if err := p.tellOthers(r.Context(), filed.Abstract, &e); err != nil {
				return err
			}
			return p.editAgain(w, r, who, http.StatusPreconditionFailed, sheet, e.group)
		}
		if old := oldDates(e.group.Fields, e.sent); len(old) > 0 {
			e.group.refuse(old)
			return p.editAgain(w, r, who, http.StatusUnprocessableEntity, sheet, e.group)
		}
		match := vault.Match{Given: true, Versions: []uint64{filed.Abstract.Version}}
		filed, err = p.Vault.Abstracts.Patch(r.Context(), who.Actor, filed.Abstract.ID, patchOf(template.Fields, e.sent), match)
		named, ok := errors.AsType[*title.Error](err)
		switch {
		case ok && named.Kind == title.Stale && tries < mostTries:
			continue
		case ok && named.Kind == title.Invalid:
			e.group.refuse(problems(named.Fields))
			return p.editAgain(w, r, who, http.StatusUnprocessableEntity, sheet, e.group)
		case err != nil:
			return err
		}
		return p.savedGroup(w, r, who, filed, template, e.group.Name)
	}
}

// merged holds what was sent of a group against what is stored.
func merged(g fieldGroup, form url.Values) edited {
	e := edited{group: g, sent: map[string][]string{}}
	e.group.Fields, e.group.Editing = slices.Clone(g.Fields), true
	stale := form.Get("version") != "" && form.Get("version") != strconv.FormatUint(g.Version, 10)
	for i := range e.group.Fields {
		in := &e.group.Fields[i]
		values, there := form[in.Name]
		mine := sentTexts(in.Type, values)
		was := form.Get("was." + in.Name)
		if !there || sameTexts(mine, in.Values) {
			continue
		}
		others := was != "" && was != in.Was || was == "" && stale
		switch {
		case others && was == fingerprint(mine): // only they touched it
		case others:
			e.conflict = true
			in.Others = "It says “" + shorten(shown(in.Type, in.Values), 300) + "” meanwhile."
			if in.Empty() {
				in.Others = "It was emptied meanwhile."
			}
			in.Values = mine
		default:
			in.Values = mine
			e.sent[in.Name] = mine
		}
	}
	e.group.Conflict = e.conflict
	return e
}

func sameTexts(a, b []string) bool { return fingerprint(a) == fingerprint(b) }

// patchOf is the change that was sent.
func patchOf(defs []title.Field, sent map[string][]string) title.AbstractPatch {
	line := func(name string) title.Sent[title.Input] {
		values, there := sent[name]
		if !there {
			return title.Sent[title.Input]{}
		}
		return title.Send(title.Given(values[len(values)-1]))
	}
	custom := sentCustom(defs, url.Values(sent))
	return title.AbstractPatch{
		PropertyPatch: title.PropertyPatch{Address: line("address"), City: line("city"), County: line("county"), State: line("state")},
		TaxMap:        line("tax_map"),
		Custom:        title.Sent[title.Custom]{Present: len(custom.Sent) > 0, Value: custom},
	}
}

// refuse puts the sentences of a refusal beside the fields.
func (g *fieldGroup) refuse(refused map[string]string) {
	focused := false
	for i := range g.Fields {
		in := &g.Fields[i]
		in.Problem = spokenProblem(in.Type, refused[in.Name])
		in.Focus = in.Problem != "" && !focused
		focused = focused || in.Focus
	}
}

// tellOthers adds who made the changes that stand against these.
func (p *pages) tellOthers(ctx context.Context, a title.Abstract, e *edited) error {
	own := "abstract:" + strconv.FormatUint(a.ID, 10)
	log, err := p.Vault.Events.List(ctx, vault.Query{Where: []vault.Where{{Column: vault.ColumnRecord, Value: own}}, Down: true, Limit: 20})
	if err != nil {
		return err
	}
	focused := false
	for i := range e.group.Fields {
		in := &e.group.Fields[i]
		if in.Others == "" {
			continue
		}
		in.Focus, focused = !focused, true
		for _, event := range log.Items {
			if slices.ContainsFunc(event.Changes, func(c title.Change) bool { return c.Field == in.Name }) {
				in.Others += " Changed by " + byWhom(event.Actor) + ", " + event.At.Local().Format("Jan 2, 3:04 PM") + "."
				break
			}
		}
	}
	return nil
}

// editAgain shows the form once more, as it was filled in.
func (p *pages) editAgain(w http.ResponseWriter, r *http.Request, who visitor, status int, sheet abstractSheet, g fieldGroup) error {
	if isPart(r) {
		return p.part(w, r, who, status, "abstract.html", "group", g)
	}
	return p.show(w, r, who, status, "abstractedit.html", page{Heading: sheet.Heading, Section: "abstracts", Data: g, Scripts: []string{"record.js"}, Styles: []string{"record.css"}})
}

// savedGroup shows the group as it is now, and what else of the page it changes.
func (p *pages) savedGroup(w http.ResponseWriter, r *http.Request, who visitor, filed vault.Filed, template title.Template, name string) error {
	if !isPart(r) {
		return p.see(w, r, p.abstractPath(filed.Abstract.ID)+"#group-"+name, "Saved.")
	}
	sheet := p.abstractSheet(filed.Abstract, template)
	for i := range sheet.Groups {
		sheet.Groups[i].Focus = sheet.Groups[i].Name == name
	}
	w.Header().Set("HX-Trigger", changedEvent)
	return p.part(w, r, who, http.StatusOK, "abstract.html", "saved", struct {
		abstractSheet
		Saved fieldGroup
	}{sheet, sheet.Group(name)})
}
