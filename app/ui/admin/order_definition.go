package admin

import (
	"context"
	"net/http"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

func (p *Pages) orderFieldEditor(r *http.Request) (definitionEditor, error) {
	fields, err := p.Vault.Orders.Fields(r.Context())
	now := model.Template{Fields: fields}
	return definitionEditor{
		path: "/admin/fields", heading: "Order fields", recordType: "order", hasFields: true, template: now, seenMark: now.Fingerprint(), newKey: model.NewOrderFieldKey,
		save: func(ctx context.Context, actor model.Actor, now model.Template, seen string) error {
			_, err := p.Vault.Orders.EditFields(ctx, actor, now.Fields, seen, false)
			return err
		},
	}, err
}

func (p *Pages) orderStatusEditor(r *http.Request) (definitionEditor, error) {
	statuses, err := p.Vault.Orders.Statuses(r.Context())
	now := model.Template{Statuses: statuses}
	return definitionEditor{
		path: "/admin/statuses", heading: "Order statuses", recordType: "order", hasStatuses: true, template: now, seenMark: now.Fingerprint(),
		save: func(ctx context.Context, actor model.Actor, now model.Template, seen string) error {
			_, err := p.Vault.Orders.EditStatuses(ctx, actor, now.Statuses, seen, false)
			return err
		},
	}, err
}

func (p *Pages) orderFieldPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	b, err := p.orderFieldEditor(r)
	if err != nil {
		return err
	}
	return p.showDefinitions(w, r, visitor, b)
}

func (p *Pages) changeOrderFields(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.changeDefinitions(w, r, visitor, func() (definitionEditor, error) { return p.orderFieldEditor(r) })
}

func (p *Pages) orderStatusPage(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	b, err := p.orderStatusEditor(r)
	if err != nil {
		return err
	}
	return p.showDefinitions(w, r, visitor, b)
}

func (p *Pages) changeOrderStatuses(w http.ResponseWriter, r *http.Request, visitor page.Visitor) error {
	return p.changeDefinitions(w, r, visitor, func() (definitionEditor, error) { return p.orderStatusEditor(r) })
}
