package vault

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"deedkeep/app/errs"
	"deedkeep/app/model"
	"deedkeep/app/runsheet"
	"deedkeep/app/store"
	"deedkeep/app/txn"
)

// Keys of the custom fields that a certificate reads and writes, if the template has them.
const (
	fieldEffectiveDate   = "effective_date"
	fieldSearchFrom      = "search_from"
	fieldIndicesSearched = "indices_searched"
)

// Certify certifies the search of an abstract through a date. It stores the runsheet as an Excel
// document of the abstract, adds its SHA-256 to the audit log, and writes the date, the start of the
// search, and the indexes to the abstract's fields. A member that is absent defaults to its field. It
// returns Invalid, listing every invalid field, or Conflict if other users keep changing the runsheet.
func (s *TitleWork) Certify(ctx context.Context, actor model.Actor, abstract uint64, members map[string]json.RawMessage,
	idempotency Idempotency[model.Certificate]) (certificate model.Certificate, err error) {
	for range maxCertifyTries {
		certificate, err = s.certify(ctx, actor, abstract, members, idempotency)
		if !errors.Is(err, errRunsheetChanged) {
			break
		}
	}
	return certificate, err
}

// maxCertifyTries is how many times a runsheet is stored if others change it at the same time.
const maxCertifyTries = 5

// errRunsheetChanged is returned if the runsheet changed after it was stored and before it was
// certified.
var errRunsheetChanged = &errs.Error{Kind: errs.Conflict, Message: "The runsheet changed while it was certified. Try again."}

// certify certifies a search unless its runsheet changes while it is stored.
func (s *TitleWork) certify(ctx context.Context, actor model.Actor, abstract uint64, members map[string]json.RawMessage,
	idempotency Idempotency[model.Certificate]) (certificate model.Certificate, err error) {
	var draft certificateDraft
	check := func(t *store.Tx) (err error) {
		draft, err = s.checkCertificate(t, abstract, members)
		return err
	}
	if err := s.v.Store.View(ctx, check); err != nil {
		return certificate, err
	}
	stored := draft.work.RunsheetVersion
	upload, err := s.stageRunsheet(ctx, abstract)
	if err != nil {
		return certificate, err
	}
	defer upload.Discard()
	accepted, err := upload.commit()
	if err != nil {
		return certificate, err
	}
	defer func() { accepted.finish(err) }()
	if len(accepted.accepted) == 0 {
		return certificate, fmt.Errorf("the runsheet was rejected: %s", accepted.rejected[0].Reason)
	}
	err = s.v.Write(ctx, actor, func(t *store.Tx) error {
		if err := idempotency.CheckUnused(t, s.v); err != nil {
			return err
		}
		if err := check(t); err != nil {
			return err
		}
		switch {
		case draft.work.RunsheetVersion != stored:
			return errRunsheetChanged
		case len(draft.result.Files) >= s.v.MaxFilesPerAbstract():
			return &errs.Error{Kind: errs.Conflict, Message: "The abstract has too many documents. Delete some first."}
		}
		return nil
	}, func(t *store.Tx) error {
		at := s.v.Now()
		result, err := s.v.Abstracts.attach(t, at, actor, draft.result, accepted)
		if err != nil {
			return err
		}
		document := result.Files[len(result.Files)-1]
		result.Abstract.Custom = draft.custom
		certificate = draft.complete(document, at, actor)
		return errors.Join(t.PutAbstract(result.Abstract), t.PutTitleWork(draft.work),
			s.v.AddEvent(t, at, actor, "certificate.created", txn.RecordRef(AbstractOps.Name, abstract),
				map[string]string{"sha256": document.Digest, "effective_date": certificate.EffectiveDate}),
			idempotency.SaveResponse(t, at, certificate))
	})
	s.v.Queued.Notify()
	return certificate, err
}

// certificateDraft is a validated certificate and what it changes.
type certificateDraft struct {
	result      AbstractWithFiles
	work        model.TitleWork
	custom      model.CustomValues
	certificate model.Certificate
}

// complete adds the certificate to the title work after its runsheet was stored as document.
func (d *certificateDraft) complete(document model.File, at time.Time, actor model.Actor) model.Certificate {
	certificate := d.certificate
	certificate.ID, certificate.At = uint64(len(d.work.Certificates)+1), at
	certificate.By = model.Actor{Kind: actor.Kind, ID: actor.ID, Name: actor.Name}
	certificate.FileID, certificate.Digest, certificate.RunsheetVersion = document.ID, document.Digest, d.work.RunsheetVersion
	d.work.Certificates = append(slices.Clone(d.work.Certificates), certificate)
	return certificate
}

// checkCertificate validates a certificate against the abstract and its template.
func (s *TitleWork) checkCertificate(t *store.Tx, abstract uint64, members map[string]json.RawMessage) (d certificateDraft, err error) {
	if d.result, err = AbstractOps.get(t, abstract); err != nil {
		return d, err
	}
	if d.work, err = t.TitleWork(abstract); err != nil {
		return d, err
	}
	a := d.result.Abstract
	var template model.Template
	if a.TemplateID != 0 {
		if template, err = t.Template(a.TemplateID); err != nil {
			return d, err
		}
	}
	all := map[string]json.RawMessage{}
	custom := model.Custom{Values: map[string]json.RawMessage{}}
	for _, key := range []string{fieldEffectiveDate, fieldSearchFrom, fieldIndicesSearched} {
		value, sent := members[key]
		if !sent {
			value = a.Custom[key]
		}
		all[key] = value
		if sent && slices.ContainsFunc(template.Fields, func(f model.Field) bool { return f.Key == key }) {
			custom.Values[key] = value
		}
	}
	certificate, rejected := model.CheckCertificate(all)
	patched, rejectedFields := model.AbstractPatch{Custom: model.Some(custom)}.Check(a, &template, s.v.Settings.Rules)
	if len(rejected) == 0 {
		rejected = rejectedFields
	}
	d.certificate, d.custom = certificate, patched.Custom
	return d, rejected.Err()
}

