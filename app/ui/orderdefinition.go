package ui

import (
	"context"
	"net/http"

	"deedkeep/app/model"
)

func (p *pages) orderFieldBench(r *http.Request) (bench, error) {
	fields, err := p.Vault.Orders.Fields(r.Context())
	now := model.Template{Fields: fields}
	return bench{
		path: "/admin/fields", heading: "Order fields", noun: "order", hasFields: true, now: now, seen: now.Fingerprint(), key: model.NewOrderFieldKey,
		save: func(ctx context.Context, actor model.Actor, now model.Template, seen string) error {
			_, err := p.Vault.Orders.EditFields(ctx, actor, now.Fields, seen, false)
			return err
		},
	}, err
}

func (p *pages) orderStatusBench(r *http.Request) (bench, error) {
	statuses, err := p.Vault.Orders.Statuses(r.Context())
	now := model.Template{Statuses: statuses}
	return bench{
		path: "/admin/statuses", heading: "Order statuses", noun: "order", hasStatuses: true, now: now, seen: now.Fingerprint(),
		save: func(ctx context.Context, actor model.Actor, now model.Template, seen string) error {
			_, err := p.Vault.Orders.EditStatuses(ctx, actor, now.Statuses, seen, false)
			return err
		},
	}, err
}

func (p *pages) orderFieldPage(w http.ResponseWriter, r *http.Request, who visitor) error {
	b, err := p.orderFieldBench(r)
	if err != nil {
		return err
	}
	return p.showBench(w, r, who, b)
}

func (p *pages) changeOrderFields(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.changeBench(w, r, who, func() (bench, error) { return p.orderFieldBench(r) })
}

func (p *pages) orderStatusPage(w http.ResponseWriter, r *http.Request, who visitor) error {
	b, err := p.orderStatusBench(r)
	if err != nil {
		return err
	}
	return p.showBench(w, r, who, b)
}

func (p *pages) changeOrderStatuses(w http.ResponseWriter, r *http.Request, who visitor) error {
	return p.changeBench(w, r, who, func() (bench, error) { return p.orderStatusBench(r) })
}
