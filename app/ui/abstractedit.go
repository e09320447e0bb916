package ui

import (
	"context"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"deedkeep/app/model"
	"deedkeep/app/vault"
)

// changeAbstract saves one group of fields.
func (p *pages) changeAbstract(w http.ResponseWriter, r *http.Request, who visitor) error {
	return changeGroup(r, func() (recordEdit, error) {
		filed, template, err := p.abstractRead(r)
		if err != nil {
			return recordEdit{}, err
		}
		sheet := p.abstractSheet(filed.Abstract, template)
		return recordEdit{
			zone:  p.Zone,
			group: sheet.Group,
			log: func(ctx context.Context) ([]model.Event, error) {
				own := "abstract:" + strconv.FormatUint(filed.Abstract.ID, 10)
				log, err := p.Vault.Events.List(ctx, vault.Query{Filters: []vault.Filter{{Column: vault.ColumnRecord, Value: own}}, Descending: true, Limit: logLook})
				return log.Items, err
			},
			again: func(status int, g fieldGroup) error { return p.editAgain(w, r, who, status, sheet, g) },
			save: func(ctx context.Context, sent map[string][]string) (saved func(group, notice string) error, err error) {
				now, err := p.Vault.Abstracts.Patch(ctx, who.Actor, filed.Abstract.ID, patchOf(template.Fields, sent), onlyOf(filed.Abstract.Version))
				return func(group, notice string) error { return p.savedGroup(w, r, who, now, template, group, notice) }, err
			},
		}, nil
	})
}

// patchOf is the change that was sent.
func patchOf(defs []model.Field, sent map[string][]string) model.AbstractPatch {
	line := func(name string) model.Optional[model.Input] { return sentLine(sent, name) }
	custom := sentCustom(defs, url.Values(sent))
	return model.AbstractPatch{
		PropertyPatch: model.PropertyPatch{Address: line("address"), City: line("city"), County: line("county"), State: line("state")},
		TaxMap:        line("tax_map"),
		Custom:        model.Optional[model.Custom]{Present: len(custom.Values) > 0, Value: custom},
	}
}

// editAgain shows the form once more, as it was filled in.
func (p *pages) editAgain(w http.ResponseWriter, r *http.Request, who visitor, status int, sheet abstractSheet, g fieldGroup) error {
	if isPart(r) {
		return p.part(w, r, who, status, "abstract.html", "group", g)
	}
	return p.show(w, r, who, status, "abstractedit.html", page{Heading: sheet.Heading, Section: "abstracts", Data: g, Scripts: []string{"record.js"}, Styles: []string{"record.css"}})
}

// savedGroup shows the group as it is now, and what else of the page it changes.
func (p *pages) savedGroup(w http.ResponseWriter, r *http.Request, who visitor, filed vault.Filed, template model.Template, name, notice string) error {
	if !isPart(r) {
		return p.see(w, r, p.abstractPath(filed.Abstract.ID)+"#group-"+name, strings.TrimSpace("Saved. "+notice))
	}
	sheet := p.abstractSheet(filed.Abstract, template)
	for i := range sheet.Groups {
		sheet.Groups[i].Focus = sheet.Groups[i].Name == name
	}
	saved := sheet.Group(name)
	saved.Notice = notice
	w.Header().Set("HX-Trigger", changedEvent)
	return p.part(w, r, who, http.StatusOK, "abstract.html", "saved", struct {
		abstractSheet
		Saved fieldGroup
	}{sheet, saved})
}