// stageRunsheet stages the runsheet of an abstract as an Excel document.
func (s *TitleWork) stageRunsheet(ctx context.Context, abstract uint64) (*StagedUpload, error) {
	rows, err := s.v.Instruments.Rows(ctx, abstract)
	if err != nil {
		return nil, err
	}
	var book bytes.Buffer
	if err := runsheet.WriteExcel(&book, rows); err != nil {
		return nil, err
	}
	upload, err := s.v.Files.Stage(ctx)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("Runsheet certified %s.xlsx", s.v.Now().Local().Format("2006-01-02 1504"))
	if err := upload.Add(name, &book); err != nil {
		upload.Discard()
		return nil, err
	}
	return upload, nil
}

// BringDown creates an abstract that brings another one down to date. It carries over the property,
// the template, most field values, and the instruments, which it marks as prior. Its search starts
// at the effective date of the prior abstract.
func (s *TitleWork) BringDown(ctx context.Context, actor model.Actor, prior uint64, idempotency Idempotency[AbstractWithFiles],
) (created AbstractWithFiles, err error) {
	var from AbstractWithFiles
	var work model.TitleWork
	var template model.Template
	err = s.v.Write(ctx, actor, func(t *store.Tx) (err error) {
		if err := idempotency.CheckUnused(t, s.v); err != nil {
			return err
		}
		if from, err = AbstractOps.get(t, prior); err != nil {
			return err
		}
		if work, err = t.TitleWork(prior); err != nil {
			return err
		}
		if from.Abstract.TemplateID != 0 {
			template, err = t.Template(from.Abstract.TemplateID)
		}
		return err
	}, func(t *store.Tx) error {
		a := broughtDown(from.Abstract, work, template)
		a, _, err := s.v.Abstracts.create(t, actor, a, &acceptedFiles{})
		if err != nil {
			return err
		}
		created = AbstractWithFiles{Abstract: a}
		sequence, err := s.copyInstruments(t, prior, a)
		if err != nil {
			return err
		}
		return errors.Join(t.PutTitleWork(model.TitleWork{AbstractID: a.ID, PriorID: prior, Sequence: sequence, RunsheetVersion: 1}),
			s.v.AddEvent(t, a.CreatedAt, actor, "abstract.brought_down", txn.RecordRef(AbstractOps.Name, a.ID),
				map[string]string{"abstract": txn.RecordRef(AbstractOps.Name, prior)}),
			idempotency.SaveResponse(t, a.CreatedAt, created))
	})
	return created, err
}

// broughtDown returns the new abstract for a bring-down. Fields about the finished search start
// empty: the file number, the effective date, and the names run.
func broughtDown(from model.Abstract, work model.TitleWork, template model.Template) model.Abstract {
	a := model.Abstract{TemplateID: from.TemplateID, Property: from.Property, TaxMap: from.TaxMap, Custom: model.CustomValues{}}
	if len(template.Statuses) > 0 {
		a.Status = template.Statuses[0]
	}
	for key, value := range from.Custom {
		if !slices.Contains([]string{"file_number", fieldEffectiveDate, fieldSearchFrom, "names_run"}, key) {
			a.Custom[key] = value
		}
	}
	since := from.Custom.Text(fieldEffectiveDate)
	if n := len(work.Certificates); n > 0 {
		since = work.Certificates[n-1].EffectiveDate
	}
	set := func(key, value string) {
		if raw, err := json.Marshal(value); err == nil && value != "" &&
			slices.ContainsFunc(template.Fields, func(f model.Field) bool { return f.Key == key }) {
			a.Custom[key] = raw
		}
	}
	set(fieldSearchFrom, since)
	set("prior_effective_date", since)
	set("prior_file_number", from.FileNumber())
	return a
}

// copyInstruments copies the live instruments of the prior abstract to its bring-down and returns
// their IDs in the sequence of the runsheet. Relations among them refer to the copies.
func (s *TitleWork) copyInstruments(t *store.Tx, prior uint64, to model.Abstract) (sequence []uint64, err error) {
	work, err := t.TitleWork(prior)
	if err != nil {
		return nil, err
	}
	list, err := t.LiveInstruments(prior)
	if err != nil {
		return nil, err
	}
	copies := map[uint64]uint64{}
	list = model.SortRunsheet(list, work.Sequence)
	for _, i := range list {
		if copies[i.ID], err = t.NewInstrumentID(); err != nil {
			return nil, err
		}
	}
	for _, i := range list {
		i.ID, i.AbstractID, i.Prior, i.Version = copies[i.ID], to.ID, true, 1
		i.CreatedAt, i.UpdatedAt = to.CreatedAt, to.CreatedAt
		i.Relations = slices.Clone(i.Relations)
		for n, r := range i.Relations {
			if id, ok := copies[r.InstrumentID]; ok {
				i.Relations[n].InstrumentID = id
			}
		}
		if err := t.PutInstrument(i); err != nil {
			return nil, err
		}
		sequence = append(sequence, i.ID)
	}
	return sequence, nil
}
