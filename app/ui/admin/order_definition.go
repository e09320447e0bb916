package admin

import (
	"context"

	"deedkeep/app/model"
	"deedkeep/app/ui/page"
)

func (p *Pages) orderFieldEditor(r *page.Request) (definitionEditor, error) {
	fields, err := p.App.Orders.Fields(r.Context())
	now := model.Template{Fields: fields}
	return definitionEditor{
		path: "/admin/fields", heading: "Order fields", recordType: "order", hasFields: true, template: now, seenMark: now.Fingerprint(), newKey: model.NewOrderFieldKey,
		save: func(ctx context.Context, actor model.Actor, now model.Template, seen string) error {
			_, err := p.App.Orders.EditFields(ctx, actor, now.Fields, seen, false)
			return err
		},
	}, err
}

func (p *Pages) orderStatusEditor(r *page.Request) (definitionEditor, error) {
	statuses, err := p.App.Orders.Statuses(r.Context())
	now := model.Template{Statuses: statuses}
	return definitionEditor{
		path: "/admin/statuses", heading: "Order statuses", recordType: "order", hasStatuses: true, template: now, seenMark: now.Fingerprint(),
		save: func(ctx context.Context, actor model.Actor, now model.Template, seen string) error {
			_, err := p.App.Orders.EditStatuses(ctx, actor, now.Statuses, seen, false)
			return err
		},
	}, err
}
